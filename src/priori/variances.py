"""Variances: the normal distributions behind the z-tests of HTER, DCF and their like (thesis, section 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.errors import OptionError
from priori.measures import FAR, FRR, Measure, get_measure
from priori.outcomes import Outcomes
from priori.pairing import Disagreements

__all__ = [
    "Rates",
    "Weights",
    "class_variance",
    "dependent_variance",
    "hter_variance",
    "independent_variance",
    "naive_variance",
    "weights_of",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    """A measure as ``constant + far FAR + frr FRR``; arrays where the weights follow alpha."""

    constant: Floats
    far: Floats
    frr: Floats

    @property
    def lowest(self) -> Floats:
        """The least value the measure can take."""
        return self.constant + np.minimum(self.far, 0) + np.minimum(self.frr, 0)

    @property
    def highest(self) -> Floats:
        """The greatest value the measure can take."""
        return self.constant + np.maximum(self.far, 0) + np.maximum(self.frr, 0)


def weights_of(measure: str | Measure | Callable[[Outcomes], Any] = "hter", alpha: ArrayLike | None = None) -> Weights:
    """Return the weights with which a measure adds FAR and FRR, found by asking it about known rates.

    Raises
    ------
    OptionError
        When the measure is not such a sum (F1, precision, accuracy, ...): its normal distribution is another.

    Examples
    --------
    >>> found = weights_of("dcf")  # NIST's costs: 0.99 FAR + 0.1 FRR, the weights of Eq. 3.31
    >>> float(found.far), float(found.frr)
    (0.99, 0.1)
    """
    chosen = get_measure(measure)

    def at(far: float, frr: float, negatives: int = 4, positives: int = 4) -> Floats:
        counts = Outcomes.from_errors(
            round(far * negatives), round(frr * positives), negatives=negatives, positives=positives
        )
        return chosen(counts, alpha)

    constant = at(0, 0)
    weights = Weights(constant, at(1, 0) - constant, at(0, 1) - constant)
    probes = [(1.0, 1.0, 4, 4), (0.25, 0.75, 4, 4), (0.5, 0.25, 8, 4), (0.5, 0.5, 2, 6)]
    for far, frr, negatives, positives in probes:
        sum_ = weights.constant + far * weights.far + frr * weights.frr
        if not np.allclose(at(far, frr, negatives, positives), sum_, rtol=1e-9, atol=1e-12):
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
    def from_outcomes(cls, outcomes: Outcomes) -> Rates:
        """Return the rates of counted outcomes."""
        return cls(
            FAR(outcomes),
            FRR(outcomes),
            np.asarray(outcomes.negatives, dtype=np.float64),
            np.asarray(outcomes.positives, dtype=np.float64),
        )

    @property
    def classification_error(self) -> Floats:
        """(FP + FN) / (NN + NP): what CLASS tests."""
        total = self.negatives + self.positives
        return np.asarray((self.far * self.negatives + self.frr * self.positives) / total)

    def value(self, weights: Weights) -> Floats:
        """Return the measure that ``weights`` stand for."""
        return np.asarray(weights.constant + weights.far * self.far + weights.frr * self.frr)


def hter_variance(rates: Rates, weights: Weights) -> Floats:
    """Return the variance of an aggregate of FAR and FRR (Eq. 3.30 for HTER, 3.31 for DCF)."""
    return np.asarray(
        weights.far**2 * rates.far * (1 - rates.far) / rates.negatives
        + weights.frr**2 * rates.frr * (1 - rates.frr) / rates.positives
    )


def naive_variance(rates: Rates, weights: Weights) -> Floats:
    """Return the variance of NAIVE (Eq. 3.35): the aggregate taken for a proportion of all trials. Over-confident.

    Where the weights do not add up to 1 (DCF), the aggregate over their sum is what is taken for a proportion.
    """
    error, whole = rates.value(weights) - weights.constant, weights.far + weights.frr
    return np.asarray(error * (whole - error) / (rates.negatives + rates.positives))


def class_variance(rates: Rates, weights: Weights) -> Floats:
    """Return the variance of CLASS (Eq. 3.34): of the classification error, whatever the weights. Over-confident."""
    error = rates.classification_error
    return np.asarray(error * (1 - error) / (rates.negatives + rates.positives))


def independent_variance(a: Rates, b: Rates, weights: Weights) -> Floats:
    """Return the variance of the difference between two systems taken for independent (Eq. 3.32)."""
    return hter_variance(a, weights) + hter_variance(b, weights)


def dependent_variance(found: Disagreements, rates: Rates, weights: Weights) -> Floats:
    """Return the variance of the difference between two systems on the same trials (Eq. 3.33).

    It rests on the trials that only one of the two systems gets wrong, and is the variance under equal rates.
    """
    far = (found.negatives_ab + found.negatives_ba) / rates.negatives
    frr = (found.positives_ab + found.positives_ba) / rates.positives
    return np.asarray(weights.far**2 * far / rates.negatives + weights.frr**2 * frr / rates.positives)
