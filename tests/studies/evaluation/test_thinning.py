"""Thinned curves keep their corners and stay within the tolerance."""

import numpy as np

from priori.studies.evaluation.drawing import thin


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
