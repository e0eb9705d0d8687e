"""Max-T: adjusted p-values beside the definition, critical values, fitted tails."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from priori.uncertainty.comparing.max_t import Family, step_down, tail_p_values


def example(seed: int, systems: int = 4, draws: int = 300) -> tuple[np.ndarray, Family]:
    rng = np.random.default_rng(seed)
    drawn = rng.normal(0, 1, (draws, 1)) + rng.normal(0, rng.uniform(0.5, 2, systems), (draws, systems))
    plus, minus = np.triu_indices(systems, 1)
    spread = (drawn[:, plus] - drawn[:, minus]).std(axis=0)
    return drawn, Family(plus, minus, spread, rng.normal(0, 2, plus.size))


def by_definition(drawn: np.ndarray, family: Family, alternative: str) -> np.ndarray:
    """Step down through one-sided hypotheses (Romano and Wolf 2005): leave out the most significant each time."""
    off = drawn - drawn.mean(axis=0)
    deviations = (off[:, family.plus] - off[:, family.minus]) / family.spread
    signs = {"two-sided": (1, -1), "less": (-1,), "greater": (1,)}[alternative]
    hypotheses = [(sign * family.deviates[k], sign, k) for sign in signs for k in range(family.plus.size)]
    p_value, least = {}, 0.0
    while hypotheses:
        largest = np.max([sign * deviations[:, k] for _, sign, k in hypotheses], axis=0)
        reached, sign, k = max(hypotheses)
        least = max(least, (1 + (largest >= reached).sum()) / (1 + len(drawn)))
        p_value[sign, k] = least
        hypotheses.remove((reached, sign, k))
    return np.array([min(p_value[sign, k] for sign in signs) for k in range(family.plus.size)])


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("seed", range(3))
def test_stepping_down_is_what_the_definition_says(alternative, seed):
    drawn, family = example(seed)
    for threads in (1, 3):
        found = step_down(drawn, family, 0.9, alternative, threads=threads)
        expected = by_definition(drawn, family, alternative)
        np.testing.assert_allclose(found.p_value[~found.fitted], expected[~found.fitted])
        assert (expected[found.fitted] == 1 / 301).all()
    off = drawn - drawn.mean(axis=0)
    largest = np.abs((off[:, family.plus] - off[:, family.minus]) / family.spread).max(axis=1)
    # In a single step a difference is significant where (1 + draws as large) / 301 is below 0.1: at most 29 of them.
    assert (largest >= found.critical * (1 + 1e-12)).sum() <= 29 <= (largest >= found.critical).sum()


def test_what_is_reached_by_none_of_the_draws_has_a_fitted_tail():
    rng = np.random.default_rng(0)
    drawn = rng.normal(0, 1, (10_000, 3))
    plus, minus = np.triu_indices(3, 1)
    family = Family(plus, minus, (drawn[:, plus] - drawn[:, minus]).std(axis=0), np.array([6.0, -8.0, 0.5]))
    found = step_down(drawn, family, 0.95, "two-sided")
    assert found.fitted.tolist() == [True, True, False]
    assert (found.p_value[:2] < 1 / 10_001).all()
    # Tukey's studentised range of three known normal variables; an exponential tail is the heavier one.
    exact = stats.studentized_range.sf(6.0 * np.sqrt(2), 3, np.inf)
    assert exact < found.p_value[0] < 1e-5
    assert found.p_value[1] < found.p_value[0]
    assert found.critical == pytest.approx(stats.studentized_range.ppf(0.95, 3, np.inf) / np.sqrt(2), rel=0.02)


def test_a_fitted_tail_is_that_of_the_distribution():
    rng = np.random.default_rng(1)
    reached = np.array([7.0, 9.0, 11.0])
    exponential = tail_p_values(rng.exponential(1, 100_000), reached)
    assert exponential[0].all()
    np.testing.assert_allclose(np.log(exponential[1]), -reached, atol=1.2)
    pareto = tail_p_values(stats.genpareto.rvs(0.25, size=100_000, random_state=2), np.array([20.0, 60.0]))[1]
    np.testing.assert_allclose(np.log(pareto), stats.genpareto.logsf([20.0, 60.0], 0.25), atol=1.2)
    # A bounded variable: the tail is taken as exponential, so that no p-value is 0.
    assert 0 < tail_p_values(rng.uniform(0, 1, 10_000), np.array([2.0]))[1][0] < 1e-10
    assert not tail_p_values(rng.exponential(1, 50), reached)[0].any()  # too few
    assert not tail_p_values(np.ones(5000), reached)[0].any()


def test_the_tail_is_fitted_by_probability_weighted_moments():
    """Of 2,000 maxima the 200 largest, beyond the next one; the moments by Hosking and Wallis."""
    largest = stats.genpareto.rvs(0.2, size=2000, random_state=5)
    ordered = sorted(largest.tolist())
    threshold = ordered[1799]
    excess = [each - threshold for each in ordered[1800:]]
    first = sum(excess) / 200
    second = sum(each * (1 - (place + 0.5) / 200) for place, each in enumerate(excess)) / 200
    shape = 2 - first / (first - 2 * second)
    scale = 2 * first * second / (first - 2 * second)
    assert shape > 0
    fitted, p_values = tail_p_values(largest, np.array([threshold - 0.1, threshold + 0.1, 20.0]))
    assert fitted.tolist() == [False, True, True]
    expected = [0.1 * (1 + shape * (at - threshold) / scale) ** (-1 / shape) for at in (threshold + 0.1, 20.0)]
    np.testing.assert_allclose(p_values[1:], expected, rtol=1e-9)


def test_differences_without_spread_are_none_or_certain():
    drawn = np.tile(np.array([0.0, 0.0, 1.0]), (500, 1))
    family = Family(np.array([0, 0]), np.array([1, 2]), np.zeros(2), np.array([0.0, -np.inf]))
    found = step_down(drawn, family, 0.95, "two-sided")
    assert found.p_value[0] == 1
    assert found.p_value[1] == pytest.approx(1 / 501)
    assert found.critical == 0
