"""Looks: which scans are made, what is remembered between them, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memory_engine import Memory
from priori import InputError, Outcomes, Scores, Table, epc
from priori.base.alphas import grid
from priori.base.errors import OneClassError
from priori.decisions.criteria import get_criterion
from priori.engines.counting import Batch, Count, Counted, Fetch, Fetched, Owned
from priori.engines.looks import candidates_of, look, rejected_of
from priori.engines.table import PER_SCORE
from priori.scores.candidates import Candidates
from priori.scores.grid import Grid


class Counting(Memory):
    """The memory back end, and a list of what it was asked."""

    def __init__(self, scores: Scores) -> None:
        super().__init__(scores)
        self.scans: list[str] = []

    def answer(self, requests: Any) -> Any:
        for request in requests:
            in_grid = isinstance(request, Count) and isinstance(request.bins[0], Grid)
            self.scans.append("fetch" if isinstance(request, Fetch) else "histogram" if in_grid else "count")
        return super().answer(requests)


def shortlist(table: Table, rule: Any, alphas: Any) -> Candidates:
    return candidates_of([table], [rule], [alphas])[0]


def scores_of(seed: int = 1, size: int = 20_000) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.from_arrays(rng.normal(size=size), rng.normal(2, 1, size=size // 4))


def table_of(scores: Scores, limit: int = 1 << 20, bins: int = 1 << 12) -> tuple[Table, Counting]:
    engine = Counting(scores)
    return Table(engine, memory=limit * PER_SCORE, bins=bins), engine


def test_two_scans_choose() -> None:
    scores = scores_of()
    table, engine = table_of(scores)
    rule, alphas = get_criterion("wer"), grid(21)
    found = rule.choose_among(shortlist(table, rule, alphas), alphas)
    assert found.threshold.tolist() == rule.choose(scores, alphas).threshold.tolist()
    assert engine.scans == ["histogram", "fetch"]


def test_counts_at_thresholds_are_one_scan() -> None:
    scores, thresholds = scores_of(), np.linspace(-3, 5, 500)[::-1]
    table, engine = table_of(scores)
    (found,) = rejected_of([table], [thresholds])
    assert [counts.tolist() for counts in found] == [counts.tolist() for counts in scores.rejected(thresholds)]
    assert engine.scans == ["histogram", "count"]  # at a time: most ask for both


def test_the_winner_of_all_is_the_winner_of_its_part() -> None:
    scores = scores_of(size=4000)

    def far_from(outcomes: Outcomes, alpha: float) -> Any:  # nothing is known of it, so that all scores are fetched
        return np.abs(outcomes.fp - alpha * outcomes.fn)

    for rule in (get_criterion(far_from), get_criterion("wer")):
        alphas = grid(11)
        table, engine = table_of(scores, limit=40, bins=8)
        found = rule.choose_among(shortlist(table, rule, alphas), alphas)
        assert found.threshold.tolist() == rule.choose(scores, alphas).threshold.tolist()
        assert (engine.scans.count("fetch") > 1) == (rule.name == "far_from")


def test_a_panel_without_a_class_is_refused() -> None:
    engine = Counting(Scores(scores_of().negative, scores_of().positive.take(np.empty(0, dtype=np.intp))))
    with pytest.raises(OneClassError, match="no positive trial; both classes are needed"):
        _ = Table(engine, bins=64).n_negatives


def test_two_scans_of_each_set_make_a_curve() -> None:
    dev, test = (Counting(scores_of(seed)) for seed in (1, 2))
    found = epc(Table(dev), Table(test), points=11)
    assert found.value.tolist() == epc(scores_of(1), scores_of(2), points=11).value.tolist()
    assert dev.scans == ["histogram", "fetch"]
    assert test.scans == ["histogram", "count", "fetch"]  # the first two at a time


def test_scores_that_change_between_scans_are_refused() -> None:
    table, engine = table_of(scores_of())
    _ = table.histogram
    engine.scores = scores_of(2)
    with pytest.raises(InputError, match="the scores changed while they were read"):
        shortlist(table, get_criterion("wer"), grid(11))
    table, engine = table_of(scores_of())
    _ = table.histogram
    engine.scores = scores_of(1, 24_000)
    with pytest.raises(InputError, match="the scores changed while they were read"):
        rejected_of([table], [np.zeros(1)])


def test_finer_bins_divide_those_wanted_and_no_others() -> None:
    table, engine = table_of(scores_of(), limit=1000, bins=128)
    wanted, (low, high) = table.histogram.grid, table.histogram.filled[[60, 90]]

    def within(histogram: Any) -> Any:
        filled = np.zeros(histogram.grid.size, dtype=np.bool_)
        filled[histogram.filled] = True
        inside = wanted.bins(histogram.grid.lowest(np.arange(histogram.grid.size - 1)))
        return filled & np.append((low <= inside) & (inside <= high), False)

    (found,) = look([table], [within])
    assert set(engine.scans[:-1]) == {"histogram"}
    assert engine.scans[-1] == "fetch"  # in case that few are distinct
    assert found.known is None
    fine = found.histogram.grid
    at = np.linspace(-4, 6, 100_000)
    coarse, finer = wanted.bins(at), fine.bins(at)
    inside = (low <= coarse) & (coarse <= high)
    assert np.unique(coarse[~inside]).size == np.unique(finer[~inside]).size
    assert np.unique(finer[inside]).size >= 2 * np.unique(coarse[inside]).size
    assert table.histogram.grid is wanted  # what is answered later does not depend on it


def test_keys_hold_the_bins_of_as_many_systems_as_there_are() -> None:
    """Four systems of a million bins each need more bits than one number has."""
    rng = np.random.default_rng(0)
    scores, positive = rng.random((4, 300)), rng.integers(0, 2, 300).astype(np.uint8)
    cuts = (np.arange(1 << 20) + 0.5) / (1 << 20)
    counted = Counted(Count(None, (0, 1, 2, 3), (cuts,) * 4), Owned(), dict.fromkeys(range(4), np.float64), room=0)
    counted.add(Batch((*scores,), positive, None, None))
    found = counted.answer()
    assert found.number.tolist() == [1] * 300
    seen = np.vstack([found.positive, found.bins])
    expected = np.vstack([positive, *(np.searchsorted(cuts, score) for score in scores)])
    assert sorted(map(tuple, seen.T.tolist())) == sorted(map(tuple, expected.T.tolist()))


def test_scores_fetched_by_workers_are_those_fetched_here() -> None:
    table, engine = table_of(Scores.from_arrays([0.0, 0.25, 0.25, 0.5, 2.0], [0.25, 0.5, 0.75, 0.75]), bins=8)
    asked: list[Any] = []
    engine.answer = lambda requests: asked.extend(requests) or Memory.answer(engine, requests)  # type: ignore[method-assign]
    shortlist(table, get_criterion("wer"), grid(11))
    (request,) = (each for each in asked if isinstance(each, Fetch))
    here = Fetched(request)
    for rows in engine.batches((0,), ()):
        here.add(rows.of((0,)))
    found, again = here.answer(), Fetched(request).answered(here.entries())
    assert found is not None
    assert again is not None
    for name in ("value", "negative", "positive"):
        assert getattr(again, name).tolist() == getattr(found, name).tolist()
