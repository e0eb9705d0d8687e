"""Scores and their labels in two files: which pairs were scored twice."""

from __future__ import annotations

import numpy as np

from priori.readers.headerless import _scored_twice


def test_a_pair_with_two_scores_is_found_and_one_that_is_only_repeated_is_not() -> None:
    key = np.array([7, 1, 2, 1, 2, 3, 3])
    nan = float("nan")
    assert _scored_twice(key, np.array([0.1, 0.5, nan, 0.5, nan, 0.2, 0.2])).tolist() == []
    assert _scored_twice(key, np.array([0.1, 0.5, nan, 0.5, 0.3, 0.2, nan])).tolist() == [2, 3]
    assert _scored_twice(key, np.array([0.1, 0.5, nan, 0.6, nan, 0.2, 0.2])).tolist() == [1]
