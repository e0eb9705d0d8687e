"""Spark, in local mode, gives the answers of memory, to the last bit; without Java there is nothing to test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import priori
from engine_frames import population, same_columns, same_everything
from priori import InputError, OptionError, Scores, Table

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One small session for all tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sql = pytest.importorskip("pyspark.sql")
        home = tmp_path_factory.mktemp("spark")
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.local.dir": str(home),
            "spark.sql.warehouse.dir": str(home / "warehouse"),
        }
        patched = pytest.MonkeyPatch()
        patched.setenv("PYSPARK_PYTHON", sys.executable)  # what its workers run
        builder = sql.SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        found = builder.getOrCreate()
        found.sparkContext.setLogLevel("OFF")
        yield found
        found.stop()
        patched.undo()


@pytest.fixture
def read(session: Any, tmp_path: Path) -> Any:
    """Write a frame to Parquet and open it as a Spark DataFrame, in two pieces."""
    number = iter(range(100))

    def read(frame: pl.DataFrame) -> Any:
        folder = tmp_path / f"frame-{next(number)}"
        folder.mkdir()
        for part in range(2):
            frame[part::2].write_parquet(folder / f"{part}.parquet")
        return session.read.parquet(str(folder))

    return read


def test_everything_is_as_in_memory(read: Any) -> None:
    same_everything(lambda frame: priori.scan(read(frame)), Scores.from_frame, quickly=True)


def test_awkward_scores(read: Any) -> None:
    values = [-np.inf, np.inf, 0.0, -0.0, 1.0, float(np.nextafter(np.float32(1), np.float32(2))), 3.0, -2.5, 3.0]
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "label": rng.choice(["target", "nontarget"], 300),
            "score": pl.Series(rng.choice(values, 300), dtype=pl.Float32),
            "user": [f"ü{user}" for user in rng.integers(0, 9, 300)],
        }
    )
    tables = [Table(priori.scan(read(frame)).engine, bins=bins) for bins in (2, 1000)]
    expected = Scores.from_frame(frame)
    for criterion in ("wer", "pr", "target-v1", "target-v2", "eer"):
        curves = [priori.epc(scores, scores, criterion=criterion, points=5) for scores in (*tables, expected)]
        for curve in curves[:2]:
            same_columns(curve, curves[2])
    users = [scores.users for scores in (tables[0], expected)]
    assert users[0] is not None
    assert users[1] is not None
    assert users[0].values.tolist() == users[1].values.tolist()


def test_users_beyond_what_a_double_holds(read: Any) -> None:
    frame = population(5, size=400, users=8).with_columns(user=pl.lit(2**62 + 1) + pl.col("user") * 3)
    bands = [
        priori.epc(scores, scores, alpha=[0.5]).band(bootstrap="user", n_resamples=50)
        for scores in (priori.scan(read(frame)), Scores.from_frame(frame))
    ]
    same_columns(*bands)


def test_nan_and_labels_are_settled_as_in_memory(read: Any) -> None:
    frame = population(3, size=400)
    scores = frame["score"].to_numpy().copy()
    scores[::100] = np.nan
    frame = frame.with_columns(pl.Series("score", scores), label=pl.col("label") == 1)
    with pytest.raises(InputError, match="4 scores are NaN"):
        len(priori.scan(read(frame)))
    found, expected = priori.scan(read(frame), nan="reject"), Scores.from_frame(frame, nan="reject")
    assert (found.n_positives, found.nan_rejected) == (len(expected.positive), 4)
    assert priori.choose_threshold(found) == priori.choose_threshold(expected)


def test_files_are_read_in_the_running_session(session: Any, tmp_path: Path) -> None:
    population(1, size=400).write_parquet(tmp_path / "dev.parquet")
    said: list[str] = []
    table = priori.scan(tmp_path / "dev.parquet", engine="spark", announce=said.append)
    assert said == [f"{tmp_path / 'dev.parquet'}: read by spark"]
    assert priori.choose_threshold(table) == priori.choose_threshold(priori.read(tmp_path / "dev.parquet"))
    population(2, size=500).write_parquet(tmp_path / "dev.parquet")
    with pytest.raises(InputError, match="changed while they were read"):
        priori.epc(table, table, alpha=[0.2]).band(bootstrap="user", n_resamples=5)


def test_a_killed_worker_is_an_error(session: Any, read: Any) -> None:
    from pyspark.sql.functions import udf

    @udf("double")  # type: ignore[untyped-decorator]
    def dies(score: float) -> float:
        os._exit(1)

    frame = read(population(1, size=50))
    with pytest.raises(InputError, match="pyspark could not read the scores"):
        len(priori.scan(frame.withColumn("score", dies(frame["score"]))))


def test_no_java_is_said_in_plain_words(tmp_path: Path) -> None:
    """In a process of its own: here a session runs already, and Java with it."""
    population(1, size=50).write_parquet(tmp_path / "dev.parquet")
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "sh", "env", "dirname", "uname", "ps", "readlink", "cat"):
        if found := shutil.which(tool):
            (tmp_path / "bin" / tool).symlink_to(found)
    code = "import priori, sys; priori.scan(sys.argv[1], engine='spark')"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "dev.parquet")],
        env={"PATH": str(tmp_path / "bin"), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "the spark engine needs Java" in done.stderr.splitlines()[-1]


@pytest.mark.usefixtures("session")
def test_a_wide_table_is_paired_by_its_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    label, hard = rng.integers(0, 2, 600), rng.normal(size=600)
    columns = {
        name: np.round(quality * label + hard + rng.normal(size=600), 2) for quality, name in ((2, "A"), (1, "B"))
    }
    path = tmp_path / "wide.parquet"
    pl.DataFrame({"set": rng.choice(["dev", "eval"], 600), "label": label, **columns}).write_parquet(path)
    options: dict[str, Any] = {"systems": ["A", "B"], "split": ("set", "dev", "eval")}
    both = priori.read_table(path, **options), priori.scan_table(path, **options, engine="spark")
    curves = [[priori.epc(*sets[name], alpha=[0.5], name=name) for name in "AB"] for sets in both]
    assert [curve.threshold.item() for curve in curves[0]] == [curve.threshold.item() for curve in curves[1]]
    drawn = [priori.compare(*two, claim="deployed", n_resamples=50).replicates for two in curves]
    np.testing.assert_array_equal(drawn[0], drawn[1])


@pytest.mark.parametrize("shape", ["wide", "long"])
def test_one_table_of_two_systems_is_that_of_memory(session: Any, tmp_path: Path, shape: str) -> None:
    rng = np.random.default_rng(3)
    label, part = rng.integers(0, 2, 600), rng.choice(["dev", "eval", "old"], 600)
    shared = {"set": part, "label": label, "user": np.arange(600) % 7}
    scores = {name: np.round(quality * label + rng.normal(size=600), 2) for name, quality in (("B", 2.0), ("A", 1.0))}
    wide = pl.DataFrame({**shared, **scores})
    each = [pl.DataFrame({"system": [name] * 600, "score": score, **shared}) for name, score in scores.items()]
    (wide if shape == "wide" else pl.concat(each)).write_parquet(tmp_path / "table.parquet")
    options: dict[str, Any] = {"systems": ["B", "A"] if shape == "wide" else "system", "split": ("set", "dev", "eval")}
    said: list[str] = []
    scanned = priori.scan_table(tmp_path / "table.parquet", **options, engine="spark", announce=said.append)
    read = priori.read_table(tmp_path / "table.parquet", **options)
    assert said[-1].endswith("scanned by spark")
    assert [*scanned] == [*read] == ["B", "A"]  # in the order of the table
    for ours, theirs in zip(priori.epc_all(scanned, points=5), priori.epc_all(read, points=5), strict=True):
        assert (ours.name, len(ours.test), len(ours.dev)) == (theirs.name, len(theirs.test), len(theirs.dev))
        same_columns(ours, theirs)


@pytest.mark.parametrize("ids", [True, False])
def test_parts_of_trials_are_the_same_for_systems_beside_each_other(session: Any, tmp_path: Path, ids: bool) -> None:
    rng = np.random.default_rng(4)
    label = rng.integers(0, 2, 900)
    score = np.round(2 * label + rng.normal(size=900), 2)
    frame = pl.DataFrame(
        {
            "set": ["dev", "eval"] * 450,
            "label": label,
            "A": score,
            "B": score,
            "C": -score,
            **({"trial": [f"t{number}" for number in range(900)]} if ids else {}),
        }
    )
    (tmp_path / "wide").mkdir()
    for part in range(3):
        frame[part * 300 : part * 300 + 300].write_parquet(tmp_path / "wide" / f"{part}.parquet")
    sets = priori.scan_table(tmp_path / "wide", systems=["A", "B", "C"], split=("set", "dev", "eval"), engine="spark")
    counted = []
    for name in "ABC":
        (table,) = [table for table in sets[name][1:] if isinstance(table, Table)]
        (bins,) = table.count([[-np.inf, 0.5] if name != "C" else [-np.inf, -0.5]], 5)
        counted.append(
            [
                (trials.user.tolist(), trials.score.tolist(), trials.number.tolist())  # type: ignore[union-attr]
                for trials in (bins.negative, bins.positive)
            ]
        )
    assert counted[0] == counted[1]
    part_sizes = [[np.bincount(user, number).tolist() for user, _, number in each] for each in counted]
    assert part_sizes[2] == part_sizes[0]
    assert min(part_sizes[0][0]) > 20


def test_bytes_are_text_as_in_memory(session: Any, tmp_path: Path) -> None:
    as_bytes = pl.col("label", "user", "trial").cast(pl.String).cast(pl.Binary)
    population(2, size=300).with_columns(as_bytes).write_parquet(tmp_path / "bytes.parquet")
    ours, theirs = priori.scan(tmp_path / "bytes.parquet", engine="spark"), priori.read(tmp_path / "bytes.parquet")
    assert ours.users.values.tolist() == theirs.users.values.tolist()
    assert ours.load().positive.trial.tolist() == theirs.positive.trial.tolist()
    same_columns(priori.epc(ours, ours, points=5), priori.epc(theirs, theirs, points=5))


@pytest.mark.parametrize("way", ["labels", "types"])
def test_attacks_are_those_of_memory(read: Any, way: str) -> None:
    rng = np.random.default_rng(6)
    label = rng.choice(["target", "nontarget", "spoof"], 600)
    kind = np.where(label == "spoof", rng.choice(["mask", "it's \\ print"], 600), "-")
    label = label if way == "labels" else np.where(label == "target", "target", "nontarget")
    score = np.round(rng.normal(size=600) + 2 * (label == "target") + (kind == "mask"), 2)
    frame = pl.DataFrame({"score": score, "label": label, "kind": kind, "user": rng.integers(0, 9, 600)})
    options: dict[str, Any] = {"columns": {"attack": "kind"}, "pos_label": "target" if way == "types" else None}
    found, expected = priori.scan(read(frame), **options), Scores.from_frame(frame, **options)
    pads = [priori.pad(each, each) for each in (found, expected)]
    assert pads[0].attack.tolist() == pads[1].attack.tolist()
    np.testing.assert_array_equal(pads[0].trials, pads[1].trials)
    (counted,) = found.count([[0.0, 1.0]], ("user", "attack"))
    assert counted.n_attacks == expected.n_attacks
    assert [part.tolist() for part in counted.rejected([0.0, 1.0])] == [
        part.tolist() for part in expected.rejected([0.0, 1.0])
    ]


def test_what_is_missing_or_strange_is_said(read: Any) -> None:
    frame = population(4, size=400)
    third = frame.with_columns(label=pl.when(pl.int_range(pl.len()) == 399).then(7).otherwise(pl.col("label")))
    with pytest.raises(InputError, match="3 different labels"):
        len(priori.scan(read(third)))
    with pytest.raises(InputError, match=f"{(frame['label'] == 0).sum()} labels are missing"):
        len(priori.scan(read(frame.with_columns(label=pl.when(pl.col("label") == 1).then(1)))))
    table = priori.scan(read(frame.with_columns(user=pl.when(pl.col("user") > 3).then(pl.col("user")))))
    with pytest.raises(InputError, match="values are missing"):
        priori.epc(table, table, alpha=[0.5]).band(bootstrap="user", n_resamples=5)
    with pytest.raises(InputError, match="has the trial id"):
        priori.scan(read(frame)).check_same_trials(priori.scan(read(pl.concat([frame, frame[:1]]))))
    with pytest.raises(OptionError, match="more than 15 combinations"):
        Table(priori.scan(read(frame), columns={"group": "trial"}).engine, memory=1000).count(
            [[0.5]], ("user", "group")
        )


def test_one_job_counts_for_all_systems(session: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    label = rng.integers(0, 2, 3000)
    columns = {name: label + rng.normal(size=3000) for name in "ABC"}
    frame = pl.DataFrame({"set": rng.choice(["dev", "eval"], 3000), "label": label, **columns})
    frame.write_parquet(tmp_path / "wide.parquet")
    sets = priori.scan_table(tmp_path / "wide.parquet", systems=[*"ABC"], split=("set", "dev", "eval"), engine="spark")
    session.sparkContext.setJobGroup("counted", "counted")
    priori.epc_all(sets, points=11)
    # Of each set: its size and a sample; its labels; two scans for thresholds, of which one is asked for the test set.
    jobs = len(session.sparkContext.statusTracker().getJobIdsForGroup("counted"))
    print(jobs)
    assert jobs <= 24
