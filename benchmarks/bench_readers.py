"""Reading score files, against what duckdb alone needs to scan the same columns of the same file.

    python benchmarks/bench_readers.py --rows 1000000 --repeat 3

Each line gives the best times of a duckdb scan (every column parsed and aggregated), of a duckdb fetch (every column
parsed and handed to numpy) and of `priori.read`, their ratios, and the peak memory of reading as a multiple of what
the scores hold afterwards.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

import priori
from priori.scores import Scores

TABLE = """
    SELECT round(random() + 0.2 * label, 6) AS score, label, 'u' || lpad(CAST(i % 5000 AS VARCHAR), 5, '0') AS "user",
           'u' || lpad(CAST(CASE WHEN label = 1 THEN i ELSE i + 1 END % 5000 AS VARCHAR), 5, '0') AS probe_user,
           'probe/' || i AS trial, 'set' || i % 4 AS dataset
    FROM (SELECT i, CAST(i % 7 = 0 AS INTEGER) AS label FROM range({rows}) numbers(i))
"""

SCORE_LABEL = "score DOUBLE, label VARCHAR"
ALL = 'score DOUBLE, label VARCHAR, "user" VARCHAR, trial VARCHAR, dataset VARCHAR'

#: The file, how it is written from the table, the columns a scan of it parses.
FILES = {
    "score, label .csv": ("(SELECT score, label FROM t) TO '{path}' (FORMAT csv, HEADER)", SCORE_LABEL),
    "all columns .csv": (
        "(SELECT score, label, \"user\", trial, dataset FROM t) TO '{path}' (FORMAT csv, HEADER)",
        ALL,
    ),
    "all columns .csv.gz": (
        "(SELECT score, label, \"user\", trial, dataset FROM t) TO '{path}' (FORMAT csv, HEADER, COMPRESSION gzip)",
        ALL,
    ),
    "two columns .txt": ("(SELECT label, score FROM t) TO '{path}' (FORMAT csv, HEADER false, DELIM ' ')", SCORE_LABEL),
    "bob four columns .txt": (
        "(SELECT \"user\", probe_user, trial, score FROM t) TO '{path}' (FORMAT csv, HEADER false, DELIM ' ')",
        '"user" VARCHAR, probe_user VARCHAR, trial VARCHAR, score DOUBLE',
    ),
    "score, label .parquet": ("(SELECT score, label FROM t) TO '{path}' (FORMAT parquet)", SCORE_LABEL),
    "no trial .parquet": (
        "(SELECT score, label, \"user\", dataset FROM t) TO '{path}' (FORMAT parquet)",
        'score DOUBLE, label VARCHAR, "user" VARCHAR, dataset VARCHAR',
    ),
    "all columns .parquet": (
        "(SELECT score, label, \"user\", trial, dataset FROM t) TO '{path}' (FORMAT parquet)",
        ALL,
    ),
}


def scan(path: Path, columns: str) -> None:
    """Parse and aggregate every column."""
    names = [column.split(" ") for column in columns.split(", ")]
    # Sums, as duckdb answers for a maximum from what a Parquet file says about itself.
    seen = ", ".join(f"sum({name if kind == 'DOUBLE' else f'strlen({name}::VARCHAR)'})" for name, kind in names)
    with duckdb.connect() as database:
        database.execute(f"SELECT {seen} FROM {relation(path, columns)}").fetchall()


def fetch(path: Path, columns: str) -> None:
    """Parse every column and hand it to numpy; text becomes Python objects."""
    with duckdb.connect() as database:
        database.execute(f"FROM {relation(path, columns)}").fetchnumpy()


def relation(path: Path, columns: str) -> str:
    """Return the file as duckdb reads it, told what is in it."""
    names = [column.split(" ") for column in columns.split(", ")]
    if path.suffix == ".parquet":
        return f"read_parquet('{path}')"
    header = ".csv" in path.name
    types = ", ".join("'{}': '{}'".format(name.strip('"'), kind) for name, kind in names)
    delimiter = "," if header else " "
    return (
        f"read_csv('{path}', auto_detect=false, header={header}, delim='{delimiter}', quote='\"', escape='\"', "
        f"columns={{{types}}})"
    )


def best(*works: Callable[[], Any], repeat: int) -> list[tuple[float, float]]:
    """Return the least wall and processor time of each of several works, run in turn."""
    times: list[list[tuple[float, float]]] = [[] for _ in works]
    for _ in range(repeat):
        for work, found in zip(works, times, strict=True):
            wall, processor = time.perf_counter(), time.process_time()
            work()
            found.append((time.perf_counter() - wall, time.process_time() - processor))
    return [(min(wall for wall, _ in found), min(processor for _, processor in found)) for found in times]


def held(scores: Scores) -> int:
    """Return the bytes the scores hold."""
    columns = [column for trials in (scores.negative, scores.positive) for column in vars(trials).values()]
    return sum(column.nbytes for column in columns if hasattr(column, "nbytes"))


def memory(path: str) -> tuple[int, int]:
    """Return how much the peak memory of a fresh process grew by reading, and what the scores hold."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scores = priori.read(path)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, held(scores)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"{options.rows} rows; seconds of wall time, best of {options.repeat}")
    print(f"{'':24} {'':>6} {'seconds of wall time':^23} {'read over':^20} {'memory':>10}")
    print(
        f"{'file':24} {'MB':>6} {'scan':>7} {'fetch':>7} {'read':>7} "
        f"{'scan':>6} {'(cpu)':>6} {'fetch':>6} {'peak/held':>10}"
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("forkserver").Pool(1, maxtasksperchild=1) as pool,
    ):
        for name, (command, columns) in FILES.items():
            path = Path(folder) / ("scores" + name[name.rindex(" ") + 1 :])
            with duckdb.connect() as database:
                database.execute(f"CREATE TABLE t AS {TABLE.format(rows=options.rows)}")
                database.execute(f"COPY {command.format(path=path)}")
            works = (partial(scan, path, columns), partial(fetch, path, columns), partial(priori.read, path))
            (scan_wall, scan_cpu), (fetch_wall, _), (wall, cpu) = best(*works, repeat=options.repeat)
            peak, kept = pool.apply(memory, (str(path),))
            print(
                f"{name:24} {path.stat().st_size / 1e6:6.0f} {scan_wall:7.2f} {fetch_wall:7.2f} {wall:7.2f} "
                f"{wall / scan_wall:6.1f} {cpu / scan_cpu:6.1f} {wall / fetch_wall:6.1f} {peak / kept:10.1f}",
                flush=True,
            )
            path.unlink()


if __name__ == "__main__":
    main()
