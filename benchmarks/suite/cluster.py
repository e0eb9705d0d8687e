"""Spark in local mode, query by query: what each costs per row, and how much goes between machines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from suite.data import write

__all__ = ["text"]

#: What is asked of Spark, in order: of the development set, of the test set, for the band.
QUERIES = (
    "dev: labels, rows, limits",
    "dev: a sample",
    "dev: counts in cells",
    "dev: the scores of cells",
    "test: labels, rows, limits",
    "test: a sample",
    "test: counts in cells",
    "test: the scores of cells",
    "test: users",
    "test: counts between thresholds, by user",
)


def text(folder: Path, size: str) -> str:
    """Return the section on Spark."""
    trials = 10**6 if size == "quick" else 2 * 10**7
    data = write(folder / f"trials-{trials}", trials)
    command = [sys.executable, str(Path(__file__).with_name("spark_worker.py")), str(data), "2000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["failed"])[-1][:120]
        return f"## Spark\n\nNot run: {reason}\n"
    found = json.loads(done.stdout.strip().splitlines()[-1])
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
    return "\n".join(lines) + "\n"
