"""Measure Priori against its peers, over tables larger than memory, and as sizes grow; write ``RESULTS.md``.

    python benchmarks/results.py              # about ten minutes
    python benchmarks/results.py --full       # up to 10^8 trials; 2 GB of disk, half an hour
    python benchmarks/results.py --only scale     # the other sections stay as they are

What got slower than the committed results by more than a quarter is printed at the end.

Peers are installed into virtual environments of their own under ``benchmarks/.peers``; those that cannot be are named
in the tables. Everything is measured in one run on one machine, medians of five.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from suite import boards, changes, cluster, cores, growth, many, peers, references, scale  # noqa: E402 - after the path is set
from suite.measure import Bench  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", dest="size", action="store_const", const="full", help="up to 10^8 trials")
    size.add_argument("--quick", dest="size", action="store_const", const="quick", help="small sizes, to try it out")
    names = ["references", "peers", "scale", "cluster", "cores", "growth", "boards", "many"]
    parser.add_argument("--only", choices=names, help="one section")
    parser.add_argument("--repeats", type=int, default=5)
    parser.set_defaults(size="ordinary")
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(tempfile.gettempdir()) / "priori-bench-data",
        help="where tables are written, and kept for the next run",
    )
    options = parser.parse_args()
    sections = [_heading(options.size, options.repeats)]
    if options.only in (None, "references"):
        sections.append(references.text(options.size))
    if options.only in (None, "peers"):
        for table in peers.tables(Bench(options.repeats), options.size):
            sections.append(table.text())
    if options.only in (None, "boards"):
        sections.append(boards.text(Bench(options.repeats), options.size))
    if options.only in (None, "many"):
        sections.append(many.text(options.data, options.size))
    if options.only in (None, "scale"):
        sections.append(scale.text(options.data, options.size, options.repeats))
    if options.only in (None, "cluster"):
        sections.append(cluster.text(options.data, options.size))
    if options.only in (None, "cores"):
        sections.append(cores.text(options.data, options.size, options.repeats))
    if options.only in (None, "growth"):
        sections.append(growth.text(options.data, options.size, options.output.with_name("growth.svg")))
    before = changes.committed(HERE / "RESULTS.md")
    # What was not measured now stays as it was.
    after = changes.merged(before if options.only else "", sections)
    options.output.write_text(after, encoding="utf-8")
    print(f"wrote {options.output}", file=sys.stderr)
    found = changes.slower(before, after)
    print(f"slower by more than a quarter than the committed results: {len(found) or 'nothing'}", *found, sep="\n")


def _heading(size: str, repeats: int) -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "duckdb"))
    python = platform.python_version()
    return (
        "# Measured\n\n"
        f"{datetime.date.today()}, {_processor()}, {os.cpu_count()} processors, Python {python}, {libraries}. "
        f"Medians of {repeats} after a first run that is not counted; made by "
        f"`make bench{'' if size == 'ordinary' else f' SIZE=--{size}'}`.\n"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
