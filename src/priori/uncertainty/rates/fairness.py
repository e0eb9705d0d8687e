"""GARBE: how unequal the error rates of groups are, as one number, and its limits from those of the rates.

J. Howard, E. Laird, R. Rubin, Y. Sirotin, J. Tipton and A. Vemury, "Evaluating proposed fairness models for face
recognition algorithms", 2022. It is the mean of the Gini coefficients of two rates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from priori.base.types import Floats

#: The limits of coefficients are found by halving so often.
HALVINGS = 60


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
    """Return the largest ratio from ``start`` to ``end`` at which a limit is not below 0; it crosses 0 only once."""
    if limit(start) <= 0:
        return start
    if limit(end) >= 0:
        return end
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if limit(middle) >= 0 else (start, middle)
    return start
