"""What prediction bands add: the pseudo-trials of a future set, and other numbers of trials per user."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from priori import Scores
from priori.uncertainty.bootstrap.calibration import _half_trials, clusters_of
from priori.uncertainty.bootstrap.designs import _future_scale
from priori.uncertainty.bootstrap.resampling import Resampling

ROWS = 40_000


@pytest.fixture(scope="module")
def scores() -> Scores:
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(9), 12)
    effect = rng.normal(0, 0.8, 9)
    return Scores.from_arrays(
        rng.normal(size=108) + effect[user],
        rng.normal(2, 1, 108) + effect[user],
        negative_user=user,
        positive_user=user,
    )


def test_pseudo_trials_are_gamma_and_in_a_future_set_poisson_around_it(scores: Scores) -> None:
    plan = Resampling(bootstrap="sample").settle(None, scores)
    now = _half_trials(plan, 0, ROWS, (0.0, 0.0))
    times = (0.5, 3.0)
    future = _half_trials(plan, 0, ROWS, times)
    for column in range(4):
        assert stats.kstest(now[:, column], stats.gamma(0.5).cdf).pvalue > 1e-3
        # Poisson around a gamma variable of shape 1/2 that is ``times`` as large: negative binomial.
        expected = stats.nbinom(0.5, 1 / (1 + times[column // 2]))
        for number in range(6):
            share = expected.pmf(number)
            allowed = 4 * np.sqrt(share * (1 - share) / ROWS)
            assert np.mean(future[:, column] == number) == pytest.approx(share, abs=allowed), (column, number)
        assert (future[:, column] == np.floor(future[:, column])).all()
        # It is the set's own pseudo-trial that is drawn from, so the two rise and fall together.
        assert np.corrcoef(now[:, column], future[:, column])[0, 1] == pytest.approx(
            np.sqrt(times[column // 2] / (1 + times[column // 2])), abs=0.03
        )
    others = np.corrcoef(np.hstack([now, future]).T)
    for a in range(4):
        for b in range(4):
            if a != b:
                assert abs(others[a, b + 4]) < 5 / np.sqrt(ROWS)


def test_systems_that_are_drawn_apart_have_pseudo_trials_of_their_own(scores: Scores) -> None:
    plan = Resampling(bootstrap="sample").settle(None, scores)
    own, other = (_half_trials(replace(plan, streams=number), 0, ROWS, (0.0, 0.0)) for number in (0, 1))
    for column in range(4):
        assert abs(np.corrcoef(own[:, column], other[:, column])[0, 1]) < 4 / np.sqrt(ROWS)


@pytest.mark.parametrize("per_user", [(1.0, 1.0), (0.5, 2.0), (4.0, 0.25)])
@pytest.mark.parametrize("future_users", [5, 9, 30])
def test_more_trials_per_user_shrink_the_spread_within_users_only(
    scores: Scores, future_users: int, per_user: tuple[float, float]
) -> None:
    thresholds = np.array([0.5, 1.5])
    plan = Resampling(bootstrap="user").settle(None, scores)
    clusters = clusters_of(scores, thresholds, plan)
    scale = _future_scale(clusters, replace(plan, future=(future_users, 0, 0), per_user=per_user))
    for c, trials in enumerate((scores.negative, scores.positive)):
        for k, threshold in enumerate(thresholds):
            wrong = (trials.score > threshold) == (c == 0)
            own = [wrong[trials.user == user] for user in range(9)]
            pairs = wrong.size**2 - sum(one.size**2 for one in own)  # of trials that share no user
            total = sum((one - wrong.mean()).sum() ** 2 for one in own) / pairs
            within = min(sum(one.size * one.var(ddof=1) for one in own) / wrong.size**2, total)
            # The users seen, and then so many others, each with so many times as many trials.
            as_now = total + total * 9 / future_users
            then = total + (total - within + within / per_user[c]) * 9 / future_users
            assert scale[c, k] == pytest.approx(np.sqrt(then / as_now), rel=1e-9)
