"""DeLong: pROC's numbers, the definition by pairs of trials, and the size of the test."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priori import (
    InputError,
    OptionError,
    Scores,
    a_posteriori_auc,
    a_posteriori_auc_interval,
    a_posteriori_auc_test,
    a_posteriori_partial_auc,
    epc,
)
from priori.uncertainty.auc import Components

RECORD = Path(__file__).parents[2] / "validation" / "delong"
EXPECTED = json.loads((RECORD / "expected.json").read_text(encoding="utf-8"))
CASES = [name for name in EXPECTED if name != "made_by"]


def _recorded(case):
    with (RECORD / "scores.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["case"] == case]
    label = [int(row["label"]) for row in rows]
    return [Scores.from_predictions(label, [float(row[system]) for row in rows]) for system in "ab"]


@pytest.mark.parametrize("case", CASES)
def test_interval_equals_proc(case):
    a, _ = _recorded(case)
    expected = EXPECTED[case]
    found = a_posteriori_auc_interval(a)
    assert found.auc == pytest.approx(expected["auc_a"], rel=1e-12)
    assert found.sd**2 == pytest.approx(expected["variance_a"], rel=1e-10)
    assert [found.lower, found.upper] == pytest.approx([expected["lower_a"], expected["upper_a"]], rel=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_partial_area_and_youdens_index_equal_proc(case):
    a, _ = _recorded(case)
    assert a_posteriori_partial_auc(a, ("0", "0.1")) == pytest.approx(EXPECTED[case]["partial_a"], rel=1e-12)
    best = epc(a, a, alpha=["0.5"])
    assert 1 - best.v1[0] - best.v2[0] == pytest.approx(EXPECTED[case]["youden_a"], abs=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_tests_equal_proc(case):
    a, b = _recorded(case)
    expected = EXPECTED[case]
    paired = a_posteriori_auc_test(a, b)
    variance = expected["variance_a"] + expected["variance_b"] - 2 * expected["covariance"]
    assert paired.sd**2 == pytest.approx(variance, rel=1e-9)
    assert paired.statistic == pytest.approx(expected["paired_statistic"], rel=1e-9)
    assert paired.p_value == pytest.approx(expected["paired_p_value"], rel=1e-9)
    less = a_posteriori_auc_test(a, b, alternative="less")
    assert less.p_value == pytest.approx(expected["paired_p_value_less"], rel=1e-9)
    unpaired = a_posteriori_auc_test(a, b, unpaired=True)
    assert unpaired.statistic == pytest.approx(expected["unpaired_statistic"], rel=1e-9)
    assert unpaired.degrees_of_freedom == pytest.approx(expected["unpaired_degrees_of_freedom"], rel=1e-9)
    assert unpaired.p_value == pytest.approx(expected["unpaired_p_value"], rel=1e-8)


@given(
    st.lists(st.integers(-3, 3), min_size=2, max_size=12),
    st.lists(st.integers(-3, 3), min_size=2, max_size=12),
)
def test_components_against_every_pair(negatives, positives):
    found = Components.of(Scores.from_arrays(negatives, positives))
    x, y = np.array(positives)[:, None], np.array(negatives)[None, :]
    wins = (x > y) + 0.5 * (x == y)
    assert found.positive == pytest.approx(wins.mean(axis=1))
    assert found.negative == pytest.approx(wins.mean(axis=0))
    assert found.positive.mean() == pytest.approx(a_posteriori_auc(Scores.from_arrays(negatives, positives)))


def test_logit_is_normal_on_the_log_odds():
    a, _ = _recorded("near-perfect")
    found = a_posteriori_auc_interval(a, method="logit")
    half = 1.959963984540054 * found.sd / (found.auc * (1 - found.auc))
    odds = np.log(np.array([found.lower, found.upper]) / (1 - np.array([found.lower, found.upper])))
    assert odds == pytest.approx(np.log(found.auc / (1 - found.auc)) + np.array([-half, half]))
    assert found.upper < 1


@given(st.permutations(range(12)))
def test_order_of_the_trials_does_not_matter(order):
    rng = np.random.default_rng(3)
    label, ids = np.repeat([0, 1], 6), np.arange(12)
    score_a, score_b = rng.integers(0, 5, 12), rng.integers(0, 5, 12)
    order = np.array(order)
    a = Scores.from_predictions(label, score_a, trial=ids)
    b = Scores.from_predictions(label[order], score_b[order], trial=ids[order])
    expected = a_posteriori_auc_test(a, Scores.from_predictions(label, score_b, trial=ids))
    assert a_posteriori_auc_test(a, b).sd == pytest.approx(expected.sd)


@pytest.mark.parametrize(("share", "unpaired"), [(0.0, True), (0.0, False), (0.7, False)])
def test_rejects_five_percent_of_true_nulls(share, unpaired):
    # Two systems equally good in truth, sharing some of their noise; 1500 runs, tolerance three standard errors.
    rng = np.random.default_rng(44)
    label, runs = np.repeat([0, 1], [120, 80]), 1500
    rejected = 0
    for _ in range(runs):
        common = rng.normal(1.2 * label, np.sqrt(share))
        a, b = (
            Scores.from_predictions(label, common + rng.normal(0, np.sqrt(1 - share), label.size))
            if share
            else Scores.from_predictions(label, rng.normal(1.2 * label))
            for _ in range(2)
        )
        rejected += a_posteriori_auc_test(a, b, unpaired=unpaired).significant
    assert rejected / runs == pytest.approx(0.05, abs=0.017)


def test_intervals_cover():
    # Normal scores: AUC = Phi(shift / sqrt 2). Near 1 the logit interval holds its level better.
    rng = np.random.default_rng(45)
    truth, runs = 0.9830526, 1500
    covered = {"normal": 0, "logit": 0}
    for _ in range(runs):
        scores = Scores.from_arrays(rng.normal(0, 1, 100), rng.normal(3, 1, 50))
        for method in covered:
            found = a_posteriori_auc_interval(scores, method=method)
            covered[method] += found.lower <= truth <= found.upper
    assert covered["logit"] / runs == pytest.approx(0.95, abs=0.03)
    assert 0.85 < covered["normal"] / runs < covered["logit"] / runs + 0.01


def test_no_overlap_is_said():
    found = a_posteriori_auc_interval(Scores.from_arrays([0, 1], [2, 3]), method="logit")
    assert (found.auc, found.lower, found.upper) == (1, 1, 1)
    assert "variance is 0" in found.warnings[0]
    alike = Scores.from_arrays([0, 2, 1], [2, 3])
    same = a_posteriori_auc_test(alike, alike)
    assert (same.p_value, same.significant) == (1, False)


def test_says_a_posteriori():
    scores = Scores.from_arrays([0, 2], [1, 3])
    assert a_posteriori_auc_interval(scores).to_dict()["kind"] == "a posteriori"
    assert a_posteriori_auc_test(scores, scores).to_dict()["kind"] == "a posteriori"


def test_bad_input():
    few = Scores.from_arrays([0.0], [1, 2])
    with pytest.raises(InputError, match="at least two negatives"):
        a_posteriori_auc_interval(few)
    scores = Scores.from_arrays([0, 2], [1, 3])
    with pytest.raises(OptionError, match="unknown interval"):
        a_posteriori_auc_interval(scores, method="bootstrap")
    with pytest.raises(OptionError, match="unknown alternative"):
        a_posteriori_auc_test(scores, scores, alternative="both", unpaired=True)
    with pytest.raises(InputError, match="unpaired"):
        a_posteriori_auc_test(scores, Scores.from_arrays([0, 2, 3], [1, 3]))
