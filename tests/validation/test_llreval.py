"""llreval's numbers of log-likelihood ratios, and scikit-learn's affine calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori

RECORD = json.loads((Path(__file__).parents[2] / "validation" / "llreval" / "record.json").read_text(encoding="utf-8"))


def scores_of(case: dict[str, Any]) -> priori.Scores:
    seed, negatives, positives, digits, scale = case["settings"]
    rng = np.random.default_rng(seed)
    sizes = (0, negatives), (2, positives)
    return priori.Scores.from_arrays(*((scale * (2 * rng.normal(m, 1, n) - 2)).round(digits) for m, n in sizes))


@pytest.mark.parametrize("case", RECORD["cases"].values(), ids=RECORD["cases"])
def test_costs_are_llrevals(case: dict[str, Any]) -> None:
    scores = scores_of(case)
    assert priori.cllr(scores) == pytest.approx(case["cllr"], rel=1e-9)
    assert priori.a_posteriori_min_cllr(scores) == pytest.approx(case["min_cllr"], rel=1e-9)


@pytest.mark.parametrize("case", RECORD["cases"].values(), ids=RECORD["cases"])
def test_the_bayes_error_plot_is_an_epc(case: dict[str, Any]) -> None:
    scores, alpha = scores_of(case), 1 / (1 + np.exp(-np.array(RECORD["log_odds"])))
    curve = priori.epc(scores, scores, criterion="bayes", measure="wer", alpha=alpha)
    # A score that equals the threshold is rejected here, and accepted by llreval.
    apart = ~np.isin(np.array(RECORD["log_odds"]), np.concatenate([scores.negatives, scores.positives]))
    assert curve.value[apart] == pytest.approx(np.array(case["actual"])[apart], abs=1e-9)
    assert curve.best == pytest.approx(case["minimum"], abs=1e-9)
    normalised = priori.epc(scores, scores, criterion="bayes", measure="nwer", alpha=alpha)
    expected = np.array(case["actual"]) / np.array(case["default"])
    assert normalised.value[apart] == pytest.approx(expected[apart], rel=1e-9)


@pytest.mark.parametrize("case", RECORD["cases"].values(), ids=RECORD["cases"])
def test_the_affine_calibration_is_scikit_learns(case: dict[str, Any]) -> None:
    fitted = priori.calibrate(scores_of(case), prior=RECORD["prior"]).to_dict()
    assert fitted["slope"] == pytest.approx(case["slope"], rel=1e-7)
    assert fitted["offset"] == pytest.approx(case["offset"], rel=1e-7, abs=1e-7)
