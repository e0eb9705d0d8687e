"""Limits: the most that may be asked for and the fewest users that tell something, with reasons; processors."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from priori.base.errors import OptionError, argument, short

#: Trials in memory that nobody read one by one: rows that count more than once are repeated, simulated ones are drawn.
MOST_TRIALS = 10**8
#: Trials of a hypothetical set, for a plan: products of two such numbers fit into 64 bits.
MOST_PLANNED = 10**9
#: Users of a hypothetical set.
MOST_USERS = 10**7
#: Users: fewer than this hardly show how users differ, and no interval that allows for users is to be trusted.
FEW_USERS = 10
#: Replicates: at 101 alphas this many take 8 GB.
MOST_RESAMPLES = 10**7
#: Threads: more are of no use on any machine, and systems refuse to start many thousands.
MOST_THREADS = 1024


def whole_number(value: Any, name: str, least: int, most: int, why: str = "") -> int:
    """Return a whole number that lies between two others, both included; ``name`` is the argument's.

    Examples
    --------
    >>> whole_number(3, "threads", 1, 1024)
    3
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        given = short(repr(value))
        raise OptionError(f"{argument(name)} must be a whole number from {least} to {most}, not {given}{why}")
    return int(value)


def check_level(level: float, what: str = "the confidence level") -> float:
    """Return a level that lies strictly between 0 and 1, or say that it must.

    Examples
    --------
    >>> check_level(0.95)
    0.95
    """
    if not 0 < level < 1:
        hint = f"; {level:g} % is {level / 100:g}" if 1 < level < 100 else ""
        raise OptionError(f"{what} must lie between 0 and 1, not {level:g}{hint}")
    return float(level)


# -- the machine: what we may use of it, and how work is done on all of it -------------------------------------------

Result = TypeVar("Result")

#: A part of fewer items is not worth a thread.
FEWEST = 1 << 15

#: Parts for each processor: where one is slow, others take over its parts.
PARTS = 4


def processors() -> int:
    """Return how many processors we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(threads: int | None) -> int:
    """Return how many threads work: as many as are asked for, or as there are processors."""
    return processors() if threads is None else whole_number(threads, "threads", 1, MOST_THREADS)


def in_parts(work: Callable[[slice], Result], size: int, parts: int | None = None) -> list[Result]:
    """Do work that lets other threads run, as numpy's does, on parts of so many items; return the outcomes.

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
