"""Max-T: many differences tested together on one set of draws (Westfall and Young 1993; Romano and Wolf 2005).

A difference is significant when it is larger, in standard errors, than the largest of all of them is by chance. Step
down: those that are larger still need not be counted for it. Each pair of systems is two one-sided hypotheses, so that
"A is better" is what is controlled, not merely "A and B differ"; and what holds for all alphas together holds for each.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from priori.base.processors import thread_count
from priori.base.types import Counts, Floats, Index, Mask
from priori.uncertainty.comparing.evidence import error_allowed, exceeded

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


@dataclass(frozen=True, eq=False)
class Adjusted:
    """The adjusted p-values of a family, which of them come from a fitted tail, and how far intervals reach."""

    p_value: Floats
    fitted: Mask
    critical: float


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
    critical = np.sort(both)[total - 1 - exceeded(total, error_allowed(level))]
    return Adjusted(np.where(fitted, tail, p_value), fitted, float(critical))


def count_maxima(
    draws: Floats, family: Family, reached: Floats, signs: Signs, *, threads: int | None = None
) -> tuple[Counts, Floats]:
    """Return in how many draws the largest difference, from the first to each, is at least what is given for it.

    With that comes the largest of all in every draw.
    """
    from priori.uncertainty.bootstrap import kernels

    kernel, code = kernels.count_maxima, getattr(kernels, signs.upper().replace(" ", "_"))
    scale = np.divide(1.0, family.spread, out=np.zeros_like(family.spread), where=family.spread > 0)
    plus, minus = family.plus.astype(np.int32), family.minus.astype(np.int32)
    factors, enough = scale.astype(draws.dtype), reached.astype(draws.dtype)
    largest = np.empty(len(draws), dtype=draws.dtype)

    def count(block: Floats, chosen: slice, counts: Counts) -> None:
        kernel(block, plus, minus, factors, enough, code, counts, largest[chosen])

    return in_blocks(draws, count, plus.size, threads=threads), largest


def in_blocks(
    draws: Floats, count: Callable[[Floats, slice, Counts], None], size: int, *, threads: int | None = None
) -> Counts:
    """Return what is counted on all draws, some at a time on each thread: (columns, draws), less their means."""
    mean = draws.mean(axis=0, dtype=np.float64)
    step = int(np.clip(BLOCK // draws.shape[1], 16, 1024))

    def work(starts: range) -> Counts:
        counts = np.zeros(size, dtype=np.int64)
        for start in starts:
            chosen = slice(start, start + step)
            count(np.ascontiguousarray((draws[chosen] - mean).T, dtype=draws.dtype), chosen, counts)
        return counts

    workers = thread_count(threads)
    parts = [range(worker * step, len(draws), workers * step) for worker in range(workers)]
    if workers == 1:
        return work(parts[0])
    with ThreadPoolExecutor(workers) as pool:
        return np.asarray(np.sum(list(pool.map(work, parts)), axis=0))


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
