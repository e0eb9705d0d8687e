"""A against B: two claims, the same draws for both systems, the size of the test, regions, margins."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import brute
import priori
from priori import InputError, OptionError, Scores
from priori.scores.pairing import in_one_order
from priori.uncertainty.comparing.claims import shares_of
from priori.uncertainty.comparing.verdicts import MarginRegion, Region, _p_of_largest

ALPHAS = [Fraction(1, 5), Fraction(1, 2), Fraction(4, 5)]
SIZE = 10_000


def two_systems(seed: int, names: str = "abcd") -> tuple[Scores, Scores]:
    """The same 26 trials of four users by two systems, ties in both; the second in another order."""
    rng = np.random.default_rng(seed)
    user = np.repeat(list(names), [8, 7, 6, 5])
    label = np.concatenate([[0] * 5 + [1] * 3, [0] * 4 + [1] * 3, [0] * 4 + [1] * 2, [0] * 3 + [1] * 2])
    shared = rng.normal(2.0 * label, 0.8)
    probe = np.where(label == 1, user, rng.permutation(user))
    found = []
    for noise in (0.6, 1.0):
        score = np.round(shared + rng.normal(0, noise, user.size), 1)
        order = rng.permutation(user.size)
        found.append(
            Scores.from_predictions(
                label[order], score[order], user=user[order], probe_user=probe[order], trial=np.arange(26)[order]
            )
        )
    return found[0], found[1]


def by_trial(scores: Scores) -> Scores:
    """Return the scores in the order of their ids, so that brute force can draw both systems at once."""
    classes = {name: getattr(scores, name) for name in ("negative", "positive")}
    return replace(scores, **{name: trials.take(np.argsort(trials.trial)) for name, trials in classes.items()})


@pytest.mark.parametrize("bootstrap", ["sample", "user", "user-constrained", "joint", "crossed"])
def test_both_systems_are_drawn_by_the_same_trials(bootstrap):
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2, "efgh")
    a, b = priori.epc(dev_a, test_a, alpha=ALPHAS, name="A"), priori.epc(dev_b, test_b, alpha=ALPHAS, name="B")
    options = {"bootstrap": bootstrap, "claim": "deployed", "n_resamples": SIZE, "interval": "percentile"}
    found = priori.compare(a, b, **options).replicates
    rng = np.random.default_rng(0)
    ordered = {name: by_trial(scores) for name, scores in zip(("a", "b"), (test_a, test_b), strict=True)}
    drawn = brute.weights(ordered["a"], bootstrap, rng, SIZE)
    expected = []
    for k in range(len(ALPHAS)):
        values = []
        for name, curve in (("a", a), ("b", b)):
            values.append(brute.hter(ordered[name], drawn, np.full(SIZE, curve.threshold[k])))
        expected.append(values[0] - values[1])
    for mine, other in zip(found.T, expected, strict=True):
        assert stats.ks_2samp(mine, other).pvalue > 1e-3


def test_a_system_does_not_differ_from_itself():
    scores, _ = two_systems(1)
    test, _ = two_systems(2)
    curve = priori.epc(scores, test, alpha=ALPHAS)
    for claim in ("deployed", "method"):
        found = priori.compare(curve, curve, n_resamples=500, claim=claim, margin=0.9)
        np.testing.assert_allclose(found.replicates, 0, atol=1e-12)
        assert found.margin_regions == (MarginRegion(0.2, 0.8, "equivalent"),)
        np.testing.assert_array_equal(found.p_value, 1.0)
        assert found.regions == ()
        assert not found.simultaneous.significant.any()


def test_swapping_the_systems_turns_everything_round():
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2)
    a, b = priori.epc(dev_a, test_a, points=11, name="A"), priori.epc(dev_b, test_b, points=11, name="B")
    options = {"n_resamples": 999, "bootstrap": "user", "interval": "percentile", "claim": "deployed", "margin": 0.05}
    one, two = priori.compare(a, b, **options), priori.compare(b, a, **options)
    np.testing.assert_array_equal(one.margin.a_no_worse, two.margin.b_no_worse)
    np.testing.assert_allclose(np.sort(one.replicates, axis=0), np.sort(-two.replicates, axis=0), atol=1e-12)
    np.testing.assert_allclose(one.p_value, two.p_value)
    np.testing.assert_allclose(one.area.expected, -two.area.expected)


def test_p_values_count_one_more_than_they_saw():
    label = np.repeat([0, 1], 50)
    a = Scores.from_predictions(label, label * 1.0)
    b = Scores.from_predictions(label, 1.0 - label)
    curves = [priori.epc(a, scores, alpha=[0.5], name=name) for scores, name in ((a, "A"), (b, "B"))]
    options = {"n_resamples": 999, "interval": "percentile", "claim": "deployed"}
    found = priori.compare(*curves, **options)
    assert found.pointwise.p_value[0] == pytest.approx(2 / 1000)
    assert found.regions == (Region(0.5, 0.5, "A"),)


CLAIMS = [("method", None), *(("deployed", interval) for interval in ("percentile", "centred", "calibrated"))]


@pytest.mark.parametrize(("claim", "interval"), CLAIMS)
@pytest.mark.parametrize("seed", range(4))
def test_intervals_and_p_values_agree_and_all_alphas_together_imply_each(claim, interval, seed):
    (dev_a, dev_b), (test_a, test_b) = two_systems(seed), two_systems(seed + 50)
    a, b = (priori.epc(*sets, points=21, name=name) for *sets, name in ((dev_a, test_a, "A"), (dev_b, test_b, "B")))
    for level, size in ((0.5, 999), (0.8, 400), (0.95, 1000)):
        options = {"n_resamples": size, "confidence_level": level, "bootstrap": "user", "rng": seed, "margin": 0.1}
        found = priori.compare(a, b, claim=claim, interval=interval, **options)
        together = priori.compare(a, b, claim=claim, interval=interval, simultaneous=True, **options)
        for verdict in (found.pointwise, found.simultaneous, found.area):
            outside = (verdict.lower > 0) | (verdict.upper < 0)
            if verdict is found.simultaneous:
                assert not (verdict.significant & ~outside).any()
            else:
                np.testing.assert_array_equal(verdict.significant, outside)
        assert (found.simultaneous.p_value >= found.pointwise.p_value).all()
        assert (found.simultaneous.lower <= found.pointwise.lower).all()
        assert (found.simultaneous.upper >= found.pointwise.upper).all()
        for each, verdict in ((found, found.pointwise), (together, together.simultaneous)):
            allowed = float(1 - Fraction(str(level))) / 2
            if verdict is found.pointwise and interval in ("percentile", "centred"):  # else stricter: a pseudo-user
                np.testing.assert_array_equal(each.margin.a_no_worse < allowed, verdict.upper < 0.1)
                np.testing.assert_array_equal(each.margin.b_no_worse < allowed, verdict.lower > -0.1)
            assert not ((each.margin.a_no_worse < allowed) & (verdict.upper >= 0.1)).any()
            assert not ((each.margin.b_no_worse < allowed) & (verdict.lower <= -0.1)).any()
            assert (each.margin.equivalent == np.maximum(each.margin.a_no_worse, each.margin.b_no_worse)).all()
        assert (together.margin.a_no_worse >= found.margin.a_no_worse).all()


def test_the_p_value_of_all_alphas_counts_the_draws_that_reach_as_far():
    largest, reached = np.array([3.0, 1.0, 2.0, 4.0]), np.array([0.5, 1.0, 2.5, 4.0, 9.0])
    assert (5 * _p_of_largest(largest, reached)).tolist() == [5, 5, 3, 2, 1]


def test_few_users_show_no_margin_however_alike_systems_are():
    at = Scores.from_arrays([0.5], [1.5])
    said = {}
    for users in (20, 60):
        user = np.repeat(np.arange(users), 10)
        test = Scores.from_arrays(0.0 * user, 2.0 + 0 * user, negative_user=user, positive_user=user)
        curves = [priori.epc(at, test, alpha=[0.5], name=name) for name in "AB"]
        found = priori.compare(*curves, claim="deployed", margin=0.03, n_resamples=200)
        said[users] = [line for line in found.warnings if line.code == "margin-needs-users"]
        assert (found.margin.equivalent[0] < 0.025) == (users == 60)
    (text,) = said[20]
    assert text.startswith("20 users are too few to show a margin of 0.03; ")
    assert said[60] == []


def test_margins_say_who_is_no_worse():
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2)
    a, b = priori.epc(dev_a, test_a, points=3, name="A"), priori.epc(dev_b, test_b, points=3, name="B")
    options = {"claim": "deployed", "interval": "percentile", "bootstrap": "user", "n_resamples": 999}
    found = priori.compare(a, b, margin=0.08, **options)
    expected = (1 + (found.replicates >= 0.08).sum(axis=0)) / 1000
    np.testing.assert_array_equal(found.margin.a_no_worse, expected)
    np.testing.assert_array_equal(found.margin.b_no_worse, (1 + (found.replicates <= -0.08).sum(axis=0)) / 1000)
    # Of a measure of which more is better, A is worse where its value is lower.
    better = [replace(curve, measure=replace(curve.measure, greater_is_better=True)) for curve in (a, b)]
    turned = priori.compare(*better, margin=0.08, **options)
    np.testing.assert_array_equal(turned.margin.a_no_worse, found.margin.b_no_worse)
    made = replace(
        found,
        margin=replace(found.margin, a_no_worse=np.array([0.01, 0.02, 0.9]), b_no_worse=np.array([0.5, 0.02, 0.01])),
    )
    assert made.margin_regions == (
        MarginRegion(0.0, 0.0, "a_no_worse"),
        MarginRegion(0.5, 0.5, "equivalent"),
        MarginRegion(1.0, 1.0, "b_no_worse"),
    )
    assert made.to_dict()["margin_regions"][1] == {"start": 0.5, "end": 0.5, "shown": "equivalent"}
    for margin in (0, -0.1, float("nan"), float("inf")):
        with pytest.raises(OptionError, match="margin must be a positive number"):
            priori.compare(a, b, margin=margin)


def test_regions_are_runs_of_significant_alphas_with_one_winner():
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2)
    a, b = priori.epc(dev_a, test_a, points=6, name="A"), priori.epc(dev_b, test_b, points=6, name="B")
    found = priori.compare(a, b, n_resamples=100)
    expected = np.array([-1.0, -1.0, 2.0, 2.0, 1.0, -1.0])
    p_value = np.array([0.01, 0.01, 0.01, 0.5, 0.01, 0.01])
    made = replace(found, pointwise=replace(found.pointwise, expected=expected, p_value=p_value))
    assert made.regions == (Region(0.0, 0.2, "A"), Region(0.4, 0.4, "B"), Region(0.8, 0.8, "B"), Region(1.0, 1.0, "A"))
    assert replace(made, greater_is_better=True).regions[0].better == "B"


def null_curves(rng: np.random.Generator, users: int = 30, spread: float = 0.7) -> tuple[priori.EPC, priori.EPC]:
    """Two equally good systems on the same trials of the same users."""
    label = np.tile(np.repeat([0, 1], [20, 8]), users)
    user = np.repeat(np.arange(users), 28)
    hard = rng.normal(0, 0.7, label.size)
    curves = []
    for name in "AB":
        own = rng.normal(0, spread, (2, users))
        score = 2.0 * label + hard + own[label, user] + rng.normal(0, 0.7, label.size)
        test = Scores.from_predictions(label, score, user=user)
        curves.append(replace(priori.epc(test, test, alpha=[0.5], name=name), threshold=np.array([1.0])))
    at = [priori.count(curve.test, curve.threshold) for curve in curves]
    a, b = (replace(c, value=c.measure(o, c.alpha), outcomes=o) for c, o in zip(curves, at, strict=True))
    return a, b


def test_the_test_rejects_a_true_null_as_often_as_it_says():
    rng = np.random.default_rng(3)
    rejected = {"calibrated": 0, "sample": 0}
    sets = 250
    for seed in range(sets):
        a, b = null_curves(rng)
        common = {"n_resamples": 500, "rng": seed, "threads": 1, "claim": "deployed"}
        rejected["calibrated"] += priori.compare(a, b, **common).significant[0]
        rejected["sample"] += priori.compare(a, b, bootstrap="sample", interval="percentile", **common).significant[0]
    # 5 % of 250 is 12.5, with a standard deviation of 3.4.
    assert 3 <= rejected["calibrated"] <= 22
    assert rejected["sample"] > 38  # trials of one user are alike: drawn one by one they promise too much


def test_development_sets_need_not_be_the_same_for_the_thresholds_as_they_are():
    rng = np.random.default_rng(0)
    test = Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200))
    devs = (Scores.from_arrays(rng.normal(0, 1, n), rng.normal(2, 1, n)) for n in (100, 120))
    curves = [priori.epc(dev, test, alpha=[0.5], name=name) for dev, name in zip(devs, "AB", strict=True)]
    with pytest.raises(InputError, match="claim='deployed'"):
        priori.compare(*curves, n_resamples=50)
    assert priori.compare(*curves, n_resamples=50, claim="deployed").p_value.size == 1


def test_unpaired_systems_are_drawn_apart():
    rng = np.random.default_rng(0)
    a, b = (Scores.from_arrays(rng.normal(0, 1, n), rng.normal(2, 1, n)) for n in (300, 500))
    curves = [priori.epc(a, scores, alpha=[0.5], name=str(len(scores))) for scores in (a, b)]
    with pytest.raises(InputError, match="unpaired"):
        priori.compare(*curves, n_resamples=100)
    found = priori.compare(*curves, n_resamples=4000, unpaired=True, claim="deployed")
    rates = [(scores, curve.threshold[0]) for scores, curve in zip((a, b), curves, strict=True)]
    variance = sum(
        (p * (1 - p)) / n / 4
        for scores, t in rates
        for p, n in (
            (np.mean(scores.negatives > t), len(scores.negative)),
            (np.mean(scores.positives <= t), len(scores.positive)),
        )
    )
    assert found.replicates.std() == pytest.approx(np.sqrt(variance), rel=0.06)
    assert found.settings["paired"] is False


def test_curves_that_cannot_be_compared_are_refused():
    (dev, _), (test, _) = two_systems(1), two_systems(2)
    curve = priori.epc(dev, test, points=11)
    with pytest.raises(OptionError, match="different alphas"):
        priori.compare(curve, priori.epc(dev, test, points=5))
    with pytest.raises(OptionError, match="different measures"):
        priori.compare(curve, priori.epc(dev, test, points=11, measure="far"))
    with pytest.raises(OptionError, match="different criteria"):
        priori.compare(curve, priori.epc(dev, test, points=11, criterion="eer"))
    assert priori.compare(curve, priori.epc(dev, test, points=11, criterion="eer"), claim="deployed", n_resamples=50)
    with pytest.raises(OptionError, match="interval belongs to the claim 'deployed'"):
        priori.compare(curve, curve, interval="percentile")
    with pytest.raises(OptionError, match="takes the bootstraps sample, rows, user, crossed, not joint"):
        priori.compare(curve, curve, bootstrap="joint")
    with pytest.raises(OptionError, match="claim"):
        priori.compare(curve, curve, claim="both")


def test_a_comparison_can_be_kept_and_drawn(tmp_path):
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2)
    a, b = priori.epc(dev_a, test_a, points=11, name="A"), priori.epc(dev_b, test_b, points=11, name="B")
    found = priori.compare(a, b, n_resamples=200)
    kept = found.to_dict()
    assert list(found.columns()) == [
        "alpha",
        "value_a",
        "value_b",
        "difference",
        "expected",
        "lower",
        "upper",
        "p_value",
        "significant",
    ]
    assert kept["bootstrap"] == "crossed"
    assert len(kept["p_value"]) == 11
    found.to_json(tmp_path / "found.json")
    counts, edges = found.histogram(0.5, bins=10)
    assert counts.sum() == 200
    assert edges.size == 11
    from matplotlib import pyplot

    from priori.plots import plot_histogram

    assert found.plot().get_xlabel() == "alpha"
    assert "alpha 0.5" in plot_histogram(found, 0.5).get_title()
    pyplot.close("all")


def test_the_area_is_the_mean_over_the_alphas():
    alpha = np.array([0.5, 0.0, 1.0, 0.25])
    assert shares_of(alpha) @ np.ones(4) == pytest.approx(1)
    assert shares_of(alpha) @ alpha == pytest.approx(0.5)


def test_systems_in_one_order_are_compared_as_they_are():
    """Neither copied nor sorted once more: what is known of them stays known."""
    label, rng = np.repeat([0, 1], [30, 20]), np.random.default_rng(4)
    first, second = (Scores.from_predictions(label, rng.normal(label)) for _ in range(2))
    same = in_one_order([first, second])
    assert same[0] is first
    assert same[1] is second
    a, b = two_systems(1)
    ordered = in_one_order([a, b])
    assert ordered[0].load().negative.trial.tolist() == ordered[1].load().negative.trial.tolist()
    assert ordered[1] is not b
