"""What the three scripts share: writing a score table with the same bytes every time, and refusing a wrong file."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

#: Where the tables live in the source tree: they are package data.
PACKAGE_DATA = Path(__file__).resolve().parent.parent / "src" / "priori" / "examples"


def refuse(message: str) -> NoReturn:
    """Say in one line what is wrong with the raw data, and leave with exit code 2."""
    print("error:", " ".join(message.split()), file=sys.stderr)
    raise SystemExit(2)


def rounded(score: float, digits: int) -> str:
    """Write a score with this many decimals; minus zero is zero."""
    return f"{round(float(score), digits) + 0.0:.{digits}f}"


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
    """Write the rows as csv.gz, without a time stamp or a name inside, so that equal tables are equal files."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for row in rows:
        writer.writerow(row)
        count += 1
    packed = bytearray(gzip.compress(text.getvalue().encode("utf-8"), compresslevel=9, mtime=0))
    packed[9] = 255  # the operating system of the writer: unknown, on every one
    temporary = path.with_name(path.name + ".part")
    temporary.write_bytes(packed)
    temporary.replace(path)
    print(f"{path.name}: {count} rows, {len(packed)} bytes")
    return count


def repeat_rng(seed: int, repeat: int) -> np.random.Generator:
    """Return the generator of one repeat; Philox gives the same numbers on every platform."""
    return np.random.Generator(np.random.Philox(key=[seed, repeat]))
