"""The questions answered in numpy over batches of trials: by back ends that can hand their rows over quickly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial, reduce
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints, Mask
from priori.engines.cells import NOTHING, Distinct, Histogram, distinct, merged
from priori.engines.engine import Engine, Tally, TooMany
from priori.engines.grid import Grid
from priori.scores import NanPolicy
from priori.scores.cuts import Cuts

#: Scores fetched are reduced to distinct ones whenever this many have come together.
GATHERED = 1 << 22
#: Rows in a batch of what is in memory.
ROWS = 1 << 17
#: Bytes that counts by owner may take, however little memory is given.
LEAST_ROOM = 1 << 24
#: Keys of a counter that waits for the keys of many others.
FEW_KEYS = 1 << 15

Result = TypeVar("Result")
Answer_co = TypeVar("Answer_co", covariant=True)

#: Whose scores are counted apart: users', those of so many random parts of the trials, of each combination of the names
#: in some roles, or nobody's.
Owner = Literal["user"] | int | tuple[str, ...] | None
#: Scores, and 1 for the positive ones.
Gathered = tuple[NDArray[Any], NDArray[np.uint8]]


class Batch(NamedTuple):
    """Some trials: scores without NaN, 1 for the positive ones and 0 for the others, codes of users or other owners.

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


class Work(Protocol[Answer_co]):
    """What is done with the batches of a scan, one after the other, and what comes of it."""

    def add(self, batch: Batch) -> None:
        """Take one more batch."""

    def answer(self) -> Answer_co:
        """Return what came of all of them."""


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

    def __init__(self, size: int, keys: int | None = None) -> None:
        self.counts = np.zeros(size, dtype=np.int64)
        # 64 bits, as bincount would copy anything else; many, as every count of them goes through all sums.
        self._keys = np.empty(keys or max(1 << 18, min(4 * size, 1 << 22)), dtype=np.int64)
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
    #: Keys that a counter holds at a time; None: as many as suit it best.
    keys: int | None = None
    _retained: list[list[Batch]] | None = None

    @abstractmethod
    def pieces(self, *, by: Owner = None) -> list[Scan]:
        """Return scans that together yield every trial once, with the codes of owners when asked."""

    def finish(self) -> None:
        """Look after a scan whether all was well."""

    def rows_at_most(self) -> int:
        """Return a number of rows that a scan will not pass."""
        return 1 << 62

    def _over(self, begin: Callable[[], Work[Result]], *, size: int, by: Owner = None) -> list[Result]:
        """Do a work of so many bytes on each piece, all pieces at the same time."""
        if self._retained is not None and by is None:
            return _together([partial(_fed, begin, batches) for batches in self._retained])
        scans = self.pieces(by=by)
        retained: list[list[Batch]] = [[] for _ in scans]
        retains = by is None and self.rows_at_most() * (np.dtype(self.dtype).itemsize + 1) <= self.retain
        if retains:
            scans = [partial(_retaining, scan, copies) for scan, copies in zip(scans, retained, strict=True)]
        results = _together([partial(_scanned, begin, scan) for scan in scans])
        self.finish()
        if retains:
            self._retained = retained
        return results

    def histogram(self, grid: Grid) -> Histogram:
        counted = self._over(partial(_InCells, grid, self.keys), size=16 * grid.size)
        pieces, lows, highs = zip(*counted, strict=True)
        counts = np.sum(pieces, axis=0)
        return Histogram(grid, counts[::2].copy(), counts[1::2].copy(), (min(lows), max(highs)), self.nan)

    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        # What was not reduced to distinct scores yet is sorted together: cheaper than piece by piece.
        pieces = self._over(partial(_Fetched, grid, keep, limit), size=16 * (limit or 1 << 20))
        reduced = [scores for scores, _ in pieces if scores.value.size]
        return _with(merged(reduced) if reduced else NOTHING, [some for _, gathered in pieces for some in gathered])

    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        return self._tallied(cuts, len(self.users()), "user") if by_user else self._tallied(cuts, 1, None)

    def tally_parts(self, cuts: Floats, parts: int) -> tuple[Tally, Tally]:
        return self._tallied(cuts, parts, parts)

    def _tallied(self, cuts: Floats, owners: int, by: Owner) -> tuple[Tally, Tally]:
        gaps = cuts.size + 1
        begin = partial(_InGaps, Cuts.of(cuts, self.dtype), gaps, owners, self.keys)
        counts = np.sum(self._over(begin, size=16 * owners * gaps, by=by), axis=0)
        negative, positive = (_tally(half, gaps, by is not None) for half in np.split(counts, 2))
        return negative, positive


def means_between(pieces: Sequence[Sums], cuts: Floats) -> Iterator[tuple[Tally, Floats]]:
    """Return the negatives and the positives that `SumsInGaps` counted in pieces, with the mean score of each count."""
    gaps = cuts.size + 1
    all_of = reduce(Sums.joined, pieces)
    for number, total, one, several in zip(*(np.split(column, 2) for column in all_of), strict=True):
        tally, present = _tally(number, gaps, by_user=True), np.flatnonzero(number)
        low, high = np.append(-np.inf, cuts)[tally.gap[0]], np.append(cuts, np.inf)[tally.gap[0]]
        with np.errstate(over="ignore"):
            above = np.nextafter(low, np.inf)
        # Rounding must not carry a mean out of its gap, which is open below, nor tell equal scores apart.
        mean = np.clip(total[present] / tally.number, above, high)
        yield tally, np.where(several[present], mean, one[present])


class _InCells:
    """Counts scores of each class in each cell, and finds the smallest and the largest finite one."""

    def __init__(self, grid: Grid, keys: int | None) -> None:
        self.grid, self.counter = grid, Counter(2 * grid.size, keys)
        self.low, self.high = np.inf, -np.inf

    def add(self, batch: Batch) -> None:
        low, high = _finite_limits(batch)
        self.low, self.high = min(self.low, low), max(self.high, high)
        for part, key in self.counter.rooms(batch.score.size):
            self.grid.cells(batch.score[part], finite=batch.finite, out=key)
            key <<= 1
            key += batch.positive[part]

    def answer(self) -> tuple[Ints, float, float]:
        return self.counter.total(), self.low, self.high


class _Fetched:
    """Gathers the scores of some cells, until there are more distinct ones than asked for."""

    def __init__(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> None:
        self.grid, self.keep, self.limit = grid, keep, limit
        self.scores, self.gathered, self.waiting = NOTHING, list[Gathered](), 0

    def add(self, batch: Batch) -> None:
        cells = self.grid.cells(batch.score, finite=batch.finite)
        chosen = np.flatnonzero(np.take(self.keep, cells))
        self.gathered.append((batch.score[chosen], batch.positive[chosen]))
        self.waiting += chosen.size
        if self.waiting > GATHERED:
            self.scores, self.gathered, self.waiting = _with(self.scores, self.gathered), [], 0
            if self.limit is not None and self.scores.value.size > self.limit:
                raise TooMany

    def answer(self) -> tuple[Distinct, list[Gathered]]:
        return self.scores, self.gathered


class _InGaps:
    """Counts scores of each class between cuts, by user where there is more than one."""

    def __init__(self, cuts: Cuts, gaps: int, owners: int, keys: int | None) -> None:
        self.cuts, self.gaps, self.owners = cuts, gaps, owners
        self.counter = Counter(2 * owners * gaps, keys)

    def add(self, batch: Batch) -> None:
        for part, key in self.counter.rooms(batch.score.size):
            self.cuts.gaps(batch.score[part], finite=batch.finite, out=key)
            key += batch.positive[part] * np.int64(self.owners * self.gaps)
            if batch.user is not None:
                key += batch.user[part].astype(np.int64) * self.gaps

    def answer(self) -> Ints:
        return self.counter.total()


class Sums(NamedTuple):
    """For each key how many scores there are, their sum, one of them, and whether any other differs from that."""

    number: Ints
    total: Floats
    one: Floats
    several: Mask

    def joined(self, more: Sums) -> Sums:
        """Return the same of the scores of both."""
        here, there = self.number > 0, more.number > 0
        several = self.several | more.several | (here & there & (self.one != more.one))
        one = np.where(here, self.one, more.one)
        return Sums(self.number + more.number, self.total + more.total, one, several)


class SumsInGaps:
    """Counts scores as `_InGaps` does, and adds them up; infinite ones must have gaps of their own."""

    def __init__(self, cuts: Cuts, owners: int, keys: int | None) -> None:
        self.cuts, self.gaps, self.owners = cuts, cuts.cuts.size + 1, owners
        size = 2 * owners * self.gaps
        self.sums = Sums(np.zeros(size, np.int64), np.zeros(size), np.zeros(size), np.zeros(size, np.bool_))
        # Sums are added to all at once, so for many of them many scores are gathered first.
        self.room = keys or max(1 << 18, min(4 * size, 1 << 22))
        self.waiting = list[tuple[Ints, NDArray[Any]]]()

    def add(self, batch: Batch) -> None:
        key = np.empty(batch.score.size, dtype=np.int64)
        self.cuts.gaps(batch.score, finite=batch.finite, out=key)
        key += batch.positive * np.int64(self.owners * self.gaps)
        if batch.user is not None:
            key += batch.user.astype(np.int64) * self.gaps
        self.waiting.append((key, batch.score.copy()))
        if sum(keys.size for keys, _ in self.waiting) > self.room:
            self._flush()

    def _flush(self) -> None:
        if self.waiting:
            key, score = (np.concatenate(column) for column in zip(*self.waiting, strict=True))
            number, total, one, several = self.sums
            new = number[key] == 0
            one[key[new]] = score[new]
            several[key[one[key] != score]] = True
            number += np.bincount(key, minlength=number.size)
            total += np.bincount(key, score, number.size)
            self.waiting.clear()

    def answer(self) -> Sums:
        self._flush()
        return self.sums


def _together(works: list[Callable[[], Result]]) -> list[Result]:
    """Do several works at the same time; of errors the first is raised."""
    if len(works) == 1:
        return [works[0]()]
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


def _fed(begin: Callable[[], Work[Result]], batches: Iterable[Batch]) -> Result:
    """Give batches to a work."""
    work = begin()
    for batch in batches:
        work.add(batch)
    return work.answer()


def _scanned(begin: Callable[[], Work[Result]], scan: Scan) -> Result:
    """Give a scan's batches to a work, and end the scan whatever happens."""
    with closing(scan()) as batches:
        return _fed(begin, batches)


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
