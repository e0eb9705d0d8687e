"""One scan for many systems: what is asked of the columns of one table waits, and is answered together.

Works that ask run side by side (`ask_together`). When all of them wait for an answer, one scan brings the columns that
were asked about and gives each its own. A work that asks alone has a scan of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import cached_property
from threading import Condition
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.arrow_streams import MissingValues, batches
from priori.base.processors import processors
from priori.engines.batch_counting import FEW_KEYS, Owner, Work, settled
from priori.engines.duckdb import DuckDB, Labels
from priori.engines.engine import SAMPLE, Engine, Survey, TableSettings, changed
from priori.engines.parquet_files import Files, guarded
from priori.readers.duckdb_parser import literal
from priori.scores import Names, nan_error

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from priori.engines.lazy_frames import Lazy

Result = TypeVar("Result")


# -- works that ask at the same time ---------------------------------------------------------------------------------


@dataclass(eq=False)
class _Question:
    """What one system asks of a scan, and what became of it."""

    system: SharingSystem
    work: Work[Any]
    size: int
    by: Owner = None
    missing: int = 0
    failed: BaseException | None = None
    answer: Any = None

    def add(self, score: NDArray[Any], positive: NDArray[np.uint8], user: NDArray[Any] | None) -> None:
        """Take one more batch of the system's trials; after a failure none."""
        if self.failed is not None:
            return
        try:
            batch, missing = settled(score, positive, None if self.by is None else user, self.system.settings.nan)
            self.missing += missing
            self.work.add(batch)
        except Exception as error:
            self.failed = error


class _Meeting:
    """Works that run side by side; when all of those that are not done wait, their questions are answered."""

    def __init__(self, works: int) -> None:
        self._turn = Condition()
        self._present = works
        self._waiting: list[_Question] = []
        self._over: BaseException | None = None

    def ask(self, question: _Question) -> Any:
        """Wait for the answer."""
        with self._turn:
            self._waiting.append(question)
            self._answer_if_all_wait()
            self._turn.wait_for(lambda: question not in self._waiting or self._over is not None)
        if question.failed is not None or self._over is not None:
            raise question.failed or self._over  # type: ignore[misc]
        return question.answer

    def leave(self) -> None:
        """Ask nothing more."""
        with self._turn:
            self._present -= 1
            self._answer_if_all_wait()

    def end(self, reason: BaseException) -> None:
        """Let nobody wait any longer."""
        with self._turn:
            self._over = reason
            self._turn.notify_all()

    def _answer_if_all_wait(self) -> None:
        if self._over is not None or not self._waiting or len(self._waiting) < self._present:
            return
        # Everyone waits: nobody misses the lock that is held here.
        tables = dict.fromkeys(question.system.shared for question in self._waiting)
        for table in tables:
            asked = [question for question in self._waiting if question.system.shared is table]
            try:
                table.answer(asked)
            except BaseException as error:
                for question in asked:
                    question.failed = error
        self._waiting.clear()
        self._turn.notify_all()


_MEETING: ContextVar[_Meeting | None] = ContextVar("meeting", default=None)


def share_a_table(sets: Iterable[Any]) -> bool:
    """Tell whether two sets of scores or more are columns, or rows, of one table that is scanned."""
    return sum(isinstance(getattr(each, "engine", None), SharingSystem) for each in sets) > 1


def ask_together(works: Sequence[Callable[[], Result]], sets: Iterable[Any]) -> list[Result]:
    """Do works that ask some sets of scores: side by side where these share a table, so that one scan answers all.

    Examples
    --------
    >>> ask_together([lambda: 1, lambda: 2], [])
    [1, 2]
    """
    if len(works) < 2 or not share_a_table(sets):
        return [work() for work in works]
    meeting = _Meeting(len(works))
    _MEETING.set(meeting)

    def attend(work: Callable[[], Result]) -> Result:
        try:
            return work()
        finally:
            meeting.leave()

    try:
        with ThreadPoolExecutor(len(works)) as pool:
            try:
                futures = [pool.submit(copy_context().run, attend, work) for work in works]
                return [future.result() for future in futures]
            except BaseException as error:  # an interruption too: whoever waits must not wait for ever
                meeting.end(error)
                raise
    finally:
        _MEETING.set(None)


# -- the table -------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class SharedTable:
    """The rows of one set of a table of many systems: wide, or long where ``system_in`` is the column that names them.

    ``head`` answers what is the same for all systems; ``memory`` bounds what is counted in one scan. ``scans`` is how
    often the table was read for all systems together.
    """

    files: Files
    head: DuckDB
    memory: int
    system_in: str | None = None
    members: list[SharingSystem] = field(default_factory=list)
    scans: int = 0

    @cached_property
    def samples(self) -> list[NDArray[Any]]:
        """A few finite scores of each system of a wide table."""
        each = SAMPLE if len(self.members) < 8 else SAMPLE // 8
        selected = ", ".join(f"{system.score} AS s{number}" for number, system in enumerate(self.members))
        with guarded(self.files.watch.shown):
            found = self.files.sample(f"SELECT {selected} FROM trials", each)
        columns = [np.ma.filled(found[f"s{number}"], np.nan) for number in range(len(self.members))]
        return [column[np.isfinite(column)] for column in columns]

    def answer(self, questions: Sequence[_Question]) -> None:
        """Answer questions by one scan, or by several where their counts do not fit in memory together."""
        asked = dict.fromkeys(question.by for question in questions if question.by is not None)
        owners: list[Owner] = [*asked] or [None]
        for number, by in enumerate(owners):  # who asks for no owners needs no scan of its own
            together: list[_Question] = []
            for question in questions:
                if question.by != by and (question.by is not None or number):
                    continue
                if together and sum(each.size for each in together) + question.size > self.memory // 2:
                    self._scan(together, by)
                    together = []
                together.append(question)
            self._scan(together, by)

    def _scan(self, questions: Sequence[_Question], by: Owner) -> None:
        self.scans += 1
        owners = self.head.owners(by) if any(question.by is not None for question in questions) else None
        columns = [self.head.labels.expression, *([] if owners is None else [owners.expression])]
        if self.system_in is None:
            columns += [question.system.score for question in questions]
        else:
            codes = [f"WHEN {literal(question.system.name)} THEN {number}" for number, question in enumerate(questions)]
            columns += [questions[0].system.score, f"CAST(CASE {self.system_in} {' '.join(codes)} ELSE -1 END AS INT)"]
        text = f"SELECT {', '.join(columns)} FROM {'trials' if owners is None else owners.source}"
        progress = next((q.system.progress for q in questions if q.system.progress is not None), None)
        rows = 0
        with self.files.lock, guarded(self.files.watch.shown), ThreadPoolExecutor(processors()) as pool:
            numbered = owners is not None and owners.numbered
            with closing(batches(self.files.query(text, numbered=numbered))) as stream:
                try:
                    for label, *rest in stream:
                        positive, known = self.head.labels.positives(label)
                        if not known:
                            self.head.all_labels()
                        users = None if owners is None else owners.codes(rest.pop(0))
                        self._hand_over(questions, positive.view(np.uint8), users, rest, pool)
                        rows += label.size
                        if progress is not None:
                            progress(rows, self.files.rows)
                except MissingValues as error:
                    raise self.head.missing("label" if error.column == 0 else "user") from None
            self.files.watch.check()
        if rows != self.files.rows:
            raise changed(self.files.watch.shown)
        for question in questions:
            question.system.settle(question)

    def _hand_over(
        self, questions: Sequence[_Question], positive: NDArray[np.uint8], users: NDArray[Any] | None,
        rest: list[NDArray[Any]], pool: ThreadPoolExecutor,
    ) -> None:  # fmt: skip
        """Give each question the trials of its system."""
        if self.system_in is None:
            list(pool.map(lambda question, score: question.add(score, positive, users), questions, rest))
            return
        score, code = rest
        order = np.argsort(code, kind="stable")
        ends = np.searchsorted(code[order], np.arange(len(questions) + 1))

        def give(number: int) -> None:
            own = order[ends[number] : ends[number + 1]]
            questions[number].add(score[own], positive[own], None if users is None else users[own])

        list(pool.map(give, range(len(questions))))


class SharingSystem(DuckDB):
    """One system of a table of many, which shares its scans with the others when all are asked together."""

    shared: SharedTable
    files: Files
    keys = FEW_KEYS

    def __init__(
        self, relation: DuckDBPyRelation, settings: TableSettings, *, name: str, source: str, files: Files,
        shared: SharedTable,
    ) -> None:  # fmt: skip
        self.name, self.shared = name, shared
        super().__init__(relation, settings, source=source, files=files)
        self.alone = False
        shared.members.append(self)

    @property
    def _wide(self) -> bool:
        return self.shared.system_in is None

    @property
    def _complete(self) -> bool:
        """Whether it surely has all users of the table; of a long one, or with NaN left out, it may have fewer."""
        return self._wide and self.settings.nan != "drop"

    def _check_files(self) -> None:
        """Names were looked at once for all systems, when the head was made."""

    @cached_property
    def labels(self) -> Labels:
        """How the label is read: the same for all systems."""
        with self.files.lock:
            labels = self.shared.head.labels
            self.marked = self.shared.head.marked
            return labels

    @cached_property
    def _names(self) -> Names:
        with self.files.lock:
            return self.shared.head.users() if self._complete else super()._names

    def survey(self) -> Survey:
        with self.files.lock:
            if not self._wide:
                return super().survey()
            self._total = self.files.rows
            sample = self.shared.samples[self.shared.members.index(self)]
            limits = self.files.limits(self.columns["score"])
        if limits is not None and self.settings.lower_is_better:
            limits = -limits[1], -limits[0]
        return Survey(self._total, sample, limits)

    def _over(self, begin: Callable[[], Work[Result]], *, size: int, by: Owner = None) -> list[Result]:
        meeting = _MEETING.get()
        retained = by is None and self._retained is not None
        if meeting is None or (by == "user" and not self._complete) or retained:
            with self.files.lock:
                return super()._over(begin, size=size, by=by)
        return [meeting.ask(_Question(self, begin(), size, by))]

    def _combinations(self, roles: Sequence[str], limit: int) -> dict[str, NDArray[Any]]:
        with self.files.lock:
            return super()._combinations(roles, limit)

    def coded(self, roles: Sequence[str]) -> str:
        """Return the query that numbers the combinations of names of all systems: the same for each."""
        return self.shared.head.coded(roles)

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        with self.files.lock, super()._unchanged():
            yield

    def settle(self, question: _Question) -> None:
        """Look after a scan whether all was well with this system, and answer."""
        if question.failed is not None:
            return
        if question.missing and self.settings.nan == "error":
            question.failed = nan_error(self.source, question.missing)
            return
        self.nan = question.missing if self.settings.nan == "reject" else 0
        question.answer = question.work.answer()

    def beside(self, other: Engine) -> bool:
        """Tell whether the trials of both are the same rows: those of a long table are not."""
        return self._wide and super().beside(other)

    def _lazy(self, relation: DuckDBPyRelation) -> Lazy:
        lazy = super()._lazy(relation)
        lazy.shared = self.shared if self._wide else None
        return lazy

    def same_trials(self, other: Engine) -> bool:
        if self.beside(other) and self._complete:
            return self.has_users
        with self.files.lock:
            return super().same_trials(other)
