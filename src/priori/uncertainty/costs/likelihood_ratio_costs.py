"""What scores cost as log-likelihood ratios, what they would cost calibrated best, and the loss between the two.

Cllr and its minimum (Brümmer and du Preez, 2006), and the actual and minimum detection cost at given alphas. Each is a
mean over the trials of either class, so its deviation comes from sums by user. A minimum is one too, to first order:
the map, or threshold, that minimises it may be taken as fixed (the envelope theorem).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Self, get_args

import numpy as np

from priori.base.alphas import as_fractions
from priori.base.cautions import Caution, joined
from priori.base.errors import OptionError, unknown
from priori.base.layouts import CAUTIONS, LEVEL, SIZE, TEXT, Layout, choice, of
from priori.base.results import Result
from priori.base.saved import Saved
from priori.base.types import Floats
from priori.decisions.criterion import FITTED
from priori.decisions.likelihood_ratios import (
    AffineMap,
    Calibrator,
    LLRMap,
    LogisticFit,
    Meaning,
    ProbabilityMap,
    Weighed,
    best_map,
    get_calibrator,
    llr_losses,
    separated,
)
from priori.scores import BOUND, Scores, condense_all
from priori.scores.influence import Spread
from priori.scores.inputs import as_score_set
from priori.scores.overlaps import shared_users
from priori.uncertainty.bootstrap.plans import Resample
from priori.uncertainty.costs.detection_costs import DetectionCost
from priori.uncertainty.rates.class_means import ClassMeans, numbers_of, spread_of, spread_of_difference
from priori.uncertainty.rates.proportions import check_level, p_values, quantile, standardise
from priori.uncertainty.rates.rate_intervals import Dependence, shared_by

#: The costs, in threes: actual, minimum, and the loss by calibration between them.
CLLR = ("cllr", "min_cllr", "cllr_loss")
DCF = ("dcf", "min_dcf", "dcf_loss")

#: The free parameters that a step of an isotonic fit is worth. Set by simulation: 1.6 to 2.3 for normal scores one to
#: four deviations apart and classes of 50 to 20,000 trials; other shapes were not tried.
STEP_FREEDOM = 1.8
#: Doddington's rule: with 30 errors, a rate is within 30 % of the truth with 90 % confidence.
ENOUGH_ERRORS = 30
#: Users from which on tests of minima keep their level: 62 do (4 to 6 %), 20 do not (7 to 12 %; docs/coverage.md).
ENOUGH_TESTED = 40


@dataclass(frozen=True, eq=False)
class TrialCosts:
    """The trials of a set and what each of them adds to every cost; None where a set has no part in a cost."""

    scores: Scores
    means: tuple[ClassMeans | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class LLRCosts(Result):
    """Costs of scores as log-likelihood ratios, with intervals: one row per cost. Made by `llr_costs`.

    Attributes
    ----------
    cost : ndarray of str
        ``cllr``, ``min_cllr`` and ``cllr_loss``, in bits; at each alpha ``dcf``, ``min_dcf`` and ``dcf_loss``,
        alpha FAR + (1 - alpha) FRR. The minima are a posteriori, and a loss is the actual cost minus the minimum.
    alpha : ndarray
        The trade-off of a detection cost; NaN for the others.
    value, expected, sd, lower, upper : ndarray
        The cost on the test set; the same without what the fit to the test set takes off a minimum; its standard
        deviation and its interval, which is around the expected one.
    calibration : dict or None
        The map that was fitted on the development set.
    """

    name: str
    cost: Any
    alpha: Floats
    value: Floats
    expected: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    calibrate: str
    calibration: dict[str, Any] | None
    resample: Resample
    dependence: str
    people: int
    confidence_level: float
    parts: tuple[TrialCosts, ...]
    warnings: tuple[str, ...]

    _layout = Layout(
        "Costs of scores as log-likelihood ratios, with intervals: one row per cost.",
        {"cost": "text", "alpha": "number", **of("number", "value expected sd lower upper")},
        {
            **of(TEXT, "name calibrate"),
            "calibration": FITTED,
            "resample": choice(*get_args(Resample)),
            "dependence": choice(*get_args(Dependence)),
            "people": SIZE,
            "confidence_level": LEVEL,
            "warnings": CAUTIONS,
        },
        descriptions={
            "value": "The cost on the test set.",
            "expected": "The cost without what the fit to the test set takes off a minimum.",
            "cost": "Which cost.",
            "alpha": "Of a detection cost.",
            "calibrate": "How scores are made log-likelihood ratios.",
            "calibration": "The map, as fitted.",
        },
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        return super()._from_parts(saved, calibration=saved["calibration"], **known)


@dataclass(frozen=True, eq=False, repr=False)
class LLRCostsTest(Result):
    """The differences of two systems' costs, tested: one row per cost. Made by `compare_llr_costs`."""

    name_a: str
    name_b: str
    cost: Any
    alpha: Floats
    value_a: Floats
    value_b: Floats
    difference: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    p_value: Floats
    resample: Resample
    dependence: str
    people: int
    confidence_level: float
    warnings: tuple[str, ...]

    _layout = Layout(
        "The differences of two systems' costs as log-likelihood ratios: one row per cost.",
        {
            "cost": "text",
            "alpha": "number",
            **of("number", "value_a value_b difference sd lower upper p_value"),
            "significant": "boolean",
        },
        {
            **of(TEXT, "name_a name_b"),
            "resample": choice(*get_args(Resample)),
            "dependence": choice(*get_args(Dependence)),
            "people": SIZE,
            "confidence_level": LEVEL,
            "warnings": CAUTIONS,
        },
        descriptions={"cost": "Which cost.", "alpha": "Of a detection cost."},
    )

    @property
    def significant(self) -> Any:
        """Whether each cost differs at the confidence level."""
        return self.p_value < 1 - self.confidence_level


def llr_costs(
    dev: Any,
    test: Any,
    *,
    given: Meaning = "llr",
    calibrate: str | Calibrator = "none",
    alpha: Any = (),
    resample: Resample = "test",
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
    alpha : number or list
        Also the detection costs alpha FAR + (1 - alpha) FRR at these alphas, actual and minimum.
    resample : {"test", "both"}
        Intervals for the calibration as it is, or for one fitted on another development set like this one.
    confidence_level : float
        0.95 by default.
    dependence : {"none", "user", "crossed"}, optional
        What makes trials alike; by default both identities where they are known, else the user, else nothing.

    Notes
    -----
    Intervals of Cllr are Student's on a log scale, with Satterthwaite's degrees of freedom; of losses on their own
    scale, cut at 0; of detection costs they join those of the two rates (`priori.rate_interval`), which allow for
    errors that were not seen. A minimum is fitted to the test set, so it is too low and a loss too high: the smaller
    the set, the more. ``expected`` and the intervals allow for it. A step of the best map takes off Cllr more than a
    free parameter (M. Meyer and M. Woodroofe, "On the degrees of freedom in shape-restricted regression", Annals of
    Statistics 28, 2000); what the best threshold takes off the detection cost is seen on held-out parts of the set.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(0)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(2, 1, 500)) for _ in range(2))
    >>> costs = priori.llr_costs(dev, test, calibrate="logistic")
    >>> costs.cost.tolist(), costs.value.round(2).tolist()
    (['cllr', 'min_cllr', 'cllr_loss'], [0.57, 0.54, 0.03])
    """
    level, calibrator = check_level(confidence_level), get_calibrator(calibrate)
    if resample not in get_args(Resample):
        raise unknown("resample", resample, get_args(Resample))
    if given not in get_args(Meaning):
        raise unknown("meaning of scores", given, get_args(Meaning))
    (known_dev, dev_notes), (known, notes) = condense_all(
        [as_score_set(each) for each in (dev, test)], ("user", "probe_user"), narrow=BOUND
    )
    looks = () if given != "llr" or calibrator.method != "none" else _like_probabilities(known_dev, known)
    if given == "probabilities":
        ratios = ProbabilityMap.of(known_dev)
        known_dev, known = ratios.apply(known_dev), ratios.apply(known)
    fitted = calibrator.fit(known_dev if resample == "both" or given != "llr" else as_score_set(dev))
    fractions = as_fractions(alpha) if np.size(alpha) else ()
    shared = shared_by(known, dependence)
    means = [*_cllr_means(fitted, known)]
    detections = [DetectionCost.of(fitted, known, fraction) for fraction in fractions]
    for each in detections:
        means += each.means
    parts = [TrialCosts(known, tuple(means))]
    if resample == "both" and calibrator.method != "none":
        if calibrator.method != "logistic" or fractions:
            raise OptionError(
                "resample 'both' is for the Cllr of a logistic calibration; for detection costs, and for isotonic "
                "calibration, take the band of a curve: epc(criterion='bayes:isotonic', measure='wer').band("
                "resample='both')"
            )
        moved = _through_the_fit(fitted, calibrator, known_dev, known)
        parts.append(TrialCosts(known_dev, (moved, None, moved)))
    value = np.array([mean.sum for mean in means])
    taken = [_off_cllr(known), *(each.taken_off for each in detections)]
    expected = value + np.array([[0.0, off, -off] for off in taken]).ravel()
    spreads = [
        _joint(
            [
                spread_of(mean, part.scores.negative, part.scores.positive, shared)
                for part in parts
                if (mean := part.means[row]) is not None
            ]
        )
        for row in range(value.size)
    ]
    sd = np.array([spread.sd for spread in spreads])
    costs = np.array([*CLLR, *DCF * len(fractions)])
    limits = [_limits(*row, level) for row in zip(costs, value, expected, spreads, strict=True)]
    # No loss is below 0 in truth; an estimate that is, and its interval, are cut there.
    shown = np.where(np.strings.endswith(costs, "_loss"), np.maximum(expected, 0.0), expected)
    said = []
    for row, each in zip(range(len(CLLR), value.size, len(DCF)), detections, strict=True):
        limits[row : row + 2], warnings = each.limits(dependence, level)
        said.append(warnings)
    return LLRCosts(
        name,
        costs,
        _alphas(fractions),
        value,
        shown,
        sd,
        np.array([low for low, _ in limits]),
        np.array([high for _, high in limits]),
        calibrator.name,
        None if calibrator.method == "none" else fitted.to_dict(),
        resample,
        shared,
        spreads[0].people,
        level,
        tuple(parts),
        joined(looks, _doubts(known_dev, known, means, resample), *said, notes, dev_notes),
    )._came_from(as_score_set(test), as_score_set(dev))


def compare_llr_costs(a: LLRCosts, b: LLRCosts) -> LLRCostsTest:
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
    if (a.resample, a.confidence_level, a.dependence) != (b.resample, b.confidence_level, b.dependence):
        raise OptionError("the two systems' costs were computed with different options; compute both with the same")
    if a.cost.tolist() != b.cost.tolist() or not np.array_equal(a.alpha, b.alpha, equal_nan=True):
        raise OptionError("the two systems have different costs; compute both at the same alphas")
    spreads = []
    for row in range(a.value.size):
        pairs = [
            ((mean, part.scores), (other, second.scores))
            for part, second in zip(a.parts, b.parts, strict=True)
            if (mean := part.means[row]) is not None and (other := second.means[row]) is not None
        ]
        spreads.append(_joint([spread_of_difference(*both, a.dependence) for both in pairs]))
    known = np.isfinite(a.value) & np.isfinite(b.value)
    difference = np.subtract(a.value, b.value, where=known, out=np.full(a.value.shape, np.nan))
    sd, level = np.array([spread.sd for spread in spreads]), a.confidence_level
    freedom = [spread.freedom for spread in spreads]
    half = sd * np.array([quantile(level, freedom=each) for each in freedom])
    statistic = standardise(np.where(known, difference, 0.0), sd)
    p_value = np.array([float(p_values(z, freedom=each)) for z, each in zip(statistic, freedom, strict=True)])
    return LLRCostsTest(
        a.name,
        b.name,
        a.cost,
        a.alpha,
        a.value,
        b.value,
        difference,
        sd,
        difference - half,
        difference + half,
        p_value,
        a.resample,
        a.dependence,
        spreads[0].people,
        level,
        joined(a.warnings, b.warnings, _few_users(spreads[0].people)),
    )._came_from(a.parts[0].scores, b.parts[0].scores)


# -- what trials add ---------------------------------------------------------------------------------------------


def _cllr_means(fitted: LLRMap, test: Scores) -> tuple[ClassMeans, ClassMeans, ClassMeans]:
    """Return what trials add to Cllr, to its minimum and to the loss."""
    best = best_map(test.candidates())

    def means(of_map: LLRMap) -> ClassMeans:
        negative, positive = llr_losses(*(of_map.apply(trials.score) for trials in _classes(test)))
        return ClassMeans(negative / 2, positive / 2, numbers_of(test))

    actual, minimum = means(fitted), means(best)
    return actual, minimum, actual.minus(minimum)


def _through_the_fit(fitted: LLRMap, calibrator: Calibrator, dev: Scores, test: Scores) -> ClassMeans:
    """Return what development trials add to Cllr by way of slope and offset: their influence on the minimiser.

    The gradient of Cllr on the test set, times what each trial moves slope and offset by: its part in the gradient of
    the regression over the curvature of that.
    """
    from scipy.special import expit

    assert isinstance(fitted, AffineMap)
    slopes = np.zeros(2)
    for trials, sign in zip(_classes(test), (1, -1), strict=True):
        known = Weighed.finite(trials)
        steep = sign * expit(sign * fitted.apply(known.score)) / (2 * np.log(2) * len(trials)) * known.number
        slopes += np.array([steep @ known.score, steep.sum()])
    negative, positive = (Weighed.finite(trials) for trials in _classes(dev))
    fit = LogisticFit.of(negative, positive, calibrator.prior, smoothed=separated(dev))
    best = np.array([fitted.slope, fitted.offset])
    moved = -fit.gradients(best) @ np.linalg.solve(fit.curvature(best), slopes)
    parts = []
    for trials, values in zip(_classes(dev), np.split(moved, [negative.score.size]), strict=True):
        means = np.zeros(trials.score.size)
        means[np.isfinite(trials.score)] = values * len(trials)
        parts.append(means if trials.number is None else means / trials.number)
    return ClassMeans(parts[0], parts[1], numbers_of(dev))


def _classes(scores: Scores) -> tuple[Any, Any]:
    return scores.negative, scores.positive


def _off_cllr(test: Scores) -> float:
    """Return what the best map takes off Cllr because it was fitted to the trials that it is judged on.

    A free parameter takes off half the variance of its score over its curvature, here ((1 - p)/P + p/N)/4 nats, p the
    posterior of the step at equal priors, N and P the sizes of the classes.
    """
    from scipy.special import expit

    posterior = expit(best_map(test.candidates()).llr)
    steps = ((1 - posterior) / test.n_positives + posterior / test.n_negatives) / 4 / np.log(2)
    return float(STEP_FREEDOM * steps.sum())


# -- intervals ---------------------------------------------------------------------------------------------------


def _joint(spreads: Sequence[Spread]) -> Spread:
    """Return the spread of a sum of independent parts, whose people are those of the first."""
    return replace(reduce(Spread.plus, spreads), people=spreads[0].people)


def _limits(cost: str, value: float, expected: float, spread: Spread, level: float) -> tuple[float, float]:
    """Return the interval around an expected cost: on a log scale, and of a loss on its own, never below 0."""
    if not np.isfinite(value):
        return 0.0, np.inf
    half = quantile(level, freedom=spread.freedom) * spread.sd
    if cost.endswith("_loss") or value <= 0:
        return max(float(expected - half), 0.0), max(float(expected + half), 0.0)
    return float(expected * np.exp(-half / value)), float(expected * np.exp(half / value))


def _alphas(fractions: Sequence[Any]) -> Floats:
    return np.array([*[np.nan] * len(CLLR), *(float(fraction) for fraction in fractions for _ in DCF)])


def _few_users(people: int) -> list[Caution]:
    """Say so where users are too few to test minima, which are fitted to the users that they are judged on."""
    if not 0 < people < ENOUGH_TESTED:
        return []
    return [
        Caution(
            "few-units",
            f"{people} users: with 20 of them tests of minima found a difference where there is none in 7 to 12 "
            f"% instead "
            "of 5 %; trust those of the actual costs rather",
        )
    ]


def _like_probabilities(*sets: Scores) -> tuple[Caution, ...]:
    scores = [trials.score for each in sets for trials in (each.negative, each.positive)]
    if not all(((score >= 0) & (score <= 1)).all() for score in scores):
        return ()
    text = (
        "all scores lie between 0 and 1, as probabilities do, and are taken for log-likelihood ratios; if they are "
        "probabilities, say so (--from probabilities, given='probabilities')"
    )
    return (Caution("not-likelihood-ratios", text),)


def _doubts(dev: Scores, test: Scores, means: Sequence[ClassMeans], resample: str) -> tuple[str, ...]:
    doubts = []
    fewest = min(
        (
            np.count_nonzero(each) if number is None else int(number[each != 0].sum())
            for mean in means[3::3]
            for each, number in zip((mean.negative, mean.positive), mean.numbers, strict=True)
        ),
        default=ENOUGH_ERRORS,
    )
    if fewest < ENOUGH_ERRORS:
        doubts.append(
            Caution(
                "few-units",
                f"a detection cost rests on {fewest} errors of a class: with fewer than {ENOUGH_ERRORS} the interval "
                "of its loss covers less than it says",
            )
        )
    if not np.isfinite(means[0].sum):
        doubts.append(
            Caution(
                "infinite-cost",
                "a log-likelihood ratio is infinite on the wrong side: one such trial makes Cllr infinite; "
                "calibrate with logistic or isotonic, or leave out infinite scores",
            )
        )
    if resample == "both" and dev.has_users and test.has_users and (common := shared_users(dev, test)):
        doubts.append(
            Caution(
                "users-partly-shared",
                f"{common} users are in both sets: what they do in the one and in the other is taken as independent",
            )
        )
    return tuple(doubts)
