"""The registry: every format Priori reads. To add one, write how to tell it and how to read it, and add its line."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from priori.base.errors import InputError, argument
from priori.readers.first_lines import Sample
from priori.readers.layout import BLANKS, Columns, LineLayout


@dataclass(frozen=True)
class Format:
    """A format: its name (``format=``), how it is announced, how it is told, how it is read.

    Files of one ``family`` hold the same columns, so development and test files may differ within it. A text file
    that is read on its own has a ``layout``; other formats have their own way to make a ``table``.
    """

    name: str
    title: str
    family: str
    matches: Callable[[Sample], bool]
    layout: Callable[[Sample], LineLayout] | None = None
    table: Callable[[Sample], Columns] | None = None

    def read(self, sample: Sample) -> Columns:
        """Read a file of this format."""
        if self.table is not None:
            return self.table(sample)
        assert self.layout is not None
        return sample.load(self.layout(sample))


def _in(name: str, *more: Any) -> Callable[[Sample], Any]:
    """Return a function, or a layout, of a module of this room, imported when a file may be of its format."""
    module, _, there = name.partition(".")

    def call(sample: Sample) -> Any:
        found = getattr(importlib.import_module(f"priori.readers.{module}"), there)
        return found(sample, *more) if callable(found) else found

    return call


#: In the order in which they are tried; the first that matches is taken.
FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("parquet", "Parquet table", "table", lambda sample: sample.source.parquet, table=_in("parquet.read")),
        Format("arrow", "Feather (Arrow) table", "table", lambda sample: sample.source.arrow, table=_in("arrow.read")),
        Format("jsonl", "JSON lines", "table", _in("tables.matches_json_lines"), _in("tables.json_layout")),
        Format("csv", "CSV table", "table", _in("tables.matches_csv"), _in("tables.layout")),
        Format("tsv", "TSV table", "table", _in("tables.matches_tsv"), _in("tables.layout", "\t")),
        Format(
            "table", "table separated by blanks", "table", _in("tables.matches_blanks"), _in("tables.layout", BLANKS)
        ),
        Format("voxceleb", "VoxCeleb", "voxceleb", _in("pairs.matches_voxceleb"), table=_in("pairs.read_voxceleb")),
        Format("kaldi", "Kaldi scores and trials", "kaldi", _in("pairs.matches_kaldi"), table=_in("pairs.read_kaldi")),
        Format(
            "two-column",
            "two columns (label score)",
            "two-column",
            _in("headerless.matches_label_score"),
            _in("headerless.LABEL_SCORE"),
        ),
        Format("bob4", "bob four columns", "bob", _in("headerless.matches_bob_four"), _in("headerless.BOB_FOUR")),
        Format("bob5", "bob five columns", "bob", _in("headerless.matches_bob_five"), _in("headerless.BOB_FIVE")),
    )
}


def recognise(sample: Sample) -> Format:
    """Return the first format that matches the file, or raise an `InputError` that says what it looks like."""
    for candidate in FORMATS.values():
        if candidate.matches(sample):
            return candidate
    from priori.readers import headerless, pairs

    number, line = sample.lines[0]
    force = f"or force a format with {argument('format')}"
    if sample.width == 2 and headerless.looks_swapped(sample):
        fault = f"looks like 'score label', but the order of two columns is 'label score'; swap them, {force}"
    elif sample.ends_with_number(3) and not pairs.is_voxceleb_trials(sample):
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
