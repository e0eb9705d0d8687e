"""Tallies: how often an interval held what it promised, and how wide it was."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import astuple, dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Row:
    """One line of the record. ``measured`` is a coverage or a share of true nulls rejected, with its standard error."""

    part: str
    population: str
    method: str
    promise: str
    nominal: float
    measured: float
    standard_error: float
    width: float
    repeats: int

    @classmethod
    def header(cls) -> list[str]:
        return [field.name for field in fields(cls)]

    @classmethod
    def read(cls, line: dict[str, str]) -> Row:
        kinds = {"str": str, "float": float, "int": int}
        return cls(**{field.name: kinds[str(field.type)](line[field.name]) for field in fields(cls)})

    def cells(self) -> list[str]:
        return [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in astuple(self)]


class Tally:
    """Shares covered and widths, gathered repeat by repeat under (method, promise)."""

    def __init__(self, part: str, population: str, nominal: float = 0.95) -> None:
        self.part, self.population, self.nominal = part, population, nominal
        self.found: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)

    def add(self, method: str, promise: str, inside, width) -> None:
        """Count one repeat: whether, or at which share of places, the promise was kept; and the interval's width."""
        self.found[method, promise].append((float(np.mean(inside)), float(np.mean(width))))

    def rows(self) -> list[Row]:
        result = []
        for (method, promise), pairs in self.found.items():
            share, width = np.array(pairs).T
            error = float(share.std(ddof=1) / np.sqrt(share.size)) if share.size > 1 else float("nan")
            result.append(
                Row(self.part, self.population, method, promise, self.nominal, float(share.mean()), error,
                    float(width.mean()), share.size)
            )  # fmt: skip
        return result
