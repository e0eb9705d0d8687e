"""arch's model confidence set, given the same draws."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from priori.uncertainty.comparing.max_t import Family, model_confidence_set

FOLDER = Path(__file__).parents[2] / "validation" / "arch"
losses_and_draws = runpy.run_path(str(FOLDER / "record.py"))["losses_and_draws"]
RECORD = json.loads((FOLDER / "record.json").read_text(encoding="utf-8"))


@pytest.fixture(params=RECORD["cases"].values(), ids=RECORD["cases"])
def case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    losses, draws = losses_and_draws(*request.param["settings"])
    return request.param, losses.mean(axis=0), losses[draws].mean(axis=1)


def counted(p_values: list[float], draws: int) -> np.ndarray:
    """Return arch's p-values as ours are counted: the data are one draw more."""
    return (1 + np.rint(np.array(p_values) * draws)) / (1 + draws)


def test_the_model_confidence_set_is_archs(case) -> None:
    record, mean, drawn = case
    first, second = np.triu_indices(mean.size, 1)
    spread = (drawn[:, first] - drawn[:, second]).std(axis=0)
    family = Family(first, second, spread, (mean[first] - mean[second]) / spread)
    found = model_confidence_set(drawn, family, mean)
    best = int(np.argmax(record["best"]))
    assert found[best] == record["best"][best] == 1
    others = np.arange(mean.size) != best
    np.testing.assert_allclose(found[others], counted(record["best"], len(drawn))[others], rtol=1e-12)
    assert np.flatnonzero(found >= 0.05).tolist() == record["could_be_best"]
