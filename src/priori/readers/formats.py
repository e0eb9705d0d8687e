"""Every format Priori reads, and the first lines of a file, by which its format is recognised.

To add one, write how to recognise it and how to read it, and add its line to `FORMATS`.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

from priori.base.dataframes import match_columns, name_list
from priori.base.errors import InputError, argument, unknown
from priori.readers import text
from priori.readers.input_file import Source
from priori.readers.layout import BLANKS, Columns, LineLayout
from priori.readers.text import is_number, split_blanks

#: How many lines are looked at.
LINES = 1000


@dataclass(frozen=True)
class Sample:
    """What a format sees of a file before it reads it.

    The caller may have given the file's names for our ``columns``, the label of the positive class (``pos_label``), and
    the file that says which ``trials`` are positive; ``more`` are further columns that a table must have. With
    ``strays`` rows may lack names: whoever reads the table checks those that are kept. Labels of a table that is not
    ``labelled`` are not read.
    """

    source: Source
    columns: Mapping[str, str] = field(default_factory=dict)
    pos_label: Any = None
    trials: Sample | None = None
    more: Mapping[str, str] = field(default_factory=dict)
    strays: bool = False
    labelled: bool = True

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

    @property
    def delimiter(self) -> str:
        """What separates the fields of the first line."""
        line = self.lines[0][1]
        return next((each for each in ("\t", ";", ",") if each in line), BLANKS)

    @property
    def titles(self) -> list[str]:
        """The first line as names of columns; none where it holds numbers."""
        names = self.rows[0] if self.delimiter == BLANKS else self.header(self.delimiter)
        return [] if any(map(is_number, names)) else names

    def names_score(self, names: list[str]) -> bool:
        """Tell whether the score column is among these names."""
        return self.columns.get("score", "score").lower() in (name.lower() for name in names)

    def match_columns(self, present: Sequence[str]) -> dict[str, str]:
        """Return which column of a table is which of ours."""
        name = self.source.name
        for title in self.more.values():
            if present.count(title) != 1:
                counted = f"{number} columns are" if (number := present.count(title)) else "no column is"
                raise InputError(f"{name}: {counted} called {title!r}; the columns are {name_list(present)}")
        return {**match_columns(present, self.columns, source=name, labelled=self.labelled), **self.more}

    def load(self, layout: LineLayout) -> Columns:
        """Read the columns of a text file: a small one line by line, a large one with duckdb."""
        try:
            return self._load(layout)
        except InputError:
            if not self.strays:
                raise
        return text.load(self.source, replace(layout, strays=True))

    def _load(self, layout: LineLayout) -> Columns:
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


@dataclass(frozen=True)
class Format:
    """A format: its name (``format=``), how it is announced, how it is recognised, how it is read.

    Files of one ``family`` hold the same columns, so development and test files may differ within it. A text file
    that is read on its own has a ``text`` layout; other formats have their own way to make a ``table``. All three are
    names of this room, imported when a file may be of the format.
    """

    name: str
    title: str
    family: str
    told_by: str
    text: str = ""
    table: str = ""

    def matches(self, sample: Sample) -> bool:
        """Tell whether a file is of this format."""
        return bool(_named(self.told_by)(sample))

    def layout(self, sample: Sample) -> LineLayout | None:
        """Return the layout of a text file that is read on its own; None for any other file."""
        found = _named(self.text) if self.text else None
        return found(sample) if callable(found) else found

    def read(self, sample: Sample) -> Columns:
        """Read a file of this format."""
        layout = self.layout(sample)
        return _named(self.table)(sample) if layout is None else sample.load(layout)


def _named(name: str) -> Any:
    module, _, attribute = name.partition(".")
    return getattr(importlib.import_module(f"priori.readers.{module}"), attribute)


#: In the order in which they are tried; the first that matches is taken.
FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("parquet", "Parquet table", "table", "tables.matches_parquet", table="parquet.read"),
        Format("matrix", "matrix of scores", "matrix", "shapes.matches_matrix", table="shapes.read_matrix"),
        Format("keyed", "scores and their key", "keyed", "two_files.matches_key", table="two_files.read_key"),
        Format("classes", "a file for each class", "classes", "shapes.matches_class", table="shapes.read_class"),
        Format("jsonl", "JSON lines", "table", "tables.matches_json_lines", "tables.json_layout"),
        Format("csv", "CSV table", "table", "tables.matches_csv", "tables.csv_layout"),
        Format("tsv", "TSV table", "table", "tables.matches_tsv", "tables.tsv_layout"),
        Format("table", "table separated by blanks", "table", "tables.matches_blanks", "tables.blanks_layout"),
        Format("voxceleb", "VoxCeleb", "voxceleb", "two_files.matches_voxceleb", table="two_files.read_voxceleb"),
        Format("kaldi", "Kaldi scores and trials", "kaldi", "two_files.matches_kaldi", table="two_files.read_kaldi"),
        Format(
            "two-column", "two columns (label score)", "two-column", "tables.matches_label_score", "tables.LABEL_SCORE"
        ),
        Format("bob4", "bob four columns", "bob", "tables.matches_bob_four", "tables.BOB_FOUR"),
        Format("bob5", "bob five columns", "bob", "tables.matches_bob_five", "tables.BOB_FIVE"),
    )
}


def recognise(sample: Sample, format: str | None = None) -> Format:
    """Return the format that was asked for, or the first that matches; an `InputError` says what a file looks like."""
    if format is not None:
        if format not in FORMATS:
            raise unknown("format", format, FORMATS)
        return FORMATS[format]
    for candidate in FORMATS.values():
        if candidate.matches(sample):
            return candidate
    from priori.readers import tables, two_files

    number, line = sample.lines[0]
    force = f"or force a format with {argument('format')}"
    if sample.width == 2 and tables.looks_swapped(sample):
        fault = f"looks like 'score label', but the order of two columns is 'label score'; swap them, {force}"
    elif sample.ends_with_number(3) and not two_files.is_voxceleb_trials(sample):
        trials = argument("trials", "FILE")
        fault = f"three columns 'enrol test score' need the trials file that holds the labels ({trials})"
    elif sample.width == 3:
        fault = (
            "looks like a trials file, without scores; give the scores file, and this one as its trials "
            f"({argument('trials', 'FILE')})"
        )
    elif sample.width in (2, 4, 5):
        fault = f"the score {sample.rows[0][-1]!r} is not a number; correct it, add a header line, {force}"
    else:
        fault = (
            f"{sample.width} columns and no header that names 'score', so the format cannot be told: {line[:60]!r}; "
            f"add a header line such as label,score, {force}"
        )
    raise InputError(f"{sample.source.name}:{number}: {fault}")
