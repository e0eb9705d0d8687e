"""DeLong: pROC's numbers, the definition by pairs of trials, and the size of the test."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nobody import attacked
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
from priori.uncertainty.rates.auc import components_of
from validation.coverage.simulation import population

RECORD = Path(__file__).parents[3] / "validation" / "delong"
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
    found = a_posteriori_auc_interval(a, method="normal")
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
    unpaired = a_posteriori_auc_test(a, b, unpaired=True)
    assert unpaired.statistic == pytest.approx(expected["unpaired_statistic"], rel=1e-9)
    assert unpaired.degrees_of_freedom == pytest.approx(expected["unpaired_degrees_of_freedom"], rel=1e-9)
    assert unpaired.p_value == pytest.approx(expected["unpaired_p_value"], rel=1e-8)


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=12), st.lists(st.integers(-3, 3), min_size=2, max_size=12))
def test_components_against_every_pair(negatives, positives):
    found = components_of(Scores.from_arrays(negatives, positives))
    x, y = np.array(positives)[:, None], np.array(negatives)[None, :]
    wins = (x > y) + 0.5 * (x == y)
    assert found.positive == pytest.approx(wins.mean(axis=1))
    assert found.negative == pytest.approx(wins.mean(axis=0))
    assert found.positive.mean() == pytest.approx(a_posteriori_auc(Scores.from_arrays(negatives, positives)))


def test_logit_is_students_on_the_log_odds():
    a, _ = _recorded("near-perfect")
    found = a_posteriori_auc_interval(a)
    assert found.method == "logit"
    # Pair by pair: the influence of each trial, and Satterthwaite's degrees of freedom of the sum of their squares.
    wins = np.array([[1.0 * (x > y) + 0.5 * (x == y) for y in a.negatives] for x in a.positives]) - found.auc
    influence = np.concatenate([wins.mean(axis=k) / np.sqrt(n * (n - 1)) for k, n in enumerate(wins.shape[::-1])])
    freedom = 2 * (influence**2).sum() ** 2 / (influence**4).sum()
    assert found.degrees_of_freedom == pytest.approx(freedom)
    half = stats.t.ppf(0.975, freedom) * found.sd / (found.auc * (1 - found.auc))
    odds = np.log(np.array([found.lower, found.upper]) / (1 - np.array([found.lower, found.upper])))
    assert odds == pytest.approx(np.log(found.auc / (1 - found.auc)) + np.array([-half, half]))
    assert found.upper < 1


# -- users -------------------------------------------------------------------------------------------------------


def _clustered(rng, users=12, separation=1.0, effect=0.7, noise=1.0):
    """Two systems on the same trials of users with one to five trials of each class; some have no positives."""
    user, label = [], []
    for u in range(users):
        for y in (0, 1):
            number = rng.integers(1, 6) if y == 0 or u % 4 else 0
            user += [u] * number
            label += [y] * number
    user, label = np.array(user), np.array(label)
    common = separation * label + rng.normal(0, effect, users)[user] + rng.normal(0, 0.5, user.size)
    ids = np.arange(user.size)
    return [
        Scores.from_predictions(label, np.round(common + rng.normal(0, noise, user.size), 1), user=user, trial=ids)
        for _ in "ab"
    ]


def _obuchowski(a, b):
    """Her 1997 variance and covariance of two AUCs, from its definition: every pair of trials, every pair of users.

    Hers makes up for the mean as for users alike, u / (u - 1); here it is the share of the pairs of trials of one user.
    """

    def parts(scores):
        x, y = scores.positive.score, scores.negative.score
        wins = [[1.0 * (p > n) + 0.5 * (p == n) for n in y] for p in x]
        theta = sum(map(sum, wins)) / (len(x) * len(y))
        cases = [sum(row) / len(y) - theta for row in wins]
        controls = [sum(row[j] for row in wins) / len(x) - theta for j in range(len(y))]
        x_user, y_user = scores.positive.user.tolist(), scores.negative.user.tolist()
        by_case = {u: sum(c for c, v in zip(cases, x_user, strict=True) if v == u) for u in set(x_user)}
        by_control = {u: sum(c for c, v in zip(controls, y_user, strict=True) if v == u) for u in set(y_user)}
        return by_case, by_control, len(x), len(y)

    case_a, control_a, m, n = parts(a)
    case_b, control_b, *_ = parts(b)
    everyone = set(case_a) | set(control_a)
    left = [1 - np.mean(users[:, None] == users) for users in (a.positive.user, a.negative.user)]
    s10 = 1 / (left[0] * m) * sum(case_a[u] * case_b[u] for u in case_a)
    s01 = 1 / (left[1] * n) * sum(control_a[u] * control_b[u] for u in control_a)
    factor = 1 / np.sqrt(left[0] * left[1])
    s11 = factor * sum(case_a.get(u, 0) * control_b.get(u, 0) for u in everyone)
    s11 += factor * sum(case_b.get(u, 0) * control_a.get(u, 0) for u in everyone)
    return s10 / m + s01 / n + s11 / (m * n)


@pytest.mark.parametrize("seed", range(3))
def test_clustered_variances_are_obuchowskis(seed):
    a, b = _clustered(np.random.default_rng(seed))
    found = a_posteriori_auc_interval(a)
    assert (found.dependence, found.people) == ("user", 12)
    assert found.sd**2 == pytest.approx(_obuchowski(a, a), rel=1e-9)
    assert a_posteriori_auc_interval(a, dependence="none").sd != found.sd
    test = a_posteriori_auc_test(a, b)
    variance = _obuchowski(a, a) + _obuchowski(b, b) - 2 * _obuchowski(a, b)
    assert test.sd**2 == pytest.approx(variance, rel=1e-9)
    assert test.statistic == pytest.approx(test.difference / np.sqrt(variance))
    assert test.p_value == pytest.approx(2 * stats.t.sf(abs(test.statistic), test.degrees_of_freedom))
    assert 1 <= test.degrees_of_freedom <= 11


def test_the_clustered_deviation_is_that_of_users_left_out():
    """The jackknife over users knows no formula; with many users the two agree."""
    rng = np.random.default_rng(8)
    user, label = np.tile(np.repeat(np.arange(150), 4), 2), np.repeat([0, 1], 600)
    score = 1.5 * label + rng.normal(0, 0.8, (2, 150))[label, user] + rng.normal(0, 1, 1200)
    found = a_posteriori_auc_interval(Scores.from_predictions(label, score, user=user))
    left = np.array([a_posteriori_auc(Scores.from_predictions(label[user != u], score[user != u])) for u in range(150)])
    assert found.sd == pytest.approx(np.sqrt(149 / 150 * ((left - left.mean()) ** 2).sum()), rel=0.03)
    assert found.sd > 1.1 * a_posteriori_auc_interval(Scores.from_predictions(label, score)).sd


@pytest.mark.parametrize("attacks", [False, True])
def test_crossed_trials_count_each_pair_that_shares_somebody(attacks):
    scores = population(15, 3, 14, user_effect_sd=0.2, probe_effect_sd=0.8, crossed=True, rng=3, separation=1.0)
    if attacks:
        scores = attacked(scores, 0.3)
    found = a_posteriori_auc_interval(scores)
    assert found.warnings == ()
    assert (found.dependence, found.people) == ("crossed", 15)
    parts = components_of(scores)
    negative = [
        (value, {u, p})
        for value, u, p in zip(
            (parts.negative - found.auc) / parts.negative.size,
            scores.negative.user,
            scores.negative.probe_user,
            strict=True,
        )
    ]
    positive = (parts.positive - found.auc) / parts.positive.size
    every = negative + [(value, {u}) for value, u in zip(positive, scores.positive.user, strict=True)]
    classes = every[: len(negative)], every[len(negative) :]
    left = [1 - sum(bool(a & b) for _, a in part for _, b in part) / len(part) ** 2 for part in classes]
    scaled = [(e / np.sqrt(left[c]), people) for c, part in enumerate(classes) for e, people in part]
    variance = sum(e * f for e, people in scaled for f, others in scaled if people & others)
    assert found.sd**2 == pytest.approx(variance, rel=1e-9)
    assert found.sd > a_posteriori_auc_interval(scores, dependence="user").sd


# -- unpaired and one-sided --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["correlated", "tied"])
@pytest.mark.parametrize("unpaired", [False, True])
def test_bounds_of_a_difference_are_those_of_its_p_values(case, unpaired):
    a, b = _recorded(case)
    expected = EXPECTED[case]
    difference = expected["auc_a"] - expected["auc_b"]
    variance = expected["variance_a"] + expected["variance_b"]
    law = stats.t(expected["unpaired_degrees_of_freedom"]) if unpaired else stats.norm
    sd = np.sqrt(variance if unpaired else variance - 2 * expected["covariance"])
    for level in (0.9, 0.95):
        two = a_posteriori_auc_test(a, b, unpaired=unpaired, confidence_level=level)
        reach = law.ppf((1 + level) / 2) * sd
        assert [two.lower, two.upper] == pytest.approx([difference - reach, difference + reach], rel=1e-8)
        assert two.significant == (two.lower > 0 or two.upper < 0)


def test_unpaired_users_add_their_variances():
    a, b = _clustered(np.random.default_rng(4))[0], _clustered(np.random.default_rng(5), users=20)[1]
    test = a_posteriori_auc_test(a, b, unpaired=True)
    of_a, of_b = (a_posteriori_auc_interval(each) for each in (a, b))
    assert test.sd**2 == pytest.approx(_obuchowski(a, a) + _obuchowski(b, b), rel=1e-9)
    parts = [(of_a.sd**2, of_a.degrees_of_freedom), (of_b.sd**2, of_b.degrees_of_freedom)]
    welch = sum(v for v, _ in parts) ** 2 / sum(v**2 / f for v, f in parts)
    assert test.degrees_of_freedom == pytest.approx(welch)
    assert test.upper == pytest.approx(test.difference + stats.t.ppf(0.975, welch) * test.sd)
    assert test.people == 32


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
    assert covered["logit"] / runs == pytest.approx(0.96, abs=0.02)
    assert 0.85 < covered["normal"] / runs < 0.9


def test_no_overlap_is_said():
    found = a_posteriori_auc_interval(Scores.from_arrays([0, 1], [2, 3]), method="logit")
    assert (found.auc, found.upper, found.warnings[0].code) == (1, 1, "no-variance")
    # Two pairs of trials that share nobody, both in order: a rate p would give that with probability p^2.
    assert found.lower == pytest.approx(0.025**0.5)
    reversed_ = a_posteriori_auc_interval(Scores.from_arrays([2, 3, 4], [0, 1]), method="normal", confidence_level=0.9)
    assert [reversed_.lower, reversed_.upper] == pytest.approx([0, 1 - 0.05**0.5])
    alike = Scores.from_arrays([0, 2, 1], [2, 3])
    same = a_posteriori_auc_test(alike, alike)
    assert (same.p_value, same.significant) == (1, False)
    assert [same.lower, same.upper] == pytest.approx([-(1 - 0.025**0.5), 1 - 0.025**0.5])


@pytest.mark.parametrize(("dependence", "pairs"), [("none", 10), ("user", 5), ("crossed", 3)])
def test_without_overlap_pairs_that_share_nobody_count(dependence, pairs):
    """Ten people, each with a trial of either class: a pair of trials takes two of them, or three."""
    person, label = np.arange(10), np.repeat([0, 1], 10)
    real = np.concatenate([(person + 1) % 10, person])
    scores = Scores.from_predictions(label, np.arange(20.0), user=np.tile(person, 2), probe_user=real)
    found = a_posteriori_auc_interval(scores, method="logit", dependence=dependence)
    assert (found.lower, found.upper) == pytest.approx((0.025 ** (1 / pairs), 1))


def test_one_user_whose_positives_are_missed_is_few_though_all_negatives_win():
    user, label = np.tile(np.repeat(np.arange(30), 5), 2), np.repeat([0, 1], 150)
    score = np.random.default_rng(0).normal(size=300) + np.where(label == 1, np.where(user == 0, -9, 9), 0)
    found = a_posteriori_auc_interval(Scores.from_predictions(label, score, user=user))
    assert [caution.code for caution in found.warnings] == ["few-units"]
    assert str(found.warnings[0]).startswith("what the AUC lacks")


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
    with pytest.raises(InputError, match="unpaired"):
        a_posteriori_auc_test(scores, Scores.from_arrays([0, 2, 3], [1, 3]))


def test_the_lower_limit_allows_for_a_user_unlike_those_seen():
    found = a_posteriori_auc_interval(population(30, 9, 20, user_effect_sd=0.5, rng=1))
    loss = 1 - found.auc
    more = min(4 * loss, 0.5) ** 2 / 31**2
    reach = stats.t.ppf(0.975, found.degrees_of_freedom) / (found.auc * loss)
    centre = np.log(found.auc / loss)
    limits = centre - reach * np.sqrt(found.sd**2 + more), centre + reach * found.sd
    assert (found.lower, found.upper) == pytest.approx([1 / (1 + np.exp(-limit)) for limit in limits])
