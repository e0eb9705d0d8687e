"""Tables with a header line: commas or semicolons (CSV), tabs (TSV), or blanks between the columns; JSON lines."""

from __future__ import annotations

import re
from dataclasses import replace

from priori.base.errors import InputError
from priori.readers.formats import Sample
from priori.readers.layout import BLANKS, JSON, LineLayout
from priori.readers.text import is_number, parsed_object, split_blanks

_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


def matches_csv(sample: Sample) -> bool:
    """Commas (or semicolons) in the first line, and: named .csv, or it names the score, or no field is without one."""
    comma = _comma(sample)
    names = sample.header(comma)
    if len(names) < 2:
        return sample.source.extension == ".csv" and sample.width == 1
    at_every_blank = all(text.endswith(comma) for text in sample.rows[0][:-1])
    return sample.source.extension == ".csv" or sample.names_score(names) or at_every_blank


def matches_tsv(sample: Sample) -> bool:
    """Tabs in the first line, and it names the score; or named .tsv, and no field of that line is a number."""
    names = sample.header("\t")
    if len(names) < 2:
        return False
    return sample.names_score(names) or (sample.source.extension == ".tsv" and not sample.has_number())


def matches_blanks(sample: Sample) -> bool:
    """A first line without numbers that names the score, or that stands above a line with numbers."""
    if sample.has_number() or sample.trials is not None:
        return False
    below = len(sample.rows) > 1 and len(sample.rows[1]) == sample.width > 1
    return sample.names_score(sample.rows[0]) or (below and sample.has_number(1))


def _comma(sample: Sample) -> str:
    line = sample.lines[0][1]
    return ";" if line.count(";") > line.count(",") else ","


def layout(sample: Sample, delimiter: str | None = None) -> LineLayout:
    """Return the layout of a table by its header; without a delimiter: commas or semicolons."""
    delimiter = delimiter or _comma(sample)
    number, line = sample.lines[0]
    name = sample.source.name
    header = tuple(sample.rows[0] if delimiter == BLANKS else sample.header(delimiter))
    if not header:
        raise InputError(f"{name}:{number}: the header cannot be split into columns; check its quotes")
    if any(map(is_number, header)) and not sample.names_score(list(header)):
        raise InputError(
            f"{name}:{number}: this table has no header: its first line {line[:60]!r} holds numbers; "
            "add a line above it that names the columns, such as: label,score"
        )
    named = sample.match_columns(header)
    columns = {column: header.index(title) for column, title in named.items()}
    trial = (columns.pop("trial"),) if "trial" in columns else ()
    found = LineLayout(delimiter, header, columns, trial, skip=number, quoted=delimiter != BLANKS)
    return replace(found, decimal=",") if delimiter != "," and _decimal_commas(sample, found) else found


def _decimal_commas(sample: Sample, found: LineLayout) -> bool:
    """Tell whether the first scores are written with decimal commas: one at least is, and none with a point."""
    written = [
        fields[index].strip(' \t"')
        for _, line in sample.lines[1:]
        for fields in [split_blanks(line) if found.delimiter == BLANKS else line.split(found.delimiter)]
        for index in found.scores.values()
        if index < len(fields)
    ]
    return any(map(_DECIMAL_COMMA.fullmatch, written)) and not any("." in text for text in written)


def matches_json_lines(sample: Sample) -> bool:
    """The first line begins an object."""
    return sample.lines[0][1].lstrip(" \t").startswith(JSON)


def json_layout(sample: Sample) -> LineLayout:
    """Return the layout of JSON lines: the keys of the first thousand objects are the names of the columns."""
    keys = tuple(
        dict.fromkeys(key for number, line in sample.lines for key in parsed_object(sample.source, number, line))
    )
    columns = {column: keys.index(title) for column, title in sample.match_columns(keys).items()}
    trial = (columns.pop("trial"),) if "trial" in columns else ()
    return LineLayout(JSON, keys, columns, trial, quoted=True)
