"""Opening: from a path, a glob, a relation or a frame to scores in memory or a table elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, get_args

from priori.base.errors import OptionError, unknown
from priori.engines.duckdb import DuckDB
from priori.engines.engine import TableSettings
from priori.engines.parquet_files import Files, Watch
from priori.engines.table import PER_TRIAL, Table
from priori.readers import read
from priori.readers.input_file import ARROW_MAGIC, PARQUET_MAGIC
from priori.scores import NanPolicy, Scores

EngineName = Literal["auto", "memory", "duckdb", "spark"]
ENGINES: tuple[str, ...] = get_args(EngineName)

#: Files below this many bytes are read into memory without a look at how many rows they have.
SMALL = 16 << 20
#: The least bytes of a text file that a trial takes, about; gzip makes them fewer.
PER_LINE = 12


def bytes_of(memory: str | int) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> bytes_of("1.5GB"), bytes_of("512MiB")
    (1500000000, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(?:([KMGT])(I?))?B?\s*", str(memory).upper())
    number = 0.0
    if match is not None:
        number = float(match[1]) * (1024 if match[3] else 1000) ** " KMGT".index(match[2] or " ")
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
    attack_label: Any = None,
    nan: NanPolicy = "error",
    lower_is_better: bool = False,
    announce: Callable[[str], None] | None = None,
) -> Scores | Table:
    """Open scores that may not fit in memory, for use wherever `Scores` are used.

    Curves at given alphas, bands with thresholds fixed and paired comparisons come out the same, to the last bit,
    as if everything were in memory.

    Parameters
    ----------
    source : path, glob, directory, address, duckdb relation, Spark DataFrame, or lazy frame
        Files of Parquet or of text as `priori.read` reads them; a directory stands for the Parquet files in it. At an
        address (``s3://bucket/dev.parquet``) only Parquet files are read.
    engine : {"auto", "memory", "duckdb", "spark"}
        Where the counting is done. ``auto`` reads files into memory if they fit there, and scans them with duckdb
        if not; a relation or a lazy frame stays where it is.
    memory : str or int
        How much memory may be used: ``"500MB"``, ``"2GB"``, or bytes.
    temp : path, optional
        Where temporary files go, such as text files turned into Parquet. They are removed at the end.
    format, columns, pos_label, attack_label, nan, lower_is_better
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
    is_path = isinstance(source, (str, os.PathLike))
    settings = TableSettings(
        dict(columns or {}), pos_label, nan, lower_is_better, as_text=is_path, attack_label=attack_label
    )
    if not is_path:
        return _from_frame(source, settings, engine, room)
    if engine == "spark":
        from priori.engines.spark import open_spark

        say(f"{os.fspath(source)}: read by spark")
        return Table(open_spark(source, settings, temp), memory=room)
    watch = Watch(source)
    read_whole = partial(read, watch.paths[0], format=format, announce=say, **settings.options())
    single = len(watch.paths) == 1 and watch.store is None
    if single and (engine == "memory" or (engine == "auto" and watch.size < SMALL)):
        return read_whole()
    if engine == "auto" and single and not is_columnar(watch.paths[0]) and watch.size / PER_LINE * PER_TRIAL < room:
        return read_whole()
    files = Files(watch, settings, memory=room, temp=temp, format=format)
    in_memory = engine == "memory" or (engine == "auto" and files.rows * PER_TRIAL <= room)
    if in_memory and single:
        files.close()
        return read_whole()
    counted = f"{files.rows} trials in {len(watch.paths)} file{'s' if len(watch.paths) > 1 else ''}"
    table = Table(DuckDB(files.relation(), files.settings, source=watch.shown, files=files), memory=room)
    if in_memory:
        say(f"{watch.shown}: {counted}, read into memory")
        with table:
            return table.engine.load()
    say(f"{watch.shown}: {counted}, scanned by duckdb in {room // 10**6} MB")
    return table


def is_columnar(path: str) -> bool:
    """Tell whether a file begins as every Parquet or Arrow file does."""
    with open(path, "rb") as file:
        return file.read(len(ARROW_MAGIC)).startswith((PARQUET_MAGIC, ARROW_MAGIC))


def _from_frame(frame: Any, settings: TableSettings, engine: str, memory: int) -> Scores | Table:
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
        return Scores.from_frame(frame, **settings.options())
    if not {"duckdb": kind.is_duckdb(), "spark": kind.is_spark_like()}.get(engine, True):
        raise OptionError(f"a {kind} frame cannot be read by the {engine} engine; leave the engine out")
    if kind.is_duckdb():
        return Table(DuckDB(frame, settings), memory=memory)
    from priori.engines.lazy_frames import Lazy
    from priori.engines.spark import Spark

    return Table((Spark if kind.is_spark_like() else Lazy)(frame, settings), memory=memory)
