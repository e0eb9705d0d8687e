"""The data sets whose curves are averaged: taken apart, named, checked for both classes and for one scale of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, argument
from priori.base.types import Floats
from priori.scores import BOUND, Scores, ScoreSet, condense
from priori.scores.inputs import as_score_set, score_set_or_none

#: Beyond this ratio the data sets are farther from each other than trials of a class inside one of them.
LIMIT = 1.0

#: The standard deviation of a normal distribution over its mean absolute deviation, sqrt(pi / 2).
NORMAL = float(np.sqrt(np.pi / 2))
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


# -- do scores live on one scale? One threshold for all makes sense only if they do ----------------------------------


@dataclass(frozen=True)
class Commensurability:
    """How far data sets lie from each other on the score axis, and how wide their classes are.

    Attributes
    ----------
    shift : float
        The standard deviation, between data sets, of the location that both classes share.
    spread : float
        The typical standard deviation of a class inside a data set (NaN if no class has two trials).
    ratio : float
        ``shift / spread``.
    farthest : str
        The data set farthest from the others.
    """

    shift: float
    spread: float
    ratio: float
    farthest: str

    @property
    def commensurable(self) -> bool:
        """Whether the location of the data sets differs no more than their spread."""
        return not self.ratio > LIMIT

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What to say when they are not commensurable."""
        if self.commensurable:
            return ()
        text = (
            f"scores are on different scales (shift / spread {self.ratio:.2f}, farthest: {self.farthest}): normalise "
            "them, or choose thresholds per set"
        )
        return (Caution("scales-differ", text),)


def commensurability(parts: Sequence[Scores], names: Sequence[str] | None = None) -> Commensurability:
    """Compare the location of data sets with their spread, class by class.

    The test, in full. The location of a class in a data set is its median. ``shift`` is the square root of the
    covariance, over data sets, between the medians of the negatives and those of the positives (0 if negative):
    the part of the location that both classes share. Where one data set is merely easier than another its classes
    move apart, the covariance is not positive, and there is no alarm; and the chance errors of the two medians are
    independent, so that small data sets raise none either. ``spread`` is the mean absolute deviation of the scores
    from the median of their own class and data set (each group of n trials counting n - 1), times sqrt(pi/2), which
    makes it a standard deviation for normal scores. The scores are called not commensurable when
    ``shift > spread``. Infinite scores are left out.

    Simulated false alarms, for data sets drawn from the same populations, are given in ``docs/averaging.md``.

    Examples
    --------
    >>> from priori import Scores
    >>> from priori.curves.averaging import commensurability
    >>> near = Scores.from_arrays([0.1, 0.2, 0.3], [0.7, 0.8, 0.9])
    >>> far = Scores.from_arrays([10.1, 10.2, 10.3], [10.7, 10.8, 10.9])
    >>> commensurability([near, far]).commensurable, commensurability([near, near]).commensurable
    (False, True)
    """
    if any(part.negative.number is not None for part in parts):
        raise OptionError("how scores differ between data sets is measured in memory only; raise the memory given")
    labels = list(names) if names is not None else [str(index + 1) for index in range(len(parts))]
    scale = max((_largest(part) for part in parts), default=0.0) or 1.0
    medians: list[list[float]] = []
    compared: list[str] = []
    deviation, freedom = 0.0, 0
    for name, part in zip(labels, parts, strict=True):
        # In units of the largest score, so that nothing overflows.
        classes = [_finite(ordered) / scale for ordered in (part.negatives, part.positives)]
        if not all(ordered.size for ordered in classes):
            continue
        centres = [_median(ordered) for ordered in classes]
        deviation += sum(float(np.abs(scores - centre).sum()) for scores, centre in zip(classes, centres, strict=True))
        freedom += sum(ordered.size - 1 for ordered in classes)
        medians.append(centres)
        compared.append(name)
    spread = NORMAL * deviation / freedom if freedom else np.nan
    if len(medians) < 2:
        return Commensurability(0.0, spread * scale, 0.0, compared[0] if compared else "")
    away = np.array(medians) - np.mean(medians, axis=0)
    shift = float(np.sqrt(max(float(away[:, 0] @ away[:, 1]) / (len(medians) - 1), 0.0)))
    ratio = 0.0 if shift == 0 else (np.inf if spread == 0 else shift / spread)
    farthest = compared[int(np.argmax(np.abs(away.sum(axis=1))))]
    return Commensurability(shift * scale, spread * scale, float(ratio), farthest)


def _largest(part: Scores) -> float:
    classes = (_finite(ordered) for ordered in (part.negatives, part.positives))
    return max((float(np.abs(ordered[[0, -1]]).max()) for ordered in classes if ordered.size), default=0.0)


def _finite(ordered: Floats) -> Floats:
    start, end = np.searchsorted(ordered, -np.inf, side="right"), np.searchsorted(ordered, np.inf, side="left")
    return ordered[start:end]


def _median(ordered: Floats) -> float:
    size = ordered.size
    low, high = ordered[(size - 1) // 2], ordered[size // 2]
    return float(low + (high - low) / 2)
