"""Measure, by simulation, how often the intervals of an average cover and how often the scale warning is raised.

Run ``python validation/averaging/measure.py``; it writes ``coverage.csv`` and ``warnings.csv`` beside itself.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

import priori
from priori import Scores
from priori.curves.averaging.datasets import commensurability

HERE = Path(__file__).parent
KINDS = ("t", "normal")
FPR = 0.2


def write(name: str, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    with (HERE / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def coverage(datasets: int, repeats: int) -> tuple[object, ...]:
    """Vertical average at fpr 0.2 of data sets whose class means lie 0.5 to 2.5 apart: is the population's inside?"""
    rng = np.random.default_rng([datasets, 1])
    truth = np.mean(ndtr(np.linspace(0.5, 2.5, 2001) - ndtri(1 - FPR)))
    hits = dict.fromkeys(KINDS, 0)
    for _ in range(repeats):
        distances = rng.uniform(0.5, 2.5, datasets)
        sets = [Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(d, 1, 200)) for d in distances]
        for kind in KINDS:
            curve = priori.average(sets, interval=kind, positions=[FPR])
            hits[kind] += bool(curve.lower[0] <= truth <= curve.upper[0])
    return datasets, repeats, *(hits[kind] / repeats for kind in KINDS)


def warnings(datasets: int, trials: int, shift: float, repeats: int) -> tuple[object, ...]:
    """Data sets of normal scores with standard deviation 1, moved by a normal shift: how often is there a warning?"""
    rng = np.random.default_rng([datasets, trials, int(10 * shift), 2])
    raised = 0
    for _ in range(repeats):
        moves = shift * rng.normal(size=datasets)
        sets = [Scores.from_arrays(rng.normal(m, 1, trials), rng.normal(2 + m, 1, trials)) for m in moves]
        raised += bool(commensurability(sets, [""] * len(sets)).warnings)
    return datasets, trials, shift, repeats, raised / repeats


if __name__ == "__main__":
    write(
        "coverage.csv",
        ("datasets", "repeats", *KINDS),
        [coverage(m, 1000 if m < 100 else 400) for m in (3, 5, 10, 30, 100)],
    )
    cases = [(m, n, shift) for m in (2, 5, 20, 100) for n in (5, 20, 100) for shift in (0.0, 0.5, 1.0, 2.0)]
    header = ("datasets", "trials_per_class", "shift", "repeats", "warned")
    write("warnings.csv", header, [warnings(*case, 300 if case[0] < 100 else 100) for case in cases])
