"""The Spark back end: a Spark DataFrame, or Parquet files read by Spark; counts are made in the cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from priori.base.errors import InputError, OptionError
from priori.base.extras import require
from priori.engines.engine import TableSettings
from priori.engines.lazy_frames import Columns, Lazy, reason_of
from priori.engines.parquet_files import WatchedFiles, is_address

#: The characters that make a name a pattern for Spark.
GLOB = "*?[]{}\\"


class Spark(Lazy):
    """Answers from a Spark DataFrame; ``watch`` checks the files behind it, if they are within reach."""

    def __init__(
        self,
        frame: Any,
        settings: TableSettings,
        *,
        source: str = "frame",
        systems: Sequence[tuple[str, str]] = (),
        system_in: str | None = None,
        watch: WatchedFiles | None = None,
    ) -> None:
        super().__init__(frame, settings, source=source, systems=systems, system_in=system_in)
        self.watch = watch
        self.format = None if watch is None else "parquet"

    def _like(self, frame: Any, settings: TableSettings, systems: Sequence[tuple[str, str]]) -> Lazy:
        return Spark(frame, settings, source=self.source, systems=systems, watch=self.watch)

    def placed(self, name: str) -> Any:
        """Return the rows of files, with a column that says where each stands: by file, and in its file."""
        from pyspark.sql import functions

        place = functions.struct("_metadata.file_path", "_metadata.row_index")
        return self.frame.to_native().withColumn(name, place)

    def _in_parts(self, trials: Any, parts: int) -> Any:
        from pyspark.sql import functions

        # Rows without ids are beside each other in one table: what they are numbered by does not depend on its columns.
        key = functions.col("trial") if "trial" in self.columns else functions.monotonically_increasing_id()
        return trials.withColumn("part", functions.pmod(functions.xxhash64(key), functions.lit(parts)))

    def collect(self, frame: Any) -> Columns:
        columns = super().collect(frame)
        if self.watch is not None:
            self.watch.check()
        return columns


def open_spark(source: str | os.PathLike[str], settings: TableSettings, temp: str | os.PathLike[str] | None) -> Spark:
    """Read Parquet files, local or at an address such as hdfs://..., in the running session or a new one."""
    require("pyspark")
    from pyspark.sql import SparkSession

    path = os.fspath(source)
    watch = None if is_address(path) else WatchedFiles(path)
    for name in [] if watch is None else watch.paths:
        if set(name) & set(GLOB):
            raise OptionError(
                f"{name}: spark takes a name with any of {' '.join(GLOB)} for a pattern, and would read other files; "
                "rename it, or use --engine duckdb"
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
    """Start a session; where and how large it is, Spark's own settings say (SPARK_HOME, spark-defaults.conf).

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
    return session
