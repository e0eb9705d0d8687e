"""Sizes: the smallest number of users (or trials) that reaches a width or a power, with an assurance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from priori.base.errors import OptionError
from priori.uncertainty.rates.proportions import Alternative, quantile

#: More units than this are no plan.
MOST = 10**12


@dataclass(frozen=True)
class Variability:
    """How the variance of a measure depends on the number of units (users, or trials), and how sure one is of it.

    ``unit`` is the variance from one unit; ``kept`` what more units do not lessen, that of a development set which
    stays as it is. A study estimates its variance with ``degrees`` degrees of freedom for each unit, where units are
    users no more than less one than those that it rests on, the share ``counted``; the pilot did with ``pilot``,
    infinite where rates were given.
    """

    unit: float
    by_user: bool
    kept: float = 0.0
    degrees: float = np.inf
    pilot: float = np.inf
    counted: float = 1.0

    def variance(self, units: float) -> float:
        """Return the variance that so many units leave."""
        return self.unit / units + self.kept

    def freedom(self, units: int) -> float:
        """Return the degrees of freedom with which a study of so many units knows its variance."""
        found = self.degrees * units
        return max(min(found, self._between(units)), 1.0) if self.by_user else found

    def _between(self, units: int) -> float:
        """Return the degrees of freedom between so many users."""
        return max(self.counted * units - 1, 1.0)

    def reach(self, units: int, level: float, alternative: Alternative) -> float:
        """Return how many deviations bounds reach: Student's with users, as those of the bootstrap."""
        return quantile(level, alternative, self._between(units) if self.by_user else np.inf)

    def share(self, units: int, assurance: float | None) -> float:
        """Return what the variance of a study stays under with this assurance, as a multiple of the expected one.

        The ratio of two estimated variances: Fisher's F with the study's and the pilot's degrees of freedom.
        """
        from scipy.special import fdtri, gammaincinv

        if assurance is None:
            return 1.0
        study, pilot = self.freedom(units), self.pilot
        if not np.isfinite(pilot):
            return float(gammaincinv(study / 2, assurance) / (study / 2)) if np.isfinite(study) else 1.0
        return float(fdtri(min(study, 1e9), max(pilot, 1.0), assurance))


@dataclass(frozen=True)
class Goal:
    """What the plan must reach: a width (with an assurance), or the power to find a difference."""

    width: float | None
    difference: float | None
    power: float | None
    assurance: float | None
    confidence_level: float
    alternative: Alternative

    def sd(self, known: Variability, units: int) -> float:
        """Return the largest deviation with which so many units reach the goal."""
        from scipy.special import ndtri, stdtrit

        reach = known.reach(units, self.confidence_level, self.alternative)
        if self.width is not None:
            return float(self.width / (2 * reach * np.sqrt(known.share(units, self.assurance))))
        assert self.difference is not None
        # Student's quantile: a small pilot may have shown too little variance, and power would be lost.
        beyond = float(stdtrit(known.pilot, self.power) if np.isfinite(known.pilot) else ndtri(self.power))
        return abs(self.difference) / (reach + beyond)

    def power_at(self, known: Variability, units: int) -> float | None:
        """Return how often so many units find the difference."""
        from scipy.special import ndtr

        if self.difference is None:
            return None
        reach = known.reach(units, self.confidence_level, self.alternative)
        return float(ndtr(abs(self.difference) / np.sqrt(known.variance(units)) - reach))

    def units(self, known: Variability) -> int:
        """Return the smallest number of units that reaches the goal."""
        if self.sd(known, MOST) ** 2 <= known.kept:
            raise OptionError(
                "no number of test users is enough: the development set alone leaves a standard deviation of "
                f"{np.sqrt(known.kept):.3g}; let it grow too (development='grow')"
            )
        return smallest(lambda units: known.variance(units) * (1 - 1e-12) <= self.sd(known, units) ** 2, known.by_user)


def smallest(enough: Callable[[int], bool], by_user: bool) -> int:
    """Return the first number from which on a size is enough."""
    low, high = (1 if by_user else 0), (2 if by_user else 1)
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            raise OptionError("the goal is out of reach: it would take more than 10^12 trials")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
