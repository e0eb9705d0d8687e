"""The measures that have a name: rates, means of them, costs, F-beta; and what people type for each."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any, Literal

import numpy as np

from priori.base.alphas import from_costs, share
from priori.base.errors import OptionError, unknown
from priori.base.types import Floats
from priori.decisions.measure import Measure, Ratio, divide
from priori.decisions.outcomes import Outcomes


def _ratio(
    name: str,
    title: str,
    numerator: Callable[[Outcomes], Any],
    denominator: Callable[[Outcomes], Any],
    of_class: Literal["negative", "positive"] | None = None,
    *,
    greater_is_better: bool = False,
) -> Ratio:
    worst = 0.0 if greater_is_better else 1.0

    def value(outcomes: Outcomes, alpha: Floats | float | None) -> Floats:
        return divide(numerator(outcomes), denominator(outcomes), worst)

    return Ratio(name, title, value, greater_is_better, True, False, numerator, denominator, of_class)


_score = partial(_ratio, greater_is_better=True)

# FAR is FP/(FP+TN): Eq. 2 of the 2005 paper and 3.2 of the thesis (the 2004 report misprints its denominator).
FAR = _ratio("far", "False acceptance rate", lambda o: o.fp, lambda o: o.negatives, "negative")
FRR = _ratio("frr", "False rejection rate", lambda o: o.fn, lambda o: o.positives, "positive")
TPR = _score("tpr", "True positive rate", lambda o: o.tp, lambda o: o.positives, "positive")
TNR = _score("tnr", "True negative rate", lambda o: o.tn, lambda o: o.negatives, "negative")
PRECISION = _score("precision", "Precision", lambda o: o.tp, lambda o: o.tp + o.fp)
NPV = _score("npv", "Negative predictive value", lambda o: o.tn, lambda o: o.tn + o.fn)
RECALL = _score("recall", "Recall", lambda o: o.tp, lambda o: o.positives, "positive")
SENSITIVITY = _score("sensitivity", "Sensitivity", lambda o: o.tp, lambda o: o.positives, "positive")
SPECIFICITY = _score("specificity", "Specificity", lambda o: o.tn, lambda o: o.negatives, "negative")
ACCURACY = _score("accuracy", "Accuracy", lambda o: o.tp + o.tn, lambda o: o.positives + o.negatives)
CLASSIFICATION_ERROR = _ratio(
    "error", "Classification error", lambda o: o.fp + o.fn, lambda o: o.positives + o.negatives
)
HTER = Measure("hter", "HTER", lambda o, alpha: (FAR(o) + FRR(o)) / 2, weight=Fraction(1, 2))
BALANCED_ACCURACY = Measure(
    "balanced-accuracy",
    "Balanced accuracy",
    lambda o, alpha: (TPR(o) + TNR(o)) / 2,
    greater_is_better=True,
    weight=Fraction(1, 2),
)


def _matthews(outcomes: Outcomes, alpha: Floats | float | None) -> Floats:
    # In floats: the product of four counts passes 2**63 long before the counts are large.
    tp, fp, tn, fn = (np.asarray(c, dtype=np.float64) for c in (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn))
    bottom = np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn)
    # Where one decision is never taken the coefficient is 0/0; its neutral value 0 is the convention here.
    return np.asarray(np.divide(tp * tn - fp * fn, bottom, out=np.zeros(np.shape(bottom)), where=bottom != 0))


def _signed_square(outcomes: Outcomes) -> Fraction:
    """Return the square of Matthews' correlation with its sign: a fraction, and in the same order."""
    tp, fp, tn, fn = (int(number) for number in (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn))
    top, bottom = tp * tn - fp * fn, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return Fraction(top * abs(top), bottom) if bottom else Fraction(0)


MATTHEWS = Measure("mcc", "Matthews correlation", _matthews, greater_is_better=True, rate=False, exactly=_signed_square)


def _weighted(outcomes: Outcomes, weight: Any) -> Floats:
    return np.asarray(weight * FAR(outcomes) + (1 - weight) * FRR(outcomes))


WER = Measure("wer", "Weighted error rate", _weighted, needs_alpha=True)


def _normalised(outcomes: Outcomes, alpha: Any) -> Floats:
    # The rate of the class that weighs less, plus the other's times the ratio of the weights; without errors that is 0,
    # even where the ratio is infinite.
    far, frr, weight = np.broadcast_arrays(FAR(outcomes), FRR(outcomes), np.asarray(alpha, dtype=np.float64))
    less, more = np.where(weight <= 0.5, far, frr), np.where(weight <= 0.5, frr, far)
    smaller = np.minimum(weight, 1 - weight)
    ratio = np.divide(1 - smaller, smaller, out=np.full(smaller.shape, np.inf), where=smaller > 0)
    return np.asarray(less + np.multiply(more, ratio, out=np.zeros(ratio.shape), where=more > 0))


NORMALISED_WER = Measure("nwer", "Normalised weighted error", _normalised, rate=False, needs_alpha=True)


def _net_benefit(outcomes: Outcomes, alpha: Any) -> Floats:
    # False positives weigh the odds of alpha, the threshold probability: 1 has none.
    probability = np.asarray(alpha, dtype=np.float64)
    odds = np.divide(probability, 1 - probability, out=np.full(probability.shape, np.nan), where=probability < 1)
    return np.asarray((outcomes.tp - outcomes.fp * odds) / (outcomes.positives + outcomes.negatives))


NET_BENEFIT = Measure("net-benefit", "Net benefit", _net_benefit, greater_is_better=True, rate=False, needs_alpha=True)


def wer(gamma: float | None = None) -> Measure:
    """Weighted error rate: gamma FAR + (1 - gamma) FRR (Eq. 7 of the 2007 paper); without gamma, gamma = alpha."""
    if gamma is None:
        return WER
    if not 0 <= gamma <= 1:
        raise OptionError(f"wer: gamma must lie between 0 and 1, not {gamma}")
    return _wer(gamma)


# One object for one choice of parameters, so that a name can be known to say which measure it is.
@cache
def _wer(gamma: float) -> Measure:
    return Measure(
        f"wer:{gamma:g}",
        f"Weighted error rate ({gamma:g})",
        lambda o, alpha: _weighted(o, gamma),
        weight=Fraction(str(gamma)),
    )


Form = Literal["dcf", "ndcf", "cost"]
#: The forms of a detection cost, with their titles.
_FORMS: dict[Form, str] = {"dcf": "DCF", "ndcf": "Normalised DCF", "cost": "Cost per decision"}


def dcf(cost_fn: float = 10.0, cost_fp: float = 1.0, prior: float = 0.01, *, normalised: bool = False) -> Measure:
    """Detection cost function (Eq. 3.3): cost_fn prior FRR + cost_fp (1 - prior) FAR; NIST's costs by default.

    The normalised one is divided by the cost of the better of accepting all and rejecting all.
    """
    return _priced("ndcf" if normalised else "dcf", cost_fn, cost_fp, prior)


def cost(fn: float, fp: float, prior: float) -> Measure:
    """Return the measure of what a decision costs on average: prior fn FRR + (1 - prior) fp FAR, in the costs' unit."""
    return _priced("cost", fn, fp, prior)


@cache
def _priced(form: Form, cost_fn: float, cost_fp: float, prior: float) -> Measure:
    if not (cost_fn > 0 and cost_fp > 0 and 0 < prior < 1):
        raise OptionError(
            f"{form}: costs must be positive and the prior between 0 and 1 "
            f"(given cost_fn={cost_fn:g}, cost_fp={cost_fp:g}, prior={prior:g})"
        )
    miss, alarm = cost_fn * prior, cost_fp * (1 - prior)
    scale = min(miss, alarm) if form == "ndcf" else 1.0
    names = ("fn", "fp") if form == "cost" else ("cost_fn", "cost_fp")
    return Measure(
        f"{form}:{names[0]}={cost_fn:g},{names[1]}={cost_fp:g},prior={prior:g}",
        _FORMS[form],
        lambda o, alpha: (miss * FRR(o) + alarm * FAR(o)) / scale,
        rate=False,
        weight=from_costs(cost_fn, cost_fp, prior),
    )


def f_beta(beta: float = 1.0) -> Ratio:
    """F-beta: (1 + beta^2) TP / ((1 + beta^2) TP + beta^2 FN + FP); beta = 1 is Eq. 5."""
    if not beta > 0:
        raise OptionError(f"f-beta: beta must be positive, not {beta}")
    square = Fraction(str(beta)) ** 2
    b, unit = square.numerator, square.denominator
    if max(b, unit) > 10**6:  # multiplied by a count it must stay far below 2**63
        raise OptionError(f"f-beta: beta must lie between 0.001 and 1000, with few digits (0.5, 1.25, 2), not {beta}")
    return _f_beta(beta, b, unit)


@cache
def _f_beta(beta: float, b: int, unit: int) -> Ratio:
    weight = b + unit
    return _score(f"f{beta:g}", f"F{beta:g}", lambda o: weight * o.tp, lambda o: weight * o.tp + b * o.fn + unit * o.fp)


#: Every measure by the name people type; those with parameters at their defaults.
MEASURES: dict[str, Measure] = {
    measure.name.partition(":")[0]: measure
    for measure in (
        FAR,
        FRR,
        TPR,
        TNR,
        PRECISION,
        NPV,
        RECALL,
        SENSITIVITY,
        SPECIFICITY,
        HTER,
        wer(),
        NORMALISED_WER,
        dcf(),
        dcf(normalised=True),
        f_beta(),
        ACCURACY,
        CLASSIFICATION_ERROR,
        BALANCED_ACCURACY,
        MATTHEWS,
        NET_BENEFIT,
    )
}


#: Other names that people type, wherever a measure or a rate is asked for.
ALIASES = {
    "fpr": "far",
    "false-positive-rate": "far",
    "false-acceptance-rate": "far",
    "false-alarm-rate": "far",
    "fall-out": "far",
    "fnr": "frr",
    "false-negative-rate": "frr",
    "false-rejection-rate": "frr",
    "miss-rate": "frr",
    "tar": "tpr",
    "true-positive-rate": "tpr",
    "hit-rate": "tpr",
    "trr": "tnr",
    "true-negative-rate": "tnr",
    "ppv": "precision",
    "matthews": "mcc",
    "bacc": "balanced-accuracy",
}


def at_prior(measure: Measure, prior: Any) -> Measure:
    """Return a measure as it would be where the share of positives is ``prior``; the error rates stay as they are."""
    if "prevalence" not in measure.depends_on:
        raise OptionError(f"{measure.name} does not depend on the share of positives; leave out the prior")
    return _at_prior(measure, share(prior))


@cache
def _at_prior(measure: Measure, prior: Fraction) -> Measure:
    positive, negative = float(prior), float(1 - prior)

    def shifted(outcomes: Outcomes, alpha: Floats | float | None) -> Any:
        shares: tuple[Any, ...] = (
            positive * TPR(outcomes),
            negative * FAR(outcomes),
            negative * TNR(outcomes),
            positive * FRR(outcomes),
        )
        return measure.function(Outcomes(*shares), alpha)

    def exactly(outcomes: Outcomes) -> Any:
        tp, fp, tn, fn = (int(number) for number in (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn))
        of_positive, of_negative = prior.numerator * (fp + tn), (prior.denominator - prior.numerator) * (tp + fn)
        counts: tuple[Any, ...] = (tp * of_positive, fp * of_negative, tn * of_negative, fn * of_positive)
        return measure.exact(Outcomes(*counts))

    return Measure(
        f"{measure.name}:prior={positive!r}",
        f"{measure.title} at {100 * positive:g} % positives",
        shifted,
        measure.greater_is_better,
        measure.rate,
        measure.needs_alpha,
        exactly=exactly if measure.worsens else None,
    )


def get_measure(measure: str | Measure | Callable[[Outcomes], Any]) -> Measure:
    """Return a measure from its name, from a function of outcomes, or as it is.

    Names may carry parameters: ``wer:0.3``, ``f2``, ``f-beta:0.5``, ``dcf:cost_fn=10,cost_fp=1,prior=0.01``,
    ``cost:fn=100,fp=1,prior=0.01``; ``precision:prior=0.01`` is precision where 1 % are positives.

    Examples
    --------
    >>> get_measure("f2").title
    'F2'
    >>> get_measure("dcf:cost_fn=1,cost_fp=1,prior=0.5").name
    'dcf:cost_fn=1,cost_fp=1,prior=0.5'
    >>> get_measure("fpr").name
    'far'
    """
    if isinstance(measure, Measure):
        return measure
    if callable(measure):
        return Measure.custom(measure)
    name, _, parameters = str(measure).strip().lower().replace("_", "-").partition(":")
    name = ALIASES.get(name, name)
    try:
        if name in _FORMS and parameters:
            pairs = [pair.partition("=") for pair in parameters.split(",")]
            given = {key.strip().removeprefix("cost-"): float(value) for key, _, value in pairs}
            if len(given) < len(pairs):
                raise OptionError(f"measure {measure!r}: a parameter is given twice; give each once")
            if name == "cost":
                return cost(**given)
            named = {f"cost_{key}" if key != "prior" else key: value for key, value in given.items()}
            return dcf(**named, normalised=name == "ndcf")
        parameters, _, prior = re.sub(r"^prior=", ":prior=", parameters).partition(":prior=")
        if prior:
            return at_prior(get_measure(f"{name}:{parameters}" if parameters else name), prior)
        if name == "wer" and parameters:
            return wer(float(parameters))
        if name in ("f-beta", "fbeta"):
            return f_beta(float(parameters or 1))
        if re.fullmatch(r"f\d+(\.\d+)?", name) and not parameters:
            return f_beta(float(name[1:]))
    except (TypeError, ValueError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(
            f"cannot read the measure {measure!r}; write it like 'wer:0.3', 'f2', "
            "'dcf:cost_fn=10,cost_fp=1,prior=0.01', 'cost:fn=100,fp=1,prior=0.01', "
            "'precision:prior=0.01'"
        ) from None
    if name not in MEASURES or parameters:
        raise unknown("measure", measure, MEASURES)
    return MEASURES[name]
