"""Simulated populations have the shape, the rates and the dependency they promise."""

from __future__ import annotations

import numpy as np
import pytest

from priori.decisions.outcomes import count
from validation.coverage.simulation import expected_rates, population


def test_shape_of_the_nist_2005_subset() -> None:
    scores = population(124, rng=3)
    assert (len(scores.negative), len(scores.positive), scores.n_users) == (124 * 96, 124 * 9, 124)
    assert not scores.has_identities


def test_trials_may_differ_between_users() -> None:
    scores = population(3, [1, 0, 2], [5, 6, 7])
    assert np.bincount(scores.positive.user).tolist() == [1, 0, 2]
    assert np.bincount(scores.negative.user).tolist() == [5, 6, 7]


def test_the_same_seed_gives_the_same_scores_and_another_seed_others() -> None:
    first, again, other = (population(5, rng=seed).negative.score for seed in ((1, 2), (1, 2), (1, 3)))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("effect", [0.0, 0.6, 0.9])
def test_rates_do_not_depend_on_the_effects(effect: float) -> None:
    scores = population(4000, 20, 20, separation=2.0, user_effect_sd=effect, shift=0.5, rng=11)
    found = count(scores, [1.0, 1.5, 2.0])
    far, frr = expected_rates([1.0, 1.5, 2.0], separation=2.0, shift=0.5)
    # Four standard errors of a mean over users who are all of one mind: sqrt(0.25 / 4000) = 0.008.
    assert np.allclose(found.fp / len(scores.negative), far, atol=0.032)
    assert np.allclose(found.fn / len(scores.positive), frr, atol=0.032)


@pytest.mark.parametrize("effect", [0.0, 0.5, 0.8])
def test_scores_of_one_user_are_correlated_as_the_square_of_the_effect(effect: float) -> None:
    scores = population(4000, 2, 2, user_effect_sd=effect, genuine_effect_sd=effect / 2, rng=5)
    for trials, expected in ((scores.negative, effect**2), (scores.positive, effect**2 / 4)):
        pairs = trials.score.reshape(-1, 2)
        assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(expected, abs=0.06)


def test_crossed_identities_never_meet_themselves_and_carry_an_effect() -> None:
    scores = population(300, 2, 200, user_effect_sd=0.0, probe_effect_sd=0.7, crossed=True, rng=9)
    assert scores.has_identities
    assert np.all(scores.negative.user != scores.negative.probe_user)
    assert np.array_equal(scores.positive.user, scores.positive.probe_user)
    means = [scores.negative.score[scores.negative.probe_user == person].mean() for person in range(300)]
    assert np.var(means) == pytest.approx(0.49, abs=0.15)
    assert scores.negative.score.var() == pytest.approx(1.0, abs=0.15)
