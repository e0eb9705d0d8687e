"""pyeer's numbers, as its users will look for them here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from priori import Scores, a_posteriori_auc, a_posteriori_eer, epc

RECORD = json.loads((Path(__file__).parents[2] / "validation" / "pyeer" / "record.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RECORD["cases"].values(), ids=RECORD["cases"])
def test_numbers_are_pyeers(case: dict[str, Any]) -> None:
    seed, impostors, genuines, digits = case["settings"]
    rng = np.random.default_rng(seed)
    scores = Scores.from_arrays(*(rng.normal(mean, 1, n).round(digits) for mean, n in ((0, impostors), (2, genuines))))
    assert a_posteriori_auc(scores) == pytest.approx(case["auc"], rel=1e-12)
    # Where no threshold makes both rates equal, ours is the nearest one; pyeer may take its neighbour.
    step = 0.0 if genuines != 60 else 1 / 60
    assert a_posteriori_eer(scores) == pytest.approx(case["eer"], abs=step + 1e-12)
    best = epc(scores, scores, alpha=[0.5])
    assert 1 - best.v1[0] - best.v2[0] == pytest.approx(case["j_index"], abs=1e-12)


def test_fmr100_is_the_fnmr_of_a_target_read_on_the_same_scores() -> None:
    case = RECORD["cases"]["continuous"]
    rng = np.random.default_rng(0)
    scores = Scores.from_arrays(rng.normal(0, 1, 5000).round(9), rng.normal(2, 1, 500).round(9))
    found = epc(scores, scores, criterion="target-v1", alpha=["0.01", "0.001"], measure="frr")
    assert found.value.tolist() == pytest.approx([case["fmr100"], case["fmr1000"]], abs=1e-12)
