"""Tables of trials in a database: their columns, labels and names, asked in SQL that duckdb and Spark both know.

Rows are handed over in batches of numbers, and numpy counts them, which takes no memory that grows with the table. Of
10^7 trials, a grouping in SQL takes duckdb 2 to 6 times as long to count in bins, 7 to 9 times to fetch the scores of
some, 2 to 5 times to count between 10 or 101 cuts; only one cut alone is as fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import is_missing, match_columns
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.types import Progress
from priori.engines.counting import By, Owned, Rows, TooMany
from priori.readers.parquet import check_type
from priori.scores import NAN_POLICIES, Names, NanPolicy
from priori.scores.labels import attack_values, attackers, is_missing_label, missing_labels, normal, positive_value

#: Scores looked at to lay out the bins of the first count.
SAMPLE = 1 << 16
WHOLE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)")
#: Labels of these types are compared as they are, others as text.
_PLAIN = re.compile(r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE")

#: Yields some of the rows when it is called.
Scan = Callable[[], Generator[Rows, None, None]]


@dataclass(frozen=True)
class TableSettings:
    """How a table is read: as `Scores.from_frame` reads a frame, or, with ``as_text``, as `priori.read` a file.

    ``more`` are further columns that it must have, by names of ours.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    pos_label: Any = None
    nan: NanPolicy = "error"
    lower_is_better: bool = False
    as_text: bool = False
    attack_label: Any = None
    more: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.nan not in NAN_POLICIES:
            raise unknown("NaN policy", self.nan, NAN_POLICIES)

    def options(self) -> dict[str, Any]:
        """Return what `priori.read` and `Scores.from_frame` call these settings."""
        return {name: value for name, value in vars(self).items() if name not in ("as_text", "more")}


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


@dataclass(frozen=True)
class Handed:
    """How the columns of a batch become rows: label, perhaps who it is counted by, scores, perhaps whose row it is."""

    systems: tuple[int, ...]
    labels: Labels
    owners: Owners | None
    nan: NanPolicy
    wide: bool

    def rows(self, columns: Sequence[NDArray[Any]]) -> Rows | None:
        """Return the rows of a batch; None where a label is neither of the two."""
        label, *rest = columns
        positive, known = self.labels.positives(label)
        if not known:
            return None
        owner = None if self.owners is None else self.owners.codes(rest.pop(0))
        whose = None if self.wide else rest.pop()
        scores = dict(zip(self.systems, rest * (1 if self.wide else len(self.systems)), strict=True))
        return Rows(scores, positive.view(np.uint8), owner, self.nan, whose)


class SqlTable:
    """The trials of one system or more in a table with columns of scores and labels, and perhaps user and trial.

    NaN, labels and the direction of the scores are settled as `priori.Scores` settles them. ``types`` are the columns
    and their types, as duckdb calls them. ``systems`` are what each system is called in messages and its column of
    scores; or, where the column ``system_in`` says whose a row is, its name there.
    """

    #: What each system is called in messages.
    sources: Sequence[str] = ("scores",)
    settings: TableSettings = TableSettings()
    #: Our columns that the panel has, and its names for them; "score" is the first system's.
    columns: Mapping[str, str] = {}
    #: Labels that mark attacks, and those of the negatives, known once the labels have been looked at.
    marked: Sequence[Any] = ()
    negative_labels: Sequence[Any] = ()
    backend: str | None = None
    format: str | None = None
    has_users: bool = False
    progress: Progress | None = None
    #: Whether every row has a score of every system.
    wide: bool = True
    #: How many rows there are, once that was asked.
    total: int = 0

    def __init__(
        self,
        types: Mapping[str, str],
        settings: TableSettings,
        source: str,
        systems: Sequence[tuple[str, str]] = (),
        system_in: str | None = None,
    ) -> None:
        for role in ("time", "weight", "amount"):
            if role in settings.columns:
                raise OptionError(
                    f"{source}: the {role} of trials is known in memory only ({argument('engine', 'memory')})"
                )
        self.types, self.settings = types, settings
        self.columns = match_columns([*types], settings.columns, source=source)
        self.has_users = "user" in self.columns
        self.systems = [column for _, column in systems] or [self.columns["score"]]
        self.sources = [name for name, _ in systems] or [source]
        self.wide = system_in is None
        self._whose = None if system_in is None else f"CAST({self.quoted(system_in)} AS STRING)"
        scores = self.systems if self.wide else [self.columns["score"]]
        for role, title in [*self.columns.items(), *(("score", title) for title in scores)]:
            check_type(role, title, types[title], source)

    # -- what databases differ in ------------------------------------------------------------------------

    def guarded(self) -> AbstractContextManager[None]:
        """Turn the errors of the database into ours, and see whether the table is what it was."""
        raise NotImplementedError

    def query(self, text: str) -> Any:
        """Return what the database makes of a query over ``trials``."""
        raise NotImplementedError

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """Return all the rows of a query over ``trials``."""
        raise NotImplementedError

    def table(self, text: str) -> dict[str, NDArray[Any]]:
        """Return all the columns of a query over ``trials``; what is missing is NaN or None."""
        raise NotImplementedError

    def quoted(self, name: str) -> str:
        """Return a name as an identifier."""
        raise NotImplementedError

    def literal(self, text: str) -> str:
        """Return text as a literal."""
        raise NotImplementedError

    def present(self, score: str) -> str:
        """Return the condition that a score is not missing."""
        raise NotImplementedError

    def part_of(self, parts: int) -> Owners:
        """Return one of so many random parts, by the hash of what tells trials apart."""
        raise NotImplementedError

    def coded(self, roles: Sequence[str]) -> str:
        """Return the query that numbers the combinations of names."""
        return self.numbering(roles)

    def pieces(self, systems: tuple[int, ...], by: By) -> list[Scan]:
        """Return scans that together yield every row once, with codes of who it is counted by when asked."""
        raise NotImplementedError

    # -- columns -----------------------------------------------------------------------------------------

    @property
    def source(self) -> str:
        """What the panel is called in messages."""
        return self.sources[0]

    def dtype(self, system: int) -> Any:
        """Return the type of the scores of a system."""
        return np.float32 if self.types[self.score_column(system)] == "FLOAT" else np.float64

    def score_column(self, system: int) -> str:
        """Return the column that a system's scores are in."""
        return self.systems[system] if self.wide else self.columns["score"]

    def type_of(self, role: str) -> str:
        """Return the type of a column of ours."""
        return self.types[self.columns[role]]

    def column(self, role: str) -> str:
        """Return a column of ours as an identifier."""
        return self.quoted(self.columns[role])

    def score(self, system: int) -> str:
        """Return the expression of a system's score."""
        column = self.score_column(system)
        plain = self.quoted(column)
        plain = plain if self.types[column] in ("FLOAT", "DOUBLE") else f"CAST({plain} AS DOUBLE)"
        return f"-({plain})" if self.settings.lower_is_better else plain

    def own(self, system: int) -> str:
        """Return the condition that a row is a trial of a system, and not left out."""
        present = self.present(self.score(system)) if self.settings.nan == "drop" else "true"
        return present if self.wide else f"{present} AND {self._whose} = {self.literal(self.systems[system])}"

    def survey(self, system: int = 0) -> tuple[int, NDArray[Any]]:
        """Return how many rows there are, and some finite scores of a system, to lay out bins by."""
        if not self.total:
            ((self.total,),) = self.rows("SELECT count(*) FROM trials")
        return self.total, self._samples[system] if self.wide else self._sample([system])[0]

    @cached_property
    def _samples(self) -> list[NDArray[Any]]:
        return self._sample(range(len(self.systems)))

    def few(self, size: int) -> str:
        """Return the query for a few rows."""
        return f"SELECT * FROM trials LIMIT {size}"

    def _sample(self, systems: Sequence[int]) -> list[NDArray[Any]]:
        size = SAMPLE if len(systems) < 8 else SAMPLE // 8
        selected = ", ".join(f"{self.score(system)} AS s{system}" for system in systems)
        own = "" if self.wide else f" WHERE {self.own(systems[0])}"
        found = self.table(f"SELECT {selected} FROM ({self.few(size)}){own}")
        columns = [found[f"s{system}"].astype(self.dtype(system)) for system in systems]
        return [np.ascontiguousarray(column[np.isfinite(column)]) for column in columns]

    # -- labels ------------------------------------------------------------------------------------------

    @cached_property
    def labels(self) -> Labels:
        """How the label is read."""
        if "label" not in self.columns:
            same = f"CAST({self.column('user')} AS STRING) = CAST({self.column('probe_user')} AS STRING)"
            return Labels(f"CAST({same} AS TINYINT)", 1, 0)
        kind, column = self.type_of("label"), self.column("label")
        if kind == "BOOLEAN" and self.settings.pos_label is None and self.settings.attack_label is None:
            return Labels(f"CAST({column} AS TINYINT)", 1, 0)
        if WHOLE.fullmatch(kind) and self.settings.attack_label is None:
            # A few rows tell the two labels; a third one is found out when it comes.
            seen = self._distinct(column, f"(SELECT {column} FROM trials LIMIT {SAMPLE})")
            if len(seen) == 2 and None not in seen:
                positive = positive_value(sorted(seen), self.settings.pos_label, where=self.source)
                return Labels(column, positive, sum(seen) - positive if self.settings.pos_label is None else None)
        return self.all_labels()

    def all_labels(self) -> Labels:
        """Look at every label; an error tells which there are, if there are not two."""
        column = self.column("label")
        if not _PLAIN.fullmatch(self.type_of("label")):
            column = f"CAST({column} AS STRING)"
        counted = dict(self.rows(f"SELECT {column}, count(*) FROM trials GROUP BY ALL"))
        missing = [label for label in counted if is_missing_label(label)]
        if missing:
            raise missing_labels(self.source, sum(counted[label] for label in missing), missing)
        labels = sorted(counted)
        attacks = attack_values(labels, self.settings.attack_label, where=self.source)
        positive = normal(positive_value(labels, self.settings.pos_label, where=self.source, attacks=attacks))
        words = {normal(attack) for attack in attacks} - {positive}
        self.marked = [label for label in labels if normal(label) in words]
        self.negative_labels = [label for label in labels if normal(label) != positive]
        matching = [label for label in labels if normal(label) == positive]
        if not all(isinstance(value, (bool, int, float)) for value in matching):
            matching = [self.literal(str(value)) for value in matching]
        return Labels(f"CAST({column} IN ({', '.join(map(str, matching))}) AS TINYINT)", 1, 0)

    @property
    def words(self) -> list[Any]:
        """What the panel calls its negatives and its column of users."""
        return [*self.negative_labels, self.columns.get("user")]

    def tells(self, role: str) -> bool:
        """Tell whether something is known of trials: by a column, or of attacks by their labels."""
        if role == "attack" and "label" in self.columns:
            _ = self.labels
        return role in self.columns or (role == "attack" and bool(self.marked))

    def refuse_attackers(self) -> None:
        """Raise an error where files tell attacks by who was really there, which is known in memory only."""
        if not self.settings.as_text or "label" in self.columns or "attack" in self.columns:
            return
        found = attackers(self._distinct(self.column("probe_user"), "trials"), self.settings.attack_label)
        if found:
            raise OptionError(
                f"{self.source}: attacks that the real identity tells ({str(found[0])!r}) are known in memory only "
                f"({argument('engine', 'memory')}); else add a column of attack types "
                f"({argument('columns', 'attack=COLUMN')})"
            )

    # -- names -------------------------------------------------------------------------------------------

    def _distinct(self, column: str, source: str) -> list[Any]:
        return [value for (value,) in self.rows(f"SELECT DISTINCT {column} FROM {source}")]

    def _check_names(self, role: str, names: Iterable[Any]) -> None:
        """Refuse names that no trial can have: none at all, or one with a NUL, which arrays of text cannot hold."""
        for name in set(names):
            if is_missing(name) or (name == "" and self.settings.as_text):
                raise self.missing_names(role)
            if isinstance(name, str) and "\0" in name:
                raise self.nul_in_names(role)

    def missing_names(self, role: str, number: int | str = "some") -> InputError:
        """Return the error for names that are missing."""
        return InputError(f"{self.source}: column {self.columns[role]!r}: {number} values are missing; fill them in")

    def nul_in_names(self, role: str) -> InputError:
        """Return the error for a name that arrays of text cannot hold."""
        return InputError(f"{self.source}: column {self.columns[role]!r} holds a NUL character; remove it")

    def missing(self, role: str) -> InputError:
        """Return the error for labels or users that are missing."""
        ((number,),) = self.rows(f"SELECT count(*) FROM trials WHERE {self.column(role)} IS NULL")
        return missing_labels(self.source, number, []) if role == "label" else self.missing_names(role, number)

    @cached_property
    def _names(self) -> dict[int, Names]:
        return {}

    def names(self, system: int = 0) -> Names:
        """Return the users (claimed identities) that occur, in order; they are looked at once."""
        own = system if self.settings.nan == "drop" or not self.wide else 0
        if own not in self._names:
            if self.wide and self.settings.nan != "drop":
                seen = self.owned(("user",), None).names["user"]
            else:
                listed = self._distinct(self.column("user"), f"trials WHERE {self.own(own)}")
                self._check_names("user", listed)
                seen = np.array(listed, dtype=np.int64 if WHOLE.fullmatch(self.type_of("user")) else object)
            self._names[own] = Names(np.unique(self.as_names(seen)))
        return self._names[own]

    def as_names(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return users as they are named in memory: whole numbers, unless a file is read as text, or text."""
        if column.dtype.kind in "iu" and not self.settings.as_text:
            return column.astype(np.int64)
        return np.array([str(name) for name in column.tolist()], dtype=str)

    def _name(self, role: str) -> str:
        """Return the expression of a name; of attacks that of their type, empty where a trial is none."""
        if role != "attack":
            return f"trials.{self.column(role)}"
        label = f"CAST(trials.{self.column('label')} AS STRING)" if "label" in self.columns else "''"
        kind = f"CAST(trials.{self.column('attack')} AS STRING)" if role in self.columns else label
        if self.marked:
            listed = ", ".join(self.literal(str(each)) for each in self.marked)
            kind = f"CASE WHEN {label} IN ({listed}) THEN coalesce(nullif({kind}, ''), {label}) END"
        return f"coalesce({kind}, '')"

    def numbering(self, roles: Sequence[str], distinct: str = "") -> str:
        """Return the query that numbers the combinations of names, those of a query that has them ``distinct``."""
        listed = ", ".join(f"{self._name(role)} AS priori_{role}" for role in roles)
        ours = ", ".join(f"priori_{role}" for role in roles)
        distinct = distinct or f"SELECT DISTINCT {listed} FROM trials"
        return f"SELECT *, row_number() OVER (ORDER BY {ours}) - 1 AS priori_code FROM ({distinct})"

    @cached_property
    def _combined(self) -> dict[tuple[str, ...], dict[str, NDArray[Any]]]:
        return {}

    def owned(self, by: By, limit: int | None) -> Owned:
        """Return who trials are counted by; more combinations of names than the limit raise `TooMany`."""
        if isinstance(by, int):
            return Owned(by, {"part": np.arange(by)})
        if not by:
            return Owned()
        if by not in self._combined:
            most = "" if limit is None else f" LIMIT {limit + 1}"
            found = self.table(f"SELECT * FROM ({self.coded(by)}) ORDER BY priori_code{most}")
            if limit is not None and found["priori_code"].size > limit:
                raise TooMany
            self._combined[by] = {role: found[f"priori_{role}"] for role in by}
            for role in {*by} - {"attack"}:
                self._check_names(role, found[f"priori_{role}"].tolist())
        names = self._combined[by]
        number = names[by[0]].size
        if limit is not None and number > limit:
            raise TooMany
        return Owned(number, names)

    def _owners(self, by: By) -> Owners | None:
        """Say how those that trials are counted by become codes: names in a join, random parts by a hash."""
        if isinstance(by, int):
            return self.part_of(by)
        if not by:
            return None
        if len(by) == 1 and by[0] != "attack" and WHOLE.fullmatch(self.type_of(by[0])):  # numpy finds them faster
            whole = self.owned(by, None).names[by[0]].astype(np.int64)
            return Owners(f"CAST({self.column(by[0])} AS BIGINT)", "trials", whole=whole)
        same = " AND ".join(f"{self._name(role)} = priori_{role}" for role in by)
        return Owners("CAST(priori_code AS BIGINT)", f"trials JOIN ({self.coded(by)}) ON {same}")

    def handed(self, systems: tuple[int, ...], by: By) -> tuple[str, Handed]:
        """Return the query for the rows of systems, and what becomes of its columns."""
        owners = self._owners(by)
        columns = [self.labels.expression, *([] if owners is None else [owners.expression])]
        if self.wide:
            columns += map(self.score, systems)
        else:
            codes = " ".join(f"WHEN {self.literal(self.systems[system])} THEN {system}" for system in systems)
            columns += [self.score(systems[0]), f"CAST(CASE {self._whose} {codes} ELSE -1 END AS INT)"]
        listed = ", ".join(f"{column} AS c{number}" for number, column in enumerate(columns))
        text = f"SELECT {listed} FROM {'trials' if owners is None else owners.source}"
        return text, Handed(systems, self.labels, owners, self.settings.nan, self.wide)
