"""Scores on their axis: placed among others, and counted in the bins between cuts, on all processors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from priori.base.limits import FEWEST, PARTS, in_parts, processors
from priori.base.types import Floats, Index, Ints

#: How many scores are handled together: few enough to stay in a processor's cache.
TOGETHER = 1 << 16
#: Leading bits by which a bin is looked up: the least and the most, and how many more than the cuts need.
LEAST_BITS, MOST_BITS, MORE_BITS = 17, 20, 9
#: With at most this many cuts, a score's bin is looked up by its leading bits; with more it is searched for.
FEW_CUTS = 1 << 12


def bins_of(cuts: Floats, scores: Floats) -> Index:
    """Return how many of the ascending cuts lie below each score: the bin that it is in.

    Examples
    --------
    >>> bins_of(np.array([0.0, 1.0]), np.array([0.5, 0.0, 7.0])).tolist()
    [1, 0, 2]
    """
    if scores.size < FEWEST or cuts.size > FEW_CUTS:
        return places_of(cuts, scores, "left")
    bins, ready = np.empty(scores.size, dtype=np.intp), Cuts.of(cuts)
    in_parts(lambda part: ready.bins(scores[part], out=bins[part]), scores.size)
    return bins


def counts_between(cuts: Floats, scores: Floats) -> Ints:
    """Return how many scores lie in each bin between ascending cuts."""
    ready = Cuts.of(cuts)
    return counted(lambda part: ready.bins(scores[part]), scores.size, cuts.size + 1)


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
    groups: NDArray[Any], n_groups: int, bins: Index, n_bins: int, number: NDArray[Any] | None
) -> NDArray[Any]:
    """Return how many trials each group (rows) has in each bin (columns)."""

    def keys(part: slice) -> Ints:
        return groups[part].astype(np.int64) * n_bins + bins[part]

    return counted(keys, bins.size, n_groups * n_bins, number).reshape(n_groups, n_bins)


def long_dot(numbers: Ints, counts: Ints) -> int:
    """Return the sum of products of whole numbers, which may pass 64 bits: in halves of 32.

    Examples
    --------
    >>> long_dot(np.array([2**62, 1]), np.array([4, 1])) == 2**64 + 1
    True
    """
    return sum(int((numbers >> shift & 0xFFFFFFFF) @ counts) << shift for shift in (0, 32))


# -- bins between cuts -----------------------------------------------------------------------------------------------


def at_most(scores: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return the largest number of a type that is at most each score."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(scores).astype(dtype)
        return np.where(rounded > scores, np.nextafter(rounded, rounded.dtype.type(-np.inf)), rounded)


@dataclass(frozen=True, eq=False)
class Cuts:
    """Ascending cuts; a score lies in the bin whose number is the number of cuts below it.

    The bin is looked up by the leading bits of the score, and searched for only where those do not tell. The bits of
    a number in single precision, negative ones turned round, never fall as the number rises: so a run of them that
    holds no cut lies in one bin. They are spread as logarithms are; an ``offset`` added first makes runs equally wide.
    """

    cuts: NDArray[Any]
    offset: np.float32
    least: int
    shift: int
    table: NDArray[np.int32]

    @classmethod
    def of(cls, cuts: NDArray[Any], dtype: Any = np.float64) -> Cuts:
        """Prepare cuts for scores of one type."""
        rounded = at_most(cuts, dtype)
        finite = rounded[np.isfinite(rounded)]
        below = int(np.count_nonzero(rounded == -np.inf))
        if not finite.size:
            return cls(rounded, np.float32(0), 0, 0, np.array([below], dtype=np.int32))
        # The offset under which more cuts are told apart: cuts are dense where scores are.
        offset, least, shift, key = max(
            (_keys(finite, offset) for offset in (_levelling(finite), np.float32(0))),
            key=lambda found: np.unique(found[-1]).size,
        )
        runs = np.diff(key, prepend=-1, append=key[-1] + 1)
        table = np.repeat(np.arange(below, below + runs.size, dtype=np.int32), runs)
        table[key] = -1
        return cls(rounded, offset, least, shift, table)

    def bins(self, scores: NDArray[Any], *, out: Ints | None = None) -> Ints:
        """Return the bin of each score (any but NaN)."""
        bins = np.empty(scores.size, dtype=np.int64) if out is None else out
        for start in range(0, scores.size, TOGETHER):
            some, own = scores[start : start + TOGETHER], bins[start : start + TOGETHER]
            key = _leading(some, self.offset) - np.int64(self.least)
            key >>= self.shift
            own[:] = np.take(self.table, np.clip(key, 0, self.table.size - 1, out=key))
            unsure = np.flatnonzero(own < 0)
            if unsure.size:
                own[unsure] = np.searchsorted(self.cuts, np.take(some, unsure), side="left")
            if some.min() == -np.inf:
                own[some == -np.inf] = 0
        return bins


def _keys(cuts: NDArray[Any], offset: np.float32) -> tuple[np.float32, int, int, Ints]:
    """Return an offset, the bits and the shift that make keys of scores under it, and the keys of finite cuts."""
    bits = _leading(cuts, offset).astype(np.int64)
    leading = min(max(LEAST_BITS, bits.size.bit_length() + MORE_BITS), MOST_BITS)
    shift = max(0, int(bits[-1] - bits[0]).bit_length() - leading)
    least = int(bits[0]) - (1 << shift)  # the first run lies below all cuts, the last above them
    return offset, least, shift, (bits - least) >> shift


def _levelling(cuts: NDArray[Any]) -> np.float32:
    """Return what lifts the range of cuts to where all numbers have one exponent, as far as numbers go."""
    with np.errstate(over="ignore"):
        offset = np.float32(np.exp2(np.ceil(np.log2(max(float(cuts[-1]) - float(cuts[0]), 1e-30)))) - cuts[0])
    return offset if np.isfinite(offset) else np.float32(0)


def _leading(numbers: NDArray[Any], offset: np.float32) -> NDArray[np.int32]:
    """Return whole numbers that never fall as the numbers rise."""
    with np.errstate(over="ignore"):
        bits = (numbers.astype(np.float32) + offset).view(np.int32)
    return np.asarray(bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF)))
