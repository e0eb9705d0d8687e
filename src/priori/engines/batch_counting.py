"""The questions answered in numpy over batches of trials: by back ends that can hand their rows over quickly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.engines.cells import NOTHING, Distinct, Histogram, distinct, merged
from priori.engines.engine import Engine, Tally, TooMany
from priori.engines.grid import Cuts, Grid
from priori.scores import NanPolicy

#: Scores fetched are reduced to distinct ones whenever this many have come together.
GATHERED = 1 << 22
#: Rows in a batch of what is in memory.
ROWS = 1 << 17

Result = TypeVar("Result")

#: Scores, and 1 for the positive ones.
Gathered = tuple[NDArray[Any], NDArray[np.uint8]]


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


#: Yields some of the trials when it is called.
Scan = Callable[[], Generator[Batch, None, None]]


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
        start = 0
        while start < size:
            if self._held == self._keys.size:
                self._flush()
            more = min(size - start, self._keys.size - self._held)
            yield slice(start, start + more), self._keys[self._held : self._held + more]
            self._held += more
            start += more

    def _flush(self) -> None:
        self.counts += np.bincount(self._keys[: self._held], minlength=self.counts.size)
        self._held = 0

    def total(self) -> Ints:
        """Return the counts."""
        self._flush()
        return self.counts


class Streaming(Engine):
    """A back end that yields its trials in batches, in any order, in one piece or in several at the same time."""

    #: The type of the scores.
    dtype: Any = np.float64
    #: How many scores of the last scan were NaN.
    nan: int = 0
    #: Scores and labels are kept after the first scan if they fit into this many bytes.
    retain: int = 0
    _retained: list[list[Batch]] | None = None

    @abstractmethod
    def pieces(self, *, user: bool = False) -> list[Scan]:
        """Return scans that together yield every trial once, with the codes of users when asked."""

    def finish(self) -> None:
        """Look after a scan whether all was well."""

    def rows_at_most(self) -> int:
        """Return a number of rows that a scan will not pass."""
        return 1 << 62

    def _over(self, work: Callable[[Iterator[Batch]], Result], *, user: bool = False) -> list[Result]:
        """Do something with the batches of each piece, all pieces at the same time."""
        if self._retained is not None and not user:
            return _together([partial(work, iter(batches)) for batches in self._retained])
        scans = self.pieces(user=user)
        retained: list[list[Batch]] = [[] for _ in scans]
        retains = not user and self.rows_at_most() * (np.dtype(self.dtype).itemsize + 1) <= self.retain
        if retains:
            scans = [partial(_retaining, scan, copies) for scan, copies in zip(scans, retained, strict=True)]
        results = _together([partial(_scanned, work, scan) for scan in scans])
        self.finish()
        if retains:
            self._retained = retained
        return results

    def histogram(self, grid: Grid) -> Histogram:
        def work(batches: Iterator[Batch]) -> tuple[Ints, float, float]:
            counter = Counter(2 * grid.size)
            low, high = np.inf, -np.inf
            for batch in batches:
                lows, highs = _finite_limits(batch)
                low, high = min(low, lows), max(high, highs)
                for part, key in counter.rooms(batch.score.size):
                    grid.cells(batch.score[part], finite=batch.finite, out=key)
                    key <<= 1
                    key += batch.positive[part]
            return counter.total(), low, high

        pieces, lows, highs = zip(*self._over(work), strict=True)
        counts = np.sum(pieces, axis=0)
        return Histogram(grid, counts[::2].copy(), counts[1::2].copy(), (min(lows), max(highs)), self.nan)

    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        def work(batches: Iterator[Batch]) -> tuple[Distinct, list[Gathered]]:
            scores = NOTHING
            gathered: list[Gathered] = []
            waiting = 0
            buffer = np.empty(ROWS, dtype=np.int64)
            for batch in batches:
                if batch.score.size > buffer.size:
                    buffer = np.empty(batch.score.size, dtype=np.int64)
                cells = grid.cells(batch.score, finite=batch.finite, out=buffer[: batch.score.size])
                chosen = np.flatnonzero(np.take(keep, cells))
                gathered.append((batch.score[chosen], batch.positive[chosen]))
                waiting += chosen.size
                if waiting > GATHERED:
                    scores, gathered, waiting = _with(scores, gathered), [], 0
                    if limit is not None and scores.value.size > limit:
                        raise TooMany
            return scores, gathered

        # What was not reduced to distinct scores yet is sorted together: cheaper than piece by piece.
        pieces = self._over(work)
        reduced = [scores for scores, _ in pieces if scores.value.size]
        return _with(merged(reduced) if reduced else NOTHING, [some for _, gathered in pieces for some in gathered])

    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        prepared = Cuts.of(cuts, self.dtype)
        gaps = cuts.size + 1
        owners = len(self.users()) if by_user else 1

        def work(batches: Iterator[Batch]) -> Ints:
            counter = Counter(2 * owners * gaps)
            for batch in batches:
                for part, key in counter.rooms(batch.score.size):
                    prepared.gaps(batch.score[part], finite=batch.finite, out=key)
                    key += batch.positive[part] * np.int64(owners * gaps)
                    if batch.user is not None:
                        key += batch.user[part].astype(np.int64) * gaps
            return counter.total()

        counts = np.sum(self._over(work, user=by_user), axis=0)
        negative, positive = (_tally(half, gaps, by_user) for half in np.split(counts, 2))
        return negative, positive


def _together(works: list[Callable[[], Result]]) -> list[Result]:
    """Do several works at the same time; of errors the first is raised."""
    if len(works) == 1:
        return [works[0]()]
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


def _scanned(work: Callable[[Iterator[Batch]], Result], scan: Scan) -> Result:
    """Give a scan's batches to a work, and end the scan whatever happens."""
    with closing(scan()) as batches:
        return work(batches)


def _retaining(scan: Scan, copies: list[Batch]) -> Generator[Batch, None, None]:
    with closing(scan()) as batches:
        for batch in batches:
            copies.append(batch._replace(score=batch.score.copy(), positive=batch.positive.copy()))
            yield batch


def _finite_limits(batch: Batch) -> tuple[float, float]:
    if batch.finite:
        return batch.low, batch.high
    finite = batch.score[np.isfinite(batch.score)]
    return float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))


def _with(scores: Distinct, gathered: list[Gathered]) -> Distinct:
    if not gathered:
        return scores
    score, positive = (np.concatenate(column) for column in zip(*gathered, strict=True))
    more = distinct(score[positive == 0], score[positive != 0])
    return merged([scores, more]) if scores.value.size else more


def _tally(counts: Ints, gaps: int, by_user: bool) -> Tally:
    present = np.flatnonzero(counts)
    user, gap = np.divmod(present, gaps)
    return Tally(gap[None, :], user if by_user else None, counts[present])
