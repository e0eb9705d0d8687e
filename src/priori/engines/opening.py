"""Opening: from a path, a glob, a frame or a table of many systems to scores in memory, or to tables elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from priori.base.errors import InputError, OptionError, unknown
from priori.engines.duckdb import DuckDB
from priori.engines.panel import Panel
from priori.engines.parquet_files import Files, WatchedFiles
from priori.engines.sql import TableSettings
from priori.engines.table import PER_TRIAL, Table
from priori.readers import read
from priori.readers.input_file import PARQUET_MAGIC
from priori.readers.layout import Columns
from priori.readers.trial_tables import TrialTable, Values, about_sizes, needed_columns, read_table, several
from priori.scores import Names, NanPolicy, Scores, ScoreSet
from priori.scores.histogram import BINS

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
    source : path, glob, directory, duckdb relation, Spark DataFrame, or another frame
        Files of Parquet or of text as `priori.read` reads them; a directory stands for the Parquet files in it. Spark
        reads Parquet files at an address, too (``hdfs://...``).
    engine : {"auto", "memory", "duckdb", "spark"}
        Where the counting is done. ``auto`` reads files into memory if they fit there, and scans them with duckdb
        if not; a relation or a Spark DataFrame stays where it is, and other frames are read into memory.
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
    watch = WatchedFiles(source)
    read_whole = partial(read, watch.paths[0], format=format, announce=say, **settings.options())
    if watch.single and (engine == "memory" or (engine == "auto" and _fits(watch, room))):
        return read_whole()
    files = Files(watch, settings, memory=room, temp=temp, format=format)
    in_memory = engine == "memory" or (engine == "auto" and files.rows * PER_TRIAL <= room)
    if in_memory and watch.single:
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


def _fits(watch: WatchedFiles, room: int) -> bool:
    """Return whether a file is so small that it is read into memory without counting its rows."""
    if watch.size < SMALL or watch.size / PER_LINE * PER_TRIAL >= room:
        return watch.size < SMALL
    with open(watch.paths[0], "rb") as file:
        return file.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC


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
    if engine == "memory" or not (kind.is_duckdb() or kind.is_spark_like()):
        if engine not in ("auto", "memory"):
            raise OptionError(f"a {kind} frame is read into memory; leave out engine={engine!r}")
        return Scores.from_frame(frame, **settings.options())
    if engine != "auto" and kind.is_duckdb() != (engine == "duckdb"):
        raise OptionError(f"a {kind} frame cannot be read by the {engine} engine; leave the engine out")
    if kind.is_duckdb():
        return Table(DuckDB(frame, settings), memory=memory)
    from priori.engines.spark import Spark

    return Table(Spark(frame, settings), memory=memory)


#: Where a row stands in its table: by file, and by row of the file.
IN_FILE, IN_ROW = "priori_in_file", "priori_in_row"
#: Bytes of the memory given that a bin of a system's histogram needs, with all that is made of it.
PER_BIN = 512


def scan_table(
    path: str | os.PathLike[str],
    *,
    systems: Values,
    split: tuple[str, Values, Values] | None,
    where: Mapping[str, Values] | None = None,
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
) -> dict[str, tuple[ScoreSet, ScoreSet]]:
    """Open one table of many systems that may not fit in memory.

    The systems of a wide table are paired by its rows. What is asked of all systems together, as `priori.epc_all` and
    `priori.rank` do, is counted in one scan of the table for all of them.

    Parameters
    ----------
    path : path, glob or directory
        The table: CSV, TSV or Parquet, in one file or several.
    systems, split, where
        As in `priori.read_table`.
    engine, memory, temp
        As in `priori.scan`.
    format, columns, pos_label, attack_label, nan, lower_is_better, announce
        As in `priori.read`.

    Returns
    -------
    dict
        The name of each system, in the order of the table, with its development and test scores.

    Examples
    --------
    >>> import os, tempfile, priori
    >>> rows = ((part, label, label + k / 7, label + k / 5) for part in ("dev", "eval") for label in (0, 1)
    ...         for k in range(9))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "wide.csv")
    ...     with open(path, "w") as file:
    ...         print("set,label,A,B", *(",".join(map(str, row)) for row in rows), sep="\\n", file=file)
    ...     sets = priori.scan_table(path, systems=["A", "B"], split=("set", "dev", "eval"), engine="duckdb")
    ...     [curve.value.round(3).tolist() for curve in priori.epc_all(sets, alpha=[0.5])]
    [[0.111], [0.222]]
    """
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    room, say = bytes_of(memory), announce or (lambda line: None)
    filters = {column: several(values) for column, values in (where or {}).items()}
    ours, more = needed_columns(systems, [*(split or ())[:1], *filters], dict(columns or {}))
    settings = TableSettings(ours, pos_label, nan, lower_is_better, as_text=True, attack_label=attack_label, more=more)
    watch = None if engine == "spark" else WatchedFiles(path)
    if watch is not None and watch.single and (engine == "memory" or (engine == "auto" and _fits(watch, room))):
        options = {**settings.options(), "columns": columns, "format": format, "announce": announce}
        return {**read_table(watch.paths[0], systems=systems, split=split, where=where, **options)}
    if split is None and not filters and not isinstance(systems, str):
        raise OptionError(f"{os.fspath(path)}: a wide table that no column divides is read into memory")
    if engine == "memory":
        raise OptionError(f"{os.fspath(path)}: several files are scanned; leave the engine out")
    source = _opened(path, watch, settings, room, temp, format)
    held = {"score": source.columns["score"], **source.settings.more}
    titles = {title: held[column] for column, title in more.items() if column.startswith("extra")}
    table, number = _census(source, titles)
    names, parts, notes = table.split(split, filters)
    chosen = [*table.systems(systems, parts)]
    found: dict[str, list[Table]] = {name: [] for name, _, _ in chosen}
    for part, called in zip(parts, names, strict=True):
        named = [(f"{source.source} ({name}, {called})", held.get(column, column)) for name, column, _ in chosen]
        if not all((part & own).any() for _, _, own in chosen):
            raise InputError(f"{source.source}: no rows; every system needs both sets")
        whose = titles[systems] if isinstance(systems, str) else None
        kept = part & np.logical_or.reduce([own for _, _, own in chosen])
        met = {column: table.values_in(title, kept) for title, column in titles.items()}
        condition = " AND ".join(
            f"CAST({source.quoted(column)} AS STRING) IN ({', '.join(map(source.literal, values))})"
            for column, values in met.items()
        )
        columns = {**source.settings.columns, "score": named[0][1]}
        if whose is not None:
            named = [(title, name) for (title, _), (name, _, _) in zip(named, chosen, strict=True)]
        of_part = replace(source.settings, columns=columns, more={}, systems=named, system_in=whose)
        panel = source.part(condition, int(number[kept].sum()), of_part)
        for system, (name, _, _) in enumerate(chosen):
            own = room // len(chosen)
            memory, bins = max(own, 1 << 20), int(np.clip(own // PER_BIN, 1 << 12, BINS))
            found[name].append(Table(panel, memory=memory, bins=bins, system=system))
    for note in (*notes, *table.left_out(systems, parts, names)):
        say(note)
    sizes = about_sizes(names, [number[part].sum() for part in parts])
    engine_name = type(source).__name__.lower()
    say(f"{source.source}: {len(found)} system{'s' * (len(found) != 1)}, {sizes}, scanned by {engine_name}")
    return {name: (sets[0], sets[-1]) for name, sets in found.items()}


def _opened(
    path: str | os.PathLike[str],
    watch: WatchedFiles | None,
    settings: TableSettings,
    memory: int,
    temp: str | os.PathLike[str] | None,
    format: str | None,
) -> Panel:
    """Open a table of many systems by duckdb, or by Spark where its files are not watched here."""
    if watch is None:
        from priori.engines.spark import open_spark

        return open_spark(path, settings, temp)
    files = Files(watch, settings, memory=memory, temp=temp, format=format)
    present = files.relation().columns
    for title in files.settings.more.values():
        if title not in present:
            raise InputError(f"{watch.shown}: no column is called {title!r}; the columns are {', '.join(present)}")
    return DuckDB(files.relation(), files.settings, source=watch.shown, files=files)


def _census(source: Panel, titles: Mapping[str, str]) -> tuple[TrialTable, Any]:
    """Return every combination of the values of some columns as the row of a small table, and how often each comes.

    They are in the order in which the table has them first.
    """
    keys = {f"extra{number}": column for number, column in enumerate(titles.values())}
    listed = ", ".join(f"CAST({source.quoted(column)} AS STRING) AS {key}" for key, column in keys.items())
    first = f"{IN_FILE}, count(*) AS rows, min({IN_ROW}) AS first FROM {source.placed(IN_FILE, IN_ROW)}"
    told = source.table(
        f"SELECT * FROM (SELECT {listed}, {first} GROUP BY ALL) ORDER BY {', '.join([IN_FILE, 'first', *keys])}"
    )
    counted = dict[tuple[str, ...], int]()
    for rows, *values in zip(told["rows"].tolist(), *(told[key].tolist() for key in keys), strict=True):
        each = tuple(map(str, values))
        counted[each] = counted.get(each, 0) + int(rows)  # which may stand in several files
    columns = np.array([*counted], dtype=str).reshape(len(counted), len(keys)).T
    found = {key: np.unique(column, return_inverse=True) for key, column in zip(keys, columns, strict=True)}
    names = {key: Names(known) for key, (known, _) in found.items()}
    codes = {key: inverse.astype(np.int32) for key, (_, inverse) in found.items()}
    number = np.array([*counted.values()], dtype=np.int64)
    return TrialTable(Columns({}, codes, names), dict(zip(titles, keys, strict=True)), source.source), number
