"""What scores cost as log-likelihood ratios, what they would cost calibrated best, and the loss between the two.

Cllr and its minimum (Brümmer and du Preez, 2006): means over the trials of either class, so the deviation comes from
sums by user. The minimum is fitted to the test set: it is too low, and the loss too high, by more or less than its
deviation as the set may be, so neither has an interval. The difference of two systems' minima has: to first order the
map that minimises a cost may be taken as fixed (the envelope theorem), and what the fit takes off cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

import numpy as np

from priori.base.cautions import Caution, joined
from priori.base.declarations import Cautions, Column, Level, Size, Unsaved
from priori.base.errors import OptionError, argument, unknown
from priori.base.limits import check_level
from priori.base.quantiles import error_allowed
from priori.base.results import Result
from priori.base.types import Floats, Mask, Texts
from priori.decisions.criterion import FittedMap
from priori.decisions.likelihood_ratios import (
    Calibrator,
    LLRMap,
    Meaning,
    ProbabilityMap,
    best_map,
    get_calibrator,
    llr_losses,
)
from priori.scores import BOUND, Scores, condense_all
from priori.scores.influence import UNSEEN_COST, Spread, unit_cautions, unseen
from priori.scores.score_set import as_score_set
from priori.uncertainty.rates.auc import ClassMeans, spread_of_difference
from priori.uncertainty.rates.proportions import p_values, quantile, quantiles, standardise
from priori.uncertainty.rates.rate_intervals import Dependence, shared_by

#: The costs: actual, minimum, and the loss by calibration between them.
CLLR = ("cllr", "min_cllr", "cllr_loss")
#: Users from which on tests of minima keep their level: 62 do (4 to 6 %), 20 do not (7 to 12 %; docs/coverage.md).
ENOUGH_TESTED = 40


@dataclass(frozen=True, eq=False, repr=False)
class LLRCosts(Result):
    """Costs of scores as log-likelihood ratios, with intervals: one row per cost. Made by `llr_costs`.

    Attributes
    ----------
    cost : ndarray of str
        ``cllr``, ``min_cllr`` and ``cllr_loss``, in bits. The minimum is a posteriori, and the loss is the actual cost
        minus the minimum.
    value, sd, lower, upper : ndarray
        The cost on the test set, its standard deviation and its interval. Minimum and loss have none (NaN): the minimum
        is fitted to the test set, so it is too low and the loss too high.
    calibration : dict or None
        The map that was fitted on the development set.
    """

    name: str
    cost: Texts
    value: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    calibrate: str
    calibration: FittedMap | None
    dependence: Dependence
    people: Size
    confidence_level: Level
    scores: Unsaved[Scores]
    means: Unsaved[tuple[ClassMeans, ...]]
    warnings: Cautions


class LLRTest(NamedTuple):
    """Test scores that are to be judged as log-likelihood ratios, and the map to these from the development scores.

    ``log_odds`` are those of the positives of the development set; ``looks`` and ``notes`` are warnings.
    """

    fitted: LLRMap
    test: Scores
    calibrate: str
    log_odds: float
    looks: tuple[Caution, ...]
    notes: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings."""
        return joined(self.looks, self.notes)


def llr_test(dev: Any, test: Any, given: Meaning, calibrate: str | Calibrator) -> LLRTest:
    """Return the test scores, with log-likelihood ratios for probabilities, and the calibration fitted on ``dev``."""
    calibrator = get_calibrator(calibrate)
    if given not in get_args(Meaning):
        raise unknown("meaning of scores", given, get_args(Meaning))
    (known_dev, dev_notes), (known, notes) = condense_all(
        [as_score_set(each) for each in (dev, test)], ("user", "probe_user"), narrow=BOUND
    )
    looks = () if given != "llr" or calibrator.method != "none" else _like_probabilities(known_dev, known)
    ratios = ProbabilityMap.of(known_dev)
    if given == "probabilities":
        known_dev, known = ratios.apply(known_dev), ratios.apply(known)
    fitted = calibrator.fit(known_dev if given != "llr" else as_score_set(dev))
    return LLRTest(fitted, known, calibrator.name, ratios.log_odds, looks, joined(notes, dev_notes))


@dataclass(frozen=True, eq=False, repr=False)
class CostsTest(Result):
    """The differences of two systems' costs on the same trials: one row per cost.

    Made by `compare_llr_costs` and `compare_amounts`.
    """

    name_a: str
    name_b: str
    cost: Texts
    value_a: Floats
    value_b: Floats
    difference: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    p_value: Floats
    dependence: Dependence
    people: Size
    confidence_level: Level
    warnings: Cautions

    @property
    def significant(self) -> Column[Mask]:
        """Whether each cost differs at the confidence level."""
        return self.p_value < error_allowed(self.confidence_level)


def llr_costs(
    dev: Any,
    test: Any,
    *,
    given: Meaning = "llr",
    calibrate: str | Calibrator = "none",
    confidence_level: float = 0.95,
    dependence: Dependence | None = None,
    name: str = "system",
) -> LLRCosts:
    """Return what test scores cost as log-likelihood ratios (Cllr), the least they could cost, and the loss between.

    Parameters
    ----------
    dev, test : Scores, Table or frame
        The development set, on which the calibration is fitted, and the test set.
    given : {"llr", "probabilities"}
        What the scores are. Probabilities of the positive class, such as a classifier's ``predict_proba``, become
        log-likelihood ratios first: their log-odds, minus those of the positives of the development set.
    calibrate : str
        ``none``, ``logistic`` (``logistic:0.01``: for that prior) or ``isotonic``, as in `priori.calibrate`.
    confidence_level : float
        0.95 by default.
    dependence : {"none", "user", "crossed"}, optional
        What makes trials alike; by default both identities where they are known, else the user, else nothing.

    Notes
    -----
    Intervals of Cllr are Student's on a log scale, with Satterthwaite's degrees of freedom; where users are known the
    upper limit allows for a user unlike those seen, who costs twice as much. Minimum and loss are a
    posteriori and have no interval: one that allows for the fit to the test set was measured to cover 74 % of the time
    instead of 95 %. `compare_llr_costs` tests their differences. Detection costs at thresholds by theory are those of
    `priori.epc` with the criterion ``bayes`` and the measure ``wer``.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(0)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(2, 1, 500)) for _ in range(2))
    >>> costs = priori.llr_costs(dev, test, calibrate="logistic")
    >>> costs.cost.tolist(), costs.value.round(2).tolist()
    (['cllr', 'min_cllr', 'cllr_loss'], [0.57, 0.54, 0.03])
    """
    level, ready = check_level(confidence_level), llr_test(dev, test, given, calibrate)
    known, shared = ready.test, shared_by(ready.test, dependence)
    means = _cllr_means(ready.fitted, known)
    value, spread = np.array([mean.sum for mean in means]), means[0].spread(shared)
    # What is known of a user's losses is the mean of the two classes; Cllr is their sum.
    said = tuple(unit_cautions(replace(spread, per_unit=2 * spread.per_unit), what=("the costs",)))
    if not np.isfinite(value[0]):
        text = "an infinite log-likelihood ratio is on the wrong side: Cllr is infinite; calibrate the scores"
        said = (Caution("infinite-cost", text), *said)
    unknown_ends = [np.nan] * 2
    lower, upper = limits_of_cost(spread, level)
    return LLRCosts(
        name,
        np.array(CLLR),
        value,
        np.array([spread.sd, *unknown_ends]),
        np.array([lower, *unknown_ends]),
        np.array([upper, *unknown_ends]),
        ready.calibrate,
        None if ready.calibrate == "none" else ready.fitted.to_dict(),
        shared,
        spread.people,
        level,
        known,
        means,
        joined(ready.looks, said, ready.notes),
    )._came_from(as_score_set(test), as_score_set(dev))


def compare_llr_costs(a: LLRCosts, b: LLRCosts) -> CostsTest:
    """Test whether the costs of two systems on the same trials differ.

    Parameters
    ----------
    a, b : LLRCosts
        Made by `llr_costs` with the same options; their trials are paired (by id, or by row where there are none).

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(0)
    >>> negative, positive = rng.normal(-2, 2, 500), rng.normal(2, 2, 500)
    >>> good, poor = (priori.Scores.from_arrays(k * negative, k * positive) for k in (1, 4))
    >>> test = priori.compare_llr_costs(priori.llr_costs(good, good), priori.llr_costs(poor, poor))
    >>> test.difference.round(2).tolist(), test.significant.tolist()
    ([-0.47, 0.0, -0.47], [True, False, True])
    """
    found, _ = differences(a, b, a.cost, a.value, b.value)
    if 0 < found.people < ENOUGH_TESTED:
        text = (
            f"{found.people} users: tests of minima find false differences too often (7 to 12 % with 20 users); use "
            "the actual costs"
        )
        found = replace(found, warnings=joined((Caution("few-units", text),), found.warnings))
    return found._came_from(a.scores, b.scores)


def differences(a: Any, b: Any, cost: Texts, value_a: Floats, value_b: Floats) -> tuple[CostsTest, list[Spread]]:
    """Return the tests of the differences of two systems' costs, from what each trial adds, and their spreads."""
    if (a.confidence_level, a.dependence) != (b.confidence_level, b.dependence):
        raise OptionError("the two systems' costs were computed with different options; compute both with the same")
    spreads = [spread_of_difference(*means, a.dependence) for means in zip(a.means, b.means, strict=True)]
    known = np.isfinite(value_a) & np.isfinite(value_b)
    difference = np.subtract(value_a, value_b, where=known, out=np.full(known.shape, np.nan))
    level, (sd, freedom) = a.confidence_level, np.array([(spread.sd, spread.freedom) for spread in spreads]).T
    half = sd * quantiles((1 + level) / 2, freedom)
    p_value = p_values(standardise(np.where(known, difference, 0.0), sd), freedom=freedom)
    found = CostsTest(
        a.name,
        b.name,
        cost,
        value_a,
        value_b,
        difference,
        sd,
        difference - half,
        difference + half,
        p_value,
        a.dependence,
        spreads[0].people,
        level,
        joined(a.warnings, b.warnings),
    )
    return found, spreads


# -- what trials add ---------------------------------------------------------------------------------------------


def _cllr_means(fitted: LLRMap, test: Scores) -> tuple[ClassMeans, ...]:
    """Return what trials add to Cllr, to its minimum and to the loss."""
    (negative, positive), (least_negative, least_positive) = (
        (losses / 2 for losses in llr_losses(*(of_map.apply(each.score) for each in (test.negative, test.positive))))
        for of_map in (fitted, best_map(test.candidates()))
    )
    loss = ClassMeans(negative - least_negative, positive - least_positive, test)
    return ClassMeans(negative, positive, test), ClassMeans(least_negative, least_positive, test), loss


# -- intervals ---------------------------------------------------------------------------------------------------


def limits_of_cost(spread: Spread, level: float) -> tuple[float, float]:
    """Return the interval of a mean cost, on a log scale; above, it allows for a user unlike those seen."""
    value = float(spread.value)
    if not np.isfinite(value) or value <= 0:
        return (0.0, np.inf) if value > 0 else (0.0, 0.0)
    reach = quantile(level, freedom=spread.freedom) / value
    above = np.sqrt(spread.variance + float(unseen(value, spread.people, UNSEEN_COST, np.inf)))
    return float(value * np.exp(-reach * spread.sd)), float(value * np.exp(reach * above))


def _like_probabilities(*sets: Scores) -> tuple[Caution, ...]:
    scores = [trials.score for each in sets for trials in (each.negative, each.positive)]
    if not all(((score >= 0) & (score <= 1)).all() for score in scores):
        return ()
    text = f"all scores lie between 0 and 1: if they are probabilities, use {argument('given', 'probabilities')}"
    return (Caution("not-likelihood-ratios", text),)
