"""One trial per line: tables with a header line (CSV, TSV, blanks), JSON lines, label and score, bob's columns."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from priori.base.errors import InputError, argument
from priori.readers.formats import Sample
from priori.readers.layout import BLANKS, JSON, LineLayout
from priori.readers.text import is_number, parsed_object, split_blanks
from priori.scores.labels import KNOWN_PAIRS, normal

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


def csv_layout(sample: Sample, delimiter: str | None = None) -> LineLayout:
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


tsv_layout = partial(csv_layout, delimiter="\t")
blanks_layout = partial(csv_layout, delimiter=BLANKS)


def _decimal_commas(sample: Sample, found: LineLayout) -> bool:
    """Tell whether the first scores have decimal commas: at least one has, and none has a point."""
    written = [
        fields[index].strip(' \t"')
        for _, line in sample.lines[1:]
        for fields in [split_blanks(line) if found.delimiter == BLANKS else line.split(found.delimiter)]
        for index in found.scores.values()
        if index < len(fields)
    ]
    return any(map(_DECIMAL_COMMA.fullmatch, written)) and not any("." in text for text in written)


def matches_parquet(sample: Sample) -> bool:
    """It begins as Parquet does; its reader is imported only then."""
    return sample.source.parquet


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


# -- without a header: in bob's columns a trial is positive when the claimed identity is the real one -----------------

LABEL_SCORE = LineLayout(BLANKS, ("label", "score"), {"label": 0, "score": 1})
BOB_FOUR = LineLayout(
    BLANKS, ("claimed", "real", "probe", "score"), {"user": 0, "probe_user": 1, "score": 3}, (0, 2), trial_is_built=True
)
BOB_FIVE = LineLayout(
    BLANKS,
    ("claimed", "model", "real", "probe", "score"),
    {"user": 0, "probe_user": 2, "score": 4},
    (0, 1, 3),
    trial_is_built=True,
)


def matches_label_score(sample: Sample) -> bool:
    """Two fields, the second a number."""
    return sample.ends_with_number(2) and not looks_swapped(sample)


def looks_swapped(sample: Sample) -> bool:
    """Tell whether the score seems to come first: numbers in front of what looks like labels."""
    first, second = sample.column(0), sample.column(1)
    if not all(map(is_number, first)) or sample.pos_label is not None:
        return False
    return (_like_labels(second) or (len(second) == 2 and not any(map(is_number, second)))) and not _like_labels(first)


def _like_labels(values: set[str]) -> bool:
    return any({normal(value) for value in values} <= set(pair) for pair in KNOWN_PAIRS)


def matches_bob_four(sample: Sample) -> bool:
    """Four fields, the last a number; VoxCeleb's four columns have been ruled out before."""
    if not sample.ends_with_number(4):
        return False
    claimed = sample.column(0)
    if claimed <= {"0", "1"} and sample.first_two_differ():
        raise InputError(
            f"{sample.source.name}: could be bob's four columns or VoxCeleb's, as every line begins with "
            f"{claimed.pop()}; say which with {argument('format', 'bob4')} or voxceleb"
        )
    return True


def matches_bob_five(sample: Sample) -> bool:
    """Five fields, the last a number."""
    return sample.ends_with_number(5)
