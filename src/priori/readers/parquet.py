"""Parquet tables, through duckdb."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from priori.base.arrow_streams import StreamError
from priori.base.dataframes import not_names
from priori.base.errors import InputError
from priori.readers.duckdb_parser import (
    Unclean,
    connection,
    first_line,
    or_none,
    parquet_rows,
    quoted,
    single,
    table_of,
)
from priori.readers.formats import Sample
from priori.readers.layout import Columns, LineLayout

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


NUMBER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL.*")
_NESTED = re.compile(r".*\[\d*\]|STRUCT.*|MAP.*|UNION.*")


def read(sample: Sample) -> Columns:
    """Read a Parquet table; names are read as text, whatever their type."""
    import duckdb

    name = sample.source.name
    if not sample.source.parquet:
        raise InputError(f"{name}: not a Parquet file (it does not begin with PAR1)")
    assert sample.source.path is not None
    with connection(sample.source.path) as database:
        try:
            database.execute(f"CREATE TEMP VIEW file AS FROM {parquet_rows([sample.source.path])}")
            types = {column: kind for column, kind, *_ in database.execute("DESCRIBE file").fetchall()}
            titles = sample.match_columns(tuple(types))
            selected = []
            for column, title in titles.items():
                check_type(column, title, types[title], name)
                value = f"CAST({quoted(title)} AS {'DOUBLE' if column.startswith('score') else 'VARCHAR'})"
                selected.append(f'{or_none(column, value)} AS "{column}"')
            database.execute(f"CREATE TEMP VIEW trials AS SELECT {', '.join(selected)} FROM file")
            indices = {column: index for index, column in enumerate(titles)}
            trial = (indices.pop("trial"),) if "trial" in indices else ()
            table = table_of(database, LineLayout("", tuple(titles), indices, trial))
        except Unclean as error:
            raise _missing(database, error.columns, titles, name) from None
        except (duckdb.Error, StreamError) as error:
            raise InputError(f"{name}: the Parquet file cannot be read ({first_line(error)})") from None
    table.refuse_missing_labels(name, lambda row: f"in row {row + 1}")
    return table


def check_type(column: str, title: str, kind: str, name: str) -> None:
    """Refuse a column whose type does not suit its role, in a file that is read or scanned."""
    if column.startswith("score"):
        if not NUMBER.fullmatch(kind):
            raise InputError(f"{name}: the scores in column {title!r} must be numbers, not {kind}")
    elif _NESTED.fullmatch(kind) or (column not in ("label", "weight", "amount") and kind in ("FLOAT", "DOUBLE")):
        raise not_names(name, title, column, kind)


def _missing(database: DuckDBPyConnection, columns: Sequence[str], titles: Mapping[str, str], name: str) -> InputError:
    """Return the error for names that are missing, or cannot be kept, in one of these columns."""
    for column in columns:
        database.execute(f'CREATE TEMP TABLE {column}_list AS SELECT "{column}" AS name FROM trials')
        query = f"SELECT count(*), min(rowid) FROM {column}_list WHERE name IS NULL OR name = ''"
        count, first = single(database, query)
        if count:
            where = f"{name}: column {titles[column]!r}"
            return InputError(f"{where}: {count} values are missing (the first in row {first + 1}); fill them in")
    if single(database, "SELECT count(*) FROM trials")[0]:
        return InputError(f"{name}: column {titles[columns[0]]!r} holds a NUL character; remove it")
    return InputError(f"{name}: no trials, only the names of columns; nothing to read")
