"""Sorting, placing and counting on all processors give what one pass gives, whatever the scores."""

from __future__ import annotations

import numpy as np
import pytest

from priori.base import limits as machine
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


@pytest.fixture(params=[1, 2, 5])
def small_parts(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> int:
    """Work is divided into parts of 16 items and more, for as many processors."""
    monkeypatch.setattr(machine, "processors", lambda: request.param)
    monkeypatch.setattr(sorting, "processors", lambda: request.param)
    monkeypatch.setattr(machine, "FEWEST", 16)
    monkeypatch.setattr(sorting, "FEWEST", 16)
    return int(request.param)


@pytest.mark.parametrize("few_cuts", [3, 1 << 12], ids=["searched for", "looked up"])
@pytest.mark.parametrize("name", COLUMNS)
def test_bins_are_counted_alike(monkeypatch: pytest.MonkeyPatch, small_parts: int, name: str, few_cuts: int) -> None:
    monkeypatch.setattr(sorting, "FEW_CUTS", few_cuts)
    cuts = np.array([-np.inf, 0.0, 0.25, 1.0, 4095.0, np.inf])
    expected = [sum(cut < score for cut in cuts.tolist()) for score in COLUMNS[name].tolist()]
    assert sorting.bins_of(cuts, COLUMNS[name]).tolist() == expected
    after = [sum(cut <= score for cut in cuts.tolist()) for score in COLUMNS[name].tolist()]
    assert sorting.places_of(cuts, COLUMNS[name], "right").tolist() == after


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of", COLUMNS)
@pytest.mark.parametrize("name", COLUMNS)
def test_many_cuts_are_looked_up_as_they_are_searched_for(name: str, of: str, dtype: type) -> None:
    cuts = np.unique(COLUMNS[of])
    with np.errstate(over="ignore"):
        scores = np.concatenate([COLUMNS[name], cuts]).astype(dtype)
    expected = np.searchsorted(cuts, scores.astype(float), side="left")
    assert sorting.Cuts.of(cuts, dtype).bins(scores).tolist() == expected.tolist()


def test_cuts_on_both_sides_of_zero_are_told_apart() -> None:
    bell = np.unique(COLUMNS["bell"])
    assert np.count_nonzero(sorting.Cuts.of(bell).table < 0) > 0.95 * bell.size


def test_counts_are_those_of_one_pass(small_parts: int) -> None:
    groups, bins = RNG.integers(0, 7, 5000).astype(np.int32), RNG.integers(0, 3, 5000)
    expected = np.zeros((7, 3), dtype=np.int64)
    np.add.at(expected, (groups, bins), 1)
    assert sorting.counts_by(groups, 7, bins, 3, None).tolist() == expected.tolist()
    number = RNG.integers(1, 9, 5000)
    expected[:] = 0
    np.add.at(expected, (groups, bins), number)
    assert sorting.counts_by(groups, 7, bins, 3, number).tolist() == expected.tolist()


def test_weights_add_up_to_the_last_bit_however_many_processors_there_are(small_parts: int) -> None:
    groups, bins, weight = RNG.integers(0, 2, 5000), np.zeros(5000, dtype=np.intp), RNG.random(5000)
    one_by_one = [0.0, 0.0]
    for group, each in zip(groups.tolist(), weight.tolist(), strict=True):
        one_by_one[group] += each
    assert sorting.counts_by(groups, 2, bins, 1, weight)[:, 0].tolist() == one_by_one


def test_parts_are_all_of_it_in_order(small_parts: int) -> None:
    parts = machine.in_parts(lambda part: list(range(part.start, part.stop)), 1000)
    assert [item for part in parts for item in part] == list(range(1000))
    assert len(parts) == (1 if small_parts == 1 else 4 * small_parts)
    assert len(machine.in_parts(lambda part: part, 31)) == 1
    assert len(machine.in_parts(lambda part: part, 1000, 3)) == (1 if small_parts == 1 else 3)


def test_what_fails_in_a_part_fails(small_parts: int) -> None:
    with pytest.raises(ZeroDivisionError):
        machine.in_parts(lambda part: 1 // (part.stop - 1000), 1000)
