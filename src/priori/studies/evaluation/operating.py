"""What a threshold does to each kind of trials, on both sets: at every alpha, along the scores, and by other draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.expected.thresholds import new_thresholds
from priori.uncertainty.rates.rate_intervals import RateInterval, intervals_along

#: At one threshold the error rate of each kind of trials that there are: positives, negatives, attacks.
Rates = dict[str, RateInterval]
#: At so many places along the scores it is known what a threshold there would do.
PLACES = 121


def rates_at(scores: ScoreSet, thresholds: Floats, levels: Sequence[float]) -> list[list[Rates]]:
    """Return the error rates at thresholds with intervals at each of several confidence levels, from one scan."""
    cuts, place = np.unique(thresholds, return_inverse=True)
    (counted,) = scores.count([cuts], ("user", "attack"))
    attack = counted.negative.attack
    kinds = {"positives": counted, "negatives": counted}
    if attack is not None and attack.any():
        masks = {"negatives": attack == 0, "attacks": attack > 0}
        parts = {kind: counted.negative.take(np.flatnonzero(mask)) for kind, mask in masks.items()}
        del kinds["negatives"]
        kinds |= {kind: replace(counted, negative=trials) for kind, trials in parts.items() if len(trials)}
    found = []
    for level in levels:
        columns = [
            intervals_along(trials, cuts, rate="frr" if kind == "positives" else "far", confidence_level=level)
            for kind, trials in kinds.items()
        ]
        found.append([{kind: column[at] for kind, column in zip(kinds, columns, strict=True)} for at in place])
    return found


def mixture(rates: Rates) -> dict[str, float]:
    """Return the share of each kind of trials among those that are no positives, as the set has them."""
    trials = {kind: rate.trials for kind, rate in rates.items() if kind != "positives"}
    return {kind: number / sum(trials.values()) for kind, number in trials.items()}


class Promise(NamedTuple):
    """A rate on the development set, and between what chance lets the rate on the test set lie."""

    rate: float
    lower: float
    upper: float


def promise(dev: RateInterval, test: RateInterval) -> Promise:
    """Return what the development set promised: a rate beyond its bounds differs from it more than chance explains.

    The interval of a difference, from the distances of both rates to their own bounds (Zou and Donner 2008), leaves
    out 0 just there.
    """
    below = float(np.hypot(dev.rate - dev.lower, test.upper - test.rate))
    above = float(np.hypot(dev.upper - dev.rate, test.rate - test.lower))
    return Promise(dev.rate, max(dev.rate - below, 0.0), min(dev.rate + above, 1.0))


def places_along(edges: Floats) -> Floats:
    """Return thresholds along the scores, at even distances, in few digits."""
    even = np.linspace(0, 1, PLACES)
    low, high = edges[[0, -1]]
    digits = max(5, 3 + int(np.log10(max(abs(low), abs(high)) / (high / 2 - low / 2))))
    return np.array([float(f"{cut:.{digits}g}") for cut in low * (1 - even) + high * even])


def thresholds_of_others(curve: EPC, bootstrap: str, level: float, seed: int) -> tuple[Floats, Floats] | None:
    """Return between which thresholds other development sets choose at each alpha, as `threshold_interval` does.

    NaN at alpha 0 and 1, where nothing holds. None for tables, for a bootstrap of several levels, and where thresholds
    are not chosen on the development set.
    """
    if curve.dev.scanned or not curve.criterion.reads_development or not BOOTSTRAPS[bootstrap].one_level:
        return None
    resampling = Resampling(bootstrap, confidence_level=level, rng=seed)
    lower, upper = new_thresholds(curve.dev, curve.criterion, curve.fractions, resampling)
    inner = (curve.alpha > 0) & (curve.alpha < 1)
    return np.where(inner, lower, np.nan), np.where(inner, upper, np.nan)
