"""Calibration: the variances it rests on, and whether bands keep their promise where plain ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

import priori
from priori import Scores
from priori.base.errors import OptionError
from priori.uncertainty.bootstrap.calibration import clusters_of
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.bootstrap.streams import uniforms
from priori.uncertainty.rates.proportions import normal_of
from random_numbers import uniforms_of


def test_arrays_of_random_numbers_are_those_of_the_streams():
    found = np.empty((4, 3))
    uniforms(12, 5, 100, found)
    for row in range(4):
        np.testing.assert_array_equal(found[row], uniforms_of(12, 5, 100 + row, 3))


def crossed(rng: np.random.Generator, people: int = 8, probes: int = 2) -> Scores:
    claimed, real = (column.ravel() for column in np.meshgrid(*[np.arange(people)] * 2))
    claimed, real = np.repeat(claimed, probes), np.repeat(real, probes)
    effect = rng.normal(0, 0.7, people)
    score = np.round(rng.normal(2.0 * (claimed == real)) + effect[claimed] + effect[real], 1)
    return Scores.from_predictions((claimed == real).astype(int), score, user=claimed, probe_user=real)


def test_two_way_variance_is_the_sum_over_all_pairs_of_trials_that_share_an_identity():
    scores = crossed(np.random.default_rng(0))
    thresholds = np.array([1.0, -0.3, 2.2, 1.0])
    found = clusters_of(scores, thresholds, Resampling(bootstrap="crossed").settle(None, scores))
    negative = scores.negative
    for k, threshold in enumerate(thresholds):
        off = (negative.score > threshold) - np.mean(negative.score > threshold)
        same = lambda a, b: a[:, None] == b[None, :]  # noqa: E731
        a, b = negative.user, negative.probe_user
        sharing = same(a, a) | same(b, b) | same(a, b) | same(b, a)
        both = (same(a, a) & same(b, b)) | (same(a, b) & same(b, a))
        n, left = len(negative), 1 - sharing.mean()
        own_left = 1 - np.mean(same(scores.positive.user, scores.positive.user))
        assert left * (found.by_person[0, k] - found.by_pair[0, k]) == pytest.approx(
            (np.outer(off, off) * sharing).sum() / n**2
        )
        assert left * found.by_pair[0, k] == pytest.approx((np.outer(off, off) * both).sum() / n**2)
        wrong = scores.positive.score <= threshold
        own = [(wrong[scores.positive.user == u] - wrong.mean()).sum() for u in range(8)]
        assert own_left * found.variance[1, k] == pytest.approx(np.dot(own, own) / wrong.size**2)


def test_the_difference_of_two_systems_flocks_by_its_own_variance():
    rng = np.random.default_rng(1)
    a = crossed(rng)
    b = Scores.from_predictions(
        np.repeat([0, 1], [len(a.negative), len(a.positive)]),
        np.concatenate([a.negative.score, a.positive.score]) + np.round(rng.normal(size=len(a)), 1),
        user=np.concatenate([a.negative.user, a.positive.user]),
        probe_user=np.concatenate([a.negative.probe_user, a.positive.probe_user]),
    )
    at_a, at_b = np.array([1.0, 0.0]), np.array([0.5, 0.2])
    plan = Resampling(bootstrap="user").settle(None, a)
    found = clusters_of(a, at_a, plan, other=(b, at_b))
    for k in range(2):
        difference = (a.negative.score > at_a[k]) * 1.0 - (b.negative.score > at_b[k])
        assert found.value[0, k] == pytest.approx(difference.mean())
        own = [(difference[a.negative.user == u] - difference.mean()).sum() for u in range(8)]
        size = np.bincount(a.negative.user)
        assert found.variance[0, k] == pytest.approx(np.dot(own, own) / (size.sum() ** 2 - size @ size))


def test_tails_and_p_values_belong_together():
    scores = crossed(np.random.default_rng(0))
    calibration = Resampling(bootstrap="user").settle(None, scores).calibration(scores, np.array([1.0]))
    assert calibration.level(0.95) > 0.98  # eight users
    for level in (0.5, 0.9, 0.95, 0.99):
        assert 2 * calibration.tail(np.array((1 - calibration.level(level)) / 2)) == pytest.approx(1 - level)
        reached = calibration.reach(1 + level) / calibration.lost
        assert normal_of(reached, calibration.freedom) == pytest.approx(1 + level)
    plain = Resampling(bootstrap="sample").settle(None, scores).calibration(scores, np.array([1.0]))
    assert plain.level(0.95) == pytest.approx(0.95)


def unequal(positives: list[int], negatives: list[int], seed: int = 0) -> Scores:
    """Users with so many trials of each class, and normal scores."""
    rng = np.random.default_rng(seed)
    names = [np.repeat(np.arange(len(sizes)), sizes) for sizes in (negatives, positives)]
    score = [rng.normal(shift, 1, who.size) + rng.normal(0, 0.6, 300)[who] for shift, who in zip((0, 2), names)]  # noqa: B905
    return Scores.from_arrays(*score, negative_user=names[0], positive_user=names[1])


def test_tails_follow_the_effective_users_of_each_class_by_their_share_of_the_variance():
    scores = unequal([30, 5, 5, 5, 5, 0, 0, 0], [2, 4, 6, 8, 10, 12, 14, 16])
    size = {0: np.arange(2, 18, 2.0), 1: np.array([30, 5, 5, 5, 5.0])}
    kish = np.array([sizes.sum() ** 2 / (sizes**2).sum() for sizes in size.values()])
    at = np.array([0.5, 1.5])
    for measure, weights in (("far", (1, 0)), ("frr", (0, 1)), ("hter", (1, 1)), ("wer", None)):
        curve = priori.epc(scores, scores, alpha=[0.2, 0.7], measure=measure)
        plan = Resampling(bootstrap="user").settle(None, scores, curve)
        calibration = plan.calibration(scores, at)
        for k, threshold in enumerate(at):
            shares = []
            for c, (trials, weight) in enumerate(zip((scores.negative, scores.positive), weights or (), strict=False)):
                wrong = (trials.score > threshold) == (c == 0)
                own = [(wrong[trials.user == u] - wrong.mean()).sum() for u in range(8)]
                shares.append(weight * np.dot(own, own) / (size[c].sum() ** 2 - size[c] @ size[c]))
            if weights is None:  # alpha weighs FAR, the rest FRR
                other = Resampling(bootstrap="user").settle(None, scores, priori.epc(scores, scores, measure="hter"))
                variance = other.calibration(scores, at).spread.variance[:, k]
                shares = variance * np.array([[0.2, 0.8], [0.7, 0.3]][k]) ** 2
            shares = np.asarray(shares)
            wanted = min(shares.sum() ** 2 / (shares**2 / (kish - 1)).sum(), 7)
            assert calibration.units[k] == pytest.approx(wanted, rel=1e-6)
            assert calibration.freedom[k] <= calibration.units[k]
            t = stats.t.ppf(0.975, calibration.freedom[k]) * np.sqrt((wanted + 1) / wanted)
            assert calibration.reach(ndtri(0.975))[k] == pytest.approx(t)
            assert calibration.level(0.95)[k] == pytest.approx(1 - 2 * stats.norm.sf(t))
    assert calibration.overall.freedom == [np.median(calibration.freedom)]
    nothing_known = Resampling(bootstrap="user").settle(None, scores).calibration(scores, at)
    np.testing.assert_allclose(nothing_known.units, kish.min() - 1)


def test_the_difference_of_two_systems_has_the_freedom_of_its_own_variance():
    a, b = unequal([30, 5, 5, 5, 5], [2, 4, 6, 8, 10]), unequal([30, 5, 5, 5, 5], [2, 4, 6, 8, 10], seed=1)
    curve = priori.epc(a, a, alpha=[0.5])
    plan = Resampling(bootstrap="user").settle(None, a, curve)
    found = plan.design.calibrate(a, np.array([1.0]), plan, other=(b, np.array([0.8])))
    variance, freedom = [], []
    for c, (of_a, of_b) in enumerate(((a.negative, b.negative), (a.positive, b.positive))):
        wrong = ((of_a.score > 1.0) == (c == 0)) * 1.0 - ((of_b.score > 0.8) == (c == 0))
        own = np.array([(wrong[of_a.user == u] - wrong.mean()).sum() for u in range(5)])
        size = np.bincount(of_a.user)
        variance.append(own @ own / (size.sum() ** 2 - size @ size))
        freedom.append(size.sum() ** 2 / (size @ size) - 1)
        differing = np.array([abs(wrong[of_a.user == u].sum()) for u in range(5)])
        assert found.spread.erring[c, 0] == pytest.approx(differing.sum() ** 2 / (differing @ differing))
    np.testing.assert_allclose(found.spread.variance[:, 0], variance)
    wanted = sum(variance) ** 2 / sum(v**2 / f for v, f in zip(variance, freedom, strict=True))
    assert found.units[0] == pytest.approx(min(wanted, 4), rel=1e-6)
    assert found.freedom[0] <= found.units[0]
    assert not found.weight.any()


def test_few_erring_users_get_a_pseudo_user():
    """62 users of 96 impostor trials: nobody errs; one does, once; ten do, all alike."""
    users = np.repeat(np.arange(62), 96)
    genuine = np.linspace(2, 3, 62)
    for erring, weight in ((0, 96), (1, 48), (3, 24), (10, 96 / 11)):
        score = np.where((users < erring) & (np.arange(users.size) % 96 == 0), 1.5, 0.0)
        scores = Scores.from_arrays(score, genuine, negative_user=users, positive_user=np.arange(62))
        curve = priori.epc(Scores.from_arrays([0.0], [2.0]), scores, alpha=[0.5], measure="far")
        plan = Resampling().settle(None, scores, curve)
        assert plan.calibration(scores, curve.threshold).weight[0, 0] == pytest.approx(weight)
        band = curve.band(n_resamples=4000)
        rate = priori.rate_interval(scores, float(curve.threshold[0]))
        assert rate.design_effect == pytest.approx(weight)
        assert {line.code for line in rate.warnings} == ({"no-errors"} if not erring else _few(erring))
        codes = {warning.code for warning in {*band.warnings} - {*curve.warnings}}
        assert codes == ({"no-errors"} if not erring else _few(erring))
        # Jeffreys' for half a user of 62 and Wilson's for none: of one size.
        assert 0.5 < band.upper[0] / rate.upper < 1.2


def test_one_user_who_makes_most_of_the_errors_is_few():
    """62 users: twelve err, the first of them in 80 of his 96 trials, the others once."""
    users = np.repeat(np.arange(62), 96)
    number = np.arange(users.size) % 96
    wrong = (number == 0) & (users < 12) | (users == 0) & (number < 80)
    scores = Scores.from_arrays(
        np.where(wrong, 1.5, 0.0), np.linspace(2, 3, 62), negative_user=users, positive_user=np.arange(62)
    )
    curve = priori.epc(Scores.from_arrays([0.0], [2.0]), scores, alpha=[0.5], measure="far")
    said = [curve.band(n_resamples=100), priori.rate_interval(scores, float(curve.threshold[0]))]
    # Kish: 91^2 / (80^2 + 11) is 1.3.
    for result in said:
        (found,) = (line for line in result.warnings if line.code == "few-units")
        assert "come from effectively 1.3 of 62 users" in found


def _few(erring: int) -> set[str]:
    return {"few-units"} if erring < 7.5 else set()


def test_no_error_among_62_users_is_bounded_by_the_users_and_not_by_the_trials():
    users = np.repeat(np.arange(62), 96)
    scores = Scores.from_arrays(0.0 * users, np.full(62, 2.0), negative_user=users, positive_user=np.arange(62))
    band = priori.epc(Scores.from_arrays([0.0], [2.0]), scores, alpha=[0.5], measure="far").band(n_resamples=20_000)
    # Jeffreys' limit for 0 of 62 at the level that 61 degrees of freedom ask for; about 1/96 of it before.
    level = 1 - stats.norm.sf(stats.t.ppf(0.975, 61) * np.sqrt(62 / 61))
    assert band.upper[0] == pytest.approx(stats.beta.ppf(level, 0.5, 62.5), rel=0.05)


def test_unequal_users_and_users_of_one_class_are_said():
    few = unequal([40] * 3 + [0] * 27, [10] * 30)
    curve = priori.epc(few, few, alpha=[0.5])
    (said,) = (line for line in curve.band(n_resamples=20).warnings if line.code == "few-units")
    assert "among the positives at alpha 0.5 come from effectively 2.8 of 30 users" in said
    assert "few-units" not in {line.code for line in curve_of(unequal([9] * 30, [10] * 30)).warnings}


def test_a_band_does_not_speak_of_errors_that_do_not_matter_to_it():
    """Of 30 users, one makes all false rejections at alpha 1/2; false acceptances come from all of them."""
    user = np.repeat(np.arange(30), 10)
    negative = np.where(np.arange(300) % 10 < 3, 1.5, 0.0)
    positive = np.where((user == 0) & (np.arange(300) < 8), 0.5, 2.0)
    scores = Scores.from_arrays(negative, positive, negative_user=user, positive_user=user)
    dev = Scores.from_arrays([0.0], [2.0])
    for measure, said in (("far", False), ("frr", True)):
        curve = priori.epc(dev, scores, alpha=[0.5], measure=measure)
        assert "few-units" in {line.code for line in curve.warnings}
        assert ("few-units" in {line.code for line in curve.band(n_resamples=20).warnings}) == said


def curve_of(scores: Scores) -> priori.Band:
    return priori.epc(scores, scores, alpha=[0.5]).band(n_resamples=20)


def test_pseudo_trials_weigh_half_an_error_and_do_not_depend_on_the_batch():
    scores = crossed(np.random.default_rng(0))
    curve = priori.epc(scores, scores, alpha=[0.5], measure="far")
    curve = priori.epc(scores, scores, alpha=[0.5], measure="frr")
    options = {"bootstrap": "sample", "n_resamples": 4000, "keep": True}
    adjusted = curve.band(**options).replicates
    plain = curve.band(interval="percentile", **options).replicates
    errors, trials = len(scores.positive) * curve.value[0], len(scores.positive)
    assert adjusted.mean() == pytest.approx((errors + 0.5) / (trials + 1), abs=0.01)
    assert plain.mean() == pytest.approx(curve.value[0], abs=0.01)
    np.testing.assert_array_equal(curve.band(threads=1, **options).replicates, adjusted)


def test_no_error_seen_is_not_no_error_possible():
    test = Scores.from_arrays(np.linspace(0, 1, 300), np.linspace(2, 3, 100))
    band = priori.epc(test, test, alpha=[0.5], measure="frr").band(n_resamples=4000)
    assert band.lower[0] == pytest.approx(0, abs=1e-3)
    assert 0.015 < band.upper[0] < 0.05  # Jeffreys: 0.025; the rule of three: 0.03
    plain = priori.epc(test, test, alpha=[0.5], measure="frr").band(n_resamples=400, interval="percentile")
    assert plain.width[0] == 0


@pytest.mark.parametrize(("bootstrap", "interval"), [("joint", "calibrated"), ("user-constrained", "calibrated")])
def test_only_what_can_be_calibrated_is(bootstrap, interval):
    curve = priori.epc(crossed(np.random.default_rng(0)), crossed(np.random.default_rng(1)), alpha=[0.5])
    with pytest.raises(OptionError, match="choose percentile"):
        curve.band(bootstrap=bootstrap, interval=interval)
    assert curve.band(bootstrap=bootstrap, n_resamples=10).settings["interval"] == "percentile"


# -- promises, measured ------------------------------------------------------------------------------------------


def population(rng: np.random.Generator, users: int, name: str, spread: float = 0.6) -> Scores:
    """Users with 8 genuine and 30 impostor trials each, shifted by effects of their own."""
    columns = []
    for size in (30, 8):
        columns += [rng.normal(0, 1, users * size) + np.repeat(rng.normal(0, spread, users), size)]
    names = np.char.add(name, np.arange(users).astype(str))
    return Scores.from_arrays(
        columns[0], columns[1] + 2, negative_user=np.repeat(names, 30), positive_user=np.repeat(names, 8)
    )


def coverage(trials: int, users: int, **options):
    """Return the mean share of alphas at which the population's curve is covered, and the mean width."""
    rng = np.random.default_rng(5)
    scale = np.sqrt(1 + 0.6**2)
    found = []
    for seed in range(trials):
        dev, test = population(rng, users, "d"), population(rng, users, "t")
        curve = priori.epc(dev, test, alpha=[0.2, 0.5, 0.8])
        truth = (1 - ndtr(curve.threshold / scale) + ndtr((curve.threshold - 2) / scale)) / 2
        band = curve.band(n_resamples=500, rng=seed, threads=1, **options)
        found.append((band.covers(truth), band.expected_width))
    return np.mean(found, axis=0)


def test_confidence_bands_cover_the_population_and_are_narrower_than_the_joint_bootstrap():
    sample, _ = coverage(300, 20, bootstrap="sample", interval="percentile")
    calibrated, width = coverage(300, 20)
    joint, joint_width = coverage(300, 20, bootstrap="joint")
    # 300 sets, three correlated alphas: a standard error of about one point.
    assert sample < 0.85
    assert 0.92 < calibrated < 0.98
    assert joint > calibrated - 0.01
    assert width < joint_width
