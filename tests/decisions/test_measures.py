"""Every measure, against its definition, scikit-learn, and the rules for 0/0."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from priori import OptionError, Outcomes
from priori.decisions.measure import Measure, Ratio
from priori.decisions.measures import MEASURES, cost, get_measure
from priori.decisions.tasks import TASKS

counts = st.integers(0, 50)


def _labels(tp: int, fp: int, tn: int, fn: int) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat([1, 0, 0, 1], [tp, fp, tn, fn])
    decided = np.repeat([1, 1, 0, 0], [tp, fp, tn, fn])
    return truth, decided


SKLEARN = {
    "precision": lambda t, d: metrics.precision_score(t, d, zero_division=0),
    "npv": lambda t, d: metrics.precision_score(t, d, pos_label=0, zero_division=0),
    "ppv": lambda t, d: metrics.precision_score(t, d, zero_division=0),
    "fpr": lambda t, d: 1 - metrics.recall_score(t, d, pos_label=0),
    "miss_rate": lambda t, d: 1 - metrics.recall_score(t, d),
    "recall": metrics.recall_score,
    "sensitivity": metrics.recall_score,
    "tpr": metrics.recall_score,
    "specificity": lambda t, d: metrics.recall_score(t, d, pos_label=0),
    "tnr": lambda t, d: metrics.recall_score(t, d, pos_label=0),
    "far": lambda t, d: 1 - metrics.recall_score(t, d, pos_label=0),
    "frr": lambda t, d: 1 - metrics.recall_score(t, d),
    "f1": lambda t, d: metrics.f1_score(t, d, zero_division=0),
    "f2": lambda t, d: metrics.fbeta_score(t, d, beta=2, zero_division=0),
    "f0.5": lambda t, d: metrics.fbeta_score(t, d, beta=0.5, zero_division=0),
    "accuracy": metrics.accuracy_score,
    "error": lambda t, d: 1 - metrics.accuracy_score(t, d),
    "balanced-accuracy": metrics.balanced_accuracy_score,
    "hter": lambda t, d: 1 - metrics.balanced_accuracy_score(t, d),
    "mcc": metrics.matthews_corrcoef,
}


@pytest.mark.parametrize("name", list(SKLEARN))
@settings(max_examples=settings.default.max_examples // 3)
@given(tp=counts, fp=counts, tn=counts, fn=counts)
def test_same_as_scikit_learn(name: str, tp: int, fp: int, tn: int, fn: int) -> None:
    if tp + fn == 0 or fp + tn == 0:
        return
    outcomes = Outcomes(*(np.array(number) for number in (tp, fp, tn, fn)))
    assert float(get_measure(name)(outcomes)) == pytest.approx(SKLEARN[name](*_labels(tp, fp, tn, fn)), abs=1e-12)


#: Written down here, not read from the code: what is better when it is greater.
GREATER = {
    "tpr",
    "tnr",
    "precision",
    "npv",
    "recall",
    "sensitivity",
    "specificity",
    "f1",
    "accuracy",
    "balanced-accuracy",
    "mcc",
    "net-benefit",
}


def test_what_is_better_when_it_is_greater() -> None:
    assert {name for name, measure in MEASURES.items() if measure.greater_is_better} == GREATER
    perfect, useless = (
        Outcomes.from_errors(0, 0, negatives=30, positives=20),
        Outcomes.from_errors(30, 20, negatives=30, positives=20),
    )
    for name, measure in MEASURES.items():
        best, worst = (float(measure(outcomes, 0.5)) for outcomes in (perfect, useless))
        assert (best > worst) == (name in GREATER), name
    for task, directions in {
        "authentication": (False, False),
        "retrieval": (True, True),
        "diagnosis": (True, True),
    }.items():
        assert (TASKS[task].v1.greater_is_better, TASKS[task].v2.greater_is_better) == directions


def test_an_undefined_ratio_takes_its_worst_value() -> None:
    nothing = Outcomes(*(np.array(0) for _ in range(4)))
    for measure in MEASURES.values():
        if isinstance(measure, Ratio):
            assert float(measure(nothing)) == (0.0 if measure.greater_is_better else 1.0), measure.name


@given(tp=counts, fp=counts, tn=counts, fn=counts)
def test_a_ratio_is_its_exact_fraction(tp: int, fp: int, tn: int, fn: int) -> None:
    outcomes = Outcomes(*(np.array(number) for number in (tp, fp, tn, fn)))
    for measure in MEASURES.values():
        if isinstance(measure, Ratio):
            assert float(measure(outcomes)) == float(measure.exact(outcomes))
            assert 0 <= measure.exact_error(outcomes) <= 1


def test_costs() -> None:
    outcomes = Outcomes.from_errors(10, 5, negatives=100, positives=20)
    assert float(get_measure("wer:0.3")(outcomes)) == pytest.approx(0.3 * 0.1 + 0.7 * 0.25)
    assert float(get_measure("wer")(outcomes, 0.3)) == pytest.approx(0.3 * 0.1 + 0.7 * 0.25)
    assert float(get_measure("nwer")(outcomes, 0.3)) == pytest.approx((0.3 * 0.1 + 0.7 * 0.25) / 0.3)
    assert float(get_measure("nwer")(outcomes, 0.8)) == pytest.approx((0.8 * 0.1 + 0.2 * 0.25) / 0.2)
    accepts_all = Outcomes.from_errors(100, 0, negatives=100, positives=20)
    assert get_measure("nwer")(accepts_all, 0).item() == 1  # its limit
    assert get_measure("nwer")(outcomes, 1).item() == np.inf
    assert float(get_measure("dcf")(outcomes)) == pytest.approx(10 * 0.01 * 0.25 + 0.99 * 0.1)
    assert float(get_measure("ndcf")(outcomes)) == pytest.approx((0.1 * 0.25 + 0.99 * 0.1) / 0.1)
    # Eq. 3.4: the HTER is the DCF with equal costs and priors.
    assert float(get_measure("dcf:cost_fn=1,cost_fp=1,prior=0.5")(outcomes)) == pytest.approx(
        float(get_measure("hter")(outcomes))
    )


@pytest.mark.parametrize("name", ["precision", "npv", "f1", "f2", "accuracy", "error", "mcc"])
@settings(max_examples=settings.default.max_examples // 3)
@given(tp=counts, fp=counts, tn=counts, fn=counts, prior=st.sampled_from(["0.01", "0.2", "0.5", "7/8"]))
def test_another_prior_is_trials_weighted_by_class(name: str, tp: int, fp: int, tn: int, fn: int, prior: str) -> None:
    if tp + fn == 0 or fp + tn == 0:
        return
    outcomes = Outcomes(*(np.array(number) for number in (tp, fp, tn, fn)))
    truth, decided = _labels(tp, fp, tn, fn)
    share = float(Fraction(prior))
    weights = np.where(truth == 1, share / (tp + fn), (1 - share) / (fp + tn))
    peers = {
        "precision": metrics.precision_score,
        "f1": metrics.f1_score,
        "accuracy": metrics.accuracy_score,
        "npv": partial(metrics.precision_score, pos_label=0),
        "f2": partial(metrics.fbeta_score, beta=2),
        "mcc": metrics.matthews_corrcoef,
        "error": lambda *of, **on: 1 - metrics.accuracy_score(*of, **on),
    }
    zero = {"zero_division": 0} if name in ("precision", "npv", "f1", "f2") else {}
    expected = peers[name](truth, decided, sample_weight=weights, **zero)
    shifted = get_measure(f"{name}:prior={prior}")
    assert float(shifted(outcomes)) == pytest.approx(expected, abs=1e-9)
    assert "prevalence" not in shifted.depends_on
    exact = shifted.exact(outcomes)
    value = float(abs(exact)) ** 0.5 * (1 if exact >= 0 else -1) if name == "mcc" else float(exact)
    assert value == pytest.approx(expected, abs=1e-9)


def test_a_prior_is_for_measures_that_depend_on_it() -> None:
    with pytest.raises(OptionError, match="hter does not depend on the share of positives"):
        get_measure("hter:prior=0.1")
    with pytest.raises(OptionError, match="must lie between 0 and 1, not 1"):
        get_measure("f1:prior=1")


def test_cost_is_what_a_decision_costs() -> None:
    outcomes = Outcomes.from_errors(10, 5, negatives=100, positives=20)
    # Of 10,000 decisions 100 are positives: 25 misses at 100 and 990 false alarms at 1.
    assert float(get_measure("cost:fn=100,fp=1,prior=0.01")(outcomes)) == pytest.approx((25 * 100 + 990) / 10_000)
    assert get_measure("cost:prior=0.01,fp=1,fn=100") is cost(100, 1, 0.01)


def test_matthews_does_not_overflow() -> None:
    large = Outcomes(*(np.array(10**9) for _ in range(4)))
    assert float(get_measure("mcc")(large)) == 0.0


def test_tasks_are_the_papers() -> None:
    assert {name: (t.v1.name, t.v2.name, t.aggregate.name) for name, t in TASKS.items()} == {
        "authentication": ("far", "frr", "hter"),
        "detection": ("far", "frr", "hter"),  # the same, in other words
        "retrieval": ("precision", "recall", "f1"),
        "diagnosis": ("sensitivity", "specificity", "balanced-accuracy"),
        "fraud": ("far", "frr", "hter"),  # as detection, in words of their own
        "texts": ("far", "frr", "hter"),
        "spam": ("precision", "recall", "f1"),  # as retrieval
    }


def test_what_moves_a_measure_is_found_by_trying() -> None:
    both = {"negatives", "positives"}
    wanted = {
        **dict.fromkeys(["far", "tnr", "specificity"], both - {"positives"}),
        **dict.fromkeys(["frr", "tpr", "recall", "sensitivity"], both - {"negatives"}),
        **dict.fromkeys(["hter", "wer", "nwer", "dcf", "ndcf", "balanced-accuracy"], both),
        **dict.fromkeys(["precision", "npv", "f1", "accuracy", "error", "mcc", "net-benefit"], both | {"prevalence"}),
    }
    assert {name: set(measure.depends_on) for name, measure in MEASURES.items()} == wanted
    assert Measure.custom(lambda o: o.fp / o.negatives).depends_on == {"negatives"}
    assert Measure.custom(lambda o: o.fp + 5 * o.fn).depends_on == both | {"prevalence"}
    assert Measure.custom(lambda o: o.missing).depends_on == both | {"prevalence"}  # who knows
