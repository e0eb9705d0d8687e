"""Opening: from a path, a glob, a relation or a frame to scores in memory or a table elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from priori.base.errors import OptionError, unknown
from priori.engines.duckdb import DuckDB
from priori.engines.engine import Engine, Settings
from priori.engines.lazy_frames import Lazy
from priori.engines.parquet_files import Files, Watch
from priori.engines.table import PER_TRIAL, Table
from priori.scores import NanPolicy, Scores

EngineName = Literal["auto", "memory", "duckdb", "spark"]
ENGINES: tuple[str, ...] = get_args(EngineName)

#: Files below this many bytes are read into memory without a look at how many rows they have.
SMALL = 16 << 20
#: The least bytes of a text file that a trial takes, about; gzip makes them fewer.
PER_LINE = 12
UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def bytes_of(memory: str | int) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> bytes_of("1.5GB"), bytes_of("512MiB")
    (1500000000, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)(I?)B?\s*", str(memory).upper())
    number = 0.0
    if match is not None:
        unit = UNITS[match[2]]
        number = float(match[1]) * (2 ** (10 * "KMGT".find(match[2]) + 10) if match[3] else unit)
    if number < 10**6:
        raise OptionError(f"memory must be an amount of at least 1 MB such as 500MB or 2GB, not {memory!r}")
    return int(number)


def scan(
    source: Any,
    *,
    engine: EngineName = "auto",
    memory: str | int = "1GB",
    temp: str | os.PathLike[str] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    pos_label: Any = None,
    nan: NanPolicy = "error",
    lower_is_better: bool = False,
    announce: Callable[[str], None] | None = None,
) -> Scores | Table:
    """Open scores that may not fit in memory, for use wherever `Scores` are used.

    Curves at given alphas, bands with thresholds fixed and paired comparisons come out the same, to the last bit,
    as if everything were in memory.

    Parameters
    ----------
    source : path, glob, directory, duckdb relation, Spark DataFrame, or lazy frame
        Files of Parquet or of text as `priori.read` reads them; a directory stands for the Parquet files in it.
    engine : {"auto", "memory", "duckdb", "spark"}
        Where the counting is done. ``auto`` reads files into memory if they fit there, and scans them with duckdb
        if not; a relation or a lazy frame stays where it is.
    memory : str or int
        How much memory may be used: ``"500MB"``, ``"2GB"``, or bytes.
    temp : path, optional
        Where temporary files go, such as text files turned into Parquet. They are removed at the end.
    format, columns, pos_label, nan, lower_is_better
        As in `priori.read`.
    announce : callable, optional
        Gets one line of text that says which engine was taken.

    Returns
    -------
    Scores or Table
        In memory, or elsewhere.

    Examples
    --------
    >>> import duckdb, priori
    >>> trials = duckdb.sql("SELECT (i % 2)::INT AS label, sin(i) + i % 2 AS score FROM range(1000) t(i)")
    >>> dev = priori.scan(trials)
    >>> dev
    Table('relation', duckdb)
    >>> round(priori.choose_threshold(dev, alpha=0.5), 6)
    5e-06
    """
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    room = bytes_of(memory)
    say = announce or (lambda line: None)
    if not isinstance(source, (str, os.PathLike)):
        settings = Settings(dict(columns or {}), pos_label, nan, lower_is_better)
        return _from_frame(source, settings, engine, room)
    settings = Settings(dict(columns or {}), pos_label, nan, lower_is_better, as_text=True)
    if engine == "spark":
        from priori.engines.spark import open_spark

        say(f"{os.fspath(source)}: read by spark")
        return Table(open_spark(source, settings, temp), memory=room)
    watch = Watch(source)
    single = len(watch.paths) == 1
    if single and (engine == "memory" or (engine == "auto" and watch.size < SMALL)):
        return _read(watch, settings, format, say)
    if engine == "auto" and single and not _is_parquet(watch.paths[0]) and watch.size / PER_LINE * PER_TRIAL < room:
        return _read(watch, settings, format, say)
    files = Files(watch, memory=room, temp=temp, format=format, columns=columns, pos_label=pos_label)
    fits = files.rows * PER_TRIAL <= room
    if engine == "memory" or (engine == "auto" and fits):
        if single:
            files.close()
            return _read(watch, settings, format, say)
        say(f"{watch.given}: {_counted(files)}, read into memory")
        with Table(_duckdb(files, settings, watch.given)) as table:
            return table.engine.load()
    say(f"{watch.given}: {_counted(files)}, scanned by duckdb in {room // 10**6} MB")
    return Table(_duckdb(files, settings, watch.given), memory=room)


def _counted(files: Files) -> str:
    number = len(files.watch.paths)
    return f"{files.rows} trials in {number} file{'s' if number > 1 else ''}"


def _duckdb(files: Files, settings: Settings, source: str) -> DuckDB:
    from dataclasses import replace

    return DuckDB(files.relation(), replace(settings, columns=files.columns), source=source, files=files)


def _is_parquet(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def _read(watch: Watch, settings: Settings, format: str | None, say: Callable[[str], None]) -> Scores:
    from priori.readers import read

    return read(
        watch.paths[0],
        format=format,
        columns=settings.columns,
        pos_label=settings.pos_label,
        nan=settings.nan,
        lower_is_better=settings.lower_is_better,
        announce=say,
    )


def _from_frame(frame: Any, settings: Settings, engine: str, memory: int) -> Scores | Table:
    import narwhals as nw

    try:
        native = nw.from_native(frame)
    except TypeError:
        raise OptionError(
            "a set of scores must be Scores (priori.read, priori.scan, Scores.from_...), a duckdb relation, a Spark "
            f"DataFrame or another frame that narwhals knows, not a {type(frame).__name__}"
        ) from None
    kind = native.implementation
    if engine == "memory" or not isinstance(native, nw.LazyFrame):
        if engine not in ("auto", "memory"):
            raise OptionError(f"a {kind} frame is in memory already; leave out engine={engine!r}")
        return Scores.from_frame(
            frame,
            columns=settings.columns,
            pos_label=settings.pos_label,
            nan=settings.nan,
            lower_is_better=settings.lower_is_better,
        )
    found: Engine
    if kind.is_duckdb():
        found = DuckDB(frame, settings)
    elif kind.is_spark_like():
        from priori.engines.spark import Spark

        found = Spark(frame, settings)
    else:
        found = Lazy(frame, settings)
    wanted = {"duckdb": kind.is_duckdb(), "spark": kind.is_spark_like()}.get(engine, True)
    if not wanted:
        raise OptionError(f"a {kind} frame cannot be read by the {engine} engine; leave the engine out")
    return Table(found, memory=memory)
