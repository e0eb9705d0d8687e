"""What is asked of a panel, and done in numpy with its rows: trials are counted by bins and names, or fetched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints, Mask
from priori.scores import NanPolicy
from priori.scores.grid import Grid
from priori.scores.histogram import NOTHING, Distinct, distinct, merged
from priori.scores.sorting import Cuts

#: Scores that are fetched are reduced to distinct ones whenever this many have been gathered.
GATHERED = 1 << 22
#: How many entries are sorted together.
SORTED = 1 << 20
#: Keys that a counter holds at a time, at least and at most.
FEW_KEYS, MANY_KEYS = 1 << 16, 1 << 22


#: What distinguishes trials: the names in some roles, or so many random parts.
By: TypeAlias = tuple[str, ...] | int


@dataclass(frozen=True, eq=False)
class Count:
    """A request: how many trials of each class lie in each bin, for several systems in each combination of bins.

    ``bins`` are a grid, or ascending cuts, for each of the ``systems``. The answer is None if there are more than
    ``limit`` entries. ``failures`` asks for trials that failed to acquire in entries of their own.
    """

    panel: Any
    systems: tuple[int, ...]
    bins: tuple[Grid | Floats, ...]
    by: By = ()
    limit: int | None = None
    failures: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of bins of each system."""
        return tuple(bins.size if isinstance(bins, Grid) else bins.size + 1 for bins in self.bins)


@dataclass(frozen=True, eq=False)
class Entries:
    """How many trials there are (``number``) of each class, with each combination of bins and names that occurs.

    ``bins`` has a row for each system. ``names`` has the name of each entry in each role, or the ``part`` by number;
    ``failed`` says which entries failed to acquire, if asked for.
    """

    positive: Mask
    bins: Ints
    names: Mapping[str, NDArray[Any]]
    number: Ints
    failed: Mask | None = None


@dataclass(frozen=True, eq=False)
class Fetch:
    """A request: the distinct scores of a system in the bins to ``keep``; None if there are more than ``limit``."""

    panel: Any
    system: int
    grid: Grid
    keep: Mask
    limit: int | None
    by: ClassVar[By] = ()

    @property
    def systems(self) -> tuple[int, ...]:
        """The system, as one of several."""
        return (self.system,)


class Batch(NamedTuple):
    """Some trials: a column of scores without NaN for each system, 1 for the positive ones, codes of who they are of.

    ``failed`` says which trials failed to acquire.
    """

    scores: tuple[NDArray[Any], ...]
    positive: NDArray[np.uint8]
    owner: NDArray[Any] | None
    failed: Mask | None


@dataclass(frozen=True)
class Rows:
    """Some rows of a panel as they came: scores by the number of the system, NaN among them.

    Where systems have rows of their own, ``system`` says whose each is and the scores are one column.
    """

    scores: Mapping[int, NDArray[Any]]
    positive: NDArray[np.uint8]
    owner: NDArray[Any] | None
    policy: NanPolicy
    system: NDArray[Any] | None = None

    def of(self, systems: tuple[int, ...]) -> Batch:
        """Return the trials of some systems, NaN scores rejected or left out."""
        columns, positive, owner = [self.scores[system] for system in systems], self.positive, self.owner
        if self.system is not None:
            own = np.flatnonzero(self.system == systems[0])
            columns, positive = [column[own] for column in columns], positive[own]
            owner = None if owner is None else owner[own]
        if not any(np.isnan(column.min(initial=np.inf)) for column in columns):
            return Batch(tuple(columns), positive, owner, None)
        nan = [np.isnan(column) for column in columns]
        failed = reduce(np.logical_or, nan)
        if self.policy == "reject":
            rejected = (
                np.where(own, column.dtype.type(-np.inf), column) for column, own in zip(columns, nan, strict=True)
            )
            return Batch(tuple(rejected), positive, owner, failed)
        kept = tuple(column[~failed] for column in columns)
        return Batch(kept, positive[~failed], None if owner is None else owner[~failed], None)


class Owned(NamedTuple):
    """Who trials are counted by: how many there are, and the name of each in each role."""

    number: int = 1
    names: Mapping[str, NDArray[Any]] = {}


@dataclass(frozen=True, eq=False)
class KeyCounts:
    """How often each key came; ``keys`` has all the whole numbers that a key is made of."""

    keys: Sequence[Ints]
    number: Ints

    @staticmethod
    def of(parts: Sequence[KeyCounts]) -> KeyCounts:
        """Return several as one, every key once."""
        keys = [np.concatenate(column) for column in zip(*(part.keys for part in parts), strict=True)]
        number = np.concatenate([part.number for part in parts])
        if not number.size:
            return KeyCounts(keys, number)
        order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
        keys = [key[order] for key in keys]
        starts = np.flatnonzero(np.append(True, reduce(np.logical_or, [key[1:] != key[:-1] for key in keys])))
        return KeyCounts([key[starts] for key in keys], np.add.reduceat(number[order], starts))


class Work:
    """What is done with the batches of a scan, one after the other, and its outcome: how often each key came.

    A key is made of ``width`` whole numbers.
    """

    request: Count | Fetch
    #: Whether there was more than the request allows.
    failed: bool = False
    width: int = 1

    def add(self, batch: Batch) -> None:
        """Take one more batch."""
        raise NotImplementedError

    def entries(self) -> KeyCounts:
        """Return the entries, to be added to those of other rows."""
        raise NotImplementedError

    def answered(self, entries: KeyCounts) -> Any:
        """Return what entries say; None if they are too many."""
        raise NotImplementedError

    def answer(self) -> Any:
        """Return the outcome."""
        return None if self.failed else self.answered(self.entries())

    def _too_many(self, number: int) -> bool:
        return self.request.limit is not None and number > self.request.limit


class Counted(Work):
    """Counts keys: whole numbers that tell class, owner and bins apart. Where one would be too large there are more."""

    request: Count

    def __init__(self, request: Count, owned: Owned, dtypes: Mapping[int, Any], room: int) -> None:
        self.request, self.owned = request, owned
        each = zip(request.bins, request.systems, strict=True)
        self.bins = [own if isinstance(own, Grid) else Cuts.of(own, dtypes[system]) for own, system in each]
        self.failures = 2 if request.failures else 1
        # The first number of each key is of class, failure and owner; then come as many systems as it can hold.
        self.groups: list[list[int]] = [[]]
        held = 2 * self.failures * owned.number
        for system, size in enumerate(request.sizes):
            if held * size >= 1 << 62:
                self.groups.append([])
                held = 1
            self.groups[-1].append(system)
            held *= size
        self.width = len(self.groups)
        # All keys that there can be are counted where they fit, else those that come, sorted.
        size = 2 * self.failures * owned.number * math.prod(request.sizes)
        self.number = np.zeros(size, dtype=np.int64) if 16 * size <= room else None
        held = SORTED if self.number is None else max(FEW_KEYS, min(2 * size, MANY_KEYS))
        self._keys = np.empty((self.width, held), dtype=np.int64)
        self._held, self._sorted = 0, KeyCounts([*self._keys[:, :0]], np.empty(0, dtype=np.int64))

    def add(self, batch: Batch) -> None:
        start, size = 0, batch.positive.size
        while start < size:
            if self._held == self._keys.shape[1]:
                self._flush()
            more = min(size - start, self._keys.shape[1] - self._held)
            self._write_keys(batch, slice(start, start + more), self._keys[:, self._held : self._held + more])
            self._held += more
            start += more

    def _write_keys(self, batch: Batch, part: slice, outs: Ints) -> None:
        own = batch.positive[part].astype(np.int64)
        if self.failures > 1:
            own *= 2
            own += 0 if batch.failed is None else batch.failed[part]
        if batch.owner is not None:
            own *= self.owned.number
            own += batch.owner[part]
        for number, (systems, out) in enumerate(zip(self.groups, outs, strict=True)):
            if not systems:
                out[:] = own
            for system in systems:
                bins, size, score = self.bins[system], self.request.sizes[system], batch.scores[system][part]
                if system == systems[0]:
                    bins.bins(score, out=out)
                    if number == 0:
                        out += own * size
                else:
                    out *= size
                    out += bins.bins(score)

    def _flush(self) -> None:
        keys, self._held = self._keys[:, : self._held], 0
        if self.number is not None:
            self.number += np.bincount(keys[0], minlength=self.number.size)
            return
        came = KeyCounts([*keys], np.ones(keys.shape[1], dtype=np.int64))
        self._sorted = KeyCounts.of([self._sorted, came])
        self._keys = np.empty((self.width, max(SORTED, self._sorted.number.size)), dtype=np.int64)
        self.failed = self._too_many(self._sorted.number.size)

    def entries(self) -> KeyCounts:
        self._flush()
        if self.number is None:
            return self._sorted
        present = np.flatnonzero(self.number)
        return KeyCounts([present], self.number[present])

    def answered(self, entries: KeyCounts) -> Entries | None:
        if self._too_many(entries.number.size):
            return None
        bins = np.empty((len(self.bins), entries.number.size), dtype=np.int64)
        for number, (systems, key) in enumerate(zip(self.groups, entries.keys, strict=True)):
            rest = key
            for system in reversed(systems):
                rest, bins[system] = np.divmod(rest, self.request.sizes[system])
            if number == 0:
                rest, owner = np.divmod(rest, self.owned.number)
                positive, failed = rest // self.failures == 1, rest % 2 == 1
        names = {role: column[owner] for role, column in self.owned.names.items()}
        return Entries(positive, bins, names, entries.number, failed if self.failures > 1 else None)


class Fetched(Work):
    """Gathers the scores of some bins, until there are more distinct ones than asked for; a key is class and score."""

    request: Fetch
    width = 2

    def __init__(self, request: Fetch) -> None:
        self.request = request
        self.scores, self.gathered, self.waiting = NOTHING, list[tuple[NDArray[Any], NDArray[np.uint8]]](), 0

    def add(self, batch: Batch) -> None:
        score = batch.scores[0]
        chosen = np.flatnonzero(np.take(self.request.keep, self.request.grid.bins(score)))
        self.gathered.append((score[chosen], batch.positive[chosen]))
        self.waiting += chosen.size
        if self.waiting > GATHERED:
            self._reduce()

    def _reduce(self) -> None:
        if self.gathered:
            score, positive = (np.concatenate(column) for column in zip(*self.gathered, strict=True))
            more = distinct(score[positive == 0], score[positive != 0])
            self.scores = merged([self.scores, more]) if self.scores.value.size else more
        self.gathered, self.waiting = [], 0
        self.failed = self._too_many(self.scores.value.size)

    def answer(self) -> Distinct | None:
        self._reduce()
        return None if self.failed else self.scores

    def entries(self) -> KeyCounts:
        self._reduce()
        value, own = np.tile(self.scores.value, 2).view(np.int64), np.repeat([0, 1], self.scores.value.size)
        number = np.concatenate([self.scores.negative, self.scores.positive])
        return KeyCounts([own[number > 0], value[number > 0]], number[number > 0])

    def answered(self, entries: KeyCounts) -> Distinct | None:
        own, value = entries.keys
        found = merged([Distinct(value.view(np.float64), entries.number * (own == 0), entries.number * own)])
        return None if self._too_many(found.value.size) else found


def begun(requests: Sequence[Count | Fetch], owned: Owned, dtypes: Mapping[int, Any], room: int) -> list[Work]:
    """Begin the work for each request; each has so many bytes of room for counts."""
    return [
        Fetched(request) if isinstance(request, Fetch) else Counted(request, owned, dtypes, room)
        for request in requests
    ]


def fed(works: Sequence[Work], batches: Iterable[Rows]) -> None:
    """Give rows to works, as long as one of them takes any."""
    for rows in batches:
        taking = [work for work in works if not work.failed]
        for work in taking:
            work.add(rows.of(work.request.systems))
        if not taking:
            return
