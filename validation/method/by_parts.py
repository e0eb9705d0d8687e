"""Measure the test of two systems as methods on tables, by random parts of their trials, beside that of memory.

python validation/method/by_parts.py 100   some 10 minutes on one core, for 100 pairs of sets; printed only

Systems that do not differ: how often each test says that they do (5 % is right), and how wide its intervals are.
"""

from __future__ import annotations

import sys

import duckdb
import numpy as np
import polars as pl

import priori
from priori import EPC, Scores, Table
from priori.engines.duckdb import DuckDB
from priori.engines.sql import TableSettings

ALPHAS = [0.1, 0.3, 0.5, 0.7, 0.9]
#: Impostor trials, which leave 300 of the genuine ones, and bytes that do not hold them.
NEGATIVES, POSITIVES, MEMORY = 6000, 300, 400_000


def frames(rng: np.random.Generator) -> list[pl.DataFrame]:
    """Return the same trials scored by two systems that are alike."""
    label = np.repeat([0, 1], [NEGATIVES, POSITIVES])
    common = 2 * label + 0.7 * rng.normal(size=label.size)
    trial = np.arange(label.size).astype(str)
    scores = (common + 0.7 * rng.normal(size=label.size) for _ in range(2))
    return [pl.DataFrame({"label": label, "trial": trial, "score": score}) for score in scores]


def scanned(frame: pl.DataFrame, database: duckdb.DuckDBPyConnection, name: str) -> Table:
    """Return the trials as a table that does not fit in memory."""
    database.register(name, frame.to_arrow())
    return Table(DuckDB(database.sql(f"FROM {name}"), TableSettings()), memory=MEMORY, bins=1 << 12)


def one(seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return p-values and widths of one pair of systems, in memory and on tables."""
    rng = np.random.default_rng(seed)
    sets, found = [frames(rng), frames(rng)], []
    with duckdb.connect() as database:
        for on_tables in (False, True):
            curves: list[EPC] = []
            for s in range(2):
                dev, test = (
                    scanned(frame[s], database, f"set{number}{s}") if on_tables else Scores.from_frame(frame[s])
                    for number, frame in enumerate(sets)
                )
                curves.append(priori.epc(dev, test, alpha=ALPHAS, name="AB"[s]))
            compared = priori.compare(*curves, n_resamples=200, rng=seed)
            found.append((compared.p_value, compared.upper - compared.lower))
    return found


def main(repeats: int) -> None:
    """Print a line for each way."""
    every = [one(seed) for seed in range(repeats)]
    widths = [np.array([each[way][1] for each in every]) for way in range(2)]
    for way, name in enumerate(("memory", "tables")):
        rejected = np.mean([each[way][0] < 0.05 for each in every], axis=0)
        print(f"{name}: rejects {' '.join(f'{100 * share:.1f} %' for share in rejected)} at alphas {ALPHAS}")
    ratio = widths[1] / widths[0]
    print(f"width of tables over memory: mean {ratio.mean():.3f}, standard deviation {ratio.std():.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
