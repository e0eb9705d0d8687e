"""Measures one run over Parquet files against one duckdb scan of the same files, in this process; prints JSON.

python scale_worker.py FOLDER sample|user REPLICATES REPEATS MEMORY
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import duckdb

import priori


def main() -> None:
    folder, bootstrap, replicates, repeats, memory = sys.argv[1:6]
    database = duckdb.connect(config={"memory_limit": memory})
    database.execute("SET enable_progress_bar = false")

    def scan() -> Any:
        query = f"SELECT label, count(*), sum(score) FROM '{folder}/*/*.parquet' GROUP BY label"
        return database.execute(query).fetchall()

    def curve() -> priori.EPC:
        tables = [priori.scan(Path(folder) / role, engine="duckdb", memory=memory) for role in ("dev", "test")]
        return priori.epc(*tables, points=101)

    def everything() -> None:
        found = curve()
        found.band(bootstrap=bootstrap, n_resamples=int(replicates))
        for table in (found.dev, found.test):
            table.close()  # type: ignore[attr-defined]

    times: dict[str, list[float]] = {"scan": [], "curve": [], "everything": []}
    everything()  # compiles, or loads what was compiled
    for _ in range(int(repeats)):
        for name, work in (("scan", scan), ("curve", curve), ("everything", everything)):
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**times, "peak": peak}))


if __name__ == "__main__":
    main()
