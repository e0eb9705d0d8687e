"""Measures one point of a growth curve in this process; prints seconds and peak memory as JSON.

python growth_worker.py memory|duckdb|replicates|users SIZE FOLDER
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import priori


def sets(trials: int, users: int = 0) -> list[priori.Scores]:
    """Make a development and a test set of half the trials each."""
    found = []
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        size = trials // 4
        options: dict[str, Any] = {}
        if users:
            options = {f"{own}_user": rng.integers(0, users, size) for own in ("negative", "positive")}
        found.append(priori.Scores.from_arrays(rng.normal(0, 1, size), rng.normal(2, 1, size), **options))
    return found


def prepared(kind: str, size: int, folder: str) -> Callable[[], Any]:
    if kind == "memory":
        arrays = [(s.negative.score, s.positive.score) for s in sets(size)]
        return lambda: priori.epc(*(priori.Scores.from_arrays(*pair) for pair in arrays)).band(n_resamples=1000)
    if kind == "duckdb":

        def work() -> Any:
            return priori.epc(*(priori.scan(Path(folder) / role, engine="duckdb") for role in ("dev", "test"))).band(
                bootstrap="sample", n_resamples=1000
            )

        return work
    if kind == "replicates":
        curve = priori.epc(*sets(10**5))
        return lambda: curve.band(n_resamples=size)
    curve = priori.epc(*sets(10**6, size))
    return lambda: curve.band(bootstrap="user", n_resamples=200)


def main() -> None:
    kind, size, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    work = prepared(kind, size, folder)
    work()
    seconds = []
    for _ in range(5 if size < 10**7 else 3):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": median(seconds), "peak": peak}))


if __name__ == "__main__":
    main()
