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
from priori.engines.grid import Grid
from priori.scores import NanPolicy

__all__ = ["Batch", "Streaming", "settled"]

#: Scores fetched are reduced to distinct ones whenever this many have come together.
GATHERED = 1 << 22
#: Rows in a batch of what is in memory.
ROWS = 1 << 17


class Batch(NamedTuple):
    """Some trials: scores without NaN, 1 for the positive ones and 0 for the others, codes of users.

    ``low`` and ``high`` are the smallest and the largest score.
    """

    score: NDArray[Any]
    positive: NDArray[np.uint8]
    user: NDArray[Any] | None
    low: float
    high: float

    @property
    def finite(self) -> bool:
        """Whether no score is infinite."""
        return -np.inf < self.low and self.high < np.inf


def settled(
    score: NDArray[Any], positive: NDArray[np.uint8], user: NDArray[Any] | None, policy: NanPolicy
) -> tuple[Batch, int]:
    """Return a batch with its NaN scores rejected or left out, and how many there were."""
    low = float(score.min(initial=np.inf))
    number = 0
    if np.isnan(low):
        missing = np.isnan(score)
        number = int(np.count_nonzero(missing))
        if policy == "reject":
            score = np.where(missing, score.dtype.type(-np.inf), score)
        else:
            score, positive = score[~missing], positive[~missing]
            user = None if user is None else user[~missing]
        low = float(score.min(initial=np.inf))
    return Batch(score, positive, user, low, float(score.max(initial=-np.inf))), number


class Streaming(Engine):
    """A back end that yields its trials in batches, in any order."""

    #: The type of the scores.
    dtype: Any = np.float64
    #: How many scores of the last scan were NaN.
    nan: int = 0

    #: Scores and labels are kept after the first scan if they fit into this many bytes.
    retain: int = 0
    _kept: tuple[NDArray[Any], NDArray[np.uint8]] | None = None

    @abstractmethod
    def scan(self, *, user: bool = False) -> Iterator[Batch]:
        """Yield every trial once, with the codes of users when asked."""

    def batches(self, *, user: bool = False) -> Iterator[Batch]:
        """Yield every trial once: from a scan, or from what an earlier one left in memory."""
        if user:
            yield from self.scan(user=True)
        elif self._kept is not None:
            score, positive = self._kept
            for start in range(0, score.size, ROWS):
                yield settled(score[start : start + ROWS], positive[start : start + ROWS], None, "error")[0]
        else:
            rows = self.rows_at_most()
            fits = rows * (np.dtype(self.dtype).itemsize + 1) <= self.retain
            yield from self._keeping(rows) if fits else self.scan()

    def rows_at_most(self) -> int:
        """Return a number of rows that a scan will not pass."""
        return 1 << 62

    def _keeping(self, rows: int) -> Iterator[Batch]:
        score, positive = np.empty(rows, dtype=self.dtype), np.empty(rows, dtype=np.uint8)
        done = 0
        for batch in self.scan():
            end = done + batch.score.size
            score[done:end], positive[done:end] = batch.score, batch.positive
            done = end
            yield batch
        self._kept = score[:done], positive[:done]

    def histogram(self, grid: Grid) -> Histogram:
        counter = Counter(2 * grid.size)
        low, high = np.inf, -np.inf
        for batch in self.batches():
            lows, highs = _finite_limits(batch)
            low, high = min(low, lows), max(high, highs)
            for part, key in counter.rooms(batch.score.size):
                grid.cells(batch.score[part], finite=batch.finite, out=key)
                key <<= 1
                key += batch.positive[part]
        counts = counter.total()
        return Histogram(grid, counts[::2].copy(), counts[1::2].copy(), (low, high), self.nan)

    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        found = NOTHING
        gathered: list[tuple[NDArray[Any], NDArray[np.uint8]]] = []
        waiting = 0
        place = np.empty(ROWS, dtype=np.int32)
        for batch in self.batches():
            if batch.score.size > place.size:
                place = np.empty(batch.score.size, dtype=np.int32)
            cells = grid.cells(batch.score, finite=batch.finite, out=place[: batch.score.size])
            chosen = np.flatnonzero(keep[cells])
            gathered.append((batch.score[chosen], batch.positive[chosen]))
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
            for part, key in counter.rooms(batch.score.size):
                at.gaps(batch.score[part], finite=batch.finite, out=key)
                key += batch.positive[part] * np.int32(owners * gaps)
                if batch.user is not None:
                    key += batch.user[part].astype(np.int32) * np.int32(gaps)
        negative, positive = (_tally(half, gaps, by_user) for half in np.split(counter.total(), 2))
        return negative, positive


def _finite_limits(batch: Batch) -> tuple[float, float]:
    if batch.finite:
        return batch.low, batch.high
    finite = batch.score[np.isfinite(batch.score)]
    return float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))


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
