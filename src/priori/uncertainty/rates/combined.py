"""Numbers made of several rates, and their limits from those of the rates: sums, differences, ratios, inequality.

By the distances of the rates to their own limits (MOVER): G. Zou and A. Donner, "Construction of confidence limits
about effect measures: a general approach", Statistics in Medicine 27, 2008; for ratios A. Donner and G. Zou,
"Closed-form confidence intervals for functions of the normal mean and standard deviation", Statistical Methods in
Medical Research 21, 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from priori.base.types import Floats

if TYPE_CHECKING:
    from priori.uncertainty.rates.rate_intervals import RateInterval

#: Where a limit crosses 0 is found by halving so often.
HALVINGS = 60


class BoundedValue(NamedTuple):
    """A number that is no rate, with its interval."""

    rate: float
    lower: float
    upper: float


def joint_interval(
    parts: Sequence[RateInterval | BoundedValue], weights: Sequence[float], *, below: float = 0.0, above: float = 0.0
) -> tuple[float, float, float]:
    """Return a weighted sum of two rates, and its bounds.

    ``below`` and ``above`` are the correlation of the rates, as it counts for the lower and for the upper bound.
    """
    rate, lower, upper = (
        np.array([weight * getattr(part, name) for part, weight in zip(parts, weights, strict=True)])
        for name in ("rate", "lower", "upper")
    )

    def distance(apart: Floats, correlation: float) -> float:
        return float(np.sqrt(apart @ apart + 2 * correlation * apart.prod()))

    value = float(rate.sum())
    return value, value - distance(rate - lower, below), value + distance(upper - rate, above)


# -- pairs of rates ------------------------------------------------------------------------------------------------


def level_of_pairs(level: float, groups: int) -> float:
    """Return the level of one pair's interval such that those of all pairs hold together (Tukey).

    The range of so many independent normal numbers stays within sqrt(2) times the quantile of that level.
    """
    from scipy.special import ndtr

    if groups < 3:
        return level
    x, step = np.linspace(-8.0, 8.0, 2001, retstep=True)
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)

    def beyond(span: float) -> float:
        return level - groups * step * float((density * (ndtr(x) - ndtr(x - span)) ** (groups - 1)).sum())

    return float(2 * ndtr(_crossing(beyond, 0.0, 20.0) / np.sqrt(2)) - 1)


class Pairs(NamedTuple):
    """The limits of the differences and of the ratios of pairs of rates, the first of each pair against the second."""

    gap_lower: Floats
    gap_upper: Floats
    ratio_lower: Floats
    ratio_upper: Floats

    @classmethod
    def of(cls, value: Floats, lower: Floats, upper: Floats, rho: Floats) -> Pairs:
        """Return the limits of each rate (rows) against all, from those of single rates and correlations ``rho``.

        The method of variance estimates recovery.
        """
        a, b = value[:, None], value
        below = a - lower[:, None], upper - b
        above = upper[:, None] - a, b - lower
        gap_lower = a - b - _distance(*below, rho)
        gap_upper = a - b + _distance(*above, rho)
        # The ratio r at which the limit of a - r b is 0: (a - r b)^2 = distance(of a, r times that of b)^2.
        with np.errstate(divide="ignore", invalid="ignore"):
            square, half, rest = _quadratic(a, b, *below, rho)
            ratio_lower = np.where(rest <= 0, 0.0, rest / (half + np.sqrt(np.maximum(half**2 - square * rest, 0.0))))
            square, half, rest = _quadratic(a, b, *above, rho)
            root = half + np.sqrt(np.maximum(half**2 - square * rest, 0.0))
            ratio_upper = np.where(square > 1e-15, root / square, np.inf)
        return cls(gap_lower, gap_upper, ratio_lower, ratio_upper)


def _distance(of_first: Floats, of_second: Floats, rho: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(of_first**2 + of_second**2 - 2 * rho * of_first * of_second, 0.0)))


def _quadratic(a: Floats, b: Floats, of_a: Floats, of_b: Floats, rho: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the coefficients of r^2, of -2 r and of 1 in (a - r b)^2 - distance(of_a, r of_b)^2."""
    return b**2 - of_b**2, a * b - rho * of_a * of_b, a**2 - of_a**2


# -- inequality ----------------------------------------------------------------------------------------------------

# GARBE is the mean of the Gini coefficients of two rates: J. Howard, E. Laird, R. Rubin, Y. Sirotin, J. Tipton and
# A. Vemury, "Evaluating proposed fairness models for face recognition algorithms", 2022.


def gini(rates: Floats) -> float:
    """Return the Gini coefficient of rates, n / (n - 1) times: 0 where all are alike, 1 where one group has all errors.

    Examples
    --------
    >>> round(gini(np.array([0.01, 0.02, 0.03])), 4)
    0.3333
    """
    total = float(rates.sum())
    if total <= 0:
        return 0.0
    return max(float(_ranks(rates) @ np.sort(rates)), 0.0) / ((rates.size - 1) * total)  # rounding may leave -1e-17


def gini_limits(rates: Floats, lower: Floats, upper: Floats, level: float) -> tuple[float, float]:
    """Return the limits of the Gini coefficient of rates with these limits of ``level``, each by itself.

    In a given order of the groups the coefficient is a ratio of sums, with limits from the distances of the rates to
    theirs (MOVER, as for two rates). The coefficient is that of the order in which it is largest. So the order observed
    gives an upper limit that is, distances alike, no less than that of the true order; the lower limit allows for an
    order chosen by the same rates (Scheffe). Groups are taken for independent.

    Examples
    --------
    >>> low, high = gini_limits(np.array([0.02, 0.06]), np.array([0.01, 0.04]), np.array([0.03, 0.09]), 0.95)
    >>> f"{low:.3f} to {high:.3f}"
    '0.257 to 0.738'
    """
    from scipy.special import chdtri, ndtri

    order, ranks = np.argsort(rates), _ranks(rates)
    rates, below, above = rates[order], (rates - lower)[order], (upper - rates)[order]
    wider = np.sqrt(chdtri(rates.size - 1, 1 - level)) / ndtri((1 + level) / 2)

    def highest(ratio: float) -> float:
        weight = ranks - ratio * (rates.size - 1)
        return float(weight @ rates + np.linalg.norm(weight * np.where(weight > 0, above, below)))

    def lowest(ratio: float) -> float:
        weight = ranks - ratio * (rates.size - 1)
        return float(weight @ rates - wider * np.linalg.norm(weight * np.where(weight > 0, below, above)))

    value = gini(rates)
    return _crossing(lowest, 0.0, value), _crossing(highest, value, 1.0)


def _ranks(rates: Floats) -> Floats:
    """Return what the rates, sorted, count in the sum of the differences of all pairs."""
    return np.asarray(2.0 * np.arange(rates.size) - rates.size + 1)


def _crossing(limit: Callable[[float], float], start: float, end: float) -> float:
    """Return the largest number from ``start`` to ``end`` at which a limit is not below 0; it crosses 0 only once."""
    if limit(start) <= 0:
        return start
    if limit(end) >= 0:
        return end
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if limit(middle) >= 0 else (start, middle)
    return start
