"""The Spark back end: a Spark DataFrame, or Parquet files read by Spark.

Rows are counted by the same code as anywhere else, on Spark's workers, where Priori must be installed too. They add up
what they counted, too, and only that comes back.
"""

from __future__ import annotations

import os
import re
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.arrow_streams import batches
from priori.base.errors import InputError, OptionError, PrioriError, argument
from priori.base.extras import require
from priori.engines.counting import By, Count, Fetch, KeyCounts, Owned, Work, fed
from priori.engines.panel import Panel, systems_of
from priori.engines.parquet_files import WatchedFiles
from priori.engines.sql import Handed, Owners, TableSettings
from priori.readers.duckdb_parser import first_line

#: The characters that make a name a pattern for Spark.
GLOB = "*?[]{}\\"
#: Spark's names of types, where duckdb has others.
TYPES = {"INT": "INTEGER", "STRING": "VARCHAR"}
#: Numbers the views.
_COUNT = count()


class Spark(Panel):
    """Answers from a Spark DataFrame; ``watch`` checks the files behind it, if they are within reach."""

    def __init__(
        self, frame: Any, settings: TableSettings, *, source: str = "frame", watch: WatchedFiles | None = None
    ) -> None:
        require("pyarrow")
        # Bytes are text: not every writer marks its text as such.
        held = {name: frame[_quoted(name)].cast("string") for name, kind in frame.dtypes if kind == "binary"}
        self.frame, self.watch = frame.withColumns(held) if held else frame, watch
        self.format = None if watch is None else "parquet"
        types = {name: TYPES.get(kind.upper(), kind.upper()) for name, kind in self.frame.dtypes}
        super().__init__(types, settings, source)
        self._trials = _viewed(self, self.frame)
        self._listed: dict[tuple[str, ...], str] = {}

    # -- asking ------------------------------------------------------------------------------------------

    @contextmanager
    def guarded(self) -> Iterator[None]:
        try:
            yield
        except PrioriError:
            raise
        except Exception as error:  # a Java machine reports in exceptions of its own
            reason = reason_of(error)
            if "No module named" in reason:
                reason += "; its workers need Priori and pyarrow, and PYSPARK_PYTHON says which Python they run"
            raise InputError(f"{self.source}: pyspark could not read the scores ({reason})") from None
        if self.watch is not None:
            self.watch.check()
        if self.progress is not None:
            self.progress(1, 1)

    def query(self, text: str) -> Any:
        return self.frame.sparkSession.sql(f"WITH trials AS (SELECT * FROM {self._trials}) {text}")

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        with self.guarded():
            return [tuple(row) for row in self.query(text).collect()]

    def table(self, text: str) -> dict[str, NDArray[Any]]:
        with self.guarded():
            return collected(self.query(text))

    def quoted(self, name: str) -> str:
        return _quoted(name)

    def literal(self, text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def present(self, score: str) -> str:
        return f"({score} IS NOT NULL AND NOT isnan({score}))"

    def part_of(self, parts: int) -> Owners:
        # Rows without ids are beside each other in one table: what they are numbered by does not depend on its columns.
        key = f"CAST({self.column('trial')} AS STRING)" if "trial" in self.columns else "monotonically_increasing_id()"
        return Owners(f"pmod(xxhash64({key}), {parts})", "trials")

    def coded(self, roles: Sequence[str]) -> str:
        """Return the query that numbers the combinations of names; its answer is kept, as scans by them join it."""
        if tuple(roles) not in self._listed:
            self._listed[tuple(roles)] = _viewed(self, self.query(self.numbering(roles)).cache())
        return f"SELECT * FROM {self._listed[tuple(roles)]}"

    def view(self, panel: Spark, text: str, number: int) -> str:
        return _viewed(self, panel.query(text))

    def panel_of(self, joined: Any, settings: TableSettings) -> Spark:
        return Spark(joined, settings, source=self.source, watch=self.watch)

    def placed(self, file: str, row: str) -> str:
        """Return the rows of files, with columns that say in which file each stands, and where in it."""
        from pyspark.sql import functions

        where = {file: functions.col("_metadata.file_path"), row: functions.col("_metadata.row_index")}
        return _viewed(self, self.frame.withColumns(where))

    def part(self, condition: str, rows: int, settings: TableSettings) -> Spark:
        return Spark(self.frame.filter(condition), settings, source=self.source, watch=self.watch)

    # -- counting ----------------------------------------------------------------------------------------

    def scanned(self, requests: Sequence[Count | Fetch], by: By, owned: Owned) -> list[Any]:
        text, handed = self.handed(systems_of(requests), by)
        plain = [replace(request, panel=None) for request in requests]
        works = self.begin(plain, owned)()
        counting = _Counting(self.begin(plain, Owned(owned.number)), handed)
        adding = partial(_added, [work.width for work in works])
        schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        with self.guarded():
            counted = self.query(text).mapInArrow(counting, schema)
            told = collected(counted.repartition("work", "piece").mapInArrow(adding, schema))
        answers = []
        for number, work in enumerate(works):
            entries = _joined(work.width, told["counts"][told["work"] == number].tolist())
            answers.append(None if entries is None else work.answered(entries))
        return answers


#: What workers hand over: of which request it is, which piece of its keys, and these with their numbers (`_packed`).
COLUMNS = {"work": "BIGINT", "piece": "BIGINT", "counts": "BINARY"}
#: Keys are added up in so many pieces, as a power of two.
PIECES = 6


@dataclass(frozen=True)
class _Counting:
    """What a worker does with some of the rows: it counts them and returns the counts as a table."""

    begin: Callable[[], list[Work]]
    handed: Handed

    def __call__(self, given: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        works = self.begin()
        tables = (pa.Table.from_batches([batch]) for batch in given)
        fed(works, (self.handed.rows(columns) for table in tables for columns in batches(table)))
        for number, work in enumerate(works):
            for piece, counts in [(0, None)] if work.failed else _in_pieces(work.entries()):
                yield _row(number, piece, counts)


def _added(widths: Sequence[int], given: Iterable[Any]) -> Iterator[Any]:
    """Add up some pieces of the keys of requests; ``widths`` are how many numbers the keys of each are made of."""
    pieces: list[list[bytes | None]] = [[] for _ in widths]
    for batch in given:
        for work, counts in zip(batch.column("work").to_pylist(), batch.column("counts").to_pylist(), strict=True):
            pieces[work].append(counts)
    for work, (width, own) in enumerate(zip(widths, pieces, strict=True)):
        if own:
            entries = _joined(width, own)
            yield _row(work, 0, None if entries is None else _packed(KeyCounts.of([entries])))


def _row(work: int, piece: int, counts: bytes | None) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [pa.array([work]), pa.array([piece]), pa.array([counts], pa.binary())], [*COLUMNS]
    )


def _joined(width: int, pieces: Sequence[bytes | None]) -> KeyCounts | None:
    """Return several pieces one after the other; None where a worker had too many keys."""
    held = [np.frombuffer(piece, np.int64).reshape(width + 1, -1) for piece in pieces if piece is not None]
    if len(held) < len(pieces):
        return None
    *keys, number = np.concatenate([np.empty((width + 1, 0), np.int64), *held], axis=1)
    return KeyCounts(keys, number)


def _in_pieces(entries: KeyCounts) -> Iterator[tuple[int, bytes]]:
    """Yield the keys in pieces that every worker makes alike, with the number of each."""
    spread = entries.keys[-1].view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - PIECES)
    order = np.argsort(spread, kind="stable")
    ends = np.cumsum(np.bincount(spread.astype(np.intp), minlength=1 << PIECES))
    for piece, part in enumerate(np.split(order, ends[:-1])):
        if part.size:
            yield piece, _packed(KeyCounts([key[part] for key in entries.keys], entries.number[part]))


def _packed(entries: KeyCounts) -> bytes:
    """Return keys and their numbers as bytes: Spark moves a few of these sooner than as many rows as there are keys."""
    return np.stack([*entries.keys, entries.number]).tobytes()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _viewed(panel: Spark, frame: Any) -> str:
    """Return the name of a view of a frame, which is there as long as the panel is."""
    name = f"priori_{os.getpid()}_{next(_COUNT)}"
    frame.createOrReplaceTempView(name)
    weakref.finalize(panel, _dropped, frame.sparkSession, name).atexit = False
    return name


def _dropped(session: Any, name: str) -> None:
    with suppress(Exception):  # the session may have ended
        session.catalog.dropTempView(name)


def collected(frame: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of a small frame."""
    import narwhals as nw

    eager = nw.from_native(frame).collect()
    return {name: eager[name].to_numpy() for name in eager.columns}


def reason_of(error: Exception) -> str:
    """Return the most telling line of Spark's message, as far as it fits."""
    said = str(error).strip() or type(error).__name__
    if "Python worker" in first_line(said):  # a traceback follows, which ends with what is wrong
        said = ([said, *re.findall(r"^\w[\w.]*(?:Error|Exception)\b.*", said, re.MULTILINE)])[-1]
    return first_line(said)[:300]


def open_spark(source: str | os.PathLike[str], settings: TableSettings, temp: str | os.PathLike[str] | None) -> Spark:
    """Read Parquet files, local or at an address such as hdfs://..., in the running session or a new one."""
    require("pyspark")
    from pyspark.sql import SparkSession

    path = os.fspath(source)
    watch = None if "://" in path else WatchedFiles(path)
    for name in [] if watch is None else watch.paths:
        if set(name) & set(GLOB):
            raise OptionError(
                f"{name}: spark takes a name with any of {' '.join(GLOB)} for a pattern, and would read other files; "
                f"rename it, or use {argument('engine', 'duckdb')}"
            )
    try:
        session = SparkSession.getActiveSession() or _new_session(SparkSession, temp)
        frame = session.read.parquet(*([path] if watch is None else map(os.path.abspath, watch.paths)))
    except Exception as error:  # a Java machine reports in exceptions of its own
        reason = reason_of(error)
        if "JAVA_GATEWAY_EXITED" in reason or "Java gateway" in reason:
            raise OptionError(
                "the spark engine needs Java, which could not be started: install it (Debian's default-jre-headless), "
                "or say where it is (JAVA_HOME)"
            ) from None
        raise InputError(f"{path}: spark cannot read it ({reason})") from None
    return Spark(frame, settings, source=path, watch=watch)


def _new_session(builder: Any, temp: str | os.PathLike[str] | None) -> Any:
    """Start a session; Spark's own settings (SPARK_HOME, spark-defaults.conf) say where and how large it is.

    With SPARK_REMOTE it is a server's (Spark Connect), which has settings and a log of its own.
    """
    from pyspark.sql.utils import is_remote

    if is_remote():
        return builder.builder.getOrCreate()
    settings = builder.builder.appName("priori").config("spark.ui.enabled", "false")
    settings = settings.config("spark.ui.showConsoleProgress", "false")
    if temp is not None:
        settings = settings.config("spark.local.dir", os.fspath(temp))
    session = settings.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    if session.sparkContext.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        session.sparkContext.pythonExec = sys.executable  # on this machine it is the one that has Priori
    return session
