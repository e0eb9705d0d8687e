"""The duckdb back end: Parquet files, or any relation; it reads and joins, numpy counts what it hands over.

Rows are handed over in batches of numbers, which takes no memory that grows with the table. Of 10^7 trials, a grouping
in SQL takes 2 to 6 times as long to count in cells, 7 to 9 times to fetch the scores of some, 2 to 5 times to count
between 10 or 101 cuts; only one cut alone is as fast.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.arrow_streams import MissingValues, batches
from priori.base.dataframes import unmasked
from priori.base.errors import InputError
from priori.base.types import Floats
from priori.engines.batch_counting import (
    LEAST_ROOM,
    Batch,
    Owner,
    Scan,
    Streaming,
    SumsInGaps,
    means_between,
    settled,
)
from priori.engines.engine import SAMPLE, Engine, Survey, TableSettings, Tally, TooMany, changed
from priori.engines.parquet_files import FILE, ROW_NUMBER, guarded
from priori.readers.duckdb_parser import literal, quoted
from priori.readers.parquet import check_type
from priori.scores import Names, Scores, nan_error
from priori.scores.cuts import Cuts
from priori.scores.labels import missing_labels, positive_value

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from priori.engines.lazy_frames import Lazy
    from priori.engines.parquet_files import Files

_WHOLE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)")
#: A grouping in SQL takes little longer than numpy with so few cuts.
FEW_CUTS = 16
#: With more cuts a grouping in SQL takes minutes to be written alone.
MANY_CUTS = 1 << 10
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
    """Answers from a duckdb relation with columns score and label, and perhaps user and trial.

    ``files`` owns the connection of a relation over files, checks that they stay as they are, and cleans up.
    """

    def __init__(
        self,
        relation: DuckDBPyRelation,
        settings: TableSettings,
        *,
        source: str = "relation",
        files: Files | None = None,
    ) -> None:
        # Bytes are text, which not every writer says of its text.
        held = [quoted(name) for name, kind in zip(relation.columns, relation.types, strict=True) if kind == "BLOB"]
        decoded = ", ".join(f"decode({name}) AS {name}" for name in held)
        self.relation = relation = relation.select(f"* REPLACE ({decoded})") if held else relation
        self.files = files
        self.format = None if files is None else files.format
        self.alone = files is not None
        self.types = dict(zip(relation.columns, (str(kind) for kind in relation.types), strict=True))
        self._match_columns(relation.columns, settings, source)
        for role, title in self.columns.items():
            check_type(role, title, self.types[title], source)
        if files is not None and files.format in ("parquet", "arrow"):
            self._check_files()
        self._total = 0
        self._state = _State()
        self._listed: dict[tuple[str, ...], str] = {}
        self.dtype = np.float32 if self._type("score") == "FLOAT" else np.float64

    # -- the columns -------------------------------------------------------------------------------------

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

    @cached_property
    def score(self) -> str:
        """The expression of the score."""
        plain = self._column("score")
        if self._type("score") not in ("FLOAT", "DOUBLE"):
            plain = f"CAST({plain} AS DOUBLE)"
        return f"-({plain})" if self.settings.lower_is_better else plain

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

    def survey(self) -> Survey:
        finite = f"{self.score} IS NOT NULL AND isfinite({self.score})"
        limits = None
        with guarded(self.source):
            if self.files is None:
                ((self._total,),) = self.rows("SELECT count(*) FROM trials")
                text = f"SELECT {self.score} AS score FROM (SELECT * FROM trials LIMIT {SAMPLE}) WHERE {finite}"
                sample = np.ascontiguousarray(self.query(text).fetchnumpy()["score"])
            else:
                self._total, limits = self.files.rows, self.files.limits(self.columns["score"])
                sample = self.files.sample(f"SELECT {self.score} AS score FROM trials WHERE {finite}", SAMPLE)["score"]
        if limits is not None and self.settings.lower_is_better:
            limits = -limits[1], -limits[0]
        return Survey(self._total, sample, limits)

    def pieces(self, *, by: Owner = None) -> list[Scan]:
        return self._pieces(self.owners(by))

    def _pieces(self, owners: Owners | None) -> list[Scan]:
        text = f"SELECT {self.score}, {self.labels.expression}"
        text += " FROM trials" if owners is None else f", {owners.expression} FROM {owners.source}"
        self._state = _State()
        numbered = owners is not None and owners.numbered
        pieces = [iter([self.query(text)])] if self.files is None else self.files.pieces(text, numbered=numbered)
        return [partial(self._scan, piece, owners, self._state) for piece in pieces]

    def _scan(
        self, relations: Iterator[DuckDBPyRelation], owners: Owners | None, state: _State
    ) -> Generator[Batch, None, None]:
        with guarded(self.source), closing(_batches_of(relations)) as stream:
            try:
                for score, label, *users in stream:
                    positive, known = self.labels.positives(label)
                    if not known:
                        state.strange = True
                        return
                    codes = None if owners is None else owners.codes(users[0])
                    batch, missing = settled(score, positive.view(np.uint8), codes, self.settings.nan)
                    yield batch
                    with state.lock:
                        state.nan += missing
                        state.rows += score.size
                        if self.progress is not None:
                            self.progress(state.rows, self._total)
            except MissingValues as error:
                state.missing = "user" if error.column == 2 else "label"

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
        if state.nan and self.settings.nan == "error":
            raise nan_error(self.source, state.nan)
        self.nan = state.nan if self.settings.nan == "reject" else 0

    def rows_at_most(self) -> int:
        return self._total if self.files is not None else super().rows_at_most()

    # -- users -------------------------------------------------------------------------------------------

    @cached_property
    def _present(self) -> str:
        """The condition that a trial is not left out."""
        # Not isnan: duckdb concludes from the range that a Parquet file tells, without its NaN, that there is none.
        number = f"isfinite({self.score}) OR isinf({self.score})"
        return f"({number})" if self.settings.nan == "drop" else "true"

    @cached_property
    def _names(self) -> Names:
        seen = self._distinct(self._column("user"), f"trials WHERE {self._present}")
        self._check_names("user", seen)
        if self._whole_users and not self.settings.as_text:
            return Names(np.sort(np.array(seen, dtype=np.int64)))
        return Names(np.unique(np.array([str(name) for name in seen], dtype=str)))

    @property
    def _whole_users(self) -> bool:
        return bool(_WHOLE.fullmatch(self._type("user")))

    def owners(self, by: Owner) -> Owners | None:
        """Say how owners become codes: users that are whole numbers in numpy, text in a join; parts by a hash."""
        if by is None:
            return None
        if isinstance(by, tuple):
            return self.named(by)
        if by != "user":
            by_id = "trial" in self.columns
            key = f"CAST({self._column('trial')} AS VARCHAR)" if by_id else f"parse_filename({FILE}), {ROW_NUMBER}"
            return Owners(f"CAST(hash({key}) % {by} AS BIGINT)", "trials", numbered=not by_id)
        names, column = self._names.values, self._column("user")
        if self._whole_users:
            numbers = names.astype(np.int64)
            order = np.argsort(numbers)
            return Owners(f"CAST({column} AS BIGINT)", "trials", numbers[order], order)
        text = f"CAST({column} AS VARCHAR)"
        # Columns of ours that are joined to those of a table must not be called as one of these may be.
        listed = f"SELECT DISTINCT {text} AS priori_name FROM trials WHERE {self._present}"
        coded = f"SELECT *, row_number() OVER (ORDER BY priori_name) - 1 AS priori_code FROM ({listed})"
        if self.files is not None:  # pieces must share their codes
            with guarded(self.source):
                self.files.keep_names(names.tolist())
            coded = "FROM names"
        return Owners("CAST(priori_code AS BIGINT)", f"trials JOIN ({coded}) ON {text} = priori_name")

    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        owners = len(self._names) if by_user else 1
        if 16 * owners * (cuts.size + 1) <= max(self.retain, LEAST_ROOM):
            return super().tally(cuts, by_user=by_user)
        # More sums than there is room for: a grouping, which takes longer, spills to disk.
        with self._unchanged():
            return self._lazy(self.relation).tally(cuts, by_user=by_user)

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Turn errors into ours, and check that the files are what they were."""
        with guarded(self.source):
            yield
        if self.files is not None:
            self.files.watch.check()

    def _lazy(self, relation: DuckDBPyRelation) -> Lazy:
        from priori.engines.lazy_frames import Lazy

        lazy = Lazy(relation, self.settings, source=self.source)
        lazy.shared, lazy.marked = self.shared, self.marked
        return lazy

    def tally_paired(
        self, others: Sequence[Engine], cuts: Sequence[Floats], limit: int, *, by_user: bool = False
    ) -> tuple[Tally, Tally]:
        with self._joined(others) as (first, *rest):
            return first.tally_paired(rest, cuts, limit, by_user=by_user)

    def load_paired(
        self, others: Sequence[Engine], cuts: Sequence[Floats], roles: Sequence[str], limit: int
    ) -> list[Scores]:
        with self._joined(others) as (first, *rest):
            return first.load_paired(rest, cuts, roles, limit)

    def same_trials(self, other: Engine) -> bool:
        with self._joined([other]) as (first, second):
            return first.same_trials(second)

    @contextmanager
    def _joined(self, others: Sequence[Engine]) -> Iterator[list[Lazy]]:
        """Give tables that can be joined."""
        with ExitStack() as stack:
            tables = []
            for engine in (*others, self):
                if not isinstance(engine, DuckDB):
                    raise self._cannot_pair()
                relation = engine.relation
                if self.files is not None and engine.files is not None:  # two databases cannot be joined
                    relation = self.files.relation(engine.files)
                stack.enter_context(engine._unchanged())
                tables.append(engine._lazy(relation))
            yield [tables[-1], *tables[:-1]]

    def load(self) -> Scores:
        # Trials without ids are paired by their order.
        with guarded(self.source), nullcontext() if self.files is None else self.files.in_order():
            return self._lazy(self.relation).load()

    def load_between(self, cuts: Floats, roles: Sequence[str], limit: int) -> Scores:
        named = self._combinations(roles, limit)
        owners = max((column.size for column in named.values()), default=1)
        # Which trials failed to acquire matters at thresholds that are known, not in cells.
        failures = self.settings.nan == "reject" and cuts.size <= FEW_CUTS
        if failures or owners * (cuts.size + 1) > limit:
            if cuts.size > MANY_CUTS:
                raise TooMany
            with self._unchanged():
                return self._lazy(self.relation).load_between(cuts, roles, limit)
        # Without a grouping in SQL, which takes far longer where there are many cuts.
        begin = partial(SumsInGaps, Cuts.of(cuts, self.dtype), owners, self.keys)
        size = 32 * owners * (cuts.size + 1) + 32 * (self.keys or 0)
        classes = list(means_between(self._over(begin, size=size, by=tuple(roles) or None), cuts))
        if sum(score.size for _, score in classes) > limit:
            raise TooMany
        columns: dict[str, NDArray[Any]] = {
            "score": np.concatenate([score for _, score in classes]),
            "rows": np.concatenate([tally.number for tally, _ in classes]),
            "positive": np.repeat([0, 1], [score.size for _, score in classes]),
        }
        owner = np.concatenate([tally.user for tally, _ in classes if tally.user is not None])
        with self._unchanged():
            return self._lazy(self.relation).scores_of(columns | {role: named[role][owner] for role in roles})

    def named(self, roles: Sequence[str]) -> Owners:
        """Say how combinations of names become codes: in a join."""
        same = " AND ".join(f"{self._name(role)} = priori_{role}" for role in roles)
        return Owners("CAST(priori_code AS BIGINT)", f"trials JOIN ({self.coded(roles)}) ON {same}")

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

    def _combinations(self, roles: Sequence[str], limit: int) -> dict[str, NDArray[Any]]:
        """Return the combinations of names that occur, in the order of their codes, if they are not too many."""
        if not roles:
            return {}
        with guarded(self.source):
            ordered = f"SELECT * FROM ({self.coded(roles)}) ORDER BY priori_code LIMIT {limit + 1}"
            found = self.query(ordered).fetchnumpy()
        if found["priori_code"].size > limit:
            raise TooMany
        named = {role: unmasked(found[f"priori_{role}"]) for role in roles}
        for role, names in named.items():
            if role != "attack":
                self._check_names(role, names.tolist())
        return named

    def close(self) -> None:
        if self.files is not None:
            self.files.close()


def _batches_of(relations: Iterator[DuckDBPyRelation]) -> Generator[list[NDArray[Any]], None, None]:
    for relation in relations:
        with closing(batches(relation)) as stream:
            yield from stream


@dataclass
class _State:
    """What the pieces of one scan have met so far."""

    lock: Lock = field(default_factory=Lock)
    rows: int = 0
    nan: int = 0
    strange: bool = False
    missing: str | None = None


@dataclass(frozen=True)
class Owners:
    """How owners are read: an expression, where it is read from, and the codes of sorted whole-number names.

    ``numbered`` says that the expression has the numbers of rows in it.
    """

    expression: str
    source: str
    names: NDArray[np.int64] | None = None
    order: NDArray[np.intp] | None = None
    numbered: bool = False

    def codes(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of a batch."""
        if self.names is None or self.order is None:
            return column
        span = int(self.names[-1]) - int(self.names[0]) + 1
        if span > 1 << 24:
            return self.order[np.minimum(np.searchsorted(self.names, column), self.names.size - 1)]
        table = np.zeros(span, dtype=np.intp)
        table[self.names - self.names[0]] = self.order
        return np.asarray(table[np.clip(column - self.names[0], 0, span - 1)])
