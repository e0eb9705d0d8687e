"""Grids on the score axis: in which bin a score lies.

The same score falls into the same bin wherever it is computed: a bin is found by one subtraction, one product and a
rounding down, so that any engine can do it, and bins can be made narrow where scores are dense. Infinite scores have
bins of their own at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """Segments that begin at ``low``, each cut into equal bins.

    Segment j holds the bins ``first[j]`` to ``first[j + 1] - 1``; ``scale[j]`` bins fit into one unit of score.
    Bin 0 is the score -inf, the last bin +inf. ``low`` has the type the arithmetic is done in, that of the
    scores.
    """

    low: AnyFloats
    scale: AnyFloats
    first: Ints

    @property
    def size(self) -> int:
        """The number of bins, with the two for infinite scores."""
        return int(self.first[-1]) + 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the arithmetic."""
        return self.low.dtype

    def bins(self, scores: AnyFloats, *, finite: bool = False, out: Ints | None = None) -> Ints:
        """Return the bin of each score (any but NaN); it never falls as the score rises.

        ``finite`` says that no score is infinite.
        """
        bins = np.empty(scores.size, dtype=np.int64) if out is None else out
        scratch = np.empty(min(scores.size, TOGETHER), dtype=self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, scores.size, TOGETHER):
                some = np.asarray(scores[start : start + TOGETHER], dtype=self.dtype)
                own = bins[start : start + TOGETHER]
                self._locate(some, own, scratch[: some.size])
                if not finite and not np.isfinite(some).all():
                    own[some == -np.inf] = 0
                    own[some == np.inf] = self.size - 1
        return bins

    def _locate(self, some: AnyFloats, own: Ints, scratch: AnyFloats) -> None:
        if self.low.size == 1:
            np.subtract(some, self.low[0], out=scratch)
            np.multiply(scratch, self.scale[0], out=scratch)
            np.clip(scratch, 0, self.dtype.type(self.first[1] - 2), out=scratch)
            np.copyto(own, scratch, casting="unsafe")
            own += 1
            return
        segment = self._starts.bins(some, finite=True)
        np.subtract(some, np.take(self.low, segment), out=scratch)
        np.multiply(scratch, np.take(self.scale, segment), out=scratch)
        np.maximum(scratch, 0, out=scratch)
        np.minimum(scratch, np.take(self._last, segment), out=scratch)
        np.copyto(own, scratch, casting="unsafe")
        own += np.take(self.first, segment)

    @cached_property
    def _last(self) -> AnyFloats:
        """The number of the last bin of each segment within it."""
        return (np.diff(self.first) - 1).astype(self.dtype)

    @cached_property
    def _starts(self) -> Cuts:
        """Cuts right below the beginnings of segments: what lies before the first one is in the first, too."""
        return Cuts.of(np.nextafter(self.low[1:], self.dtype.type(-np.inf)), self.dtype)

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

    def cut_finer(self, keep: NDArray[np.bool_], segments: int) -> NDArray[np.bool_]:
        """Return the bins that `split_grid` cuts finer: those to keep, and some between them if they are many runs."""
        finer = np.zeros(keep.size, dtype=np.bool_)
        finer[1:-1] = joined_runs(keep[1:-1], max(1, segments // 4))
        return finer

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
    # A subnormal scale would be zero in an engine that has none.
    least, largest = np.finfo(low.dtype).tiny, np.finfo(low.dtype).max
    limited = np.nan_to_num(np.clip(scale, least, largest), nan=largest, posinf=largest)
    first = np.concatenate([[1], 1 + np.cumsum(bins)]).astype(np.int64)
    return Grid(low, limited.astype(kind), first)


def even_grid(low: float, high: float, bins: int, dtype: Any = np.float64) -> Grid:
    """Return equal bins from ``low`` to ``high``; what lies beyond falls into the first and the last."""
    kind = np.dtype(dtype).type
    return _segments(np.array([kind(low)]), np.array([kind(high)]), np.array([bins]))


def fitted_grid(
    sample: AnyFloats, bins: int, limits: tuple[float, float] | None = None, segments: int = SEGMENTS
) -> Grid:
    """Return a grid that suits a sample of finite scores: even where that spreads them well, else narrow where dense.

    ``limits`` are the smallest and the largest score, where they are known.
    """
    segments = min(segments, SEGMENTS)
    values = np.unique(sample)
    if values.size == 0:
        return even_grid(0.0, 1.0, 1, sample.dtype)
    low, high = (values[0], values[-1]) if limits is None else limits
    even = even_grid(low, high, bins, sample.dtype)
    coarse = even_grid(low, high, 1024, sample.dtype)
    share = np.bincount(coarse.bins(values), minlength=coarse.size) / values.size
    # Scores of a bell come to about 3 here; 1 is the best, 1024 the worst.
    if values.size < 16 * segments or np.square(share).sum() * 1024 < 24:
        return even
    starts = values[:: -(-values.size // segments)]
    if low < starts[0]:
        starts = np.insert(starts, 0, low)
    ends = np.append(starts[1:], max(high, values[-1]))
    return _segments(starts, ends, np.full(starts.size, max(1, bins // starts.size)))


def joined_runs(keep: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Return the mask with the narrowest gaps between its runs filled, until there are at most ``most`` runs."""
    inside = np.flatnonzero(keep)
    gap = np.diff(inside) - 1
    if np.count_nonzero(gap) < most:
        return keep
    narrow = np.argsort(gap, kind="stable")[: gap.size - (most - 1)]
    filled = keep.copy()
    for index in narrow[gap[narrow] > 0].tolist():
        filled[inside[index] : inside[index + 1]] = True
    return filled


def split_grid(
    grid: Grid, keep: NDArray[np.bool_], bins: int, limits: tuple[float, float], rows: Ints, segments: int = 1 << 12
) -> Grid:
    """Return a grid of about so many ``bins`` that cuts those to ``keep`` finer and merges the others.

    ``rows`` says how many scores each bin holds: where there are more, bins become narrower. ``limits`` are the
    smallest and the largest finite score: the outermost bins reach no further.
    """
    finer = grid.cut_finer(keep, segments)[1:-1]
    changes = np.flatnonzero(np.append(True, finer[1:] != finer[:-1]))
    ends = np.append(changes[1:], finer.size)
    pieces = max(1, (segments - changes.size) // max(1, int(finer[changes].sum())))
    before = np.append(0, np.cumsum(rows))
    starts: list[Ints] = []
    weights: list[NDArray[np.float64]] = []
    for begin, end in zip(changes.tolist(), ends.tolist(), strict=True):
        edges = np.array([begin, end]) + 1
        if finer[begin]:  # segments begin where bins did, as these may be narrow where scores are dense
            edges = np.unique(np.linspace(begin, end, min(pieces, end - begin) + 1).astype(np.int64)) + 1
        bounds = grid.lowest(np.minimum(edges, grid.size - 2))
        bounds = np.append(bounds[:-1], limits[1] if end == finer.size else bounds[-1]).astype(grid.dtype)
        bounds[0] = max(bounds[0], limits[0]) if begin == 0 else bounds[0]
        parts = pieces // (edges.size - 1) if finer[begin] else 1
        starts.append(_between(_order(bounds), parts))
        weights.append(np.repeat(np.diff(before[edges]) / parts if finer[begin] else 0.0, parts))
    low, indices = np.unique(np.concatenate(starts), return_index=True)
    weight = np.concatenate(weights)[indices]
    share = np.maximum(np.where(weight > 0, 2, 1), bins * weight / max(weight.sum(), 1.0)).astype(np.int64)
    numbers = _number(low, grid.dtype)
    return _segments(numbers, np.append(numbers[1:], max(limits[1], numbers[-1])).astype(grid.dtype), share)


def _between(edges: Ints, pieces: int) -> Ints:
    """Return the beginnings of equal pieces between edges, all in the order of floating numbers.

    There, where numbers of very different size share a bin, each size gets its pieces.
    """
    half = (edges[1:] >> 1) - (edges[:-1] >> 1)  # as the difference itself may pass 64 bits
    step = 2 * (half // max(pieces, 1))
    return np.asarray((edges[:-1, None] + step[:, None] * np.arange(max(pieces, 1))).ravel())
