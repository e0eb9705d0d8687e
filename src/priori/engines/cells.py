"""Cells: how many scores of each class lie in each cell of a grid, and the scores of the cells looked into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Counts, Floats
from priori.engines.grid import Grid
from priori.scores.candidates import Edges, Shortlist
from priori.scores.sorting import sorted_columns


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many negative and positive scores lie in each cell of a grid.

    ``limits`` are the smallest and the largest finite score; ``nan`` how many scores were NaN (they are rejected
    trials by now, or left out).
    """

    grid: Grid
    negative: Counts
    positive: Counts
    limits: tuple[float, float]
    nan: int = 0

    @cached_property
    def negatives(self) -> int:
        """The negative trials."""
        return int(self.negative.sum())

    @cached_property
    def positives(self) -> int:
        """The positive trials."""
        return int(self.positive.sum())

    @cached_property
    def rows(self) -> Counts:
        """The trials of both classes in each cell."""
        return self.negative + self.positive

    @cached_property
    def filled(self) -> NDArray[np.intp]:
        """The cells of finite scores that hold any, ascending."""
        return np.flatnonzero(self.rows[1:-1]) + 1

    @cached_property
    def before(self) -> tuple[Counts, Counts]:
        """How many negatives and positives lie in lower cells than each; one entry more than there are cells."""
        return np.append(0, np.cumsum(self.negative)), np.append(0, np.cumsum(self.positive))

    def pairs_in_order(self) -> int:
        """Return twice the number of pairs whose positive lies in a higher cell; those of one cell are half a pair."""
        twice = 2 * self.before[0][:-1] + self.negative
        # In halves of 32 bits: the sum of products may pass 64.
        return sum(int((twice >> shift & 0xFFFFFFFF) @ self.positive) << shift for shift in (0, 32))

    @cached_property
    def edges(self) -> Edges:
        """The candidates between filled cells: below the first, ..., above the last.

        Where there are scores of +inf, one more stands above them.
        """
        negative, positive = self.before
        after = np.concatenate([[1], self.filled + 1])
        if self.rows[-1]:
            after = np.append(after, self.grid.size)
        return Edges(self.negatives - negative[after], positive[after], self.negatives, self.positives)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Distinct scores, ascending, and how often each class has them."""

    value: Floats
    negative: Counts
    positive: Counts

    def take(self, index: Any) -> Distinct:
        """Return the scores at ``index``."""
        return Distinct(self.value[index], self.negative[index], self.positive[index])


#: No scores at all.
NOTHING = Distinct(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def distinct(negative: NDArray[Any], positive: NDArray[Any]) -> Distinct:
    """Return the distinct scores of two unordered samples; -0.0 is 0.0."""
    ordered = sorted_columns([negative, positive])
    value = np.concatenate(ordered)
    value.sort(kind="stable")  # two ascending runs: this is a merge
    starts = np.flatnonzero(np.append(True, value[1:] != value[:-1])[: value.size])
    total = np.diff(np.append(starts, value.size))
    value = value[starts]
    # Only the scores of the smaller class are looked up: what is left of each run is the other's.
    fewer = int(negative.size > positive.size)
    counts = np.bincount(np.searchsorted(value, ordered[fewer]), minlength=value.size)
    both = (total - counts, counts) if fewer else (counts, total - counts)
    return Distinct(value.astype(np.float64) + 0.0, *both)


def merged(parts: list[Distinct]) -> Distinct:
    """Return several lists of distinct scores as one."""
    value, index = np.unique(np.concatenate([part.value for part in parts]), return_inverse=True)
    # Counts stay far below 2^53, so that adding them up as floating numbers is exact.
    negative, positive = (
        np.bincount(index, weights=np.concatenate(column), minlength=value.size).astype(np.int64)
        for column in ([part.negative for part in parts], [part.positive for part in parts])
    )
    return Distinct(value.astype(np.float64) + 0.0, negative, positive)


def shortlisted(histogram: Histogram, known: Distinct) -> Shortlist:
    """Return the candidates in and between the cells looked into, with the lowest and the highest of all.

    ``known`` holds all the scores of those cells. A candidate between a cell looked into and one that was not
    is left out: its threshold is not known, and were it optimal both cells would have been looked into.
    """
    grid, filled = histogram.grid, histogram.filled
    cell = grid.cells(known.value)
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])[: cell.size])
    sizes = np.diff(np.append(starts, cell.size))
    before_negative, before_positive = histogram.before
    tn = _running(known.negative, starts, sizes) + before_negative[cell]
    fn = _running(known.positive, starts, sizes) + before_positive[cell]
    order = np.repeat(np.searchsorted(filled, cell[starts]), sizes)
    above = np.append(known.value[1:], np.inf)
    adjoining = np.append(np.diff(order) <= 1, order[-1:] == filled.size - 1)
    fp = np.concatenate([histogram.edges.fp[:1], histogram.negatives - tn[adjoining]])
    fn = np.concatenate([histogram.edges.fn[:1], fn[adjoining]])
    below = np.concatenate([[-np.inf], known.value[adjoining]])
    above = np.concatenate([[np.inf], above[adjoining]])
    if fp[-1] != 0 or fn[-1] != histogram.positives:  # reject-all: its threshold is +inf whatever lies below it
        fp, fn = np.append(fp, 0), np.append(fn, histogram.positives)
        below, above = np.append(below, np.inf), np.append(above, np.inf)
    return Shortlist(fp, fn, below, above, histogram.negatives, histogram.positives)


def _running(counts: Counts, starts: NDArray[np.intp], sizes: NDArray[np.intp]) -> Counts:
    """Return the running sums within each cell, of which there are these beginnings and sizes."""
    total = np.cumsum(counts)
    return np.asarray(total - np.repeat(np.append(0, total)[starts], sizes))
