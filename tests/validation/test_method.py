"""The record of the test of systems as methods: the test keeps its size, has the most power, and the page shows it."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "validation" / "coverage"), str(ROOT / "validation" / "method")]

import page as pages  # noqa: E402
import system_pairs  # noqa: E402
from tallies import Row  # noqa: E402


@pytest.fixture(scope="module")
def record() -> pages.Record:
    with (ROOT / "validation" / "method" / "record.csv").open(newline="", encoding="utf-8") as file:
        return pages.Record(Row.read(line) for line in csv.DictReader(file))


def test_true_nulls_are_rejected_about_as_often_as_stated(record) -> None:
    for row in record.of(part="size", method="method"):
        assert row.measured <= 0.08 + 3 * row.standard_error, row


def test_no_valid_test_has_more_power(record) -> None:
    def mean(method: str) -> float:
        rows = [row.measured for row in record.of(part="power", method=method) if row.promise.startswith("alpha")]
        return float(np.mean(rows))

    assert mean("method") > mean("observed difference, both resampled")
    assert mean("method") > mean("oracle on the observed")


def test_the_page_shows_every_population(record) -> None:
    text = pages.full_record({"method": record.rows})
    for row in record.rows:
        lines = text.partition(f"## method: {row.part}; {row.promise}\n")[2].partition("\n## ")[0]
        (shown,) = (line for line in lines.splitlines() if line.startswith(f"| {row.population} |"))
        assert f"| {pages.percent(row.measured)} (" in shown


@pytest.mark.parametrize("systems", [*system_pairs.NULLS, *system_pairs.ALTERNATIVES], ids=lambda one: one.title)
def test_populations_know_their_own_rates(systems) -> None:
    scores = systems.draw(400, 1, prefix="u")
    for s, one in enumerate(scores):
        threshold = np.quantile(np.concatenate([one.negatives, one.positives]), [0.4, 0.6])
        tn, fn = one.rejected(threshold)
        seen = ((1 - tn / one.n_negatives) + fn / one.n_positives) / 2
        assert seen == pytest.approx(systems.value(s, threshold), abs=0.04)
