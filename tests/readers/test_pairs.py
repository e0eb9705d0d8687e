"""Scores and their labels in two files: which pairs were scored twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from priori import InputError, read
from priori.readers.two_files import _scored_twice


def test_a_pair_with_two_scores_is_found_and_one_that_is_only_repeated_is_not() -> None:
    key = np.array([7, 1, 2, 1, 2, 3, 3])
    nan = float("nan")
    assert key[_scored_twice(key, np.array([0.1, 0.5, nan, 0.5, nan, 0.2, 0.2]))].tolist() == []
    assert key[_scored_twice(key, np.array([0.1, 0.5, nan, 0.5, 0.3, 0.2, nan]))].tolist() == [2, 3]
    assert key[_scored_twice(key, np.array([0.1, 0.5, nan, 0.6, nan, 0.2, 0.2]))].tolist() == [1]


def test_scores_by_id_and_a_key_without_headers(tmp_path: Path) -> None:
    """As ASVspoof 2019 has them: the error says which header lines make them readable."""
    scores, key = tmp_path / "scores.txt", tmp_path / "key.txt"
    scores.write_text("D_1 1.5\nD_2 -0.5\nD_3 0.9\n")
    key.write_text("0069 D_1 - - bonafide\n0069 D_2 - A01 spoof\n0070 D_3 - - bonafide\n")
    with pytest.raises(InputError, match="put 'id score' above these"):
        read(scores, trials=key)
    scores.write_text("id score\n" + scores.read_text())
    key.write_text("speaker id codec attack label\n" + key.read_text())
    found = read(scores, trials=key)
    assert (found.n_negatives, found.n_positives) == (1, 2)
