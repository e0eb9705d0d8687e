"""Panels: trials x systems that stay where they are, and the few questions that are asked there."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import is_missing, match_columns
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.types import Floats, Ints, Mask, Progress
from priori.scores import NAN_POLICIES, Names, NanPolicy, Scores, Trials
from priori.scores.attacks import attack_codes
from priori.scores.grid import Grid
from priori.scores.labels import attack_values, attackers, is_missing_label, missing_labels, normal, positive_value

#: Scores looked at to lay out the bins of the first count.
SAMPLE = 1 << 16


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
class Survey:
    """What one look at a few scores of a system tells, to lay out bins by: only the time that it takes depends on it.

    ``limits`` are the smallest and the largest finite score where they cost nothing to know.
    """

    rows: int
    sample: NDArray[Any]
    limits: tuple[float, float] | None = None


#: What tells trials apart: the names in some roles, or so many random parts.
By: TypeAlias = tuple[str, ...] | int


@dataclass(frozen=True, eq=False)
class Count:
    """A request: how many trials of each class lie in each bin, for several systems in each combination of bins.

    ``bins`` are a grid, or ascending cuts, for each of the ``systems``. More than ``limit`` entries raise `TooMany`.
    ``means`` asks for the mean scores of the entries too; infinite scores must have bins of their own then.
    ``failures`` asks for trials that failed to acquire in entries of their own.
    """

    panel: Panel
    systems: tuple[int, ...]
    bins: tuple[Grid | Floats, ...]
    by: By = ()
    limit: int | None = None
    means: bool = False
    failures: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of bins of each system."""
        return tuple(bins.size if isinstance(bins, Grid) else bins.size + 1 for bins in self.bins)


@dataclass(frozen=True, eq=False)
class Counts:
    """How many trials there are (``number``) of each class, with each combination of bins and names that occurs.

    ``bins`` has a row for each system. ``names`` has the name of each entry in each role, or the ``part`` by number;
    ``score`` the mean of each entry, if that was asked for; ``failed`` which entries failed to acquire, if that is
    told. ``limits`` are the smallest and the largest finite score of the first system.
    """

    positive: Mask
    bins: Ints
    names: Mapping[str, NDArray[Any]]
    number: Ints
    score: Floats | None = None
    failed: Mask | None = None
    limits: tuple[float, float] = (np.inf, -np.inf)


@dataclass(frozen=True, eq=False)
class Fetch:
    """A request: the distinct scores of a system in the bins to ``keep``; more than ``limit`` raise `TooMany`."""

    panel: Panel
    system: int
    grid: Grid
    keep: Mask
    limit: int | None
    by: ClassVar[By] = ()

    @property
    def systems(self) -> tuple[int, ...]:
        """The system, as one of several."""
        return (self.system,)


class JoinedRows(NamedTuple):
    """How many pairs of trials with one id there are; how many of them have other labels, other users, a missing user.

    Users are not compared where a system has none.
    """

    rows: int
    labels: int
    users: int = 0
    missing: int = 0


def changed(source: str) -> InputError:
    """Return the error for scores that are not the same in two scans."""
    return InputError(f"{source}: the scores changed while they were read; try again when they are complete")


class TooMany(Exception):
    """More distinct scores, or entries, than were asked for: the caller asks differently."""


class Panel(ABC):
    """The trials of one system or more that live somewhere; each scan answers what is asked at the same time.

    NaN, labels and the direction of the scores are settled by the panel, as `priori.Scores` settles them.
    """

    #: What each system is called in messages; there is a score of each for every trial, or some have other rows.
    sources: Sequence[str] = ("scores",)
    settings: TableSettings = TableSettings()
    #: Our columns that the panel has, and its names for them; "score" is the first system's.
    columns: Mapping[str, str] = {}
    #: Labels that mark attacks, known once the labels have been looked at.
    marked: Sequence[Any] = ()
    backend: str | None = None
    format: str | None = None
    has_users: bool = False
    progress: Progress | None = None
    #: Bytes that counts may take, and that scores and labels may take that are kept after the first scan.
    memory: int = 1 << 30
    retain: int = 0
    #: Whether every row has a score of every system.
    wide: bool = True
    #: The most segments a grid may have.
    segments: int = 1 << 12
    #: The least share of a class that may lie between two of many cuts.
    finest: float = 1e-5
    _explorers: weakref.WeakSet[Any] | None = None

    @property
    def source(self) -> str:
        """What the panel is called in messages."""
        return self.sources[0]

    @property
    def explorers(self) -> weakref.WeakSet[Any]:
        """What is known of the systems so far: the first count is made for all of them in one scan."""
        if self._explorers is None:
            self._explorers = weakref.WeakSet()
        return self._explorers

    def _match_columns(self, present: Sequence[str], settings: TableSettings, source: str) -> None:
        """Find our columns in a table; what is in it is told by them."""
        self.sources, self.settings = (source,), settings
        for role in ("time", "weight"):
            if role in settings.columns:
                raise OptionError(
                    f"{source}: the {role} of trials is known in memory only ({argument('engine', 'memory')})"
                )
        self.columns = match_columns(present, settings.columns, source=source)
        self.has_users = "user" in self.columns

    def _check_names(self, role: str, names: Iterable[Any]) -> None:
        """Refuse names that no trial can have: none at all, or one with a NUL, which arrays of text cannot hold."""
        for name in set(names):
            if is_missing(name) or (name == "" and self.settings.as_text):
                raise self._missing_names(role)
            if isinstance(name, str) and "\0" in name:
                raise self._nul_in_names(role)

    def _missing_names(self, role: str, number: int | str = "some") -> InputError:
        return InputError(f"{self.source}: column {self.columns[role]!r}: {number} values are missing; fill them in")

    def _nul_in_names(self, role: str) -> InputError:
        return InputError(f"{self.source}: column {self.columns[role]!r} holds a NUL character; remove it")

    def _positive_labels(self, counted: Mapping[Any, int]) -> list[Any]:
        """Return those of the labels, which come so often each, that mean the positive class."""
        missing = [label for label in counted if is_missing_label(label)]
        if missing:
            raise missing_labels(self.source, sum(counted[label] for label in missing), missing)
        labels = sorted(counted)
        attacks = attack_values(labels, self.settings.attack_label, where=self.source)
        positive = normal(positive_value(labels, self.settings.pos_label, where=self.source, attacks=attacks))
        words = {normal(attack) for attack in attacks} - {positive}
        self.marked = [label for label in labels if normal(label) in words]
        return [label for label in labels if normal(label) == positive]

    def tells(self, role: str) -> bool:
        """Tell whether something is known of trials: by a column, or of attacks by their labels."""
        if role == "attack" and "label" in self.columns:
            self.look_at_labels()
        return role in self.columns or (role == "attack" and bool(self.marked))

    def look_at_labels(self) -> None:  # noqa: B027 - an engine may know nothing of attacks
        """Look at the labels, if that was not done: `marked` is known then."""

    def refuse_attackers(self) -> None:
        """Raise an error where files tell attacks by who was really there, which is known in memory only."""
        if not self.settings.as_text or "label" in self.columns or "attack" in self.columns:
            return
        found = attackers(self._probes(), self.settings.attack_label)
        if found:
            raise OptionError(
                f"{self.source}: attacks that the real identity tells ({str(found[0])!r}) are known in memory only "
                f"({argument('engine', 'memory')}); else add a column of attack types "
                f"({argument('columns', 'attack=COLUMN')})"
            )

    def _probes(self) -> list[Any]:
        """Return the identities, without order, that were really there."""
        return []

    # -- what is asked ------------------------------------------------------------------------------------

    @abstractmethod
    def survey(self, system: int = 0) -> Survey:
        """Look at a few scores of a system."""

    @abstractmethod
    def answer(self, requests: Sequence[Count | Fetch]) -> list[Any]:
        """Return `Counts`, or `Distinct` scores, for each request, or the error; as few scans as memory allows."""

    @abstractmethod
    def nan(self, system: int = 0) -> int:
        """Return how many scores of a system are NaN; the first count tells."""

    def names(self, system: int = 0) -> Names:
        """Return the users (claimed identities) that occur, in order; they are looked at once."""
        own = system if self.settings.nan == "drop" or not self.wide else 0
        known: dict[int, Names] = self.__dict__.setdefault("_names", {})
        if own not in known:
            known[own] = self.look_at_names(own)
        return known[own]

    @abstractmethod
    def look_at_names(self, system: int) -> Names:
        """Return the same by a scan."""

    @abstractmethod
    def load(self, system: int = 0) -> Scores:
        """Return all the trials of a system in memory."""

    # -- pairs -------------------------------------------------------------------------------------------

    def joined(self, system: int, others: Sequence[tuple[Panel, int]]) -> tuple[Panel, tuple[int, ...]]:
        """Return a panel that has these systems for every trial, and their numbers in it.

        This itself, where they are columns of it; else trials are paired by a join on their ids.
        """
        if not others:
            return self, (system,)
        if self.wide and all(panel is self for panel, _ in others):
            for panel, number in others:
                self.same_trials(system, panel, number)
            return self, (system, *(number for _, number in others))
        joins = self.__dict__.setdefault("_joins", {})
        key = system, *((id(panel), number) for panel, number in others)
        if key not in joins:
            sizes = [panel.size(number) for panel, number in ((self, system), *others)]
            joined, told = self._join([(self, system), *others])
            for panel, number in others if len(others) > 1 and told[0].rows != sizes[0] else ():
                self.same_trials(system, panel, number)  # which of them has other trials
            for (panel, number), own in zip(others, told, strict=True):
                self._check_pair(system, panel, number, own)
            joins[key] = joined, others  # which are kept with it, and so are their numbers
        return joins[key][0], tuple(range(1 + len(others)))

    def same_trials(self, system: int, other: Panel, number: int) -> bool:
        """Raise an error unless two systems have the same trials; return whether their users are the same too."""
        if self.wide and other is self:
            for own in (system, number):
                if left_out := self.left_out(own):
                    raise InputError(
                        f"cannot pair the trials: {left_out} of {self.sources[own]} are NaN and left out; reject them "
                        f"instead ({argument('nan', 'reject')})"
                    )
            return self.has_users
        known = self.__dict__.setdefault("_paired", {})
        key = system, id(other), number
        if key not in known:
            self.size(system), other.size(number)  # ids are looked at before anything is joined by them
            told = self._compare((self, system), (other, number))
            known[key] = self._check_pair(system, other, number, told), other
        return bool(known[key][0])

    def _check_pair(self, system: int, other: Panel, number: int, told: JoinedRows) -> bool:
        sizes = self.size(system), other.size(number)
        one, two, retry = self.sources[system], other.sources[number], f"({argument('unpaired', 'True')})"
        if not told.rows == sizes[0] == sizes[1]:
            raise InputError(
                f"cannot pair the trials: {one} has {sizes[0]}, {two} has {sizes[1]}, and {told.rows} ids are in both; "
                f"for test sets that do not hold the same trials, compare them unpaired {retry}"
            )
        if told.labels:
            raise InputError(f"cannot pair the trials: {told.labels} have different labels in {one} and {two}")
        if told.users:
            raise InputError(
                f"cannot pair the trials: {told.users} have different users in {one} and {two}; check the user "
                "columns, or compare unpaired (--unpaired, unpaired=True)"
            )
        return self.has_users and other.has_users and not told.missing

    def size(self, system: int) -> int:
        """Return how many trials a system has; an error where an id names none of them, or two."""
        if "trial" not in self.columns:
            raise InputError(
                f"cannot pair the trials: {self.sources[system]} has no trial ids, and the rows of a table have no "
                f"order; give a trial column ({argument('columns', 'trial=NAME')}), or compare unpaired "
                f"({argument('unpaired', 'True')})"
            )
        known = self.__dict__.setdefault("_sizes", {})
        if system not in known:
            known[system], odd = self._look_at_ids(system)
            if odd is not None:
                del known[system]
                raise InputError(
                    f"cannot pair the trials: {self.sources[system]} has the trial id {str(odd[0])!r} {odd[1]} times; "
                    "an id must name one trial"
                )
        return int(known[system])

    def _look_at_ids(self, system: int) -> tuple[int, tuple[Any, int] | None]:
        """Return how many trials a system has, and an id that names none of them, or two, and how often it comes."""
        raise self._cannot_pair()

    def _compare(self, one: tuple[Panel, int], two: tuple[Panel, int]) -> JoinedRows:
        """Compare the trials of two systems that have the same ids."""
        raise self._cannot_pair()

    def _join(self, paired: Sequence[tuple[Panel, int]]) -> tuple[Panel, list[JoinedRows]]:
        """Return a panel of systems, joined by their ids, with the names of the first; each of the others compared."""
        raise self._cannot_pair()

    def left_out(self, system: int) -> int:
        """Return how many trials NaN leaves out."""
        return self.nan(system) if self.settings.nan == "drop" else 0

    def _cannot_pair(self) -> InputError:
        return InputError(f"{self.source}: this engine cannot pair trials; use the duckdb or the spark engine")

    def _elsewhere(self, other: Panel) -> InputError:
        """Return the error for a panel that is elsewhere."""
        return InputError(
            f"cannot pair the trials of {self.source} and {other.source}: both must come from the same engine"
        )

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back what the panel holds: connections, temporary files."""

    # -- what came of it, as scores ------------------------------------------------------------------------

    def as_names(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return users as they are named in memory: whole numbers, unless a file is read as text, or text."""
        if column.dtype.kind in "iu" and not self.settings.as_text:
            return column.astype(np.int64)
        return np.array([str(name) for name in column.tolist()], dtype=str)

    def scores_of(
        self,
        system: int,
        score: Floats,
        positive: Mask,
        names: Mapping[str, NDArray[Any]],
        number: Ints | None = None,
        failed: Mask | None = None,
    ) -> Scores:
        """Return the trials of a system, or the entries that stand for so many, with their names in each role."""
        people = (self.as_names(names[role]) if role in names else None for role in ("user", "probe_user"))
        users, (user, probe) = Names.encode(*people)
        if "part" in names:
            user = names["part"].astype(np.int32)
        datasets, (dataset,) = Names.encode(names["dataset"].astype(str) if "dataset" in names else None)
        groups, (group,) = Names.encode(names["group"].astype(str) if "group" in names else None)
        types, attack = None, None
        if "attack" in names:
            held = names["attack"].astype(str)
            types, attack = attack_codes(held, held != "" if self.marked else None, held, positive)
        ids = names["trial"].astype(str) if "trial" in names else None
        trials = Trials(score, user, probe, ids, dataset, group=group, failed=failed, number=number, attack=attack)
        return Scores.from_columns(
            trials,
            positive,
            users=users,
            datasets=datasets,
            groups=groups,
            attack_types=types,
            attack_label=self.settings.attack_label,
            source=self.sources[system],
        )

    def counted(self, request: Count, counts: Counts) -> list[Scores]:
        """Return counts as sets of entries, one for each system, in one order: by names, then by bins.

        An entry has the mean score, if that was asked for, else the cut above its bin: counts at the cuts are exact.
        """
        named = {role: self.as_names(column) if "user" in role else column for role, column in counts.names.items()}
        order = np.lexsort([*counts.bins[::-1], counts.positive, *map(_sortable, reversed(named.values()))])
        names = {role: column[order] for role, column in named.items()}
        failed = None if counts.failed is None else counts.failed[order]
        sets = []
        for system, cuts, bins in zip(request.systems, request.bins, counts.bins, strict=True):
            assert not isinstance(cuts, Grid)
            score = np.append(cuts, np.inf)[bins[order]] if counts.score is None else counts.score[order]
            sets.append(self.scores_of(system, score, counts.positive[order], names, counts.number[order], failed))
        return sets


def _sortable(column: NDArray[Any]) -> NDArray[Any]:
    return column.astype(str) if column.dtype.kind == "O" else column
