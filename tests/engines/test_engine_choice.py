"""Which engine reads what: amounts of memory, files behind a path, and the same scores whichever way is taken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import priori
from engine_frames import population
from priori import InputError, OptionError, Scores
from priori.engines import Table
from priori.engines.opening import bytes_of
from priori.engines.parquet_files import WatchedFiles


@pytest.mark.parametrize(
    ("memory", "expected"),
    [("2GB", 2 * 10**9), ("2g", 2 * 10**9), ("1.5 MiB", 3 << 19), (5_000_000, 5_000_000), ("3000KB", 3_000_000)],
)
def test_memory_in_bytes(memory: str | int, expected: int) -> None:
    assert bytes_of(memory) == expected


@pytest.mark.parametrize("memory", ["", "GB", "-1GB", "10KB", "1XB", "5000000iB", "1e9"])
def test_memory_that_is_no_amount(memory: str) -> None:
    with pytest.raises(OptionError, match="at least 1 MB"):
        bytes_of(memory)


def test_a_directory_stands_for_its_parquet_files_and_they_must_not_change(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.parquet", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    watch = WatchedFiles(tmp_path)
    assert [Path(path).name for path in watch.paths] == ["a.parquet", "b.parquet"]
    assert watch.size == 2
    watch.check()
    (tmp_path / "a.parquet").write_bytes(b"xy")
    with pytest.raises(InputError, match="changed while they were read"):
        watch.check()
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(InputError, match=r"changed while they were read|was it removed"):
        watch.check()


def test_files_that_fit_are_read_into_memory_others_are_scanned(tmp_path: Path) -> None:
    frame = population(3).filter(pl.col("score").is_finite())
    for part in range(3):
        frame[part::3].write_parquet(tmp_path / f"part-{part}.parquet")
    lines: list[str] = []
    read, scanned = (
        priori.scan(tmp_path, engine=engine, announce=lines.append)  # type: ignore[arg-type]
        for engine in ("auto", "duckdb")
    )
    assert isinstance(read, Scores)
    assert isinstance(scanned, Table)
    number = f"{len(frame)} trials in 3 files"
    assert lines == [f"{tmp_path}: {number}, read into memory", f"{tmp_path}: {number}, scanned by duckdb in 1000 MB"]
    assert np.array_equal(np.sort(read.negative.score), np.sort(scanned.load().negative.score))
    scanned.close()


@pytest.mark.parametrize(("kind", "scanned"), [("parquet", True), ("csv", False)])
def test_parquet_is_judged_by_its_rows_not_by_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, scanned: bool
) -> None:
    monkeypatch.setattr("priori.engines.opening.SMALL", 0)
    frame = pl.DataFrame({"score": np.arange(60_000) % 7, "label": np.arange(60_000) % 2})  # of which little is left
    path = tmp_path / f"scores.{kind}"
    frame.write_parquet(path) if kind == "parquet" else frame.head(1000).write_csv(path)
    assert isinstance(priori.scan(path, memory="1MB"), Table) == scanned


def test_groups_of_text_files_are_known_when_they_are_scanned(tmp_path: Path) -> None:
    frame = pl.DataFrame({"score": np.arange(200) % 17, "label": np.arange(200) % 2, "sex": ["f", "m", "m", "f"] * 50})
    frame.write_csv(tmp_path / "scores.csv")
    read, scanned = (
        priori.scan(tmp_path / "scores.csv", engine=engine, columns={"group": "sex"})  # type: ignore[arg-type]
        for engine in ("memory", "duckdb")
    )
    assert isinstance(scanned, Table)
    ours, theirs = (priori.group_rates(scores, 8.0).columns() for scores in (scanned, read))
    assert {name: column.tolist() for name, column in ours.items()} == {
        name: column.tolist() for name, column in theirs.items()
    }
