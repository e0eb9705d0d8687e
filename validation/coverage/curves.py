"""Bands around ROC curves, and intervals of the areas E_V1, E_V2 and G."""

from __future__ import annotations

import numpy as np
from bands import KEPT
from populations import GRID, Population, seeds
from scipy.special import ndtr, ndtri
from tallies import Row, Tally

import priori
from priori.base.options import ResamplingOptions
from priori.uncertainty.bands.bands import area_bands

#: The false positive rates at which ROC bands are looked at.
RATES = ("0.02", "0.05", "0.1", "0.2", "0.5")
ROC_PART, AREA_PART, PROMISE = "ROC, a posteriori", "areas", "whole population"
LOW_PART = "ROC at low rates, a posteriori"
#: Populations with few negatives beyond the threshold: 100, 1000, 1000 and 1240 of them.
LOW = (
    (Population("100 + 100 independent trials", 100, 1, 1, 0.0), ("0.01", "0.03", "0.05", "0.1")),
    (Population("1000 + 200 independent trials", 200, 1, 5, 0.0), ("0.001", "0.003", "0.005", "0.01")),
    (Population("1000 + 1000 independent trials, AUC 0.998", 1000, 1, 1, 0.0, 4.07), ("0.001", "0.003", "0.005")),
    (GRID[2], ("0.001", "0.002", "0.005", "0.01")),
)
POPULATIONS = tuple(GRID[place] for place in (0, 2, 3, 4, 6, 11, 13))
#: In replicates, as in `area_bands`, an area is a mean over so many alphas.
POINTS = 256


def roc_bands(repeats: int, replicates: int) -> list[Row]:
    """The TPR at each FPR."""
    rows: list[Row] = []
    at = np.array([float(rate) for rate in RATES])
    for population in POPULATIONS:
        tally = Tally(ROC_PART, population.title)
        truth = ndtr(population.separation + ndtri(at))
        for repeat in range(repeats):
            scores = population.draw(repeat, 30)
            cases = [("user", "percentile"), ("user", "calibrated")]
            for bootstrap, interval in cases + [("crossed", "percentile")] * scores.has_identities:
                for simultaneous in (False, True):
                    band = priori.roc(scores).band(
                        fpr=RATES,
                        bootstrap=bootstrap,
                        interval=interval,
                        n_resamples=replicates,
                        simultaneous=simultaneous,
                        rng=seeds(repeat, 31),
                        threads=1,
                    )
                    name = f"{bootstrap}, {interval}{', simultaneous' if simultaneous else ''}"
                    tally.cover((name, PROMISE), band.lower, band.upper, truth, whole=simultaneous)
        rows += tally.rows()
    return rows


def low_rates(repeats: int, replicates: int) -> list[Row]:
    """The TPR at false positive rates that one to five, and ten, of all negatives make; also as one band."""
    rows: list[Row] = []
    for population, rates in LOW:
        at = np.array([float(rate) for rate in rates])
        truth = ndtr(population.separation + ndtri(at))
        tallies = [Tally(LOW_PART, f"{population.title}, FPR {100 * rate:g} %") for rate in at]
        whole = Tally(LOW_PART, f"{population.title}, all of these")
        for repeat in range(repeats):
            scores = population.draw(repeat, 35)
            for interval in ("percentile", "calibrated"):
                for simultaneous in (False, True):
                    band = priori.roc(scores).band(
                        fpr=rates,
                        bootstrap="user",
                        interval=interval,
                        n_resamples=replicates,
                        simultaneous=simultaneous,
                        rng=seeds(repeat, 36),
                        threads=1,
                    )
                    name = f"user, {interval}"
                    if simultaneous:
                        whole.cover((name, PROMISE), band.lower, band.upper, truth, whole=True)
                        continue
                    for tally, *one in zip(tallies, band.lower, band.upper, truth, strict=True):
                        tally.cover((name, PROMISE), *one)
        rows += [row for tally in (*tallies, whole) for row in tally.rows()]
    return rows


def areas(repeats: int, replicates: int) -> list[Row]:
    """The expected (FAR + FRR)/2 over all targets, thresholds kept."""
    rows: list[Row] = []
    middles = [(2 * k + 1) / (2 * POINTS) for k in range(POINTS)]
    for population in (GRID[2], GRID[6]):
        tally = Tally(AREA_PART, population.title)
        for repeat in range(repeats):
            dev, test = (population.draw(repeat, which, prefix=str(which)) for which in (32, 33))
            curves = [priori.epc(dev, test, criterion=f"target-v{v}", alpha=middles) for v in (1, 2)]
            truth = np.array([population.value(curve.threshold).mean() for curve in curves])
            truth = np.append(truth, truth.mean())
            for bootstrap, interval in (("user", "percentile"), ("user", "calibrated")):
                asked = ResamplingOptions(bootstrap, replicates, interval=interval, rng=seeds(repeat, 34))
                found = area_bands(dev, test, asked, threads=1)
                tally.cover((f"{bootstrap}, {interval}", KEPT), found.lower, found.upper, truth)
        rows += tally.rows()
    return rows
