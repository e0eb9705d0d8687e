"""Sorting and placing scores on all processors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from priori.base.processors import processors
from priori.base.types import Floats, Index, Mask

#: A part of fewer scores is not worth a thread.
FEWEST = 1 << 15

#: Scores that are looked at to divide a column into parts of about the same size.
LOOKED_AT = 1 << 12

#: Scores that are compared together.
BLOCK = 1 << 16


def sorted_columns(columns: Sequence[Floats]) -> list[Floats]:
    """Return columns of scores, none of them NaN, in ascending order.

    Columns are divided by value, and every part is sorted on its own.

    Examples
    --------
    >>> [column.tolist() for column in sorted_columns([np.array([0.3, 0.1]), np.array([2.0, np.inf, -np.inf])])]
    [[0.1, 0.3], [-inf, 2.0, inf]]
    """
    workers, total = processors(), sum(column.size for column in columns)
    parts = [max(1, min(round(workers * column.size / max(total, 1)), column.size // FEWEST)) for column in columns]
    if sum(parts) == 1 or workers == 1 or total < 2 * FEWEST:
        return [_frozen(np.sort(column)) for column in columns]
    ordered = [np.empty_like(column) for column in columns]
    with ThreadPoolExecutor(workers) as pool:
        limits = [_limits(column, number) for column, number in zip(columns, parts, strict=True)]
        # All parts of all columns are under way before the first is waited for.
        counts = [
            [pool.submit(_count, column, *each) for each in limits[number]] for number, column in enumerate(columns)
        ]
        tasks = []
        for number, column in enumerate(columns):
            ends = np.cumsum([0, *(count.result() for count in counts[number])])
            for start, end, each in zip(ends[:-1], ends[1:], limits[number], strict=True):
                tasks.append(pool.submit(_place, ordered[number][start:end], column, *each))
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
    workers = min(processors(), scores.size // FEWEST)
    if workers < 2:
        return np.searchsorted(edges, scores, side="left")
    gaps = np.empty(scores.size, dtype=np.intp)

    def fill(part: slice) -> None:
        gaps[part] = np.searchsorted(edges, scores[part], side="left")

    ends = [scores.size * number // workers for number in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, map(slice, ends[:-1], ends[1:])))
    return gaps


def _limits(column: Floats, parts: int) -> list[tuple[float | None, float | None]]:
    """Return between which scores each part lies: from the first one on, below the second; None: there is no limit."""
    looked_at = np.sort(column[:: max(1, column.size // LOOKED_AT)])
    edges = [float(looked_at[looked_at.size * number // parts]) for number in range(1, parts)]
    return list(zip([None, *edges], [*edges, None], strict=True))


def _blocks(column: Floats, low: float | None, high: float | None) -> Iterator[tuple[Floats, Mask]]:
    """Yield the scores block by block, and which of them are in one part."""
    for start in range(0, column.size, BLOCK):
        block = column[start : start + BLOCK]
        inside = np.ones(block.size, dtype=np.bool_) if low is None else block >= low
        if high is not None:
            inside &= block < high
        yield block, inside


def _count(column: Floats, low: float | None, high: float | None) -> int:
    """Return how many scores are in one part."""
    if low is None and high is None:
        return column.size
    return sum(int(np.count_nonzero(inside)) for _, inside in _blocks(column, low, high))


def _place(part: Floats, column: Floats, low: float | None, high: float | None) -> None:
    """Put the scores of one part where they belong, and sort them there."""
    if low is None and high is None:
        part[:] = column
    else:
        start = 0
        for block, inside in _blocks(column, low, high):
            chosen = block[inside]
            part[start : start + chosen.size] = chosen
            start += chosen.size
    part.sort()


def _frozen(ordered: Floats) -> Floats:
    ordered.setflags(write=False)
    return ordered
