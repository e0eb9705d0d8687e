"""Tables of trials in a database: their columns, labels and names, asked in SQL that duckdb and Spark both know.

Rows are handed over in batches of numbers, and numpy counts them, which takes no memory that grows with the table. Of
10^7 trials, a grouping in SQL takes duckdb 2 to 6 times as long to count in bins, 7 to 9 times to fetch the scores of
some, 2 to 5 times to count between 10 or 101 cuts; only one cut alone is as fast.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import match_columns
from priori.base.errors import InputError, OneClassError, OptionError, argument, unknown
from priori.base.types import Progress
from priori.engines.counting import By, Owned, Rows
from priori.readers.parquet import check_type
from priori.scores import NAN_POLICIES, Names, NanPolicy, nan_error
from priori.scores.labels import attackers, classes_of, is_missing_label, missing_labels

#: Scores looked at to lay out the bins of the first count.
SAMPLE = 1 << 16
WHOLE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)")
#: Labels of these types are compared as they are, others as text.
_PLAIN = re.compile(r"BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE")


#: The columns of names that every trial must have, if there is one; ids are looked at when trials are paired by them.
NAMED = ("user", "probe_user", "dataset", "group")
#: Settings that nobody types.
OURS = ("as_text", "more", "systems", "system_in")


@dataclass(frozen=True)
class TableSettings:
    """How a table is read: as `Scores.from_frame` reads a frame, or, with ``as_text``, as `priori.read` a file.

    ``more`` are further columns that it must have, by names of ours. ``systems`` are what each of several is called in
    messages, and its column of scores; or, where the column ``system_in`` says whose a row is, its name there.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    pos_label: Any = None
    nan: NanPolicy = "error"
    lower_is_better: bool = False
    as_text: bool = False
    attack_label: Any = None
    more: Mapping[str, str] = field(default_factory=dict)
    systems: Sequence[tuple[str, str]] = ()
    system_in: str | None = None

    def __post_init__(self) -> None:
        if self.nan not in NAN_POLICIES:
            raise unknown("NaN policy", self.nan, NAN_POLICIES)

    def options(self) -> dict[str, Any]:
        """Return what `priori.read` and `Scores.from_frame` call these settings."""
        return {name: value for name, value in vars(self).items() if name not in OURS}


class Known(NamedTuple):
    """What a first look shows of a system: its trials, NaN scores among the rejected, and the range of its scores."""

    negatives: int
    positives: int
    nan: int
    low: float
    high: float


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
    owners: Owners | None
    nan: NanPolicy
    wide: bool

    def rows(self, columns: Sequence[NDArray[Any]]) -> Rows:
        """Return the rows of a batch."""
        label, *rest = columns
        owner = None if self.owners is None else self.owners.codes(rest.pop(0))
        whose = None if self.wide else rest.pop()
        scores = dict(zip(self.systems, rest * (1 if self.wide else len(self.systems)), strict=True))
        return Rows(scores, label.astype(np.uint8), owner, self.nan, whose)


class Labels(NamedTuple):
    """What labels mean: an expression that is 1 for positive trials and else 0, and which labels are positive.

    With it come those that mark attacks, and all of negatives.
    """

    expression: str
    positive: Sequence[Any]
    attacks: Sequence[Any] = ()
    negative: Sequence[Any] = ()


class Looked(NamedTuple):
    """What a first look at all rows shows: how many there are, what their labels mean, and each system."""

    rows: int
    labels: Labels
    systems: Sequence[Known]


class SqlTable:
    """The trials of one system or more in a table with columns of scores and labels, and perhaps user and trial.

    NaN, labels and the direction of the scores are settled as `priori.Scores` settles them. ``types`` are the columns
    and their types, as duckdb calls them.
    """

    #: What each system is called in messages.
    sources: Sequence[str] = ("scores",)
    settings: TableSettings = TableSettings()
    #: Our columns that the panel has, and its names for them; "score" is the first system's.
    columns: Mapping[str, str] = {}
    backend: str | None = None
    format: str | None = None
    has_users: bool = False
    progress: Progress | None = None
    #: Whether every row has a score of every system.
    wide: bool = True

    def __init__(self, types: Mapping[str, str], settings: TableSettings, source: str) -> None:
        for role in ("time", "weight"):
            if role in settings.columns:
                raise OptionError(
                    f"{source}: the {role} of trials is known in memory only ({argument('engine', 'memory')})"
                )
        self.types, self.settings = types, settings
        self.columns = match_columns([*types], settings.columns, source=source)
        self.has_users = "user" in self.columns
        self.systems = [column for _, column in settings.systems] or [self.columns["score"]]
        self.sources = [name for name, _ in settings.systems] or [source]
        self.wide = settings.system_in is None
        self._whose = None if settings.system_in is None else f"CAST({self.quoted(settings.system_in)} AS STRING)"
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

    def batches(self, systems: tuple[int, ...], by: By) -> Generator[Rows, None, None]:
        """Yield every row once, with codes of who it is counted by when asked."""
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

    # -- a first look ------------------------------------------------------------------------------------

    def survey(self, system: int = 0) -> tuple[int, NDArray[Any]]:
        """Return how many rows there are, and some finite scores of a system, to lay out bins by."""
        score, known = self._sampled[f"score{system if self.wide else 0}"], self.known(system)
        score = score if self.wide else score[self._sampled["whose"] == self.systems[system]]
        scores = np.append(score, [known.low, known.high]).astype(self.dtype(system))
        return self.total, scores[np.isfinite(scores)]

    @cached_property
    def _sampled(self) -> dict[str, NDArray[Any]]:
        """The scores of all systems in some rows, and whose rows these are."""
        columns = [f"{self.score(system)} AS score{system}" for system in range(len(self.systems) if self.wide else 1)]
        columns += [] if self._whose is None else [f"{self._whose} AS whose"]
        return self.table(f"SELECT {', '.join(columns)} FROM (SELECT * FROM trials LIMIT {SAMPLE})")

    def known(self, system: int) -> Known:
        """Return what a first look shows of a system; an error says what it lacks."""
        found = self._looked.systems[system]
        if found.nan and self.settings.nan == "error":
            raise nan_error(self.sources[system], found.nan)
        for name, number in (("negative", found.negatives), ("positive", found.positives)):
            if not number:
                raise OneClassError(
                    f"{self.sources[system]}: no {name} trial; both classes are needed "
                    "(check the labels, or say which is positive)"
                )
        return found

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self._looked.rows

    @cached_property
    def _looked(self) -> Looked:
        """Look at all rows, once: what the labels mean, and what is there of each system."""
        label, roles = self._label(), [role for role in NAMED if role in self.columns]
        scores = [self.score(system) for system in (range(len(self.systems)) if self.wide else [0])]
        told = self._grouped(label, scores, roles)
        # NaN is the greatest of all to a database. To leave it out costs as much as the look itself.
        if any(row[5 + 3 * number] != row[5 + 3 * number] for row in told for number in range(len(scores))):
            present = [f"CASE WHEN {self.present(score)} THEN {score} END" for score in scores]
            told = self._grouped(label, present, roles)
        for number, role in enumerate(reversed(roles), 1):
            missing, with_nul = (sum(row[column] for row in told) for column in (-2 * number, 1 - 2 * number))
            self.refuse_names(role, missing, with_nul)
        labels = self._settled(label, [(row[0], row[2]) for row in told])
        systems = []
        for number, called in enumerate(self.systems):
            first, counted, scored = (3 + 3 * number if self.wide else 3), [0, 0], [0, 0]
            ends: list[float] = []
            for row in told:
                if self.wide or row[1] == called:
                    own = row[0] in labels.positive
                    counted[own] += row[2]
                    scored[own] += row[first]
                    ends += [end for end in row[first + 1 : first + 3] if end is not None]
            sizes = scored if self.settings.nan == "drop" else counted
            low, high = min(ends, default=np.nan), max(ends, default=np.nan)
            systems.append(Known(sizes[0], sizes[1], sum(counted) - sum(scored), low, high))
        return Looked(sum(row[2] for row in told), labels, systems)

    def _grouped(self, label: str, scores: Sequence[str], roles: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return each label, whose its rows are, how many; number and range of each score; odd names in each role."""
        asked = [label, self._whose or "''", "count(*)"]
        for score in scores:
            asked += [f"count({score})", f"min({score})", f"max({score})"]
        for role in roles:
            asked += self._odd_names(role)
        with self.guarded():
            return self.rows(f"SELECT {', '.join(asked)} FROM trials GROUP BY ALL")

    # -- labels ------------------------------------------------------------------------------------------

    def _label(self) -> str:
        """Return the expression of a label; without a column, of whether a trial is of the person it claims to be."""
        if "label" not in self.columns:
            same = f"CAST({self.column('user')} AS STRING) = CAST({self.column('probe_user')} AS STRING)"
            return f"CAST({same} AS TINYINT)"
        column = self.column("label")
        return column if _PLAIN.fullmatch(self.type_of("label")) else f"CAST({column} AS STRING)"

    def _settled(self, label: str, counted: Sequence[tuple[Any, int]]) -> Labels:
        """Return what so many labels mean; an error if they are not of two classes."""
        missing = [value for value, _ in counted if is_missing_label(value)]
        if missing:
            number = sum(number for value, number in counted if is_missing_label(value))
            raise missing_labels(self.source, number, missing)
        if "label" not in self.columns:
            return Labels(label, [1])
        labels = sorted({value for value, _ in counted})
        held = np.array(labels)
        positive, attack = classes_of(held, self.settings.pos_label, self.settings.attack_label, where=self.source)
        matching = [value for value, own in zip(labels, positive, strict=True) if own]
        listed = [str(value) if isinstance(value, (bool, int, float)) else self.literal(value) for value in matching]
        return Labels(
            f"CAST({label} IN ({', '.join(listed)}) AS TINYINT)",
            matching,
            [] if attack is None else [value for value, own in zip(labels, attack, strict=True) if own],
            [value for value, own in zip(labels, positive, strict=True) if not own],
        )

    def refuse_names(self, role: str, missing: int, with_nul: int) -> None:
        """Raise an error where names of a role are missing, or hold a NUL, which arrays of text cannot hold."""
        column = f"{self.source}: column {self.columns[role]!r}"
        if missing:
            raise InputError(f"{column}: {missing} values are missing; fill them in")
        if with_nul:
            raise InputError(f"{column} holds a NUL character; remove it")

    def _odd_names(self, role: str) -> tuple[str, str]:
        """Return how many names are missing, and hold a NUL, which arrays of text cannot hold."""
        name = self.column(role)
        if WHOLE.fullmatch(self.type_of(role)):
            return f"count(*) - count({name})", "0"
        text = f"CAST({name} AS STRING)"
        held = f"nullif({text}, '')" if self.settings.as_text else name
        return f"count(*) - count({held})", f"count(CASE WHEN contains({text}, chr(0)) THEN 1 END)"

    @property
    def labels(self) -> Labels:
        """What the labels mean."""
        return self._looked.labels

    @property
    def words(self) -> list[Any]:
        """What the panel calls its negatives and its column of users."""
        return [*self.labels.negative, self.columns.get("user")]

    def tells(self, role: str) -> bool:
        """Return whether trials have something: in a column, or attacks by their labels."""
        return role in self.columns or (role == "attack" and bool(self.labels.attacks))

    def refuse_attackers(self) -> None:
        """Raise an error where only real identities mark attacks, which needs the trials in memory."""
        if not self.settings.as_text or "label" in self.columns or "attack" in self.columns:
            return
        found = attackers(self._distinct(self.column("probe_user"), "trials"), self.settings.attack_label)
        if found:
            raise OptionError(
                f"{self.source}: attacks marked by the real identity ({str(found[0])!r}) are known in memory only "
                f"({argument('engine', 'memory')}); else add a column of attack types "
                f"({argument('columns', 'attack=COLUMN')})"
            )

    # -- names -------------------------------------------------------------------------------------------

    def _distinct(self, column: str, source: str) -> list[Any]:
        return [value for (value,) in self.rows(f"SELECT DISTINCT {column} FROM {source}")]

    @cached_property
    def _names(self) -> dict[int, Names]:
        return {}

    def names(self, system: int = 0) -> Names:
        """Return the users (claimed identities) that occur, in order; they are looked at once."""
        self.known(system)
        own = system if self.settings.nan == "drop" or not self.wide else 0
        if own not in self._names:
            owned = self.owned(("user",)) if self.wide and self.settings.nan != "drop" else None
            if owned is not None:
                seen = owned.names["user"]
            else:
                listed = self._distinct(self.column("user"), f"trials WHERE {self.own(own)}")
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
        if self.labels.attacks:
            listed = ", ".join(self.literal(str(each)) for each in self.labels.attacks)
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

    def owned(self, by: By, limit: int | None = None) -> Owned | None:
        """Return who trials are counted by; None if there are more combinations of names than the limit."""
        if isinstance(by, int):
            return Owned(by, {"part": np.arange(by)})
        if not by:
            return Owned()
        if by not in self._combined:
            most = "" if limit is None else f" LIMIT {limit + 1}"
            found = self.table(f"SELECT * FROM ({self.coded(by)}) ORDER BY priori_code{most}")
            if limit is not None and found["priori_code"].size > limit:
                return None
            self._combined[by] = {role: found[f"priori_{role}"] for role in by}
        names = self._combined[by]
        number = names[by[0]].size
        return Owned(number, names) if limit is None or number <= limit else None

    def _owners(self, by: By) -> Owners | None:
        """Say how those that trials are counted by become codes: names in a join, random parts by a hash."""
        if isinstance(by, int):
            return self.part_of(by)
        if not by:
            return None
        if len(by) == 1 and by[0] != "attack" and WHOLE.fullmatch(self.type_of(by[0])):  # numpy finds them faster
            owned = self.owned(by)
            assert owned is not None
            whole = owned.names[by[0]].astype(np.int64)
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
        return text, Handed(systems, owners, self.settings.nan, self.wide)
