"""What prediction bands add: the pseudo-trials of a future set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from priori import Scores
from priori.uncertainty.bootstrap.calibration import half_trials
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
    now = half_trials(plan, 0, ROWS, (0.0, 0.0))
    times = (0.5, 3.0)
    future = half_trials(plan, 0, ROWS, times)
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
    own, other = (half_trials(replace(plan, streams=number), 0, ROWS, (0.0, 0.0)) for number in (0, 1))
    for column in range(4):
        assert abs(np.corrcoef(own[:, column], other[:, column])[0, 1]) < 4 / np.sqrt(ROWS)
