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

from priori.base.types import Floats
from priori.engines.cells import NOTHING, Distinct, Histogram, distinct, merged
from priori.engines.cuts import Counter, Cuts
from priori.engines.engine import Engine, Tally, TooMany
from priori.engines.grid import Grid
from priori.scores import NanPolicy

#: Scores fetched are reduced to distinct ones whenever this many have come together.
GATHERED = 1 << 22
#: Rows in a batch of what is in memory.
ROWS = 1 << 17


Found = TypeVar("Found")

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


class Streaming(Engine):
    """A back end that yields its trials in batches, in any order, in one piece or in several at the same time."""

    #: The type of the scores.
    dtype: Any = np.float64
    #: How many scores of the last scan were NaN.
    nan: int = 0
    #: Scores and labels are kept after the first scan if they fit into this many bytes.
    retain: int = 0
    _kept: list[list[Batch]] | None = None

    @abstractmethod
    def pieces(self, *, user: bool = False) -> list[Scan]:
        """Return scans that together yield every trial once, with the codes of users when asked."""

    def finish(self) -> None:
        """Look after a scan whether all was well."""

    def rows_at_most(self) -> int:
        """Return a number of rows that a scan will not pass."""
        return 1 << 62

    def _over(self, work: Callable[[Iterator[Batch]], Found], *, user: bool = False) -> list[Found]:
        """Do something with the batches of each piece, all pieces at the same time."""
        if self._kept is not None and not user:
            return _together([partial(work, iter(batches)) for batches in self._kept])
        scans = self.pieces(user=user)
        kept: list[list[Batch]] = [[] for _ in scans]
        keep = not user and self.rows_at_most() * (np.dtype(self.dtype).itemsize + 1) <= self.retain
        if keep:
            scans = [partial(_keeping, scan, copies) for scan, copies in zip(scans, kept, strict=True)]
        found = _together([partial(_scanned, work, scan) for scan in scans])
        self.finish()
        if keep:
            self._kept = kept
        return found

    def histogram(self, grid: Grid) -> Histogram:
        def work(batches: Iterator[Batch]) -> tuple[NDArray[np.int64], float, float]:
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

        found = self._over(work)
        counts = np.sum([one[0] for one in found], axis=0)
        limits = min(one[1] for one in found), max(one[2] for one in found)
        return Histogram(grid, counts[::2].copy(), counts[1::2].copy(), limits, self.nan)

    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        def work(batches: Iterator[Batch]) -> tuple[Distinct, list[Gathered]]:
            found = NOTHING
            gathered: list[Gathered] = []
            waiting = 0
            place = np.empty(ROWS, dtype=np.int64)
            for batch in batches:
                if batch.score.size > place.size:
                    place = np.empty(batch.score.size, dtype=np.int64)
                cells = grid.cells(batch.score, finite=batch.finite, out=place[: batch.score.size])
                chosen = np.flatnonzero(np.take(keep, cells))
                gathered.append((batch.score[chosen], batch.positive[chosen]))
                waiting += chosen.size
                if waiting > GATHERED:
                    found, gathered, waiting = _with(found, gathered), [], 0
                    if limit is not None and found.value.size > limit:
                        raise TooMany
            return found, gathered

        # What was not reduced to distinct scores yet is sorted together: cheaper than piece by piece.
        pieces = self._over(work)
        reduced = [found for found, _ in pieces if found.value.size]
        return _with(merged(reduced) if reduced else NOTHING, [scores for _, gathered in pieces for scores in gathered])

    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        at = Cuts.of(cuts, self.dtype)
        gaps = at.size + 1
        owners = len(self.users()) if by_user else 1

        def work(batches: Iterator[Batch]) -> NDArray[np.int64]:
            counter = Counter(2 * owners * gaps)
            for batch in batches:
                for part, key in counter.rooms(batch.score.size):
                    at.gaps(batch.score[part], finite=batch.finite, out=key)
                    key += batch.positive[part] * np.int64(owners * gaps)
                    if batch.user is not None:
                        key += batch.user[part].astype(np.int64) * gaps
            return counter.total()

        counts = np.sum(self._over(work, user=by_user), axis=0)
        negative, positive = (_tally(half, gaps, by_user) for half in np.split(counts, 2))
        return negative, positive


def _together(works: list[Callable[[], Found]]) -> list[Found]:
    """Do several works at the same time; of errors the first is raised."""
    if len(works) == 1:
        return [works[0]()]
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


def _scanned(work: Callable[[Iterator[Batch]], Found], scan: Scan) -> Found:
    """Give a scan's batches to a work, and end the scan whatever happens."""
    with closing(scan()) as batches:
        return work(batches)


def _keeping(scan: Scan, kept: list[Batch]) -> Generator[Batch, None, None]:
    with closing(scan()) as batches:
        for batch in batches:
            kept.append(batch._replace(score=batch.score.copy(), positive=batch.positive.copy()))
            yield batch


def _finite_limits(batch: Batch) -> tuple[float, float]:
    if batch.finite:
        return batch.low, batch.high
    finite = batch.score[np.isfinite(batch.score)]
    return float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))


def _with(found: Distinct, gathered: list[Gathered]) -> Distinct:
    if not gathered:
        return found
    score, positive = (np.concatenate(column) for column in zip(*gathered, strict=True))
    more = distinct(score[positive == 0], score[positive != 0])
    return merged([found, more]) if found.value.size else more


def _tally(counts: NDArray[np.int64], gaps: int, by_user: bool) -> Tally:
    present = np.flatnonzero(counts)
    user, gap = np.divmod(present, gaps)
    return Tally(gap[None, :], user if by_user else None, counts[present])
