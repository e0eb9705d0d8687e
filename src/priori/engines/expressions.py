"""Expressions of narwhals: in which bin a score lies, by the same comparisons and arithmetic as in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from priori.base.types import Floats, Mask
from priori.scores.grid import Grid, joined_runs

#: The most ranges that one expression tells apart: Java leaves longer ones uncompiled, which costs five times as much.
RANGES = 16


def _tree(starts: Sequence[float], beyond: Callable[[float], Any], leaf: Callable[[int], Any]) -> Any:
    """Return the expression of the leaf whose number is how many of the starts the score lies beyond."""

    def between(low: int, high: int) -> Any:
        if low == high:
            return leaf(low)
        middle = (low + high) // 2
        return nw.when(beyond(starts[middle])).then(between(middle + 1, high)).otherwise(between(low, middle))

    return between(0, len(starts))


def bin_of(bins: Grid | Floats, score: str) -> Any:
    """Return the expression of the bin of a score; none where the score is none.

    Between ascending cuts it is a tree of comparisons; in a grid the same arithmetic as `Grid.bins`.
    """
    column = nw.col(score)
    if isinstance(bins, Grid):
        grid = bins

        def within(segment: int) -> Any:
            last = float(grid.first[segment + 1] - grid.first[segment] - 1)
            steps = ((column - float(grid.low[segment])) * float(grid.scale[segment])).clip(0.0, last)
            whole = steps - steps % 1.0  # exact; a cast alone would round in some engines
            return whole.cast(nw.Int64) + int(grid.first[segment])

        inner = _tree(grid.low[1:].tolist(), column.__ge__, within)
        upper = nw.when(column == np.inf).then(nw.lit(grid.size - 1, nw.Int64)).otherwise(inner)
        found = nw.when(column == -np.inf).then(nw.lit(0, nw.Int64)).otherwise(upper)
    else:
        found = _tree(bins.tolist(), column.__gt__, lambda number: nw.lit(number, nw.Int64))
    return nw.when(~column.is_null()).then(found)


def ranges(grid: Grid, keep: Mask) -> Floats:
    """Return cuts between which, in every other bin from the first, lie the scores of the bins to keep.

    Of many ranges those next to each other are joined, so a few more scores than wanted may lie inside.
    """
    bins = np.flatnonzero(joined_runs(keep, RANGES))
    starts = bins[np.append(True, np.diff(bins) > 1)]
    ends = bins[np.append(np.diff(bins) > 1, True)] + 1
    largest = np.finfo(np.float64).max
    low = grid.lowest(starts)
    high = np.where(ends < grid.size - 1, grid.lowest(np.minimum(ends, grid.size - 2)), np.inf)
    with np.errstate(over="ignore"):
        cuts = np.column_stack([np.nextafter(low, -np.inf), np.nextafter(high, -np.inf)]).ravel()
    return np.asarray(np.minimum(cuts, largest))
