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


def normal_quantile(level: float) -> float:
    """Return how many standard deviations hold a share ``level`` of a normal variable."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def deviation_bounds(values: Floats, deviations: float | Floats, *, rates: bool) -> tuple[Floats, Floats]:
    """Return the bounds that lie so many standard deviations of the replicates from their mean.

    Of ``rates``, numbers from 0 to 1, on the scale of the logit: rare errors are skewed, and it is not.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    if not rates:
        return mean - deviations * spread, mean + deviations * spread
    from scipy.special import expit, logit

    slope = mean * (1 - mean)
    half = np.divide(deviations * spread, slope, out=np.zeros_like(slope), where=slope > 0)
    return expit(logit(mean) - half), expit(logit(mean) + half)


def simultaneous_bounds(
    values: Floats, level: float, *, stretch: Callable[[float], float | Floats] = float, rates: bool = False
) -> tuple[Floats, Floats]:
    """Return the bounds of a band that holds a share ``level`` of whole curves (studentised maximum).

    Each replicate's largest distance from the mean of the replicates in standard deviations is taken along the
    curve; the band reaches as many standard deviations as a share ``level`` of them stays within, or what
    ``stretch`` makes of that number. Where replicates do not differ the band has no width.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    moving = spread > 1e-12 * np.maximum(np.abs(mean), 1e-300)
    if not moving.any():
        return mean, mean.copy()
    distance = np.abs(values[:, moving] - mean[moving]) / spread[moving]
    return deviation_bounds(values, stretch(float(quantile(distance.max(axis=1), level))), rates=rates)
