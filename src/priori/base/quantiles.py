"""Quantiles: order statistics at exact ranks, so that no bound depends on how (1 - 0.95)/2 is rounded."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from priori.base.cautions import Caution
from priori.base.types import Floats

#: With fewer replicates beyond each bound, its position is mostly chance.
FEWEST_BEYOND = 5


def typed(level: float) -> Fraction:
    """Return the fraction that a level as typed means: 0.95 is 19/20. What is computed is taken to twelve digits."""
    return Fraction(repr(round(float(level), 12)))


def error_allowed(level: float) -> float:
    """Return 1 minus the level as it was typed: 0.05 for 0.95, not 0.050000000000000044. A p-value is held against it.

    Examples
    --------
    >>> error_allowed(0.95)
    0.05
    """
    return float(1 - typed(level))


def quantile(values: Floats, probability: float) -> Floats:
    """Return the inverse of the empirical distribution of each column: the smallest v with P(V <= v) >= p."""
    rank = min(max(ceil(len(values) * typed(probability)), 1), len(values))
    return _order_statistics(values, [rank])[0]


def percentile_bounds(values: Floats, level: float | Floats) -> tuple[Floats, Floats]:
    """Return the bounds that leave out (1 - level)/2 of each column's values on either side, or less.

    The lower one is the quantile (1 - level)/2, number r = ceil(N (1 - level)/2) from below; the upper one is as far
    from above. A level of its own for each column may be given.

    Examples
    --------
    >>> lower, upper = percentile_bounds(np.arange(1.0, 41.0), 0.95)  # a fortieth of forty is the first
    >>> float(lower), float(upper)
    (1.0, 40.0)
    """
    if np.ndim(level):
        levels = np.broadcast_to(level, values.shape[1:])
        each = [percentile_bounds(column, one) for column, one in zip(values.T, levels, strict=True)]
        lower, upper = np.array(each).T
        return lower, upper
    rank = max(1, ceil(len(values) * (1 - typed(float(level))) / 2))
    lower, upper = _order_statistics(values, [rank, len(values) + 1 - rank])
    return lower, upper


def few_replicates(n: int, level: float) -> tuple[Caution, ...]:
    """Return a caution where n replicates are too few for bounds of this level: chance then moves them."""
    beyond = n * (1 - typed(level)) / 2
    if beyond >= FEWEST_BEYOND:
        return ()
    needed = ceil(2 * FEWEST_BEYOND / (1 - typed(level)))
    return (
        Caution(
            "few-replicates", f"{n} replicates are too few for {100 * level:g} % intervals: use {needed:,} or more"
        ),
    )


def _order_statistics(values: Floats, ranks: list[int]) -> list[Floats]:
    """Return the values of each column with these ranks from 1 on; NaN where any value is."""
    places = sorted({*(rank - 1 for rank in ranks), len(values) - 1})
    ordered = np.partition(values, places, axis=0)
    undefined = np.isnan(ordered[-1])  # they are sorted last
    return [np.where(undefined, np.nan, ordered[rank - 1]) for rank in ranks]
