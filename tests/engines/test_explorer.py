"""Explorer: which scans are made, what is remembered between them, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from memory_engine import Memory
from priori import InputError, Outcomes, Scores, Table, epc
from priori.base.alphas import grid
from priori.base.errors import OneClassError
from priori.decisions.criteria import get_criterion
from priori.engines.engine import Count, Fetch
from priori.engines.explorer import PER_SCORE, Explorer
from priori.scores.asking import ask
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


def run(asking: Any) -> Any:
    return ask([asking])[0]


def scores_of(seed: int = 1, size: int = 20_000) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.from_arrays(rng.normal(size=size), rng.normal(2, 1, size=size // 4))


def explorer_of(scores: Scores, limit: int = 1 << 20, cells: int = 1 << 12) -> tuple[Explorer, Counting]:
    engine = Counting(scores)
    return Explorer(engine, limit * PER_SCORE, cells), engine


def test_two_scans_choose() -> None:
    scores = scores_of()
    explorer, engine = explorer_of(scores)
    rule, alphas = get_criterion("wer"), grid(21)
    found = rule.choose_among(run(explorer.shortlist(rule, alphas)), alphas)
    assert found.threshold.tolist() == rule.choose(scores, alphas).threshold.tolist()
    assert engine.scans == ["histogram", "fetch"]
    run(explorer.shortlist(rule, alphas))  # what was looked into is remembered
    assert engine.scans == ["histogram", "fetch"]


def test_thresholds_said_in_time_cost_no_scan_of_their_own() -> None:
    scores, rule, alphas = scores_of(), get_criterion("wer"), [Fraction(1, 2)]
    for said, scans in ((True, ["histogram", "fetch"]), (False, ["histogram", "fetch", "fetch"])):
        explorer, engine = explorer_of(scores)
        if said:
            explorer.expect([-2.5, 3.1])
        run(explorer.shortlist(rule, alphas))
        found = run(explorer.rejected([-2.5, 3.1]))
        assert [counts.tolist() for counts in found] == [counts.tolist() for counts in scores.rejected([-2.5, 3.1])]
        assert engine.scans == scans


def test_counts_at_many_thresholds_are_tallied_where_their_cells_do_not_fit() -> None:
    scores, thresholds = scores_of(), np.linspace(-3, 5, 500)[::-1]
    explorer, engine = explorer_of(scores, limit=50, cells=64)
    found = run(explorer.rejected(thresholds))
    assert [counts.tolist() for counts in found] == [counts.tolist() for counts in scores.rejected(thresholds)]
    assert engine.scans == ["histogram", "count"]


def test_the_winner_of_all_is_the_winner_of_its_part() -> None:
    scores = scores_of(size=4000)

    def far_from(outcomes: Outcomes, alpha: float) -> Any:  # nothing is known of it, so that all scores are fetched
        return np.abs(outcomes.fp - alpha * outcomes.fn)

    for rule in (get_criterion(far_from), get_criterion("wer")):
        alphas = grid(11)
        explorer, engine = explorer_of(scores, limit=40, cells=8)
        found = rule.choose_among(run(explorer.shortlist(rule, alphas)), alphas)
        assert found.threshold.tolist() == rule.choose(scores, alphas).threshold.tolist()
        assert (engine.scans.count("fetch") > 1) == (rule.name == "far_from")


def test_a_panel_without_a_class_is_refused() -> None:
    engine = Counting(Scores(scores_of().negative, scores_of().positive.take(np.empty(0, dtype=np.intp))))
    with pytest.raises(OneClassError, match="no positive trial; both classes are needed"):
        _ = Explorer(engine, 1 << 20, 64).histogram


def test_two_scans_of_each_set_make_a_curve() -> None:
    dev, test = (Counting(scores_of(seed)) for seed in (1, 2))
    found = epc(Table(dev), Table(test), points=11)
    assert found.value.tolist() == epc(scores_of(1), scores_of(2), points=11).value.tolist()
    assert dev.scans == test.scans == ["histogram", "fetch"]


def test_scores_that_change_between_scans_are_refused() -> None:
    explorer, engine = explorer_of(scores_of())
    _ = explorer.histogram
    engine.scores = scores_of(2)
    with pytest.raises(InputError, match="the scores changed while they were read"):
        run(explorer.shortlist(get_criterion("wer"), grid(11)))
    explorer, engine = explorer_of(scores_of())
    keep = explorer.histogram.negative > 0
    engine.scores = scores_of(1, 24_000)
    with pytest.raises(InputError, match="the scores changed while they were read"):
        run(explorer.refine(keep))


def test_finer_cells_keep_what_is_known() -> None:
    explorer, engine = explorer_of(scores_of(), cells=128)
    keep = np.zeros(explorer.histogram.grid.size, dtype=np.bool_)
    keep[explorer.histogram.filled[:3]] = True
    assert run(explorer.look(keep))
    known = explorer.known_in(keep).value
    run(explorer.refine(keep))
    run(explorer.look(np.isin(np.arange(explorer.histogram.grid.size), explorer.histogram.grid.bins(known))))
    assert engine.scans == ["histogram", "fetch", "histogram"]
