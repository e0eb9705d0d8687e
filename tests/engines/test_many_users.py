"""Scanned sets with many users: bins are as many as the memory given holds for all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import priori
from priori.base.errors import OptionError
from priori.scores import BOUND, condense


def scanned(path: Path, users: int) -> priori.Table:
    rng = np.random.default_rng(0)
    label = np.arange(40_000) % 2
    score = rng.normal(size=label.size) + 2 * label
    rows = (f"{s:.6f},{y},u{i % users}" for i, (s, y) in enumerate(zip(score, label, strict=True)))
    path.write_text("\n".join(["score,label,user", *rows]) + "\n")
    return priori.scan(str(path), engine="duckdb", memory="1MB")


def test_counts_by_user_fit_in_the_room_that_there_is(tmp_path: Path) -> None:
    table = scanned(tmp_path / "scores.csv", 2000)
    bins, (note,) = condense(table, ("user",), narrow=BOUND, said="resampled")
    found = np.unique(np.concatenate([bins.negative.score, bins.positive.score]))
    assert 16 * 2000 * found.size <= 1 << 24
    assert "bins: no rate at any threshold is off by more than" in note
    finer, _ = condense(table, narrow=BOUND, said="resampled")
    assert finer.negative.score.size > found.size


def test_too_many_users_for_any_bins_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="too many for the 1 MB given; raise"):
        condense(scanned(tmp_path / "scores.csv", 20_000), ("user",), narrow=BOUND, said="resampled")
