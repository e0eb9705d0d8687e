"""Leaderboards: a hundred systems at once, how time grows with systems, and what peers and the plain loop take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from suite.measure import Bench, Measured

__all__ = ["text"]

#: What is asked of a hundred systems, and of growth with systems.
GOALS = {"seconds": 30.0, "megabytes": 1024.0, "exponent": 1.2}
SIZES = {"quick": (8, 16), "ordinary": (16, 32, 64, 100), "full": (16, 32, 64, 100)}


def text(bench: Bench, size: str) -> str:
    """Return the section on leaderboards."""
    sizes, replicates = SIZES[size], 1000 if size == "quick" else 10_000
    found = {number: _measure("deployed", number, replicates) for number in sizes}
    few, many = sizes[0], sizes[-1]
    cpu = {number: run["cpu"] for number, run in found.items()}
    exponent = float(np.log(cpu[many] / cpu[few]) / np.log(many / few))
    lines = [
        "## Leaderboards",
        "",
        f"10,000 trials of 100 users, 101 alphas, {replicates:,} replicates by user; every pair tested together, "
        "ranks, the model confidence set. CPU is the time of all processors together; on two idle ones the wall "
        "time is about half of it. Memory includes Python and all libraries.",
        "",
        "| work | systems | CPU | wall | peak memory |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    runs: list[tuple[str, int, dict[str, Any]]] = [
        ("`compare_all`, thresholds kept", number, run) for number, run in found.items()
    ]
    runs.append((f"`compare`, pair by pair ({few * (few - 1) // 2} pairs)", few, _measure("loop", few, replicates)))
    runs.append(("`rank`, at one alpha, with EER a posteriori", many, _measure("rank", many, replicates)))
    runs.append(("`compare_all`, systems as methods", many, _measure("method", many, replicates)))
    for work, number, run in runs:
        lines.append(f"| {work} | {number} | {run['cpu']:.3g} s | {run['wall']:.3g} s | {run['peak']:.0f} MB |")
    loop = next(run for work, _, run in runs if "pair by pair" in work)
    lines += [
        "",
        f"{few} systems are {loop['cpu'] / cpu[few]:.1f} times faster than pair by pair. From {few} to {many} systems "
        f"CPU time grows with the power {exponent:.2f} of their number (goal: {GOALS['exponent']}); {many} systems: "
        f"goal {GOALS['seconds']:.0f} s on two processors and {GOALS['megabytes']:.0f} MB.",
        "",
        "Peers, on the values of each user at one threshold: " + _peers(bench, few, replicates),
    ]
    return "\n".join(lines) + "\n"


def _measure(task: str, systems: int, replicates: int) -> dict[str, Any]:
    worker = Path(__file__).with_name("boards_worker.py")
    command = [sys.executable, str(worker), task, str(systems), str(replicates)]
    # Threads are ours: those of the matrix library would wait for each other, busily.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"  {task}, {systems} systems: {found['cpu']:.3g} s, {found['peak']:.0f} MB", file=sys.stderr)
    return found


def _peers(bench: Bench, few: int, replicates: int) -> str:
    rng = np.random.default_rng(0)
    label, user = np.tile(np.arange(100) % 10 == 0, 100).astype(int), np.repeat(np.arange(100), 100)
    said = []
    for systems in (few, 100):
        score = 2.4 * label + rng.normal(0, 0.5, 10_000) + rng.normal(0, 0.8, (systems, 10_000))
        wrong = (score > 1.2) != label
        losses = wrong.reshape(systems, 100, 100).mean(axis=2).T
        data = bench.data(f"losses-{systems}", losses=losses)
        times = 10 if systems > few else 1  # arch keeps draws of all pairs: gigabytes
        for name, task in (("MCS", "arch_mcs"), ("StepM", "arch_stepm")):
            run = bench.run(task, data, 1, replicates=replicates // times).scaled(times)
            said.append(_said(f"arch {name}, {systems} systems" + (" (a tenth, times 10)" if times > 1 else ""), run))
    data = bench.data("two-systems", label=label, user=user, a=score[0], b=score[1])
    pair = bench.run("stambo_paired", data, 1, replicates=replicates // 10)
    pairs = few * (few - 1) // 2
    said.append(_said(f"stambo pair by pair, {few} systems (one pair, times {pairs})", pair.scaled(10 * pairs)))
    return "; ".join(said) + "."


def _said(name: str, found: Measured) -> str:
    return f"{name} {found.median:.3g} s" if found.seconds else f"{name} not run: {found.failure}"
