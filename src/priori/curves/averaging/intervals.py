"""Averages over data sets and their intervals: normal, Student's t, bootstrap over data sets and within them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.declarations import FLAG, LEVEL, Flat
from priori.base.errors import OptionError, argument, unknown
from priori.base.limits import MOST_RESAMPLES, whole_number
from priori.base.quantiles import few_replicates, percentile_bounds
from priori.base.saved import in_part
from priori.base.types import Floats
from priori.scores import Scores

IntervalKind = Literal["t", "normal", "bootstrap"]
INTERVALS: tuple[str, ...] = ("t", "normal", "bootstrap")

#: Below so many data sets only Student's t allows for how little they tell of their spread.
FEW_SETS = 10
#: Below so many not even that is enough: quality need not be normal.
FEWEST_SETS = 8

#: How many numbers a block of work may hold; blocks keep memory flat, however many positions there are. Every curve is
#: read anew for each set of blocks that HELD numbers make: a gigabyte.
BLOCK, HELD = 2**22, 2**27


@dataclass(frozen=True)
class IntervalPlan:
    """How the interval around an average is made; `checked` validates."""

    kind: IntervalKind
    confidence_level: float
    n_resamples: int
    within: bool
    seed: int

    @classmethod
    def checked(
        cls, kind: str, confidence_level: float, n_resamples: int, within: bool, rng: int | np.random.Generator
    ) -> IntervalPlan:
        """Validate the options of an interval."""
        if kind not in INTERVALS:
            raise unknown("interval", kind, INTERVALS)
        if not 0 < confidence_level < 1:
            raise OptionError(f"{argument('confidence_level')} must lie between 0 and 1, not {confidence_level:g}")
        whole_number(n_resamples, "n_resamples", 2, MOST_RESAMPLES, ": one has no spread")
        if within and kind != "bootstrap":
            raise OptionError("within=True resamples trials: it goes with interval='bootstrap'")
        seed = int(rng.integers(2**63)) if isinstance(rng, np.random.Generator) else int(rng)
        if not 0 <= seed < 2**63:
            raise OptionError(f"{argument('rng')} must be a generator or a seed from 0 to 2^63 - 1, not {seed}")
        return cls(kind, confidence_level, n_resamples, within, seed)  # type: ignore[arg-type]

    def warnings(self, weights: Floats) -> tuple[Caution, ...]:
        """Return warnings about an average with these weights, the replicates included."""
        worth = 1 / float(weights @ weights)  # as many data sets of equal weight (Kish)
        cautions = list(few_replicates(self.n_resamples, self.confidence_level)) if self.kind == "bootstrap" else []
        sets = weights.size
        if self.kind != "t" and 1 < worth < FEW_SETS:
            text = f"{self.kind} intervals over few data sets (worth {worth:.1f} of equal weight) cover too little"
            cautions.append(Caution("few-sets", f"{text}; use {argument('interval', 't')}"))
        elif sets > 2 * worth:
            text = f"{sets} data sets with the weight of {worth:.1f}: a few dominate the average"
            cautions.append(Caution("few-sets", text))
        elif 1 < sets < FEWEST_SETS:
            text = f"only {sets} data sets: the interval covers a few points too little"
            cautions.append(Caution("few-sets", text))
        return tuple(cautions)

    def around(self, values: Floats, weights: Floats, mean: Floats) -> tuple[Floats, Floats]:
        """Return lower and upper limits around the weighted mean of each column of ``values`` (data sets in rows)."""
        size = values.shape[0]
        if size < 2:
            # One curve tells nothing about how curves differ.
            return np.full_like(mean, np.nan), np.full_like(mean, np.nan)
        if self.kind == "bootstrap":
            return percentile_bounds(self._replicates(values, weights), self.confidence_level)
        from scipy.special import ndtri, stdtrit

        tail = (1 + self.confidence_level) / 2
        factor = float(ndtri(tail) if self.kind == "normal" else stdtrit(size - 1, tail))
        # The variance of one data set, whatever its weight: the largest lies nearest to a mean that it dominates.
        shares = weights / (1 - weights @ weights)
        half = factor * np.sqrt(weights @ weights * (shares @ (values - mean) ** 2))
        return mean - half, mean + half

    def _replicates(self, values: Floats, weights: Floats) -> Floats:
        from priori.uncertainty.bootstrap.readers import times_drawn

        shares = times_drawn(weights.size, self.n_resamples, self.seed) * weights
        return np.asarray((shares / shares.sum(axis=1, keepdims=True)) @ values)


#: A plan in a result: of a file, what kind of interval it is.
PlanInside = Annotated[
    IntervalPlan,
    Flat(
        {"interval": {"enum": list(INTERVALS)}, "within": FLAG, "confidence_level": LEVEL},
        lambda plan: {"interval": plan.kind, "within": plan.within, "confidence_level": plan.confidence_level},
        lambda saved: in_part(
            IntervalPlan,
            kind=saved.summary["interval"],
            within=saved.summary["within"],
            confidence_level=saved.summary["confidence_level"],
        ),
    ),
]


def averages(
    evaluate: Callable[[Scores, Floats], Floats],
    parts: Sequence[Scores],
    positions: Floats,
    weights: Floats,
    plan: IntervalPlan,
    exact: Callable[[Floats], Floats] | None = None,
) -> Floats:
    """Average what ``evaluate`` gives for each data set at each position, with the plan's interval.

    The array that is returned has the means, the lower and the upper limits: (3, channels, positions).

    Parameters
    ----------
    evaluate : callable
        ``evaluate(scores, positions)`` gives an array (channels, positions): heights, or both rates.
    weights : array
        One row of weights, summing to 1, per channel.
    exact : callable, optional
        ``exact(values)`` gives the mean of an array (channels, data sets, positions) where it is known more
        exactly than as a sum of products.
    """
    averaged = np.empty((3, weights.shape[0], positions.size))
    per_block = max(1, BLOCK // max(len(parts), plan.n_resamples if plan.kind == "bootstrap" else 1))
    held = per_block * max(1, HELD // (per_block * len(parts) * weights.shape[0]))
    for first in range(0, positions.size, held):
        along = positions[first : first + held]
        read = np.empty((weights.shape[0], len(parts), along.size))
        for row, part in enumerate(parts):
            read[:, row] = evaluate(part, along)
        for start in range(0, along.size, per_block):
            values = read[:, :, start : start + per_block]
            mean = exact(values) if exact is not None else weighted_mean(values, weights)
            here = slice(first + start, first + start + values.shape[2])
            averaged[0, :, here] = mean
            for channel in range(0 if plan.within else len(mean)):
                averaged[1:, channel, here] = plan.around(values[channel], weights[channel], mean[channel])
    if plan.within:
        averaged[1:] = _within(evaluate, parts, positions, weights, plan)
    return averaged


def _within(
    evaluate: Callable[[Scores, Floats], Floats],
    parts: Sequence[Scores],
    positions: Floats,
    weights: Floats,
    plan: IntervalPlan,
) -> tuple[Floats, Floats]:
    """Return percentile limits when data sets are drawn, and then the trials inside every one drawn."""
    if plan.n_resamples * positions.size * weights.shape[0] > 50 * BLOCK:
        raise OptionError(
            f"{plan.n_resamples} resamples within data sets at {positions.size} positions do not fit in memory; "
            "choose fewer positions, for example positions=1001"
        )
    from priori.uncertainty.bootstrap.readers import draw_of_trials, times_drawn

    replicates = np.empty((plan.n_resamples, weights.shape[0], positions.size))
    draws = [draw_of_trials(part, plan.seed) for part in parts]
    for replicate, times in enumerate(times_drawn(len(parts), plan.n_resamples, plan.seed).astype(np.int64)):
        drawn = np.repeat(np.arange(len(parts)), times)
        first = replicate * len(parts)  # a data set that comes twice has other trials each time
        sets = [draws[index](first + place) for place, index in enumerate(drawn.tolist())]
        share = weights[:, drawn]
        values = np.stack([evaluate(each, positions) for each in sets], axis=1)
        replicates[replicate] = weighted_mean(values, share / share.sum(axis=1, keepdims=True))
    return percentile_bounds(replicates, plan.confidence_level)


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Return the mean over data sets of an array (channels, data sets, positions).

    Taken from the first data set on, so that curves that agree somewhere (at both ends they all do) have exactly
    that average there.
    """
    first = values[:, 0]
    return np.asarray(first + (weights[:, None] @ (values - first[:, None]))[:, 0])


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


def mean_of_counts(counts: NDArray[np.int64], sizes: Sequence[int], *, by_size: bool) -> Floats | None:
    """Return the average rate of counts (data sets in rows) out of ``sizes``, divided once from whole numbers.

    None when the common denominator of equal weights is too large for whole numbers.
    """
    if by_size:
        return np.asarray(counts.sum(axis=0) / sum(sizes))
    common = math.lcm(*sizes)
    if common * len(sizes) >= 2**53:
        return None
    factors = np.array([common // size for size in sizes], dtype=np.int64)
    return np.asarray(factors @ counts / (common * len(sizes)))
