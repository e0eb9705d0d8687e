"""Clustered variances against sums over all pairs of trials that share somebody."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priori import design_effect
from priori.scores import Scores
from priori.uncertainty import cluster_variance
from priori.uncertainty.cluster_variance import Errors, GroupSums, measure_clusters, pair_codes, rate_spread

THRESHOLDS = np.array([0.4, -0.6, 1.5, -np.inf])


def trials(seed, people, count):
    """Draw the scores of two systems on trials between two different people, who may meet more than once."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, people, count)
    probe = (user + rng.integers(1, people, count)) % people
    effect = rng.normal(size=people)
    scores = [rng.normal(size=count) + effect[user] + 0.5 * effect[probe] for _ in "ab"]
    return user.astype(np.int32), probe.astype(np.int32), scores


def counted(scores, number=None):
    """Count errors as scores above the thresholds, of the first system minus those of the second."""
    ordered = np.sort(THRESHOLDS)
    rank = np.argsort(np.argsort(THRESHOLDS, kind="stable"), kind="stable")
    gaps = [np.searchsorted(ordered, score, side="left") for score in scores]
    return Errors(gaps, [rank] * len(scores), above=True, number=number)


def deviations(scores):
    """Return the errors of each trial minus the rate (rows are trials, columns thresholds)."""
    wrong = [(score[:, None] > THRESHOLDS).astype(float) for score in scores]
    errors = wrong[0] - (wrong[1] if len(wrong) > 1 else 0)
    return errors, errors - errors.mean(axis=0)


def over_pairs(off, sharing):
    """Return the sum of e_s e_t / n^2 over the pairs of trials that share somebody."""
    return np.einsum("sk,st,tk->k", off, sharing, off) / len(off) ** 2


def same(a, b):
    return a[:, None] == b[None, :]


CASES = given(st.integers(0, 10_000), st.integers(2, 6), st.integers(4, 30), st.sampled_from([1, 2]))


@CASES
@settings(deadline=None)
def test_by_user_it_is_the_sum_over_trials_of_the_same_user(seed, people, count, systems):
    user, _, scores = trials(seed, people, count)
    errors, off = deviations(scores[:systems])
    found = measure_clusters(counted(scores[:systems]), user, None, people)
    sharing = same(user, user)
    np.testing.assert_allclose(found["rate"], errors.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found["variance"], over_pairs(off, sharing), atol=1e-12)
    np.testing.assert_allclose(found["lost"], min(sharing.mean(), 1 - 1 / people))
    independent = (off**2).sum(axis=0) / count**2
    np.testing.assert_allclose(found["floor"], np.maximum(independent, found["variance"]), atol=1e-12)
    varies = independent > 1e-12
    per_user = np.unique(user, return_counts=True)[1]
    largest = (per_user**2).sum() / count  # the trials of the user of a trial
    wanted = np.clip(found["variance"][varies] / independent[varies], 1, largest)
    np.testing.assert_allclose(found["effect"][varies], wanted, rtol=1e-9)


@CASES
@settings(deadline=None)
def test_by_two_people_it_is_the_sum_over_trials_that_share_either(seed, people, count, systems):
    user, probe, scores = trials(seed, people, count)
    _, off = deviations(scores[:systems])
    two = np.random.default_rng(seed).random(count) < (1.0 if seed % 2 else 0.7)
    two[0] = True
    found = measure_clusters(counted(scores[:systems]), user, np.where(two, probe, -1), people)
    probe = np.where(two, probe, user)  # a trial of one person counts once
    either = same(user, user) | same(probe, probe) | same(user, probe) | same(probe, user)
    both = ((same(user, user) & same(probe, probe)) | (same(user, probe) & same(probe, user))) & np.outer(two, two)
    probes = same(probe, probe) & np.outer(two, two)
    np.testing.assert_allclose(found["by_pair"], over_pairs(off, both), atol=1e-12)
    np.testing.assert_allclose(found["by_identity"] - found["by_pair"], over_pairs(off, either), atol=1e-12)
    floor = np.max([(off**2).sum(axis=0) / count**2, *(over_pairs(off, a) for a in (same(user, user), probes))], axis=0)
    np.testing.assert_allclose(found["floor"], floor, atol=1e-12)
    np.testing.assert_allclose(found["variance"], np.maximum(over_pairs(off, either), floor), atol=1e-12)
    np.testing.assert_allclose(found["lost"], min(either.mean(), 1 - 1 / people))


def test_the_part_within_users_is_their_own_binomial_variance():
    user, _, scores = trials(3, 5, 200)
    errors, _ = deviations(scores[:1])
    found = measure_clusters(counted(scores[:1]), user, None, 5)
    wanted = np.zeros(THRESHOLDS.size)
    for one in range(5):
        own = errors[user == one]
        wanted += len(own) * own.var(axis=0, ddof=1) / 200**2
    # The errors of a user vary by as many variances as the user has trials.
    np.testing.assert_allclose(found["within"], np.minimum(wanted, found["variance"]), rtol=1e-9, atol=1e-15)


def test_without_users_trials_are_independent():
    _, _, scores = trials(4, 5, 50)
    _, off = deviations(scores)
    found = measure_clusters(counted(scores), None, None, 0)
    np.testing.assert_allclose(found["variance"], (off**2).sum(axis=0) / 50**2, atol=1e-15)
    assert (found["effect"] == 1).all()
    assert (found["lost"] == 0).all()


def test_rows_that_stand_for_many_trials_count_as_many():
    user, _, scores = trials(5, 4, 30)
    number = np.random.default_rng(5).integers(1, 6, 30)
    repeated = [np.repeat(score, number) for score in scores]
    found = measure_clusters(counted(scores, number), user, None, 4)
    wanted = measure_clusters(counted(repeated), np.repeat(user, number), None, 4)
    for name in wanted:
        np.testing.assert_array_equal(found[name], wanted[name], name)


def test_pairs_in_many_parts_are_the_pairs_in_one(monkeypatch):
    user, probe, scores = trials(6, 9, 300)
    whole = measure_clusters(counted(scores), user, probe, 9)
    monkeypatch.setattr(cluster_variance, "PAIRS_AT_A_TIME", 20)
    parts = measure_clusters(counted(scores), user, probe, 9)
    for name in whole:
        np.testing.assert_allclose(parts[name], whole[name], rtol=1e-12, atol=1e-18)


def test_a_pair_is_the_same_whoever_claims_to_be_the_other():
    pair, pairs = pair_codes(np.array([0, 3, 1, 3]), np.array([3, 0, 2, 1]), 4)
    assert pairs == 3
    assert pair[0] == pair[1]
    assert len(set(pair.tolist())) == 3


def test_one_rate_and_a_design_effect_rest_on_the_same_sums():
    user, _, scores = trials(7, 12, 400)
    label = np.repeat([0, 1], 200)
    made = Scores.from_predictions(label, scores[0], user=user)
    wrong = made.negative.score > 0.4
    sums = GroupSums.of(wrong - wrong.mean(), made.negative.user, 12)
    independent = wrong.mean() * (1 - wrong.mean()) / 200
    variance = float(sums.squares) / 200**2
    assert design_effect(made, 0.4).negatives.design_effect == pytest.approx(variance * 12 / 11 / independent)
    lost = sums.sharing / 200**2
    assert rate_spread(wrong, made.negative, "user").effect == pytest.approx(variance / (1 - lost) / independent)
    from_counts = GroupSums.from_errors(np.bincount(made.negative.user, wrong), sums.size, wrong.mean())
    np.testing.assert_allclose(from_counts.deviation, sums.deviation, atol=1e-12)
