"""The first lines of a file, from which its format is told, and what the caller said about it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from priori.base.errors import InputError
from priori.readers.layout import Columns, Layout
from priori.readers.source import Source
from priori.readers.text import is_number, split_blanks

#: How many lines are looked at.
LINES = 1000


@dataclass(frozen=True)
class Sample:
    """What a format sees of a file before it reads it.

    Attributes
    ----------
    source : Source
        The file.
    columns : mapping
        Our column names to the file's, where the caller gave them.
    pos_label : optional
        The label of the positive class, where the caller gave it.
    trials : Sample or None
        The file that says which trials are positive, where the caller gave one.
    """

    source: Source
    columns: Mapping[str, str] = field(default_factory=dict)
    pos_label: Any = None
    trials: Sample | None = None

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """The first lines with their numbers, without comments and blank lines."""
        found = (
            (number, line)
            for number, line in self.source.lines()
            if line.strip(" \t") and not line.lstrip(" \t").startswith("#")
        )
        lines = list(islice(found, LINES))
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

    def column(self, place: int) -> set[str]:
        """Return the distinct fields at one place, as far as the lines have it."""
        return {row[place] for row in self.rows if len(row) > place}

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
        wanted = self.columns.get("score", "score").lower()
        return wanted in (name.lower() for name in names)

    def has_number(self, row: int = 0) -> bool:
        """Tell whether some field between blanks is a number, so that the line is no header."""
        return any(map(is_number, self.rows[row]))


def load(source: Source, layout: Layout) -> Columns:
    """Read the columns of a text file, with the parser that suits its size."""
    if source.small:
        from priori.readers import text

        return text.load(source, layout)
    from priori.readers import fast

    return fast.load(source, layout)
