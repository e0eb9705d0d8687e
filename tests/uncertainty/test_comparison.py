"""A against B: the same draws for both, the size of the test, regions, many systems."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import brute
import priori
from priori import InputError, OptionError, Scores
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparison import Region, _shares, make_comparison
from priori.uncertainty.ranking import _letters, holm

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


@pytest.mark.parametrize("resample", ["test", "both"])
@pytest.mark.parametrize("bootstrap", ["sample", "user", "user-constrained", "joint", "crossed"])
def test_both_systems_are_drawn_by_the_same_trials(bootstrap, resample):
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2, "efgh")
    a, b = priori.epc(dev_a, test_a, alpha=ALPHAS, name="A"), priori.epc(dev_b, test_b, alpha=ALPHAS, name="B")
    options = {"bootstrap": bootstrap, "resample": resample, "n_resamples": SIZE, "interval": "percentile"}
    found = priori.compare(a, b, **options).replicates
    rng = np.random.default_rng(0)
    ordered = {name: by_trial(scores) for name, scores in zip(("a", "b"), (test_a, test_b), strict=True)}
    devs = {name: by_trial(scores) for name, scores in zip(("a", "b"), (dev_a, dev_b), strict=True)}
    drawn = brute.weights(ordered["a"], bootstrap, rng, SIZE)
    drawn_dev = brute.weights(devs["a"], bootstrap, rng, SIZE)
    expected = []
    for k, alpha in enumerate(ALPHAS):
        values = []
        for name, curve in (("a", a), ("b", b)):
            threshold = np.full(SIZE, curve.threshold[k])
            if resample == "both":
                threshold = brute.choose(devs[name], drawn_dev, "wer", alpha)
            values.append(brute.hter(ordered[name], drawn, threshold))
        expected.append(values[0] - values[1])
    for mine, other in zip(found.T, expected, strict=True):
        assert stats.ks_2samp(mine, other).pvalue > 1e-3


def test_a_system_does_not_differ_from_itself():
    scores, _ = two_systems(1)
    test, _ = two_systems(2)
    curve = priori.epc(scores, test, alpha=ALPHAS)
    for resample in ("test", "both"):
        found = priori.compare(curve, curve, n_resamples=500, resample=resample)
        assert not found.replicates.any()
        np.testing.assert_array_equal(found.p_value, 1.0)
        assert found.regions == ()
        assert not found.simultaneous.significant.any()


def test_swapping_the_systems_turns_everything_round():
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2)
    a, b = priori.epc(dev_a, test_a, points=11, name="A"), priori.epc(dev_b, test_b, points=11, name="B")
    one = priori.compare(a, b, n_resamples=999, bootstrap="user", interval="percentile")
    two = priori.compare(b, a, n_resamples=999, bootstrap="user", interval="percentile")
    np.testing.assert_allclose(np.sort(one.replicates, axis=0), np.sort(-two.replicates, axis=0), atol=1e-12)
    np.testing.assert_allclose(one.p_value, two.p_value)
    np.testing.assert_allclose(one.area.difference, -two.area.difference)


def test_p_values_count_one_more_than_they_saw():
    label = np.repeat([0, 1], 50)
    a = Scores.from_predictions(label, label * 1.0)
    b = Scores.from_predictions(label, 1.0 - label)
    curves = [priori.epc(a, scores, alpha=[0.5], name=name) for scores, name in ((a, "A"), (b, "B"))]
    found = priori.compare(*curves, n_resamples=999, interval="percentile")
    assert found.pointwise.p_value[0] == pytest.approx(2 / 1000)
    assert priori.compare(*curves, n_resamples=999, interval="percentile", alternative="less").p_value[0] == 1 / 1000
    assert priori.compare(*curves, n_resamples=999, interval="percentile", alternative="greater").p_value[0] == 1.0
    assert found.regions == (Region(0.5, 0.5, "A"),)


def test_the_interval_and_the_p_value_agree():
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(6)
    a, b = priori.epc(dev_a, test_a, points=101), priori.epc(dev_b, test_b, points=101)
    for interval in ("percentile", "centred", "calibrated"):
        for level in (0.5, 0.9):
            found = priori.compare(
                a, b, n_resamples=4000, interval=interval, confidence_level=level, bootstrap="user"
            ).pointwise
            outside = (found.lower > 0) | (found.upper < 0)
            clear = np.abs(found.p_value - (1 - level)) > 0.02
            np.testing.assert_array_equal(found.significant[clear], outside[clear])
    found = priori.compare(a, b, n_resamples=4000, simultaneous=True, bootstrap="user", confidence_level=0.5)
    clear = np.abs(found.p_value - 0.5) > 0.02
    np.testing.assert_array_equal(found.significant[clear], ((found.lower > 0) | (found.upper < 0))[clear])
    assert (found.simultaneous.p_value >= found.pointwise.p_value - 0.02).all()


def test_regions_are_runs_of_significant_alphas_with_one_winner():
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2)
    a, b = priori.epc(dev_a, test_a, points=6, name="A"), priori.epc(dev_b, test_b, points=6, name="B")
    found = priori.compare(a, b, n_resamples=100)
    difference = np.array([-1.0, -1.0, 2.0, 2.0, 1.0, -1.0])
    p_value = np.array([0.01, 0.01, 0.01, 0.5, 0.01, 0.01])
    made = replace(found, value_a=difference, value_b=np.zeros(6), pointwise=replace(found.pointwise, p_value=p_value))
    assert made.regions == (
        Region(0.0, 0.2, "A"),
        Region(0.4, 0.4, "B"),
        Region(0.8, 0.8, "B"),
        Region(1.0, 1.0, "A"),
    )
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
    sets = 400
    for seed in range(sets):
        a, b = null_curves(rng)
        common = {"n_resamples": 500, "rng": seed, "threads": 1}
        rejected["calibrated"] += priori.compare(a, b, **common).significant[0]
        rejected["sample"] += priori.compare(a, b, bootstrap="sample", interval="percentile", **common).significant[0]
    # 5 % of 400 is 20, with a standard deviation of 4.4.
    assert 8 <= rejected["calibrated"] <= 34
    assert rejected["sample"] > 60  # trials of one user are alike: drawn one by one they promise too much


def test_unpaired_systems_are_drawn_apart():
    rng = np.random.default_rng(0)
    a, b = (Scores.from_arrays(rng.normal(0, 1, n), rng.normal(2, 1, n)) for n in (300, 500))
    curves = [priori.epc(a, scores, alpha=[0.5], name=str(len(scores))) for scores in (a, b)]
    with pytest.raises(InputError, match="unpaired"):
        priori.compare(*curves, n_resamples=100)
    found = priori.compare(*curves, n_resamples=4000, unpaired=True)
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
        priori.compare(curve, priori.epc(dev, test, points=11, criterion="eer"), resample="both")
    with pytest.raises(OptionError, match="no prediction"):
        make_comparison(curve, curve, Resampling(promise="prediction"))
    with pytest.raises(OptionError, match="alternative"):
        priori.compare(curve, curve, alternative="better")


def test_a_comparison_can_be_kept_and_drawn(tmp_path):
    (dev_a, dev_b), (test_a, test_b) = two_systems(1), two_systems(2)
    a, b = priori.epc(dev_a, test_a, points=11, name="A"), priori.epc(dev_b, test_b, points=11, name="B")
    found = priori.compare(a, b, n_resamples=200)
    kept = found.to_dict()
    assert list(found.columns()) == [
        "alpha", "value_a", "value_b", "difference", "lower", "upper", "p_value", "significant",
    ]  # fmt: skip
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


# -- many systems ----------------------------------------------------------------------------------------------


def test_holm_is_what_the_definition_says():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert holm(p).tolist() == [0.03, 0.06, 0.06, 0.02]
    np.testing.assert_array_equal(holm(np.stack([p, p], axis=1))[:, 1], holm(p))


def test_systems_that_do_not_differ_share_a_letter():
    alike = np.eye(4, dtype=bool)
    for i, j in ((0, 1), (1, 2), (2, 3)):
        alike[i, j] = alike[j, i] = True
    assert _letters(alike) == ["a", "ab", "bc", "c"]


def test_every_pair_is_compared_and_adjusted():
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1], 400)
    curves = []
    for name, quality in (("poor", 0.5), ("good", 3.0), ("fair", 1.5)):
        dev, test = (Scores.from_predictions(label, rng.normal(quality * label)) for _ in range(2))
        curves.append(priori.epc(dev, test, points=5, name=name))
    seen = []
    ranking = priori.compare_all(curves, n_resamples=999, progress=lambda done, total: seen.append((done, total)))
    assert [place.name for place in ranking.places(0.5)] == ["good", "fair", "poor"]
    assert [place.groups for place in ranking.places()] == ["a", "b", "c"]
    assert seen[-1] == (3 * 999, 3 * 999)
    raw = np.stack([one.p_value for one in ranking.comparisons])
    np.testing.assert_array_equal(ranking.p_value, holm(raw))
    assert len(ranking.columns()["p_adjusted"]) == 15
    with pytest.raises(OptionError, match="name of its own"):
        priori.compare_all([curves[0], curves[0]])


def test_the_area_is_the_mean_over_the_alphas():
    alpha = np.array([0.5, 0.0, 1.0, 0.25])
    assert _shares(alpha) @ np.ones(4) == pytest.approx(1)
    assert _shares(alpha) @ alpha == pytest.approx(0.5)
