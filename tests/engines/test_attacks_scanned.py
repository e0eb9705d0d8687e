"""Attacks in tables: the curves and rates of memory, from counts by type where the trials do not fit."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import priori
from priori import Scores, Table
from priori.cli import cli
from priori.engines.counting import By
from priori.engines.panel import Panel


def frame(seed: int, size: int = 60_000) -> pl.DataFrame:
    """Trials of five users; two decimals, so that scores where thresholds lie are bins of their own."""
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


@pytest.fixture(params=["duckdb", "memory"])
def scanned(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., priori.Scores | Table]:
    """Open a frame as a table that does not fit; ``memory``: as one that does."""

    def scanned(table: pl.DataFrame, **options: Any) -> Scores | Table:
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
    compare(sets[0], [priori.epsc(*each, omega=[0, 0.3, 1], beta=[0.2, 0.5]) for each in sets])
    for function in (priori.adcf, priori.pad):
        compare(sets[0], [function(*each) for each in sets])


def compare(scanned: Any, results: Any) -> None:
    """Compare a result of scanned sets with that of the same ones in memory."""
    whole = all(each.fits for each in scanned)
    ours, theirs = results
    assert getattr(ours, "attack_types", None) == getattr(theirs, "attack_types", None)
    for column, values in theirs.columns().items():
        if values.dtype.kind == "U":
            assert ours.columns()[column].tolist() == values.tolist()
        elif column != "errors" or whole:  # in bins, another threshold may be the best, at nearly the same cost
            off = 1e-12 if whole else {"value": 0.01, "best": 0.01, "threshold": 0.1}.get(column, 0.03)
            np.testing.assert_allclose(ours.columns()[column], values, rtol=0, atol=off, err_msg=column)


def test_bands_under_attack_are_those_of_memory_in_distribution(scanned: Any) -> None:
    found, options = tables("label")
    sets = [scanned(each, **options) for each in found], [Scores.from_frame(each, **options) for each in found]
    bands = [priori.epsc(*each, omega=[0.3]).band(n_resamples=400) for each in sets]
    for bound in ("lower", "upper"):
        both = [getattr(band, bound)[0] for band in bands]
        assert both[0] == pytest.approx(both[1], abs=0.002)


def test_a_result_says_that_it_was_counted_in_bins(tmp_path: Path) -> None:
    found, _ = tables("label")
    for name, each in zip(("dev", "test"), found, strict=True):
        each.write_parquet(tmp_path / f"{name}.parquet")
    sets = [priori.scan(tmp_path / f"{name}.parquet", engine="duckdb", memory="2MB") for name in ("dev", "test")]
    for result in (priori.epsc(*sets, omega=[0.5]), priori.adcf(*sets), priori.pad(*sets)):
        assert "counted-in-bins" in [getattr(line, "code", "") for line in result.warnings]


# -- many systems in one table ---------------------------------------------------------------------------------------

SPLIT = ("set", "dev", "test")


def many(way: str, shape: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The trials of two systems, as columns or as rows of one table, and how it is read."""
    parts, options = tables(way)
    worse = [part["score"] - np.round(np.arange(part.height) % 7 / 7, 2) for part in parts]
    wide = pl.concat(
        part.rename({"score": "A"}).with_columns(pl.lit(name).alias("set"), other.alias("B"))
        for part, other, name in zip(parts, worse, SPLIT[1:], strict=True)
    )
    if shape == "wide":
        return wide, {"systems": ["A", "B"], "split": SPLIT, **options}
    rows = wide.unpivot(["A", "B"], index=["set", "label", "kind", "user"], variable_name="system", value_name="score")
    return rows, {"systems": "system", "split": SPLIT, **options}


@pytest.mark.parametrize(
    ("engine", "shape", "way"),
    [
        *(("duckdb", shape, way) for shape, way in zip(["wide", "long"] * 2, WAYS, strict=True)),
        ("text", "wide", "both"),
        ("memory", "long", "named"),
    ],
)
def test_attacks_in_a_table_of_many_systems_are_those_of_memory(
    tmp_path: Path, engine: str, shape: str, way: str
) -> None:
    table, options = many(way, shape)
    path = tmp_path / ("all.csv" if engine == "text" else "all.parquet")
    (table.write_csv if engine == "text" else table.write_parquet)(path)
    room: Any = {"engine": "duckdb", "memory": "1GB" if engine == "memory" else "4MB"}
    scanned, read = priori.scan_table(path, **options, **room), priori.read_table(path, **options)
    assert list(scanned) == ["A", "B"]
    for name, sets in scanned.items():
        assert all(isinstance(each, Table) and each.fits == (engine == "memory") for each in sets)
        compare(sets, [priori.epsc(*each, omega=[0, 0.3, 1]) for each in (sets, read[name])])
        compare(sets, [priori.pad(*each) for each in (sets, read[name])])


@pytest.mark.parametrize("shape", ["wide", "long"])
@pytest.mark.parametrize("command", ["epsc", "adcf", "pad"])
def test_one_scan_counts_the_attacks_of_all_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, shape: str
) -> None:
    table, _ = many("both", shape)
    table.write_parquet(tmp_path / "all.parquet")
    scans: list[tuple[int, By]] = []
    scan = Panel.scanned
    monkeypatch.setattr(
        Panel,
        "scanned",
        lambda self, asked, by, owned: (scans.append((len(asked), by)), scan(self, asked, by, owned))[1],
    )
    systems = ["--systems-in", "system"] if shape == "long" else ["--systems-columns", "A,B"]
    asked = [
        command,
        "--table",
        str(tmp_path / "all.parquet"),
        *systems,
        "--split",
        "set=dev:test",
        "--column",
        "attack=kind",
        "--format",
        "csv",
    ]
    answers = [
        CliRunner().invoke(cli, [*asked, *more], catch_exceptions=False)
        for more in (["--engine", "duckdb", "--memory", "8MB"], ["--engine", "memory"])
    ]
    found, expected = ([*csv.DictReader(io.StringIO(answer.stdout))] for answer in answers)
    assert [row["system"] for row in found] == [row["system"] for row in expected]
    for column in ("threshold", "value", "actual", "rate"):
        both = [[float(row[column]) for row in rows if column in row] for rows in (found, expected)]
        np.testing.assert_allclose(*both, rtol=0, atol=0.1 if column == "threshold" else 0.03)
    assert {systems for systems, _ in scans} == {2}
    assert [by for _, by in scans if by] == [("user", "attack")] * 2  # of each set one
    assert len(scans) <= 8  # and a few that look at the scores alone


def test_attacks_that_only_the_real_identity_tells_are_not_lost(tmp_path: Path) -> None:
    rows = [
        f"{part},u{k % 3},{who},{k / 7}" for part in SPLIT[1:] for k in range(21) for who in ("u0", "u1", "attack/mask")
    ]
    path = tmp_path / "all.csv"
    path.write_text("\n".join(["set,user,probe_user,A", *rows]), encoding="utf-8")
    options: dict[str, Any] = {"systems": ["A"], "split": SPLIT}
    assert priori.read_table(path, **options)["A"][0].n_attacks == 21
    scanned = priori.scan_table(path, **options, engine="duckdb")["A"]
    for function in (priori.epsc, priori.adcf, priori.pad):
        with pytest.raises(priori.OptionError, match=r"'attack/mask'\) are known in memory only"):
            function(*scanned)
    assert len(priori.epc(*scanned, points=3).value) == 3


def test_columns_of_a_table_may_be_called_as_ours(tmp_path: Path) -> None:
    table = frame(1).rename({"kind": "code"}).with_columns(pl.lit("x").alias("name"), pl.lit("y").alias("attack"))
    table.write_parquet(tmp_path / "all.parquet")
    options: dict[str, Any] = {"columns": {"attack": "code"}}
    scanned = priori.scan(tmp_path / "all.parquet", engine="duckdb", memory="2MB", **options)
    assert (
        priori.pad(scanned, scanned).attack.tolist()
        == priori.pad(*[Scores.from_frame(table, **options)] * 2).attack.tolist()
    )
    curve = priori.epc(scanned, scanned, alpha=[0.5])
    assert curve.band(bootstrap="user", n_resamples=50).lower[0] <= curve.value[0]


def test_an_attack_label_that_comes_late_is_seen(tmp_path: Path) -> None:
    size = 70_000
    label = np.append(np.arange(size) % 2, np.full(100, 2))
    score = np.append(np.arange(size) % 11 + 0.0, np.full(100, 5.0))
    pl.DataFrame({"score": score, "label": label}).write_parquet(tmp_path / "all.parquet")
    scanned = priori.scan(tmp_path / "all.parquet", engine="duckdb", memory="2MB", pos_label=1, attack_label=2)
    assert priori.epsc(scanned, scanned, omega=[0.5]).sizes["test"] == {
        "impostors": size // 2,
        "attacks": 100,
        "positives": size // 2,
    }


def test_an_attack_without_a_type_has_its_label(scanned: Any) -> None:
    """It is marked as an attack: a type that is missing, or empty, does not make it an impostor."""
    table = frame(1).with_columns(
        pl.when(pl.col("label") == "spoof")
        .then(pl.col("kind").replace({"mask": None, "print": ""}))
        .otherwise("kind")
        .alias("kind")
    )
    options = {"columns": {"attack": "kind"}}
    read = Scores.from_frame(table, **options)
    assert read.attack_types is not None
    assert read.attack_types.values.tolist() == ["", "spoof"]
    assert read.n_attacks == (table["label"] == "spoof").sum()
    sets = scanned(table, **options), scanned(table, **options)
    found, expected = (priori.pad(*each) for each in (sets, (read, read)))
    assert found.attack.tolist() == expected.attack.tolist()
    np.testing.assert_array_equal(found.trials, expected.trials)
    assert "spoof" in found.attack.tolist()
