"""Bands around curves: what each bootstrap and interval covers, of each truth, on one population."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from populations import ALPHAS, Population, seeds
from tallies import Row, Tally

import priori
from priori.uncertainty.bands.bands import Estimated, expected_curve, replicates_of
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, Resampling
from priori.uncertainty.expected.method import expected_values

#: Bootstraps, and the intervals that are looked at with each, where only the test set is resampled.
BANDS = {
    "sample": ("percentile", "centred", "calibrated"),
    "user": ("percentile", "centred", "calibrated"),
    "user-constrained": ("percentile",),
    "joint": ("percentile", "centred"),
    "crossed": ("percentile", "calibrated"),
}
#: The same where both sets are.
BANDS_ANEW = {**BANDS, "sample": ("percentile",)}
EXPECTED_BANDS = {"user": ("calibrated",), "crossed": ("calibrated",)}
#: What bands are to cover, in a word or two; the page explains them.
KEPT, EXPECTED, BEST = "thresholds kept", "expected curve", "best thresholds"


class Made(NamedTuple):
    """A band, by the name of its method."""

    method: str
    lower: np.ndarray
    upper: np.ndarray


def measure_bands(population: Population, repeats: int, anew: int, replicates: int, step=lambda: None) -> list[Row]:
    """Draw sets, make every band, and see what each covers; in the first ``anew`` repeats also those of both sets.

    The band of the expected curve is made in every repeat: it needs no threshold for each replicate.
    """
    tally = Tally("bands", population.title)
    waiting: list[Made] = []
    expected: list[np.ndarray] = []
    for repeat in range(repeats):
        dev, test, other = (population.draw(repeat, which, prefix=str(which)) for which in range(3))
        curve, curve_anew = (priori.epc(each, test, alpha=ALPHAS) for each in (dev, other))
        # Both sets' thresholds tell what a development set of this size leads to.
        expected += [population.value(curve.threshold), population.value(curve_anew.threshold)]
        settings = {"n_resamples": replicates, "rng": seeds(repeat, 4)}
        for made in _made(curve, BANDS, settings):
            _cover(tally, made, KEPT, expected[-2])
        waiting += _made(curve, BANDS_ANEW if repeat < anew else EXPECTED_BANDS, {**settings, "resample": "both"})
        step()
    for promise, truth in (
        (EXPECTED, np.mean(expected, axis=0)),
        (BEST, population.value(population.best_thresholds())),
    ):
        for made in waiting:
            _cover(tally, made, promise, truth)
    return tally.rows()


def _made(curve, wanted: dict[str, tuple[str, ...]], settings: dict) -> list[Made]:
    """Make bands; intervals of one bootstrap share its replicates, but for the calibrated one."""
    found = []
    for bootstrap, intervals in wanted.items():
        if bootstrap == "crossed" and not curve.test.has_identities:
            continue
        options = {"bootstrap": bootstrap, **settings}
        values = {}
        for interval in intervals:
            plan = Resampling(interval=interval, **options).settle(curve.dev, curve.test, threads=1)
            if plan.of_method:
                found += _expected(curve, plan)
                continue
            calibration = plan.calibration(curve.test, curve.threshold)
            calibrated = interval == "calibrated"
            if calibrated not in values:
                values[calibrated] = replicates_of([curve], plan, [calibration])
            name, rate = f"{bootstrap}, {interval}", curve.measure.rate
            found.append(Made(name, *plan.bounds(values[calibrated], calibration, rate=rate)))
            if interval != "centred":
                wide = replace(plan, simultaneous=True)
                found.append(Made(f"{name}, simultaneous", *wide.bounds(values[calibrated], calibration, rate=rate)))
    return found


def _expected(curve, plan: BootstrapPlan) -> list[Made]:
    """Make the band of the expected curve, pointwise and simultaneous."""
    name, made = f"{plan.design.name}, {plan.interval}", []
    known = Estimated(expected_values([curve], replace(plan, threads=1)), 0, plan)
    for title, each in ((name, plan), (f"{name}, simultaneous", replace(plan, simultaneous=True))):
        _, lower, upper, *_ = expected_curve(curve, each, known)
        made.append(Made(title, lower, upper))
    return made


def _cover(tally: Tally, made: Made, promise: str, truth) -> None:
    tally.cover((made.method, promise), made.lower, made.upper, truth, whole="simultaneous" in made.method)
