"""Intervals: from the values of the replicates to lower and upper bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from priori.base.options import Interval as Interval
from priori.base.quantiles import percentile_bounds, quantile
from priori.base.types import Floats


def bounds(values: Floats, level: float | Floats, *, centred: bool = False) -> tuple[Floats, Floats]:
    """Return the bounds of a pointwise interval from replicates, one row each; ``level`` may differ by column.

    The quantiles (1 - level)/2 and (1 + level)/2 (2007, section 3.2), at exact ranks; or, ``centred``, what lies no
    farther from the mean of the replicates than a share ``level`` of them (2005, section 5).
    """
    if centred:
        mean = values.mean(axis=0)
        half = quantile(np.abs(values - mean), float(level))
        return mean - half, mean + half
    return percentile_bounds(values, level)


def simultaneous_bounds(
    values: Floats, level: float, *, stretch: Callable[[float], float | Floats] = float, rates: bool = False
) -> tuple[Floats, Floats]:
    """Return the bounds of a band that holds a share ``level`` of whole curves (studentised maximum).

    Each replicate's largest distance from the mean of the replicates in standard deviations is taken along the
    curve; the band reaches as many standard deviations as a share ``level`` of them stays within, or what
    ``stretch`` makes of that number. Where replicates do not differ the band has no width. With ``rates``, numbers
    from 0 to 1, all this is done to the arcsine of their square root: rare errors are skewed, and it is not.
    """
    if rates:
        lower, upper = simultaneous_bounds(np.arcsin(np.sqrt(np.clip(values, 0.0, 1.0))), level, stretch=stretch)
        return np.sin(np.maximum(lower, 0.0)) ** 2, np.sin(np.minimum(upper, np.pi / 2)) ** 2
    mean, spread = values.mean(axis=0), values.std(axis=0)
    moving = spread > 1e-12 * np.maximum(np.abs(mean), 1e-300)
    if not moving.any():
        return mean, mean.copy()
    distance = np.abs(values[:, moving] - mean[moving]) / spread[moving]
    half = np.where(moving, stretch(float(quantile(distance.max(axis=1), level))) * spread, 0.0)
    return mean - half, mean + half
