"""Annotations say how values are kept, however numpy writes its array types."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from typing_extensions import TypeAliasType

from priori.base.declarations import LISTS, columns_of, kept

Scalar = TypeVar("Scalar", bound=np.generic)
#: As numpy 2.5 declares NDArray.
Aliased = TypeAliasType("Aliased", np.ndarray[Any, np.dtype[Scalar]], type_params=(Scalar,))


class Pair(NamedTuple):
    values: Aliased[np.float64]
    flags: Aliased[np.bool_] | None


def test_an_alias_of_an_array_is_kept_as_the_array_that_it_stands_for() -> None:
    assert kept(Aliased[np.float64]).schema == LISTS["number"]
    assert columns_of(Pair) == {"values": "number", "flags": "boolean"}
