"""Measures one leaderboard in this process; prints CPU and wall seconds and peak memory as JSON.

python boards_worker.py deployed|method|rank|loop SYSTEMS REPLICATES
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

import priori

TRIALS, USERS = 10_000, 100


def make_curves(systems: int, points: int) -> list[priori.EPC]:
    """Systems a little different from each other, on the same trials of the same users."""
    rng = np.random.default_rng(0)
    label, user = np.tile(np.arange(100) % 10 == 0, USERS).astype(int), np.repeat(np.arange(USERS), TRIALS // USERS)
    shared = [rng.normal(0, 0.5, TRIALS) + rng.normal(0, 0.3, (2, USERS))[label, user] for _ in range(2)]
    curves = []
    for number in range(systems):
        quality = 2.5 - 0.5 * number / systems
        sets = [
            priori.Scores.from_predictions(label, quality * label + hard + rng.normal(0, 0.8, TRIALS), user=user)
            for hard in shared
        ]
        curves.append(priori.epc(*sets, points=points, name=f"S{number}"))
    return curves


def pair_by_pair(curves: Sequence[priori.EPC], replicates: int) -> None:
    for a, b in combinations(curves, 2):
        priori.compare(a, b, claim="deployed", n_resamples=replicates)


TASKS: dict[str, Callable[[Sequence[priori.EPC], int], Any]] = {
    "deployed": lambda curves, n: priori.compare_all(curves, claim="deployed", n_resamples=n),
    "method": lambda curves, n: priori.compare_all(curves, claim="method", n_resamples=n),
    "rank": lambda curves, n: priori.rank(curves, n_resamples=n),
    "loop": pair_by_pair,
}


def main() -> None:
    work, systems, replicates = TASKS[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
    work(make_curves(3, 5), 100)  # compiles
    curves = make_curves(systems, 101)
    cpu, wall = time.process_time(), time.perf_counter()
    work(curves, replicates)
    found = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    print(json.dumps({**found, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
