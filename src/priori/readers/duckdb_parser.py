"""The parser for large files: duckdb, with every detail of the format specified, so that it guesses nothing.

It reads a text file only as `priori.readers.text` would. Whatever it refuses or might misread (comments, runs of
blanks, blanks around names, mixed line ends, 1_000) is first rewritten by that parser, which also finds the line
of an error.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.arrow_streams import MissingValues, StreamError, batches, batches_with_text
from priori.base.errors import InputError
from priori.base.temporary import discard, keep_temporary, temporary_file
from priori.readers import text
from priori.readers.census import count_rows
from priori.readers.input_file import Source
from priori.readers.layout import BLANKS, JSON, Columns, LineLayout
from priori.scores import Names
from priori.scores.ids import IdBuffer

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
Used = TypeVar("Used")

#: Up to this many names are compared one by one, which is quicker than looking them up.
FEW = 8

#: What the text parser must see in names that may have stood between quotes.
_ODD = re.compile(r"[\t]|^[ \"]| $|^$")

#: The characters that make a path a pattern.
GLOB = "*?["

#: What separates the fields of a cleaned copy; no name that was read from a file holds it.
TAB = "\t"

#: Numbers the folders that duckdb spills to.
_COUNT = count()

#: Further settings of duckdb, for a process that reads strangers' files: memory, disk space, threads.
SETTINGS: dict[str, str] = {}


class Unclean(Exception):
    """The file may mean something other than what duckdb read; or names in ``columns`` are missing, or hold a NUL."""

    def __init__(self, columns: Sequence[str] = ()) -> None:
        self.columns = columns


def open_database(**settings: str) -> DuckDBPyConnection:
    """Open an in-memory database that fetches no extension and shows no progress."""
    import duckdb

    database = duckdb.connect(config={"autoinstall_known_extensions": "false", **settings})
    database.execute("SET enable_progress_bar = false")
    database.execute("SET arrow_large_buffer_size = true")  # long ids
    return database


@contextmanager
def connection(path: Path) -> Iterator[DuckDBPyConnection]:
    """Open an in-memory database that spills to the system's temporary directory and fetches no extension.

    It can read the one file at ``path`` and nothing else, whatever a crafted file or column name makes of the
    query: no other file, no network. (Not so when the path itself holds glob characters: duckdb must then list
    its directory.)
    """
    spilled = keep_temporary(os.path.join(tempfile.gettempdir(), f"priori-duckdb-{os.getpid()}-{next(_COUNT)}"))
    database = open_database(
        temp_directory=spilled, autoload_known_extensions="false", preserve_insertion_order="true", **SETTINGS
    )
    try:
        if not set(GLOB) & set(str(path)):
            database.execute(f"SET allowed_paths = [{literal(str(path))}]")
            database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")
        yield database
    finally:
        database.close()
        discard(spilled)


def literal(text: str) -> str:
    """Return text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def first_line(error: object) -> str:
    """Return the first line of an error's message."""
    return str(error).partition("\n")[0]


def pattern(path: object) -> str:
    """Return a path as an SQL literal that duckdb takes as this one file, whatever glob characters it holds."""
    return literal("".join(f"[{letter}]" if letter in GLOB else letter for letter in str(path)))


def parquet_rows(paths: Iterable[object], options: str = "") -> str:
    """Return the rows of Parquet files, in SQL; bytes are text (UTF-8), which not every writer says of its text."""
    return f"read_parquet([{', '.join(map(pattern, paths))}], binary_as_string = true{options})"


def load(source: Source, layout: LineLayout) -> Columns | None:
    """Read the columns of a large text file; None where it has none."""
    return _attempt(source, layout, _load)


def convert(source: Source, layout: LineLayout, target: str, database: DuckDBPyConnection) -> None:
    """Write the columns of a text file of any size into a Parquet file, with our names for them."""

    def copy(source: Source, layout: LineLayout, how: _How) -> tuple[str, int]:
        (rows,) = single(database, f"COPY ({_rows(source, layout, how)}) TO {literal(target)} (FORMAT parquet)")
        for column in layout.names if how.quoted else ():
            listed = database.execute(f'SELECT DISTINCT "{column}" FROM read_parquet({pattern(target)})').fetchall()
            _refuse_odd(column, [name for (name,) in listed])
        return target, rows

    if _attempt(source, layout, copy) is None:
        raise InputError(f"{source.name}: no trials, only a header; nothing to read")


class _How(NamedTuple):
    """How duckdb reads a file: are there quotes, or blanks around fields; or did the text parser write it."""

    quoted: bool = False
    trim: bool = False
    trusted: bool = False


#: Uses a file that duckdb reads, and returns how many rows duckdb found.
_Use = Callable[[Source, LineLayout, _How], tuple[Used, int]]


def _attempt(source: Source, layout: LineLayout, use: _Use[Used]) -> Used | None:
    """Use a file as it is, or a copy that the text parser wrote.

    The text parser raises the errors that it finds; where it writes nothing, None is returned.
    """
    import duckdb

    try:
        return _counted(source, layout, use)
    except (duckdb.Error, StreamError, Unclean) as error:
        if "No space left" in str(error) or "File too large" in str(error):
            raise InputError(f"{source.name}: the disk of the temporary files is full ({first_line(error)})") from None
    with _cleaned(source, layout) as (copy, plain, written):
        try:
            used, rows = use(copy, plain, _How(trusted=True)) if written else (None, 0)
        except (duckdb.Error, StreamError) as error:
            raise InputError(f"{source.name}: cannot be read ({first_line(error)})") from None
    if rows != written:
        raise InputError(f"{source.name}: {written} rows were written for duckdb, which found {rows}; report this")
    return used


def _counted(source: Source, layout: LineLayout, use: _Use[Used]) -> Used:
    """Use a file while a thread counts its rows: duckdb must find as many, in a file that has one meaning only."""
    if layout.delimiter == JSON or layout.decimal != ".":  # not one that duckdb reads
        raise Unclean
    separator, trim = _prepared(source, layout)
    with ThreadPoolExecutor(1) as pool:
        count = pool.submit(count_rows, source, layout, separator)
        used, rows = use(source, replace(layout, delimiter=separator), _How(layout.quoted, trim))
        if count.result() != rows:
            raise Unclean
    return used


def _prepared(source: Source, layout: LineLayout) -> tuple[str, bool]:
    """Return the one character that separates fields, and whether blanks stand around them.

    Both are guessed from the first row; rows that differ are found when they are read.
    """
    line = ""
    for line_number, line in source.lines():
        if line_number <= layout.skip:
            if line.count('"') % 2:  # duckdb would take the rows below for the rest of a quoted field
                raise Unclean
        elif line:
            break
    if layout.delimiter != BLANKS:
        return layout.delimiter, any(text != text.strip(" ") for text in line.split(layout.delimiter))
    return "\t" if "\t" in line else " ", False


def _load(source: Source, layout: LineLayout, how: _How) -> tuple[Columns, int]:
    assert source.path is not None
    with connection(source.path) as database:
        database.execute(f"CREATE TEMP TABLE trials AS {_rows(source, layout, how)}")
        table = table_of(database, layout)
    for group, names in table.names.items() if how.quoted else ():
        _refuse_odd(group, names.values.tolist())
    return table, len(table)


def _refuse_odd(column: str, names: list[str | None]) -> None:
    if any(name is None or _ODD.search(name) for name in names if name != "" or column != "attack"):
        raise Unclean


def _scan(source: Source, layout: LineLayout) -> str:
    quote = "'\"'" if layout.quoted else "''"
    columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(layout.fields)))
    compression = "gzip" if source.gzipped else "none"
    return (
        f"read_csv({pattern(source.path)}, auto_detect=false, header=false, skip={layout.skip}, "
        f"delim={literal(layout.delimiter)}, quote={quote}, escape={quote}, compression='{compression}', "
        f"columns={{{columns}}})"
    )


def _rows(source: Source, layout: LineLayout, how: _How) -> str:
    """Return the query of the rows of a file, names, scores, trial id; it fails on what the text parser must see."""

    def field(index: int) -> str:
        return f"trim(c{index}, ' ')" if how.trim else f"c{index}"  # otherwise it strips every Unicode blank

    def checked(value: str, odd: str, plain: str = "") -> str:
        if how.trusted or not odd:
            return value
        return f"CASE {plain} WHEN {odd} THEN error('unclean') ELSE {value} END"

    columns = [f'{or_none(column, field(index))} AS "{column}"' for column, index in layout.names.items()]
    for column, index in layout.scores.items():
        written = f"c{index}"
        value = checked(f"CAST({written} AS DOUBLE)", odd_score(written), _plain_score(written))
        columns.append(f"{value} AS {column}")
    parts = [checked(field(index), _odd(field(index)) if how.quoted else "") for index in layout.trial]
    columns += [" || ' ' || ".join(parts) + " AS trial"] if parts else []
    return f"SELECT {', '.join(columns)} FROM {_scan(source, layout)}"


def or_none(column: str, value: str) -> str:
    """Return the expression of a name: the type of attack may be missing for trials that are no attacks."""
    return f"coalesce({value}, '')" if column == "attack" else value


def odd_score(written: str) -> str:
    """Return the expression that finds the scores that duckdb takes for numbers and Python does not, such as 1_000."""
    too_large = f"isinf(TRY_CAST({written} AS DOUBLE)) AND NOT contains(lower({written}), 'inf')"
    signs = " OR ".join(f"contains({written}, {literal(sign)})" for sign in ("_", "(", "+-"))
    return f"{signs} OR ({too_large})"


def _plain_score(written: str) -> str:
    """Return the first case of an expression: the many scores that need no closer look."""
    value = f"TRY_CAST({written} AS DOUBLE)"
    return f"WHEN isfinite({value}) AND NOT contains({written}, '_') AND NOT starts_with({written}, '+-') THEN {value}"


def _odd(part: str) -> str:
    """Return the expression that finds, in a part of a trial id, what `_ODD` finds in names."""
    tab = f"contains({part}, chr({ord(TAB)}))"
    return f"{part} IS NULL OR {part} = '' OR {tab} OR left({part}, 1) IN (' ', '\"') OR suffix({part}, ' ')"


def table_of(database: DuckDBPyConnection, layout: LineLayout) -> Columns:
    """Fetch the columns of the relation ``trials``: scores as numbers, names as codes into sorted lists of names.

    Trial ids stay bytes until somebody looks at them.
    """
    lists: dict[str, Names] = {}
    expressions = {column: column for column in layout.scores}
    for group, members in layout.groups.items():
        union = " UNION ".join(f'SELECT DISTINCT "{member}" AS name FROM trials' for member in members)
        database.execute(f"CREATE TEMP TABLE {group}_names AS SELECT name FROM ({union}) ORDER BY name")
        names = [name for (name,) in database.execute(f"FROM {group}_names").fetchall()]
        if (
            not names
            or None in (names[0], names[-1])
            or ("" in names and group != "attack")
            or any("\0" in name for name in names)
        ):
            raise Unclean(members)  # arrays of text cannot hold a NUL
        lists[group] = Names(np.array(names, dtype=str))
        code = _coding(database, group, names)
        expressions |= {member: code.format(member) for member in members}
    (rows,) = single(database, "SELECT count(*) FROM trials")
    columns = {name: np.empty(rows, np.float64 if name in layout.scores else np.int32) for name in expressions}
    listed = [f'{expression} AS "{name}"' for name, expression in expressions.items()]
    listed += ["trial"] if layout.trial else []
    trial = _fetch(database.sql(f"SELECT {', '.join(listed)} FROM trials"), columns, layout)
    scores = {name: columns.pop(name) for name in layout.scores}
    return Columns(scores, columns, lists, trial, built_trial=layout.trial_is_built)


def _fetch(relation: DuckDBPyRelation, columns: Mapping[str, NDArray[Any]], layout: LineLayout) -> NDArray[Any] | None:
    """Fill columns from those of a relation, and return the trial ids, its last column."""
    if not layout.trial:
        _fill(columns, batches(relation))
        return None
    ids = IdBuffer()

    def numbers() -> Iterator[list[NDArray[Any]]]:
        for batch, piece in batches_with_text(relation):
            if not (piece.offsets[1:] > piece.offsets[:-1]).all() or not piece.text.all():  # empty, or a NUL
                raise Unclean(["trial"])
            ids.append(piece)
            yield batch

    try:
        _fill(columns, numbers())
    except MissingValues:
        raise Unclean(["trial"]) from None
    return ids.array()


def _fill(columns: Mapping[str, NDArray[Any]], found: Iterator[list[NDArray[Any]]]) -> None:
    """Fill columns batch by batch."""
    rows = min(column.size for column in columns.values())
    done = 0
    for batch in found:
        end = done + batch[0].size
        if end > rows:
            break
        for column, values in zip(columns.values(), batch, strict=True):
            column[done:end] = values
        done = end
    if done != rows:
        raise StreamError("its rows changed while they were read")


def _coding(database: DuckDBPyConnection, group: str, names: list[str]) -> str:
    """Return the expression for the index of a name in its list, with ``{}`` for the column."""
    if len(names) <= FEW:
        choices = " ".join(f"WHEN {literal(name)} THEN {index}" for index, name in enumerate(names))
        return 'CAST(CASE "{}" ' + choices.replace("{", "{{").replace("}", "}}") + " END AS INTEGER)"
    database.execute(f"CREATE TYPE {group}_name AS ENUM (FROM {group}_names)")
    return 'enum_code("{}"::' + f"{group}_name)"


def single(database: DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    """Return the one row that a query gives."""
    (row,) = database.execute(query).fetchall()
    return tuple(row)


@contextmanager
def _cleaned(source: Source, layout: LineLayout) -> Iterator[tuple[Source, LineLayout, int]]:
    """Copy the rows as the text parser reads and checks them, so that there is only one way left to read them.

    Also return their number.
    """
    fields = [*layout.names, *(["trial"] if layout.trial else []), *layout.scores]
    written = 0
    with temporary_file() as (file, path):
        file.write(b"skipped\n")  # else duckdb would strip a byte-order mark that belongs to a name
        for _, names, trial, values in text.rows(source, layout):
            tail = ([trial] if layout.trial else []) + [repr(value) for value in values]
            file.write((TAB.join(names + tail) + "\n").encode())
            written += 1
        file.close()
        columns = {name: index for index, name in enumerate(fields)}
        trial_field = (columns.pop("trial"),) if layout.trial else ()
        plain = LineLayout(TAB, tuple(fields), columns, trial_field, layout.trial_is_built, skip=1)
        yield Source(source.name, path, b"", False, False, path.stat().st_size), plain, written
