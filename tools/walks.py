"""Count the functions and modules that five walks through Priori touch, into CONTRIBUTING.md: ``make walks``.

A function counts once, however often it is called. Each walk goes once before it is counted, so that imports and
compilation are left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import numpy as np

import priori
from priori.__main__ import main as command_line

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
SOURCE = f"{Path(priori.__file__).parent}{os.sep}"
START, END = "<!-- walks: written by make walks -->\n", "<!-- end of walks -->"
FEW: dict[str, Any] = {"n_resamples": 200, "threads": 1}


def touched(go: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the functions of Priori that are called, as file and name."""
    found = set()

    def seen(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and not code.co_name.startswith("<"):
            found.add((code.co_filename, code.co_qualname))

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        go()
        sys.setprofile(seen)
        threading.setprofile(seen)
        try:
            go()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    return found


def run(*words: str) -> None:
    """Run the command line in this process."""
    before, sys.argv = sys.argv, ["priori", *words]
    with contextlib.suppress(SystemExit):
        command_line()
    sys.argv = before


def walks() -> dict[str, Callable[[], object]]:
    """Write small files into the current folder; return the walks by their names."""
    rng = np.random.default_rng(0)

    def lines(count: int, gain: float, each: int, prefix: str = "", part: str = "") -> list[str]:
        return [f"{prefix}{i % 2},{rng.normal(gain * (i % 2)):.4f},u{i // each},{part}{i}\n" for i in range(count)]

    for part in ("dev", "test"):
        for system in "abc":
            Path(f"{system}-{part}.csv").write_text("label,score,user,trial\n" + "".join(lines(400, 2, 20, part=part)))
        duckdb.sql(
            f"COPY (SELECT i % 2 AS label, sin(i * {len(part) + 4}) + i % 2 AS score, i // 40 AS user "
            f"FROM range(4000) t(i)) TO '{part}.parquet'"
        )
    rows = [
        line
        for system in range(6)
        for part in ("dev", "test")
        for line in lines(200, 1 + system / 4, 10, f"S{system},{part},", part)
    ]
    Path("table.csv").write_text("system,set,label,score,user,trial\n" + "".join(rows))
    curves = [
        priori.epc(priori.read(f"{system}-dev.csv"), priori.read(f"{system}-test.csv"), points=5, name=system)
        for system in "ab"
    ]

    def scanned() -> None:
        with priori.scan("dev.parquet", engine="duckdb") as dev, priori.scan("test.parquet", engine="duckdb") as test:
            priori.epc(dev, test, points=5).band(bootstrap="user", **FEW)

    three = [word for system in "abc" for word in ("--system", system, f"{system}-dev.csv", f"{system}-test.csv")]
    short = ("--resamples", "200")
    return {
        "a CSV to a printed curve": lambda: run("epc", "--system", "A", "a-dev.csv", "a-test.csv"),
        "`compare` of two curves": lambda: priori.compare(*curves, **FEW),
        "the page of three systems": lambda: run("report", *three, "--points", "5", *short, "-o", "page.html"),
        "a long table to a ranking": lambda: run(
            "rank", "--table", "table.csv", "--systems-in", "system", "--split", "set=dev:test", *short
        ),
        "scanned Parquet to a band by user": scanned,
    }


def main() -> None:
    """Print the counts, and write them into CONTRIBUTING.md."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        counted = {name: touched(go) for name, go in walks().items()}
        os.chdir(before)
    lines = ["| walk | functions | modules |", "| --- | ---: | ---: |"]
    for name, found in counted.items():
        lines.append(f"| {name} | {len(found)} | {len({path for path, _ in found})} |")
    lines.append(f"| together | {sum(map(len, counted.values()))} | |")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    head, _, rest = CONTRIBUTING.read_text(encoding="utf-8").partition(START)
    _, _, tail = rest.partition(END)
    CONTRIBUTING.write_text(f"{head}{START}{text}{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
