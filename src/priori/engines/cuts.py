"""Cuts: in which gap between fixed cuts a score lies, and counts of whole-number keys that come in batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Ints
from priori.engines.grid import BLOCK, Grid, even_grid

__all__ = ["Counter", "Cuts"]


#: Cells of the table in which gaps are looked up.
TABLE = 1 << 14


@dataclass(frozen=True, eq=False)
class Cuts:
    """Ascending cuts; a score lies in the gap whose number is the number of cuts below it.

    Most scores find their gap in a table of cells; only those in a cell that holds a cut are searched for.
    """

    cuts: NDArray[Any]
    grid: Grid
    gap: Ints

    @classmethod
    def of(cls, cuts: NDArray[np.float64], dtype: Any = np.float64) -> Cuts:
        """Prepare cuts for scores of one type."""
        finite = cuts[np.isfinite(cuts)]
        low, high = (finite[0], finite[-1]) if finite.size else (0.0, 1.0)
        with np.errstate(over="ignore"):
            grid = even_grid(low, high, TABLE, dtype)
        at = grid.at_most(cuts)
        cell = grid.cells(at)
        gap = np.searchsorted(cell, np.arange(grid.size), side="left").astype(np.int64)
        gap[cell] = -1
        return cls(at, grid, gap)

    @property
    def size(self) -> int:
        """The number of cuts."""
        return int(self.cuts.size)

    def gaps(self, scores: NDArray[Any], *, finite: bool = False, out: Ints | None = None) -> Ints:
        """Return the gap of each score; ``finite`` promises that none is infinite."""
        found = self.grid.cells(scores, finite=finite, out=out)
        for start in range(0, scores.size, BLOCK):
            block = found[start : start + BLOCK]
            gap = self.gap[block]
            beside = np.flatnonzero(gap < 0)
            if beside.size:
                gap[beside] = np.searchsorted(self.cuts, scores[start : start + BLOCK][beside], side="left")
            block[:] = gap
        return found


class Counter:
    """Counts how often each of ``size`` keys came.

    Keys are written into ``room``, since counting many at once is cheaper.
    """

    def __init__(self, size: int) -> None:
        self.counts = np.zeros(size, dtype=np.int64)
        # 64 bits, as bincount would copy anything else; many, as every count of them goes through all sums.
        self._keys = np.empty(max(1 << 18, min(4 * size, 1 << 22)), dtype=np.int64)
        self._held = 0

    def rooms(self, size: int) -> Iterator[tuple[slice, Ints]]:
        """Yield slices of ``size`` keys, with the room into which the keys of each are to be written."""
        done = 0
        while done < size:
            if self._held == self._keys.size:
                self._flush()
            more = min(size - done, self._keys.size - self._held)
            yield slice(done, done + more), self._keys[self._held : self._held + more]
            self._held += more
            done += more

    def _flush(self) -> None:
        self.counts += np.bincount(self._keys[: self._held], minlength=self.counts.size)
        self._held = 0

    def total(self) -> Ints:
        """Return the counts."""
        self._flush()
        return self.counts
