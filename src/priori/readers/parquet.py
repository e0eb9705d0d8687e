"""Parquet tables, through duckdb."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from priori.base.dataframes import match_columns
from priori.base.errors import InputError
from priori.readers.layout import Columns, Layout
from priori.readers.rewrite import Unclean
from priori.readers.sample import Sample

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NUMBER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL.*")
_NESTED = re.compile(r".*\[\d*\]|STRUCT.*|MAP.*|UNION.*")


def matches(sample: Sample) -> bool:
    """The file begins as every Parquet file does."""
    return sample.source.parquet


def read(sample: Sample) -> Columns:
    """Read a Parquet table; names are read as text, whatever their type."""
    import duckdb

    from priori.readers import fast

    name = sample.source.name
    if not sample.source.parquet:
        raise InputError(f"{name}: not a Parquet file (it does not begin with PAR1)")
    assert sample.source.path is not None
    with fast.connection(sample.source.path) as database:
        try:
            database.execute(f"CREATE TEMP VIEW file AS FROM read_parquet({fast.pattern(sample.source.path)})")
            types = {column: kind for column, kind, *_ in database.execute("DESCRIBE file").fetchall()}
            found = match_columns(tuple(types), sample.columns, source=name)
            columns = {column: _expression(column, given, types[given], name) for column, given in found.items()}
            selected = ", ".join(f'{expression} AS "{column}"' for column, expression in columns.items())
            database.execute(f"CREATE TEMP VIEW trials AS SELECT {selected} FROM file")
            return _fetched(database, tuple(found))
        except Unclean as error:
            raise _missing(database, error.columns, found, name) from None
        except duckdb.Error as error:
            raise InputError(f"{name}: the Parquet file cannot be read ({fast.first_line(error)})") from None


def _fetched(database: DuckDBPyConnection, columns: tuple[str, ...]) -> Columns:
    from priori.readers import fast

    trial = (columns.index("trial"),) if "trial" in columns else ()
    if trial:
        database.execute("CREATE TEMP TABLE ids AS SELECT trial FROM trials")
    places = {column: place for place, column in enumerate(columns) if column != "trial"}
    return fast.table_of(database, Layout("", columns, places, trial), "ids")


def _expression(column: str, given: str, kind: str, name: str) -> str:
    quoted = '"' + given.replace('"', '""') + '"'
    if column == "score":
        if not _NUMBER.fullmatch(kind):
            raise InputError(f"{name}: the scores in column {given!r} must be numbers, not {kind}")
        return f"CAST({quoted} AS DOUBLE)"
    if _NESTED.fullmatch(kind) or (column != "label" and kind in ("FLOAT", "DOUBLE")):
        raise InputError(f"{name}: column {given!r} holds {kind}; a {column} must be text or a whole number")
    return f"CAST({quoted} AS VARCHAR)"


def _missing(database: DuckDBPyConnection, columns: Sequence[str], found: Mapping[str, str], name: str) -> InputError:
    """Return the error for names that are missing, or cannot be kept, in one of these columns."""
    from priori.readers import fast

    for column in columns:
        database.execute(f'CREATE TEMP TABLE {column}_list AS SELECT "{column}" AS name FROM trials')
        query = f"SELECT count(*), min(rowid) FROM {column}_list WHERE name IS NULL OR name = ''"
        count, first = fast.single(database, query)
        if count:
            where = f"{name}: column {found[column]!r}"
            return InputError(f"{where}: {count} values are missing (the first in row {first + 1}); fill them in")
    if fast.single(database, "SELECT count(*) FROM trials")[0]:
        return InputError(f"{name}: column {found[columns[0]]!r} holds a NUL character; remove it")
    return InputError(f"{name}: no trials, only the names of columns; nothing to read")
