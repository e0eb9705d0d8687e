"""The questions answered in numpy over batches of trials: by back ends that can hand their rows over quickly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.engines.base import Engine, Floats, Tally, TooMany
from priori.engines.cells import NOTHING, Distinct, Histogram, distinct, merged
from priori.engines.cuts import Counter, Cuts
from priori.engines.grid import BLOCK, Grid

__all__ = ["Batch", "Streaming"]

#: Scores fetched are reduced to distinct ones whenever this many have come together.
GATHERED = 1 << 22


class Batch(NamedTuple):
    """Some trials: scores without NaN, 1 for the positive ones and 0 for the others, codes of users."""

    score: NDArray[Any]
    positive: NDArray[np.uint8]
    user: NDArray[Any] | None = None


class Streaming(Engine):
    """A back end that yields its trials in batches, in any order."""

    #: The type of the scores.
    dtype: Any = np.float64
    #: How many scores of the last scan were NaN.
    nan: int = 0

    @abstractmethod
    def batches(self, *, user: bool = False) -> Iterator[Batch]:
        """Yield every trial once, with the codes of users when asked."""

    def histogram(self, grid: Grid) -> Histogram:
        counter = Counter(2 * grid.size)
        low, high = np.inf, -np.inf
        for batch in self.batches():
            for score, _ in _blocks(batch):
                finite = score if np.isfinite(score).all() else score[np.isfinite(score)]
                if finite.size:
                    low, high = min(low, float(finite.min())), max(high, float(finite.max()))
            key = grid.cells(batch.score)
            key <<= 1
            key += batch.positive
            counter.add(key)
        counts = counter.total()
        return Histogram(grid, counts[::2].copy(), counts[1::2].copy(), (low, high), self.nan)

    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        found = NOTHING
        gathered: list[tuple[NDArray[Any], NDArray[np.uint8]]] = []
        waiting = 0
        for batch in self.batches():
            for score, positive in _blocks(batch):
                chosen = np.flatnonzero(keep[grid.cells(score)])
                gathered.append((score[chosen], positive[chosen]))
                waiting += chosen.size
            if waiting > GATHERED:
                found, gathered, waiting = _with(found, gathered), [], 0
                if limit is not None and found.value.size > limit:
                    raise TooMany
        return _with(found, gathered)

    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        at = Cuts.of(cuts, self.dtype)
        gaps = at.size + 1
        owners = len(self.users()) if by_user else 1
        counter = Counter(2 * owners * gaps)
        for batch in self.batches(user=by_user):
            key = at.gaps(batch.score)
            key += batch.positive * np.int64(owners * gaps)
            if batch.user is not None:
                key += batch.user.astype(np.int64) * gaps
            counter.add(key)
        negative, positive = (_tally(half, gaps, by_user) for half in np.split(counter.total(), 2))
        return negative, positive


def _blocks(batch: Batch) -> Iterator[tuple[NDArray[Any], NDArray[np.uint8]]]:
    for start in range(0, batch.score.size, BLOCK):
        yield batch.score[start : start + BLOCK], batch.positive[start : start + BLOCK]


def _with(found: Distinct, gathered: list[tuple[NDArray[Any], NDArray[np.uint8]]]) -> Distinct:
    if not gathered:
        return found
    score, positive = (np.concatenate(column) for column in zip(*gathered, strict=True))
    more = distinct(score[positive == 0], score[positive != 0])
    return merged([found, more]) if found.value.size else more


def _tally(counts: NDArray[np.int64], gaps: int, by_user: bool) -> Tally:
    present = np.flatnonzero(counts)
    user, gap = np.divmod(present, gaps)
    return Tally(gap[None, :], user if by_user else None, counts[present])
