"""The parser for large files: duckdb, told everything, trusted with nothing it might read in another way.

It reads a text file only as `priori.readers.text` would. Whatever it refuses or might misread (comments, runs of
blanks, blanks around names, mixed line ends, 1_000) is first rewritten by that parser, which also finds the line
of an error.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.errors import InputError
from priori.readers import text
from priori.readers.layout import BLANKS, Layout, Table
from priori.readers.source import Source
from priori.readers.text import cleaned
from priori.scores import Names

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Unclean", "connection", "first_line", "literal", "load", "pattern", "single", "table_of"]

#: Trial ids are fetched in pieces of this many rows, so that few of them exist as Python objects at a time.
PIECE = 1 << 20

#: Names the text parser must see: in fields without quotes and with them.
ODD = r"[\x00-\x20\x7f]|^#|^$"
ODD_QUOTED = r"[\x00-\x1f\x7f]|^ | $|^$"


class Unclean(Exception):
    """The file may mean something else than what duckdb read, or names are missing in the columns given."""

    def __init__(self, columns: Sequence[str] = ()) -> None:
        self.columns = columns


@contextmanager
def connection() -> Iterator[DuckDBPyConnection]:
    """Open an in-memory database that spills to the system's temporary directory and fetches no extension."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": os.path.join(tempfile.gettempdir(), f"priori-duckdb-{os.getpid()}"),
        "autoinstall_known_extensions": "false",
        "preserve_insertion_order": "true",
    }
    database = duckdb.connect(config=settings)
    try:
        database.execute("SET enable_progress_bar = false")
        yield database
    finally:
        database.close()


def literal(text: str) -> str:
    """Return text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def pattern(path: object) -> str:
    """Return a path as an SQL literal that duckdb takes as this one file, whatever glob characters it holds."""
    return literal("".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path)))


def load(source: Source, layout: Layout) -> Table:
    """Read a large text file into columns."""
    import duckdb

    try:
        table = _load(source, _single_delimiter(source, layout))
    except (duckdb.Error, Unclean):
        with cleaned(source, layout) as (copy, plain):
            try:
                table = _load(copy, plain) if copy.size else text.load(source, layout)
            except duckdb.Error as error:
                raise InputError(f"{source.name}: cannot be read ({first_line(error)})") from None
    return replace(table, layout=layout)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return str(error).partition("\n")[0]


def _single_delimiter(source: Source, layout: Layout) -> Layout:
    """Return the layout with the one character that separates its fields, guessed from the first row."""
    for line_number, line in source.lines():
        if line_number <= layout.skip:
            if line.count('"') % 2:  # duckdb would take the rows below for the rest of a quoted field
                raise Unclean
        elif line:
            break
    if layout.delimiter != BLANKS:
        return layout
    if set(range(len(layout.fields))) != {*layout.columns.values(), *layout.trial}:
        raise Unclean  # a comment in a field nobody looks at would go unseen
    return replace(layout, delimiter="\t" if "\t" in line else " ", quoted=False)


def _load(source: Source, layout: Layout) -> Table:
    with connection() as database:
        database.execute(f"CREATE TEMP TABLE trials AS SELECT {_columns(layout)} FROM {_scan(source, layout)}")
        table = table_of(database, layout, "trials")
    odd = re.compile(ODD_QUOTED if layout.quoted else ODD)
    for group, names in table.names.items():
        if (group != "label" or not layout.quoted) and any(map(odd.search, names.values.tolist())):
            raise Unclean
    return table


def _scan(source: Source, layout: Layout) -> str:
    quote = "'\"'" if layout.quoted else "''"
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(layout.fields)))
    compression = "gzip" if source.gzipped else "none"
    return (
        f"read_csv({pattern(source.path)}, auto_detect=false, header=false, skip={layout.skip}, "
        f"delim={literal(layout.delimiter)}, quote={quote}, escape={quote}, compression='{compression}', "
        f"columns={{{columns}}})"
    )


def _columns(layout: Layout) -> str:
    """Return the expressions of the columns we keep; each raises an error on what the text parser must see."""
    trim = "trim({})" if layout.quoted else "{}"
    found = [f"{trim.format(f'c{place}')} AS {column}" for column, place in layout.names.items()]
    if "score" in layout.columns:
        written = f"c{layout.columns['score']}"
        value = f"CAST({written} AS DOUBLE)"
        too_large = f"isinf({value}) AND NOT contains(lower({written}), 'inf')"
        comment = "starts_with(c0, '#')"
        odd = f"contains({written}, '_') OR ({too_large}) OR {comment}"
        found.append(f"CASE WHEN {odd} THEN error('unclean') ELSE {value} END AS score")
    if layout.trial:
        parts = [trim.format(f"c{place}") for place in layout.trial]
        odd = literal(ODD_QUOTED if layout.quoted else ODD)
        odd = " OR ".join(f"{part} IS NULL OR regexp_matches({part}, {odd})" for part in parts)
        joined = " || ' ' || ".join(parts)
        found.append(f"CASE WHEN {odd} THEN error('unclean') ELSE {joined} END AS trial")
    return ", ".join(found)


def table_of(database: DuckDBPyConnection, layout: Layout, ids: str) -> Table:
    """Fetch the columns of the relation ``trials``: scores as numbers, names as codes into sorted lists of names.

    ``ids`` is the table (no view, as its rows are numbered) that has the trial ids.
    """
    lists: dict[str, Names] = {}
    wanted = ["coalesce(score, 'nan'::DOUBLE) AS score"] if "score" in layout.columns else []
    for group, members in layout.groups.items():
        union = " UNION ".join(f"SELECT DISTINCT {member} AS name FROM trials" for member in members)
        database.execute(f"CREATE TEMP TABLE {group}_names AS SELECT name FROM ({union}) ORDER BY name")
        names = [name for (name,) in database.execute(f"FROM {group}_names").fetchall()]
        if not names or None in (names[0], names[-1]) or names[0] == "":
            raise Unclean(members)
        lists[group] = Names(np.array(names, dtype=str))
        database.execute(f"CREATE TYPE {group}_name AS ENUM (FROM {group}_names)")
        wanted += [f"enum_code({member}::{group}_name) AS {member}" for member in members]
    columns = database.execute(f"SELECT {', '.join(wanted)} FROM trials").fetchnumpy()
    score = columns.pop("score", None)
    codes = {name: column.astype(np.int32) for name, column in columns.items()}
    trial = _trials(database, ids, layout.trial_is_built) if layout.trial else None
    return Table(score, codes, lists, trial)


def _trials(database: DuckDBPyConnection, ids: str, built: bool) -> NDArray[Any] | None:
    """Fetch the trial ids, a piece at a time, so that few of them exist as Python objects."""
    query = f"SELECT count(*), max(length(trial)), count(*) FILTER (trial IS NULL OR trial = '') FROM {ids}"
    count, longest, missing = single(database, query)
    if missing:
        raise Unclean(["trial"])
    if built and single(database, f"SELECT count(DISTINCT trial) FROM {ids}")[0] < count:
        return None
    trial = np.empty(count, dtype=f"U{longest}")
    for start in range(0, count, PIECE):
        piece = f"SELECT trial FROM {ids} WHERE rowid >= {start} AND rowid < {start + PIECE}"
        trial[start : start + PIECE] = database.execute(piece).fetchnumpy()["trial"].astype(trial.dtype)
    return trial


def single(database: DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    """Return the one row that a query gives."""
    row = database.execute(query).fetchone()
    assert row is not None
    return tuple(row)
