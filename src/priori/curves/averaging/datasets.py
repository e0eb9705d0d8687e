"""The data sets whose curves are averaged: taken apart, named, and checked for both classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from priori.base.errors import InputError, OptionError, argument
from priori.scores import BOUND, Scores, ScoreSet, condense
from priori.scores.inputs import as_score_set, score_set_or_none

#: What `priori.average` takes: one set of scores to take apart, or several, named or not.
Parts = ScoreSet | Iterable[ScoreSet] | Mapping[str, ScoreSet]


@dataclass(frozen=True)
class DataSets:
    """Data sets that have both classes, and the names of those left out because they have only one."""

    names: tuple[str, ...]
    scores: tuple[Scores, ...]
    skipped: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def negatives(self) -> tuple[int, ...]:
        """How many negative trials each data set has."""
        return tuple(part.n_negatives for part in self.scores)

    @property
    def positives(self) -> tuple[int, ...]:
        """How many positive trials each data set has."""
        return tuple(part.n_positives for part in self.scores)

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
            listed = ", ".join(f"{name!r} ({lacking[name]})" for name in skipped[:5]) + (", ..." if skipped[5:] else "")
            subject = "a data set has" if len(skipped) == 1 else f"{len(skipped)} data sets have"
            raise InputError(
                f"{subject} one class only: {listed}; both classes are needed for a curve "
                f"({argument('skip_incomplete', 'True')} leaves such sets out)"
            )
        complete = {name: part for name, part in named.items() if not lacking[name]}
        if not complete:
            raise InputError(f"none of the {len(named)} data sets has both classes; there is no curve to average")
        return cls(tuple(complete), tuple(complete.values()), skipped)


def _named(parts: Any, by: Literal["dataset", "user"]) -> dict[str, Scores]:
    if isinstance(parts, Mapping):
        return {str(name): _in_memory(part) for name, part in parts.items()}
    whole = None if isinstance(parts, (list, tuple)) else score_set_or_none(parts)
    if whole is not None:
        return condense(whole, (by,), narrow=BOUND)[0].by(by)
    listed = [_in_memory(part) for part in parts]
    distinct = len({part.source for part in listed}) == len(listed)
    return {part.source if distinct else str(number): part for number, part in enumerate(listed, start=1)}


def _in_memory(part: Any) -> Scores:
    refusal = OptionError(
        f"each data set must be a Scores, not a {type(part).__name__}; "
        "make them with Scores.from_arrays, Scores.from_predictions or priori.read"
    )
    return condense(as_score_set(part, refusal), narrow=BOUND)[0]


def _lacks(part: Scores) -> str:
    missing = [name for name in ("negative", "positive") if not len(getattr(part, name))]
    return f"no {' and no '.join(missing)} trial" if missing else ""
