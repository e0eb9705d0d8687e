"""The small protocol that every back end serves: counts in cells, scores of cells, counts between fixed cuts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import is_missing, match_columns
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.types import Counts, Floats, Progress
from priori.engines.cells import Distinct, Histogram
from priori.engines.grid import Grid
from priori.scores import NAN_POLICIES, Names, NanPolicy, Scores
from priori.scores.labels import attack_values, attackers, is_missing_label, missing_labels, normal, positive_value

#: Scores looked at to lay out the cells.
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
    """What one look at a few scores tells, to lay out cells by: no answer depends on it, only the time it takes.

    ``limits`` are the smallest and the largest finite score where they cost nothing to know.
    """

    rows: int
    sample: NDArray[Any]
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Tally:
    """How many trials of one class there are with each combination of user and gaps; only those that occur.

    ``gap[s]`` is the gap between the cuts of system s: the number of cuts below the score. ``user`` are codes into
    the engine's `users`, or None where users were not asked for.
    """

    gap: Counts
    user: Counts | None
    number: Counts


def changed(source: str) -> InputError:
    """Return the error for scores that are not the same in two scans."""
    return InputError(f"{source}: the scores changed while they were read; try again when they are complete")


class TooMany(Exception):
    """More distinct scores than were asked for: the caller asks differently."""


class Engine(ABC):
    """Scores that live somewhere, and the few questions that are asked there.

    Each question costs one scan. NaN, labels and the direction of the scores are settled by the engine, as
    `priori.Scores` settles them.
    """

    source: str
    settings: TableSettings
    #: Our columns that the table has, and its names for them.
    columns: Mapping[str, str] = {}
    #: Labels that mark attacks, known once the labels have been looked at.
    marked: Sequence[Any] = ()
    backend: str | None = None
    format: str | None = None
    has_users: bool = False
    progress: Progress | None = None
    #: What engines share whose trials are the same rows of one table.
    shared: object | None = None
    #: Whether it shares no connection with another engine, so that both can be asked at once.
    alone: bool = False
    #: The most segments a grid may have.
    segments: int = 1 << 12
    #: The least share of a class that may lie between two of many cuts.
    finest: float = 1e-5

    def _match_columns(self, present: Sequence[str], settings: TableSettings, source: str) -> None:
        """Find our columns in a table; what is in it is told by them."""
        self.source, self.settings = source, settings
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

    @abstractmethod
    def survey(self) -> Survey:
        """Look at a few scores."""

    @abstractmethod
    def histogram(self, grid: Grid) -> Histogram:
        """Count the scores of each class in each cell."""

    @abstractmethod
    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        """Return the distinct scores in the cells to keep; more of them than the limit raise `TooMany`."""

    def users(self) -> Names:
        """Return the users (claimed identities) that occur, in order."""
        return self._names

    @property
    @abstractmethod
    def _names(self) -> Names: ...

    @abstractmethod
    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        """Count the negatives and the positives between cuts, by user when asked."""

    def tally_parts(self, cuts: Floats, parts: int) -> tuple[Tally, Tally]:
        """Count the negatives and the positives between cuts, by so many random parts of the trials (as users).

        A trial is in the same part whichever system scored it: its id tells, or its row where systems are beside.
        """
        raise self._cannot_pair()

    def tally_paired(
        self, others: Sequence[Engine], cuts: Sequence[Floats], limit: int, *, by_user: bool = False
    ) -> tuple[Tally, Tally]:
        """Count the trials between the cuts of this system and of others, paired by a join on the trial id.

        The users are this system's. More combinations than the limit raise `TooMany`.
        """
        raise self._cannot_pair()

    def load_paired(
        self, others: Sequence[Engine], cuts: Sequence[Floats], roles: Sequence[str], limit: int
    ) -> list[Scores]:
        """Return sets that hold, entry by entry, as many trials between the cuts of this system and of others.

        Trials are paired as in `tally_paired`, and told apart by the names in the columns ``roles``; more entries than
        the limit raise `TooMany`.
        """
        raise self._cannot_pair()

    def same_trials(self, other: Engine) -> bool:
        """Raise an error unless two systems have the same trials; return whether their users are the same too."""
        raise self._cannot_pair()

    def _cannot_pair(self) -> InputError:
        return InputError(f"{self.source}: this engine cannot pair trials; use the duckdb or the spark engine")

    def beside(self, other: Engine) -> bool:
        """Tell whether the trials of both are the same rows of one table: they need no ids to be paired."""
        return self.shared is not None and self.shared is other.shared

    @abstractmethod
    def load(self) -> Scores:
        """Return all the trials in memory."""

    @abstractmethod
    def load_between(self, cuts: Floats, roles: Sequence[str], limit: int) -> Scores:
        """Return a set that holds, between the cuts, as many trials of each class with each combination of names.

        ``roles`` are the columns of names to tell apart. An entry has the mean score of its trials; more entries than
        the limit raise `TooMany`.
        """

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give back what the engine holds: connections, temporary files."""
