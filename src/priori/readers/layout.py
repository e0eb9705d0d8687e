"""What lies between a format and the parsers: a layout says which field is what, a table holds the columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Codes, Floats
from priori.scores.labels import is_missing_label, missing_labels
from priori.scores.trials import Names

#: The delimiter that stands for any run of spaces and tabs.
BLANKS = " "

#: The delimiter that stands for JSON lines: each line is an object, its keys the names of the columns.
JSON = "{"

#: What no name may hold, so that it can be shown on one line and between tabs.
CONTROL = re.compile(r"[\x00\t\n\r]")

#: The columns read as names, and the list of names each belongs to; claimed and real users share one.
NAME_GROUP = {"label": "label", "user": "user", "probe_user": "user", "dataset": "dataset", "test": "test"}


@dataclass(frozen=True)
class LineLayout:
    """Where the columns are in a text file."""

    #: ``","``, ``";"``, a tab, `BLANKS` for any run of spaces and tabs, or `JSON` for an object in each line.
    delimiter: str
    #: What each field of a line is called; their number is the number every line must have.
    fields: tuple[str, ...]
    #: Our column (score, label, user, probe_user, dataset, test; score1, ... and extra0, ... of a table of many
    #: systems) to the index of its field.
    columns: Mapping[str, int]
    #: The fields that make up the trial id, joined by a space; empty: there is none.
    trial: tuple[int, ...] = ()
    #: Whether we made the id from other columns; if it then repeats it is no id, and is left out.
    trial_is_built: bool = False
    #: Lines before the first row: the header and what stands above it.
    skip: int = 0
    #: Whether a field may stand between quotes.
    quoted: bool = False
    #: What stands between whole and part in a number: a point, or a comma.
    decimal: str = "."

    @property
    def as_duckdb_reads(self) -> bool:
        """Whether duckdb can read such lines; others are rewritten by the text parser."""
        return self.delimiter != JSON and self.decimal == "."

    @property
    def names(self) -> dict[str, int]:
        """The columns that are read as names."""
        return {column: index for column, index in self.columns.items() if not column.startswith("score")}

    @property
    def scores(self) -> dict[str, int]:
        """The columns that are read as numbers."""
        return {column: index for column, index in self.columns.items() if column.startswith("score")}

    @property
    def groups(self) -> dict[str, list[str]]:
        """The columns that share a list of names, by the name of that list."""
        groups: dict[str, list[str]] = {}
        for column in self.names:
            groups.setdefault(NAME_GROUP.get(column, column), []).append(column)
        return groups


@dataclass(frozen=True)
class Columns:
    """The columns of a file: scores as numbers, names as codes.

    Without a label column, a trial is positive when user and probe_user are the same. ``scores`` has one array, or
    none in a file of trials, or one for each system where a table has a column for each.
    """

    scores: Mapping[str, Floats]
    codes: Mapping[str, Codes]
    names: Mapping[str, Names]
    trial: NDArray[Any] | None = None
    layout: LineLayout | None = field(default=None, repr=False)
    #: Whether we made the ids from other columns.
    built_trial: bool = False

    @property
    def score(self) -> Floats:
        """The scores of a file of one system."""
        return self.scores["score"]

    def __len__(self) -> int:
        return len(next(iter(self.scores.values())) if self.scores else next(iter(self.codes.values())))

    def refuse_missing_labels(self, source: str, place: Callable[[int], str]) -> None:
        """Raise an error where labels are missing; ``place`` says where a row is, counted from 0."""
        if "label" not in self.codes:
            return
        values = self.names["label"].values.tolist()
        missing = [code for code, value in enumerate(values) if is_missing_label(value)]
        if missing:
            rows = np.flatnonzero(np.isin(self.codes["label"], missing))
            raise missing_labels(source, rows.size, [values[code] for code in missing], place(int(rows[0])))
