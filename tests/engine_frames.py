"""Awkward trials as frames, and what must come out of them whatever engine reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import polars as pl
from hypothesis import strategies as st

import oracle
import priori
from memory_engine import Memory
from priori import EPC, Scores, Table
from priori.engines.duckdb import DuckDB
from priori.engines.panel import Panel
from priori.engines.sql import TableSettings
from priori.scores.histogram import BINS

SINGLE = st.floats(allow_nan=False, width=32)
HARD = st.sampled_from([-math.inf, math.inf, 0.0, -0.0, 1.0, float(np.nextafter(np.float32(1), np.float32(2)))])


@st.composite
def trials(draw: st.DrawFn, single: bool = False) -> pl.DataFrame:
    """A set of trials with ties, infinities and neighbouring numbers, shuffled."""
    score = st.one_of(HARD, st.integers(-3, 3).map(float), SINGLE) if single else oracle.score
    negatives, positives = (draw(st.lists(score, min_size=1, max_size=15)) for _ in range(2))
    label = [0] * len(negatives) + [1] * len(positives)
    users = draw(st.lists(st.integers(-2, 40), min_size=len(label), max_size=len(label)))
    order = draw(st.permutations(range(len(label))))
    frame = pl.DataFrame({"label": label, "score": negatives + positives, "user": users, "trial": range(len(label))})
    frame = frame[list(order)]
    return frame.with_columns(pl.col("score").cast(pl.Float32)) if single else frame


def population(seed: int, quality: float = 1.5, size: int = 3000, users: int = 25) -> pl.DataFrame:
    """Trials of a middling system, shuffled; the same seed gives the same trials whatever the quality."""
    rng = np.random.default_rng(seed)
    label, user, noise = rng.integers(0, 2, size), rng.integers(0, users, size), rng.normal(size=size)
    own = np.random.default_rng([seed, int(10 * quality)]).normal(0, 0.5, size)
    score = np.round(noise + own + quality * label + np.linspace(-0.5, 0.5, users)[user], 2)
    score[:4] = [math.inf, -math.inf, 0.0, -0.0]
    frame = pl.DataFrame({"label": label, "score": score, "user": user, "trial": [f"t{i}" for i in range(size)]})
    return frame.sample(fraction=1.0, shuffle=True, seed=seed + int(10 * quality))


def opened(frame: Any, bins: int = BINS, memory: int = 1 << 30, **settings: Any) -> Table:
    """Open a frame, or a duckdb relation, as a table that duckdb scans."""
    relation = duckdb.from_arrow(frame.to_arrow()) if isinstance(frame, pl.DataFrame) else frame
    return Table(DuckDB(relation, TableSettings(**settings)), bins=bins, memory=memory)


def same_columns(found: Any, expected: Any) -> None:
    """Assert that two results have the same table, to the last bit."""
    for name, column in expected.columns().items():
        assert np.array_equal(found.columns()[name], column, equal_nan=column.dtype.kind == "f"), name


@contextmanager
def nothing_loaded() -> Iterator[None]:
    """Fail where all the trials of a table are asked for at once."""
    with ExitStack() as stack:
        for engine in (DuckDB, Panel, Memory):
            stack.enter_context(patch.object(engine, "load", side_effect=AssertionError("the trials were loaded")))
        yield


def same_everything(
    read: Callable[[pl.DataFrame], Any], in_memory: Callable[[pl.DataFrame], Scores], *, quickly: bool = False
) -> None:
    """Assert that curves, bands and comparisons come out as in memory; quickly: fewer kinds of them."""

    def curves(how: Callable[[pl.DataFrame], Any], quality: float) -> EPC:
        return priori.epc(*(how(population(seed, quality)) for seed in (1, 2)), points=21, name=str(quality))

    expected = [curves(in_memory, quality) for quality in (1.5, 1.8)]
    with nothing_loaded():
        found = [curves(read, quality) for quality in (1.5, 1.8)]
        _same_bands(found, expected, quickly)
    if not quickly:
        options = {"bootstrap": "user", "n_resamples": 20, "resample": "both"}
        same_columns(found[0].band(**options), expected[0].band(**options))


def _same_bands(found: Sequence[EPC], expected: Sequence[EPC], quickly: bool) -> None:
    """Assert that everything with thresholds fixed is the same."""
    for one, two in zip(found, expected, strict=True):
        same_columns(one, two)
    settings: Sequence[dict[str, Any]] = (
        {"bootstrap": "sample"},
        {"bootstrap": "rows"},
        {"bootstrap": "user"},
        {"bootstrap": "user-constrained"},
        {"bootstrap": "joint", "n_resamples": (20, 5)},
    )
    for options in settings[::3] if quickly else settings:
        options = {"n_resamples": 100, "rng": 7, **options}
        same_columns(found[0].band(**options), expected[0].band(**options))
        for unpaired in (False, True):
            same_columns(
                *(
                    priori.compare(*curves, claim="deployed", unpaired=unpaired, **options)
                    for curves in (found, expected)
                )
            )
