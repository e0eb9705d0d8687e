"""The crossed bootstrap's scale, against variances written out trial by trial."""

from __future__ import annotations

import numpy as np
import pytest

from priori import Scores
from priori.uncertainty.bootstrap.calibration import clusters_of
from priori.uncertainty.bootstrap.designs import _crossed_scale
from priori.uncertainty.bootstrap.resampling import Resampling

PEOPLE = 7


def everybody_against_everybody(seed: int) -> Scores:
    claimed, real = (column.ravel() for column in np.meshgrid(*[np.arange(PEOPLE)] * 2))
    claimed, real = np.repeat(claimed, 3), np.repeat(real, 3)
    rng = np.random.default_rng(seed)
    effect = rng.normal(0, 0.8, PEOPLE)
    score = rng.normal(2.0 * (claimed == real)) + effect[claimed] + effect[real]
    return Scores.from_predictions((claimed == real).astype(int), score, user=claimed, probe_user=real)


def of_draws(off: np.ndarray, claimed: np.ndarray, real: np.ndarray) -> float:
    """Return the variance of the weighted mean of errors, each weight a product of two draws, summed over all pairs.

    A draw has mean 1 and variance 1. The draws of different people are taken for independent, so the expected product
    of the draws of some people is the product of their moments.
    """
    total = 0.0
    for i in range(off.size):
        for j in range(off.size):
            people = [claimed[i], real[i], claimed[j], real[j]]
            twice = sum(people.count(one) == 2 for one in set(people))
            total += off[i] * off[j] * (2**twice - 1)
    return total / off.size**2


def wanted(off: np.ndarray, claimed: np.ndarray, real: np.ndarray) -> float:
    """Return the variance that is due: of the pairs of trials that share one person, and both."""
    one, both, same_claim, same_probe, itself, pairs = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for i in range(off.size):
        for j in range(off.size):
            shared = len({claimed[i], real[i]} & {claimed[j], real[j]})
            one += off[i] * off[j] * (shared == 1)
            both += off[i] * off[j] * (shared == 2)
            same_claim += off[i] * off[j] * (claimed[i] == claimed[j])
            same_probe += off[i] * off[j] * (real[i] == real[j])
            itself += off[i] * off[j] * (i == j)
            pairs += shared > 0
    variance = max(max(one, 0.0) + both, same_claim, same_probe, itself) / off.size**2
    # Deviations are from the mean observed: the pairs that share somebody are that much of it.
    return variance * (1 - 1 / PEOPLE) / (1 - min(pairs / off.size**2, 1 - 1 / PEOPLE))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scaled_draws_have_the_variance_that_is_due(seed: int) -> None:
    scores = everybody_against_everybody(seed)
    thresholds = np.array([0.6, 1.4])
    clusters = clusters_of(scores, thresholds, Resampling(bootstrap="crossed").settle(None, scores))
    scale = _crossed_scale(clusters, np.full(2, PEOPLE - 1.0))
    negative = scores.negative
    for k, threshold in enumerate(thresholds):
        wrong = negative.score > threshold
        off = wrong - wrong.mean()
        people = (negative.user, negative.probe_user)
        drawn, due = of_draws(off, *people), wanted(off, *people)
        assert scale[0, k] ** 2 * drawn == pytest.approx(due, rel=1e-9)
