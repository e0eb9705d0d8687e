"""Requests answered in numpy over batches of rows: by panels that can hand their rows over quickly."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints, Mask
from priori.engines.engine import By, Count, Counts, Fetch, Panel, TooMany
from priori.scores import NanPolicy, nan_error
from priori.scores.grid import Grid
from priori.scores.histogram import NOTHING, Distinct, distinct, merged
from priori.scores.sorting import Cuts

#: Scores fetched are reduced to distinct ones whenever this many have come together.
GATHERED = 1 << 22
#: Bytes that counts may take, however little memory is given.
LEAST_ROOM = 1 << 24
#: Keys that a counter holds at a time if it is one of several, and entries that are sorted together.
FEW_KEYS, SORTED = 1 << 15, 1 << 20

Result = TypeVar("Result")


class Batch(NamedTuple):
    """Some trials: a column of scores without NaN for each system, 1 for the positive ones, codes of who they are of.

    ``failed`` says which trials failed to acquire, ``finite`` that no score is infinite; ``limits`` are the smallest
    and the largest finite score of the first system.
    """

    scores: tuple[NDArray[Any], ...]
    positive: NDArray[np.uint8]
    owner: NDArray[Any] | None
    failed: Mask | None
    finite: bool
    limits: tuple[float, float]


@dataclass
class Rows:
    """Some rows of a panel as they came: scores by the number of the system, NaN among them.

    Where systems have rows of their own, ``system`` says whose each is and the scores are one column.
    """

    scores: Mapping[int, NDArray[Any]]
    positive: NDArray[np.uint8]
    owner: NDArray[Any] | None
    policy: NanPolicy
    system: NDArray[Any] | None = None
    #: How many scores of each system are NaN, of those looked at.
    missing: dict[int, int] = field(default_factory=dict)
    _known: dict[tuple[int, ...], Batch] = field(default_factory=dict)

    def copied(self) -> Rows:
        """Return the same in memory of its own."""
        scores = {system: column.copy() for system, column in self.scores.items()}
        system = None if self.system is None else self.system.copy()
        return Rows(scores, self.positive.copy(), None, self.policy, system)

    def of(self, systems: tuple[int, ...]) -> Batch:
        """Return the trials of some systems, NaN scores rejected or left out."""
        if systems not in self._known:
            self._known[systems] = self._settled(systems)
        return self._known[systems]

    def _settled(self, systems: tuple[int, ...]) -> Batch:
        columns, positive, owner = [self.scores[system] for system in systems], self.positive, self.owner
        if self.system is not None:
            own = np.flatnonzero(self.system == systems[0])
            columns, positive = [column[own] for column in columns], positive[own]
            owner = None if owner is None else owner[own]
        lows = [float(column.min(initial=np.inf)) for column in columns]
        failed = None
        if np.isnan(lows).any():
            nan = [np.isnan(column) for column in columns]
            self.missing |= {system: int(np.count_nonzero(own)) for system, own in zip(systems, nan, strict=True)}
            failed = reduce(np.logical_or, nan)
            if self.policy == "reject":
                columns = [
                    np.where(own, column.dtype.type(-np.inf), column) for column, own in zip(columns, nan, strict=True)
                ]
            else:
                columns, positive = [column[~failed] for column in columns], positive[~failed]
                owner, failed = None if owner is None else owner[~failed], None
            lows = [float(column.min(initial=np.inf)) for column in columns]
        highs = [float(column.max(initial=-np.inf)) for column in columns]
        finite = -np.inf < min(lows) and max(highs) < np.inf
        limits = lows[0], highs[0]
        if not np.isfinite(limits).all():
            inner = columns[0][np.isfinite(columns[0])]
            limits = float(inner.min(initial=np.inf)), float(inner.max(initial=-np.inf))
        return Batch(tuple(columns), positive, owner, failed, finite, limits)


#: Yields some of the rows when it is called.
Scan = Callable[[], Generator[Rows, None, None]]


class Owned(NamedTuple):
    """Who trials are counted by: how many there are, and the name of each in each role."""

    number: int = 1
    names: Mapping[str, NDArray[Any]] = {}


class Streaming(Panel):
    """A panel that yields its rows in batches, in any order, in one piece or in several at the same time."""

    #: The scores and labels of these systems, kept after a scan, in the pieces in which they came.
    _retained: tuple[set[int], list[list[Rows]]] | None = None

    def __init__(self) -> None:
        self._nan: dict[int, int] = {}

    @abstractmethod
    def pieces(self, systems: tuple[int, ...], by: By) -> list[Scan]:
        """Return scans that together yield every row once, with codes of who it is counted by when asked."""

    @abstractmethod
    def owned(self, by: By, limit: int | None) -> Owned:
        """Return who trials are counted by; more than the limit raise `TooMany`."""

    def dtype(self, system: int) -> Any:
        """Return the type of the scores of a system."""
        return np.float64

    def finish(self) -> None:
        """Look after a scan whether all was well."""

    def rows_at_most(self) -> int:
        """Return a number of rows that a scan will not pass."""
        return 1 << 62

    def nan(self, system: int = 0) -> int:
        if system not in self._nan:
            (told,) = self.answer([Count(self, (system,), (np.empty(0),))])
            if isinstance(told, Exception):
                raise told
        return self._nan[system]

    def answer(self, requests: Sequence[Count | Fetch]) -> list[Any]:
        answers: dict[int, Any] = {}
        for by in dict.fromkeys(request.by if isinstance(request, Count) else () for request in requests):
            numbers = [n for n, r in enumerate(requests) if (r.by if isinstance(r, Count) else ()) == by]
            try:
                owned = self.owned(by, requests[numbers[0]].limit)
            except Exception as error:  # the answer to each of them
                answers |= dict.fromkeys(numbers, error)
                continue
            for some in self._at_once([(number, requests[number]) for number in numbers], owned):
                try:
                    found = self._answered([request for _, request in some], by, owned)
                except Exception as error:
                    found = [error] * len(some)
                answers |= dict(zip((number for number, _ in some), found, strict=True))
        return [answers[number] for number in range(len(requests))]

    def _at_once(
        self, requests: Sequence[tuple[int, Count | Fetch]], owned: Owned
    ) -> Iterator[list[tuple[int, Count | Fetch]]]:
        """Yield the requests that one scan answers: as many as fit in memory together."""
        together, held = list[tuple[int, Count | Fetch]](), 0
        for number, request in requests:
            size = 16 * (request.limit or 1 << 20)
            if isinstance(request, Count):
                size = min(size, 16 * owned.number * math.prod(request.sizes))
            if together and held + size > self.memory // 2:
                yield together
                together, held = [], 0
            together.append((number, request))
            held += size
        yield together

    def _answered(self, requests: Sequence[Count | Fetch], by: By, owned: Owned) -> list[Any]:
        """Answer requests by one scan."""
        room = max(self.retain, LEAST_ROOM)
        keys = FEW_KEYS if len(requests) > 1 else None
        systems = tuple(sorted({system for request in requests for system in request.systems}))
        works = self._over(lambda: [self._begun(each, owned, room, keys) for each in requests], systems, by)
        found: list[Any] = []
        for request, own in zip(requests, zip(*works, strict=True), strict=True):
            failed = [work.failed for work in own if work.failed is not None]
            lacking = [system for system in request.systems if self.settings.nan == "error" and self._nan.get(system)]
            if failed:
                found.append(failed[0])
            elif lacking:
                found.append(nan_error(self.sources[lacking[0]], self._nan[lacking[0]]))
            else:
                try:
                    found.append(own[0].joined(own[1:]))
                except TooMany as error:
                    found.append(error)
        return found

    def _begun(self, request: Count | Fetch, owned: Owned, room: int, keys: int | None) -> _Work:
        if isinstance(request, Fetch):
            return _Fetched(request)
        each = zip(request.bins, request.systems, strict=True)
        bins = [own if isinstance(own, Grid) else Cuts.of(own, self.dtype(system)) for own, system in each]
        dense = not request.means and 16 * owned.number * math.prod(request.sizes) <= room
        return _Dense(request, bins, owned, keys) if dense else _Sparse(request, bins, owned)

    def _over(self, begin: Begin, systems: tuple[int, ...], by: By) -> list[list[_Work]]:
        """Do works on each piece, all pieces at the same time."""
        if self._retained is not None and by == () and {*systems} <= self._retained[0]:
            return _together([partial(_fed, begin, rows) for rows in self._retained[1]])
        scans = self.pieces(systems, by)
        kept: list[list[Rows]] = [[] for _ in scans]
        width = sum(np.dtype(self.dtype(system)).itemsize for system in systems)
        retains = by == () and self.rows_at_most() * (width + 1) <= self.retain
        if retains:
            scans = [partial(_retaining, scan, copies) for scan, copies in zip(scans, kept, strict=True)]
        missing: list[dict[int, int]] = [{} for _ in scans]
        works = _together([partial(_scanned, begin, *each) for each in zip(scans, missing, strict=True)])
        if any(all(work.failed is not None for work in own) for own in works):
            return works  # scans that were broken off
        self.finish()
        self._nan |= {system: sum(own.get(system, 0) for own in missing) for system in systems}
        if retains:
            self._retained = {*systems}, kept
        return works


# -- works -----------------------------------------------------------------------------------------------------------


class _Work:
    """What is done with the batches of a scan, one after the other, and what comes of it."""

    failed: Exception | None = None
    request: Count | Fetch

    def take(self, rows: Rows) -> None:
        """Take some more rows, after a failure none."""
        if self.failed is None:
            try:
                self.add(rows.of(self.request.systems))
            except TooMany as error:
                self.failed = error

    def add(self, batch: Batch) -> None:
        """Take one more batch."""
        raise NotImplementedError

    def joined(self, others: Sequence[Any]) -> Any:
        """Return what came of this and of others that had the other pieces."""
        raise NotImplementedError


#: Makes new works.
Begin = Callable[[], list[_Work]]


class _Counted(_Work):
    """Counts keys: whole numbers that tell class, owner and bins apart. Where one would be too large there are more."""

    request: Count

    def __init__(self, request: Count, bins: Sequence[Grid | Cuts], owned: Owned) -> None:
        self.request, self.bins, self.owned = request, bins, owned
        self.failures = 2 if request.failures else 1
        self.limits = np.inf, -np.inf
        # The first number of each key is of class, failure and owner; then come as many systems as it can hold.
        self.groups: list[list[int]] = [[]]
        held = 2 * self.failures * owned.number
        for system, size in enumerate(request.sizes):
            if held * size >= 1 << 62:
                self.groups.append([])
                held = 1
            self.groups[-1].append(system)
            held *= size

    def keys(self, batch: Batch, part: slice, outs: Sequence[Ints]) -> None:
        """Write the keys of some trials."""
        own = batch.positive[part].astype(np.int64)
        if self.failures > 1:
            own *= 2
            own += 0 if batch.failed is None else batch.failed[part]
        if batch.owner is not None:
            own *= self.owned.number
            own += batch.owner[part]
        for number, (systems, out) in enumerate(zip(self.groups, outs, strict=True)):
            first = True
            for system in systems:
                bins, size = self.bins[system], self.request.sizes[system]
                if first:
                    bins.bins(batch.scores[system][part], finite=batch.finite, out=out)
                    if number == 0:
                        out += own * size
                else:
                    out *= size
                    out += bins.bins(batch.scores[system][part], finite=batch.finite)
                first = False
            if not systems:
                out[:] = own

    def widen(self, batch: Batch) -> None:
        """Take note of the smallest and the largest score."""
        self.limits = min(self.limits[0], batch.limits[0]), max(self.limits[1], batch.limits[1])

    def counts(self, entries: _Entries, others: Sequence[_Counted]) -> Counts:
        """Return entries as counts."""
        bins = np.empty((len(self.bins), entries.number.size), dtype=np.int64)
        for number, (systems, key) in enumerate(zip(self.groups, entries.keys, strict=True)):
            rest = key
            for system in reversed(systems):
                rest, bins[system] = np.divmod(rest, self.request.sizes[system])
            if number == 0:
                rest, owner = np.divmod(rest, self.owned.number)
        failed = rest % 2 == 1 if self.failures > 1 else None
        positive = rest // self.failures == 1
        names = {role: column[owner] for role, column in self.owned.names.items()}
        score = None
        if entries.total is not None and entries.low is not None and entries.high is not None:
            # Rounding must not carry a mean over its trials, nor tell equal scores apart.
            mean = np.clip(entries.total / entries.number, entries.low, entries.high)
            score = np.where(entries.low == entries.high, entries.low, mean)
        limits = [work.limits for work in (self, *others)]
        ends = min(low for low, _ in limits), max(high for _, high in limits)
        return Counts(positive, bins, names, entries.number, score, failed, ends)


class _Dense(_Counted):
    """Counts all keys that there can be; they are written into one place first, since many are counted faster."""

    def __init__(self, request: Count, bins: Sequence[Grid | Cuts], owned: Owned, keys: int | None) -> None:
        super().__init__(request, bins, owned)
        size = 2 * self.failures * owned.number * math.prod(request.sizes)
        self.number = np.zeros(size, dtype=np.int64)
        # 64 bits, as bincount would copy anything else; many, as every count of them goes through all sums.
        self._keys = np.empty(keys or max(1 << 18, min(4 * size, 1 << 22)), dtype=np.int64)
        self._held = 0

    def add(self, batch: Batch) -> None:
        self.widen(batch)
        start, size = 0, batch.positive.size
        while start < size:
            if self._held == self._keys.size:
                self._flush()
            more = min(size - start, self._keys.size - self._held)
            self.keys(batch, slice(start, start + more), [self._keys[self._held : self._held + more]])
            self._held += more
            start += more

    def _flush(self) -> None:
        self.number += np.bincount(self._keys[: self._held], minlength=self.number.size)
        self._held = 0

    def joined(self, others: Sequence[_Dense]) -> Counts:
        for work in (self, *others):
            work._flush()
        number = sum((work.number for work in others), start=self.number)
        present = np.flatnonzero(number)
        if self.request.limit is not None and present.size > self.request.limit:
            raise TooMany
        return self.counts(_Entries([present], number[present]), others)


@dataclass(frozen=True, eq=False)
class _Entries:
    """How often each key came, the sum of its scores, the smallest and the largest; ``keys`` has all their numbers."""

    keys: list[Ints]
    number: Ints
    total: Floats | None = None
    low: NDArray[Any] | None = None
    high: NDArray[Any] | None = None

    def folded(self) -> _Entries:
        """Return the same with every key once."""
        if not self.number.size:
            return self
        order = np.argsort(self.keys[0], kind="stable") if len(self.keys) == 1 else np.lexsort(self.keys[::-1])
        keys = [key[order] for key in self.keys]
        starts = np.flatnonzero(np.append(True, reduce(np.logical_or, [key[1:] != key[:-1] for key in keys])))
        firsts = [key[starts] for key in keys]
        if self.total is None or self.low is None or self.high is None:
            return _Entries(firsts, np.add.reduceat(self.number[order], starts))
        return _Entries(
            firsts,
            np.add.reduceat(self.number[order], starts),
            np.add.reduceat(self.total[order], starts),
            np.minimum.reduceat(self.low[order], starts),
            np.maximum.reduceat(self.high[order], starts),
        )

    @staticmethod
    def of(parts: Sequence[_Entries]) -> _Entries:
        """Return several as one, every key once."""
        keys = [np.concatenate(column) for column in zip(*(part.keys for part in parts), strict=True)]
        columns = zip(*((part.number, part.total, part.low, part.high) for part in parts), strict=True)
        number, *scores = (None if column[0] is None else np.concatenate(column) for column in columns)
        assert number is not None
        return _Entries(keys, number, *scores).folded()


class _Sparse(_Counted):
    """Counts the keys that come, sorted; with the sums of their scores where means are asked for."""

    def __init__(self, request: Count, bins: Sequence[Grid | Cuts], owned: Owned) -> None:
        super().__init__(request, bins, owned)
        self.waiting, self.rows, self.size = list[_Entries](), 0, 0

    def add(self, batch: Batch) -> None:
        self.widen(batch)
        size = batch.positive.size
        keys = [np.empty(size, dtype=np.int64) for _ in self.groups]
        self.keys(batch, slice(None), keys)
        score = batch.scores[0].astype(np.float64) if self.request.means else None
        self.waiting.append(_Entries(keys, np.ones(size, dtype=np.int64), score, score, score))
        self.rows += size
        if self.rows > max(SORTED, self.size):
            self._flush()

    def _flush(self) -> None:
        self.waiting, self.rows = [_Entries.of(self.waiting)], 0
        self.size = self.waiting[0].number.size
        if self.request.limit is not None and self.size > self.request.limit:
            raise TooMany

    def joined(self, others: Sequence[_Sparse]) -> Counts:
        parts = [part for work in (self, *others) for part in work.waiting]
        if not parts:
            return self.counts(_Entries([np.empty(0, dtype=np.int64) for _ in self.groups], np.empty(0, np.int64)), ())
        whole = _Entries.of(parts)
        if self.request.limit is not None and whole.number.size > self.request.limit:
            raise TooMany
        return self.counts(whole, others)


class _Fetched(_Work):
    """Gathers the scores of some bins, until there are more distinct ones than asked for."""

    request: Fetch

    def __init__(self, request: Fetch) -> None:
        self.request = request
        self.scores, self.gathered, self.waiting = NOTHING, list[tuple[NDArray[Any], NDArray[np.uint8]]](), 0

    def add(self, batch: Batch) -> None:
        score = batch.scores[0]
        chosen = np.flatnonzero(np.take(self.request.keep, self.request.grid.bins(score, finite=batch.finite)))
        self.gathered.append((score[chosen], batch.positive[chosen]))
        self.waiting += chosen.size
        if self.waiting > GATHERED:
            self.scores, self.gathered, self.waiting = _with(self.scores, self.gathered), [], 0
            if self.request.limit is not None and self.scores.value.size > self.request.limit:
                raise TooMany

    def joined(self, others: Sequence[_Fetched]) -> Distinct:
        # What was not reduced to distinct scores yet is sorted together: cheaper than piece by piece.
        works = self, *others
        reduced = [work.scores for work in works if work.scores.value.size]
        return _with(merged(reduced) if reduced else NOTHING, [some for work in works for some in work.gathered])


def _with(scores: Distinct, gathered: list[tuple[NDArray[Any], NDArray[np.uint8]]]) -> Distinct:
    if not gathered:
        return scores
    score, positive = (np.concatenate(column) for column in zip(*gathered, strict=True))
    more = distinct(score[positive == 0], score[positive != 0])
    return merged([scores, more]) if scores.value.size else more


def _together(works: list[Callable[[], Result]]) -> list[Result]:
    """Do several works at the same time; of errors the first is raised."""
    if len(works) == 1:
        return [works[0]()]
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


def _fed(begin: Begin, batches: Iterable[Rows], missing: dict[int, int] | None = None) -> list[_Work]:
    """Give rows to works, as long as one of them takes any; count the NaN scores of each system."""
    works = begin()
    for rows in batches:
        for work in works:
            work.take(rows)
        if missing is not None:
            missing |= {system: missing.get(system, 0) + number for system, number in rows.missing.items()}
        if all(work.failed is not None for work in works):
            break
    return works


def _scanned(begin: Begin, scan: Scan, missing: dict[int, int]) -> list[_Work]:
    """Give a scan's rows to works, and end the scan whatever happens."""
    with closing(scan()) as batches:
        return _fed(begin, batches, missing)


def _retaining(scan: Scan, copies: list[Rows]) -> Generator[Rows, None, None]:
    with closing(scan()) as batches:
        for rows in batches:
            copies.append(rows.copied())
            yield copies[-1]
