"""Machine: what we may use of it, and how work is done on all of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from priori.base.limits import MOST_THREADS, whole_number

Result = TypeVar("Result")

#: A part of fewer items is not worth a thread.
FEWEST = 1 << 15

#: Parts for each processor: where one is late, others do what it would have done.
PARTS = 4


def processors() -> int:
    """Return how many processors we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(threads: int | None) -> int:
    """Return how many threads work: as many as are asked for, or as there are processors."""
    return processors() if threads is None else whole_number(threads, "threads", 1, MOST_THREADS)


def in_parts(work: Callable[[slice], Result], size: int, parts: int | None = None) -> list[Result]:
    """Do work that lets other threads run, as numpy's does, on parts of so many items; return what came of each.

    Examples
    --------
    >>> in_parts(lambda part: part.stop - part.start, 10)
    [10]
    >>> sum(in_parts(lambda part: part.stop - part.start, 1_000_000))
    1000000
    """
    workers = processors()
    parts = min(parts or PARTS * workers, size // FEWEST)
    if workers == 1 or parts < 2:
        return [work(slice(0, size))]
    ends = [size * number // parts for number in range(parts + 1)]
    from concurrent.futures import ThreadPoolExecutor  # large sets only: it takes long to import

    with ThreadPoolExecutor(min(workers, parts)) as pool:
        return list(pool.map(work, map(slice, ends[:-1], ends[1:])))
