"""What the drawings need: thinned curves that look the same, histograms that count every score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import priori
import small_studies
from priori import Scores
from priori.studies.evaluation.drawing import INVISIBLE, MOST, bin_scores, thin, thinned_curves

steps = arrays(np.float64, st.integers(2, 60), elements=st.sampled_from([0.0, 1e-5, 1e-3, 0.01, 0.2, 1.0]))


def distance(x: float, y: float, at: np.ndarray, up: np.ndarray) -> float:
    """Return how far a point is from a line of straight pieces, looking at every piece."""
    ax, ay, bx, by = at[:-1], up[:-1], at[1:], up[1:]
    length = np.maximum((bx - ax) ** 2 + (by - ay) ** 2, 1e-300)
    share = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length, 0, 1)
    return float(np.hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay)).min())


@given(steps, steps)
def test_thinning_is_invisible(across: np.ndarray, up: np.ndarray) -> None:
    size = min(across.size, up.size)
    x, y = np.cumsum(across[:size]), np.cumsum(up[:size])
    x, y = x / max(x[-1], 1e-12), y / max(y[-1], 1e-12)
    kept = thin(x, y)
    assert kept[0] == 0
    assert kept[-1] == size - 1
    assert (np.diff(kept) > 0).all()
    if kept.size < size:
        # Within the tolerance, and the size of a cell in which only the first and the last point are looked at.
        assert max(distance(x[i], y[i], x[kept], y[kept]) for i in range(size)) <= 1.5 * INVISIBLE


def test_a_curve_of_any_size_keeps_few_points() -> None:
    rng = np.random.default_rng(0)
    rough = np.sort(rng.random(200_000)), np.sort(rng.random(200_000))
    assert thin(*rough).size <= MOST
    steep = np.linspace(0, 1, 50_000)
    assert thin(steep, np.where(steep < 0.5, 0.0, 1.0)).size <= 6
    assert thin(np.array([0.0, 1.0]), np.array([0.0, 1.0])).tolist() == [0, 1]
    # More corners than can be kept: the tolerance gives way, the ends stay.
    stairs = np.repeat(np.linspace(0, 1, 3000), 2)
    kept = thin(stairs[1:], stairs[:-1], tolerance=1e-4, most=100)
    assert kept.size <= 100
    assert kept[[0, -1]].tolist() == [0, stairs.size - 2]


def test_thinned_curves_are_points_of_the_full_ones() -> None:
    test = small_studies.scores(2.0, 0, negatives=20_000, positives=5_000)
    full = priori.roc(test, points="all")
    roc, det = thinned_curves(test, "A")
    points = set(zip(full.outcomes.fp.tolist(), full.outcomes.fn.tolist(), strict=True))
    for curve in (roc, det):
        assert set(zip(curve.outcomes.fp.tolist(), curve.outcomes.fn.tolist(), strict=True)) <= points
        assert curve.outcomes.fp.size < 1000
        assert priori.count(test, curve.threshold).fp.tolist() == curve.outcomes.fp.tolist()
    away = [distance(full.fpr[i], full.tpr[i], roc.fpr, roc.tpr) for i in range(0, full.fpr.size, 10)]
    assert max(away) <= 1.5 * INVISIBLE


@given(
    st.lists(
        st.sampled_from([-np.inf, -1e308, -5.0, -1.0, 0.0, 0.5, 1.0, 1e300, 1.7e308, np.inf]), min_size=1, max_size=30
    ),
    st.lists(st.sampled_from([-np.inf, -2.0, 0.0, 0.25, 3.0, 1.7e308, np.inf]), min_size=1, max_size=30),
    st.sampled_from([-np.inf, -1.5, 0.0, 0.3, 2e300, np.inf]),
)
def test_every_score_is_in_one_bin(negatives: list[float], positives: list[float], threshold: float) -> None:
    test = Scores.from_arrays(negatives, positives)
    found = bin_scores(test, test, threshold)
    assert np.isfinite(found.edges).all()
    assert (np.diff(found.edges) > 0).all()
    assert found.negatives.sum() == len(negatives)
    assert found.positives.sum() == found.dev_positives.sum() == len(positives)
    for edge, above in zip(found.edges[1:-1], np.cumsum(found.negatives[::-1])[::-1][1:], strict=True):
        assert above == sum(score > edge for score in negatives)
    assert sum(found.shares()["negatives"]) == pytest.approx(1)
    if np.isfinite(threshold):
        assert found.edges[0] <= threshold <= found.edges[-1]


def test_far_out_scores_go_to_the_outer_bins() -> None:
    rng = np.random.default_rng(0)
    test = Scores.from_arrays(np.append(rng.normal(size=5000), [1e6]), rng.normal(3, 1, 5000))
    found = bin_scores(test, test, 1.5)
    assert found.edges[-1] < 20
    assert found.beyond >= 1
    assert found.negatives[-1] >= 1
    assert found.negatives.sum() == 5001
    # One score of a few hundred is enough to flatten all others.
    few = Scores.from_arrays([*rng.normal(size=200), -1e6], [*rng.normal(3, 1, 100), 1e5])
    found = bin_scores(few, few, 1.5)
    assert found.edges[0] > -20
    assert found.edges[-1] < 20
    assert found.beyond >= 2
    assert max(found.shares()["negatives"]) < 0.5


def test_a_corner_at_either_end_stays() -> None:
    assert thin(np.array([0.0, 0.0, 0.4, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])).tolist() == [0, 1, 3]
    assert thin(np.array([0.0, 0.5, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0])).tolist() == [0, 2, 3]


def test_what_is_left_out_lies_within_the_tolerance() -> None:
    x = np.linspace(0, 1, 2001)
    y = 0.5 * x + 0.05 * np.sin(9 * x)  # with a slope of at most 1
    kept = thin(x, y, tolerance=0.01)
    assert 4 < kept.size < 30
    assert np.abs(np.interp(x, x[kept], y[kept]) - y).max() < 0.01 * np.sqrt(2)
    assert thin(x, y, most=10).size <= 10
