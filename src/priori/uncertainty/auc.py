"""DeLong: how sure an AUC is, and whether two AUCs differ. A posteriori, as the AUC itself.

E. DeLong, D. DeLong and D. Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
characteristic curves: a nonparametric approach", Biometrics 44, 1988.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import InputError, unknown
from priori.base.layouts import CAUTIONS, FLAG, LEVEL, NUMBER, TEXT, Layout, of
from priori.base.results import Result
from priori.base.saved import Saved
from priori.base.types import Floats
from priori.curves.roc import A_POSTERIORI, a_posteriori_auc
from priori.scores import Scores, ScoreSet
from priori.scores.pairing import Pairing, pair
from priori.uncertainty.proportions import ALTERNATIVE, Alternative, check_level, p_values, quantile, standardise


@dataclass(frozen=True, repr=False)
class AposterioriAUCInterval(Result):
    """An AUC, *a posteriori*, with DeLong's deviation and interval. Made by `a_posteriori_auc_interval`."""

    auc: float
    sd: float
    lower: float
    upper: float
    method: str
    confidence_level: float
    warnings: tuple[str, ...]

    @property
    def width(self) -> float:
        """The whole interval, upper minus lower."""
        return self.upper - self.lower

    _layout = Layout(
        "An AUC, a posteriori, with DeLong's interval: one row.",
        of("number", "auc sd lower upper width"),
        {"kind": A_POSTERIORI, "method": TEXT, "confidence_level": LEVEL, "warnings": CAUTIONS},
        one_row=True,
    )


@dataclass(frozen=True, repr=False)
class AposterioriAUCTest(Result):
    """Two AUCs, *a posteriori*, and DeLong's test of their difference. Made by `a_posteriori_auc_test`."""

    auc_a: float
    auc_b: float
    difference: float
    sd: float
    lower: float
    upper: float
    statistic: float
    p_value: float
    paired: bool
    degrees_of_freedom: float | None
    alternative: str
    confidence_level: float
    warnings: tuple[str, ...]

    @property
    def significant(self) -> bool:
        """Whether the AUCs differ at the confidence level."""
        return self.p_value < 1 - self.confidence_level

    _layout = Layout(
        "Two AUCs, a posteriori, and DeLong's test: one row.",
        {**of("number", "auc_a auc_b difference sd lower upper statistic p_value"), "significant": "boolean"},
        {"kind": A_POSTERIORI, "paired": FLAG, "degrees_of_freedom": NUMBER, "alternative": ALTERNATIVE}
        | {"confidence_level": LEVEL, "warnings": CAUTIONS},
        one_row=True,
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        return super()._from_parts(saved, degrees_of_freedom=saved["degrees_of_freedom"], **known)


# -- structural components -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Components:
    """For each trial, the share of the other class that it stands on the right side of (ties count half).

    ``positive[i]`` is the share of negatives below positive i, ``negative[j]`` the share of positives above
    negative j; the mean of either is the AUC.
    """

    negative: Floats
    positive: Floats

    @classmethod
    def of(cls, scores: Scores) -> Components:
        """Look every trial up in the other class, sorted: O(n log n), what midranks give."""

        def below(values: Floats, ordered: Floats) -> Floats:
            twice = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
            return np.asarray(twice / (2 * ordered.size))

        return cls(1 - below(scores.negative.score, scores.positives), below(scores.positive.score, scores.negatives))

    def minus(self, other: Components, pairing: Pairing) -> Components:
        """Return the components of the difference of two AUCs on the same trials."""
        return Components(
            self.negative[pairing.negative_a] - other.negative[pairing.negative_b],
            self.positive[pairing.positive_a] - other.positive[pairing.positive_b],
        )

    @property
    def variance(self) -> float:
        """DeLong's variance: of each class's components, over its size, added."""
        positive, negative = (np.var(values, ddof=1) / values.size for values in (self.positive, self.negative))
        return float(positive + negative)


def _components(scores: ScoreSet) -> Components:
    for name, trials in (("negatives", scores.n_negatives), ("positives", scores.n_positives)):
        if trials < 2:
            raise InputError(f"{scores.source}: DeLong's variance needs at least two {name}; there is {trials}")
    return Components.of(scores.load())


# -- the two questions -----------------------------------------------------------------------------------------


def a_posteriori_auc_interval(
    scores: ScoreSet, *, confidence_level: float = 0.95, method: Literal["normal", "logit"] = "normal"
) -> AposterioriAUCInterval:
    """Return DeLong's interval for the AUC of one system. *A posteriori*: no threshold is fixed in advance.

    Parameters
    ----------
    scores : Scores
        The test scores.
    confidence_level : float
        0.95 by default.
    method : {"normal", "logit"}
        The normal interval, cut at 0 and 1 (pROC's); or normal on the scale of log(AUC / (1 - AUC)), which stays
        inside by itself and is the better one near 1.

    Examples
    --------
    >>> from priori import Scores, a_posteriori_auc_interval
    >>> scores = Scores.from_arrays(negatives=[0.1, 0.2, 0.4, 0.5], positives=[0.3, 0.6, 0.7, 0.8])
    >>> interval = a_posteriori_auc_interval(scores)
    >>> f"{interval.auc:.4f} {interval.sd:.4f} {interval.lower:.4f} {interval.upper:.4f}"
    '0.8750 0.1443 0.5921 1.0000'
    """
    level = check_level(confidence_level)
    if method not in ("normal", "logit"):
        raise unknown("interval", method, ("normal", "logit"))
    components = _components(scores)
    auc, sd = a_posteriori_auc(scores), float(np.sqrt(components.variance))
    z, warnings = quantile(level), _doubts(sd)
    if method == "normal" or sd == 0:
        lower, upper = max(auc - z * sd, 0.0), min(auc + z * sd, 1.0)
    else:
        centre, half = np.log(auc / (1 - auc)), z * sd / (auc * (1 - auc))
        lower, upper = (float(1 / (1 + np.exp(-limit))) for limit in (centre - half, centre + half))
    return AposterioriAUCInterval(auc, sd, lower, upper, method, level, warnings)._came_from(scores)


def a_posteriori_auc_test(
    a: ScoreSet, b: ScoreSet, *, unpaired: bool = False, confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> AposterioriAUCTest:  # fmt: skip
    """Test whether two AUCs differ, with DeLong's variance. *A posteriori*: no threshold is fixed in advance.

    Parameters
    ----------
    a, b : Scores
        Two systems on the same trials (paired by id, or by row where there are none: `priori.scores.pairing`).
    unpaired : bool
        The sets hold different trials: the variances are added, and the statistic is Welch's t, as in pROC.
    confidence_level : float
        Of the interval and the verdict.
    alternative : {"two-sided", "less", "greater"}
        Whether A's AUC differs, is below, or is above B's.

    Examples
    --------
    >>> from priori import Scores, a_posteriori_auc_test
    >>> label = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> a = Scores.from_predictions(label, [0.1, 0.2, 0.4, 0.5, 0.3, 0.6, 0.7, 0.8])
    >>> b = Scores.from_predictions(label, [0.1, 0.6, 0.4, 0.5, 0.3, 0.2, 0.7, 0.8])
    >>> test = a_posteriori_auc_test(a, b)
    >>> f"{test.difference:.4f} {test.statistic:.4f} {test.p_value:.4f}"
    '0.2500 1.2247 0.2207'
    """
    level = check_level(confidence_level)
    quantile(level, alternative)  # says what is wrong with the alternative
    of_a, of_b = _components(a), _components(b)
    freedom = np.inf
    if unpaired:
        variance = of_a.variance + of_b.variance
        freedom = _welch(of_a.variance, len(a), of_b.variance, len(b))
    else:
        variance = of_a.minus(of_b, pair(a, b)).variance
    auc_a, auc_b = a_posteriori_auc(a), a_posteriori_auc(b)
    difference, sd = auc_a - auc_b, float(np.sqrt(variance))
    statistic = float(standardise(difference, sd))
    half = sd * quantile(level, alternative, freedom)
    lower = -1.0 if alternative == "less" else max(difference - half, -1.0)
    upper = 1.0 if alternative == "greater" else min(difference + half, 1.0)
    return AposterioriAUCTest(
        auc_a, auc_b, difference, sd, lower, upper, statistic, float(p_values(statistic, alternative, freedom)),
        not unpaired, freedom if np.isfinite(freedom) else None, alternative, level, _doubts(sd),
    )._came_from(a, b)  # fmt: skip


def _welch(variance_a: float, size_a: int, variance_b: float, size_b: int) -> float:
    """Return Welch and Satterthwaite's degrees of freedom, with all trials of a set as its size."""
    bottom = variance_a**2 / (size_a - 1) + variance_b**2 / (size_b - 1)
    return float((variance_a + variance_b) ** 2 / bottom) if bottom else np.inf


def _doubts(sd: float) -> tuple[str, ...]:
    if sd > 0:
        return ()
    return (
        Caution(
            "zero-variance",
            "DeLong's variance is 0 here (the classes do not overlap, or the systems rank alike): "
            "the interval has no width and says nothing about how sure the AUC is",
        ),
    )
