"""A frame of trials is taken wherever scores are, and what is neither is named in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import priori
from priori.studies.sizes import design_effect

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "epc": lambda a, b: priori.epc(a, b, alpha=[0.3]).value.tolist(),
    "areas": lambda a, b: priori.areas(a, b).g,
    "auc": lambda a, b: priori.a_posteriori_auc(a),
    "auc interval": lambda a, b: priori.a_posteriori_auc_interval(a).lower,
    "auc test": lambda a, b: priori.a_posteriori_auc_test(a, b).p_value,
    "break-even": lambda a, b: priori.a_posteriori_break_even(a),
    "eer": lambda a, b: [priori.a_posteriori_eer(a, method=method) for method in ("nearest", "hull")],
    "min cllr": lambda a, b: priori.a_posteriori_min_cllr(a),
    "min dcf": lambda a, b: priori.a_posteriori_min_dcf(a),
    "partial auc": lambda a, b: priori.a_posteriori_partial_auc(a, (0, 0.3)),
    "average precision": lambda a, b: priori.average_precision(a),
    "calibrate": lambda a, b: priori.calibrate(a).apply([0.7]).tolist(),
    "cllr": lambda a, b: priori.cllr(a),
    "count": lambda a, b: priori.count(a, [0.7]).to_dict(),
    "design effect": lambda a, b: design_effect(a, 0.7).covariance,
    "plan": lambda a, b: priori.plan(width=0.1, pilot=a, threshold=0.7).to_dict(),
    "rate interval": lambda a, b: priori.rate_interval(a, 0.7).upper,
    "user rates": lambda a, b: priori.user_rates(a, 0.7).lower.tolist(),
    "ztest": lambda a, b: priori.ztest_scores(a, 0.7, b, 0.6).comparison.independent.p_value,
}


def frames() -> list[pd.DataFrame]:
    rng = np.random.default_rng(5)
    label = np.repeat([0, 1], 60)
    noise = rng.normal(size=120)
    table = {"label": label, "user": np.tile(range(12), 10), "trial": range(120)}
    return [pd.DataFrame({"score": noise + rng.normal(1.5 * label), **table}) for _ in range(2)]


@pytest.mark.parametrize("name", CALLS)
def test_a_frame_gives_what_its_scores_give(name: str) -> None:
    a, b = frames()
    assert CALLS[name](a, b) == CALLS[name](priori.Scores.from_frame(a), priori.Scores.from_frame(b))


@pytest.mark.parametrize("name", CALLS)
def test_a_path_is_told_from_scores(name: str) -> None:
    with pytest.raises(priori.PrioriError, match="scores"):
        CALLS[name]("a-test.csv", "b-test.csv")


@pytest.mark.parametrize("threshold", [float("nan"), "high", None])
def test_a_threshold_is_a_number(threshold: Any) -> None:
    (a, _) = frames()
    calls: list[Callable[[], Any]] = [
        lambda: priori.rate_interval(a, threshold),
        lambda: priori.user_rates(a, threshold),
        lambda: priori.group_rates(a, threshold, groups={user: "ab"[user % 2] for user in range(12)}),
        lambda: design_effect(a, threshold),
    ]
    for call in calls:
        with pytest.raises(priori.OptionError, match="a threshold is a number"):
            call()
    with pytest.raises(priori.OptionError, match="a threshold is a number"):
        priori.count(a, [0.5, float("nan")])
