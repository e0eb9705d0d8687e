"""Intervals: from the values of the replicates to lower and upper bounds."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from priori.errors import OptionError, unknown

__all__ = ["Interval", "bounds", "check_level", "simultaneous_bounds"]

Floats = NDArray[np.float64]
Interval = Literal["percentile", "centred", "basic"]


def check_level(confidence_level: float) -> float:
    """Return the level, which must lie strictly between 0 and 1."""
    level = float(confidence_level)
    if not 0 < level < 1:
        raise OptionError(f"confidence_level must lie between 0 and 1 (0.95 for 95 %), not {confidence_level}")
    return level


def quantile(values: Floats, probability: float) -> Floats:
    """Return the inverse of the empirical distribution of each column: the smallest v with P(V <= v) >= p."""
    return np.asarray(np.quantile(values, probability, axis=0, method="inverted_cdf"))


def bounds(values: Floats, value: Floats, level: float, interval: str = "percentile") -> tuple[Floats, Floats]:
    """Return the bounds of a pointwise interval from replicates, one row each.

    ``percentile`` is the 2007 paper's (section 3.2): the quantiles (1 - level)/2 and (1 + level)/2.
    ``centred`` is the 2005 paper's (section 5): centred at the mean of the replicates and holding ``level`` of
    them. ``basic`` reflects the percentile interval at the value itself.
    """
    if interval not in get_args(Interval):
        raise unknown("interval", interval, get_args(Interval))
    if interval == "centred":
        mean = values.mean(axis=0)
        half = quantile(np.abs(values - mean), level)
        return mean - half, mean + half
    low, high = quantile(values, (1 - level) / 2), quantile(values, (1 + level) / 2)
    return (low, high) if interval == "percentile" else (2 * value - high, 2 * value - low)


def simultaneous_bounds(values: Floats, centre: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the bounds of a band that holds a share ``level`` of whole curves (studentised maximum).

    Each replicate's largest distance from the mean in standard deviations is taken along the curve; the band
    reaches as many standard deviations from ``centre`` as a share ``level`` of them stays within. Where
    replicates do not differ the band has no width.
    """
    spread = values.std(axis=0)
    moving = spread > 1e-12 * np.maximum(np.abs(values).max(axis=0), 1e-300)
    if not moving.any():
        return centre.copy(), centre.copy()
    distance = np.abs(values - values.mean(axis=0))[:, moving] / spread[moving]
    reach = quantile(distance.max(axis=1), level)
    half = np.where(moving, reach * spread, 0.0)
    return centre - half, centre + half
