"""Files: what is behind a glob, opened together in duckdb, watched, and cleaned up after.

Text files are turned into Parquet once, since every scan would parse them again.
"""

from __future__ import annotations

import glob
import os
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from priori.base.arrow_streams import StreamError
from priori.base.dataframes import NAMED_ONLY
from priori.base.errors import InputError, OptionError, argument
from priori.base.temporary import discard, temporary_folder
from priori.engines.sql import TableSettings
from priori.readers.duckdb_parser import convert, first_line, open_database, parquet_rows, single
from priori.readers.formats import Sample, recognise
from priori.readers.input_file import open_source, shown, utf8_path

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation


#: The size of a file, and what changes with what is in it.
State = tuple[int, object]


#: The part of the memory that duckdb may use; the rest is for what it hands over.
SHARE = 0.5
#: Below this duckdb cannot read.
LEAST = 64 << 20
#: What duckdb calls the number of a row in its file, if it is asked for it, and what we call the file.
ROW_NUMBER, FILE = "file_row_number", "priori_file"


def expand(path: str) -> list[str]:
    """Return the files that a path, a directory or a glob stands for, in order."""
    if "://" in path:
        raise OptionError(
            f"{path}: files at an address are read by the spark engine ({argument('engine', 'spark')}), or as a duckdb "
            "relation; or fetch them, and read them from here"
        )
    is_directory = os.path.isdir(path)
    if os.path.exists(path) and not is_directory:
        return [path]
    pattern = os.path.join(glob.escape(path), "**", "*.parquet") if is_directory else path
    files = sorted(name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name))
    if not files and is_directory:
        raise InputError(f"{shown(path)}: a directory without Parquet files; name a file, or put a glob between quotes")
    if not files:
        raise InputError(f"{shown(path)}: there is no such file; check the path, and put a glob between quotes")
    return files


@contextmanager
def guarded(source: str) -> Iterator[None]:
    """Turn the errors of duckdb, and of a full disk, into ours."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{source}: more memory is needed than was given ({first_line(error)}); raise {argument('memory')}, or "
            f"give a directory with room for temporary files ({argument('temp')})"
        ) from None
    except (duckdb.Error, StreamError, OSError) as error:
        if any(reason in str(error) for reason in ("No space left", "File too large", "Disk quota")):
            raise InputError(
                f"{source}: the disk of the temporary files is full; give another directory for them "
                f"({argument('temp')})"
            ) from None
        if "Too many open files" in str(error):
            raise InputError(
                f"{source}: more files than may be open at a time; allow more (ulimit -n), or join them into fewer"
            ) from None
        raise InputError(f"{source}: cannot be read ({first_line(error)})") from None


class WatchedFiles:
    """The files behind a glob, with their sizes and times: they must stay as they are while they are read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.source = os.fspath(path)
        self.shown = shown(self.source)
        self.paths = expand(self.source)
        self._before = self._state()

    def _state(self) -> list[tuple[int, int]]:
        try:
            states = [os.stat(path) for path in self.paths]
        except OSError as error:
            raise InputError(f"{shown(error.filename)}: cannot be read ({error.strerror}); was it removed?") from None
        # A pipe is read once, and changes by that.
        return [(state.st_size, state.st_mtime_ns) if S_ISREG(state.st_mode) else (0, 0) for state in states]

    @property
    def single(self) -> bool:
        """Whether it is one file."""
        return len(self.paths) == 1

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(size for size, _ in self._before)

    def check(self) -> None:
        """Raise an error if the files are not what they were."""
        if expand(self.source) != self.paths or self._state() != self._before:
            raise InputError(f"{self.shown}: the files changed while they were read; try again when they are complete")


class Files:
    """Files as one relation, in a database of their own that uses a bounded memory and spills to disk."""

    def __init__(
        self,
        watch: WatchedFiles,
        settings: TableSettings,
        *,
        memory: int = 1 << 30,
        temp: str | os.PathLike[str] | None = None,
        format: str | None = None,
    ) -> None:
        self.watch = watch
        self.settings = settings
        self.memory = memory
        #: What rows must be like, in SQL; the files that this is a part of; and how many parts are in use.
        self.condition, self._parts = "", 0
        self._whole: Files | None = None
        self.directory = temporary_folder(temp)
        self._links = ExitStack()
        self._links.callback(discard, self.directory)
        self._cleanup = weakref.finalize(self, self._links.close)
        try:
            self.connection = open_database(
                memory_limit=f"{max(int(memory * SHARE), LEAST) >> 20}MiB",
                temp_directory=self.directory,
                preserve_insertion_order="false",
            )
            self._close = weakref.finalize(self, self.connection.close)
            with guarded(watch.shown):
                self.format, self.paths = self._opened(format)
                (rows,) = single(self.connection, f"SELECT count(*) FROM {_scan(self.paths)}")
        except BaseException:
            self._cleanup()
            raise
        #: The number of rows, which the files tell without being read.
        self.rows = int(rows)

    def _opened(self, format: str | None) -> tuple[str, list[str]]:
        """Return the format, and the Parquet files that are read: those given, or what they were turned into."""
        names, paths = set(), []
        for number, path in enumerate(self.watch.paths):
            with open_source(path) as source:
                sample = Sample(source, self.settings.columns, self.settings.pos_label, more=self.settings.more)
                chosen = recognise(sample, format)
                names.add(chosen.name)
                if chosen.name == "parquet":
                    if not os.path.isfile(path):
                        raise OptionError(
                            f"{source.name}: no Parquet file is scanned in a pipe; use {argument('engine', 'memory')}"
                        )
                    paths.append(str(utf8_path(Path(path), self._links)))
                elif (layout := chosen.layout(sample)) is None:
                    raise OptionError(
                        f"{source.name}: {chosen.title} are read in memory only; use {argument('engine', 'memory')}"
                    )
                else:
                    paths.append(os.path.join(self.directory, f"part-{number:06}.parquet"))
                    with self.in_order():  # the rows show which system comes first
                        convert(source, layout, paths[-1], self.connection)
        if len(names) > 1:
            raise InputError(f"{self.watch.shown}: files of different formats ({', '.join(sorted(names))}); use one")
        (name,) = names
        if name != "parquet":
            # The columns have our names now.
            named = {role: role for role in self.settings.columns if role in NAMED_ONLY}
            self.settings = replace(self.settings, columns=named, more={each: each for each in self.settings.more})
        return name, paths

    def part(self, condition: str, rows: int) -> Files:
        """Return the so many rows that meet a condition, as files of their own."""
        part = copy(self)
        part.condition, part.rows, part._whole = condition, rows, self
        self._parts += 1
        return part

    def written(self, relation: DuckDBPyRelation) -> Files:
        """Write a relation into a file, and return that."""
        written = copy(self)
        written.paths = [os.path.join(self.directory, f"joined-{id(written)}.parquet")]
        relation.write_parquet(written.paths[0], compression="uncompressed")
        (rows,) = single(self.connection, f"SELECT count(*) FROM {_scan(written.paths)}")
        written.condition, written.rows, written._whole = "", int(rows), self._whole or self
        return written

    def relation(self) -> DuckDBPyRelation:
        """Return all the rows as one relation."""
        return self.connection.sql(f"SELECT * FROM {self.source()}")

    def placed(self, file: str, row: str) -> str:
        """Return all the rows in SQL, with columns that say in which file each stands, and where in it."""
        # Rows are not numbered where a column of the table is called so.
        numbered = ROW_NUMBER not in self.relation().columns
        where = f"{FILE} AS {file}, {ROW_NUMBER} AS {row}" if numbered else f"'' AS {file}, 0 AS {row}"
        return f"(SELECT *, {where} FROM {self.source(numbered=numbered)})"

    def source(self, *, numbered: bool = False) -> str:
        """Return the rows in SQL; ``numbered``: with their file and their number in it."""
        source = _scan(self.paths, numbered=numbered)
        return f"(SELECT * FROM {source} WHERE {self.condition})" if self.condition else source

    def query(self, text: str, *, numbered: bool = False) -> DuckDBPyRelation:
        """Return the relation of a query over ``trials``, all the rows of the files."""
        return self.connection.sql(f"WITH trials AS (FROM {self.source(numbered=numbered)}) {text}")

    @contextmanager
    def in_order(self) -> Iterator[None]:
        """Keep rows in the order of the files."""
        self.connection.execute("SET preserve_insertion_order = true")
        try:
            yield
        finally:
            self.connection.execute("SET preserve_insertion_order = false")

    def keep(self, name: str, relation: DuckDBPyRelation) -> None:
        """Keep a small table in the database, where every piece can join it."""
        self.connection.execute(f"DROP TABLE IF EXISTS {name}").fetchall()
        relation.create(name)

    def close(self) -> None:
        """Close the database and remove its temporary files; of several parts the last does."""
        whole = self._whole or self
        whole._parts -= 1
        if whole._parts <= 0:
            whole._close()
            whole._cleanup()


def _scan(paths: list[str], *, numbered: bool = False) -> str:
    options = f", filename = '{FILE}', {ROW_NUMBER} = true" if numbered else ""
    return parquet_rows(paths, options)
