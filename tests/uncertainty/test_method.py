"""Expected values of systems as methods: against brute force, and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori.curves.epc import EPC
from priori.scores import Scores
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.estimates import Estimates
from priori.uncertainty.method import expected_values

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
    return expected_values(curves, plan, threads=1, **options)


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
        np.where(test.negative.score > 1, 11.0, -1.0), np.where(test.positive.score > 1, 11.0, -1.0),
        negative_user=test.negative.user + 100, positive_user=test.positive.user + 100,
    )  # fmt: skip
    estimates = _estimates([priori.epc(dev, shifted, alpha=[0.5])])
    wrong = [shifted.negative.score > 5, shifted.positive.score < 5]
    residual = np.zeros(25)
    for errors, users in zip(wrong, (test.negative.user, test.positive.user), strict=True):
        residual += np.bincount(users, (errors - errors.mean()) / errors.size, 25) / 2
    assert estimates.value[0, 0] == pytest.approx(np.mean([errors.mean() for errors in wrong]))
    assert (estimates.parts[0].influence ** 2).sum() == pytest.approx(25 / 24 * (residual**2).sum(), rel=1e-4)
    assert np.allclose(estimates.parts[1].influence, 0)
    assert estimates.parts[0].degrees == pytest.approx([24])


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
        curve.dev, curve.test, alpha=ALPHAS,
        criterion=lambda o, alpha: alpha * o.fp / o.negatives + (1 - alpha) * o.fn / o.positives,
    )  # fmt: skip
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
        assert np.allclose(part.influence.sum(axis=0), 0, atol=1e-9)
        assert (part.influence**2).sum() > 0
    assert (estimates.contrast([1, -1])[1] < 0.1).all()


def test_any_number_of_threads_gives_the_same() -> None:
    curves = _curves(2)
    plan = Resampling(None, 100, "both", rng=3).settle(curves[0].dev, curves[0].test)
    first, second = (expected_values(curves, plan, threads=threads) for threads in (1, 3))
    assert np.array_equal(first.value, second.value)
