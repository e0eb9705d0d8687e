"""Max-T: many differences tested together on one set of draws (Westfall and Young 1993; Romano and Wolf 2005).

A difference is significant when it is larger, in standard errors, than the largest of all of them is by chance. Step
down: those that are larger still need not be counted for it. Each pair of systems is two one-sided hypotheses, so that
"A is better" is what is controlled, not merely "A and B differ"; and what holds for all alphas together holds for each.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from priori.base.limits import thread_count
from priori.base.types import Counts, Floats, Index, Mask

#: Which signs of a difference count: its own; both; or its own, after all the others' with the other sign.
Signs = Literal["own", "both", "others first"]
#: Numbers of a block of draws: they fit the cache that processors share.
BLOCK = 1 << 20
#: The tail of the maxima is fitted to this many of the largest, where there are ten times as many.
TAIL = 250


@dataclass(frozen=True, eq=False)
class Family:
    """Differences to be tested together: each is column ``plus`` of the draws minus column ``minus``.

    ``spread`` is the standard deviation of each over the draws, ``deviates`` what it is worth in standard deviations of
    a normal variable, with its sign.
    """

    plus: Index
    minus: Index
    spread: Floats
    deviates: Floats

    def turned(self, signs: Floats | float) -> Family:
        """Return the same differences, those with a negative sign the other way round."""
        swapped = np.broadcast_to(signs, self.deviates.shape) < 0
        plus, minus = np.where(swapped, self.minus, self.plus), np.where(swapped, self.plus, self.minus)
        return Family(plus, minus, self.spread, signs * self.deviates)

    def take(self, order: Index) -> Family:
        """Return the differences in another order."""
        return Family(self.plus[order], self.minus[order], self.spread[order], self.deviates[order])


class Adjusted(NamedTuple):
    """The adjusted p-values of a family, which of them come from a fitted tail, and how far intervals reach."""

    p_value: Floats
    fitted: Mask
    critical: float


def error_allowed(level: float) -> float:
    """Return 1 minus the level as it was typed: 0.05 for 0.95, not 0.050000000000000044."""
    return float(1 - Fraction(str(float(level))))


def exceeded(draws: int, error: float) -> int:
    """Return how many of the draws may lie beyond a bound so that (1 + these) / (1 + draws) is below the error."""
    return max(int(np.ceil((draws + 1) * error - 1e-9)) - 2, 0)


def critical_value(largest: Floats, level: float) -> float:
    """Return what the largest deviations of the draws exceed as seldom as the level allows."""
    return float(np.sort(largest)[largest.size - 1 - exceeded(largest.size, error_allowed(level))])


def step_down(draws: Floats, family: Family, level: float, alternative: str, *, threads: int | None = None) -> Adjusted:
    """Test a family on draws of its columns, (draws, columns)."""
    sign = {"less": -1.0, "greater": 1.0}.get(alternative)
    turned = family.turned(np.where(family.deviates < 0, -1.0, 1.0) if sign is None else sign)
    order = np.argsort(turned.deviates, kind="stable")
    ordered = turned.take(order)
    signs: Signs = "others first" if sign is None else "own"
    counts, largest = count_maxima(draws, ordered, ordered.deviates, signs, threads=threads)
    total = len(draws)
    p_value, unseen = np.empty(order.size), np.empty(order.size, dtype=np.bool_)
    p_value[order] = np.maximum.accumulate(((1 + counts) / (1 + total))[::-1])[::-1]
    unseen[order] = counts == 0
    fitted, tail = tail_p_values(largest, turned.deviates)
    fitted &= unseen & (tail < p_value)
    # Intervals are two-sided, whatever was tested.
    both = largest if sign is None else count_maxima(draws, ordered, ordered.deviates, "both", threads=threads)[1]
    return Adjusted(np.where(fitted, tail, p_value), fitted, critical_value(both, level))


def count_maxima(
    draws: Floats, family: Family, reached: Floats, signs: Signs, *, threads: int | None = None
) -> tuple[Counts, Floats]:
    """Return in how many draws the largest difference, from the first to each, is at least what is given for it.

    With that comes the largest of all in every draw. Some draws are counted at a time on each thread.
    """
    from priori.uncertainty.bootstrap import kernels

    code = getattr(kernels, signs.upper().replace(" ", "_"))
    scale = np.divide(1.0, family.spread, out=np.zeros_like(family.spread), where=family.spread > 0)
    plus, minus = family.plus.astype(np.int32), family.minus.astype(np.int32)
    factors, enough = scale.astype(draws.dtype), reached.astype(draws.dtype)
    largest, mean = np.empty(len(draws), dtype=draws.dtype), draws.mean(axis=0, dtype=np.float64)
    step = int(np.clip(BLOCK // draws.shape[1], 16, 1024))

    def work(starts: range) -> Counts:
        counts = np.zeros(plus.size, dtype=np.int64)
        for start in starts:
            some = slice(start, start + step)
            off = np.ascontiguousarray((draws[some] - mean).T, dtype=draws.dtype)
            kernels.count_maxima(off, plus, minus, factors, enough, code, counts, largest[some])
        return counts

    workers = thread_count(threads)
    parts = [range(worker * step, len(draws), workers * step) for worker in range(workers)]
    with ThreadPoolExecutor(workers) as pool:
        return np.asarray(np.sum(list(pool.map(work, parts)), axis=0)), largest


def tail_p_values(largest: Floats, reached: Floats) -> tuple[Mask, Floats]:
    """Return where the tail of the maxima can be fitted, and the p-values of what was reached there.

    A generalized Pareto distribution fitted to the largest maxima by probability-weighted moments (Hosking and Wallis
    1987), with a tail no lighter than exponential: with the lighter one of a bounded variable a p-value could be 0.
    """
    size = min(TAIL, largest.size // 10)
    ordered = np.sort(np.asarray(largest, dtype=np.float64))[::-1]
    if size < 10 or not ordered[0] > ordered[size]:
        return np.zeros(reached.shape, dtype=np.bool_), np.ones(reached.shape)
    threshold = ordered[size]
    excess = ordered[:size] - threshold
    mean = float(excess.mean())
    weighted = float(excess @ ((np.arange(size) + 0.5) / size) / size)  # the largest have the least weight
    shape = max(2 - mean / (mean - 2 * weighted), 0.0) if mean > 2 * weighted else 0.0
    scale = mean * (1 - shape)
    beyond = np.maximum(reached - threshold, 0.0) / scale
    share = np.exp(-beyond) if shape == 0 else (1 + shape * beyond) ** (-1 / shape)
    return reached > threshold, size / largest.size * share


def model_confidence_set(draws: Floats, family: Family, badness: Floats, *, threads: int | None = None) -> Floats:
    """Return for every system the p-value of its being the best (Hansen, Lunde and Nason 2011, the range statistic).

    The worst is left out again and again, as long as the largest of all differences left is more than chance. A family
    of all pairs; ``badness`` is the greater, the worse a system is, and decides between equals.
    """
    systems = badness.size
    deviates = np.zeros((systems, systems))
    deviates[family.plus, family.minus], deviates[family.minus, family.plus] = family.deviates, -family.deviates
    stage, reached, last = np.full(systems, systems), [], []
    for number in range(systems - 1):
        largest = deviates.max(axis=1)
        reached.append(largest.max())
        worst = int(np.where(largest == reached[-1], badness, -np.inf).argmax())
        deviates[worst], deviates[:, worst] = -np.inf, -np.inf
        stage[worst] = number
        last.append(worst)
    # A pair is left out with the first of its systems; those that stay longest are counted first.
    leaves = np.minimum(stage[family.plus], stage[family.minus])
    order = np.argsort(-leaves, kind="stable")
    leaves = leaves[order]
    counts, _ = count_maxima(draws, family.take(order), np.asarray(reached)[leaves], "both", threads=threads)
    p_values = np.ones(systems)
    complete = np.flatnonzero(np.diff(leaves, append=-1))  # all pairs of a stage are in
    p_values[np.asarray(last)[leaves[complete]]] = ((1 + counts) / (1 + len(draws)))[complete]
    for before, system in pairwise(last):
        p_values[system] = max(p_values[system], p_values[before])
    return p_values
