"""What is done in numpy with the batches of a scan: trials are counted by bins and names, or their scores fetched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints, Mask
from priori.engines.engine import Count, Counts, Fetch, TooMany
from priori.scores import NanPolicy
from priori.scores.grid import Grid
from priori.scores.histogram import NOTHING, Distinct, distinct, merged
from priori.scores.sorting import Cuts

#: Scores fetched are reduced to distinct ones whenever this many have come together.
GATHERED = 1 << 22
#: So many entries are sorted together.
SORTED = 1 << 20


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


class Owned(NamedTuple):
    """Who trials are counted by: how many there are, and the name of each in each role."""

    number: int = 1
    names: Mapping[str, NDArray[Any]] = {}


class Work:
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


class Counted(Work):
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

    def counts(self, entries: KeyCounts, others: Sequence[Counted]) -> Counts:
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


class Dense(Counted):
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

    def joined(self, others: Sequence[Dense]) -> Counts:
        for work in (self, *others):
            work._flush()
        number = sum((work.number for work in others), start=self.number)
        present = np.flatnonzero(number)
        if self.request.limit is not None and present.size > self.request.limit:
            raise TooMany
        return self.counts(KeyCounts([present], number[present]), others)


@dataclass(frozen=True, eq=False)
class KeyCounts:
    """How often each key came, the sum of its scores, the smallest and the largest; ``keys`` has all their numbers."""

    keys: list[Ints]
    number: Ints
    total: Floats | None = None
    low: NDArray[Any] | None = None
    high: NDArray[Any] | None = None

    def folded(self) -> KeyCounts:
        """Return the same with every key once."""
        if not self.number.size:
            return self
        order = np.argsort(self.keys[0], kind="stable") if len(self.keys) == 1 else np.lexsort(self.keys[::-1])
        keys = [key[order] for key in self.keys]
        starts = np.flatnonzero(np.append(True, reduce(np.logical_or, [key[1:] != key[:-1] for key in keys])))
        firsts = [key[starts] for key in keys]
        if self.total is None or self.low is None or self.high is None:
            return KeyCounts(firsts, np.add.reduceat(self.number[order], starts))
        return KeyCounts(
            firsts,
            np.add.reduceat(self.number[order], starts),
            np.add.reduceat(self.total[order], starts),
            np.minimum.reduceat(self.low[order], starts),
            np.maximum.reduceat(self.high[order], starts),
        )

    @staticmethod
    def of(parts: Sequence[KeyCounts]) -> KeyCounts:
        """Return several as one, every key once."""
        keys = [np.concatenate(column) for column in zip(*(part.keys for part in parts), strict=True)]
        columns = zip(*((part.number, part.total, part.low, part.high) for part in parts), strict=True)
        number, *scores = (None if column[0] is None else np.concatenate(column) for column in columns)
        assert number is not None
        return KeyCounts(keys, number, *scores).folded()


class Sparse(Counted):
    """Counts the keys that come, sorted; with the sums of their scores where means are asked for."""

    def __init__(self, request: Count, bins: Sequence[Grid | Cuts], owned: Owned) -> None:
        super().__init__(request, bins, owned)
        self.waiting, self.rows, self.size = list[KeyCounts](), 0, 0

    def add(self, batch: Batch) -> None:
        self.widen(batch)
        size = batch.positive.size
        keys = [np.empty(size, dtype=np.int64) for _ in self.groups]
        self.keys(batch, slice(None), keys)
        score = batch.scores[0].astype(np.float64) if self.request.means else None
        self.waiting.append(KeyCounts(keys, np.ones(size, dtype=np.int64), score, score, score))
        self.rows += size
        if self.rows > max(SORTED, self.size):
            self._flush()

    def _flush(self) -> None:
        self.waiting, self.rows = [KeyCounts.of(self.waiting)], 0
        self.size = self.waiting[0].number.size
        if self.request.limit is not None and self.size > self.request.limit:
            raise TooMany

    def joined(self, others: Sequence[Sparse]) -> Counts:
        parts = [part for work in (self, *others) for part in work.waiting]
        if not parts:
            return self.counts(KeyCounts([np.empty(0, dtype=np.int64) for _ in self.groups], np.empty(0, np.int64)), ())
        whole = KeyCounts.of(parts)
        if self.request.limit is not None and whole.number.size > self.request.limit:
            raise TooMany
        return self.counts(whole, others)


class Fetched(Work):
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

    def joined(self, others: Sequence[Fetched]) -> Distinct:
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
