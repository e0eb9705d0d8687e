"""The same averages as ROCR: equal where no curve has a vertical or horizontal line, else within interpolation."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import priori
from priori import Scores
from priori.curves.averaging.curves import heights, rates
from priori.curves.averaging.methods import Axis

FOLDER = Path(__file__).parents[2] / "validation" / "rocr"


def data_sets(name: str) -> list[Scores]:
    found: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    with (FOLDER / f"{name}.csv").open() as file:
        for row in csv.DictReader(file):
            found[row["dataset"]][int(row["label"])].append(float(row["score"]))
    return [Scores.from_arrays(*found[key]) for key in sorted(found)]


def record(name: str, method: str) -> dict[str, np.ndarray]:
    with (FOLDER / f"{name}-rocr.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == method]
    return {key: np.array([float(row[key]) for row in rows if row[key] != "NA"]) for key in ("cutoff", "fpr", "tpr")}


@pytest.mark.parametrize(("method", "along", "averaged"), [("vertical", "fpr", "tpr"), ("horizontal", "tpr", "fpr")])
def test_ratings_are_averaged_equally_along_an_axis(method, along, averaged):
    theirs = record("ratings", method)
    ours = priori.average(data_sets("ratings"), method=method, positions=theirs[along])
    assert np.allclose(getattr(ours, averaged), theirs[averaged], atol=1e-14)


def test_ratings_are_averaged_equally_at_thresholds():
    theirs = record("ratings", "threshold")
    # ROCR accepts when score >= cutoff: the cutoff of a rating is our threshold just below it.
    thresholds = np.nextafter(theirs["cutoff"], -np.inf)
    ours = priori.average(data_sets("ratings"), method="threshold", positions=thresholds)
    assert np.allclose(ours.fpr, theirs["fpr"], atol=1e-14)
    assert np.allclose(ours.tpr, theirs["tpr"], atol=1e-14)


def mean_height(sets: list[Scores], at: np.ndarray, axis: Axis, *, upper: bool) -> np.ndarray:
    """The mean of the curves at the vertex after each position (upper end), or at the one before (lower end)."""
    found = []
    for part in sets:
        size = len(part.negative) if axis.sine == 0 else len(part.positive)
        steps = np.ceil(at * size - 1e-9) if upper == (axis.sine == 0) else np.floor(at * size + 1e-9)
        found.append(heights(part, steps / size, axis, upper=upper))
    return np.mean(found, axis=0)


@pytest.mark.parametrize(("method", "axis"), [("vertical", Axis(1.0, 0.0)), ("horizontal", Axis(0.0, 1.0))])
def test_scores_are_averaged_within_interpolation(method, axis):
    # Over a vertical line ROCR takes the mean of its points, we the upper one, and ROCR joins those means: its value
    # lies between the lower end at the vertex before and the upper end at the vertex after.
    theirs, sets = record("scores", method), data_sets("scores")
    at = theirs["fpr" if method == "vertical" else "tpr"]
    height = theirs["tpr"] if method == "vertical" else -theirs["fpr"]
    assert (height <= mean_height(sets, at, axis, upper=True) + 1e-12).all()
    assert (height >= mean_height(sets, at, axis, upper=False) - 1e-12).all()
    ours = np.mean([heights(part, at, axis) for part in sets], axis=0)
    assert np.abs(ours - height).mean() < 0.015


def test_scores_are_averaged_at_thresholds_within_one_trial():
    # Between two scores ROCR joins the rates by a straight line, so it differs by at most one trial in each data set.
    theirs, sets = record("scores", "threshold"), data_sets("scores")
    ours = priori.average(sets, method="threshold", positions=theirs["cutoff"])
    for index, name in enumerate(("fpr", "tpr")):
        at_most = np.mean([rates(part, _score_below(part, theirs["cutoff"]))[index] for part in sets], axis=0)
        assert (theirs[name] >= getattr(ours, name) - 1e-12).all()
        assert (theirs[name] <= at_most + 1e-12).all()
        assert np.abs(theirs[name] - getattr(ours, name)).mean() < 0.015


def _score_below(part: Scores, cutoff: np.ndarray) -> np.ndarray:
    """Just below the greatest score that is not above the cutoff; below all scores where there is none."""
    values = np.unique(np.concatenate([part.negatives, part.positives]))
    index = np.searchsorted(values, cutoff, side="right") - 1
    return np.nextafter(values[np.maximum(index, 0)], -np.inf)
