"""The data sets whose curves are averaged: taken apart, weighed, what interval their mean has, and on what scales."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.limits import check_level
from priori.base.types import Floats
from priori.scores import BOUND, Scores, ScoreSet, condense
from priori.scores.score_set import as_score_set, score_set_or_none

IntervalKind = Literal["t", "normal"]
#: What `priori.average` takes: one set of scores to take apart, or several, named or not.
Parts = ScoreSet | Iterable[ScoreSet] | Mapping[str, ScoreSet]

#: Below so many data sets only Student's t allows for how little they tell of their spread.
FEW_SETS = 10
#: Below so many not even that is enough: quality need not be normal.
FEWEST_SETS = 8
#: So many numbers are averaged at once: with what is made of them a gigabyte.
HELD = 2**25
#: Data sets farther from each other, in spreads of a class inside one of them, are on different scales.
LIMIT = 1.0
#: The standard deviation of a normal distribution over its mean absolute deviation, sqrt(pi / 2).
NORMAL = float(np.sqrt(np.pi / 2))


def data_sets(
    parts: Parts, *, by: Literal["dataset", "user"], skip_incomplete: bool
) -> tuple[dict[str, Scores], tuple[str, ...]]:
    """Return the data sets that have both classes by name, and the names of those left out as they have only one."""
    named = _named(parts, by)
    if not named:
        raise InputError("no data set given; at least one is needed")
    lacking = {name: missing for name, part in named.items() if (missing := _lacks(part))}
    if lacking and not skip_incomplete:
        listed = ", ".join(f"{name!r} ({missing})" for name, missing in [*lacking.items()][:5])
        subject = "a data set has" if len(lacking) == 1 else f"{len(lacking)} data sets have"
        raise InputError(
            f"{subject} one class only: {listed}{', ...' if len(lacking) > 5 else ''}; both classes are needed for a "
            f"curve ({argument('skip_incomplete', 'True')} leaves such sets out)"
        )
    complete = {name: part for name, part in named.items() if name not in lacking}
    if not complete:
        raise InputError(f"none of the {len(named)} data sets has both classes; there is no curve to average")
    return complete, tuple(lacking)


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


# -- means over data sets, and their intervals -----------------------------------------------------------------------


def is_size(weights: Any) -> bool:
    """Tell whether data sets are to count by their sizes."""
    return isinstance(weights, str) and weights == "size"


def shares_of(weights: Any, sizes: Any, names: Sequence[str]) -> Floats:
    """Return how much each data set counts, 1 in all: equally, by size, or as the weights given say."""
    weights = sizes if is_size(weights) else np.ones(len(names)) if weights is None else weights
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"weights must be None, 'size', or one number per data set, not {weights!r}") from None
    if numbers.shape != (len(names),):
        raise OptionError(f"one weight per data set is needed: {len(names)}, not {numbers.size}")
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise OptionError("weights must be finite and positive; leave a data set out rather than give it no weight")
    return np.asarray(numbers / numbers.sum())


class OverSets(NamedTuple):
    """How the interval around an average is made: for other data sets such as these."""

    kind: IntervalKind
    level: float

    @classmethod
    def checked(cls, kind: IntervalKind, level: float) -> OverSets:
        """Validate the options of an interval."""
        if kind not in get_args(IntervalKind):
            raise unknown("interval", kind, get_args(IntervalKind))
        return cls(kind, check_level(level))

    def around(self, values: Floats, weights: Floats, mean: Floats) -> tuple[Floats, Floats]:
        """Return lower and upper limits around the weighted mean of each column of ``values`` (data sets in rows)."""
        size = values.shape[0]
        if size < 2:
            # One curve tells nothing about how curves differ.
            return np.full_like(mean, np.nan), np.full_like(mean, np.nan)
        from scipy.special import ndtri, stdtrit

        tail = (1 + self.level) / 2
        factor = float(ndtri(tail) if self.kind == "normal" else stdtrit(size - 1, tail))
        # The variance of one data set, whatever its weight: the largest lies nearest to a mean that it dominates.
        shares = weights / (1 - weights @ weights)
        half = factor * np.sqrt(weights @ weights * (shares @ (values - mean) ** 2))
        return mean - half, mean + half

    def averages(
        self,
        evaluate: Callable[[Scores, Floats], Floats],
        sets: Sequence[Scores],
        positions: Floats,
        weights: Floats,
        exact: Callable[[Floats], Floats] | None = None,
    ) -> Floats:
        """Return the means over data sets at each position, and their limits: (3, channels, positions).

        ``evaluate`` gives the numbers of a data set, (channels, positions); each channel has a row of ``weights``.
        ``exact`` means are known more exactly than as sums of products.
        """
        averaged = np.empty((3, weights.shape[0], positions.size))
        step = max(1, HELD // weights.size)
        for start in range(0, positions.size, step):
            here = slice(start, start + step)
            values = np.stack([evaluate(part, positions[here]) for part in sets], axis=1)
            averaged[0, :, here] = mean = weighted_mean(values, weights) if exact is None else exact(values)
            for channel, each in enumerate(zip(values, weights, mean, strict=True)):
                averaged[1:, channel, here] = self.around(*each)
        return averaged


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Return the mean over data sets of an array (channels, data sets, positions).

    Taken from the first data set on, so that curves that agree somewhere (at both ends they all do) have exactly
    that average there.
    """
    first = values[:, 0]
    return np.asarray(first + (weights[:, None] @ (values - first[:, None]))[:, 0])


def few_sets(kind: IntervalKind, weights: Floats) -> tuple[Caution, ...]:
    """Return a caution where the interval around an average with these weights covers too little."""
    sets, worth = weights.size, 1 / float(weights @ weights)  # as many data sets of equal weight (Kish)
    if kind != "t" and 1 < worth < FEW_SETS:
        text = f"{kind} intervals over few data sets (worth {worth:.1f} of equal weight) cover too little"
        text = f"{text}; use {argument('interval', 't')}"
    elif sets > 2 * worth:
        text = f"{sets} data sets with the weight of {worth:.1f}: a few dominate the average"
    elif 1 < sets < FEWEST_SETS:
        text = f"only {sets} data sets: the interval covers a few points too little"
    else:
        return ()
    return (Caution("few-sets", text),)


# -- do scores live on one scale? One threshold for all makes sense only if they do ----------------------------------


class Commensurability(NamedTuple):
    """How far data sets lie from each other on the score axis, in spreads of a class, and which lies farthest."""

    ratio: float
    farthest: str

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What to say when scores are on different scales."""
        if not self.ratio > LIMIT:
            return ()
        text = (
            f"scores are on different scales (shift / spread {self.ratio:.2f}, farthest: {self.farthest}): normalise "
            "them, or use own thresholds"
        )
        return (Caution("different-scales", text),)


def commensurability(sets: Sequence[Scores], names: Sequence[str]) -> Commensurability:
    """Compare the location of data sets with their spread, class by class: shift / spread.

    The location of a class in a data set is its median. The shift is the square root of the covariance, over data sets,
    between the medians of the negatives and those of the positives (0 if negative): the part of the location that both
    classes share. Where one data set is merely easier than another its classes move apart, the covariance is not
    positive, and there is no alarm; and the chance errors of the two medians are independent, so that small data sets
    raise none either. The spread is the mean absolute deviation of the scores from the median of their own class and
    data set (each group of n trials counting n - 1), times sqrt(pi/2), which makes it a standard deviation for normal
    scores. Infinite scores are left out. False alarms are given in ``docs/averaging.md``.
    """
    if any(part.negative.number is not None for part in sets):
        raise OptionError("how scores differ between data sets is measured in memory only; raise the memory given")
    finite = [[each[np.isfinite(each)] for each in (part.negatives, part.positives)] for part in sets]
    # In units of the largest score, so that nothing overflows.
    scale = max((float(np.abs(each).max()) for classes in finite for each in classes if each.size), default=0.0) or 1.0
    medians: list[list[float]] = []
    compared: list[str] = []
    deviation, freedom = 0.0, 0
    for name, classes in zip(names, finite, strict=True):
        if not all(each.size for each in classes):
            continue
        scaled = [each / scale for each in classes]
        medians.append([_median(each) for each in scaled])
        compared.append(name)
        deviation += sum(float(np.abs(each - own).sum()) for each, own in zip(scaled, medians[-1], strict=True))
        freedom += sum(each.size - 1 for each in scaled)
    if len(medians) < 2:
        return Commensurability(0.0, compared[0] if compared else "")
    spread = NORMAL * deviation / freedom if freedom else np.nan
    away = np.array(medians) - np.mean(medians, axis=0)
    shift = float(np.sqrt(max(float(away[:, 0] @ away[:, 1]) / (len(medians) - 1), 0.0)))
    ratio = 0.0 if shift == 0 else (np.inf if spread == 0 else shift / spread)
    return Commensurability(float(ratio), compared[int(np.argmax(np.abs(away.sum(axis=1))))])


def _median(ordered: Floats) -> float:
    low, high = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    return float(low + (high - low) / 2)
