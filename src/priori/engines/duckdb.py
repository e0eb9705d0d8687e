"""The duckdb back end: Parquet files, or any relation; it reads and joins, numpy counts what it hands over.

Rows are handed over in batches of numbers, which takes no memory that grows with the table. Of 10^7 trials, a grouping
in SQL takes 2 to 6 times as long to count in bins, 7 to 9 times to fetch the scores of some, 2 to 5 times to count
between 10 or 101 cuts; only one cut alone is as fast.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.arrow_streams import MissingValues, batches
from priori.base.dataframes import unmasked
from priori.base.errors import InputError
from priori.engines.counting import Owned, Rows
from priori.engines.engine import SAMPLE, By, JoinedRows, Panel, Survey, TableSettings, TooMany, changed
from priori.engines.parquet_files import FILE, ROW_NUMBER, guarded
from priori.engines.streaming import Scan, Streaming
from priori.readers.duckdb_parser import literal, quoted
from priori.readers.parquet import check_type
from priori.scores import Names, Scores, nan_error
from priori.scores.labels import missing_labels, positive_value

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from priori.engines.parquet_files import Files

_WHOLE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)")
#: Labels of these types are compared as they are, others as text.
_PLAIN = re.compile(r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE")


@dataclass(frozen=True)
class Labels:
    """How the label is read: an expression that gives whole numbers, which of them is positive, which negative."""

    expression: str
    positive: int
    negative: int | None

    def positives(self, column: NDArray[Any]) -> tuple[NDArray[np.bool_], bool]:
        """Return which trials are positive, and whether every label is one of the two."""
        positive = column == self.positive
        return positive, self.negative is None or bool((positive | (column == self.negative)).all())


class DuckDB(Streaming):
    """A panel in a duckdb relation with columns of scores and labels, and perhaps user and trial.

    ``files`` owns the connection of a relation over files, checks that they stay as they are, and cleans up.
    ``systems`` are what each system is called in messages and its column of scores; or, where ``system_in`` is an
    expression of whose a row is, its name there.
    """

    def __init__(
        self,
        relation: DuckDBPyRelation,
        settings: TableSettings,
        *,
        source: str = "relation",
        files: Files | None = None,
        systems: Sequence[tuple[str, str]] = (),
        system_in: str | None = None,
    ) -> None:
        super().__init__()
        # Bytes are text, which not every writer says of its text.
        held = [quoted(name) for name, kind in zip(relation.columns, relation.types, strict=True) if kind == "BLOB"]
        decoded = ", ".join(f"decode({name}) AS {name}" for name in held)
        relation = relation.select(f"* REPLACE ({decoded})") if held else relation
        self.relation, self.files, self.system_in = relation, files, system_in
        self.format = None if files is None else files.format
        self.types = dict(zip(relation.columns, (str(kind) for kind in relation.types), strict=True))
        self._match_columns(relation.columns, settings, source)
        self.systems = [column for _, column in systems] or [self.columns["score"]]
        self.sources = [name for name, _ in systems] or [source]
        self.wide = system_in is None
        scores = self.systems if self.wide else [self.columns["score"]]
        for role, title in [*self.columns.items(), *(("score", title) for title in scores)]:
            check_type(role, title, self.types[title], source)
        if files is not None and files.format in ("parquet", "arrow"):
            self._check_files()
        self._total = 0
        self._state = _State()
        self._listed: dict[tuple[str, ...], str] = {}

    def dtype(self, system: int) -> Any:
        return np.float32 if self.types[self._score_column(system)] == "FLOAT" else np.float64

    # -- the columns -------------------------------------------------------------------------------------

    def _score_column(self, system: int) -> str:
        return self.systems[system] if self.wide else self.columns["score"]

    def _type(self, role: str) -> str:
        return self.types[self.columns[role]]

    def _column(self, role: str) -> str:
        return quoted(self.columns[role])

    def look_at_labels(self) -> None:
        _ = self.labels

    def _probes(self) -> list[Any]:
        return self._distinct(self._column("probe_user"), "trials")

    def _name(self, role: str) -> str:
        """Return the expression of a name; of attacks that of their type, empty where a trial is none."""
        if role != "attack":
            return f"trials.{self._column(role)}"
        label = f"CAST(trials.{self._column('label')} AS VARCHAR)" if "label" in self.columns else "''"
        kind = f"CAST(trials.{self._column('attack')} AS VARCHAR)" if role in self.columns else label
        if self.marked:
            listed = ", ".join(literal(str(each)) for each in self.marked)
            kind = f"CASE WHEN {label} IN ({listed}) THEN coalesce(nullif({kind}, ''), {label}) END"
        return f"coalesce({kind}, '')"

    def score(self, system: int) -> str:
        """Return the expression of a system's score."""
        column = self._score_column(system)
        plain = quoted(column) if self.types[column] in ("FLOAT", "DOUBLE") else f"CAST({quoted(column)} AS DOUBLE)"
        return f"-({plain})" if self.settings.lower_is_better else plain

    def _own(self, system: int) -> str:
        """Return the condition that a row is a trial of a system, and not left out."""
        score = self.score(system)
        # Not isnan: duckdb concludes from the range that a Parquet file tells, without its NaN, that there is none.
        present = f"(isfinite({score}) OR isinf({score}))" if self.settings.nan == "drop" else "true"
        return present if self.wide else f"{present} AND {self.system_in} = {literal(self.systems[system])}"

    @cached_property
    def labels(self) -> Labels:
        """How the label is read."""
        if "label" not in self.columns:
            same = f"CAST({self._column('user')} AS VARCHAR) = CAST({self._column('probe_user')} AS VARCHAR)"
            return Labels(f"CAST({same} AS UTINYINT)", 1, 0)
        kind, column = self._type("label"), self._column("label")
        if kind == "BOOLEAN" and self.settings.pos_label is None and self.settings.attack_label is None:
            return Labels(f"CAST({column} AS UTINYINT)", 1, 0)
        if _WHOLE.fullmatch(kind) and self.settings.attack_label is None:
            # A few rows tell the two labels; a third one is found out when it comes.
            seen = self._distinct(column, f"(SELECT {column} FROM trials LIMIT {SAMPLE})")
            if len(seen) == 2 and None not in seen:
                positive = positive_value(sorted(seen), self.settings.pos_label, where=self.source)
                return Labels(column, positive, sum(seen) - positive if self.settings.pos_label is None else None)
        return self.all_labels()

    def all_labels(self) -> Labels:
        """Look at every label; an error tells which there are, if there are not two."""
        column = self._column("label")
        if not _PLAIN.fullmatch(self._type("label")):
            column = f"CAST({column} AS VARCHAR)"
        counted = dict(self.rows(f"SELECT {column}, count(*) FROM trials GROUP BY ALL"))
        matching = self._positive_labels(counted)
        if not all(isinstance(value, (bool, int, float)) for value in matching):
            matching = [literal(str(value)) for value in matching]
        return Labels(f"CAST({column} IN ({', '.join(map(str, matching))}) AS UTINYINT)", 1, 0)

    def _check_files(self) -> None:
        """Refuse missing names as `priori.read` does; ids are looked at when trials are paired by them."""
        roles = [role for role in ("user", "probe_user", "dataset", "group") if role in self.columns]
        if self.files is not None:  # whole numbers that are all there need no look
            whole = {role for role in roles if _WHOLE.fullmatch(self._type(role))}
            roles = [role for role in roles if role not in whole or not self.files.complete(self.columns[role])]
        texts = [f"CAST({self._column(role)} AS VARCHAR)" for role in roles]
        odd = [test for text in texts for test in (f"{text} IS NULL OR {text} = ''", f"contains({text}, chr(0))")]
        if not odd:
            return
        counts = ", ".join(f"count(*) FILTER ({test})" for test in odd)
        ((*found,),) = self.rows(f"SELECT {counts} FROM trials")
        for role, missing, with_nul in zip(roles, found[::2], found[1::2], strict=True):
            if missing:
                raise self._missing_names(role, missing)
            if with_nul:
                raise self._nul_in_names(role)

    def missing(self, role: str) -> InputError:
        """Return the error for labels or users that are missing."""
        ((number,),) = self.rows(f"SELECT count(*) FROM trials WHERE {self._column(role)} IS NULL")
        return missing_labels(self.source, number, []) if role == "label" else self._missing_names(role, number)

    # -- asking ------------------------------------------------------------------------------------------

    def query(self, text: str) -> DuckDBPyRelation:
        """Return the relation of a query over ``trials``."""
        if self.files is not None:
            return self.files.query(text)
        # The name becomes a view in the caller's database: it must be nobody's, and no two of ours the same.
        view = f"priori_trials_{id(self)}"
        relation = self.relation.query(view, f"WITH trials AS (FROM {view}) {text}")
        assert relation is not None
        return relation

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """Return all the rows of a query over ``trials``."""
        with guarded(self.source):
            return self.query(text).fetchall()

    def _distinct(self, column: str, source: str) -> list[Any]:
        return [value for (value,) in self.rows(f"SELECT DISTINCT {column} FROM {source}")]

    def survey(self, system: int = 0) -> Survey:
        limits = None
        if self.files is None:
            if not self._total:
                ((self._total,),) = self.rows("SELECT count(*) FROM trials")
        else:
            self._total, limits = self.files.rows, self.files.limits(self._score_column(system))
        if limits is not None and self.settings.lower_is_better:
            limits = -limits[1], -limits[0]
        return Survey(self._total, self._samples[system] if self.wide else self._sample([system])[0], limits)

    @cached_property
    def _samples(self) -> list[NDArray[Any]]:
        return self._sample(range(len(self.systems)))

    def _sample(self, systems: Sequence[int]) -> list[NDArray[Any]]:
        """Return a few finite scores of each system."""
        size = SAMPLE if len(systems) < 8 else SAMPLE // 8
        selected = ", ".join(f"{self.score(system)} AS s{system}" for system in systems)
        own = "" if self.wide else f" WHERE {self._own(systems[0])}"
        with guarded(self.source):
            if self.files is None:
                found = self.query(f"SELECT {selected} FROM (SELECT * FROM trials LIMIT {size}){own}").fetchnumpy()
            else:
                found = self.files.sample(f"SELECT {selected} FROM trials{own}", size)
        columns = [np.ma.filled(found[f"s{system}"], np.nan) for system in systems]
        return [np.ascontiguousarray(column[np.isfinite(column)]) for column in columns]

    def pieces(self, systems: tuple[int, ...], by: By) -> list[Scan]:
        owners = self.owners(by)
        columns = [self.labels.expression, *([] if owners is None else [owners.expression])]
        if self.wide:
            columns += map(self.score, systems)
        else:
            codes = " ".join(f"WHEN {literal(self.systems[system])} THEN {system}" for system in systems)
            columns += [self.score(systems[0]), f"CAST(CASE {self.system_in} {codes} ELSE -1 END AS INT)"]
        text = f"SELECT {', '.join(columns)} FROM {'trials' if owners is None else owners.source}"
        self._state = _State()
        numbered = owners is not None and owners.numbered
        pieces = [iter([self.query(text)])] if self.files is None else self.files.pieces(text, numbered=numbered)
        return [partial(self._scan, piece, systems, owners, self._state) for piece in pieces]

    def _scan(
        self, relations: Iterator[DuckDBPyRelation], systems: tuple[int, ...], owners: Owners | None, state: _State
    ) -> Generator[Rows, None, None]:
        with guarded(self.source), closing(_batches_of(relations)) as stream:
            try:
                for label, *rest in stream:
                    positive, known = self.labels.positives(label)
                    if not known:
                        state.strange = True
                        return
                    owner = None if owners is None else owners.codes(rest.pop(0))
                    whose = None if self.wide else rest.pop()
                    scores = dict(zip(systems, rest * (1 if self.wide else len(systems)), strict=True))
                    yield Rows(scores, positive.view(np.uint8), owner, self.settings.nan, whose)
                    with state.lock:
                        state.rows += label.size
                        if self.progress is not None:
                            self.progress(state.rows, self._total)
            except MissingValues as error:
                state.missing = "label" if error.column == 0 else "user"

    def finish(self) -> None:
        state = self._state
        if self.files is not None:
            self.files.watch.check()
        if state.missing is not None:
            raise self.missing(state.missing)
        if state.strange:
            self.all_labels()
        if self.files is not None and state.rows != self.files.rows:
            raise changed(self.source)

    def rows_at_most(self) -> int:
        return self._total if self.files is not None else super().rows_at_most()

    # -- names -------------------------------------------------------------------------------------------

    def look_at_names(self, system: int) -> Names:
        seen = self._distinct(self._column("user"), f"trials WHERE {self._own(system)}")
        self._check_names("user", seen)
        whole = _WHOLE.fullmatch(self._type("user"))
        return Names(np.unique(self.as_names(np.array(seen, dtype=np.int64 if whole else object))))

    def owned(self, by: By, limit: int | None) -> Owned:
        if isinstance(by, int):
            return Owned(by, {"part": np.arange(by)})
        return Owned(*self._combinations(by, limit)) if by else Owned()

    def owners(self, by: By) -> Owners | None:
        """Say how those that trials are counted by become codes: names in a join, random parts by a hash."""
        if not isinstance(by, int):
            if not by:
                return None
            if len(by) == 1 and by[0] != "attack" and _WHOLE.fullmatch(self._type(by[0])):  # numpy finds them faster
                _, names = self._combinations(by, None)
                return Owners(f"CAST({self._column(by[0])} AS BIGINT)", "trials", whole=names[by[0]].astype(np.int64))
            same = " AND ".join(f"{self._name(role)} = priori_{role}" for role in by)
            return Owners("CAST(priori_code AS BIGINT)", f"trials JOIN ({self.coded(by)}) ON {same}")
        by_id = "trial" in self.columns
        if not by_id and self.files is None:
            raise self._cannot_pair()
        key = f"CAST({self._column('trial')} AS VARCHAR)" if by_id else f"parse_filename({FILE}), {ROW_NUMBER}"
        return Owners(f"CAST(hash({key}) % {by} AS BIGINT)", "trials", numbered=not by_id)

    def coded(self, roles: Sequence[str]) -> str:
        """Return the query that numbers the combinations of names; of files its answer is kept, as pieces share it."""
        if tuple(roles) in self._listed:
            return f"FROM {self._listed[tuple(roles)]}"
        ours = ", ".join(f"priori_{role}" for role in roles)
        listed = ", ".join(f"{self._name(role)} AS priori_{role}" for role in roles)
        distinct = f"SELECT DISTINCT {listed} FROM trials"
        for known, table in self._listed.items():
            if {*roles} <= {*known}:  # no scan is needed
                distinct = f"SELECT DISTINCT {ours} FROM {table}"
        coded = f"SELECT *, row_number() OVER (ORDER BY {ours}) - 1 AS priori_code FROM ({distinct})"
        if self.files is None:
            return coded
        table = f"combinations_{id(self)}_{len(self._listed)}"
        with guarded(self.source):
            self.files.keep(table, self.query(coded))
        self._listed[tuple(roles)] = table
        return f"FROM {table}"

    def _combinations(self, roles: Sequence[str], limit: int | None) -> tuple[int, dict[str, NDArray[Any]]]:
        """Return how many combinations of names occur, if not too many, and the names in the order of their codes."""
        with guarded(self.source):
            most = "" if limit is None else f" LIMIT {limit + 1}"
            found = self.query(f"SELECT * FROM ({self.coded(roles)}) ORDER BY priori_code{most}").fetchnumpy()
        number = found["priori_code"].size
        if limit is not None and number > limit:
            raise TooMany
        named = {role: unmasked(found[f"priori_{role}"]) for role in roles}
        for role, names in named.items():
            if role != "attack":
                self._check_names(role, names.tolist())
        return number, named

    # -- trials ------------------------------------------------------------------------------------------

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Turn errors into ours, and check that the files are what they were."""
        with guarded(self.source):
            yield
        if self.files is not None:
            self.files.watch.check()

    def load(self, system: int = 0) -> Scores:
        roles = [role for role in ("user", "probe_user", "trial", "dataset", "group") if role in self.columns]
        texts = {role: f"CAST({self._column(role)} AS VARCHAR)" for role in roles if "user" not in role}
        columns = [f"{texts.get(role, self._column(role))} AS {role}" for role in roles]
        columns += [f"{self._name('attack')} AS attack"] if self.tells("attack") else []
        chosen = ", ".join([f"{self.score(system)} AS score", f"{self.labels.expression} AS label", *columns])
        # Trials without ids are paired by their order.
        with self._unchanged(), nullcontext() if self.files is None else self.files.in_order():
            found = self.query(f"SELECT {chosen} FROM trials WHERE {self._own(system)}").fetchnumpy()
        label, score = found.pop("label"), np.ma.filled(found.pop("score"), np.nan).astype(np.float64)
        if np.ma.getmaskarray(label).any():
            raise self.missing("label")
        positive, known = self.labels.positives(np.asarray(label))
        if not known:
            self.all_labels()
        names = {role: unmasked(column) for role, column in found.items()}
        for role in roles:
            self._check_names(role, names[role].tolist())
        failed = np.isnan(score)
        if failed.any() and self.settings.nan == "error":
            raise nan_error(self.sources[system], int(failed.sum()))
        score[failed] = -np.inf
        return self.scores_of(system, score, positive, names, failed=failed if failed.any() else None)

    # -- pairs -------------------------------------------------------------------------------------------

    def _join(self, paired: Sequence[tuple[Panel, int]]) -> tuple[Panel, list[JoinedRows]]:
        names = [role for role in ("user", "probe_user") if role in self.columns]
        scores = [f"score{n}" for n in range(len(paired))]
        selected = [*(f"t{n}.score AS {name}" for n, name in enumerate(scores)), "t0.label", *_differences(paired)]
        selected += [f't0."{role}"' for role in names]
        settings = TableSettings(
            {"score": "score0", "label": "label", **{role: role for role in names}},
            nan=self.settings.nan,
            as_text=self.settings.as_text,
        )
        systems = [(panel.sources[own], name) for (panel, own), name in zip(paired, scores, strict=True)]
        with self._unchanged():
            relation, files = self._joined(paired, selected), self.files
            if files is not None:
                files = files.written(relation)
                relation = files.relation()
            told = _compared(relation, len(paired))
        joined = DuckDB(relation, settings, source=self.source, files=files, systems=systems)
        joined.memory, joined.retain = self.memory, self.retain
        return joined, told

    def _compare(self, one: tuple[Panel, int], two: tuple[Panel, int]) -> JoinedRows:
        with self._unchanged():
            return _compared(self._joined([one, two], _differences([one, two])), 2)[0]

    def _look_at_ids(self, system: int) -> tuple[int, tuple[Any, int] | None]:
        trial, own = self._column("trial"), self._own(system)
        grouped = f"SELECT {trial} AS name, count(*) AS times FROM trials WHERE {own} GROUP BY name"
        odd = self.rows(f"FROM ({grouped}) WHERE times > 1 OR name IS NULL LIMIT 1")
        return self.rows(f"SELECT count(*) FROM trials WHERE {own}")[0][0], odd[0] if odd else None

    def _joined(self, paired: Sequence[tuple[Panel, int]], selected: Sequence[str]) -> DuckDBPyRelation:
        """Return columns of t0, t1, ..., the trials of each system joined by their ids: trial, score, label, people."""
        source, alike = "", [panel for panel, _ in paired if isinstance(panel, DuckDB)]
        # Ids of one type are compared as they are, others as text.
        kind = self._type("trial") if len({panel._type("trial") for panel in alike}) == 1 else "VARCHAR"
        for n, (panel, system) in enumerate(paired):
            if not isinstance(panel, DuckDB):
                raise self._elsewhere(panel)
            table, text = f"priori_joined_{id(self)}_{n}", panel._plain(system, kind)
            if self.files is not None and panel.files is not None:  # two databases cannot be joined
                table = f"(WITH trials AS (FROM {self.files.source_of(panel.files)}) {text})"
            else:
                panel.query(text).create_view(table, replace=True)
            source += f" JOIN {table} t{n} ON t0.trial = t{n}.trial" if n else f"{table} t0"
        return self.query(f"SELECT {', '.join(selected)} FROM {source}")

    def _plain(self, system: int, kind: str) -> str:
        """Return the query for the trials of a system by names of ours, with ids of one kind."""
        known = [role for role in ("user", "probe_user") if role in self.columns]
        people = "".join(f', {self._column(role)} AS "{role}"' for role in known)
        label = f"CAST({self.labels.expression} = {self.labels.positive} AS UTINYINT)"
        return (
            f"SELECT CAST({self._column('trial')} AS {kind}) AS trial, {self.score(system)} AS score, {label} AS label"
            f"{people} FROM trials WHERE {self._own(system)}"
        )

    def close(self) -> None:
        if self.files is not None:
            self.files.close()


def _differences(paired: Sequence[tuple[Panel, int]]) -> list[str]:
    """Return the columns that say how trials of t0 differ from those of t1, ...: in label 1, in user 2, no user 4."""
    columns = []
    for n, (panel, _) in enumerate(paired[1:], 1):
        one, two = (f't{number}."user"::VARCHAR' for number in (0, n))
        users = f" + 2 * coalesce({one} != {two}, false)::INT + 4 * ({one} IS NULL OR {two} IS NULL)::INT"
        known = paired[0][0].has_users and panel.has_users
        columns.append(f"(t0.label != t{n}.label)::INT{users if known else ''} AS differs{n}")
    return columns


def _compared(joined: DuckDBPyRelation, systems: int) -> list[JoinedRows]:
    """Count what such columns say, for all systems but the first."""
    asked = [f"count(*) FILTER (differs{n} & {bit} > 0)" for n in range(1, systems) for bit in (1, 2, 4)]
    ((rows, *told),) = joined.aggregate(", ".join(["count(*)", *asked])).fetchall()
    return [JoinedRows(rows, *told[start : start + 3]) for start in range(0, len(told), 3)]


def _batches_of(relations: Iterator[DuckDBPyRelation]) -> Generator[list[NDArray[Any]], None, None]:
    for relation in relations:
        with closing(batches(relation)) as stream:
            yield from stream


@dataclass
class _State:
    """What the pieces of one scan have met so far."""

    lock: Lock = field(default_factory=Lock)
    rows: int = 0
    strange: bool = False
    missing: str | None = None


@dataclass(frozen=True)
class Owners:
    """How those that trials are counted by are read: an expression of their codes, and where it is read from.

    ``numbered`` says that the expression has the numbers of rows in it; ``whole`` are names in order that it gives
    instead of codes.
    """

    expression: str
    source: str
    numbered: bool = False
    whole: NDArray[np.int64] | None = None

    def codes(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of a batch."""
        if self.whole is None:
            return column
        return np.minimum(np.searchsorted(self.whole, column), self.whole.size - 1)
