"""The first lines of a file, from which its format is told, and what the caller said about it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

from priori.base.dataframes import match_columns, name_list
from priori.base.errors import InputError
from priori.readers import text
from priori.readers.input_file import Source
from priori.readers.layout import Columns, LineLayout
from priori.readers.text import is_number, split_blanks

#: How many lines are looked at.
LINES = 1000


@dataclass(frozen=True)
class Sample:
    """What a format sees of a file before it reads it.

    The caller may have given the file's names for our ``columns``, the label of the positive class (``pos_label``),
    and the file that says which ``trials`` are positive; ``more`` are further columns that a table must have.
    """

    source: Source
    columns: Mapping[str, str] = field(default_factory=dict)
    pos_label: Any = None
    trials: Sample | None = None
    more: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """The first lines with their numbers, without comments and blank lines."""
        rows = (row for row in self.source.lines() if (line := row[1].lstrip(" \t")) and not line.startswith("#"))
        lines = list(islice(rows, LINES))
        if not lines:
            raise InputError(f"{self.source.name}: no rows, only comments and blank lines; nothing to read")
        return lines

    @cached_property
    def rows(self) -> list[list[str]]:
        """The lines split at blanks."""
        return [split_blanks(line) for _, line in self.lines]

    @property
    def width(self) -> int:
        """The number of fields between blanks in the first line."""
        return len(self.rows[0])

    def column(self, index: int) -> set[str]:
        """Return the distinct fields of one column, as far as the lines have it."""
        return {row[index] for row in self.rows if len(row) > index}

    def ends_with_number(self, width: int) -> bool:
        """Tell whether the first line has so many fields, the last a number."""
        return self.width == width and is_number(self.rows[0][-1])

    def first_two_differ(self) -> bool:
        """Tell whether no line begins with the same field twice, as bob's four columns do in positive trials."""
        return all(row[0] != row[1] for row in self.rows if len(row) > 1)

    def header(self, delimiter: str) -> list[str]:
        """Return the first line as names of columns."""
        line = self.lines[0][1]
        reader = csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            return [name.strip(" \t") for name in next(reader)]
        except csv.Error:
            return []

    def names_score(self, names: list[str]) -> bool:
        """Tell whether the score column is among these names."""
        return self.columns.get("score", "score").lower() in (name.lower() for name in names)

    def match_columns(self, present: Sequence[str]) -> dict[str, str]:
        """Return which of the columns of a table is which of ours."""
        name = self.source.name
        for title in self.more.values():
            if present.count(title) != 1:
                number, listed = present.count(title) or "no", name_list(present)
                raise InputError(f"{name}: {number} columns are called {title!r}; the columns are {listed}")
        return {**match_columns(present, self.columns, source=name), **self.more}

    def load(self, layout: LineLayout) -> Columns:
        """Read the columns of a text file: a small one line by line, a large one with duckdb."""
        table = None
        if not self.source.small:
            from priori.readers import duckdb_parser

            table = duckdb_parser.load(self.source, layout)
        table = replace(text.load(self.source, layout) if table is None else table, layout=layout)
        table.refuse_missing_labels(self.source.name, partial(text.place_of, self.source, layout))
        return table

    def has_number(self, row: int = 0) -> bool:
        """Tell whether some field between blanks is a number, so that the line is no header."""
        return any(map(is_number, self.rows[row]))
