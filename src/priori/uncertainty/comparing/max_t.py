"""Max-T: many differences tested together on one set of draws (Westfall and Young 1993; Romano and Wolf 2005).

A difference is significant when it is larger, in standard errors, than the largest of all of them is by chance. Step
down: those that are larger still need not be counted for it. Each pair of systems is two one-sided hypotheses, so that
"A is better" is what is controlled, not merely "A and B differ"; and what holds for all alphas together holds for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from priori.base.quantiles import error_allowed
from priori.base.types import Counts, Floats, Index


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

    def turned(self, signs: Floats) -> Family:
        """Return the same differences, those with a negative sign the other way round."""
        plus, minus = np.where(signs < 0, self.minus, self.plus), np.where(signs < 0, self.plus, self.minus)
        return Family(plus, minus, self.spread, signs * self.deviates)

    def take(self, order: Index) -> Family:
        """Return the differences in another order."""
        return Family(self.plus[order], self.minus[order], self.spread[order], self.deviates[order])


class Adjusted(NamedTuple):
    """The adjusted p-values of a family, and how far intervals reach."""

    p_value: Floats
    critical: float


def exceeded(draws: int, error: float) -> int:
    """Return how many of the draws may lie beyond a bound so that (1 + these) / (1 + draws) is below the error."""
    return max(int(np.ceil((draws + 1) * error - 1e-9)) - 2, 0)


def critical_value(largest: Floats, level: float) -> float:
    """Return what the largest deviations of the draws exceed as seldom as the level allows."""
    return float(np.sort(largest)[largest.size - 1 - exceeded(largest.size, error_allowed(level))])


def step_down(draws: Floats, family: Family, level: float) -> Adjusted:
    """Test a family on draws of its columns, (draws, columns); intervals are of a single step."""
    turned = family.turned(np.where(family.deviates < 0, -1.0, 1.0))
    order = np.argsort(turned.deviates, kind="stable")
    ordered = turned.take(order)
    counts, largest = count_maxima(draws, ordered, ordered.deviates, both=False)
    p_value = np.empty(order.size)
    p_value[order] = np.maximum.accumulate(((1 + counts) / (1 + len(draws)))[::-1])[::-1]
    return Adjusted(p_value, critical_value(largest, level))


def count_maxima(draws: Floats, family: Family, reached: Floats, *, both: bool) -> tuple[Counts, Floats]:
    """Return in how many draws the largest difference, from the first to each, is at least what is given for it.

    The differences are in standard deviations; ``both`` signs of each count, or its own after all of them with the
    other sign. Also return the largest of all in every draw.
    """
    scale = np.divide(1.0, family.spread, out=np.zeros_like(family.spread), where=family.spread > 0)
    columns = np.subtract(draws.T, draws.mean(axis=0, dtype=np.float64)[:, None], dtype=draws.dtype, order="C")
    reached, scale = reached.astype(draws.dtype), scale.astype(draws.dtype)
    largest, off = np.full(len(draws), -np.inf, dtype=draws.dtype), np.empty(len(draws), dtype=draws.dtype)
    counts = np.empty(scale.size, dtype=np.int64)
    if not both:
        for a, b, factor in zip(family.plus, family.minus, scale, strict=True):
            np.multiply(np.subtract(columns[b], columns[a], out=off), factor, out=off)
            np.maximum(largest, off, out=largest)
    for k, (a, b, factor) in enumerate(zip(family.plus, family.minus, scale, strict=True)):
        np.multiply(np.subtract(columns[a], columns[b], out=off), factor, out=off)
        np.maximum(largest, np.abs(off, out=off) if both else off, out=largest)
        counts[k] = np.count_nonzero(largest >= reached[k])
    return counts, largest


def model_confidence_set(draws: Floats, family: Family, badness: Floats) -> Floats:
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
    counts, _ = count_maxima(draws, family.take(order), np.asarray(reached)[leaves], both=True)
    p_values = np.ones(systems)
    complete = np.flatnonzero(np.diff(leaves, append=-1))  # all pairs of a stage are in
    p_values[np.asarray(last)[leaves[complete]]] = ((1 + counts) / (1 + len(draws)))[complete]
    for before, system in pairwise(last):
        p_values[system] = max(p_values[system], p_values[before])
    return p_values
