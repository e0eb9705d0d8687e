"""Sorting on all processors gives what numpy's sort gives, whatever the scores and the number of parts."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from priori.base import processors as machine
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
    "extremes": np.tile([5e-324, -5e-324, 1e308, -1e308, 0.0, np.inf, -np.inf, 1.0, -1.0], 300),
    "single precision": RNG.normal(size=3000).astype(np.float32).astype(float),
    "none": np.empty(0),
}


@pytest.mark.parametrize("way", [sorting.BY_NUMPY, sorting.BY_DIGITS], ids=["numpy", "digits"])
@pytest.mark.parametrize("workers", [1, 2, 3, 16])
@pytest.mark.parametrize("names", [["bell"], ["bell", "few"], ["none", "few"], list(COLUMNS)])
def test_the_same_as_numpy(monkeypatch: pytest.MonkeyPatch, workers: int, names: list[str], way: sorting.Way) -> None:
    monkeypatch.setattr(sorting, "processors", lambda: workers)
    monkeypatch.setattr(sorting, "FEWEST", 16)
    monkeypatch.setattr(sorting, "BLOCK", 1000)
    monkeypatch.setattr(sorting, "_way", lambda total: way)
    given = [COLUMNS[name] for name in names]
    before = [column.copy() for column in given]
    for found, column, copy in zip(sorting.sorted_columns(given), given, before, strict=True):
        np.testing.assert_array_equal(found, np.sort(copy))
        np.testing.assert_array_equal(column, copy)
        assert not found.flags.writeable


@pytest.mark.parametrize(
    ("total", "slow", "loaded", "compiles", "by_digits"),
    [
        (1 << 23, True, False, True, True),
        (1 << 23, False, False, True, False),  # numpy is as fast
        ((1 << 23) - 1, True, False, True, False),  # not worth importing numba
        (1 << 18, True, True, True, True),
        ((1 << 18) - 1, True, True, True, False),
        (1 << 23, True, False, False, False),  # NUMBA_DISABLE_JIT
    ],
)
def test_digits_are_for_many_scores_where_numpy_is_slow(
    monkeypatch: pytest.MonkeyPatch, total: int, slow: bool, loaded: bool, compiles: bool, by_digits: bool
) -> None:
    from numba.core import config

    monkeypatch.setattr(sorting, "_numpy_is_slow", lambda: slow)
    monkeypatch.setattr(config, "DISABLE_JIT", int(not compiles))
    if not loaded:
        monkeypatch.delitem(sys.modules, "numba")
        monkeypatch.setitem(sys.modules, "numba.core", type(sys)("numba.core"))
        monkeypatch.setattr(sys.modules["numba.core"], "config", config, raising=False)
    assert sorting._way(total) == (sorting.BY_DIGITS if by_digits else sorting.BY_NUMPY)


def test_single_precision_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_way", lambda total: sorting.BY_DIGITS)
    monkeypatch.setattr(sorting, "FEWEST", 16)
    column = RNG.normal(size=999).astype(np.float32)
    (found,) = sorting.sorted_columns([column])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.sort(column))


def test_numpy_is_slow_where_a_score_takes_longer_than_by_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = 1 << 15
    for nanoseconds, slow in ((14.9, False), (15.1, True)):
        # The first sort takes a second more: the shortest of three counts.
        ticks = iter([0.0, 1.0, 2.0, 2.0 + nanoseconds * scores / 1e9, 4.0, 5.0])
        monkeypatch.setattr(sorting.time, "perf_counter", lambda ticks=ticks: next(ticks))
        assert sorting._numpy_is_slow.__wrapped__() is slow


def test_parts_have_about_the_same_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """One class nine times the other: eight processors sort eight or nine parts, none of which has a quarter more."""
    monkeypatch.setattr(sorting, "processors", lambda: 8)
    sizes: list[int] = []
    place = sorting._place

    def noted(part: np.ndarray, *scores: Any) -> None:
        sizes.append(part.size)
        place(part, *scores)

    monkeypatch.setattr(sorting, "_way", lambda total: sorting.BY_NUMPY._replace(place=noted))
    sorting.sorted_columns([RNG.normal(size=900_000), RNG.normal(size=100_000)])
    assert len(sizes) == 8
    assert max(sizes) < 1.25 * 1_000_000 / 8


@pytest.fixture(params=[1, 2, 5])
def small_parts(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    """Work is divided into parts of 16 items and more, for as many processors."""
    monkeypatch.setattr(machine, "processors", lambda: request.param)
    monkeypatch.setattr(sorting, "processors", lambda: request.param)
    monkeypatch.setattr(machine, "FEWEST", 16)
    monkeypatch.setattr(sorting, "FEWEST", 16)
    return int(request.param)


@pytest.mark.parametrize("few_edges", [3, 1 << 12], ids=["searched for", "looked up"])
@pytest.mark.parametrize("name", COLUMNS)
def test_gaps_are_counted_alike(monkeypatch: pytest.MonkeyPatch, small_parts: int, name: str, few_edges: int) -> None:
    monkeypatch.setattr(sorting, "FEW_EDGES", few_edges)
    edges = np.array([-np.inf, 0.0, 0.25, 1.0, 4095.0, np.inf])
    expected = [sum(edge < score for edge in edges.tolist()) for score in COLUMNS[name].tolist()]
    assert sorting.gaps_of(edges, COLUMNS[name]).tolist() == expected
    after = [sum(edge <= score for edge in edges.tolist()) for score in COLUMNS[name].tolist()]
    assert sorting.places_of(edges, COLUMNS[name], "right").tolist() == after


def test_counts_are_those_of_one_pass(small_parts: int) -> None:
    groups, gaps = RNG.integers(0, 7, 5000).astype(np.int32), RNG.integers(0, 3, 5000)
    expected = np.zeros((7, 3), dtype=np.int64)
    np.add.at(expected, (groups, gaps), 1)
    assert sorting.counts_by(groups, 7, gaps, 3, None).tolist() == expected.tolist()
    number = RNG.integers(1, 9, 5000)
    expected[:] = 0
    np.add.at(expected, (groups, gaps), number)
    assert sorting.counts_by(groups, 7, gaps, 3, number).tolist() == expected.tolist()


def test_weights_add_up_to_the_last_bit_however_many_processors_there_are(small_parts: int) -> None:
    groups, gaps, weight = RNG.integers(0, 2, 5000), np.zeros(5000, dtype=np.intp), RNG.random(5000)
    one_by_one = [0.0, 0.0]
    for group, each in zip(groups.tolist(), weight.tolist(), strict=True):
        one_by_one[group] += each
    assert sorting.counts_by(groups, 2, gaps, 1, weight)[:, 0].tolist() == one_by_one


def test_parts_are_all_of_it_in_order(small_parts: int) -> None:
    parts = machine.in_parts(lambda part: list(range(part.start, part.stop)), 1000)
    assert [item for part in parts for item in part] == list(range(1000))
    assert len(parts) == (1 if small_parts == 1 else 4 * small_parts)
    assert len(machine.in_parts(lambda part: part, 31)) == 1
    assert len(machine.in_parts(lambda part: part, 1000, 3)) == (1 if small_parts == 1 else 3)


def test_what_fails_in_a_part_fails(small_parts: int) -> None:
    with pytest.raises(ZeroDivisionError):
        machine.in_parts(lambda part: 1 // (part.stop - 1000), 1000)
