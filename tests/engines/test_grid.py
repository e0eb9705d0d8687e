"""Grids: a score's segment is looked up by its leading bits, and must be the one that a search would find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priori.scores.grid import Grid, even_grid, fitted_grid
from priori.scores.sorting import Cuts


def numbers(width: int) -> st.SearchStrategy[list[float]]:
    near_one = st.integers(-50, 50).map(lambda steps: float(np.float32(1) + np.float32(steps) * np.float32(2**-24)))
    return st.lists(
        st.one_of(near_one, st.floats(allow_nan=False, allow_infinity=False, width=width), st.just(-0.0)), min_size=1
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_the_segment_is_the_one_a_search_finds(dtype: Any, data: st.DataObject) -> None:
    width = 32 if dtype is np.float32 else 64
    low = np.unique(np.array(data.draw(numbers(width)), dtype=dtype))
    scores = np.concatenate([np.array(data.draw(numbers(width)), dtype=dtype), low, [-np.inf, np.inf]]).astype(dtype)
    expected = np.maximum(np.searchsorted(low, scores, side="right") - 1, 0)
    grid = Grid(low, np.ones_like(low), np.arange(1, low.size + 2))
    finite = np.isfinite(scores)
    assert grid._starts.bins(scores[finite]).tolist() == expected[finite].tolist()
    assert grid.bins(scores[finite]).tolist() == (expected[finite] + 1).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_the_gap_is_the_number_of_cuts_below(dtype: Any, data: st.DataObject) -> None:
    cuts = np.array(data.draw(numbers(64)) + data.draw(st.lists(st.sampled_from([-np.inf, np.inf]))))
    cuts.sort()  # of double precision and not all different, whatever the scores are
    with np.errstate(over="ignore"):
        near = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)]).astype(dtype)
    more = np.array(data.draw(numbers(32 if dtype is np.float32 else 64)), dtype=dtype)
    scores = np.concatenate([near, more, np.array([-np.inf, np.inf], dtype=dtype)])
    expected = np.searchsorted(cuts, scores.astype(np.float64), side="left")
    assert Cuts.of(cuts, dtype).bins(scores).tolist() == expected.tolist()


@pytest.mark.parametrize("bend", [np.exp, np.sinh, np.arctan], ids=["exp", "sinh", "arctan"])
def test_bins_never_fall_as_scores_rise_however_bent_they_are(bend: Any) -> None:
    rng = np.random.default_rng(1)
    scores = np.sort(bend(8 * rng.normal(size=20_000)))
    grid = fitted_grid(scores[::2], 5000)
    bins = grid.bins(scores)
    assert (np.diff(bins) >= 0).all()
    # Where there are many scores there are many bins.
    assert np.bincount(bins).max() < 0.02 * scores.size
    lowest = grid.lowest(bins)
    assert (lowest <= scores).all()
    assert (grid.highest(bins) >= scores).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_finer_bins_rise_with_the_scores_and_lie_within_those_before(dtype: Any, data: st.DataObject) -> None:
    width = 32 if dtype is np.float32 else 64
    scores = np.unique(np.array(data.draw(numbers(width)), dtype=dtype))
    coarse = grid = fitted_grid(scores[:: data.draw(st.integers(1, 3))], data.draw(st.integers(1, 9)))
    for _ in range(3):
        before = grid.bins(scores)
        rows = np.bincount(before, minlength=grid.size) * data.draw(st.integers(0, 1))
        grid = grid.finer(rows, data.draw(st.integers(1, 20)))
        bins = grid.bins(scores)
        assert (np.diff(bins) >= 0).all()
        assert bins.max() < grid.size - 1
        assert all(np.unique(before[bins == own]).size == 1 for own in np.unique(bins))
    assert grid.size >= coarse.size
    held = np.unique(grid.bins(scores))
    assert grid.bins(grid.lowest(held)).tolist() == grid.bins(grid.highest(held)).tolist() == held.tolist()


def test_bins_become_narrower_where_the_scores_are() -> None:
    grid = even_grid(0.0, 8.0, 8)
    rows = np.zeros(grid.size, dtype=np.int64)
    rows[[3, 6]] = 900, 100  # bin 0 is -inf: from 2 to 3, and from 5 to 6
    bins = grid.finer(rows, 400).bins(scores := np.linspace(1.0, 7.999, 70_000))
    number = [np.unique(bins[scores.astype(int) == unit]).size for unit in range(1, 8)]
    assert number == [1, 360, 1, 1, 40, 1, 1]
