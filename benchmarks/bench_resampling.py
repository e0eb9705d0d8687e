"""Speed of the bootstraps, as ratios measured in one run. Nothing is asserted: a timing is no test.

(a) fixed thresholds: ten million trials against a hundred thousand, after the sort;
(b) the joint bootstrap of both sets at the NIST 2005 shape against the straightforward numpy loop, kept here;
(c) the paired comparison of two systems on a million trials;
(d) new thresholds in every replicate of half a million trials, by trials and by users;
(e) a posteriori on a million trials: a ROC band by user and a leaderboard, against a pass over all trials;
and the first compilation, in a process with an empty cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori
from priori import Scores

REPLICATES = int(os.environ.get("PRIORI_BENCH_REPLICATES", "10000"))
LOOPED = 20


def timed(work: Callable[[], Any], rounds: int = 3) -> tuple[float, float]:
    """Return seconds on the clock and of processors, the best of some rounds each."""
    clock, processors = np.inf, np.inf
    for _ in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        work()
        clock = min(clock, time.perf_counter() - start)
        processors = min(processors, time.process_time() - used)
    return float(clock), float(processors)


def report(benchmark: Any, text: str, **numbers: float) -> None:
    benchmark.extra_info.update(numbers)
    print(f"\n{text}")


# -- (a) ---------------------------------------------------------------------------------------------------------


def sorted_curve(trials: int) -> priori.EPC:
    rng = np.random.default_rng(0)
    sets = [Scores.from_arrays(rng.normal(0, 1, trials // 2), rng.normal(2, 1, trials // 2)) for _ in range(2)]
    return priori.epc(*sets)


def test_fixed_thresholds(benchmark: Any) -> None:
    small, large = sorted_curve(10**5), sorted_curve(10**7)
    small.band(n_resamples=10)  # compiled, or loaded
    (few, _), (many, used) = (timed(lambda curve=curve: curve.band(n_resamples=REPLICATES)) for curve in (small, large))
    report(
        benchmark,
        f"(a) {REPLICATES} replicates at 101 fixed thresholds: {many:.2f} s at 10^7 trials ({used:.2f} s of "
        f"processors), {many / few:.2f} x the time at 10^5",
        seconds=many,
        ratio=many / few,
    )
    benchmark.pedantic(lambda: large.band(n_resamples=REPLICATES), rounds=1)


# -- (b) ---------------------------------------------------------------------------------------------------------


def nist_shape(rng: np.random.Generator, users: int = 124, genuine: int = 9, impostor: int = 96) -> Scores:
    effect = rng.normal(0, 0.5, users)
    negative, positive = np.repeat(np.arange(users), impostor), np.repeat(np.arange(users), genuine)
    return Scores.from_arrays(
        rng.normal(0, 1, negative.size) + effect[negative],
        rng.normal(2, 1, positive.size) + effect[positive],
        negative_user=negative,
        positive_user=positive,
    )


def redrawn(scores: Scores, users: list[tuple[np.ndarray, np.ndarray]], rng: np.random.Generator) -> list[np.ndarray]:
    drawn = rng.integers(0, len(users), len(users))
    return [np.concatenate([rng.choice(users[user][c], users[user][c].size) for user in drawn]) for c in range(2)]


def straightforward(dev: Scores, test: Scores, alphas: np.ndarray, replicates: int) -> np.ndarray:
    """Draw users, draw their trials, sort, look at every candidate for every alpha, count on the test set."""
    rng = np.random.default_rng(0)
    by_user = [
        [
            (s.negative.score[s.negative.user == user], s.positive.score[s.positive.user == user])
            for user in range(s.n_users)
        ]
        for s in (dev, test)
    ]
    values = np.empty((replicates, alphas.size))
    for replicate in range(replicates):
        negative, positive = (np.sort(scores) for scores in redrawn(dev, by_user[0], rng))
        candidates = np.unique(np.concatenate([negative, positive]))
        far = 1 - np.searchsorted(negative, candidates, side="right") / negative.size
        frr = np.searchsorted(positive, candidates, side="right") / positive.size
        cost = alphas[:, None] * far + (1 - alphas[:, None]) * frr
        best = cost.argmin(axis=1)
        above = candidates[np.minimum(best + 1, candidates.size - 1)]
        thresholds = (candidates[best] + above) / 2
        negative, positive = (np.sort(scores) for scores in redrawn(test, by_user[1], rng))
        fp = 1 - np.searchsorted(negative, thresholds, side="right") / negative.size
        fn = np.searchsorted(positive, thresholds, side="right") / positive.size
        values[replicate] = (fp + fn) / 2
    return values


def test_joint_bootstrap_of_both_sets(benchmark: Any) -> None:
    rng = np.random.default_rng(1)
    dev, test = nist_shape(rng), nist_shape(rng)
    curve = priori.epc(dev, test)
    options = {"bootstrap": "joint", "resample": "both", "shared_users": False}
    curve.band(n_resamples=10, **options)
    ours, used = timed(lambda: curve.band(n_resamples=REPLICATES, **options))
    loop, _ = timed(lambda: straightforward(dev, test, curve.alpha, LOOPED), rounds=2)
    loop *= REPLICATES / LOOPED
    report(
        benchmark,
        f"(b) {REPLICATES} joint replicates of both sets, 101 alphas, NIST 2005 shape: {ours:.2f} s ({used:.2f} s of "
        f"processors), {loop / ours:.0f} x faster than the numpy loop ({loop:.0f} s, from {LOOPED} replicates)",
        seconds=ours,
        ratio=loop / ours,
    )
    benchmark.pedantic(lambda: curve.band(n_resamples=REPLICATES, **options), rounds=1)


# -- (c) ---------------------------------------------------------------------------------------------------------


def test_paired_comparison(benchmark: Any) -> None:
    rng = np.random.default_rng(2)
    label = np.repeat([0, 1], [900_000, 100_000])
    shared = rng.normal(0, 0.7, label.size)

    def scores(quality: float) -> Scores:
        return Scores.from_predictions(label, quality * label + shared + rng.normal(0, 0.7, label.size))

    a, b = (priori.epc(scores(q), scores(q), name=name) for q, name in ((2.0, "A"), (1.98, "B")))
    priori.compare(a, b, claim="deployed", n_resamples=10)
    seconds, used = timed(lambda: priori.compare(a, b, claim="deployed", n_resamples=REPLICATES), rounds=2)
    report(
        benchmark,
        f"(c) {REPLICATES} paired replicates of two systems, 10^6 trials, 101 alphas jointly: {seconds:.2f} s "
        f"({used:.2f} s of processors)",
        seconds=seconds,
    )
    benchmark.pedantic(lambda: priori.compare(a, b, claim="deployed", n_resamples=10), rounds=1)


# -- (d) ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bootstrap", ["sample", "user", "joint"])
def test_new_thresholds(benchmark: Any, bootstrap: str) -> None:
    rng = np.random.default_rng(3)
    label = np.repeat([0, 1], [500_000, 50_000])
    user = np.arange(label.size) % 100
    sets = [Scores.from_predictions(label, rng.normal(2.0 * label), user=user) for _ in range(2)]
    curve = priori.epc(*sets)
    options = {"bootstrap": bootstrap, "resample": "both", "interval": "percentile"}
    curve.band(n_resamples=10, **options)
    seconds, used = timed(lambda: curve.band(n_resamples=REPLICATES // 5, **options), rounds=2)
    report(
        benchmark,
        f"(d) {REPLICATES // 5} {bootstrap} replicates with new thresholds, 5.5 x 10^5 trials in each set, 101 alphas: "
        f"{seconds:.2f} s ({used:.2f} s of processors)",
        seconds=seconds,
    )
    benchmark.pedantic(lambda: curve.band(n_resamples=10, **options), rounds=1)


# -- (e) ---------------------------------------------------------------------------------------------------------


def passes(sets: list[Scores], draws: int) -> float:
    """Return the seconds of one draw of users, weighed into each system's ROC by a pass over all its trials."""
    rng = np.random.default_rng(0)
    sides = []
    for each in sets:
        score = np.concatenate([each.negative.score, each.positive.score])
        positive = np.arange(score.size) >= each.negative.score.size
        order = np.argsort(-score)
        sides.append((np.concatenate([each.negative.user, each.positive.user])[order], positive[order]))
    start = time.perf_counter()
    for _ in range(draws):
        drawn = np.bincount(rng.integers(0, sets[0].n_users, sets[0].n_users), minlength=sets[0].n_users)
        for user, positive in sides:
            weight = drawn[user]
            np.cumsum(weight * positive), np.cumsum(weight * ~positive)
    return (time.perf_counter() - start) / draws


def test_a_posteriori(benchmark: Any) -> None:
    rng = np.random.default_rng(4)
    label, user = np.repeat([0, 1], [900_000, 100_000]), np.arange(1_000_000) % 1000
    shared = rng.normal(0, 0.7, label.size)
    sets = [
        Scores.from_predictions(label, quality * label + shared + rng.normal(0, 0.7, label.size), user=user)
        for quality in (2.0, 1.98, 1.9)
    ]
    curves = [priori.epc(each, each, name=str(number)) for number, each in enumerate(sets)]
    works: dict[str, tuple[list[Scores], Callable[[int], Any]]] = {
        "a ROC band by user": (sets[:1], lambda number: priori.roc(sets[0]).band(n_resamples=number)),
        "a leaderboard of three systems": (sets, lambda number: priori.rank(curves, n_resamples=number)),
    }
    for name, (read, work) in works.items():
        work(10)
        seconds, used = timed(lambda work=work: work(REPLICATES), rounds=2)
        whole = passes(read, LOOPED) * REPLICATES
        report(
            benchmark,
            f"(e) {name}, 10^6 trials of 1,000 users, {REPLICATES} replicates: {seconds:.2f} s ({used:.2f} s of "
            f"processors), {whole / seconds:.0f} x faster than by a pass over all trials for every draw",
            seconds=seconds,
            ratio=whole / seconds,
        )
    benchmark.pedantic(lambda: priori.roc(sets[0]).band(n_resamples=10), rounds=1)


# -- compilation -------------------------------------------------------------------------------------------------

FIRST_BAND = """
import time, numpy, priori
rng = numpy.random.default_rng(0)
sets = [priori.Scores.from_arrays(rng.normal(0, 1, 50), rng.normal(2, 1, 50)) for _ in range(2)]
curve = priori.epc(*sets)
start = time.perf_counter()
curve.band(n_resamples=10)
curve.band(n_resamples=10, resample="both")
print(time.perf_counter() - start)
"""


def test_first_compilation(benchmark: Any, tmp_path: Path) -> None:
    def run() -> float:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        found = subprocess.run([sys.executable, "-c", FIRST_BAND], env=environment, capture_output=True, check=True)
        return float(found.stdout)

    first, again = run(), run()
    report(
        benchmark,
        f"both kernels: {first:.1f} s the first time on a machine, {again:.2f} s in later processes",
        first=first,
        again=again,
    )
    benchmark.pedantic(run, rounds=1)


if __name__ == "__main__":
    pytest.main([__file__, "-q", "-s"])
