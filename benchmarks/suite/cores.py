"""More processors: each operation on one and on two, the part of it that is serial, and what more would give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import duckdb

from suite.data import write

__all__ = ["projected", "serial_part", "text"]

#: The numbers of processors that are projected.
MORE = (8, 16, 64)

#: Each operation, what it is, and how many of all trials it is measured with: text and pairs take longer.
OPERATIONS = {
    "scan curve": ("EPC at 101 alphas, Parquet files scanned by duckdb", 1.0),
    "scan sample": ("the same and its sample band, 10,000 replicates", 1.0),
    "scan user": ("the same and its user band, 2,000 replicates", 1.0),
    "memory curve": ("EPC at 101 alphas in memory, from unsorted arrays on", 1.0),
    "memory sample": ("the same in memory and its sample band, 10,000 replicates", 1.0),
    "compare": ("paired comparison by user in memory, 10,000 replicates", 0.1),
    "read csv": ("reading CSV: score, label, user", 0.1),
    "read parquet": ("reading Parquet: score, label, user, trial id", 0.1),
}


def text(folder: Path, size: str, repeats: int = 3) -> str:
    """Return the section on processors."""
    trials = {"quick": 10**6, "ordinary": 10**7, "full": 10**8}[size]
    lines = [
        "## More processors",
        "",
        "Each operation on two processors and on one (the process may use no others), half the trials in each set, one "
        "in ten positive, medians. By Amdahl's law the serial part is s = 2 T2 / T1 - 1, and n processors take "
        "T1 (s + (1 - s) / n). The last columns are T1 over that: a calculation, which knows nothing of what more than "
        "two processors would wait for: memory, the disk, work that has too few parts. Dividing the work costs time "
        "too, and counts as serial; so does what two processors take from each other, which share one memory. "
        "'Alone' is what the processors themselves tell: of the time C that they worked, the part 2 T2 / C - 1 in "
        "which one of the two had nothing to do. Goal: at most 10 %.",
        "",
        f"| work | trials | time | on one | serial part | alone | {' | '.join(f'x on {number}' for number in MORE)} |",
        f"| --- | ---: | ---: | ---: | ---: | ---: | {' | '.join('---:' for _ in MORE)} |",
    ]
    if len(os.sched_getaffinity(0)) < 2:
        return "\n".join([*lines[:2], "Not measured: this machine has one processor.", ""])
    for operation, (work, share) in OPERATIONS.items():
        number = int(trials * share)
        (one, _), (two, used) = (_measure(operation, processors, number, folder, repeats) for processors in (1, 2))
        serial, alone = serial_part(one, two), serial_part(used, two)
        gains = " | ".join(f"{one / projected(one, serial, more):.1f}" for more in MORE)
        parts = f"{100 * serial:.0f} % | {100 * alone:.0f} %"
        lines.append(f"| {work} | {number:,} | {two:.3g} s | {one:.3g} s | {parts} | {gains} |")
        print(f"  {operation} {number:,}: {one:.3g} s, {two:.3g} s, serial, alone {parts}", file=sys.stderr)
    return "\n".join(lines) + "\n"


def serial_part(one: float, two: float) -> float:
    """Return the part of an operation that runs on one processor only, by its times on one and on two."""
    return min(1.0, max(0.0, 2 * two / one - 1))


def projected(one: float, serial: float, processors: int) -> float:
    """Return the time on so many processors, by Amdahl's law."""
    return one * (serial + (1 - serial) / processors)


def _measure(operation: str, processors: int, trials: int, folder: Path, repeats: int) -> tuple[float, float]:
    """Return the time that an operation takes, and that of all its processors."""
    kind, _, detail = operation.partition(" ")
    data = write(folder / f"trials-{trials}", trials) if kind == "scan" else folder
    if kind == "read":
        data = _file(folder, detail, trials)
    command = [sys.executable, str(Path(__file__).with_name("cores_worker.py"))]
    command += ["read" if kind == "read" else operation, str(processors), str(trials), str(data), str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, used = zip(*json.loads(done.stdout.strip().splitlines()[-1]), strict=True)
    return median(seconds), median(used)


def _file(folder: Path, kind: str, trials: int) -> Path:
    """Write a file of so many trials, once."""
    path = folder / f"trials-{trials}.{kind}"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        trial = ", 'probe/' || i AS trial" if kind == "parquet" else ""
        query = f"""SELECT round(random() + 0.2 * (i % 10 = 0)::INT, 6) AS score, (i % 10 = 0)::INT AS label,
                           'u' || i % 5000 AS "user"{trial} FROM range({trials}) numbers(i)"""
        with duckdb.connect() as database:
            database.execute(f"COPY ({query}) TO '{path}.part' (FORMAT {kind})")
        os.replace(f"{path}.part", path)
    return path
