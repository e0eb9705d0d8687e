"""Spark in local mode, query by query: what each costs per row, and how much goes between machines; beside duckdb."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from suite.data import write, write_wide

__all__ = ["text"]

#: What is asked of Spark, in order: of the development set, of the test set, for the band.
QUERIES = (
    "dev: labels, rows, limits",
    "dev: a sample",
    "dev: counts in bins",
    "dev: the scores of some bins",
    "test: labels, rows, limits",
    "test: a sample",
    "test: counts in bins",
    "test: the scores of some bins",
    "test: users",
    "test: counts between thresholds, by user",
)


def text(folder: Path, size: str) -> str:
    """Return the section on Spark."""
    trials = 10**6 if size == "quick" else 2 * 10**7
    data = write(folder / f"trials-{trials}", trials)
    rows = 2 * 10**5 if size == "quick" else 10**7
    table = write_wide(folder / f"wide-{rows}.parquet", rows)
    found, spark, duckdb = (_run(*asked) for asked in ((data, 2000), (table, "spark"), (table, "duckdb")))
    for run in (found, spark, duckdb):
        if "failed" in run:
            return f"## Spark\n\nNot run: {run['failed']}\n"
    lines = [
        "## Spark",
        "",
        f"Spark {found['version']} in local mode on two processors, {trials:,} trials in Parquet files, half in each "
        f"set: the EPC at 101 alphas ({found['curve']:.1f} s with the start of its tasks) and a user band of 2,000 "
        f"replicates ({found['everything']:.1f} s for both). From Spark's event log; memory is the most that one task "
        "held for its sorting and grouping.",
        "",
        "| query | rows read | processor, ns a row | rows shuffled | bytes a row shuffled | result | memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    queries = found["queries"]
    names = QUERIES if len(queries) == len(QUERIES) else [f"query {number + 1}" for number in range(len(queries))]
    for name, query in zip(names, queries, strict=True):
        each = query["shuffle_bytes"] / query["shuffle_rows"] if query["shuffle_rows"] else 0.0
        lines.append(
            f"| {name} | {query['rows']:,.0f} | {1e9 * query['cpu'] / max(query['rows'], 1):.0f} | "
            f"{query['shuffle_rows']:,.0f} | {each:.1f} | {query['result_bytes'] / 1e6:.1f} MB | "
            f"{query['memory'] / 1e6:.0f} MB |"
        )
    lines += [
        "",
        f"`rank` of three systems in one wide table of {rows:,} rows takes {spark['seconds']:.1f} s and "
        f"{spark['jobs']} jobs, {spark['seconds'] / duckdb['seconds']:.1f} times what duckdb takes "
        f"({duckdb['seconds']:.1f} s; goal: 4 times).",
    ]
    return "\n".join(lines) + "\n"


def _run(*arguments: object) -> dict[str, Any]:
    """Return what the worker says, or why it ``failed``."""
    command = [sys.executable, str(Path(__file__).with_name("spark_worker.py")), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["failed"])[-1][:120]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
