"""Figures of leaderboards show the numbers of the board, and labels keep their distance."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

import priori
import small_studies
from priori.plots.leaderboard import named_rows, plot_slopes
from priori.plots.style import spread

mpl.use("agg")


@pytest.fixture(scope="module")
def board() -> priori.uncertainty.ranking.leaderboard.Leaderboard:
    found = small_studies.study(2.5, 1.6, 2.0, n_resamples=50, points=3).board
    assert found is not None
    return found


@pytest.mark.parametrize("tall", [4.0, 12.0])
def test_labels_of_slopes_keep_a_line_of_distance(
    board: priori.uncertainty.ranking.leaderboard.Leaderboard, tall: float
) -> None:
    axes = plot_slopes(board, ax=pyplot.figure(figsize=(6, tall)).add_subplot())
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts[: len(named_rows(board))]]
    heights = sorted((box.y0 + box.y1) / 2 / axes.figure.dpi for box in boxes)
    assert min(np.diff(heights)) > 0.1  # inches
    pyplot.close("all")


def test_those_that_are_far_apart_stay() -> None:
    wanted = np.array([1.0, 1.2, 9.0])
    placed = spread(wanted, 1.0)
    assert placed.tolist() == pytest.approx([0.6, 1.6, 9.0])
