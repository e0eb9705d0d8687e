"""Bands around ROC curves, and around rates at fixed thresholds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

import brute
import priori
from four_users import small
from priori import OptionError, Scores
from priori.curves.averaging.curves import heights
from priori.curves.averaging.methods import Axis
from priori.uncertainty.bootstrap import layout
from priori.uncertainty.bootstrap.readers import along_the_roc, gather
from priori.uncertainty.bootstrap.resampling import Resampling

VERTICAL = Axis(cosine=1.0, sine=0.0)


def _heights(scores, rates, plan):
    batch, rows = along_the_roc(scores, rates, plan)
    return gather(batch, plan.n_resamples, rows, plan)


@pytest.mark.parametrize("bootstrap", ["sample", "user", "joint", "crossed"])
def test_the_heights_of_replicates_are_those_of_their_own_curves(bootstrap):
    scores = small(2)
    at = tuple(priori.base.alphas.grid(9))
    found = _heights(
        scores, at, Resampling(bootstrap=bootstrap, n_resamples=4000, interval="percentile").settle(None, scores)
    )
    drawn = brute.weights(scores, bootstrap, np.random.default_rng(0), 1500)
    expected = []
    for negative, positive in zip(*drawn, strict=True):
        if negative.any() and positive.any():
            one = Scores.from_arrays(
                np.repeat(scores.negative.score, negative), np.repeat(scores.positive.score, positive)
            )
            expected.append(heights(one, np.linspace(0, 1, 9), VERTICAL))
    for mine, other in zip(found.T, np.array(expected).T, strict=True):
        assert stats.ks_2samp(mine, other).pvalue > 1e-3


@pytest.mark.parametrize("bootstrap", ["sample", "user", "crossed"])
def test_narrow_bins_give_the_heights_of_all_scores(monkeypatch, bootstrap):
    """To within what lies in a bin: the draw of users is the same."""
    rng = np.random.default_rng(2)
    label, user = (rng.random(3000) < 0.3).astype(int), rng.integers(0, 20, 3000)
    probe = np.where(label, user, rng.integers(0, 20, 3000))
    score = rng.normal(2 * label)
    score[::20], score[7::20] = -np.inf, np.inf
    scores = Scores.from_predictions(label, score, user=user, probe_user=probe)
    at = tuple(priori.base.alphas.grid(23))
    plan = Resampling(bootstrap=bootstrap, n_resamples=1000, interval="percentile").settle(None, scores)
    exact = _heights(scores, at, plan)
    monkeypatch.setattr(layout, "DISTINCT", 100)
    monkeypatch.setattr(layout, "BOUND", 0.005)
    found = _heights(scores, at, plan)
    if bootstrap == "sample":
        found, exact = (np.quantile(each, [0.05, 0.5, 0.95], axis=0) for each in (found, exact))
    np.testing.assert_allclose(found, exact, atol=0.01 if bootstrap == "user" else 0.02)


@pytest.mark.parametrize("shared", [False, True])
def test_heights_have_the_distribution_of_all_bootstrap_samples(shared):
    """Every one of the 3^3 x 2^2 samples is equally likely."""
    scores = Scores.from_arrays([0.1, 0.5, 0.9], [0.5 if shared else 0.6, 1.0])
    at = (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1))
    plan = Resampling(bootstrap="sample", n_resamples=40_000, interval="percentile").settle(None, scores)
    expected: Counter[tuple[float, ...]] = Counter()
    for negative in product(scores.negatives, repeat=3):
        for positive in product(scores.positives, repeat=2):
            curve = heights(Scores.from_arrays(negative, positive), np.array([float(rate) for rate in at]), VERTICAL)
            expected[tuple(curve.round(9))] += 1
    found = Counter(map(tuple, _heights(scores, at, plan).round(9)))
    assert set(found) == set(expected)
    counts = [[column[curve] for curve in expected] for column in (found, expected)]
    assert stats.chisquare(counts[0], np.array(counts[1]) / sum(counts[1]) * 40_000).pvalue > 1e-3


def test_a_roc_band_is_a_det_band_turned_round():
    band = priori.roc(small(2)).band(fpr=[0.5, 0.1], n_resamples=500)
    assert band.fpr.tolist() == [0.1, 0.5]
    assert band.settings["bootstrap"] == "user"
    np.testing.assert_allclose(band.det["upper"], 1 - band.lower)
    np.testing.assert_array_equal(band.tpr, heights(small(2), band.fpr, VERTICAL))
    with pytest.raises(TypeError, match=r"band\(\) got an unexpected keyword argument 'resample'"):
        priori.roc(small(2)).band(resample="both")


def test_a_roc_band_covers_the_population():
    rng = np.random.default_rng(0)
    at = np.array([0.05, 0.2, 0.5])
    truth = 1 - ndtr(ndtri(1 - at) - 1.5)
    inside = []
    for seed in range(300):
        scores = Scores.from_arrays(rng.normal(0, 1, 150), rng.normal(1.5, 1, 100))
        band = priori.roc(scores).band(fpr=at.tolist(), n_resamples=400, rng=seed, threads=1)
        inside.append((band.lower <= truth) & (truth <= band.upper))
    assert 0.92 < np.mean(inside) < 0.98


@pytest.mark.parametrize("weight", [1, 4])
def test_low_rates_have_the_bounds_of_order_statistics(weight):
    """The same by drawing: how many negatives lie beyond the threshold, and a TPR from Jeffreys' distribution."""
    rng = np.random.default_rng(5)
    negatives, positives = rng.normal(0, 1, 400), rng.normal(2, 1, 200)
    user = np.arange(400) // weight
    scores = Scores.from_arrays(negatives, positives)
    if weight > 1:  # every trial of a user is the same: one decision
        negatives, positives = np.repeat(negatives[::weight], weight), np.repeat(positives[::weight], weight)
        users = {"negative_user": user, "positive_user": user[:200] + 1000}
        scores = Scores.from_arrays(negatives, positives, **users)
    band = priori.roc(scores).band(fpr=["0.0025", "0.01", "0.2"], n_resamples=400, confidence_level=0.9)
    assert [caution.code for caution in band.warnings] == ["low-fpr"]
    descending = np.append(np.inf, np.sort(negatives)[::-1])
    for place, rate in enumerate((0.0025, 0.01)):
        beyond = rng.binomial(400 // weight, rate, 200_000) * weight
        strict, lax = (np.array([np.sum(positives > t) for t in descending])[k] for k in (beyond, beyond + weight))
        draws = [rng.beta(k / weight + 0.5, (200 - k) / weight + 0.5) for k in (strict, lax)]
        low, high = np.quantile(np.where(beyond == 0, 0.0, draws[0]), 0.05), np.quantile(draws[1], 0.95)
        # Users' design effect is U/(U-1) of what it would be, so ranks may differ by one trial.
        assert [band.lower[place], band.upper[place]] == pytest.approx([low, high], abs=0.006 if weight == 1 else 0.03)
    plain = priori.roc(scores).band(fpr=["0.2"], n_resamples=400, confidence_level=0.9)
    assert [plain.lower[0], plain.upper[0]] == pytest.approx([band.lower[2], band.upper[2]], abs=0.02)
    assert plain.warnings == ()


def test_rates_below_one_of_all_negatives_are_refused():
    rng = np.random.default_rng(6)
    scores = Scores.from_arrays(rng.normal(0, 1, 250), rng.normal(2, 1, 100))
    for rate in ("0.0039", "0"):
        with pytest.raises(OptionError, match=r"with 250 negatives the lowest rate is 1/250 = 0\.004"):
            priori.roc(scores).band(fpr=["0.1", rate], n_resamples=200)
    assert priori.roc(scores).band(n_resamples=200, points=1001).fpr[0] == 0.004
    assert priori.roc(scores).band(n_resamples=200).fpr[:2].tolist() == [0.01, 0.02]
    percentile = priori.roc(scores).band(fpr=["0.004"], n_resamples=200, interval="percentile")
    assert "interval='calibrated'" in percentile.warnings[0]


def test_low_rates_cover_even_what_no_negative_showed():
    """One negative in 500 is a far outlier: at a rate of 1/1000 the threshold lies among those, mostly unseen."""
    rng = np.random.default_rng(7)
    inside = []
    for seed in range(60):
        negatives = rng.normal(0, 1, 200) + 10 * (rng.random(200) < 0.002)
        band = priori.roc(Scores.from_arrays(negatives, rng.normal(4, 1, 100))).band(
            fpr=["0.005"], n_resamples=200, rng=seed
        )
        inside.append(band.lower[0] <= ndtr(4 - 2.88) <= band.upper[0])
    assert np.mean(inside) > 0.9


def test_where_nothing_was_missed_nothing_need_be() -> None:
    rng = np.random.default_rng(4)
    user = np.repeat(np.arange(20), 10)
    scores = priori.Scores.from_arrays(
        rng.normal(size=200), rng.normal(4, 0.5, 200), negative_user=user, positive_user=user
    )
    band = priori.roc(scores).band(fpr=[0.1, 0.5], n_resamples=500)
    assert band.tpr.tolist() == [1.0, 1.0]
    assert band.upper.tolist() == [1.0, 1.0]
    assert (band.lower < 1).all()


def test_low_rates_are_those_of_few_independent_negatives():
    """Of 400 negatives, 100 independent ones, 3 in a hundred are 3; the positives are all independent."""
    rng = np.random.default_rng(5)
    negatives, positives = np.repeat(rng.normal(0, 1, 100), 4), rng.normal(2, 1, 200)
    users = {"negative_user": np.arange(400) // 4, "positive_user": 1000 + np.arange(200)}
    for rate, said in (("0.03", True), ("0.2", False)):
        band = priori.roc(Scores.from_arrays(negatives, positives, **users)).band(fpr=[rate], n_resamples=400)
        assert ("low-fpr" in [caution.code for caution in band.warnings]) == said


@pytest.mark.parametrize("weighted", ["negative", "positive"])
def test_weights_of_one_class_are_repeated_trials(weighted):
    rng = np.random.default_rng(8)
    classes = {"negative": rng.normal(0, 1, 40), "positive": rng.normal(1.5, 1, 40)}
    weights = {f"{weighted}_weight": np.arange(40) % 3 + 1}
    repeated = {**classes, weighted: np.repeat(classes[weighted], np.arange(40) % 3 + 1)}
    sets = [priori.Scores.from_arrays(*each.values(), **more) for each, more in ((classes, weights), (repeated, {}))]
    bands = [priori.roc(scores).band(points=5, n_resamples=400) for scores in sets]
    assert bands[0].lower == pytest.approx(bands[1].lower, abs=0.03)
    assert bands[0].upper == pytest.approx(bands[1].upper, abs=0.03)


@pytest.mark.parametrize("prior", [None, "0.1"])
@pytest.mark.parametrize("by_user", [False, True])
def test_a_band_of_precision_is_that_of_the_false_positive_rate_at_each_recall(prior, by_user):
    rng = np.random.default_rng(3)
    user = {"negative_user": np.arange(90) % 15, "positive_user": np.arange(60) % 15} if by_user else {}
    negatives, positives = rng.normal(0, 1, 90), rng.normal(1, 1, 60)
    scores = Scores.from_arrays(negatives, positives, **user)
    band = priori.precision_band(scores, recall=[0.9, 0.2, 0.5], prior=prior, n_resamples=300, interval="percentile")
    share = 0.4 if prior is None else 0.1
    assert band.recall.tolist() == [0.2, 0.5, 0.9]
    # The lowest threshold with this recall, on the scores themselves: the 12th, 30th and 54th positive from above.
    for place, rank in enumerate((12, 30, 54)):
        far = (negatives > np.sort(positives)[::-1][rank - 1]).mean()
        recall = rank / 60
        assert band.precision[place] == pytest.approx(share * recall / (share * recall + (1 - share) * far))
    ends = []
    for seed in range(400):
        own = np.random.default_rng(seed)
        drawn = own.integers(0, 15, 15)
        taken = [
            np.concatenate([np.flatnonzero(user[name] == one) for one in drawn]) if by_user else own.integers(0, n, n)
            for name, n in (("negative_user", 90), ("positive_user", 60))
        ]
        lows, highs = negatives[taken[0]], np.sort(positives[taken[1]])[::-1]
        fars = np.array([(lows > highs[rank - 1]).mean() for rank in (12, 30, 54)])
        ends.append(share * band.recall / (share * band.recall + (1 - share) * fars))
    lower, upper = np.quantile(ends, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(band.lower, lower, atol=0.04)
    np.testing.assert_allclose(band.upper, upper, atol=0.04)


def test_a_band_of_precision_covers_the_population():
    rng, recall = np.random.default_rng(0), np.array([0.2, 0.5, 0.8, 0.95])
    far = 1 - ndtr(1.5 + ndtri(1 - recall))
    truth = 0.4 * recall / (0.4 * recall + 0.6 * far)
    inside = []
    for seed in range(300):
        scores = Scores.from_arrays(rng.normal(0, 1, 150), rng.normal(1.5, 1, 100))
        band = priori.precision_band(scores, recall=recall.tolist(), n_resamples=400, rng=seed, threads=1)
        inside.append((band.lower <= truth) & (truth <= band.upper))
    assert 0.92 < np.mean(inside) < 0.985


def test_recalls_without_a_band_are_refused_and_few_misses_are_said():
    scores = small(2)
    with pytest.raises(OptionError, match=r"recalls above 0 and up to 0\.9, one miss"):
        priori.precision_band(scores, recall=[0.5, 1])
    found = priori.precision_band(scores, recall=[0.9], n_resamples=50)
    assert next(str(caution) for caution in found.warnings if caution.code == "low-fpr").startswith(
        "at most 5 positives missed from a recall of 0.9 on"
    )
