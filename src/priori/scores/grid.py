"""Grids on the score axis: in which bin a score lies.

The same score falls into the same bin wherever it is computed: a bin is found by one subtraction, one product and a
rounding down, so that any engine can do it, and bins can be made narrow where scores are dense. Infinite scores have
bins of their own at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Ints
from priori.scores.sorting import TOGETHER, Cuts

AnyFloats = NDArray[Any]

#: Segments of a fitted grid.
SEGMENTS = 256


@dataclass(frozen=True, eq=False)
class Grid:
    """Segments that begin at ``low``, each divided into equal bins, and each bin into equal ``parts`` (None: one).

    Segment j holds the bins ``first[j]`` to ``first[j + 1] - 1``; ``scale[j]`` bins fit into one unit of score. Bin 0
    is the score -inf, the last bin +inf. ``low`` has the type the arithmetic is done in, that of the scores. Parts are
    numbered from first to last; to every caller these parts are the bins.
    """

    low: AnyFloats
    scale: AnyFloats
    first: Ints
    parts: Ints | None = None

    @property
    def size(self) -> int:
        """The number of bins, with the two for infinite scores."""
        return int(self.first[-1]) + 1 if self.parts is None else int(self._begins[-1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the arithmetic."""
        return self.low.dtype

    def bins(self, scores: AnyFloats, *, out: Ints | None = None) -> Ints:
        """Return the bin of each score (any but NaN); it never falls as the score rises."""
        bins = np.empty(scores.size, dtype=np.int64) if out is None else out
        scratch = np.empty(min(scores.size, TOGETHER), dtype=self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, scores.size, TOGETHER):
                some = np.asarray(scores[start : start + TOGETHER], dtype=self.dtype)
                own = bins[start : start + TOGETHER]
                self._locate(some, own, scratch[: some.size])
                if some.min() == -np.inf:
                    own[some == -np.inf] = 0
                if some.max() == np.inf:
                    own[some == np.inf] = self.size - 1
        return bins

    def _locate(self, some: AnyFloats, own: Ints, scratch: AnyFloats) -> None:
        segment = None if self.low.size == 1 else self._starts.bins(some)
        low, scale, end, first = (
            column[0] if segment is None else np.take(column, segment)
            for column in (self.low, self.scale, self._ends, self.first)
        )
        np.subtract(some, low, out=scratch)
        np.multiply(scratch, scale, out=scratch)
        np.maximum(scratch, 0, out=scratch)
        np.minimum(scratch, end, out=scratch)
        np.copyto(own, scratch, casting="unsafe")
        if self.parts is None:
            own += first
            return
        within = scratch.astype(np.float64) - own
        own += first
        within *= np.take(self.parts, own)
        own[:] = np.take(self._begins, own) + within.astype(np.int64)

    @cached_property
    def _begins(self) -> Ints:
        """The number of the first part of each bin, and the end."""
        assert self.parts is not None
        return np.append(np.zeros(1, dtype=np.int64), np.cumsum(self.parts))

    @cached_property
    def _ends(self) -> AnyFloats:
        """The largest number below the end of each segment, in bins from its beginning."""
        return np.asarray(np.nextafter(np.diff(self.first).astype(self.dtype), self.dtype.type(0)))

    @cached_property
    def _starts(self) -> Cuts:
        """Cuts right below the beginnings of segments: what lies before the first one is in the first, too."""
        return Cuts.of(np.nextafter(self.low[1:], self.dtype.type(-np.inf)), self.dtype)

    def finer(self, rows: Ints, bins: int) -> Grid:
        """Return a grid of about so many more ``bins``, which divide those that have rows: the more rows the more."""
        parts = np.ones(int(self.first[-1]) + 1, dtype=np.int64) if self.parts is None else self.parts
        own = np.add.reduceat(rows, np.cumsum(parts) - parts)
        own[[0, -1]] = 0
        times = np.ceil(bins * (own / max(int(own.sum()), 1)) / parts).astype(np.int64)
        return replace(self, parts=parts * np.where(own > 0, np.maximum(times, 2), 1))

    def lowest(self, bins: NDArray[Any]) -> AnyFloats:
        """Return the smallest finite number that falls into each bin or a higher one (not for the last bin).

        Found by bisection on the ordered bits of the floating numbers: no formula could be trusted to round as
        `bins` does.
        """
        largest = np.finfo(self.dtype).max
        low = np.full(bins.shape, _order(np.array([-largest]))[0])
        high = np.full(bins.shape, _order(np.array([largest]))[0])
        while (low < high).any():
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            reached = self.bins(_number(middle, self.dtype)) >= bins
            high = np.where(reached, middle, high)
            low = np.where(reached, low, np.minimum(middle + 1, high))
        return _number(high, self.dtype)

    def highest(self, bins: NDArray[Any]) -> AnyFloats:
        """Return the largest finite number of each bin, of those between the first and the last."""
        inner = bins < self.size - 2
        highest = np.full(bins.shape, np.finfo(self.dtype).max, dtype=self.dtype)
        highest[inner] = np.nextafter(self.lowest(bins[inner] + 1), self.dtype.type(-np.inf))
        return highest


def _order(numbers: AnyFloats) -> Ints:
    """Return whole numbers in the order of the floating ones, neighbours next to each other."""
    bits = (numbers + 0.0).view(f"i{numbers.dtype.itemsize}")
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits.astype(np.int64), bits)


def _number(order: Ints, dtype: np.dtype[Any]) -> AnyFloats:
    """Return the floating numbers of `_order`."""
    whole = np.dtype(f"i{dtype.itemsize}")
    return np.where(order < 0, np.iinfo(whole).min - order, order).astype(whole).view(dtype)


def _segments(low: AnyFloats, high: AnyFloats, bins: NDArray[Any]) -> Grid:
    kind = low.dtype.type
    with np.errstate(divide="ignore", over="ignore"):
        scale = 0.5 * bins / (0.5 * high.astype(np.float64) - 0.5 * low.astype(np.float64))
    # A subnormal scale would be zero in an engine without subnormal numbers.
    least, largest = np.finfo(low.dtype).tiny, np.finfo(low.dtype).max
    limited = np.nan_to_num(np.clip(scale, least, largest), nan=largest, posinf=largest)
    first = np.concatenate([[1], 1 + np.cumsum(bins)]).astype(np.int64)
    return Grid(low, limited.astype(kind), first)


def even_grid(low: float, high: float, bins: int, dtype: Any = np.float64) -> Grid:
    """Return equal bins from ``low`` to ``high``; what lies beyond falls into the first and the last."""
    kind = np.dtype(dtype).type
    return _segments(np.array([kind(low)]), np.array([kind(high)]), np.array([bins]))


def fitted_grid(sample: AnyFloats, bins: int) -> Grid:
    """Return a grid that suits a sample of finite scores: even where that spreads them well, else narrow where dense.

    It covers the sample. The sample should hold the smallest and the largest of all scores where they are known.
    """
    values = np.unique(sample)
    if values.size == 0:
        return even_grid(0.0, 1.0, 1, sample.dtype)
    low, high = values[0], values[-1]
    even, coarse = (even_grid(low, high, number, sample.dtype) for number in (bins, 1024))
    share = np.bincount(coarse.bins(values), minlength=coarse.size) / values.size
    # About 3 for bell-shaped scores; 1 is the best value, 1024 the worst.
    if values.size < 16 * SEGMENTS or np.square(share).sum() * 1024 < 24:
        return even
    starts = values[:: -(-values.size // SEGMENTS)]
    return _segments(starts, np.append(starts[1:], high), np.full(starts.size, max(1, bins // starts.size)))
