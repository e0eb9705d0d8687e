"""Presets: costs by hand, and what each is for."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori.decisions.presets import PRESETS, get_preset

#: The cost of a miss and of a false alarm, and the share of targets, as the campaigns published them.
COSTS = {
    "sre05": [(10, 1, 0.01)],
    "sre10": [(1, 1, 0.001)],
    "sre16": [(1, 1, 0.01), (1, 1, 0.005)],
    "voxsrc": [(1, 1, 0.05)],
    "asvspoof5": [(1, 10, 0.95)],
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_are_those_published(name: str) -> None:
    rng = np.random.default_rng(1)
    dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 3000), rng.normal(2.5, 1, 500)) for _ in range(2))
    curve = priori.epc(dev, test, preset=name)
    for row, (miss, alarm, prior) in enumerate(COSTS[name]):
        weights = miss * prior, alarm * (1 - prior)
        scale = sum(weights) if name == "sre05" else min(weights)
        assert curve.value[row] == pytest.approx((weights[0] * curve.v2[row] + weights[1] * curve.v1[row]) / scale)


def test_every_preset_has_a_source_and_one_use() -> None:
    for name, preset in PRESETS.items():
        assert preset.source
        assert (preset.criterion is None) == bool(preset.maxima), name


def test_a_preset_serves_what_it_is_for() -> None:
    with pytest.raises(priori.OptionError, match="for priori check"):
        get_preset("fido")
    with pytest.raises(priori.OptionError, match="for curves"):
        get_preset("voxsrc", limits=True)
    with pytest.raises(priori.OptionError, match="nist"):
        get_preset("nist")
