"""Sorting, placing and counting scores on all processors."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.processors import FEWEST, PARTS, in_parts, processors
from priori.base.types import Floats, Index, Ints, Mask
from priori.scores.cuts import Cuts

#: Scores that are looked at to divide a column into parts of about the same size.
LOOKED_AT = 1 << 14

#: Scores that are compared together.
BLOCK = 1 << 16

#: Up to so many edges, a score's gap is looked up by its leading bits rather than searched for.
FEW_EDGES = 1 << 12

#: From so many scores on they are sorted by digits, if numba is there already; else from the second number on.
WORTH_DIGITS, WORTH_NUMBA = 1 << 18, 1 << 23

#: Nanoseconds that numpy may take for one of 2^15 scores: digits take fewer. It takes 5 to 10 where it uses the
#: processor well, and five times as many on those that are slow at storing parts of a register (AMD's Zen 4).
SLOW = 15.0

#: From the first number on, below the second; None: there is no limit.
Limits = tuple[float | None, float | None]


class Way(NamedTuple):
    """A way to sort: how many scores are between limits; put those in order; parts for each processor."""

    number: Callable[[Floats, Limits], int]
    place: Callable[[Floats, Floats, Limits], None]
    parts: int


def sorted_columns(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return columns of scores, none of them NaN, in ascending order.

    Columns are divided by value, and every part is sorted on its own.

    Examples
    --------
    >>> [column.tolist() for column in sorted_columns([np.array([0.3, 0.1]), np.array([2.0, np.inf, -np.inf])])]
    [[0.1, 0.3], [-inf, 2.0, inf]]
    """
    workers, total = processors(), sum(column.size for column in columns)
    way = _way(total) if all(column.dtype == np.float64 for column in columns) else BY_NUMPY
    if total < 2 * FEWEST or workers * way.parts == 1:
        return [_frozen(np.sort(column)) for column in columns]
    ordered, limits = [np.empty_like(column) for column in columns], []
    start, step = 0, total / (workers * way.parts)
    for column in columns:
        limits.append(_limits(column, start, step))
        start += column.size
    from concurrent.futures import ThreadPoolExecutor  # large sets only: it takes long to import

    with ThreadPoolExecutor(workers) as pool:
        # All parts of all columns are under way before the first is waited for.
        counts = [
            [pool.submit(way.number, column, each) for each in limits[number]] for number, column in enumerate(columns)
        ]
        tasks = []
        for number, column in enumerate(columns):
            ends = np.cumsum([0, *(count.result() for count in counts[number])])
            for first, end, each in zip(ends[:-1], ends[1:], limits[number], strict=True):
                tasks.append(pool.submit(way.place, ordered[number][first:end], column, each))
        for task in tasks:
            task.result()
    return [_frozen(column) for column in ordered]


def gaps_of(edges: Floats, scores: Floats) -> Index:
    """Return how many of the ascending edges lie below each score: the gap between edges that it is in.

    Examples
    --------
    >>> gaps_of(np.array([0.0, 1.0]), np.array([0.5, 0.0, 7.0])).tolist()
    [1, 0, 2]
    """
    if scores.size < FEWEST or edges.size > FEW_EDGES:
        return places_of(edges, scores, "left")
    gaps, cuts = np.empty(scores.size, dtype=np.intp), Cuts.of(edges)
    in_parts(lambda part: cuts.gaps(scores[part], out=gaps[part]), scores.size)
    return gaps


def places_of(ordered: Floats, scores: Floats, side: Literal["left", "right"]) -> Index:
    """Return the places of scores among others that are in order, before or after those equal to them."""
    places = in_parts(lambda part: np.searchsorted(ordered, scores[part], side=side), scores.size)
    return places[0] if len(places) == 1 else np.concatenate(places)


def counted(keys: Callable[[slice], Ints], length: int, size: int, number: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return how often each of ``size`` keys comes; ``keys`` gives those of a part of all ``length``.

    ``number`` is how many each of them stands for. Where these are no whole numbers, they are added up in order:
    the sums must not depend on the number of processors.

    Examples
    --------
    >>> counted(lambda part: np.array([0, 2, 2])[part], 3, 4).tolist()
    [1, 0, 2, 0]
    """
    parts = PARTS * processors() if number is None or number.dtype.kind in "iu" else 1

    def count(part: slice) -> NDArray[Any]:
        return np.bincount(keys(part), None if number is None else number[part], size)

    counts = in_parts(count, length, max(1, min(parts, length // max(size, 1))))
    return counts[0] if len(counts) == 1 else np.sum(counts, axis=0)


def counts_by(
    groups: NDArray[Any], n_groups: int, gaps: Index, n_gaps: int, number: NDArray[Any] | None
) -> NDArray[Any]:
    """Return how many trials each group (rows) has in each gap (columns)."""

    def keys(part: slice) -> Ints:
        return groups[part].astype(np.int64) * n_gaps + gaps[part]

    return counted(keys, gaps.size, n_groups * n_gaps, number).reshape(n_groups, n_gaps)


def _way(total: int) -> Way:
    """Return the way to sort so many scores."""
    if total < (WORTH_DIGITS if "numba" in sys.modules else WORTH_NUMBA) or not _numpy_is_slow():
        return BY_NUMPY
    from numba.core import config

    if getattr(config, "DISABLE_JIT"):  # noqa: B009 - numba makes its names when it is imported
        return BY_NUMPY
    return BY_DIGITS


@cache
def _numpy_is_slow() -> bool:
    """Tell whether numpy sorts slowly on this machine: it takes a millisecond to find out."""
    scores, seconds = np.random.default_rng(0).random(1 << 15), []
    for _ in range(3):
        start = time.perf_counter()
        np.sort(scores)
        seconds.append(time.perf_counter() - start)
    return min(seconds) * 1e9 > SLOW * scores.size


def _limits(column: Floats, start: float, step: float) -> list[Limits]:
    """Return the limits of the parts of a column that begins at a place in a row that is cut at each step."""
    places = np.arange(np.ceil(start / step), (start + column.size) / step) * step - start
    places = places[(places >= FEWEST) & (places <= column.size - FEWEST)]
    looked_at = np.sort(column[:: max(1, column.size // LOOKED_AT)])
    edges = [float(looked_at[int(looked_at.size * place / column.size)]) for place in places]
    return list(zip([None, *edges], [*edges, None], strict=True))


# -- by numpy ------------------------------------------------------------------------------------------------


def _blocks(column: Floats, limits: Limits) -> Iterator[tuple[Floats, Mask]]:
    """Yield the scores block by block, and which of them are between the limits."""
    low, high = limits
    for start in range(0, column.size, BLOCK):
        block = column[start : start + BLOCK]
        inside = np.ones(block.size, dtype=np.bool_) if low is None else block >= low
        if high is not None:
            inside &= block < high
        yield block, inside


def _count(column: Floats, limits: Limits) -> int:
    """Return how many scores are between limits."""
    if limits == (None, None):
        return column.size
    return sum(int(np.count_nonzero(inside)) for _, inside in _blocks(column, limits))


def _place(part: Floats, column: Floats, limits: Limits) -> None:
    """Put the scores between limits where they belong, and sort them there."""
    if limits == (None, None):
        part[:] = column
    else:
        start = 0
        for block, inside in _blocks(column, limits):
            chosen = block[inside]
            part[start : start + chosen.size] = chosen
            start += chosen.size
    part.sort()


# -- by digits -----------------------------------------------------------------------------------------------


def _count_by_digits(column: Floats, limits: Limits) -> int:
    from priori.scores.digits import count_between

    return int(count_between(column.view(np.uint64), *_keys(limits)))


def _place_by_digits(part: Floats, column: Floats, limits: Limits) -> None:
    from priori.scores.digits import sort_between

    spare = np.empty(part.size + 1, dtype=np.uint64)
    sort_between(column.view(np.uint64), *_keys(limits), part.view(np.uint64), spare)


def _keys(limits: Limits) -> tuple[np.uint64, np.uint64]:
    """Return the first and the last key between limits: bits that rise as the score does."""
    keys = []
    for limit in limits:
        bits = 0 if limit is None else int(np.float64(limit).view(np.uint64))
        keys.append(bits ^ (2**64 - 1) if bits >> 63 else bits | 2**63)
    low, high = limits
    return np.uint64(0 if low is None else keys[0]), np.uint64(2**64 - 1 if high is None else keys[1] - 1)


BY_NUMPY = Way(_count, _place, 1)
#: Several parts for each processor: each needs as much room again while it is sorted.
BY_DIGITS = Way(_count_by_digits, _place_by_digits, 2)


def _frozen(ordered: NDArray[Any]) -> NDArray[Any]:
    ordered.setflags(write=False)
    return ordered
