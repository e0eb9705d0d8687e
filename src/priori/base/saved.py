"""Saved: what a file says about a result, and what stands in the result for what the file does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, MissingScoresError

Part = TypeVar("Part")


class NotSaved:
    """Stands in a result for what its file does not hold: whatever is done with it raises `MissingScoresError`."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"NotSaved({self.name!r})"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise MissingScoresError(
            f"this needs the scores ({self.name}), and the result was read from a file without them; compute it again "
            "from the scores, or look into summary() and columns()"
        )

    __getattr__ = __getitem__ = __iter__ = __len__ = __call__ = __bool__ = __float__ = __array__ = __format__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


@dataclass(frozen=True, eq=False)
class Saved:
    """The table and the summary of a result, as read from a file.

    ``result`` is the name of its class, ``where`` the file, for messages. ``supplied`` holds what a file cannot, a
    measure, criterion or task of the caller's own, where the caller hands it in.
    """

    result: str
    table: Mapping[str, NDArray[Any]]
    summary: Mapping[str, Any]
    where: str = "the file"
    supplied: Mapping[str, object] = field(default_factory=dict)


def in_part(kind: type[Part], /, **known: Any) -> Part:
    """Return an object with what is known of it: fields, and computed properties that remember their value.

    A field that the file does not hold is `NotSaved`.
    """
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else kind._fields  # type: ignore[attr-defined]
    made = kind(**{name: known.pop(name) if name in known else NotSaved(name) for name in names})
    if known:
        vars(made).update(known)
    return made


def number(value: Any) -> float:
    """Return one number of a file; a missing one is NaN."""
    return float(column([value], "number", "number")[0])


#: What stands in a list of each kind, beside null: the types, and for numbers the names of the infinite ones.
TYPES = {"number": (int, float, bool), "integer": (int,), "boolean": (bool,), "text": (str,)}
INFINITE = ("inf", "-inf")


def column(values: Any, kind: str, name: str) -> NDArray[Any]:
    """Return a list from a file as a column of its kind; a missing number is NaN."""
    if not isinstance(values, list):
        raise InputError(f"column {name!r} is not a list of values")
    if kind not in TYPES:
        raise InputError(f"column {name!r} is of an unknown kind {kind!r}")
    for value in values:
        if value is not None and type(value) not in TYPES[kind] and not (kind == "number" and value in INFINITE):
            raise InputError(f"column {name!r} holds something else than the {kind} it says")
    missing = any(value is None for value in values)
    try:
        if kind == "number":
            return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
        if kind in ("integer", "boolean"):
            return np.array(values, dtype=object if missing else (np.int64 if kind == "integer" else np.bool_))
    except OverflowError:
        raise InputError(f"column {name!r} holds a number that is too large") from None
    return np.array(values, dtype=None if values else str)
