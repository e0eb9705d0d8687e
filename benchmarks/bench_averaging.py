"""Speed of averaging, as a ratio to the time numpy needs to sort the same scores, in one run.

1000 curves of 10^4 scores each, 1001 positions (fewer curves with PRIORI_BENCH_CURVES). The average is timed from
unsorted scores on, so the sort is part of it. Nothing here is asserted: a timing on a shared machine is no test.
"""

from __future__ import annotations

import os
import time
from statistics import median
from typing import Any

import numpy as np
import pytest

import priori
from priori import Scores

CURVES = int(os.environ.get("PRIORI_BENCH_CURVES", "1000"))
SIZE = 10_000

Arrays = list[tuple[np.ndarray, np.ndarray]]


@pytest.fixture(scope="module")
def arrays() -> Arrays:
    rng = np.random.default_rng(0)
    return [(rng.normal(0, 1, SIZE // 2), rng.normal(1.5, 1, SIZE // 2)) for _ in range(CURVES)]


def _fresh(arrays: Arrays) -> list[Scores]:
    return [Scores.from_arrays(negatives, positives) for negatives, positives in arrays]


def _sort(arrays: Arrays) -> None:
    for negatives, positives in arrays:
        np.sort(negatives)
        np.sort(positives)


@pytest.mark.parametrize("method", ["vertical", "horizontal", "diagonal", "threshold", "pooled"])
def test_average(benchmark: Any, arrays: Arrays, method: str) -> None:
    sorting, averaging = [], []
    for _ in range(3):  # in turn, so that both meet the same machine
        sets = _fresh(arrays)
        start = time.perf_counter()
        _sort(arrays)
        middle = time.perf_counter()
        priori.average(sets, method=method, positions=1001)
        averaging.append(time.perf_counter() - middle)
        sorting.append(middle - start)
    ratio = median(averaging) / median(sorting)
    benchmark.extra_info.update(ratio_to_sort=ratio)
    print(f"\n{method}: {CURVES} curves of {SIZE:,} scores at 1001 positions: {ratio:.2f} x sort")
    benchmark.pedantic(
        lambda sets: priori.average(sets, method=method), setup=lambda: ((_fresh(arrays),), {}), rounds=1
    )
