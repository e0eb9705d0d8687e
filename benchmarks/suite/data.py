"""Score tables of any size, as Parquet files of single-precision scores with users."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

__all__ = ["write", "write_wide"]

#: Rows in a file.
PART = 5_000_000


def write(folder: Path, trials: int, users: int = 10_000, *, probabilities: bool = False) -> Path:
    """Write development and test sets of half the trials each, one in ten positive; once.

    ``probabilities`` are the same scores squeezed between 0 and 1, where most crowd at the ends.
    """
    done = folder / ".written"
    if done.exists():
        return folder
    for role, seed in (("dev", 1), ("test", 2)):
        (folder / role).mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(seed)
        shift = rng.normal(0, 0.3, users).astype(np.float32)
        left = trials // 2
        for number in range(-(-left // PART)):
            size = min(PART, left - number * PART)
            user = rng.integers(0, users, size, dtype=np.int32)
            label = (rng.random(size, dtype=np.float32) < 0.1).astype(np.int8)
            score = rng.standard_normal(size, dtype=np.float32) + np.float32(2.5) * label + shift[user]
            if probabilities:
                score = 1 / (1 + np.exp(-4 * (score - np.float32(1.2))))
            frame = pl.DataFrame({"user": user, "label": label, "score": score})
            frame.write_parquet(folder / role / f"part-{number:03}.parquet", compression="snappy")
    done.touch()
    return folder


def write_wide(path: Path, rows: int, users: int = 1000) -> Path:
    """Write three systems' scores of the same trials as columns of one table, half of each set; once."""
    if path.exists():
        return path
    rng = np.random.default_rng(3)
    label, hard = (rng.random(rows) < 0.1).astype(np.int8), rng.standard_normal(rows, dtype=np.float32)
    columns = {"label": label, "user": rng.integers(0, users, rows, dtype=np.int32)}
    for name, quality in (("A", 2.5), ("B", 2.4), ("C", 2.0)):
        columns[name] = np.float32(quality) * label + hard + rng.standard_normal(rows, dtype=np.float32)
    sets = np.where(np.arange(rows) % 2, "dev", "test")
    pl.DataFrame(columns).with_columns(pl.Series("set", sets)).write_parquet(path, compression="snappy")
    return path
