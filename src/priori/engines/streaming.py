"""Panels that hand their rows over in batches, quickly: each scan answers as many requests as fit in memory."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

import numpy as np

from priori.engines.counting import Dense, Fetched, Owned, Rows, Sparse, Work
from priori.engines.engine import By, Count, Fetch, Panel, TooMany
from priori.scores import nan_error
from priori.scores.grid import Grid
from priori.scores.sorting import Cuts

#: Bytes that counts may take, however little memory is given.
LEAST_ROOM = 1 << 24
#: Keys that a counter holds at a time if it is one of several.
FEW_KEYS = 1 << 15

Result = TypeVar("Result")


#: Makes new works.
Begin = Callable[[], list[Work]]
#: Yields some of the rows when it is called.
Scan = Callable[[], Generator[Rows, None, None]]


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
        for by in dict.fromkeys(request.by for request in requests):
            numbers = [number for number, request in enumerate(requests) if request.by == by]
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

    def _begun(self, request: Count | Fetch, owned: Owned, room: int, keys: int | None) -> Work:
        if isinstance(request, Fetch):
            return Fetched(request)
        each = zip(request.bins, request.systems, strict=True)
        bins = [own if isinstance(own, Grid) else Cuts.of(own, self.dtype(system)) for own, system in each]
        dense = not request.means and 16 * owned.number * math.prod(request.sizes) <= room
        return Dense(request, bins, owned, keys) if dense else Sparse(request, bins, owned)

    def _over(self, begin: Begin, systems: tuple[int, ...], by: By) -> list[list[Work]]:
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


def _together(works: list[Callable[[], Result]]) -> list[Result]:
    """Do several works at the same time; of errors the first is raised."""
    if len(works) == 1:
        return [works[0]()]
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


def _fed(begin: Begin, batches: Iterable[Rows], missing: dict[int, int] | None = None) -> list[Work]:
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


def _scanned(begin: Begin, scan: Scan, missing: dict[int, int]) -> list[Work]:
    """Give a scan's rows to works, and end the scan whatever happens."""
    with closing(scan()) as batches:
        return _fed(begin, batches, missing)


def _retaining(scan: Scan, copies: list[Rows]) -> Generator[Rows, None, None]:
    with closing(scan()) as batches:
        for rows in batches:
            copies.append(rows.copied())
            yield copies[-1]
