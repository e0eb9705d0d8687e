"""Rates by group: intervals beside those of single rates and of statsmodels, differentials beside plain formulas."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm, studentized_range

import priori
from nobody import attacked
from priori import Scores, rate_interval
from priori.base.errors import InputError, OptionError
from priori.uncertainty.rates.combined import Pairs, gini, gini_limits, level_of_pairs
from priori.uncertainty.rates.group_rates import _correlations
from priori.uncertainty.rates.rate_intervals import judge
from priori.words.sentences import about_groups
from validation.coverage.simulation import population


def independent(errors: list[int], trials: list[int]) -> Scores:
    """Negatives of groups a, b, ..., so many of which are above 0; one positive each."""
    score, group = [], []
    for name, wrong, size in zip("abcdef", errors, trials, strict=False):
        score += [1.0] * wrong + [-1.0] * (size - wrong)
        group += [name] * size
    label = [0] * len(score) + [1] * len(trials)
    return Scores.from_predictions(label, score + [1.0] * len(trials), group=group + list("abcdef")[: len(trials)])


def test_two_groups_of_independent_trials_have_newcombes_interval() -> None:
    # statsmodels 0.15.0: confint_proportions_2indep(56, 70, 48, 80, method="newcomb", compare="diff").
    found = priori.group_rates(independent([56, 48], [70, 80]), 0.0, rates=["far"])
    gap = found.rows("far", "gap")
    assert gap["value"][0] == pytest.approx(0.2)
    assert (gap["lower"][0], gap["upper"][0]) == pytest.approx((0.05243147240236498, 0.33387265403690614), abs=1e-12)
    rates = found.rows("far")
    assert rates["value"].tolist() == pytest.approx([0.8, 0.6])
    single = rate_interval(independent([56, 48], [70, 80]).by("group")["a"], 0.0, confidence_level=0.95**0.5)
    assert (rates["lower"][0], rates["upper"][0]) == pytest.approx((single.lower, single.upper))


def test_the_ratio_solves_for_no_difference() -> None:
    value, lower, upper = np.array([0.8, 0.6]), np.array([0.69, 0.49]), np.array([0.87, 0.70])
    rho = np.array([[1.0, 0.3], [0.3, 1.0]])
    pairs = Pairs.of(value, lower, upper, rho)

    def limit(ratio: float, side: int) -> float:
        of_a = value[0] - lower[0] if side < 0 else upper[0] - value[0]
        of_b = ratio * (upper[1] - value[1] if side < 0 else value[1] - lower[1])
        return value[0] - ratio * value[1] + side * np.sqrt(of_a**2 + of_b**2 - 2 * 0.3 * of_a * of_b)

    assert pairs.ratio_lower[0, 1] == pytest.approx(brentq(lambda r: limit(r, -1), 0.1, 1.3), abs=1e-9)
    assert pairs.ratio_upper[0, 1] == pytest.approx(brentq(lambda r: limit(r, 1), 1.35, 5.0), abs=1e-9)


@pytest.mark.parametrize("groups", [2, 3, 5, 12])
def test_the_level_of_pairs_is_tukeys(groups: int) -> None:
    q = studentized_range.ppf(0.95, groups, np.inf) / np.sqrt(2)
    assert norm.ppf((1 + level_of_pairs(0.95, groups)) / 2) == pytest.approx(q, abs=1e-4)


def test_differentials_are_those_of_the_rates_observed() -> None:
    # fairlearn 0.15.0, MetricFrame of false_positive_rate: difference() 0.15, ratio() 0.25, which is min / max.
    found = priori.group_rates(independent([10, 40, 20], [200, 200, 200]), 0.0, rates=["far"], by="site")
    rate = {"a": 0.05, "b": 0.2, "c": 0.1}
    assert found.rows("far", "gap")["value"][0] == pytest.approx(0.15)
    assert found.rows("far", "ratio")["value"][0] == pytest.approx(4.0)
    mean = np.prod(list(rate.values())) ** (1 / 3)
    last = found.rows("far", "ratio-to-mean")
    assert last["value"][0] == pytest.approx(0.2 / mean)
    assert (last["group"][0], last["other"][0], last["errors"][0]) == ("b", "a", 70)
    for what, none in (("gap", 0.0), ("ratio", 1.0), ("ratio-to-mean", 1.0)):
        row = found.rows("far", what)
        assert none < row["lower"][0] < row["value"][0] < row["upper"][0]


def test_groups_alike_have_no_significant_gap() -> None:
    found = priori.group_rates(independent([10, 10], [200, 200]), 0.0, rates=["far"])
    gap, ratio = found.rows("far", "gap"), found.rows("far", "ratio")
    assert (gap["value"][0], gap["lower"][0], ratio["lower"][0]) == (0.0, 0.0, 1.0)
    assert gap["group"][0] != gap["other"][0]
    none = priori.group_rates(independent([0, 4], [200, 200]), 0.0, rates=["far"])
    assert none.rows("far", "ratio")["upper"][0] == np.inf
    assert [warning.code for warning in none.warnings] == ["no-errors"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("attacks", [False, True])
def test_correlations_are_sums_over_trials_that_share_someone(attacks: bool) -> None:
    scores = population(12, 2, 11, crossed=True, user_effect_sd=0.4, probe_effect_sd=0.4, rng=3)
    if attacks:
        scores = attacked(scores, 0.3)
    sex = {name: "fm"[number % 2] for number, name in enumerate(scores.users.values)}  # type: ignore[union-attr]
    negative = scores.negative
    group = np.array([sex[name] == "m" for name in scores.users.values], dtype=np.int32)[negative.user]  # type: ignore[union-attr]
    judged = judge(scores, 0.8, "far")
    off = judged.wrong - np.array([judged.wrong[group == code].mean() for code in (0, 1)])[group]
    a, b = negative.user, negative.probe_user
    assert a is not None
    assert b is not None
    sharing = (a[:, None] == a) | (b[:, None] == b) | (a[:, None] == b) | (b[:, None] == a)
    products = np.outer(off, off) * sharing
    covariance = np.array([[products[np.ix_(group == g, group == h)].sum() for h in (0, 1)] for g in (0, 1)])
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    found = _correlations(judged, group, 2, "crossed")
    assert found[0, 1] == pytest.approx(np.clip(expected, -1, 1), abs=1e-12)
    assert _correlations(judged, group, 2, "user")[0, 1] == pytest.approx(0.0, abs=1e-12)


def test_groups_come_from_a_column_or_from_users() -> None:
    scores = population(20, 9, 20, rng=1)
    names = scores.users.values  # type: ignore[union-attr]
    of_user = {name: "ab"[number % 2] for number, name in enumerate(names)}
    user = np.concatenate([names[scores.negative.user], names[scores.positive.user]])
    same = Scores.from_predictions(
        np.repeat([0, 1], [400, 180]),
        np.concatenate([scores.negative.score, scores.positive.score]),
        user=user,
        group=[of_user[name] for name in user],
    )
    first = priori.group_rates(scores, 1.2, groups=of_user)
    second = priori.group_rates(same, 1.2)
    assert first.to_dict() == second.to_dict()
    assert (first.dependence, first.people.tolist()[:3]) == ("user", [10, 10, 20])
    with pytest.raises(InputError, match="groups of the trials are not known"):
        priori.group_rates(scores, 1.2)
    with pytest.raises(InputError, match="group of user"):
        priori.group_rates(scores, 1.2, groups={names[0]: "a"})
    with pytest.raises(OptionError, match="unknown rate 'fpr'"):
        priori.group_rates(same, 1.2, rates=["fpr"])  # type: ignore[list-item]


def test_a_group_of_one_user_is_one_independent_trial() -> None:
    scores = population(21, 9, 20, rng=1)
    names = scores.users.values  # type: ignore[union-attr]
    found = priori.group_rates(scores, 1.2, groups={name: "one" if name == names[0] else "rest" for name in names})
    alone = found.rows("far")
    assert alone["people"].tolist() == [1, 20]
    assert alone["upper"][0] - alone["lower"][0] > 0.85
    assert "few-units" in [warning.code for warning in found.warnings]  # type: ignore[attr-defined]


def test_the_figure_names_groups_and_rates() -> None:
    found = priori.group_rates(independent([10, 40, 20], [200, 200, 200]), 0.0, by="site")
    axes = found.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]
    assert axes.get_legend_handles_labels()[1] == ["FAR", "FRR"]


def test_only_claimed_users_need_a_group() -> None:
    scores = Scores.from_predictions(
        [1, 0, 1, 0] * 20, np.arange(80.0) % 7, user=["a", "a", "b", "b"] * 20, probe_user=["a", "x", "b", "y"] * 20
    )
    found = priori.group_rates(scores, 3.0, groups={"a": "f", "b": "m"})
    assert found.rows("far")["group"].tolist() == ["f", "m"]
    with pytest.raises(priori.InputError, match="the group of user 'b' is missing; give one for each claimed user"):
        priori.group_rates(scores, 3.0, groups={"a": "f", "x": "m"})


def test_groups_counted_together_are_as_each_alone() -> None:
    scores = population(40, 3, 39, crossed=True, user_effect_sd=0.4, probe_effect_sd=0.4, rng=3)
    of_user = {name: f"g{number % 7}" for number, name in enumerate(scores.users.values)}  # type: ignore[union-attr]
    for dependence in ("none", "user", "crossed"):
        found = priori.group_rates(scores, 1.2, groups=of_user, dependence=dependence)  # type: ignore[arg-type]
        for name in sorted(set(of_user.values())):
            chosen = [user for user, group in of_user.items() if group == name]
            alone = rate_interval(
                priori.scores.derived.restrict(scores, chosen),
                1.2,
                dependence=dependence,
                confidence_level=0.95 ** (1 / 7),
            )
            rows = found.rows("far")
            row = rows["group"].tolist().index(name)
            for key in ("errors", "trials", "people"):
                assert rows[key][row] == getattr(alone, key)
            assert (rows["lower"][row], rows["upper"][row]) == pytest.approx((alone.lower, alone.upper), rel=1e-12)


def test_too_many_groups_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = 300
    user = np.repeat(np.arange(groups), 4)
    scores = Scores.from_predictions(np.tile([0, 0, 0, 1], groups), np.arange(4 * groups) % 7, user=user, group=user)
    found = priori.group_rates(scores, 3.0)
    assert (found.what == "gap").sum() == 2
    assert max(map(len, found.warnings)) < 300
    monkeypatch.setattr("priori.uncertainty.rates.group_rates.MOST_COMPARED", groups - 1)
    found = priori.group_rates(scores, 3.0)
    assert set(found.what) == {"rate"}
    assert "many-groups" in [warning.code for warning in found.warnings]  # type: ignore[attr-defined]
    assert "FAR: 300 groups, too many to compare pairs." in about_groups(found)


def in_groups(negative: list[tuple[int, int]], positive: list[tuple[int, int]]) -> Scores:
    """Independent trials of groups a, b, ...: (errors, trials) of each class at threshold 0."""
    score, label, group = [], [], []
    for of_class, sizes in enumerate((negative, positive)):
        for name, (wrong, size) in zip("abcdef", sizes, strict=False):
            sign = 2 * of_class - 1
            score += [-1.0 * sign] * wrong + [1.0 * sign] * (size - wrong)
            label += [of_class] * size
            group += [name] * size
    return Scores.from_predictions(label, score, group=group)


def test_fairness_indices_are_the_published_formulas() -> None:
    found = priori.group_rates(in_groups([(10, 200), (40, 200), (20, 200)], [(3, 60), (6, 60), (1, 50)]), 0.0)
    far, frr = [0.05, 0.2, 0.1], [0.05, 0.1, 0.02]

    def published(rates: list[float]) -> float:
        """Howard et al. 2022: n / (n - 1) times the sum of |x_i - x_j| over 2 n^2 times the mean."""
        n = len(rates)
        differences = sum(abs(a - b) for a in rates for b in rates)
        return n / (n - 1) * differences / (2 * n**2 * sum(rates) / n)

    garbe, fdr = found.rows("far+frr", "garbe"), found.rows("far+frr", "fdr")
    assert garbe["value"][0] == pytest.approx((published(far) + published(frr)) / 2)
    assert fdr["value"][0] == pytest.approx(1 - (0.15 + 0.08) / 2)
    for row in (garbe, fdr):
        assert 0 <= row["lower"][0] < row["value"][0] < row["upper"][0] <= 1
        assert (row["group"][0], row["errors"][0], row["trials"][0]) == ("", 80, 770)
    each = priori.group_rates(
        in_groups([(10, 200), (40, 200), (20, 200)], [(3, 60), (6, 60), (1, 50)]), 0.0, confidence_level=0.975
    )
    gaps = [each.rows(rate, "gap") for rate in ("far", "frr")]
    assert fdr["lower"][0] == pytest.approx(1 - np.mean([gap["upper"][0] for gap in gaps]))
    assert fdr["upper"][0] == pytest.approx(1 - np.mean([gap["lower"][0] for gap in gaps]))
    assert not (priori.group_rates(independent([1, 2], [9, 9]), 0.0, rates=["far"]).what == "garbe").any()


def test_two_groups_have_the_gini_coefficient_of_their_ratio() -> None:
    value, lower, upper = np.array([0.6, 0.8]), np.array([0.5, 0.76]), np.array([0.66, 0.86])
    pairs = Pairs.of(value, lower, upper, np.zeros((2, 2)))
    ratios = np.array([pairs.ratio_lower[1, 0], pairs.ratio_upper[1, 0]])
    assert ratios[0] > 1
    found = gini_limits(value, lower, upper, 0.95)
    assert found == pytest.approx(tuple((ratios - 1) / (ratios + 1)), abs=1e-9)


def test_limits_of_the_gini_coefficient_include_it_and_grow_with_those_of_the_rates() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        value = rng.random(rng.integers(2, 9)) / 2
        narrow, wide = (gini_limits(value, value * (1 - part), value * (1 + part), 0.95) for part in (0.1, 0.3))
        assert 0 <= wide[0] <= narrow[0] <= gini(value) <= narrow[1] <= wide[1] <= 1
        assert gini_limits(value, value, value, 0.95) == pytest.approx((gini(value),) * 2)
    assert gini(np.zeros(3)) == 0.0
    assert gini_limits(np.zeros(3), np.zeros(3), np.ones(3) / 9, 0.95) == (0.0, 1.0)


def test_intervals_of_fairness_indices_hold() -> None:
    truth, held = np.array([0.02, 0.04, 0.06, 0.08]), []
    rng = np.random.default_rng(1)
    for errors in rng.binomial(300, truth, (400, 4)):
        rate = errors / 300
        limits = np.array([(x.lower, x.upper) for x in [priori.proportion_interval(errors, [300] * 4)]])[0]
        low, high = gini_limits(rate, *limits, 0.95)
        held.append(low <= gini(truth) <= high)
    assert np.mean(held) > 0.93


def test_the_worst_group_has_the_largest_limits() -> None:
    found = priori.group_rates(independent([10, 40, 20], [200, 200, 20]), 0.0, rates=["far"])
    worst, each = found.rows("far", "worst"), found.rows("far")
    assert (worst["group"][0], worst["other"][0], worst["value"][0]) == ("c", "", 1.0)
    assert (worst["errors"][0], worst["trials"][0]) == (20, 20)
    assert (worst["lower"][0], worst["upper"][0]) == (each["lower"].max(), each["upper"].max())


def test_groups_with_few_users_are_left_out_and_named() -> None:
    scores = population(40, 3, 39, crossed=True, user_effect_sd=0.4, probe_effect_sd=0.4, rng=3)
    names = scores.users.values  # type: ignore[union-attr]
    of_user = {name: "small" if number < 4 else "fm"[number % 2] for number, name in enumerate(names)}
    every = priori.group_rates(scores, 1.2, groups=of_user, dependence="user")
    found = priori.group_rates(scores, 1.2, groups=of_user, dependence="user", min_users=5)
    assert found.rows("far")["group"].tolist() == ["f", "m"]
    assert found.rows("frr")["errors"].tolist() == every.rows("frr")["errors"].tolist()[:2]
    assert "FAR: groups with fewer than 5 users are left out: small (4)" in found.warnings
    narrower = found.rows("far")["upper"] < every.rows("far")["upper"][:2]  # two groups together, not three
    assert narrower.all()
    with pytest.raises(InputError, match="no group is left"):
        priori.group_rates(scores, 1.2, groups=of_user, min_users=41)
    for wrong in (0, 2.5, True, "3"):
        with pytest.raises(OptionError, match="min_users must be a whole number from 1 on"):
            priori.group_rates(scores, 1.2, groups=of_user, min_users=wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="needs the user of each trial"):
        priori.group_rates(independent([1, 2], [9, 9]), 0.0, min_users=2)


@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize("limit", ["0", "0.1", "1/3", "0.5", "1"])
def test_the_threshold_of_the_worst_group_is_that_of_brute_force(rate: Literal["far", "frr"], limit: str) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        label, group = rng.integers(0, 2, 60), rng.choice(list("abcd"), 60, p=[0.5, 0.3, 0.15, 0.05])
        label[:2], score = [0, 1], np.round(rng.normal(label, 1.0), 1)
        dev = priori.Scores.from_predictions(label, score, group=group)
        found = priori.group_threshold(dev, rate=rate, limit=limit)
        tried = []
        for threshold in np.sort(dev.candidates().thresholds(*dev.candidates().every())):
            wrong = np.where(label == 1, score <= threshold, score > threshold)
            far, frr = (Fraction(int(wrong[label == each].sum()), int((label == each).sum())) for each in (0, 1))
            of = label == int(rate == "frr")
            rates = [
                Fraction(int(wrong[of & (group == each)].sum()), int((of & (group == each)).sum()))
                for each in np.unique(group[of])
            ]
            if max(rates) <= Fraction(limit):
                tried.append((frr if rate == "far" else far, far + frr, threshold))
        assert found == min(tried)[-1]


def test_a_limit_in_every_group_needs_groups_and_a_limit() -> None:
    dev = priori.Scores.from_arrays([0.1, 0.2], [0.3, 0.4])
    with pytest.raises(InputError, match="groups of the trials are not known"):
        priori.group_threshold(dev, limit=0.1)
    grouped = priori.Scores.from_predictions([0, 1], [0.1, 0.3], group=["a", "b"])
    with pytest.raises(OptionError, match="choose at-most-far or at-most-frr, not at-most-hter"):
        priori.group_threshold(grouped, rate="hter", limit=0.1)  # type: ignore[arg-type]
