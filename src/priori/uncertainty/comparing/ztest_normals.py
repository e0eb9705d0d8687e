"""Distributions: the normals behind the z-tests of HTER, DCF and their like (thesis, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.decisions.measures import FAR, FRR, get_measure
from priori.decisions.outcomes import Outcomes
from priori.scores.pairing import Disagreements
from priori.uncertainty.rates.proportions import Alternative, p_values, quantile, standardise

AnyMeasure = str | Measure | Callable[[Outcomes], Any]


@dataclass(frozen=True)
class Weights:
    """A measure as ``constant + far FAR + frr FRR``; arrays where the weights follow alpha."""

    constant: Floats
    far: Floats
    frr: Floats

    @property
    def range(self) -> tuple[Floats, Floats]:
        """The least and the greatest value that the measure can take."""
        lowest = self.constant + np.minimum(self.far, 0) + np.minimum(self.frr, 0)
        return lowest, self.constant + np.maximum(self.far, 0) + np.maximum(self.frr, 0)


def weights_of(measure: AnyMeasure = "hter", alpha: ArrayLike | None = None) -> Weights:
    """Return the weights with which a measure adds FAR and FRR, found by asking it about known rates.

    Raises
    ------
    OptionError
        When the measure is not such a sum (F1, precision, accuracy, ...): its normal distribution is another.

    Examples
    --------
    >>> weights = weights_of("dcf")  # NIST's costs: 0.99 FAR + 0.1 FRR, the weights of Eq. 3.31
    >>> float(weights.far), float(weights.frr)
    (0.99, 0.1)
    """
    chosen = get_measure(measure)

    def value(far: float, frr: float, negatives: int = 4, positives: int = 4) -> Floats:
        errors = round(far * negatives), round(frr * positives)
        return chosen(Outcomes.from_errors(*errors, negatives=negatives, positives=positives), alpha)

    constant = value(0, 0)
    weights = Weights(constant, value(1, 0) - constant, value(0, 1) - constant)
    for far, frr, *sizes in ((1.0, 1.0, 4, 4), (0.25, 0.75, 4, 4), (0.5, 0.25, 8, 4), (0.5, 0.5, 2, 6)):
        expected = weights.constant + far * weights.far + frr * weights.frr
        if not np.allclose(value(far, frr, *map(int, sizes)), expected, rtol=1e-9, atol=1e-12):
            raise OptionError(
                f"the z-tests are for measures that add FAR and FRR (hter, far, frr, wer, dcf, sensitivity, "
                f"balanced-accuracy, ...); {chosen.name!r} is not one: use a bootstrap"
            )
    return weights


@dataclass(frozen=True)
class Rates:
    """The two error rates of a system on one set, and the class sizes NN and NP; numbers or arrays."""

    far: Floats
    frr: Floats
    negatives: Floats
    positives: Floats

    @classmethod
    def of(cls, *numbers: ArrayLike) -> Rates:
        """Return the rates as numbers, in the order of the fields."""
        return cls(*(np.asarray(number, dtype=np.float64) for number in numbers))

    @classmethod
    def from_outcomes(cls, outcomes: Outcomes) -> Rates:
        """Return the rates of counted outcomes."""
        return cls.of(FAR(outcomes), FRR(outcomes), outcomes.negatives, outcomes.positives)


class Normal(NamedTuple):
    """A normal distribution, and between which numbers its value lies."""

    value: Floats
    variance: Floats
    lowest: Any
    highest: Any


def normals(rates: Rates, weights: Weights) -> dict[str, Normal]:
    """Return what each distribution makes of the rates; the last two are over-confident.

    ``hter`` is about the aggregate of FAR and FRR (Eq. 3.30 for HTER, 3.31 for DCF). ``naive`` (3.35) takes that, over
    the sum of the weights, for a proportion; ``class_error`` (3.34) is about (FP + FN) / (NN + NP), of any weights.
    """
    far, frr, trials = rates.far, rates.frr, rates.negatives + rates.positives
    of_far, of_frr = weights.far**2 * far * (1 - far), weights.frr**2 * frr * (1 - frr)
    error, whole = weights.far * far + weights.frr * frr, weights.far + weights.frr
    wrong = (far * rates.negatives + frr * rates.positives) / trials
    value = weights.constant + weights.far * far + weights.frr * frr
    # Rounding must not leave a variance below nothing.
    return {
        "hter": Normal(value, of_far / rates.negatives + of_frr / rates.positives, *weights.range),
        "naive": Normal(value, np.maximum(error * (whole - error), 0) / trials, *weights.range),
        "class_error": Normal(wrong, np.maximum(wrong * (1 - wrong), 0) / trials, 0.0, 1.0),
    }


def dependent_variance(disagreements: Disagreements, rates: Rates, weights: Weights) -> Floats:
    """Return the variance of the difference between two systems on the same trials (Eq. 3.33).

    It rests on the trials that only one of the two systems gets wrong, and is the variance under equal rates.
    """
    far = (disagreements.negatives_ab + disagreements.negatives_ba) / rates.negatives
    frr = (disagreements.positives_ab + disagreements.positives_ba) / rates.positives
    return np.asarray(weights.far**2 * far / rates.negatives + weights.frr**2 * frr / rates.positives)


# -- intervals and tests from them -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ZInterval:
    """A normal distribution around one value and its interval; numbers, or arrays along alpha."""

    value: Floats
    sd: Floats
    lower: Floats
    upper: Floats

    @property
    def width(self) -> Floats:
        """The whole interval, upper minus lower (Tables 3.3 and 3.6)."""
        return self.upper - self.lower


@dataclass(frozen=True)
class ZDifference(ZInterval):
    """The same for a difference, A minus B, with its test against no difference.

    ``confidence`` is the thesis's delta (Eqs. 3.20, 3.21, 3.25): 1 minus the p-value.
    """

    statistic: Floats
    p_value: Floats

    @cached_property
    def confidence(self) -> Floats:
        """The confidence that the two systems differ (Tables 3.4 and 3.7)."""
        return 1 - self.p_value


@dataclass(frozen=True)
class Setting:
    """What is asked of every test: the measure's weights, the level, the direction."""

    weights: Weights
    confidence_level: float
    alternative: Alternative

    @classmethod
    def of(cls, measure: AnyMeasure, alpha: ArrayLike | None, level: float, alternative: Alternative) -> Setting:
        """Check what was asked."""
        quantile(level, alternative)  # says what is wrong with either
        return cls(weights_of(measure, alpha), level, alternative)

    def interval(self, normal: Normal) -> ZInterval:
        """Return the interval around a value; one-sided, its open end is the least or greatest value there is."""
        centre, sd = np.asarray(normal.value, dtype=np.float64), np.sqrt(np.asarray(normal.variance, dtype=np.float64))
        half = quantile(self.confidence_level, self.alternative) * sd
        lower = np.broadcast_to(normal.lowest, centre.shape) if self.alternative == "less" else centre - half
        upper = np.broadcast_to(normal.highest, centre.shape) if self.alternative == "greater" else centre + half
        return ZInterval(centre, sd, np.asarray(lower), np.asarray(upper))

    def difference(self, a: Normal, b: Normal, variance: Floats | None = None) -> ZDifference:
        """Return the interval and the test of a difference; variances add up (Eq. 3.32), unless it is known."""
        widest = np.asarray(a.highest - a.lowest)
        variance = a.variance + b.variance if variance is None else variance
        around = self.interval(Normal(a.value - b.value, variance, -widest, widest))
        z = standardise(around.value, around.sd)
        return ZDifference(**vars(around), statistic=z, p_value=p_values(z, self.alternative))


@dataclass(frozen=True)
class ZSystem:
    """One system: its rates, and the intervals that the three distributions give (`normals`)."""

    name: str
    rates: Rates
    hter: ZInterval
    naive: ZInterval
    class_error: ZInterval

    @classmethod
    def of(cls, name: str, rates: Rates, setting: Setting) -> ZSystem:
        """Compute the three intervals."""
        found = normals(rates, setting.weights)
        return cls(name, rates, **{name: setting.interval(normal) for name, normal in found.items()})

    @property
    def intervals(self) -> dict[str, ZInterval]:
        """The three intervals by name."""
        return {"hter": self.hter, "naive": self.naive, "class": self.class_error}


@dataclass(frozen=True)
class ZComparison:
    """The four tests of the difference between two systems; ``dependent`` only where trials are paired."""

    dependent: ZDifference | None
    independent: ZDifference
    naive: ZDifference
    class_error: ZDifference

    @classmethod
    def of(cls, a: Rates, b: Rates, setting: Setting, disagreements: Disagreements | None) -> ZComparison:
        """Compute the tests; with the disagreements where the trials are the same."""
        first, second, dependent = normals(a, setting.weights), normals(b, setting.weights), None
        tests = {name: setting.difference(first[name], second[name]) for name in first}
        if disagreements is not None:
            variance = dependent_variance(disagreements, a, setting.weights)
            dependent = setting.difference(first["hter"], second["hter"], variance)
        return cls(dependent, tests["hter"], tests["naive"], tests["class_error"])

    @property
    def tests(self) -> dict[str, ZDifference]:
        """The tests by name, the ones to trust first."""
        paired = {} if self.dependent is None else {"dependent": self.dependent}
        return {**paired, "independent": self.independent, "naive": self.naive, "class": self.class_error}

    def significant(self, confidence_level: float) -> NDArray[np.bool_]:
        """Whether the dependent and the independent test both find a difference (thesis, end of section 3.3)."""
        tests = [test for test in (self.dependent, self.independent) if test is not None]
        return np.asarray(np.logical_and.reduce([test.p_value < 1 - confidence_level for test in tests]))
