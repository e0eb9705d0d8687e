"""Measures one run over Parquet files by Spark in local mode, stage by stage, from Spark's own event log; prints JSON.

python spark_worker.py FOLDER REPLICATES    a curve and a band
python spark_worker.py TABLE ENGINE         a leaderboard of the systems of a wide table, by spark or duckdb
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import priori


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[2] in ("spark", "duckdb"):
        print(json.dumps(_leaderboard(Path(sys.argv[1]), sys.argv[2])))
        return
    folder, replicates = Path(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="priori-spark-") as home:
        session = _session(home)
        jobs = []
        start = time.perf_counter()
        tables = [priori.scan(folder / role, engine="spark") for role in ("dev", "test")]
        curve = priori.epc(*tables, points=101)
        jobs.append(time.perf_counter() - start)
        curve.band(bootstrap="user", n_resamples=replicates)
        jobs.append(time.perf_counter() - start)
        version = session.version
        session.stop()
        (log,) = Path(home, "events").iterdir()
        queries = _queries(log)
    print(json.dumps({"curve": jobs[0], "everything": jobs[1], "version": version, "queries": queries}))


def _leaderboard(table: Path, engine: Any) -> dict[str, Any]:
    """Return the seconds of a leaderboard, and Spark's jobs."""
    with tempfile.TemporaryDirectory(prefix="priori-spark-") as home:
        session = _session(home) if engine == "spark" else None
        start = time.perf_counter()
        sets = priori.scan_table(table, systems=["A", "B", "C"], split=("set", "dev", "test"), engine=engine)
        priori.rank(priori.epc_all(sets, alpha=[0.5]), n_resamples=1000)
        found: dict[str, Any] = {"seconds": time.perf_counter() - start}
        if session is not None:
            session.stop()
            (log,) = Path(home, "events").iterdir()
            found["jobs"] = log.read_text(encoding="utf-8").count('"Event":"SparkListenerJobStart"')
    return found


def _session(home: str) -> Any:
    from pyspark.sql import SparkSession

    Path(home, "events").mkdir()
    os.environ["PYSPARK_PYTHON"] = sys.executable  # what its workers run
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "8",
        "spark.local.dir": home,
        "spark.sql.warehouse.dir": f"{home}/warehouse",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": f"file://{home}/events",
    }
    builder = SparkSession.builder.master("local[2]").appName("priori")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _queries(log: Path) -> list[dict[str, float]]:
    """Add up what the tasks of each query did."""
    query_of_stage: dict[int, int] = {}
    found: dict[int, dict[str, float]] = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            query = int(event.get("Properties", {}).get("spark.sql.execution.id", -1))
            query_of_stage.update(dict.fromkeys(event["Stage IDs"], query))
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            metrics = event["Task Metrics"]
            query = query_of_stage.get(event["Stage ID"], -1)
            one = found.setdefault(query, defaultdict(float))
            one["rows"] += metrics["Input Metrics"]["Records Read"]
            one["bytes"] += metrics["Input Metrics"]["Bytes Read"]
            one["cpu"] += metrics["Executor CPU Time"] / 1e9
            one["shuffle_bytes"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            one["shuffle_rows"] += metrics["Shuffle Write Metrics"]["Shuffle Records Written"]
            one["result_bytes"] += metrics["Result Size"]
            one["memory"] = max(one["memory"], metrics["Peak Execution Memory"])
            one["tasks"] += 1
    return [found[query] for query in sorted(found) if query >= 0]


if __name__ == "__main__":
    main()
