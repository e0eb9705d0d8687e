"""Histograms: how many scores of each class lie in each bin of a grid, and the scores of the bins looked into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.engines.engine import Counts
from priori.engines.grid import Grid
from priori.scores.candidates import Edges, Shortlist
from priori.scores.sorting import sorted_columns


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many negative and positive scores lie in each bin of a grid.

    ``limits`` are the smallest and the largest finite score.
    """

    grid: Grid
    negative: Ints
    positive: Ints
    limits: tuple[float, float]

    @cached_property
    def negatives(self) -> int:
        """The negative trials."""
        return int(self.negative.sum())

    @cached_property
    def positives(self) -> int:
        """The positive trials."""
        return int(self.positive.sum())

    @cached_property
    def rows(self) -> Ints:
        """The trials of both classes in each bin."""
        return self.negative + self.positive

    @cached_property
    def filled(self) -> NDArray[np.intp]:
        """The bins of finite scores that hold any, ascending."""
        return np.flatnonzero(self.rows[1:-1]) + 1

    @cached_property
    def before(self) -> tuple[Ints, Ints]:
        """How many negatives and positives lie in lower bins than each; one entry more than there are bins."""
        return np.append(0, np.cumsum(self.negative)), np.append(0, np.cumsum(self.positive))

    @classmethod
    def of(cls, grid: Grid, counts: Counts) -> Histogram:
        """Return what a panel counted in the bins of a grid."""
        each = np.zeros((2, grid.size), dtype=np.int64)
        each[counts.positive.astype(np.intp), counts.bins[0]] = counts.number
        return cls(grid, each[0], each[1], counts.limits)

    def pairs_in_order(self) -> int:
        """Return twice the number of pairs whose positive lies in a higher bin; those of one bin are half a pair."""
        twice = 2 * self.before[0][:-1] + self.negative
        # In halves of 32 bits: the sum of products may pass 64.
        return sum(int((twice >> shift & 0xFFFFFFFF) @ self.positive) << shift for shift in (0, 32))

    @cached_property
    def ends(self) -> Edges:
        """The candidates between filled bins: below the first, ..., above the last.

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
    negative: Ints
    positive: Ints

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
    """Return the candidates in and between the bins looked into, with the lowest and the highest of all.

    ``known`` holds all the scores of those bins. A candidate between a bin looked into and one that was not
    is left out: its threshold is not known, and were it optimal both bins would have been looked into.
    """
    filled, bins = histogram.filled, histogram.grid.bins(known.value)
    starts = np.flatnonzero(np.append(True, bins[1:] != bins[:-1])[: bins.size])
    sizes = np.diff(np.append(starts, bins.size))
    tn, fn = (
        np.cumsum(own) - np.repeat(np.append(0, np.cumsum(own))[starts], sizes) + before[bins]
        for own, before in zip((known.negative, known.positive), histogram.before, strict=True)
    )
    order = np.repeat(np.searchsorted(filled, bins[starts]), sizes)
    above = np.append(known.value[1:], np.inf)
    adjoining = np.append(np.diff(order) <= 1, order[-1:] == filled.size - 1)
    fp = np.concatenate([histogram.ends.fp[:1], histogram.negatives - tn[adjoining]])
    fn = np.concatenate([histogram.ends.fn[:1], fn[adjoining]])
    below = np.concatenate([[-np.inf], known.value[adjoining]])
    above = np.concatenate([[np.inf], above[adjoining]])
    if fp[-1] != 0 or fn[-1] != histogram.positives:  # reject-all: its threshold is +inf whatever lies below it
        fp, fn = np.append(fp, 0), np.append(fn, histogram.positives)
        below, above = np.append(below, np.inf), np.append(above, np.inf)
    return Shortlist(fp, fn, below, above, histogram.negatives, histogram.positives)
