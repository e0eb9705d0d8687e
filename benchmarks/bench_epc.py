"""Speed of the curve, as a ratio to the time numpy needs to sort the same four arrays, in one run.

Run with ``make bench``. Nothing here is asserted: a timing on a shared machine is no test.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

import priori
from priori import Scores
from validation.coverage.simulation import population

SIZE = int(float(os.environ.get("PRIORI_BENCH_SIZE", "1e6")))


@pytest.fixture(scope="module")
def arrays() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(shift, 1, SIZE) for shift in (0, 2, 0, 2)]


def _seconds(function: Any, rounds: int = 7) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return median(times)


def _curve(arrays: list[np.ndarray], points: int) -> None:
    dev, test = Scores.from_arrays(arrays[0], arrays[1]), Scores.from_arrays(arrays[2], arrays[3])
    priori.epc(dev, test, points=points)


def test_sort(benchmark: Any, arrays: list[np.ndarray]) -> None:
    benchmark(lambda: [np.sort(array) for array in arrays])


@pytest.mark.parametrize("points", [101, 2000])
def test_epc(benchmark: Any, arrays: list[np.ndarray], points: int) -> None:
    benchmark(_curve, arrays, points)
    sort = _seconds(lambda: [np.sort(array) for array in arrays])
    curve = _seconds(lambda: _curve(arrays, points))
    tracemalloc.start()
    _curve(arrays, points)
    peak = tracemalloc.get_traced_memory()[1] / sum(array.nbytes for array in arrays)
    tracemalloc.stop()
    benchmark.extra_info.update(ratio_to_sort=curve / sort, memory_to_input=peak)
    print(f"\nEPC, {points} alphas, {SIZE:,} a class: {curve / sort:.2f} x sort, memory {peak:.1f} x input")


def test_command(benchmark: Any) -> None:
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name in ("dev", "test"):
            label = rng.integers(0, 2, 200_000)
            score = rng.normal(2 * label, 1)
            files.append(str(Path(folder) / f"{name}.csv"))
            np.savetxt(files[-1], np.column_stack([score, label]), "%.9g,%d", header="score,label", comments="")
        command = [sys.executable, "-m", "priori", "epc", "--system", "A", *files, "--format", "csv"]

        def run() -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        cpu = median(run() for _ in range(5))
        benchmark.extra_info.update(cpu_seconds=cpu)
        print(f"\npriori epc on two CSV files of 200,000 rows: {cpu:.2f} s of CPU")
        benchmark.pedantic(run, rounds=1)


def test_many_curves(benchmark: Any) -> None:
    """A thousand users' own curves of a hundred scores: in one call and one by one, best of a few, in CPU time."""
    dev, test = (population(1000, 20, 80, rng=seed) for seed in (1, 2))
    devs, tests = dev.by("user"), test.by("user")

    def cpu(function: Any, rounds: int) -> float:
        times = []
        for _ in range(rounds):
            start = time.process_time()
            function()
            times.append(time.process_time() - start)
        return min(times)

    def together() -> None:
        priori.epc_by(dev, test)

    together()
    batch = cpu(together, 9)
    alone = cpu(lambda: [priori.epc(devs[name], tests[name]) for name in devs], 3)
    by_eer = cpu(lambda: priori.epc_by(dev, test, criterion="eer"), 5)
    benchmark.extra_info.update(ratio=alone / batch)
    print(
        f"\n(f) 1,000 users' own curves of 100 scores, 101 alphas: {1000 * batch:.0f} ms of CPU together, one by one "
        f"{alone / batch:.0f} x; by eer {1000 * by_eer:.0f} ms"
    )
    benchmark.pedantic(together, rounds=1)
