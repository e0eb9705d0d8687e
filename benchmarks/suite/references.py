"""Against the floor: curves, bootstraps and averages against sorting or a plain loop, readers against duckdb."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ["text"]

HERE = Path(__file__).parents[1]
#: A line that a benchmark prints about itself, rather than pytest about the benchmark.
SAID = re.compile(r"(\(\w\)|EPC,|priori |both kernels|\w+: \d+ curves).*")


def text(size: str) -> str:
    """Return the section on references."""
    replicates = "1000" if size == "quick" else "10000"
    command = [sys.executable, "-m", "pytest", str(HERE), "-q", "-s", "-p", "no:cacheprovider"]
    said = _run(command, {**os.environ, "PRIORI_BENCH_REPLICATES": replicates})
    rows = {"quick": "1e5", "ordinary": "1e6", "full": "1e7"}[size]
    readers = _run([sys.executable, str(HERE / "bench_readers.py"), "--rows", rows], dict(os.environ))
    return "\n".join(
        [
            "## Against the floor",
            "",
            "Ratios to the time numpy needs to sort the same scores, or to the straightforward loop.",
            "",
            *(f"- {line}" for line in said.splitlines() if SAID.fullmatch(line)),
            "",
            "Reading, against a bare scan of the file by duckdb (which counts and sums, and keeps nothing) and against "
            "duckdb handing the same columns to numpy; memory is the peak over what the scores hold:",
            "",
            "```text",
            readers.rstrip(),
            "```",
            "",
        ]
    )


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout
