"""The data sets whose curves are averaged: taken apart, named, and checked for both classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from priori.base.errors import InputError, OptionError
from priori.scores import Scores
from priori.scores.remote import loaded

__all__ = ["DataSets", "Parts"]

#: What `priori.average` takes: one set of scores to take apart, or several, named or not.
Parts = Scores | Sequence[Scores] | Mapping[str, Scores]


@dataclass(frozen=True)
class DataSets:
    """Data sets that have both classes, and the names of those left out because they have only one."""

    names: tuple[str, ...]
    scores: tuple[Scores, ...]
    skipped: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def negatives(self) -> tuple[int, ...]:
        """How many negative trials each data set has."""
        return tuple(len(part.negative) for part in self.scores)

    @property
    def positives(self) -> tuple[int, ...]:
        """How many positive trials each data set has."""
        return tuple(len(part.positive) for part in self.scores)

    @classmethod
    def of(cls, parts: Parts, *, by: Literal["dataset", "user"] = "dataset", skip_incomplete: bool = False) -> DataSets:
        """Take scores apart, or take them as given, and check that each data set has both classes.

        Raises
        ------
        InputError
            When there is no data set, or one has a single class and ``skip_incomplete`` is False.
        """
        named = _named(parts, by)
        if not named:
            raise InputError("no data set given; at least one is needed")
        lacking = {name: _lacks(part) for name, part in named.items()}
        skipped = tuple(name for name, missing in lacking.items() if missing)
        if skipped and not skip_incomplete:
            shown = ", ".join(f"{name!r} ({lacking[name]})" for name in skipped[:5]) + (", ..." if skipped[5:] else "")
            which = "a data set has" if len(skipped) == 1 else f"{len(skipped)} data sets have"
            raise InputError(
                f"{which} one class only: {shown}; both classes are needed for a curve "
                "(skip_incomplete=True or --skip-incomplete leaves such sets out)"
            )
        kept = {name: part for name, part in named.items() if not lacking[name]}
        if not kept:
            raise InputError(f"none of the {len(named)} data sets has both classes; there is no curve to average")
        return cls(tuple(kept), tuple(kept.values()), skipped)


def _named(parts: Parts, by: Literal["dataset", "user"]) -> dict[str, Scores]:
    if not isinstance(parts, (Mapping, list, tuple)):
        parts = loaded(parts)
    if isinstance(parts, Scores):
        return parts.by(by)
    if isinstance(parts, Mapping):
        named = {str(name): loaded(part) for name, part in parts.items()}
    else:
        listed = [loaded(part) for part in parts]
        sources = [part.source for part in listed if isinstance(part, Scores)]
        distinct = len(set(sources)) == len(listed)
        named = {sources[i] if distinct else str(i + 1): part for i, part in enumerate(listed)}
    for part in named.values():
        if not isinstance(part, Scores):
            raise OptionError(
                f"each data set must be a Scores, not a {type(part).__name__}; "
                "make them with Scores.from_arrays, Scores.from_predictions or priori.read"
            )
    return named


def _lacks(part: Scores) -> str:
    missing = [name for name, trials in (("negative", part.negative), ("positive", part.positive)) if not len(trials)]
    return f"no {' and no '.join(missing)} trial" if missing else ""
