"""Rows of the record: how often an interval covered the truth, or a test rejected a true null, and how wide it was."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Row:
    """One line of the record. ``measured`` is a coverage or a share of true nulls rejected, with its standard error.

    ``warnings`` are the codes of what results said to mind, each with the share (%) of results that did.
    """

    part: str
    population: str
    method: str
    promise: str
    nominal: float
    measured: float
    standard_error: float
    width: float
    repeats: int
    warnings: str = ""

    @classmethod
    def header(cls) -> list[str]:
        return [field.name for field in fields(cls)]

    @classmethod
    def read(cls, line: dict[str, str]) -> Row:
        kinds = {"str": str, "float": float, "int": int}
        given = [field for field in fields(cls) if line.get(field.name) is not None]
        return cls(**{field.name: kinds[str(field.type)](line[field.name]) for field in given})

    def warned(self, shares: dict[str, float]) -> Row:
        """Return the row with the share of results that carried each warning."""
        said = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
        return replace(self, warnings="; ".join(f"{code} {100 * share:.0f}" for code, share in said))

    def cells(self) -> list[str]:
        return [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in astuple(self)]


def read_record(path: Path) -> list[Row]:
    """Return the rows of a record."""
    with path.open(newline="", encoding="utf-8") as file:
        return [Row.read(line) for line in csv.DictReader(file)]


def write_record(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as a record."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row.header())
        writer.writerows(row.cells() for row in rows)


def standard_error(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard error of the mean of each column, rows taken for independent; NaN for one row."""
    if len(shares) < 2:
        return np.full(shares.shape[1:], np.nan)
    return np.asarray(shares.std(axis=0, ddof=1) / np.sqrt(len(shares)))


class Tally:
    """What was gathered on one population under the keys (method, promise), as rows of the record.

    Of each repeat it holds the share covered and the width.
    """

    def __init__(self, part: str, population: str, nominal: float = 0.95) -> None:
        self.repeats: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        self.part, self.population, self.nominal = part, population, nominal
        self.said: Counter[tuple[tuple[str, str], str]] = Counter()

    def add(self, key: tuple[str, str], inside: ArrayLike, width: ArrayLike) -> None:
        """Add one repeat: whether, or at which share of places, the truth was covered; and the band's width."""
        self.repeats[key].append((float(np.mean(inside)), float(np.mean(width))))

    def cover(
        self, key: tuple[str, str], lower: ArrayLike, upper: ArrayLike, truth: ArrayLike, *, whole: bool = False
    ) -> None:
        """Add a band: the share of the truth inside, or whether the ``whole`` of it is."""
        inside = (np.asarray(lower) <= truth) & (truth <= np.asarray(upper))
        self.add(key, bool(inside.all()) if whole else inside, np.subtract(upper, lower))

    def say(self, key: tuple[str, str], warnings: Iterable[str]) -> None:
        """Count the warnings of a result under its key."""
        self.said.update({(key, warning.code) for warning in warnings})

    def rows(self) -> list[Row]:
        result = []
        for (method, promise), pairs in self.repeats.items():
            share, width = np.array(pairs).T
            error = float(standard_error(share))
            row = Row(
                self.part,
                self.population,
                method,
                promise,
                self.nominal,
                float(share.mean()),
                error,
                float(width.mean()),
                share.size,
            )
            said = {code: n / share.size for (key, code), n in self.said.items() if key == (method, promise)}
            result.append(row.warned(said))
        return result
