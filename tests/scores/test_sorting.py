"""Sorting on all processors gives what numpy's sort gives, whatever the scores and the number of parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from priori.scores import sorting

RNG = np.random.default_rng(7)
COLUMNS = {
    "bell": RNG.normal(size=5000),
    "ties": RNG.integers(0, 3, 4000).astype(float),
    "one value": np.full(3000, 0.25),
    "infinities": np.where(RNG.random(2500) < 0.3, np.inf, np.where(RNG.random(2500) < 0.3, -np.inf, RNG.random(2500))),
    "crowded": np.append(np.zeros(3900), RNG.random(100)),
    "sorted": np.arange(4096.0),
    "few": np.array([3.0, 1.0]),
    "none": np.empty(0),
}


@pytest.mark.parametrize("workers", [1, 2, 3, 16])
@pytest.mark.parametrize("names", [["bell"], ["bell", "few"], ["none", "few"], list(COLUMNS)])
def test_the_same_as_numpy(monkeypatch: pytest.MonkeyPatch, workers: int, names: list[str]) -> None:
    monkeypatch.setattr(sorting, "processors", lambda: workers)
    monkeypatch.setattr(sorting, "FEWEST", 16)
    monkeypatch.setattr(sorting, "BLOCK", 1000)
    given = [COLUMNS[name] for name in names]
    before = [column.copy() for column in given]
    for found, column, copy in zip(sorting.sorted_columns(given), given, before, strict=True):
        np.testing.assert_array_equal(found, np.sort(copy))
        np.testing.assert_array_equal(column, copy)
        assert not found.flags.writeable


def test_parts_have_about_the_same_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """One class nine times the other: eight processors sort eight or nine parts, none of which has a quarter more."""
    monkeypatch.setattr(sorting, "processors", lambda: 8)
    sizes: list[int] = []
    place = sorting._place

    def noted(part: np.ndarray, *scores: Any) -> None:
        sizes.append(part.size)
        place(part, *scores)

    monkeypatch.setattr(sorting, "_place", noted)
    sorting.sorted_columns([RNG.normal(size=900_000), RNG.normal(size=100_000)])
    assert len(sizes) == 8
    assert max(sizes) < 1.25 * 1_000_000 / 8


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("name", COLUMNS)
def test_gaps_are_counted_alike(monkeypatch: pytest.MonkeyPatch, workers: int, name: str) -> None:
    monkeypatch.setattr(sorting, "processors", lambda: workers)
    monkeypatch.setattr(sorting, "FEWEST", 16)
    edges = np.array([-np.inf, 0.0, 0.25, 1.0, 4095.0, np.inf])
    expected = [sum(edge < score for edge in edges.tolist()) for score in COLUMNS[name].tolist()]
    assert sorting.gaps_of(edges, COLUMNS[name]).tolist() == expected
