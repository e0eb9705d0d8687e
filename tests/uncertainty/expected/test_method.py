"""Expected values of systems as methods: against brute force, and what must not change them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

import priori
from priori.curves.epc import EPC
from priori.scores import Scores, Trials
from priori.scores.influence import People
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.expected.influences import Estimates, Units
from priori.uncertainty.expected.method import expected_values

ALPHAS = [0.1, 0.3, 0.5, 0.7, 0.9]


def _scores(seed: int, users: int, *, separation: float = 2.0, step: float = 0.0, prefix: str = "u", probes=False):
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), 9)
    label = np.tile([1, 1, 1, 0, 0, 0, 0, 0, 0], users)
    effect = 0.5 * rng.normal(size=(users, 2))
    score = rng.normal(size=user.size) + effect[user, label] + separation * label
    if step:
        score = np.round(score / step) * step
    names = np.array([f"{prefix}{code}" for code in user])
    options = {}
    if probes:
        other = np.where(label == 1, user, (user + 1 + np.arange(user.size) % (users - 1)) % users)
        options["probe_user"] = np.array([f"{prefix}{code}" for code in other])
    return Scores.from_predictions(label, score, user=names, **options)


def _curves(systems: int = 1, dev_users: int = 15, test_users: int = 20, **options) -> list[EPC]:
    devs = [_scores(s, dev_users, prefix="d", **options) for s in range(systems)]
    tests = [_scores(9 + s, test_users, prefix="t", **options) for s in range(systems)]
    return [priori.epc(dev, test, alpha=ALPHAS) for dev, test in zip(devs, tests, strict=True)]


def _estimates(curves: list[EPC], bootstrap: str | None = None, **options) -> Estimates:
    plan = Resampling(bootstrap, 100, "both", rng=3).settle(curves[0].dev, curves[0].test)
    return expected_values(curves, replace(plan, threads=1), **options)


def _users_drawn(scores: Scores, rng: np.random.Generator) -> tuple[Scores, np.ndarray]:
    """Draw users with all their trials, by hand."""
    users = scores.n_users
    times = np.bincount(rng.integers(0, users, users), minlength=users)
    parts = [np.repeat(trials.score, times[trials.user]) for trials in (scores.negative, scores.positive)]
    return Scores.from_arrays(*parts), times


def test_tied_scores_agree_with_resampling_by_hand() -> None:
    # Tied scores are not smoothed, so this is the plain bootstrap of the development users.
    (curve,) = _curves(step=0.5)
    estimates = _estimates([curve])
    rng = np.random.default_rng(5)
    values, times = [], []
    for _ in range(1500):
        drawn, multiplicity = _users_drawn(curve.dev, rng)
        values.append(priori.epc(drawn, curve.test, alpha=ALPHAS).value)
        times.append(multiplicity)
    by_hand, counts = np.array(values), np.array(times)
    error = by_hand.std(axis=0) / np.sqrt(1500) + by_hand.std(axis=0) / np.sqrt(1000)
    assert (np.abs(estimates.value[0] - by_hand.mean(axis=0)) < 4 * error + 1e-12).all()
    centred = by_hand - by_hand.mean(axis=0)
    influence = (counts - 1).T @ centred / 1500
    noise = 15 / 1500 * by_hand.var(axis=0)
    variance = 15 / 14 * ((influence**2).sum(axis=0) - noise)
    ours = (estimates.parts[1].influence[:, 0] ** 2).sum(axis=0)
    assert ours.sum() == pytest.approx(variance.sum(), rel=0.25)


def test_the_test_part_is_the_clustered_variance_where_thresholds_do_not_move() -> None:
    # Far apart on development data: every set chooses between the classes, where no test score lies either.
    dev = Scores.from_arrays([0.0] * 20, [10.0] * 20, negative_user=np.arange(20), positive_user=np.arange(20))
    test = _scores(1, 25, separation=2.0)
    shifted = Scores.from_arrays(
        np.where(test.negative.score > 1, 11.0, -1.0),
        np.where(test.positive.score > 1, 11.0, -1.0),
        negative_user=test.negative.user + 100,
        positive_user=test.positive.user + 100,
    )
    estimates = _estimates([priori.epc(dev, shifted, alpha=[0.5])])
    wrong = [shifted.negative.score > 5, shifted.positive.score < 5]
    residual = np.zeros(25)
    for errors, users in zip(wrong, (test.negative.user, test.positive.user), strict=True):
        residual += np.bincount(users, (errors - errors.mean()) / errors.size, 25) / 2
    assert estimates.value[0, 0] == pytest.approx(np.mean([errors.mean() for errors in wrong]))
    assert (estimates.parts[0].influence ** 2).sum() == pytest.approx(25 / 24 * (residual**2).sum(), rel=1e-4)
    assert np.allclose(estimates.parts[1].influence, 0)
    assert estimates.parts[0].degrees == pytest.approx([24])


def test_users_who_have_many_trials_count_for_few() -> None:
    codes = np.repeat(np.arange(4), [1, 2, 3, 4]).astype(np.int32)
    units = Units((People(codes, 4), People(np.repeat(codes, 2), 4)), np.array([0, 4]))
    assert units.sizes.tolist() == [[1, 2, 3, 4], [2, 4, 6, 8]]
    assert units.correction[:, 0] ** -2 == pytest.approx([0.9, 0.8, 0.7, 0.6])
    # Kish: 10^2 / (1 + 4 + 9 + 16), not twice as many because both classes have the same users.
    assert units.degrees(np.ones((4, 1, 1))) == pytest.approx([100 / 30 - 1])
    # Other users in the other class: Welch and Satterthwaite, for variances of 2 and 2 from two users each.
    apart = Units((People(np.repeat([0, 1], 5), 4), People(np.repeat([2, 3], 7), 4)), np.array([0, 4]))
    assert apart.degrees(np.ones((4, 1, 1))) == pytest.approx([4**2 / (2**2 / 2 + 2**2 / 2) - 1])


def test_a_rising_function_of_the_scores_changes_nothing() -> None:
    (curve,) = _curves()
    mapped = []
    for scores in (curve.dev, curve.test):
        users = [scores.users.values[trials.user] for trials in (scores.negative, scores.positive)]
        stretched = np.exp(3 * scores.negative.score), np.exp(3 * scores.positive.score)
        mapped.append(Scores.from_arrays(*stretched, negative_user=users[0], positive_user=users[1]))
    before, after = _estimates([curve]), _estimates([priori.epc(*mapped, alpha=ALPHAS)])
    assert np.array_equal(before.value, after.value)
    assert np.array_equal(before.parts[1].influence, after.parts[1].influence)


def test_a_custom_criterion_chooses_like_the_kernel() -> None:
    (curve,) = _curves()
    custom = priori.epc(
        curve.dev,
        curve.test,
        alpha=ALPHAS,
        criterion=lambda o, alpha: alpha * o.fp / o.negatives + (1 - alpha) * o.fn / o.positives,
    )
    assert _estimates([custom]).value == pytest.approx(_estimates([curve]).value, abs=2e-3)


@pytest.mark.parametrize("criterion", ["pr", "target-v1", "target-v2", "eer"])
def test_other_criteria(criterion: str) -> None:
    (curve,) = _curves(dev_users=60, test_users=60)
    task = "retrieval" if criterion == "pr" else "authentication"
    other = priori.epc(curve.dev, curve.test, alpha=ALPHAS, criterion=criterion, task=task)
    estimates = _estimates([other])
    spread = np.sqrt(estimates.contrast([1])[1])
    assert (np.abs(estimates.value[0] - other.value) < 3 * spread + 0.02).all()


def test_systems_drawn_apart_have_parts_of_their_own() -> None:
    curves = _curves(2)
    together, apart = _estimates(curves), _estimates(curves, unpaired=True)
    assert len(apart.parts) == 4
    difference, variance, _ = apart.contrast([1, -1])
    each = [apart.contrast(weights)[1] for weights in ([1, 0], [0, 1])]
    assert variance == pytest.approx(each[0] + each[1])
    assert difference == pytest.approx(together.contrast([1, -1])[0], abs=0.01)


def test_the_same_users_in_both_sets_make_one_part() -> None:
    curve = priori.epc(_scores(1, 20), _scores(1, 20), alpha=ALPHAS)
    (part,) = _estimates([curve]).parts
    assert part.influence.shape == (20, 1, 5)


@pytest.mark.parametrize("bootstrap", ["sample", "crossed"])
def test_other_bootstraps(bootstrap: str) -> None:
    curves = _curves(2, probes=bootstrap == "crossed", dev_users=30, test_users=30)
    estimates = _estimates(curves, bootstrap)
    for part in estimates.parts:
        # But for the correction of users with more trials than others.
        assert np.allclose(part.influence.sum(axis=0), 0, atol=1e-9 if bootstrap == "sample" else 1e-4)
        assert (part.influence**2).sum() > 0
    assert (estimates.contrast([1, -1])[1] < 0.1).all()


def test_any_number_of_threads_gives_the_same() -> None:
    curves = _curves(2)
    plan = Resampling(None, 100, "both", rng=3).settle(curves[0].dev, curves[0].test)
    first, second = (expected_values(curves, replace(plan, threads=threads)) for threads in (1, 3))
    assert np.array_equal(first.value, second.value)


def test_a_band_of_both_sets_is_the_interval_of_the_estimates() -> None:
    (curve,) = _curves(dev_users=40, test_users=40)
    band = curve.band(resample="both", n_resamples=500, rng=3, keep=True)
    value, variance, degrees = _estimates([curve]).contrast([1])
    assert np.array_equal(band.mean, value)
    reach = [t.ppf(0.975, df) for df in degrees] * np.sqrt(variance) / (value * (1 - value))
    by_hand = [1 / (1 + np.exp(-np.log(value / (1 - value)) - sign * reach)) for sign in (-1, 1)]
    # But for half an error in each class.
    assert band.lower == pytest.approx(by_hand[0], abs=0.012)
    assert band.upper == pytest.approx(by_hand[1], abs=0.012)
    wide = curve.band(resample="both", n_resamples=500, rng=3, simultaneous=True)
    assert (wide.lower < band.lower).all()
    assert (wide.upper > band.upper).all()
    assert band.replicates is not None
    assert band.replicates.std(axis=0) == pytest.approx(np.sqrt(variance), rel=0.15)


def test_no_error_seen_is_no_certainty() -> None:
    dev, test = (Scores.from_arrays(np.arange(200.0), 1000 + np.arange(200.0)) for _ in range(2))
    band = priori.epc(dev, test, alpha=[0.5]).band(resample="both")
    # The upper end of Jeffreys' 95 % interval for none of 200 is 1.2 %; for the mean of two such rates less.
    assert band.mean[0] < 0.003
    assert 0.003 < band.upper[0] < 0.02
    assert [note.code for note in band.warnings] == ["small-development", "same-data", "few-units"]


@pytest.mark.parametrize(("errors", "said"), [(4, True), (5, False)])
def test_fewer_than_five_development_errors_are_said(errors: int, said: bool) -> None:
    negatives = np.r_[np.arange(200.0 - errors), 5000 + np.arange(errors)]
    dev, test = (Scores.from_arrays(negatives + shift, 1000 + shift + np.arange(200.0)) for shift in (0.0, 0.25))
    warnings = priori.epc(dev, test, alpha=[0.5]).band(resample="both", n_resamples=200).warnings
    assert any(getattr(note, "code", "") == "small-development" for note in warnings) == said


def test_many_trials_are_drawn_as_histograms(monkeypatch: pytest.MonkeyPatch) -> None:
    curves = _curves(2, dev_users=150, test_users=150)
    by_trial = _estimates(curves)
    monkeypatch.setattr("priori.uncertainty.expected.smoothed_sets.MANY", 0)
    by_histogram = _estimates(curves)
    (one, variance, _), (other, again, _) = (each.contrast([1, -1]) for each in (by_trial, by_histogram))
    assert other == pytest.approx(one, abs=0.5 * np.sqrt(variance.min()))
    assert np.sqrt(again) == pytest.approx(np.sqrt(variance), rel=0.25)


def test_counts_by_user_agree_with_the_trials() -> None:
    (curve,) = _curves(step=0.25, dev_users=60, test_users=60)
    counted = replace(curve, dev=_counted(curve.dev), test=_counted(curve.test))
    assert _estimates([counted]).value == pytest.approx(_estimates([curve]).value, abs=0.01)


def _counted(scores: Scores) -> Scores:
    classes = []
    for trials in (scores.negative, scores.positive):
        pairs, number = np.unique(np.column_stack([trials.user, trials.score]), axis=0, return_counts=True)
        classes.append(Trials(pairs[:, 1].copy(), pairs[:, 0].astype(np.int32), number=number))
    return Scores(*classes, users=scores.users)


def test_cautions_say_where_nothing_holds() -> None:
    (few,) = _curves(dev_users=8)
    few = few.at([0, 0.5])
    assert [note.code for note in _estimates([few]).warnings] == ["few-dev-users", "ends"]
    (many,) = _curves(dev_users=40)
    assert _estimates([many]).warnings == ()


def test_infinite_scores_stay_where_they_are() -> None:
    dev, test = _scores(1, 30, prefix="d"), _scores(2, 30, prefix="t")
    replaced = []
    for scores in (dev, test):
        score = scores.negative.score.copy()
        score[:20] = -np.inf
        replaced.append(replace(scores, negative=replace(scores.negative, score=score)))
    estimates = _estimates([priori.epc(*replaced, alpha=ALPHAS)])
    assert np.isfinite(estimates.value).all()
    assert (np.abs(estimates.value - priori.epc(*replaced, alpha=ALPHAS).value) < 0.1).all()


def test_unequal_users_are_said() -> None:
    def made(sizes: list[int], seed: int) -> Scores:
        rng = np.random.default_rng(seed)
        user = np.repeat(np.arange(len(sizes)), sizes)
        label = np.tile([0, 1], user.size)[: user.size]
        return Scores.from_predictions(label, rng.normal(2 * label), user=np.char.add(f"{seed}-", user.astype(str)))

    for sizes, unequal in (([20] * 40, False), ([2] * 38 + [300, 300], True)):
        curve = priori.epc(made(sizes, 1), made([20] * 40, 2), alpha=[0.5])
        codes = {caution.code for caution in curve.band(resample="both", n_resamples=200).warnings}
        assert ("few-units" in codes) == unequal


@pytest.mark.parametrize("seed", range(4))
def test_systems_with_different_numbers_of_scores(seed: int) -> None:
    # Few scores are cells of their own, more for one system than for the other; at alpha 1 everything is rejected.
    rng = np.random.default_rng(seed)
    label, noise = np.repeat([0, 1], 60), rng.normal(size=120)
    curves = []
    for digits in (1, 0):
        scores = Scores.from_predictions(label, np.round(noise + label, digits), user=np.tile(range(6), 20))
        curves.append(priori.epc(scores, scores, alpha=[0.5, 1]))
    together, alone = _estimates(curves), _estimates(curves[1:])
    assert together.value[1] == pytest.approx(alone.value[0], abs=0.02)
