"""Explorer: thresholds and counts from cells. Two scans choose exactly, whatever the criterion.

The first scan counts scores in cells, bounds discard the cells that cannot hold a minimiser, the second brings the
scores of the rest. Where too many are left, cells are cut finer and counted again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OneClassError
from priori.base.types import Counts, Floats, Mask
from priori.engines.cells import NOTHING, Distinct, Histogram, merged, shortlisted
from priori.engines.engine import Engine, TooMany, changed
from priori.engines.grid import Grid, fitted_grid, split_grid
from priori.scores.candidates import Chooser, Shortlist, joined
from priori.scores.cuts import at_most

#: Bytes that a fetched score needs while it is sorted and matched.
PER_SCORE = 96
#: The most cells a histogram has.
CELLS = 1 << 20
#: After this many rounds of finer cells the rest is looked through in parts.
ROUNDS = 6


class Explorer:
    """What is known of a set so far: counts in cells, and all the scores of some of them.

    ``memory`` (bytes) bounds what is fetched at a time, ``cells`` how many cells are counted in.
    """

    def __init__(self, engine: Engine, memory: int, cells: int) -> None:
        self.engine = engine
        self.source = engine.source
        self.memory = memory
        self.cells = cells
        self._histogram: Histogram | None = None
        self._first: Histogram | None = None
        self._known = NOTHING
        self._looked = np.zeros(0, dtype=np.bool_)
        self._expected: Floats = np.empty(0)
        self._tied = False
        self._ahead: Future[None] | None = None

    # -- choosing ----------------------------------------------------------------------------------------

    @property
    def histogram(self) -> Histogram:
        """The counts in cells: the first scan."""
        if self._ahead is not None:
            ahead, self._ahead = self._ahead, None
            ahead.result()
        if self._histogram is None:
            self._first_scan()
        assert self._histogram is not None
        return self._histogram

    def begin(self) -> None:
        """Start the first scan in a thread of its own, so that it is done, or nearly so, when it is needed."""
        if self._histogram is None and self._ahead is None:
            pool = ThreadPoolExecutor(1)
            self._ahead = pool.submit(Explorer._first_scan, self)
            pool.shutdown(wait=False)

    def _first_scan(self) -> None:
        survey = self.engine.survey()
        cells = min(max(survey.rows // 64, 1 << 10), self.cells)
        self._tied = 2 * np.unique(survey.sample).size < survey.sample.size
        self._count(fitted_grid(survey.sample, cells, survey.limits, self.engine.segments))
        self._first = self._histogram

    def restart(self) -> None:
        """Go back to the first scan: what can be answered does not depend on what was asked before."""
        if self.histogram is not self._first:
            self._histogram = self._first
        self._forget()

    def _count(self, grid: Grid) -> None:
        counted = self.engine.histogram(grid)
        for name, number in (("negative", counted.negatives), ("positive", counted.positives)):
            if not number:
                raise OneClassError(
                    f"{self.source}: no {name} trial; both classes are needed "
                    "(check the labels, or say which is positive)"
                )
        before = self._histogram
        if before is not None and (before.negatives, before.positives) != (counted.negatives, counted.positives):
            raise changed(self.source)
        self._histogram = counted
        # A cell of the new grid is known where all its scores are.
        known = self._known.negative + self._known.positive
        seen = np.bincount(grid.cells(self._known.value), weights=known, minlength=grid.size)
        self._looked = seen == counted.rows

    def expect(self, thresholds: ArrayLike) -> None:
        """Say that counts at these thresholds will be asked for, so that one scan can serve both."""
        self._expected = np.union1d(self._expected, np.asarray(thresholds, dtype=np.float64))

    def shortlist(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Shortlist:
        """Return the candidates that the chooser may choose at these alphas (None: at any)."""
        nothing_asked = self.histogram is self._first
        keep = self._narrowed(chooser, alphas)
        if not self.look(keep) and not nothing_asked:
            self.restart()
            keep = self._narrowed(chooser, alphas)
        if self.look(keep):
            return shortlisted(self.histogram, self._known)
        return self._in_parts(chooser, alphas, keep)

    def _narrowed(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Mask:
        """Return the cells that may hold the chosen candidates, cut finer until all their scores are known."""
        keep = self._promising(chooser, alphas)
        for _ in range(ROUNDS):
            if self.look(keep):
                break
            before, coarse = self._rows(keep), self.histogram.grid
            self.refine(keep)
            # What was discarded stays so, though it now lies in wide cells that say little.
            keep = _within(self._promising(chooser, alphas), self.histogram.grid, keep, coarse)
            if self._rows(keep) > 0.9 * before:
                break
        return keep

    def _promising(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Mask:
        histogram = self.histogram
        keep = np.zeros(histogram.grid.size, dtype=np.bool_)
        cells = chooser.promising(histogram.edges, alphas)
        keep[histogram.filled] = True if cells is None else cells[: histogram.filled.size]
        return keep

    def refine(self, keep: Mask, cells: int | None = None) -> None:
        """Count again, in about so many cells, finer where ``keep`` says so."""
        histogram, cells = self.histogram, cells or self.cells
        self._count(split_grid(histogram.grid, keep, cells, histogram.limits, histogram.rows, self.engine.segments))

    def within(self, keep: Mask, before: Grid) -> Mask:
        """Return the filled cells that share a number with a cell to ``keep`` of the grid before."""
        return _within(self._filled(), self.histogram.grid, keep, before)

    def _filled(self) -> Mask:
        filled = np.zeros(self.histogram.grid.size, dtype=np.bool_)
        filled[self.histogram.filled] = True
        return filled

    # -- looking into cells ------------------------------------------------------------------------------

    @property
    def _limit(self) -> int:
        return max(1, self.memory // PER_SCORE)

    def _rows(self, cells: Mask) -> int:
        return int(self.histogram.rows[cells].sum())

    def look(self, keep: Mask) -> bool:
        """Fetch the scores of these cells, if they fit; a few distinct scores fit however many trials have them."""
        todo = keep & ~self._looked
        if not todo.any():
            return True
        if self._rows(todo) + self._known.value.size > self._limit:
            self._forget()
            todo = keep
        if self._rows(todo) > self._limit and not self._tied:
            return False
        todo = todo | (self._cells_expected() & ~self._looked)
        try:
            fetched = self._fetch(todo, self._limit)
        except TooMany:
            return False
        self._known = merged([self._known, fetched]) if self._known.value.size else fetched
        self._looked = self._looked | todo
        return True

    def look_at_all(self) -> bool:
        """Fetch all scores, if they fit."""
        return self.look(self._filled())

    def known_in(self, cells: Mask) -> Distinct:
        """Return the scores of cells that were looked into."""
        return self._known.take(cells[self.histogram.grid.cells(self._known.value)])

    def _forget(self) -> None:
        self._known = NOTHING
        self._looked = self.histogram.rows == 0

    def _fetch(self, cells: Mask, limit: int | None) -> Distinct:
        """Fetch the scores of cells, as many as were counted: scores that change between scans are no set of scores."""
        grid = self.histogram.grid
        scores = self.engine.fetch(grid, cells, limit)
        cell = grid.cells(scores.value)
        for column, counted in ((scores.negative, self.histogram.negative), (scores.positive, self.histogram.positive)):
            if not np.array_equal(np.bincount(cell, weights=column, minlength=grid.size)[cells], counted[cells]):
                raise changed(self.source)
        return scores

    def _cells_expected(self) -> Mask:
        """Return the cells that hold a threshold of which counts will be asked."""
        cells = np.zeros(self.histogram.grid.size, dtype=np.bool_)
        cells[self._cells_of(self._expected)] = True
        cells[[0, -1]] = False
        return cells

    def _cells_of(self, thresholds: Floats) -> Counts:
        grid = self.histogram.grid
        return grid.cells(at_most(thresholds, grid.dtype))

    def _in_parts(self, chooser: Chooser, alphas: Sequence[Fraction] | None, keep: Mask) -> Shortlist:
        """Look through the cells part by part; of each part only the winners are kept.

        The winner of all is the winner of its part, whatever the criterion.
        """
        parts: list[Shortlist] = []
        for scores in self._parts(keep, overlap=1):
            candidates = shortlisted(self.histogram, scores)
            winners = chooser.winners(candidates, alphas)
            assert winners is not None  # whoever needs all scores at once is not asked part by part
            parts.append(candidates.only(*winners))
        return joined(parts)

    def _parts(self, keep: Mask, overlap: int) -> Iterator[Distinct]:
        """Yield the scores of cells, as many at a time as fit in memory, each time with some cells of the next part.

        One cell of overlap is enough to see every gap between scores.
        """
        filled = self.histogram.filled
        filled = filled[keep[filled]]
        rows = np.cumsum(self.histogram.rows[filled])
        start = 0
        while start < filled.size:
            before = rows[start - 1] if start else 0
            end = max(int(np.searchsorted(rows, before + self._limit, side="right")), start + 1)
            part = np.zeros(keep.size, dtype=np.bool_)
            part[filled[start : end + overlap]] = True
            self._forget()
            yield self._fetch(part, None)
            start = end

    def pairs_in_order(self) -> int:
        """Return twice the number of pairs whose positive scores above the negative; a tie is half a pair.

        All scores are looked through, part by part.
        """
        histogram = self.histogram
        below = int(histogram.negative[0])
        total = below * int(histogram.positive[0])
        for part in self._parts(self._filled(), overlap=0):
            passed = np.cumsum(part.negative)
            twice = 2 * (below + passed) - part.negative
            # In halves of 32 bits: the sum of products may pass 64.
            total += sum(int((twice >> shift & 0xFFFFFFFF) @ part.positive) << shift for shift in (0, 32))
            below += int(passed[-1])
        return total + int(histogram.positive[-1]) * (2 * below + int(histogram.negative[-1]))

    # -- counting ----------------------------------------------------------------------------------------

    def rejected(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        """Count the trials of each class at or below thresholds; a scan, unless the scores beside them are known."""
        thresholds = np.asarray(thresholds, dtype=np.float64)
        flat = np.ravel(thresholds)
        self.expect(flat)
        self.look(self._cells_expected())
        if (self._cells_expected() & ~self._looked).any():
            cuts, index = np.unique(flat, return_inverse=True)
            tn, fn = (
                np.cumsum(np.bincount(tally.gap[0], tally.number, cuts.size + 1).astype(np.int64))[index]
                for tally in self.engine.tally(cuts)
            )
        else:
            tn, fn = self._count_known(flat)
        return tn.reshape(thresholds.shape), fn.reshape(thresholds.shape)

    def _count_known(self, thresholds: Floats) -> tuple[Counts, Counts]:
        cell = self._cells_of(thresholds)
        value, owner = self._known.value, self.histogram.grid.cells(self._known.value)
        first, last = np.searchsorted(owner, cell, side="left"), np.searchsorted(value, thresholds, side="right")
        outer = (cell == 0) | (cell == self.histogram.grid.size - 1)
        counts = []
        for column, before in zip((self._known.negative, self._known.positive), self.histogram.before, strict=True):
            running = np.append(0, np.cumsum(column))
            within = np.maximum(running[last] - running[first], 0)
            counts.append(np.where(outer, before[cell + 1], before[cell] + within))
        return counts[0], counts[1]


def _within(cells: Mask, grid: Grid, keep: Mask, coarse: Grid) -> Mask:
    """Return those of the cells that share a number with a cell to ``keep`` of a coarser grid."""
    fine = np.flatnonzero(cells)
    before = np.append(0, np.cumsum(keep))
    shared = before[coarse.cells(grid.highest(fine)) + 1] > before[coarse.cells(grid.lowest(fine))]
    within = np.zeros_like(cells)
    within[fine[shared]] = True
    return within
