"""Measures one operation on so many processors, in this process; prints its times, and those of processors, as JSON.

python cores_worker.py OPERATION PROCESSORS TRIALS FOLDER REPEATS
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    operation, processors, trials, folder, repeats = sys.argv[1:6]
    # Before anything is imported: whoever starts threads asks how many processors there are.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(processors)])
    os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = processors
    work = prepared(operation, int(trials), Path(folder))
    work()  # compiles, or loads what was compiled
    seconds = []
    for _ in range(int(repeats)):
        start, used = time.perf_counter(), time.process_time()
        work()
        seconds.append((time.perf_counter() - start, time.process_time() - used))
    print(json.dumps(seconds))


def prepared(operation: str, trials: int, folder: Path) -> Callable[[], Any]:
    """Return the operation, with all that it needs done before."""
    import priori

    if operation == "read":
        return lambda: priori.read(folder)
    if operation == "compare":
        return prepared_comparison(trials)
    if operation.startswith("memory"):
        negatives, positives = scores(trials)

        def made() -> list[Any]:
            return [priori.Scores.from_arrays(*each) for each in zip(negatives, positives, strict=True)]
    else:

        def made() -> list[Any]:
            return [priori.scan(folder / role, engine="duckdb", memory="1GB") for role in ("dev", "test")]

    bootstrap = operation.split()[1]

    def work() -> None:
        sets = made()
        curve = priori.epc(*sets, points=101)
        if bootstrap != "curve":
            curve.band(bootstrap=bootstrap, n_resamples={"sample": 10_000, "user": 2_000}[bootstrap])
        for each in sets if operation.startswith("scan") else ():
            each.close()

    return work


def scores(trials: int) -> tuple[list[Any], list[Any]]:
    """Return the scores of both classes of both sets, one in ten positive, in no order."""
    import numpy as np

    rng = np.random.default_rng(1)
    negatives, positives = trials // 20 * 9, trials // 20
    return [rng.standard_normal(negatives) for _ in range(2)], [rng.normal(2.5, 1, positives) for _ in range(2)]


def prepared_comparison(trials: int) -> Callable[[], Any]:
    """Return the paired test of two systems by user, thresholds kept, 10,000 replicates at 101 alphas."""
    import numpy as np

    import priori

    rng = np.random.default_rng(1)
    size = trials // 2
    label = rng.random(size) < 0.1
    user = rng.integers(0, 1000, size)
    common = rng.standard_normal(size) + 2.5 * label
    curves = []
    for noise in (0.5, 0.7):
        score = common + rng.normal(0, noise, size)
        curves.append(priori.epc(*(priori.Scores.from_predictions(label, score, user=user) for _ in range(2))))
    return lambda: priori.compare(*curves, claim="deployed", bootstrap="user", n_resamples=10_000)


if __name__ == "__main__":
    main()
