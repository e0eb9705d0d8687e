"""What results can do by a higher floor: every name leads to a function, and every class has the method."""

from __future__ import annotations

from importlib import import_module

import pytest

from priori.base.above import ABOVE
from priori.base.results import Result
from priori.studies.watching import Watch


def _classes(kind: type) -> set[type]:
    return {kind}.union(*map(_classes, kind.__subclasses__()))


@pytest.mark.parametrize("name", ABOVE)
def test_every_name_leads_to_a_function(name: str) -> None:
    module, _, function = ABOVE[name].partition(":")
    assert callable(getattr(import_module(module), function))
    for module in (
        "curves.averaging.epc",
        "curves.averaging.average",
        "curves.epsc",
        "uncertainty.ranking.leaderboard",
    ):
        import_module(f"priori.{module}")
    kind, _, method = name.partition(".")
    classes = {base.__name__: base for found in (*_classes(Result), Watch) for base in found.__mro__}
    assert hasattr(classes[kind], method)
