"""The command line over globs: the same numbers whatever engine reads, and plain words when something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import priori
from engine_frames import population

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def systems(tmp_path: Path) -> list[str]:
    """Two systems in folders of Parquet files."""
    found = []
    for quality in (1.5, 1.8):
        found += ["--system", f"S{quality}"]
        for role, seed in (("dev", 1), ("test", 2)):
            folder = tmp_path / f"{role}-{quality}"
            folder.mkdir()
            frame = population(seed, quality)
            for part in range(3):
                frame[part::3].write_parquet(folder / f"{part}.parquet")
            found.append(f"{folder}/*.parquet")
    return found


@pytest.mark.parametrize(
    "command",
    [
        "epc --points 11 --bootstrap user --resamples 50",
        "epc --criterion target-v1 --points 11",
        "compare --points 11 --bootstrap joint --resamples 10x5 --claim deployed",
        "compare --points 5 --bootstrap sample --resamples 50 --unpaired --claim deployed",
    ],
)
def test_engines_print_the_same_numbers(run: Run, systems: list[str], command: str) -> None:
    printed = {}
    for engine in ("auto", "memory", "duckdb"):
        code, printed[engine], said = run(f"{command} --format csv --engine {engine}", *systems)
        assert code == 0, said
        assert ("scanned by duckdb in 1000 MB" if engine == "duckdb" else "read into memory") in said.replace(
            "953", "1000"
        )
    assert printed["memory"] == printed["duckdb"] == printed["auto"]


def test_a_small_memory_makes_auto_choose_duckdb(run: Run, systems: list[str]) -> None:
    code, _, said = run("epc", *systems[:4], "--memory", "1MB", "--points", "5")
    # 3000 trials of 128 bytes fit in one megabyte; ten times as many do not.
    assert code == 0
    assert "read into memory" in said
    folder = Path(systems[2]).parent
    population(1, size=30_000).write_parquet(folder / "more.parquet")
    code, out, said = run("epc", *systems[:4], "--memory", "1MB", "--points", "5", "--verbose")
    assert code == 0
    assert "33000 trials in 4 files, scanned by duckdb in 1 MB" in said
    assert "no areas of scanned tables" in said
    assert "Threshold to deploy" in out
    assert "Areas" not in out


def test_every_output_of_what_does_not_fit_comes_with_its_band(run: Run, tmp_path: Path) -> None:
    """Nothing that is shown beside a band may need all scores at once."""
    for role, seed in (("dev", 1), ("test", 2)):
        population(seed, size=30_000).write_parquet(tmp_path / f"{role}.parquet")
    paths = [tmp_path / "dev.parquet", tmp_path / "test.parquet"]
    options = ["--memory", "1MB", "--bootstrap", "user", "--resamples", "20", "--points", "5", "--engine", "duckdb"]
    for format_ in ("table", "csv", "json"):
        code, out, said = run("epc", "--system", "A", *paths, *options, "--format", format_)
        assert code == 0, said
        assert "lower" in out
    code, out, said = run("compare", "--system", "A", *paths, "--system", "B", *paths, *options)
    assert code == 0, said
    assert "Mean expected difference over the alphas" in out


def test_the_table_and_json_of_a_scan(run: Run, systems: list[str]) -> None:
    code, out, _ = run("epc", *systems[:4], "--engine", "duckdb", "--format", "json", "--points", "5")
    assert code == 0
    (system,) = json.loads(out)["systems"]
    assert system["areas"] == {"epc": None, "e_v1": None, "e_v2": None, "g": None}
    assert system["dev"]["negatives"] + system["dev"]["positives"] == 3000
    assert system["test"]["users"] == 25


@pytest.mark.parametrize("points", ["hull", "51"])
def test_roc_of_a_scan(run: Run, systems: list[str], points: str) -> None:
    printed = [
        run("roc", "--scores", "A", systems[3], "--points", points, "--format", "csv", "--engine", engine)[1]
        for engine in ("memory", "duckdb")
    ]
    assert printed[0] == printed[1]
    tables = [
        run("roc", "--scores", "A", systems[3], "--points", points, "--engine", engine, "--verbose")[1]
        for engine in ("memory", "duckdb")
    ]
    numbers = [table.splitlines()[3].split() for table in tables]
    assert numbers[1][-1] == "-"
    assert numbers[0][:-1] == numbers[1][:-1]


def test_a_curve_of_all_scores_need_not_hold_them(tmp_path: Path, run: Run) -> None:
    population(1, size=30_000).write_parquet(tmp_path / "dev.parquet")
    asked = ("roc", "--scores", "A", tmp_path / "dev.parquet", "--format", "csv", "--engine")
    code, scanned, _ = run(*asked, "duckdb", "--memory", "1MB")
    assert code == 0
    known = [np.genfromtxt(out.splitlines(), delimiter=",", names=True) for out in (scanned, run(*asked, "memory")[1])]
    at = np.linspace(0.01, 0.99, 50)
    found, expected = (np.interp(at, rows["fpr"], rows["tpr"]) for rows in known)
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_no_temporary_file_is_left(run: Run, systems: list[str], tmp_path: Path) -> None:
    temp = tmp_path / "temp"
    temp.mkdir()
    frame = population(1).filter(pl.col("score").is_finite())
    frame.write_csv(tmp_path / "dev.csv")
    frame.write_csv(tmp_path / "test.csv")
    paths = [tmp_path / "dev.csv", tmp_path / "test.csv"]
    code, _, said = run("epc", "--system", "A", *paths, "--engine", "duckdb", "--temp", temp, "--points", "3")
    assert code == 0, said
    import gc

    gc.collect()  # a table removes its files when nobody holds it any more, at the latest when the process ends
    assert list(temp.iterdir()) == []


def test_scan_is_lazy_for_those_who_import_priori() -> None:
    assert priori.scan.__module__ == "priori.engines.opening"
