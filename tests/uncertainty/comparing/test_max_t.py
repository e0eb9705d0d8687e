"""Max-T: adjusted p-values beside the definition, critical values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from priori.uncertainty.comparing.max_t import Family, step_down


def example(seed: int, systems: int = 4, draws: int = 300) -> tuple[np.ndarray, Family]:
    rng = np.random.default_rng(seed)
    drawn = rng.normal(0, 1, (draws, 1)) + rng.normal(0, rng.uniform(0.5, 2, systems), (draws, systems))
    plus, minus = np.triu_indices(systems, 1)
    spread = (drawn[:, plus] - drawn[:, minus]).std(axis=0)
    return drawn, Family(plus, minus, spread, rng.normal(0, 2, plus.size))


def by_definition(drawn: np.ndarray, family: Family) -> np.ndarray:
    """Step down through one-sided hypotheses (Romano and Wolf 2005): leave out the most significant each time."""
    off = drawn - drawn.mean(axis=0)
    deviations = (off[:, family.plus] - off[:, family.minus]) / family.spread
    signs = 1, -1
    hypotheses = [(sign * family.deviates[k], sign, k) for sign in signs for k in range(family.plus.size)]
    p_value, least = {}, 0.0
    while hypotheses:
        largest = np.max([sign * deviations[:, k] for _, sign, k in hypotheses], axis=0)
        reached, sign, k = max(hypotheses)
        least = max(least, (1 + (largest >= reached).sum()) / (1 + len(drawn)))
        p_value[sign, k] = least
        hypotheses.remove((reached, sign, k))
    return np.array([min(p_value[sign, k] for sign in signs) for k in range(family.plus.size)])


@pytest.mark.parametrize("seed", range(3))
def test_stepping_down_is_what_the_definition_says(seed):
    drawn, family = example(seed)
    found = step_down(drawn, family, 0.9)
    np.testing.assert_allclose(found.p_value, by_definition(drawn, family))
    off = drawn - drawn.mean(axis=0)
    largest = np.abs((off[:, family.plus] - off[:, family.minus]) / family.spread).max(axis=1)
    # In a single step a difference is significant where (1 + draws as large) / 301 is below 0.1: at most 29 of them.
    assert (largest >= found.critical * (1 + 1e-12)).sum() <= 29 <= (largest >= found.critical).sum()


def test_what_none_of_the_draws_reaches_has_the_least_p_value():
    rng = np.random.default_rng(0)
    drawn = rng.normal(0, 1, (10_000, 3))
    plus, minus = np.triu_indices(3, 1)
    family = Family(plus, minus, (drawn[:, plus] - drawn[:, minus]).std(axis=0), np.array([6.0, -8.0, 0.5]))
    found = step_down(drawn, family, 0.95)
    assert found.p_value[:2].tolist() == [1 / 10_001] * 2
    # Tukey's studentised range of three known normal variables.
    assert found.critical == pytest.approx(stats.studentized_range.ppf(0.95, 3, np.inf) / np.sqrt(2), rel=0.02)


def test_differences_without_spread_are_none_or_certain():
    drawn = np.tile(np.array([0.0, 0.0, 1.0]), (500, 1))
    family = Family(np.array([0, 0]), np.array([1, 2]), np.zeros(2), np.array([0.0, -np.inf]))
    found = step_down(drawn, family, 0.95)
    assert found.p_value[0] == 1
    assert found.p_value[1] == pytest.approx(1 / 501)
    assert found.critical == 0
