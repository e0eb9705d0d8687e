"""Many users, groups, types of attack and systems: each command against a count of the same files by duckdb."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

__all__ = ["text"]

#: What is asked of each command, in seconds of processors and in megabytes.
GOALS = {"seconds": 20.0, "megabytes": 2048.0}
#: Users (and groups), types of attack and systems.
SIZES = {"quick": (1_000, 100, 20), "ordinary": (100_000, 10_000, 500), "full": (100_000, 10_000, 500)}
TRIALS = 10  # of each user in each set
COMPARED = 5 * 10**7
#: Pages: rows of two systems together, with so many users; systems, with so many trials each.
ROWS, PEOPLE = {"quick": 10**5, "ordinary": 5 * 10**6, "full": 5 * 10**6}, 1_000
SYSTEMS, EACH = 5, 10_000


class Run(NamedTuple):
    """What a process took."""

    cpu: float
    peak: float


def text(folder: Path, size: str) -> str:
    """Return the section on many users, groups, types and systems."""
    users, types, systems = SIZES[size]
    folder = folder / f"many-{users}"
    _write(folder, users, types, systems)
    dev, test = (str(folder / f"{role}.csv") for role in ("dev", "test"))
    system, output = ["--system", "A", dev, test], str(folder / "out")
    threshold = ["--threshold", "1.2", "--format", "csv", "-o", output]
    works = [
        (f"`rates --by user`, {users:,} users", ["rates", test, *threshold, "--by", "user"], test),
        (f"`rates --by site`, {users:,} groups", ["rates", test, *threshold, "--by", "site"], test),
        (f"`pad`, {types:,} types", ["pad", *system, "--column", "attack=species", "-o", output], test),
        (
            f"`average --by user --method vertical`, {users:,} users",
            ["average", test, "--by", "user", "--method", "vertical", "--format", "csv", "-o", output],
            test,
        ),
        (f"`report`, {users:,} users", ["report", *system, "-o", str(folder / "page.html")], test),
        (
            f"`rank`, {systems:,} systems",
            ["rank", "--table", str(folder / "systems.csv"), "--systems-in", "system", "--split", "set=dev:test"],
            str(folder / "systems.csv"),
        ),
    ]
    works += _pages(folder.parent, ROWS[size])
    if size == "full":
        works.append(_compared(folder))
    lines = [
        "## Many users, groups, types and systems",
        "",
        f"Each user has {TRIALS} trials in each set, CSV files; ranked systems have 2,000 trials in each set. CPU is "
        "the time of all processors together, reading, starting and printing included; a scan is what duckdb needs to "
        "count the same file (of two sets, the test set) by label and sum its scores, as a process of its own. Goal: "
        f"{GOALS['seconds']:.0f} s and {GOALS['megabytes']:.0f} MB.",
        "",
        "| work | scan | CPU | in scans | peak memory |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for work, arguments, scanned in works:
        scan, found = _scan(scanned), _run(["-m", "priori", *arguments])
        print(f"  {work}: {found.cpu:.3g} s, {found.peak:.0f} MB", file=sys.stderr)
        row = f"{scan.cpu:.3g} s | {found.cpu:.3g} s | {found.cpu / scan.cpu:.1f} | {found.peak:.0f} MB"
        lines.append(f"| {work} | {row} |")
    return "\n".join(lines) + "\n"


def _pages(folder: Path, rows: int) -> list[tuple[str, list[str], str]]:
    """Return the pages of two large systems and of several small ones, of CSV files."""
    works = []
    for systems, trials in ((2, rows // 4), (SYSTEMS, EACH)):
        own = folder / f"pages-{systems}-{trials}"
        arguments = ["report", "-o", str(folder / "page.html")]
        for system in range(systems):
            files = [own / f"{system}-{role}.csv" for role in ("dev", "test")]
            arguments += ["--system", f"S{system}", *map(str, files)]
            if not all(file.exists() for file in files):
                own.mkdir(parents=True, exist_ok=True)
                for number, file in enumerate(files):
                    _write_scores(file, trials, system, number)
        works.append((f"`report`, {systems} systems of {2 * trials:,} rows with users", arguments, str(files[1])))
    return works


def _write_scores(path: Path, trials: int, system: int, seed: int) -> None:
    """Write one set of one system; all systems have the same trials."""
    rng = np.random.default_rng(seed)
    user, label = rng.integers(0, PEOPLE, trials), (rng.random(trials) < 0.1).astype(np.int8)
    common = rng.normal(0, 0.7, trials) + rng.normal(0, 0.3, PEOPLE)[user]
    own = np.random.default_rng([seed, system]).normal(0, 0.7, trials)
    score = (2.8 - 0.3 * system) * label + common + own
    frame = pl.DataFrame(
        {"score": score.round(6), "label": label, "user": user, "trial": np.arange(trials) + seed * trials}
    )
    frame.write_csv(path)


def _compared(folder: Path) -> tuple[str, list[str], str]:
    """Return the default comparison of two systems whose table is scanned."""
    from suite.data import write_wide

    table = str(write_wide(folder.parent / f"compared-{COMPARED}.parquet", COMPARED, users=10_000))
    given = ["--table", table, "--systems-columns", "A,B", "--split", "set=dev:test", "--engine", "duckdb"]
    return f"`compare`, {COMPARED:,} trials, scanned", ["compare", *given], table


def _write(folder: Path, users: int, types: int, systems: int) -> None:
    done = folder / ".written"
    if done.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    user, label = np.repeat(np.arange(users), TRIALS), np.tile(np.arange(TRIALS) % 2, users)
    for role in ("dev", "test"):
        score = 2.4 * label + rng.normal(0, 1, user.size) + np.repeat(rng.normal(0, 0.5, users), TRIALS)
        attack = np.where(label == 0, user % types, -1)
        frame = pl.DataFrame({"user": user, "site": user, "label": label, "score": score.round(5), "attack": attack})
        kind = pl.lit("kind") + pl.col("attack").cast(pl.String)
        kind = pl.when(pl.col("attack") >= 0).then(kind).otherwise(pl.lit("none"))
        frame.with_columns(attack=kind).rename({"attack": "species"}).write_csv(folder / f"{role}.csv")
    person, own_class = np.repeat(np.arange(100), 20), np.tile(np.arange(20) % 2, 100)
    parts = []
    for role in ("dev", "test"):
        common = rng.normal(0, 0.7, 2000) + np.repeat(rng.normal(0, 0.5, 100), 20)
        for system in range(systems):
            score = own_class * (2 - 0.5 * system / systems) + common + rng.normal(0, 0.7, 2000)
            parts.append(
                pl.DataFrame(
                    {"user": person, "trial": np.arange(2000), "label": own_class, "score": score.round(5)}
                ).with_columns(pl.lit(role).alias("set"), pl.lit(f"S{system:03}").alias("system"))
            )
    pl.concat(parts).write_csv(folder / "systems.csv")
    done.touch()


def _scan(path: str) -> Run:
    query = f"SELECT label, count(*), sum(COLUMNS('^(score|A|B)$')) FROM '{path}' GROUP BY 1"
    return _run(["-c", f"import duckdb; duckdb.sql({query!r}).fetchall()"])


def _run(arguments: list[str]) -> Run:
    # Threads are ours: those of the matrix library would wait for each other, busily.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(said)
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
