"""The study: everything a report shows, computed once and frozen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from priori.epc import EPC, epc
from priori.errors import OptionError
from priori.report.settings import Settings
from priori.results import plain
from priori.systems import System

__all__ = ["Progress", "Settings", "Study", "System", "make_study"]

#: Called with the name of the stage, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Study:
    """Everything a report shows. Made by `make_study`."""

    settings: Settings
    curves: tuple[EPC, ...]
    command: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists, ready for JSON."""
        return {
            "settings": plain(self.settings.to_dict()),
            "systems": [curve.to_dict() for curve in self.curves],
            "command": self.command,
        }


def make_study(
    systems: Sequence[System],
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
    command: str | None = None,
) -> Study:
    """Compute everything a report shows.

    Raises `OptionError` or `InputError` where the systems or the settings do not allow it. To cancel, raise an
    exception of your own from ``progress``.
    """
    chosen = Settings() if settings is None else settings
    if not systems:
        raise OptionError("a report needs at least one system")
    curves = []
    for done, one in enumerate(systems):
        if progress:
            progress("curves", done, len(systems))
        curves.append(
            epc(one.dev, one.test, task=chosen.domain, criterion=chosen.rule, measure=chosen.shown,
                alpha=chosen.alphas, name=one.name)
        )  # fmt: skip
    return Study(chosen, tuple(curves), command)
