"""Measure what cimat's intervals and ours cover on the design of its paper, on the same scores: record.csv.

    python validation/cimat/measure.py PEER                     the committed record
    python validation/cimat/measure.py PEER --people 5 10       these alone; the rest of the record stays

PEER is a folder with the package cimat (awslabs/cis-matching-tasks, Apache-2.0), which needs scikit-learn, scipy and
tqdm. The design is that of R. Fogliato, P. Patil and P. Perona, "Confidence intervals for error rates in 1:1 matching
tasks", International Journal of Computer Vision, 2024: every person has five images, an image is a vector of 128
numbers on the unit sphere, around a centre of exponential numbers; all pairs of images are compared.

cimat's loops take ten seconds for a set of 100 people. Its variances are therefore computed here on arrays of errors
by pair of people; on the first sets of each size they are compared with what the package gives, and a difference is an
error. Intervals are always the package's own, made of these variances.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "coverage"))
from tallies import Row, Tally, read_record, write_record

import priori
from priori import Scores

#: People of a set: how many sets are drawn, and on how many of them our bootstraps.
SETS = {5: (1000, 300), 10: (1000, 300), 20: (1000, 300), 50: (1000, 200), 100: (400, 80)}
IMAGES, NUMBERS, WITHIN = 5, 128, 5.0
RECORD = Path(__file__).with_name("record.csv")
#: The thresholds and their rates in the population; made again where the file is gone.
POPULATION = Path(__file__).with_name("population.json")
TARGETS = {"far": (1e-4, 1e-3, 1e-2, 1e-1), "frr": (1e-3, 1e-2, 1e-1, 3e-1)}
NAMES = {"far": "FMR", "frr": "FNMR"}
PROMISE = "whole population"
#: Resamples, theirs and ours, and the sets of each size on which the arrays are compared with cimat itself.
THEIR_RESAMPLES, OUR_RESAMPLES, COMPARED = 1000, 999, 2


def similarities(rng: np.random.Generator, people: int) -> np.ndarray:
    """Return the cosine similarities of all pairs of images, persons being consecutive blocks."""
    centre = np.repeat(rng.exponential(size=(people, NUMBERS)), IMAGES, axis=0)
    image = centre + np.sqrt(WITHIN) * rng.standard_normal(centre.shape)
    image /= np.linalg.norm(image, axis=1)[:, None]
    return image @ image.T


def pairs(people: int) -> tuple[np.ndarray, ...]:
    """Return the two images of every pair, and the two people."""
    first, second = np.triu_indices(people * IMAGES, 1)
    return first, second, first // IMAGES, second // IMAGES


def population_rates(rounds: int = 40, people: int = 1000) -> dict[str, list[tuple[float, float]]]:
    """Return a threshold near each target, from the first round, with its rate in the population, from the others."""
    rng = np.random.default_rng(2024)
    first, second, one, other = pairs(people)
    same = one == other
    thresholds: dict[str, np.ndarray] = {}
    shares = {rate: np.zeros(len(targets)) for rate, targets in TARGETS.items()}
    for turn in range(rounds):
        score = similarities(rng, people)[first, second]
        for rate, targets in TARGETS.items():
            part = -score[~same] if rate == "far" else score[same]
            if turn:
                shares[rate] += [np.count_nonzero(part <= limit) / part.size for limit in thresholds[rate]]
            else:
                thresholds[rate] = np.quantile(part, targets)
    thresholds["far"] *= -1
    return {rate: list(zip(thresholds[rate], shares[rate] / (rounds - 1), strict=True)) for rate in TARGETS}


class Errors:
    """Errors at a threshold and trials, by pair of people (false matches) or by person (false non-matches)."""

    def __init__(self, score: np.ndarray, rate: str, threshold: float) -> None:
        people = len(score) // IMAGES
        self.far = rate == "far"
        wrong = score > threshold if self.far else score <= threshold
        by_pair = wrong.reshape(people, IMAGES, people, IMAGES).sum(axis=(1, 3))
        own = np.diag_indices(people)
        if self.far:
            by_pair[own] = 0
            self.errors, self.trials = by_pair, np.full((people, people), IMAGES**2)
            self.trials[own] = 0
        else:  # an image is not compared with itself, and each pair of images once
            same = np.array(
                [np.triu(wrong[k : k + IMAGES, k : k + IMAGES], 1).sum() for k in range(0, len(wrong), IMAGES)]
            )
            self.errors, self.trials = same, np.full(people, IMAGES * (IMAGES - 1) // 2)

    def plug_in(self) -> float:
        """Return cimat's plug-in variance."""
        total = self.trials.sum()
        apart = self.errors - self.trials * (self.errors.sum() / total)
        if not self.far:
            return float((apart**2).sum() / total**2)
        squares = (apart**2).sum()
        shared = (apart.sum(axis=1) ** 2).sum() - squares
        return float((2 * squares + 4 * max(shared, 0)) / total**2)

    def resampled(self, drawn: np.ndarray) -> np.ndarray:
        """Return the rate among the people of each draw (double or nothing)."""
        if self.far:
            errors, trials = (((drawn @ part) * drawn).sum(axis=1) for part in (self.errors, self.trials))
        else:
            errors, trials = drawn @ self.errors, drawn @ self.trials
        return errors / trials

    def interval(self, estimator, variance: float) -> tuple[float, float]:
        """Return cimat's Wilson interval for a variance."""
        errors, trials = int(self.errors.sum()), int(self.trials.sum())
        estimator.fp, estimator.tn = errors, trials - errors
        estimator.fn, estimator.tp = errors, trials - errors
        lower, upper = estimator.get_binerror_ci(var_fnr=variance, var_fpr=variance, alpha=0.05)[self.far]
        return lower, upper


def draw_people(rng: np.random.Generator, people: int) -> np.ndarray:
    """Draw every person or not, at least two: cimat fails on less."""
    drawn = rng.integers(0, 2, (2 * THEIR_RESAMPLES + 200, people))
    return drawn[drawn.sum(axis=1) > 1][:THEIR_RESAMPLES]


def ours(scores: Scores, rate: str, threshold: float, seed: int | None) -> dict[str, tuple[float, float]]:
    """Return our intervals; a seed asks for the bootstraps too."""
    found = priori.rate_interval(scores, threshold, rate=rate)
    result = {"priori: rate_interval": (found.lower, found.upper)}
    if seed is not None:
        known = Scores.from_arrays([threshold - 1], [threshold + 1])  # this threshold is chosen on it
        curve = priori.epc(known, scores, alpha=["0.5"], measure=rate)
        for interval in ("percentile", "calibrated"):
            options = {"interval": interval, "n_resamples": OUR_RESAMPLES, "rng": seed, "threads": 1}
            band = curve.band(bootstrap="crossed", **options)
            result[f"priori: crossed, {interval}"] = band.lower[0], band.upper[0]
    return result


def compare_with_package(estimators, score: np.ndarray, truth, rng: np.random.Generator) -> None:
    """Fail where cimat gives other counts or variances than the arrays; its bootstrap takes the nearest threshold."""
    people = len(score) // IMAGES
    triangle = {a: score[a * IMAGES : (a + 1) * IMAGES] for a in range(people)}

    def scores_of(a: int, b: int) -> list[float]:
        block = triangle[a][:, b * IMAGES : (b + 1) * IMAGES]
        return block[np.triu_indices(IMAGES, 1)].tolist() if a == b else block.ravel().tolist()

    estimator = estimators(scores={a: {b: scores_of(a, b) for b in range(people)} for a in range(people)})
    drawn = draw_people(rng, people)[:50]
    sampled = iter(drawn)
    choose = np.random.choice
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
        draws = (int(one) for row in sampled for one in row)
        try:
            np.random.choice = lambda _: next(draws)  # its draws are these
            estimator.run_bootstrap(B=len(drawn))
        finally:
            np.random.choice = choose
    for rate, pairs_ in truth.items():
        for threshold, _ in pairs_:
            errors = Errors(score, rate, threshold)
            estimator.compute_binerror_metrics(threshold)
            far = rate == "far"
            assert (estimator.fp if far else estimator.fn) == errors.errors.sum()
            plug_in = estimator.compute_variance(threshold=threshold, estimator="plugin")[far]
            np.testing.assert_allclose(errors.plug_in(), plug_in, rtol=1e-9, atol=1e-15)
            rates = errors.resampled(drawn)
            boot = estimator.compute_variance(threshold=threshold, estimator="boot")[far]
            step = 2 / (drawn @ np.ones(people)).min() / IMAGES**2  # one trial more or less
            assert abs(np.sqrt(boot) - rates.std()) <= step, (rate, threshold, boot, rates.var())


def measure(estimators, people: int, truth, repeats: int, resampled: int) -> list[Row]:
    """Draw sets of people and count how often each interval covers the rate of the population."""
    first, second, one, other = pairs(people)
    label = (one == other).astype(int)
    tallies = {
        (rate, place): Tally(NAMES[rate], f"{people} people of {IMAGES} images, {NAMES[rate]} {target:g}")
        for rate, targets in TARGETS.items()
        for place, target in enumerate(targets)
    }
    estimator = estimators()
    for repeat in range(repeats):
        rng = np.random.default_rng([people, repeat])
        score = similarities(rng, people)
        if repeat < COMPARED:
            compare_with_package(estimators, score, truth, rng)
        scores = Scores.from_predictions(label, score[first, second], user=one, probe_user=other)
        drawn = draw_people(rng, people)
        for (rate, place), tally in tallies.items():
            threshold, true = truth[rate][place]
            limits = ours(scores, rate, threshold, repeat if repeat < resampled else None)
            errors = Errors(score, rate, threshold)
            limits["cimat: Wilson, plug-in"] = errors.interval(estimator, errors.plug_in())
            limits["cimat: Wilson, double-or-nothing"] = errors.interval(
                estimator, float(errors.resampled(drawn).var())
            )
            for method, (lower, upper) in limits.items():
                tally.cover((method, PROMISE), lower, upper, true)
        if not (repeat + 1) % 100:
            print(f"{people} people, {repeat + 1} of {repeats} sets", file=sys.stderr)
    return [row for tally in tallies.values() for row in tally.rows()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("peer", type=Path, help="the folder that holds cimat")
    parser.add_argument("--people", type=int, nargs="+", choices=SETS, default=list(SETS))
    given = parser.parse_args()
    sys.path.insert(0, str(given.peer.resolve()))
    from cimat import UncertaintyEstimator

    warnings.simplefilter("ignore")  # cimat divides by zero where no two draws differ
    if not POPULATION.exists():
        POPULATION.write_text(json.dumps(population_rates(), indent=1) + "\n")
    truth = json.loads(POPULATION.read_text())
    for people in given.people:
        rows = measure(UncertaintyEstimator, people, truth, *SETS[people])
        kept = read_record(RECORD) if RECORD.exists() else []
        rows += [row for row in kept if row.population not in {row.population for row in rows}]
        write_record(RECORD, sorted(rows, key=lambda row: (row.part, int(row.population.split()[0]))))


if __name__ == "__main__":
    main()
