"""z-tests of tables that do not fit in memory: trials are paired and counted where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import priori
from priori import Table
from priori.report import Settings, System, make_study
from priori.uncertainty.comparing.ztests import ztests_along

SIZE = 6000


@pytest.fixture
def frame() -> pl.DataFrame:
    """Two systems on the same trials, wide."""
    rng = np.random.default_rng(3)
    label, hard = rng.integers(0, 2, SIZE), rng.normal(size=SIZE)
    columns: dict[str, Any] = {"label": label, "user": [f"u{number % 40}" for number in range(SIZE)]}
    for name, quality in (("A", 2.0), ("B", 1.8)):
        columns[name] = np.round(quality * label + hard + rng.normal(size=SIZE), 2)
    return pl.DataFrame(columns).with_columns(
        pl.Series("trial", [f"t{number}" for number in rng.permutation(SIZE)]),
        pl.Series("set", np.where(np.arange(SIZE) % 2, "dev", "test")),
    )


def answers(sets: Any) -> list[Any]:
    curves = [priori.epc(*sets[name], points=7, name=name) for name in ("A", "B")]
    return [
        priori.compare(*curves, claim="deployed", bootstrap="sample", n_resamples=50).columns(),
        {name: test.confidence for name, test in ztests_along(*curves).items()},
        priori.ztest_scores(sets["A"][1], 1.0, sets["B"][1], 0.9).to_dict(),
    ]


@pytest.mark.parametrize("kind", ["wide", "long", "ids"])
def test_they_are_those_of_memory(frame: pl.DataFrame, tmp_path: Path, kind: str) -> None:
    if kind != "ids":
        names = ["set", "label", "user", "trial"]
        table = (
            frame
            if kind == "wide"
            else frame.unpivot(["A", "B"], index=names, variable_name="system", value_name="score")
        )
        (table.drop("trial") if kind == "wide" else table).write_parquet(tmp_path / "all.parquet")
        options: dict[str, Any] = {
            "systems": ["A", "B"] if kind == "wide" else "system",
            "split": ("set", "dev", "test"),
        }
        read = priori.read_table(tmp_path / "all.parquet", **options)
        scanned = priori.scan_table(tmp_path / "all.parquet", **options, engine="duckdb")
        small = {
            name: [Table(each.engine, memory=10**5, system=each.system) for each in pair]
            for name, pair in scanned.items()
        }
    else:
        small, read = {}, {}
        for name in ("A", "B"):
            small[name], read[name] = [], []
            for role in ("dev", "test"):
                path = tmp_path / f"{name}-{role}.parquet"
                own = frame.filter(pl.col("set") == role).select("label", "user", "trial", pl.col(name).alias("score"))
                (own if name == "A" else own.reverse()).write_parquet(path)
                small[name].append(Table(priori.scan(path, engine="duckdb").engine, memory=10**5))
                read[name].append(priori.read(path))
    assert not any(each.fits for pair in small.values() for each in pair)
    for found, expected in zip(answers(small), answers(read), strict=True):
        assert str(found) == str(expected)


def test_a_page_of_two_tables_has_them(frame: pl.DataFrame, tmp_path: Path) -> None:
    studies = []
    for engine in ("duckdb", "memory"):
        systems = []
        for name in ("A", "B"):
            sets = []
            for role in ("dev", "test"):
                path = tmp_path / f"{name}-{role}.parquet"
                own = frame.filter(pl.col("set") == role).select("label", "user", "trial", pl.col(name).alias("score"))
                own.write_parquet(path)
                table = priori.scan(path, engine=engine)
                sets.append(Table(table.engine, memory=3 * 10**5) if isinstance(table, Table) else table)
            systems.append(System(name, *sets))
        studies.append(make_study(systems, Settings(points=5, n_resamples=50, claim="deployed")))
    assert not any(each.fits for curve in studies[0].curves for each in (curve.dev, curve.test))
    confidences = [study.pairs[0].confidence for study in studies]
    np.testing.assert_array_equal(*confidences)
