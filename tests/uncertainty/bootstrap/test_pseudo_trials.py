"""Pseudo-trials: their distribution, and systems that are drawn apart."""

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


def test_pseudo_trials_are_gamma(scores: Scores) -> None:
    plan = Resampling(bootstrap="sample").settle(None, scores)
    drawn = half_trials(plan, 0, ROWS)
    for column in range(4):
        assert stats.kstest(drawn[:, column], stats.gamma(0.5).cdf).pvalue > 1e-3


def test_systems_that_are_drawn_apart_have_pseudo_trials_of_their_own(scores: Scores) -> None:
    plan = Resampling(bootstrap="sample").settle(None, scores)
    own, other = (half_trials(replace(plan, streams=number), 0, ROWS) for number in (0, 1))
    for column in range(4):
        assert abs(np.corrcoef(own[:, column], other[:, column])[0, 1]) < 4 / np.sqrt(ROWS)
