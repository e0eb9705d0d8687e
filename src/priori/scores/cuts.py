"""Cuts on the score axis: in which bin between fixed cuts a score lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Ints

#: Scores looked at together: few enough to stay in a processor's cache.
TOGETHER = 1 << 16
#: Leading bits by which a bin is looked up: the least and the most, and how many more than the cuts need.
LEAST_BITS, MOST_BITS, MORE_BITS = 17, 20, 9


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
    holds no cut lies in one bin.
    """

    cuts: NDArray[Any]
    least: int
    shift: int
    table: NDArray[np.int32]

    @classmethod
    def of(cls, cuts: NDArray[Any], dtype: Any = np.float64) -> Cuts:
        """Prepare cuts for scores of one type."""
        rounded = at_most(cuts, dtype)
        bits = _leading(rounded[np.isfinite(rounded)]).astype(np.int64)
        below = int(np.count_nonzero(rounded == -np.inf))
        if not bits.size:
            return cls(rounded, 0, 0, np.array([below], dtype=np.int32))
        leading = min(max(LEAST_BITS, bits.size.bit_length() + MORE_BITS), MOST_BITS)
        shift = max(0, int(bits[-1] - bits[0]).bit_length() - leading)
        least = int(bits[0]) - (1 << shift)  # the first run lies below all cuts, the last above them
        key = (bits - least) >> shift
        runs = np.diff(key, prepend=-1, append=key[-1] + 1)
        table = np.repeat(np.arange(below, below + runs.size, dtype=np.int32), runs)
        table[key] = -1
        return cls(rounded, least, shift, table)

    def bins(self, scores: NDArray[Any], *, finite: bool = False, out: Ints | None = None) -> Ints:
        """Return the bin of each score (any but NaN); ``finite`` says that none is infinite."""
        bins = np.empty(scores.size, dtype=np.int64) if out is None else out
        for start in range(0, scores.size, TOGETHER):
            some, own = scores[start : start + TOGETHER], bins[start : start + TOGETHER]
            key = _leading(some) - np.int64(self.least)
            key >>= self.shift
            own[:] = np.take(self.table, key, mode="clip")
            unsure = np.flatnonzero(own < 0)
            if unsure.size:
                own[unsure] = np.searchsorted(self.cuts, np.take(some, unsure), side="left")
            if not finite:
                own[some == -np.inf] = 0
        return bins


def _leading(numbers: NDArray[Any]) -> NDArray[np.int32]:
    """Return whole numbers that never fall as the numbers rise."""
    with np.errstate(over="ignore"):
        bits = (numbers.astype(np.float32) + np.float32(0)).view(np.int32)
    return np.asarray(bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF)))
