"""One table of many systems, scanned: the same numbers as in memory, and one scan for all systems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import priori
from priori import Scores
from priori.base.errors import InputError, OptionError
from priori.engines import Table
from priori.engines.duckdb import DuckDB
from priori.engines.sql import TableSettings
from priori.scores import counts_of

SYSTEMS = ("A", "B", "C")
SPLIT = ("set", "dev", "eval")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The same trials of three systems, wide and long, as Parquet and as text; users come in no order."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(1)
    rows = 4000
    label, part = rng.integers(0, 2, rows), rng.choice(["dev", "eval", "old"], rows)
    columns: dict[str, Any] = {"set": part, "label": label, "user": rng.permutation(np.arange(rows) % 23)}
    columns["kind"] = rng.choice(["x", "y"], rows)
    columns["trial"] = np.array([f"t{number}" for number in range(rows)])
    hard = rng.normal(size=rows)
    for quality, name in zip((2.0, 1.5, 1.4), SYSTEMS, strict=True):
        columns[name] = np.round(quality * label + hard + rng.normal(size=rows), 2)
    paths = {name: str(folder / name) for name in ("wide.parquet", "wide.csv", "long.parquet", "long.csv")}
    database = duckdb.connect()
    database.register("wide", columns)
    database.execute("CREATE TABLE rows AS FROM wide")
    shared = '"set", label, "user", kind, trial'
    database.execute(
        "CREATE TABLE stacked AS "
        + " UNION ALL ".join(f"SELECT '{name}' AS system, {name} AS score, {shared} FROM rows" for name in SYSTEMS)
    )
    for name, path in paths.items():
        table = "rows" if name.startswith("wide") else "stacked"
        database.execute(
            f"COPY {table} TO '{path}' ({'FORMAT parquet, ROW_GROUP_SIZE 2048' if 'parquet' in name else 'HEADER'})"
        )
    yield paths
    database.close()


def _systems(name: str) -> Any:
    return "system" if name.startswith("long") else list(SYSTEMS)


@pytest.mark.parametrize("name", ["wide.parquet", "wide.csv", "long.parquet", "long.csv"])
def test_curves_and_ranks_are_those_of_memory(tables: dict[str, str], name: str) -> None:
    options: dict[str, Any] = {"systems": _systems(name), "split": SPLIT, "where": {"kind": "x"}}
    said: list[str] = []
    read = priori.read_table(tables[name], **options)
    scanned = priori.scan_table(tables[name], **options, engine="duckdb", memory="50MB", announce=said.append)
    assert said[-1].endswith("scanned by duckdb")
    assert list(scanned) == list(SYSTEMS)
    assert all(each.scanned for pair in scanned.values() for each in pair)
    curves = [priori.epc_all(sets, points=11) for sets in (read, scanned)]
    for ours, theirs in zip(*curves, strict=True):
        assert (ours.name, len(ours.test)) == (theirs.name, len(theirs.test))
        np.testing.assert_array_equal(ours.threshold, theirs.threshold)
        np.testing.assert_array_equal(ours.value, theirs.value)
    boards = [priori.compare_all(each, claim="deployed", n_resamples=300) for each in curves]
    np.testing.assert_array_equal(boards[0].pointwise.p_value, boards[1].pointwise.p_value)
    np.testing.assert_array_equal(boards[0].pointwise.lower, boards[1].pointwise.lower)


@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "several"])
def test_systems_are_in_the_order_of_the_table_whoever_reads_it(tmp_path: Path, name: str) -> None:
    # The first rows of a system count that are in one of the two sets: of B those of the second file.
    rows = [
        (system, part, label, label + k / 7)
        for parts, systems in (("dev eval", "CA"), ("dev eval", "BD"))
        for system in systems
        for part in parts.split()
        for label in (0, 1)
        for k in range(9)
    ]
    rows[:0] = [("B", "old", 0, 0.0)]
    database = duckdb.connect()
    database.execute("CREATE TABLE stacked (system VARCHAR, set VARCHAR, label INTEGER, score DOUBLE)")
    database.executemany("INSERT INTO stacked VALUES (?, ?, ?, ?)", rows)
    (tmp_path / "several").mkdir()
    for number, kept in enumerate(("system IN ('C', 'A') OR set = 'old'", "system IN ('B', 'D') AND set <> 'old'")):
        database.execute(f"COPY (FROM stacked WHERE {kept}) TO '{tmp_path}/several/{number}.parquet'")
    for single in ("table.csv", "table.parquet"):
        database.execute(f"COPY stacked TO '{tmp_path}/{single}'")
    scanned = priori.scan_table(tmp_path / name, systems="system", split=SPLIT, engine="duckdb")
    read = priori.read_table(tmp_path / "table.csv", systems="system", split=SPLIT)
    assert [*scanned] == [*read] == ["C", "A", "B", "D"]


@pytest.mark.parametrize("against", ["eer", "min_dcf", "auc"])
def test_a_leaderboard_of_a_scanned_table_is_that_of_memory(tables: dict[str, str], against: Any) -> None:
    options: dict[str, Any] = {"systems": list(SYSTEMS), "split": SPLIT}
    read = priori.read_table(tables["wide.parquet"], **options)
    scanned = priori.scan_table(tables["wide.parquet"], **options, engine="duckdb")
    boards = [
        priori.rank(priori.epc_all(sets, alpha=[0.5]), against=against, n_resamples=300) for sets in (read, scanned)
    ]
    for name, column in boards[0].columns().items():
        np.testing.assert_array_equal(column, boards[1].columns()[name])
    assert boards[0].tau == boards[1].tau
    spread = [[(move["lower"], move["upper"]) for move in board.moves] for board in boards]
    np.testing.assert_allclose(spread[0], spread[1], atol=0.1)  # bins stand for trials here


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that went through all rows of a table."""
    seen: list[str] = []
    from priori.engines.parquet_files import Files

    whole = Files.query

    def watched(self: Files, text: str, **options: Any) -> Any:
        seen.append(text)
        return whole(self, text, **options)

    monkeypatch.setattr(Files, "query", watched)
    return seen


@pytest.mark.parametrize("name", ["wide.parquet", "long.parquet"])
def test_one_scan_serves_all_systems(tables: dict[str, str], name: str, scans: list[str]) -> None:
    sets = priori.scan_table(tables[name], systems=_systems(name), split=SPLIT, engine="duckdb")
    scans.clear()
    priori.epc_all(sets, points=11)
    of_scores = [text for text in scans if "LIMIT" not in text and ("score" in text or '"A"' in text)]
    assert len(of_scores) == 6, of_scores  # of each set a first look, the bins, and the scores of some of them


def test_wide_systems_are_paired_by_their_rows_and_loaded_in_their_order(tables: dict[str, str]) -> None:
    options: dict[str, Any] = {"systems": list(SYSTEMS), "split": SPLIT, "columns": {"user": "user"}}
    with_ids = priori.read_table(tables["wide.parquet"], **options)
    scanned = priori.scan_table(tables["wide.parquet"], **options, engine="duckdb")
    pair = [priori.epc(*scanned[name], points=5, name=name) for name in ("A", "B")]
    kept = [priori.epc(*with_ids[name], points=5, name=name) for name in ("A", "B")]
    for bootstrap in ("user", "sample"):
        ours, theirs = (
            priori.compare(*two, claim="deployed", bootstrap=bootstrap, n_resamples=200) for two in (pair, kept)
        )
        np.testing.assert_array_equal(ours.replicates, theirs.replicates)
    loaded, read = scanned["A"][1].load(), with_ids["A"][1]
    np.testing.assert_array_equal(loaded.negatives, read.negatives)
    np.testing.assert_array_equal(loaded.negative.trial, read.negative.trial)


def test_missing_scores_are_told_of_the_system_that_has_them(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(
        "set,label,A,B\n"
        + "".join(
            f"{part},{k % 2},{k % 5},{'nan' if k == 3 else k % 7}\n" for part in ("dev", "eval") for k in range(20)
        )
    )
    options: dict[str, Any] = {"systems": ["A", "B"], "split": SPLIT, "engine": "duckdb"}
    with pytest.raises(InputError, match=r"\(B, set=dev\).*NaN"):
        priori.epc_all(priori.scan_table(path, **options), points=3)
    rejected = priori.scan_table(path, **options, nan="reject")
    priori.epc_all(rejected, points=3)
    assert [pair[0].nan_rejected for pair in rejected.values()] == [0, 1]


def test_what_cannot_be_scanned_is_said(tables: dict[str, str]) -> None:
    with pytest.raises(OptionError, match="unknown engine 'polars'"):
        priori.scan_table(tables["wide.csv"], systems=["A"], split=SPLIT, engine="polars")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no row has set = 'test'"):
        priori.scan_table(tables["wide.parquet"], systems=["A"], split=("set", "dev", "test"), engine="duckdb")
    with pytest.raises(InputError, match="no column is called 'Z'"):
        priori.scan_table(tables["wide.parquet"], systems=["A", "Z"], split=SPLIT, engine="duckdb")
    small = priori.scan_table(tables["wide.csv"], systems=["A"], split=SPLIT)
    assert isinstance(small["A"][0], priori.Scores)


@pytest.mark.parametrize("nan", ["reject", "drop"])
def test_systems_with_rows_of_their_own_are_one_panel(nan: str) -> None:
    rng = np.random.default_rng(5)
    rows = 400
    columns = {"label": np.arange(rows) % 2, "user": np.arange(rows) % 7, "trial": [f"t{row}" for row in range(rows)]}
    scores = {name: np.where(rng.random(rows) < 0.05, np.nan, rng.normal(np.arange(rows) % 2)) for name in "ABC"}
    frames = [pl.DataFrame({**columns, "system": [name] * rows, "score": own}) for name, own in scores.items()]
    settings = TableSettings({}, nan=nan)  # type: ignore[arg-type]
    named = [(name, name) for name in scores]
    panel = DuckDB(duckdb.from_arrow(pl.concat(frames).to_arrow()), settings, systems=named, system_in="system")
    tables = [Table(panel, system=number) for number in range(3)]
    alone = [Scores.from_frame(frame, nan=nan) for frame in frames]  # type: ignore[arg-type]
    found, expected = (
        priori.epc_all({name: (one, one) for name, one in zip(scores, sets, strict=True)}, points=7)
        for sets in (tables, alone)
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.threshold, other.threshold)
        np.testing.assert_array_equal(one.value, other.value)
    counted = counts_of(tables, [[0.5]] * 3, ("user",))
    for one, own in zip(counted, alone, strict=True):
        assert (one.rejected(0.5)[0], one.n_users) == (own.rejected(0.5)[0], own.n_users)
