"""Presets: the settings that an evaluation campaign or a certification has published, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from priori.base.alphas import from_costs
from priori.base.errors import OptionError, unknown


@dataclass(frozen=True)
class Preset:
    """What a campaign fixed: how thresholds are chosen and judged, or which limits the bounds must keep.

    ``maxima`` are limits of rates for `priori check`, held against the upper end of an interval of ``level``.
    """

    source: str
    criterion: str | None = None
    measure: str | None = None
    alpha: tuple[Any, ...] = ()
    maxima: Mapping[str, float] = field(default_factory=dict)
    level: float | None = None


#: Every preset by the name people type.
PRESETS: dict[str, Preset] = {
    "sre05": Preset(
        "NIST Speaker Recognition Evaluation 2005, evaluation plan (1996 to 2008 alike)",
        *("wer", "wer", (from_costs(10, 1, "0.01"),)),
    ),
    "sre10": Preset(
        "NIST Speaker Recognition Evaluation 2010, evaluation plan", *("wer", "nwer", (from_costs(1, 1, "0.001"),))
    ),
    "sre16": Preset(
        "NIST Speaker Recognition Evaluation 2016, evaluation plan: the mean of both costs is its primary one",
        *("wer", "nwer", (from_costs(1, 1, "0.01"), from_costs(1, 1, "0.005"))),
    ),
    "voxsrc": Preset("VoxSRC 2020, scoring tool", *("wer", "nwer", (from_costs(1, 1, "0.05"),))),
    "asvspoof5": Preset(
        "ASVspoof 5, track 1 (Wang et al., 2024): spoofed speech is a twentieth, and costs ten times as much",
        *("wer", "nwer", (from_costs(1, 10, "0.95"),)),
    ),
    "frte": Preset(
        "NIST Face Recognition Technology Evaluation, 1:1 verification: FNMR at these FMR",
        *("at-most-far", "frr", ("0.001", "0.0001", "0.00001", "0.000001")),
    ),
    "banca": Preset("BANCA protocol (Bailly-Baillière et al., 2003)", "wer", "hter", ("0.09", "0.5", "0.91")),
    "fido": Preset(
        "FIDO Biometrics Requirements (August 2018), 3.1: upper bounds of 80 % intervals",
        maxima={"far": 1e-4, "frr": 0.03},
        level=0.8,
    ),
}


def get_preset(name: str, *, limits: bool = False) -> Preset:
    """Return a preset by its name: one that chooses thresholds, or one of ``limits``."""
    suitable = [each for each, preset in PRESETS.items() if bool(preset.maxima) == limits]
    if name not in PRESETS:
        raise unknown("preset", name, suitable)
    if name not in suitable:
        use = "limits, for priori check" if not limits else "a criterion and a measure, for curves"
        raise OptionError(f"the preset {name} is one of {use}; choose among {', '.join(suitable)}")
    return PRESETS[name]
