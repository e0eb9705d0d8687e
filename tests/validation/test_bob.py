"""The same EPC as bob.measure wherever bob's threshold is optimal; a better one wherever it is not."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori
from priori import Scores

RECORD: dict[str, Any] = json.loads((Path(__file__).parents[2] / "validation" / "bob" / "epc.json").read_text())


def _errors(negatives: np.ndarray, positives: np.ndarray, threshold: float) -> tuple[int, int]:
    # bob accepts when score >= threshold.
    return int((negatives >= threshold).sum()), int((positives < threshold).sum())


@pytest.mark.parametrize("name", list(RECORD["cases"]))
def test_epc(name: str) -> None:
    case = {key: np.array(values) for key, values in RECORD["cases"][name].items()}
    dev = Scores.from_arrays(case["dev_negatives"], case["dev_positives"])
    test = Scores.from_arrays(case["test_negatives"], case["test_positives"])
    curve = priori.epc(dev, test, points=101)
    n, p = len(dev.negative), len(dev.positive)
    same = 0
    for index, alpha in enumerate(curve.fractions):
        theirs = _errors(case["dev_negatives"], case["dev_positives"], case["threshold"][index])
        ours = int(curve.dev_outcomes.fp[index]), int(curve.dev_outcomes.fn[index])
        cost = [alpha * Fraction(fp, n) + (1 - alpha) * Fraction(fn, p) for fp, fn in (ours, theirs)]
        assert cost[0] <= cost[1]
        if ours == theirs and np.isfinite(curve.threshold[index]):
            # Same candidate, and the midpoint of the same gap: the same decisions on the test set. (Where all are
            # accepted or rejected ours is infinite; bob stays near the last development score.)
            same += 1
            assert curve.value[index] == pytest.approx(case["hter"][index], abs=1e-12)
    if name in ("continuous", "unbalanced"):
        assert same >= 95
