"""Attacks in tables: the curves and rates of memory, from counts by type where the trials do not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import priori
from priori import Scores, Table
from priori.engines.engine import TableSettings
from priori.engines.lazy_frames import Lazy


def frame(seed: int, size: int = 60_000) -> pl.DataFrame:
    """Trials of five users; two decimals, so that scores where thresholds lie are cells of their own."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["nontarget", "spoof", "target"], size, p=[0.6, 0.2, 0.2])
    score = np.round(rng.normal(np.select([label == "nontarget", label == "spoof"], [0.0, 1.0], 2.5)), 2)
    kind = np.where(label == "spoof", rng.choice(["mask", "print"], size), "-")
    user = np.array([f"u{number}" for number in rng.integers(0, 5, size)])
    return pl.DataFrame({"score": score, "label": label, "kind": kind, "user": user})


#: How attacks are told: by a third label, by a column of types, by both.
WAYS: dict[str, tuple[dict[str, Any], bool]] = {
    "label": ({}, False),
    "types": ({"columns": {"attack": "kind"}, "pos_label": "target"}, True),
    "both": ({"columns": {"attack": "kind"}}, False),
    "named": ({"attack_label": "spoof", "pos_label": "target"}, False),
}


@pytest.fixture(params=["duckdb", "lazy", "memory"])
def scanned(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., priori.Scores | Table]:
    """Open a frame as a table that does not fit; ``memory``: as one that does."""

    def scanned(table: pl.DataFrame, **options: Any) -> Scores | Table:
        if request.param == "lazy":
            settings = TableSettings(options.get("columns", {}), options.get("pos_label"),
                                     attack_label=options.get("attack_label"))  # fmt: skip
            return Table(Lazy(table.lazy(), settings), memory=2 * 10**6)
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        table.write_parquet(path)
        room = "2MB" if request.param == "duckdb" else "1GB"
        return priori.scan(path, engine="duckdb", memory=room, **options)

    return scanned


def tables(way: str) -> tuple[list[pl.DataFrame], dict[str, Any]]:
    options, two = WAYS[way]
    found = [frame(seed) for seed in (1, 2)]
    if two:  # attacks are known by their type only
        found = [each.with_columns(pl.col("label").replace("spoof", "nontarget")) for each in found]
    return found, options


@pytest.mark.parametrize("way", WAYS)
def test_curves_and_rates_under_attack_are_those_of_memory(scanned: Any, way: str) -> None:
    found, options = tables(way)
    sets = [scanned(each, **options) for each in found], [Scores.from_frame(each, **options) for each in found]
    assert all(isinstance(each, Table) for each in sets[0])
    whole = all(each.fits for each in sets[0])
    ours, theirs = (priori.epsc(*each, omega=[0, 0.3, 1], beta=[0.2, 0.5]) for each in sets)
    assert ours.attack_types == theirs.attack_types
    pairs = [(ours, theirs), *[[function(*each) for each in sets] for function in (priori.adcf, priori.pad)]]
    for found, expected in pairs:
        for column, values in expected.columns().items():
            if values.dtype.kind == "U":
                assert found.columns()[column].tolist() == values.tolist()
            elif column != "errors" or whole:  # in cells, another threshold may be the best, at nearly the same cost
                off = 1e-12 if whole else {"value": 0.01, "best": 0.01, "threshold": 0.1}.get(column, 0.03)
                np.testing.assert_allclose(found.columns()[column], values, rtol=0, atol=off, err_msg=column)


def test_bands_under_attack_are_those_of_memory_in_distribution(scanned: Any) -> None:
    found, options = tables("label")
    sets = [scanned(each, **options) for each in found], [Scores.from_frame(each, **options) for each in found]
    bands = [priori.epsc(*each, omega=[0.3]).band(n_resamples=400) for each in sets]
    for bound in ("lower", "upper"):
        both = [getattr(band, bound)[0] for band in bands]
        assert both[0] == pytest.approx(both[1], abs=0.002)


def test_a_result_says_that_it_was_counted_in_cells(tmp_path: Path) -> None:
    found, _ = tables("label")
    for name, each in zip(("dev", "test"), found, strict=True):
        each.write_parquet(tmp_path / f"{name}.parquet")
    sets = [priori.scan(tmp_path / f"{name}.parquet", engine="duckdb", memory="2MB") for name in ("dev", "test")]
    for result in (priori.epsc(*sets, omega=[0.5]), priori.adcf(*sets), priori.pad(*sets)):
        assert "counted-in-cells" in [getattr(line, "code", "") for line in result.warnings]
