"""The record of simulated leaderboards: what is promised of many systems at once holds."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "validation" / "coverage"), str(ROOT / "validation" / "leaderboards")]

import boards  # noqa: E402
import page as pages  # noqa: E402
from tallies import Row  # noqa: E402

import priori  # noqa: E402
from priori.uncertainty.ranking.ranking import SYSTEMS_A_USER  # noqa: E402


@pytest.fixture(scope="module")
def record() -> pages.Record:
    with (ROOT / "validation" / "leaderboards" / "record.csv").open(newline="", encoding="utf-8") as file:
        return pages.Record(Row.read(line) for line in csv.DictReader(file))


@pytest.mark.parametrize("claim", ["deployed", "method"])
def test_the_familywise_error_is_at_most_six_per_cent(record, claim) -> None:
    """Where there are more than two systems for each user it is more, and the result says so (many-systems)."""
    warned = {board.title for board in boards.BOARDS if board.systems > SYSTEMS_A_USER * board.users}
    assert warned == {"100 systems, 20 users, two better"}
    rows = [row for row in record.rows if row.part == claim and row.promise == "familywise error"]
    rows = [row for row in rows if row.population not in warned]
    assert np.average([row.measured for row in rows], weights=[row.repeats for row in rows]) <= 0.06
    for row in rows:
        assert row.measured <= 0.06 + 3 * np.sqrt(0.06 * 0.94 / row.repeats), row


def test_ranks_the_best_and_tau_are_covered(record) -> None:
    promised = [row for row in record.rows if row.nominal == 0.95]
    assert {row.promise for row in promised} == {"all ranks", "the best", "Kendall's tau"}
    for row in promised:
        assert row.measured >= 0.94 - 3 * np.sqrt(0.06 * 0.94 / row.repeats), row


def test_moves_are_not_invented(record) -> None:
    rows = [row for row in record.rows if row.promise == "false moves"]
    assert np.average([row.measured for row in rows], weights=[row.repeats for row in rows]) <= 0.05


def test_stepping_down_has_more_power_than_holm(record) -> None:
    titles = {row.population for row in record.of(part="deployed", promise="power")}
    assert titles
    for title in titles:
        ours, holm = (record.get("deployed", title, method, "power") for method in ("max-T", "Holm, normal tails"))
        assert ours.measured >= holm.measured - 3 * np.hypot(ours.standard_error, holm.standard_error), title


@pytest.mark.parametrize("kind", ["two better", "moved"])
def test_leaderboards_know_their_own_rates(kind) -> None:
    board = boards.LeaderboardPopulation(6, 800, kind)
    curves = board.curves("deployed", 1)
    truth = board.values(np.array([curve.threshold[0] for curve in curves]))
    assert [curve.value[0] for curve in curves] == pytest.approx(truth, abs=0.015)
    seen = [priori.a_posteriori_eer(curve.test) for curve in curves]
    assert seen == pytest.approx(board.equal_error_rates, abs=0.015)
