"""Bands around curves: each bootstrap, interval and promise, on one population."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from populations import ALPHAS, Population, seeds
from tallies import Row, Tally

import priori
from priori.resampling.bands import Bootstrap
from priori.resampling.intervals import CALIBRATED

#: Bootstraps, and the intervals that are looked at with each.
BANDS = {
    "sample": ("percentile", "centred", "calibrated"),
    "user": ("percentile", "centred", "calibrated"),
    "user-constrained": ("percentile",),
    "joint": ("percentile", "centred"),
    "crossed": ("percentile", "calibrated"),
}
#: What bands promise to hold, in a word or two; the page explains them.
KEPT, EXPECTED, BEST = "thresholds kept", "expected curve", "best thresholds"
FUTURE_KEPT, FUTURE_ANEW = "future test set", "future sets"
#: A future set has this many times as many users.
GROWTH = 2


@dataclass
class Made:
    """A band waiting for its truth, which is known only when every repeat has been drawn."""

    method: str
    resample: str
    lower: np.ndarray
    upper: np.ndarray


def measure_bands(population: Population, repeats: int, replicates: int, step=lambda: None) -> list[Row]:
    """Draw sets, make every band, and see what each holds."""
    tally = Tally("bands", population.title)
    waiting: list[Made] = []
    expected = np.zeros(len(ALPHAS))
    for repeat in range(repeats):
        dev, test, other = (population.draw(repeat, which, prefix=str(which)) for which in range(3))
        future = population.draw(repeat, 3, users=GROWTH * population.users, prefix="f")
        curve, anew = priori.epc(dev, test, alpha=ALPHAS), priori.epc(other, future, alpha=ALPHAS)
        truth = population.value(curve.threshold)
        # Both sets' thresholds tell what a development set of this size leads to.
        expected += (truth + population.value(anew.threshold)) / (2 * repeats)
        seed = seeds(repeat, 4)
        for made in _bands(curve, replicates, seed, "test", {}):
            _count(tally, made, KEPT, truth)
        waiting += _bands(curve, replicates, seed, "both", {})
        predicted = curve.measure(priori.count(future, curve.threshold))
        future_options = {"promise": "prediction", "future_users": GROWTH * population.users}
        for made in _bands(curve, replicates, seed, "test", future_options):
            _count(tally, made, FUTURE_KEPT, predicted)
        for made in _bands(curve, replicates, seed, "both", future_options):
            _count(tally, made, FUTURE_ANEW, anew.value)
        step()
    best = population.value(population.best_thresholds())
    for made in waiting:
        _count(tally, made, EXPECTED, expected)
        _count(tally, made, BEST, best)
    return tally.rows()


def _bands(curve, replicates: int, seed: int, resample: str, future: dict) -> list[Made]:
    found = []
    for bootstrap, intervals in BANDS.items():
        if bootstrap == "crossed" and not curve.test.has_identities:
            continue
        if future:  # a promise that only these can make
            intervals = tuple(i for i in intervals if i != "centred") if bootstrap in CALIBRATED else ()
        options = {"bootstrap": bootstrap, "resample": resample, "n_resamples": replicates, "rng": seed, "threads": 1,
                   **(future if bootstrap != "sample" or not future else {"promise": "prediction",
                      "future_trials": tuple(GROWTH * len(t) for t in (curve.test.negative, curve.test.positive))})}  # fmt: skip
        values = {}
        for interval in intervals:
            made = Bootstrap.of(curve, interval=interval, **options)
            calibrated = interval == "calibrated"
            if calibrated not in values:
                values[calibrated] = made.replicates(curve)
            for simultaneous in (False, True):
                if simultaneous and interval == "centred":
                    continue
                bounds = replace(made, simultaneous=simultaneous).bounds(values[calibrated], curve)
                method = f"{bootstrap}, {interval}{', simultaneous' if simultaneous else ''}"
                found.append(Made(method, resample, *bounds))
    return found


def _count(tally: Tally, made: Made, promise: str, truth) -> None:
    inside = (made.lower <= truth) & (truth <= made.upper)
    tally.add(made.method, promise, inside.all() if "simultaneous" in made.method else inside, made.upper - made.lower)
