"""cimat's variances and intervals on the design of its paper, and the record of what they and ours cover."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori

FOLDER = Path(__file__).parents[2] / "validation" / "cimat"
MEASURE = runpy.run_path(str(FOLDER / "measure.py"))
ROWS = MEASURE["read_record"](FOLDER / "record.csv")
TRUTH: dict[str, list[tuple[float, float]]] = json.loads((FOLDER / "population.json").read_text(encoding="utf-8"))


def by_population() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in ROWS:
        found.setdefault(row.population, {})[row.method] = row
    return found


@pytest.mark.parametrize(("rate", "place"), [("far", 3), ("frr", 2), ("frr", 3)])
def test_our_variance_is_cimats_with_its_bias_mended(rate: str, place: int) -> None:
    """The plug-in variance over one minus the share of pairs of trials that share a person, where many people err."""
    people, threshold = 100, TRUTH[rate][place][0]
    score = MEASURE["similarities"](np.random.default_rng(1), people)
    first, second, one, other = MEASURE["pairs"](people)
    scores = priori.Scores.from_predictions(
        (one == other).astype(int), score[first, second], user=one, probe_user=other
    )
    found = priori.rate_interval(scores, threshold, rate=rate)  # type: ignore[arg-type]
    if rate == "far":  # a pair of people meets 2 (people - 2) + 1 of all pairs
        share = (2 * (people - 2) + 1) / (people * (people - 1) / 2)
    else:
        share = 1 / people
    ours = found.design_effect * found.rate * (1 - found.rate) / found.trials
    theirs = MEASURE["Errors"](score, rate, threshold).plug_in()
    assert ours == pytest.approx(theirs / (1 - share), rel=1e-9)


def test_every_population_was_measured_with_every_interval() -> None:
    assert len(by_population()) == 40
    assert {len(methods) for methods in by_population().values()} == {5}
    assert min(row.repeats for row in ROWS) >= 80


def test_ours_covers_as_much_as_cimats_or_95_per_cent() -> None:
    """Within two and a half standard errors of the difference from the lower of the two."""
    short = []
    for population, methods in by_population().items():
        ours = methods["priori: rate_interval"]
        for theirs in (methods["cimat: Wilson, plug-in"], methods["cimat: Wilson, double-or-nothing"]):
            wanted = min(0.95, theirs.measured)
            error = np.sqrt(0.05 * 0.95 / ours.repeats)
            if ours.measured < wanted - 2.5 * error:
                short.append((population, ours.measured, theirs.method, theirs.measured))
    assert short == []
