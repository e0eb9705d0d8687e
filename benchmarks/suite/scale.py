"""Tables larger than memory: time against one scan by duckdb, and peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from suite.data import write

__all__ = ["text"]


def text(folder: Path, size: str, repeats: int = 5) -> str:
    """Return the section on tables larger than memory."""
    lines = [
        "## Tables larger than memory",
        "",
        "Parquet files, single precision, 10,000 users, half the trials in each set; `priori.scan(..., "
        'engine="duckdb", memory="1GB")`, the EPC at 101 alphas and its band, from opening the files on. A scan is '
        "what duckdb needs to count rows by label and sum scores over the same files. Scores are bell-shaped, or the "
        "same as probabilities, most of which crowd near 0 and 1.",
        "",
        "| trials | band | scan | curve | curve and band | in scans | goal | peak memory |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    times: dict[int, float] = {}
    for trials in {"quick": (10**6,), "ordinary": (2 * 10**7,), "full": (2 * 10**7, 10**8)}[size]:
        bells = write(folder / f"trials-{trials}", trials)
        squeezed = write(folder / f"probabilities-{trials}", trials, probabilities=True)
        for data, bootstrap, replicates, limit in (
            (bells, "sample", 10_000, "< 6"),
            (bells, "user", 2_000, "< 10"),
            (squeezed, "sample", 10_000, ""),
        ):
            found = _run(data, bootstrap, replicates, repeats)
            scan, curve, everything = (median(found[name]) for name in ("scan", "curve", "everything"))
            times.setdefault(trials, everything)
            what = f"{bootstrap}, {replicates:,}{' (probabilities)' if data is squeezed else ''}"
            lines.append(
                f"| {trials:,} | {what} | {scan:.3f} s | {curve:.3f} s | {everything:.3f} s | "
                f"{everything / scan:.1f} | {limit} | {found['peak']:.0f} MB |"
            )
    if len(times) > 1:
        (few, short), (many, long) = times.items()
        fixed = (short * many - long * few) / (many - few)
        lines += [
            "",
            f"Of the sample band {fixed:.2f} s do not grow with the table, by the line through its two times: opening "
            "two databases, laying out cells, sorting the scores that matter, 10,000 replicates. A small table "
            "is scanned in less.",
        ]
    return "\n".join(lines) + "\n"


def _run(folder: Path, bootstrap: str, replicates: int, repeats: int) -> dict[str, list[float]]:
    command = [sys.executable, str(Path(__file__).with_name("scale_worker.py")), str(folder), bootstrap]
    done = subprocess.run([*command, str(replicates), str(repeats), "1GB"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, list[float]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
