"""Ranks: their bounds, the set of the best beside arch's, the share of each rank, letters."""

from __future__ import annotations

import numpy as np
import pytest

from priori.uncertainty.comparing.max_t import Family, model_confidence_set
from priori.uncertainty.ranking.ranks import group_letters, groups_alike, rank_bounds, rank_shares


def test_ranks_are_bounded_by_who_is_better_and_who_is_worse():
    better = np.zeros((4, 4), dtype=bool)
    better[0, 2] = better[0, 3] = better[1, 3] = True
    lower, upper = rank_bounds(better)
    assert lower.tolist() == [1, 1, 2, 3]
    assert upper.tolist() == [2, 3, 4, 4]


def losses() -> tuple[np.ndarray, np.ndarray]:
    """Losses of five models on 60 trials, and the means of 400 replicates of a balanced bootstrap."""
    rng = np.random.default_rng(7)
    each = rng.normal(0, 1, (60, 1)) + rng.normal(0, 1, (60, 5)) + np.array([0.0, 0.1, 0.35, 0.4, 0.9])
    rows = rng.permutation(np.tile(np.arange(60), 400)).reshape(400, 60)
    return each.mean(axis=0), each[rows].mean(axis=1)


def family_of(mean: np.ndarray, draws: np.ndarray) -> Family:
    plus, minus = np.triu_indices(mean.size, 1)
    spread = (draws[:, plus] - draws[:, minus]).std(axis=0)
    return Family(plus, minus, spread, (mean[plus] - mean[minus]) / spread)


def test_the_model_confidence_set_is_archs():
    mean, draws = losses()
    found = model_confidence_set(draws, family_of(mean, draws), mean)
    # arch 8.0.0 on the same replicates, p-values times 400:
    #     class Given:
    #         def bootstrap(self, reps):
    #             for row in rows: yield ((row,), {})
    #     mcs = arch.bootstrap.MCS(each, size=0.05, reps=400, block_size=1, method="R")
    #     mcs.bootstrap = Given(); mcs.compute(); mcs.pvalues.sort_index().Pvalue * 400
    counted = [400, 72, 9, 9, 0]
    # arch does not count one more than it saw, and its last model has p = 1.
    np.testing.assert_allclose(found, np.where(np.array(counted) == 400, 1, (1 + np.array(counted)) / 401))


def test_the_model_confidence_set_step_by_step():
    mean, draws = losses()
    found = model_confidence_set(draws, family_of(mean, draws), mean)
    off = draws - draws.mean(axis=0)
    left, largest = list(range(5)), 0.0
    spread = (draws[:, :, None] - draws[:, None, :]).std(axis=0) + np.eye(5)
    while len(left) > 1:
        pairs = np.ix_(left, left)
        ratio = (mean[:, None] - mean)[pairs] / spread[pairs]
        drawn = np.abs(off[:, left][:, :, None] - off[:, left][:, None, :]) / spread[pairs]
        largest = max(largest, (1 + (drawn.max(axis=(1, 2)) >= ratio.max()).sum()) / 401)
        worst = left.pop(int(np.unravel_index(ratio.argmax(), ratio.shape)[0]))
        assert found[worst] == pytest.approx(largest)
    assert found[left[0]] == 1


def test_shares_of_ranks_count_draws_and_split_ties():
    values = np.random.default_rng(0).integers(0, 4, (200, 5)).astype(float)
    found = rank_shares(values)
    expected = np.zeros((5, 5))
    for row in values:
        for system, value in enumerate(row):
            before, equal = int((row < value).sum()), int((row == value).sum())
            expected[system, before : before + equal] += 1 / equal / 200
    np.testing.assert_allclose(found, expected)


def test_systems_that_do_not_differ_share_a_letter():
    alike = np.eye(4, dtype=bool)
    for i, j in ((0, 1), (1, 2), (2, 3)):
        alike[i, j] = alike[j, i] = True
    assert group_letters(alike) == ["a", "ab", "bc", "c"]
    assert group_letters(np.eye(3, dtype=bool)) == ["a", "b", "c"]
    assert group_letters(np.ones((3, 3), dtype=bool)) == ["a", "a", "a"]


@pytest.mark.parametrize("systems", [7, 60])
def test_two_are_in_a_group_just_where_they_are_alike(systems):
    rng = np.random.default_rng(systems)
    for density in (0.2, 0.6, 0.95):
        alike = np.triu(rng.random((systems, systems)) < density, 1)
        alike = alike | alike.T | np.eye(systems, dtype=bool)
        groups = groups_alike(alike)
        together = np.zeros_like(alike)
        for group in groups:
            assert alike[np.ix_(group, group)].all()
            together[np.ix_(group, group)] = True
        np.testing.assert_array_equal(together, alike)


def test_systems_of_a_group_come_in_their_order():
    alike = np.eye(20, dtype=bool)
    alike[1, 8] = alike[8, 1] = alike[1, 16] = alike[16, 1] = alike[8, 16] = alike[16, 8] = True
    assert [1, 8, 16] in groups_alike(alike)
    assert len(groups_alike(alike)) == 18
