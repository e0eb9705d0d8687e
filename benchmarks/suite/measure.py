"""Measuring: our work and the peers', each in its own environment, in one run; and the tables that come of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".peers"

#: Peers that get a virtual environment of their own, and what is installed into it.
PEERS = {
    "bob": "bob.measure==6.1.1",
    "rocci": "rocci",
    "score": "score-analysis",
    "stambo": "stambo",
    "arch": "arch",
    "pyeer": "pyeer",
    "sklearn": "scikit-learn",
    "scipy": "scipy",
}


@dataclass(frozen=True)
class Measured:
    """Seconds of a few runs, the first run before them, and who ran; or why nobody could."""

    seconds: tuple[float, ...] = ()
    first: float = float("nan")
    version: str = ""
    failure: str = ""

    @property
    def median(self) -> float:
        return median(self.seconds) if self.seconds else float("nan")

    def scaled(self, factor: float) -> Measured:
        """Return what ``factor`` times the work would take, where the whole of it takes too long."""
        return Measured(tuple(factor * one for one in self.seconds), self.first, self.version, self.failure)


@dataclass
class Table:
    """Rows of one kind of work: what is done, our time, the peers' times, what to know."""

    title: str
    note: str
    rows: list[tuple[str, Measured, list[tuple[str, Measured]], str]] = field(default_factory=list)

    def text(self) -> str:
        lines = [f"## {self.title}", "", self.note, "", "| work | Priori | peer | peer's time | peer / Priori |"]
        lines.append("| --- | ---: | --- | ---: | ---: |")
        slower: list[str] = []
        for work, ours, peers, remark in self.rows:
            for place, (name, theirs) in enumerate(peers):
                label = f"{name} {theirs.version}".strip()
                shown = _seconds(theirs.median) if theirs.seconds else f"not run: {theirs.failure}"
                ratio = f"{theirs.median / ours.median:.2f}" if theirs.seconds and ours.seconds else ""
                first = (work + (f" ({remark})" if remark else ""), _seconds(ours.median)) if not place else ("", "")
                lines.append(f"| {first[0]} | {first[1]} | {label} | {shown} | {ratio} |")
                if "floor" not in name and theirs.seconds and theirs.median < ours.median:
                    slower.append(f"**Slower than {label}**: {work}{f' ({remark})' if remark else ''}.")
        return "\n".join([*lines, *(["", *slower] if slower else [])]) + "\n"


def _seconds(value: float) -> str:
    if value != value:
        return "-"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


class Bench:
    """Runs tasks on data in child processes."""

    def __init__(self, repeats: int = 5) -> None:
        self.repeats = repeats
        self.folder = Path(tempfile.mkdtemp(prefix="priori-bench-"))
        self._pythons: dict[str, Path | str] = {}

    def data(self, name: str, **columns: Any) -> Path:
        """Write the data of a task for Python and, where it has two classes, for R."""
        path = self.folder / f"{name}.npz"
        if not path.exists():
            np.savez(path, **columns)
            for own in ("negative", "positive"):
                if own in columns:
                    np.savetxt(self.folder / f"{name}-{own}.csv", columns[own], "%.17g")
        return path

    def run(self, task: str, data: Path, repeats: int | None = None, **parameters: Any) -> Measured:
        """Run a task in the environment of the peer it names."""
        python = self._python(task.partition("_")[0])
        if isinstance(python, str):
            return Measured(failure=python)
        command = [str(python), str(HERE / "worker.py"), task, str(data), str(repeats or self.repeats)]
        done = subprocess.run([*command, json.dumps(parameters)], capture_output=True, text=True, env=_environment())
        if done.returncode:
            return Measured(failure=(done.stderr.strip().splitlines() or ["failed"])[-1][:120])
        found = json.loads(done.stdout.strip().splitlines()[-1])
        return Measured(tuple(found["seconds"]), found["first"], found["version"])

    def run_r(self, task: str, data: Path, replicates: int = 0, repeats: int | None = None) -> Measured:
        """Run a task in R."""
        stem = str(data.with_suffix(""))
        command = ["Rscript", str(HERE / "worker.R"), task, f"{stem}-negative.csv", f"{stem}-positive.csv"]
        try:
            done = subprocess.run(
                [*command, str(repeats or self.repeats), str(replicates)], capture_output=True, text=True
            )
        except FileNotFoundError:
            return Measured(failure="R is not installed")
        if done.returncode:
            return Measured(failure=(done.stderr.strip().splitlines() or ["failed"])[-1][:120])
        made_by, *seconds = done.stdout.split()
        return Measured(tuple(map(float, seconds)), version=made_by)

    def _python(self, peer: str) -> Path | str:
        if peer in ("priori", "numpy"):
            return Path(sys.executable)
        if peer not in self._pythons:
            self._pythons[peer] = _install(peer)
        return self._pythons[peer]

    def peer_command(self, peer: str, command: str) -> Path | str:
        """Return the path of a peer's own command."""
        python = self._python(peer)
        return python if isinstance(python, str) else python.parent / command


def _install(peer: str) -> Path | str:
    """Return the interpreter of a peer's environment, made if need be, or why there is none."""
    home = ENVIRONMENTS / peer
    python = home / "bin" / "python"
    if not (home / ".installed").exists():
        print(f"installing {PEERS[peer]} into an environment of its own ...", file=sys.stderr)
        try:
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True)
            command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEERS[peer]]
            subprocess.run(command, check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            reason = (str(error.stderr or "").strip().splitlines() or ["unknown"])[-1]
            return f"could not be installed ({reason[:100]})"
        (home / ".installed").touch()
    return python


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONWARNINGS": "ignore"}
