"""Files: the Parquet files behind a glob, opened together in duckdb, watched, and cleaned up after."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.errors import InputError, OptionError
from priori.readers.fast import literal, pattern

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["Files", "expand"]

Fingerprint = tuple[tuple[str, int, int], ...]

#: The part of the memory that duckdb may use; the rest is for what it hands over.
SHARE = 0.5
#: Below this duckdb cannot read.
LEAST = 64 << 20
#: Files that a sample is taken from.
SAMPLED = 8


def expand(given: str | os.PathLike[str]) -> list[str]:
    """Return the files that a path, a directory or a glob stands for, in order."""
    path = os.fspath(given)
    if os.path.isdir(path):
        path = os.path.join(glob.escape(path), "**", "*.parquet")
    elif os.path.exists(path):
        return [path]
    found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
    if not found:
        raise InputError(f"{os.fspath(given)}: there is no such file; check the path, and put a glob between quotes")
    return found


class Files:
    """Parquet files as one relation, in a database of their own that uses a bounded memory and spills to disk."""

    format = "parquet"

    def __init__(
        self, given: str | os.PathLike[str], *, memory: int = 1 << 30, temp: str | os.PathLike[str] | None = None
    ) -> None:
        self.given = given
        self.paths = expand(given)
        self.before = self._fingerprint()
        self.directory = _temporary(temp)
        self._cleanup = weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)
        self.connection = _connect(max(int(memory * SHARE), LEAST), self.directory)
        self._close = weakref.finalize(self, self.connection.close)

    def relation(self, paths: list[str] | None = None) -> DuckDBPyRelation:
        """Return all the files, or others, as one relation."""
        return self.connection.sql(f"SELECT * FROM {self._scan(paths or self.paths)}")

    def _scan(self, paths: list[str]) -> str:
        return f"read_parquet([{', '.join(map(pattern, paths))}])"

    def statistics(self, column: str) -> tuple[int, tuple[float, float] | None]:
        """Return the number of rows and the range of a column, as far as the files themselves tell."""
        (rows,) = self._one(f"SELECT count(*) FROM {self._scan(self.paths)}")
        low, high, all_told = self._one(
            "SELECT min(TRY_CAST(stats_min_value AS DOUBLE)), max(TRY_CAST(stats_max_value AS DOUBLE)), "
            "count(*) = count(stats_min_value) "
            f"FROM parquet_metadata([{', '.join(map(pattern, self.paths))}]) WHERE path_in_schema = {literal(column)}"
        )
        told = all_told and low is not None and high is not None and np.isfinite([low, high]).all()
        return int(rows), (low, high) if told else None

    def sample(self, text: str, size: int) -> NDArray[Any]:
        """Return the column ``score`` of a query on a few rows of a few files."""
        few = self.paths[:: max(1, len(self.paths) // SAMPLED)]
        parts = [f"(SELECT * FROM {self._scan([path])} LIMIT {size // len(few)})" for path in few]
        few_rows = self.connection.sql(" UNION ALL ".join(parts)).query("trials", text)
        assert few_rows is not None
        return np.ascontiguousarray(few_rows.fetchnumpy()["score"])

    def _one(self, text: str) -> tuple[Any, ...]:
        (row,) = self.connection.execute(text).fetchall()
        return tuple(row)

    def _fingerprint(self) -> Fingerprint:
        found = []
        for path in self.paths:
            try:
                state = os.stat(path)
            except OSError as error:
                raise InputError(f"{path}: cannot be read ({error.strerror}); was it removed?") from None
            found.append((path, state.st_size, state.st_mtime_ns))
        return tuple(found)

    def check(self) -> None:
        """Raise an error if the files are not what they were when they were opened."""
        if expand(self.given) != self.paths or self._fingerprint() != self.before:
            raise InputError(
                f"{os.fspath(self.given)}: the files changed while they were read; try again when they are complete"
            )

    def close(self) -> None:
        """Close the database and remove its temporary files."""
        self._close()
        self._cleanup()


def _temporary(temp: str | os.PathLike[str] | None) -> str:
    try:
        return tempfile.mkdtemp(prefix="priori-", dir=temp)
    except OSError as error:
        where = temp if temp is not None else Path(tempfile.gettempdir())
        raise OptionError(f"cannot put temporary files into {os.fspath(where)}: {error.strerror}") from None


def _connect(memory: int, directory: str) -> DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(
        config={
            "memory_limit": f"{memory >> 20}MiB",
            "temp_directory": directory,
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
    )
    connection.execute("SET enable_progress_bar = false")
    return connection
