"""How time and memory grow with trials, replicates and users: tables, fitted exponents, a plot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from suite.data import write

__all__ = ["text"]

KINDS = {
    "memory": ("trials, in memory", "EPC at 101 alphas and 1,000 replicates, from unsorted arrays on"),
    "duckdb": ("trials, by duckdb in 1 GB", "the same from Parquet files"),
    "replicates": ("replicates", "100,000 trials, 101 thresholds fixed"),
    "users": ("users", "a million trials, 200 replicates by user, 101 thresholds fixed"),
}


def text(folder: Path, size: str, picture: Path) -> str:
    """Return the section on growth, and draw the picture it shows."""
    top = {"quick": 6, "ordinary": 7, "full": 8}[size]
    sizes = {
        "memory": [10**k for k in range(4, top + 1)],
        "duckdb": [10**k for k in range(4, top + 1)],
        "replicates": [10**k for k in range(2, min(top, 5) + 1)],
        "users": [10**k for k in range(1, min(top, 5) + 1)],
    }
    points = {kind: [(number, *_measure(kind, number, folder)) for number in sizes[kind]] for kind in KINDS}
    lines = [
        "## Growth",
        "",
        f"![Time and peak memory against size]({picture.name})",
        "",
        "Exponents are slopes on logarithmic scales over the three largest sizes: 1 is proportional growth. Memory "
        "includes Python and all libraries.",
        "",
        "| against | work | size | time | peak memory |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for kind, (against, work) in KINDS.items():
        for place, (number, seconds, peak) in enumerate(points[kind]):
            first = (against, work) if not place else ("", "")
            lines.append(f"| {first[0]} | {first[1]} | {number:,} | {seconds:.3g} s | {peak:.0f} MB |")
    lines += ["", "| against | exponent of time | exponent of memory |", "| --- | ---: | ---: |"]
    for kind, (against, _) in KINDS.items():
        numbers, times, peaks = (np.log([point[i] for point in points[kind][-3:]]) for i in range(3))
        slopes = [np.polyfit(numbers, column, 1)[0] for column in (times, peaks)]
        lines.append(f"| {against} | {slopes[0]:.2f} | {slopes[1]:.2f} |")
    _draw(points, picture)
    return "\n".join(lines) + "\n"


def _measure(kind: str, size: int, folder: Path) -> tuple[float, float]:
    data = write(folder / f"trials-{size}", size, min(10_000, size // 100)) if kind == "duckdb" else folder
    command = [sys.executable, str(Path(__file__).with_name("growth_worker.py")), kind, str(size), str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"  {kind} {size:,}: {found['seconds']:.3g} s, {found['peak']:.0f} MB", file=sys.stderr)
    return found["seconds"], found["peak"]


def _draw(points: dict[str, list[tuple[int, float, float]]], picture: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for kind, (against, _) in KINDS.items():
        size, seconds, peak = zip(*points[kind], strict=True)
        axes[0].loglog(size, seconds, marker="o", label=against)
        axes[1].loglog(size, peak, marker="o", label=against)
    axes[0].set(xlabel="size", ylabel="time (s)", title="Time")
    axes[1].set(xlabel="size", ylabel="peak memory (MB)", title="Peak memory")
    axes[1].legend(loc="upper left")
    figure.savefig(picture)
    pyplot.close(figure)
