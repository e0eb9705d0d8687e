"""Cuts: in which gap between fixed cuts a score lies, and counts of whole-number keys that come in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.engines.grid import BLOCK, Grid, even_grid

__all__ = ["Counter", "Cuts"]

Ints = NDArray[np.int64]

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
        gap = np.searchsorted(cell, np.arange(grid.size), side="left")
        gap[cell] = -1
        return cls(at, grid, gap)

    @property
    def size(self) -> int:
        """The number of cuts."""
        return int(self.cuts.size)

    def gaps(self, scores: NDArray[Any]) -> Ints:
        """Return the gap of each score."""
        found = np.empty(scores.size, dtype=np.int64)
        for start in range(0, scores.size, BLOCK):
            block = scores[start : start + BLOCK]
            gap = self.gap[self.grid.cells(block)]
            beside = np.flatnonzero(gap < 0)
            if beside.size:
                gap[beside] = np.searchsorted(self.cuts, block[beside], side="left")
            found[start : start + BLOCK] = gap
        return found


class Counter:
    """Counts how often each of ``size`` keys came; keys are gathered, since counting many at once is cheaper."""

    def __init__(self, size: int) -> None:
        self.counts = np.zeros(size, dtype=np.int64)
        self._room = max(1 << 20, min(2 * size, 1 << 23))
        self._waiting: list[Ints] = []
        self._held = 0

    def add(self, keys: Ints) -> None:
        """Count these keys too."""
        self._waiting.append(keys)
        self._held += keys.size
        if self._held >= self._room:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            keys = self._waiting[0] if len(self._waiting) == 1 else np.concatenate(self._waiting)
            self.counts += np.bincount(keys, minlength=self.counts.size)
            self._waiting, self._held = [], 0

    def total(self) -> Ints:
        """Return the counts."""
        self._flush()
        return self.counts
