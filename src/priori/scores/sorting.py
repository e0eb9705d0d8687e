"""Sorting, placing and counting scores on all processors."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, Literal

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


def sorted_columns(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return columns of scores, none of them NaN, in ascending order.

    Columns are divided by value, and every part is sorted on its own.

    Examples
    --------
    >>> [column.tolist() for column in sorted_columns([np.array([0.3, 0.1]), np.array([2.0, np.inf, -np.inf])])]
    [[0.1, 0.3], [-inf, 2.0, inf]]
    """
    workers, total = processors(), sum(column.size for column in columns)
    if all(column.dtype == np.float64 for column in columns) and _digits_are_worth_it(total):
        return [_frozen(_by_digits(column, workers)) for column in columns]
    if total < 2 * FEWEST or workers == 1:
        return [_frozen(np.sort(column)) for column in columns]
    ordered, limits, start = [np.empty_like(column) for column in columns], [], 0
    for column in columns:
        limits.append(_limits(column, start, total / workers))
        start += column.size
    with ThreadPoolExecutor(workers) as pool:
        # All parts of all columns are under way before the first is waited for.
        counts = [
            [pool.submit(_count, column, each) for each in limits[number]] for number, column in enumerate(columns)
        ]
        tasks = []
        for number, column in enumerate(columns):
            ends = np.cumsum([0, *(count.result() for count in counts[number])])
            for first, end, each in zip(ends[:-1], ends[1:], limits[number], strict=True):
                tasks.append(pool.submit(_place, ordered[number][first:end], column, each))
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


def _digits_are_worth_it(total: int) -> bool:
    """Tell whether so many scores are sorted by digits: kernels must be there, and numpy be slow."""
    if total < (WORTH_DIGITS if "numba" in sys.modules else WORTH_NUMBA) or not _numpy_is_slow():
        return False
    from numba.core import config

    return not getattr(config, "DISABLE_JIT")  # noqa: B009 - numba makes its names when it is imported


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


def _by_digits(column: Floats, workers: int) -> Floats:
    """Return a column in order: pieces of it are told apart by value into parts, and these are sorted."""
    from priori.scores.digits import count_parts, place_parts, sort_part

    column = np.ascontiguousarray(column)
    ordered, number = np.empty_like(column), max(1, min(PARTS * workers, column.size // FEWEST))
    bits, keys = column.view(np.uint64), ordered.view(np.uint64)
    looked_at = np.sort(_keys(column[:: max(1, column.size // LOOKED_AT)]))
    edges = looked_at[looked_at.size * np.arange(1, number) // number] if looked_at.size else looked_at
    pieces = [bits[column.size * piece // number : column.size * (piece + 1) // number] for piece in range(number)]
    counts = np.zeros((number, edges.size + 1), dtype=np.int64)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda piece: count_parts(pieces[piece], edges, counts[piece]), range(number)))
        ends = np.cumsum(counts.T).reshape(counts.T.shape).T  # of each part the pieces, one after the other
        starts = np.ascontiguousarray(ends - counts)
        list(pool.map(lambda piece: place_parts(pieces[piece], edges, starts[piece], keys), range(number)))
        parts = [keys[first:last] for first, last in pairwise([0, *ends[-1]])]
        list(pool.map(lambda part: sort_part(part, np.empty_like(part)), parts))
    return ordered


def _keys(scores: Floats) -> NDArray[np.uint64]:
    """Return the keys of scores: their bits, those of negative ones turned round, which rise as they do."""
    bits = np.ascontiguousarray(scores).view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(1 << 63))


def _frozen(ordered: NDArray[Any]) -> NDArray[Any]:
    ordered.setflags(write=False)
    return ordered
