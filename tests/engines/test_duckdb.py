"""duckdb gives the answers of memory, to the last bit: files, relations, and the traps that others fell into."""

from __future__ import annotations

import gc
import math
import os
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import priori
from engine_frames import opened, population, same_columns, same_everything, trials
from priori import InputError, OptionError, Scores
from priori.decisions.criteria import CRITERIA, get_criterion
from priori.decisions.tasks import TASKS
from priori.engines import parquet_files


@settings(max_examples=settings.default.max_examples // 4)
@given(frame=st.booleans().flatmap(trials), bins=st.integers(1, 12), data=st.data())
def test_awkward_scores(frame: pl.DataFrame, bins: int, data: st.DataObject) -> None:
    task = data.draw(st.sampled_from(list(TASKS)))
    rule = get_criterion(oracle.named(data.draw(st.sampled_from([*CRITERIA, *oracle.BEST])), task), task)
    alphas = priori.base.alphas.grid(5)
    expected = rule.choose(Scores.from_frame(frame), alphas)
    found = rule.choose(opened(frame, bins=bins), alphas)
    assert found.threshold.tolist() == expected.threshold.tolist()
    assert found.outcomes.to_dict() == expected.outcomes.to_dict()


def test_scores_farther_apart_than_any_float() -> None:
    """Their bins are so wide that one unit of score is a subnormal share of one, which duckdb takes for zero."""
    score = np.array([-np.inf, 1e308, -1e308, 0.0, 1e308, -1e308, 0.0, 1.0])
    frame = pl.DataFrame({"label": [0, 0, 0, 0, 1, 1, 1, 1], "score": score})
    with opened(frame, bins=2) as table:
        np.testing.assert_array_equal(
            priori.epc(table, table, points=5).threshold,
            priori.epc(Scores.from_frame(frame), Scores.from_frame(frame), points=5).threshold,
        )


def test_relations_give_everything_as_in_memory() -> None:
    same_everything(partial(opened, bins=200), Scores.from_frame)


def test_lazy_frames_are_read_into_memory() -> None:
    frame = population(1)
    same_columns(*(priori.epc(each, each, points=5) for each in (frame.lazy(), Scores.from_frame(frame))))


def write(frame: pl.DataFrame, folder: Path, parts: int = 3) -> str:
    folder.mkdir()
    for number in range(parts):
        frame[number::parts].write_parquet(folder / f"part-{number}.parquet", row_group_size=200)
    return f"{folder}/*.parquet"


def through_a_file(folder: Path, frame: pl.DataFrame) -> Scores:
    frame.write_parquet(folder / "whole.parquet")
    return priori.read(folder / "whole.parquet")


def test_parquet_files_give_everything_as_in_memory(tmp_path: Path) -> None:
    number = iter(range(100))

    def read(frame: pl.DataFrame) -> Any:
        return priori.scan(write(frame, tmp_path / str(next(number))), engine="duckdb")

    same_everything(read, partial(through_a_file, tmp_path))


def test_a_column_of_row_numbers_is_nobodys_business(tmp_path: Path) -> None:
    """Files may have a column that is called as duckdb calls its row numbers."""
    frame = population(1, 1.5).with_columns(pl.lit(7).alias(parquet_files.ROW_NUMBER))
    frame.write_parquet(tmp_path / "one.parquet", row_group_size=200)
    with priori.scan(tmp_path / "one.parquet", engine="duckdb") as table:
        same_columns(priori.epc(table, table), priori.epc(Scores.from_frame(frame), Scores.from_frame(frame)))


@pytest.mark.parametrize("text", ["csv", "tsv", "bob4"])
def test_text_files_are_scanned_as_they_are_read(tmp_path: Path, text: str) -> None:
    for role, seed in (("dev", 1), ("test", 2)):
        frame = population(seed).filter(pl.col("score").is_finite())
        if text == "bob4":
            probe = np.where(frame["label"] == 1, frame["user"], frame["user"] + 1)
            lines = [
                f"u{u} u{p} {t} {s}"
                for u, p, t, s in zip(frame["user"], probe, frame["trial"], frame["score"], strict=True)
            ]
            (tmp_path / role).write_text("# a comment\n" + "\n".join(lines) + "\n")
        else:
            frame.write_csv(tmp_path / role, separator="," if text == "csv" else "\t")
    expected = priori.epc(*(priori.read(tmp_path / role) for role in ("dev", "test")), points=11)
    tables = [priori.scan(tmp_path / role, engine="duckdb", temp=tmp_path) for role in ("dev", "test")]
    found = priori.epc(*tables, points=11)
    same_columns(found, expected)
    options = {"bootstrap": "user", "n_resamples": 50}
    same_columns(found.band(**options), expected.band(**options))
    for table in tables:
        table.close()  # type: ignore[union-attr]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev", "test"]


# -- traps -------------------------------------------------------------------------------------------------------


def test_negative_zero_is_zero() -> None:
    frame = pl.DataFrame({"label": [0, 0, 1, 1], "score": [-0.0, 0.0, 0.0, -0.0]})
    table = opened(frame)
    chosen = get_criterion("eer").choose(table, [priori.base.alphas.as_fraction(0)])
    assert chosen.threshold[0] in (-math.inf, math.inf)
    assert table.candidates(get_criterion("wer"), None).fp.tolist() == [2, 0]


@pytest.mark.parametrize("missing", [math.nan, None])
def test_nan_is_what_the_caller_says(missing: float | None) -> None:
    frame = population(3).with_columns(
        pl.when(pl.int_range(pl.len()) % 50 == 0).then(pl.lit(missing)).otherwise(pl.col("score")).alias("score")
    )
    with pytest.raises(InputError, match="60 scores are NaN; choose a policy"):
        len(opened(frame))
    for policy in ("reject", "drop"):
        table = opened(frame, nan=policy)  # type: ignore[arg-type]
        expected = Scores.from_frame(frame, nan=policy)  # type: ignore[arg-type]
        assert (table.n_negatives, table.n_positives) == (len(expected.negative), len(expected.positive))
        assert table.nan_rejected == expected.nan_rejected
        assert priori.choose_threshold(table) == priori.choose_threshold(expected)
        assert table.users is not None
        assert expected.users is not None
        assert table.users.values.tolist() == expected.users.values.tolist()


def test_single_precision_scores_are_not_rounded_again() -> None:
    below, above = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    frame = pl.DataFrame({"label": [0, 1], "score": np.array([below, above])})
    assert frame["score"].dtype == pl.Float32
    threshold = priori.choose_threshold(opened(frame))
    assert threshold == (float(below) + float(above)) / 2  # between two neighbours in single precision


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([False, True], None),
        ([0, 1], None),
        ([-1, 1], None),
        ([1, 2], 2),
        ([1, 2], "1"),
        ([0.0, 1.0], None),
        (["impostor", "Genuine"], None),
        (["ham", "spam"], "spam"),
        ([False, True], False),
    ],
)
def test_labels_of_every_kind(labels: list[Any], positive: Any) -> None:
    given = population(4)
    frame = given.with_columns(pl.Series("label", [labels[label] for label in given["label"]]))
    table = opened(frame, pos_label=positive)
    expected = Scores.from_frame(frame, pos_label=positive)
    assert priori.choose_threshold(table) == priori.choose_threshold(expected)
    assert table.n_positives == len(expected.positive)


def test_bad_labels_say_what_they_are() -> None:
    frame = population(4)
    third = frame.with_columns(label=pl.when(pl.int_range(pl.len()) == 2999).then(7).otherwise(pl.col("label")))
    with pytest.raises(InputError, match="3 different labels"):
        len(opened(third))
    missing = frame.with_columns(label=pl.when(pl.col("label") == 1).then(1))
    with pytest.raises(InputError, match=f"{(frame['label'] == 0).sum()} labels are missing"):
        len(opened(missing))
    with pytest.raises(InputError, match="one class only"):
        len(opened(frame.filter(pl.col("label") == 1)))
    with pytest.raises(InputError, match="no trials; both classes are needed"):
        len(opened(frame.head(0)))


def test_a_third_label_beyond_the_first_rows_is_found(tmp_path: Path) -> None:
    frame = pl.DataFrame({"label": [0, 1] * 50_000 + [2], "score": np.arange(100_001.0)})
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="3 different labels"):
        len(priori.scan(tmp_path / "a.parquet", engine="duckdb"))


@pytest.mark.parametrize("kind", ["int", "wide", "text"])
def test_users_are_whole_numbers_or_text(kind: str) -> None:
    frame = population(5)
    if kind == "wide":  # beyond what a double can hold
        frame = frame.with_columns(user=pl.lit(2**62 + 1) + pl.col("user") * 3)
    elif kind == "text":
        frame = frame.with_columns(user=pl.format("ü{}", pl.col("user")))
    expected = Scores.from_frame(frame)
    table = opened(frame)
    assert table.users is not None
    assert expected.users is not None
    assert table.users.values.tolist() == expected.users.values.tolist()
    curves = [priori.epc(scores, scores, alpha=[0.5]) for scores in (table, expected)]
    same_columns(*(curve.band(bootstrap="user", n_resamples=50) for curve in curves))


@pytest.mark.parametrize("name", ["label", "user", "probe_user", "trial", "dataset", "group", "kind"])
def test_bytes_are_text_wherever_trials_are_read(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame(
        {
            "score": [0.1, 0.4, 0.3, 0.8, 0.2, 0.9],
            "label": ["0", "0", "1", "1", "0", "1"],
            "user": [*"üüöööü"],
            "probe_user": [*"aööööü"],
            "trial": [*"äbcdef"],
            "dataset": [*"ßyßyyy"],
            "group": [*"ñfñfff"],
            "kind": ["mask", "é", "-", "-", "é", "-"],
        }
    )
    path, columns = tmp_path / "bytes.parquet", {"group": "group", "attack": "kind"}
    frame.write_parquet(tmp_path / "text.parquet")
    told = frame.with_columns(pl.col(name).cast(pl.Binary))
    told.write_parquet(path)

    def known(scores: Any) -> Any:
        held = scores.load()
        names = [each.values.tolist() for each in (held.users, held.datasets, held.groups)]
        assert {*scores.users.values} <= {*names[0]}  # a scan counts by those claimed
        return names, held.attacks.tolist(), held.negative.trial.tolist(), held.positive.score.tolist()

    expected = known(priori.read(tmp_path / "text.parquet", columns=columns))
    assert known(priori.read(path, columns=columns)) == expected
    assert known(Scores.from_frame(told, columns=columns)) == expected
    assert known(Scores.from_frame(told.to_pandas(), columns=columns)) == expected
    for source in (path, duckdb.sql(f"FROM '{path}'"), told.lazy()):
        assert known(priori.scan(source, columns=columns, engine="duckdb" if source is path else "auto")) == expected
    frame.with_columns(pl.lit(b"\xff").alias(name)).write_parquet(path)
    for read in (priori.read, partial(priori.scan, engine="duckdb")):
        with pytest.raises(InputError, match="UTF"):
            read(path, columns=columns).load()
    with pytest.raises(InputError, match="UTF"):
        Scores.from_frame(pl.read_parquet(path), columns=columns)


def test_sums_that_come_as_decimals_are_whole_numbers() -> None:
    frame = pl.DataFrame({"label": [0, 1, 1], "score": ["1.25", "2.5", "2.5"]}).with_columns(
        pl.col("score").cast(pl.Decimal(10, 2))
    )
    table = opened(frame)
    assert priori.count(table, [2.0]).to_dict() == {"tp": [2], "fp": [0], "tn": [1], "fn": [0]}
    assert priori.count(table, [2.0]).fp.dtype == np.int64


def test_distances_are_negated() -> None:
    frame = population(6).with_columns(-pl.col("score"))
    table = opened(frame, lower_is_better=True)
    assert priori.choose_threshold(table) == priori.choose_threshold(Scores.from_frame(population(6)))


def test_trials_pair_by_id_never_by_row() -> None:
    one, two = (population(1, quality) for quality in (1.5, 1.8))
    seventh = pl.col("trial") == "t7"

    def refused(other: pl.DataFrame, match: str, columns: dict[str, str]) -> None:
        tables = [opened(each.rename({"trial": "id"}), columns=columns) for each in (one, other)]
        curves = [priori.epc(table, table, alpha=[0.5]) for table in tables]
        with pytest.raises(InputError, match=match):
            priori.compare(*curves, n_resamples=10, claim="deployed")

    refused(two, "has no trial ids, and the rows of a table have no order", {})
    turned = pl.when(seventh).then(1 - pl.col("label")).otherwise("label").alias("label")
    for other, match in (
        (two.filter(~seventh), r"has 3000, .* has 2999, and 2999 ids are in both"),
        (two.with_columns(pl.col("trial").replace("t7", "t8")), "the trial id 't8' 2 times"),
        (two.with_columns(turned), "1 have different labels"),
    ):
        refused(other, match, {"trial": "id"})


# -- files that misbehave ----------------------------------------------------------------------------------------


def test_files_that_change_while_they_are_read(tmp_path: Path) -> None:
    given = write(population(1), tmp_path / "dev")
    table = priori.scan(given, engine="duckdb")
    len(table)
    population(2)[:500].write_parquet(tmp_path / "dev" / "part-1.parquet")
    with pytest.raises(InputError, match="the files changed while they were read"):
        priori.epc(table, table, alpha=[0.3]).band(bootstrap="user", n_resamples=5)


def test_a_new_file_under_the_glob_counts_as_a_change(tmp_path: Path) -> None:
    given = write(population(1), tmp_path / "dev")
    table = priori.scan(given, engine="duckdb")
    population(2).write_parquet(tmp_path / "dev" / "part-9.parquet")
    with pytest.raises(InputError, match="the files changed"):
        len(table)


def test_a_relation_that_changes_between_scans() -> None:
    database = duckdb.connect()
    database.execute("CREATE TABLE moving AS SELECT i % 2 AS label, sin(i) AS score FROM range(5000) t(i)")
    table = opened(database.sql("SELECT * FROM moving"), memory=0)
    len(table)
    database.execute("DELETE FROM moving WHERE score > 0.5 AND label = 1")
    with pytest.raises(InputError, match="changed while they were read"):
        priori.choose_threshold(table)


def test_a_broken_file_is_an_error_and_leaves_nothing_behind(tmp_path: Path) -> None:
    given = write(population(1), tmp_path / "dev")
    whole = (tmp_path / "dev" / "part-1.parquet").read_bytes()
    (tmp_path / "dev" / "part-1.parquet").write_bytes(whole[: len(whole) // 2])
    temp = tmp_path / "temp"
    temp.mkdir()
    with pytest.raises(InputError, match="dev"):
        len(priori.scan(given, engine="duckdb", temp=temp))
    gc.collect()
    assert list(temp.iterdir()) == []


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    population(1, size=20_000).filter(pl.col("score").is_finite()).write_csv(tmp_path / "dev.csv")
    temp = tmp_path / "temp"
    temp.mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))  # no file may grow beyond this
    try:
        with pytest.raises(InputError, match="the disk of the temporary files is full"):
            priori.scan(tmp_path / "dev.csv", engine="duckdb", temp=temp)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(temp.iterdir()) == []


def test_temporary_files_need_a_place(tmp_path: Path) -> None:
    given = write(population(1), tmp_path / "dev")
    with pytest.raises(OptionError, match="cannot put temporary files into"):
        priori.scan(given, engine="duckdb", temp=tmp_path / "nowhere")


def test_no_file_under_the_glob(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; check the path, and put a glob between quotes"):
        priori.scan(os.fspath(tmp_path / "*.parquet"))


def test_averages_take_tables_that_fit_in_memory() -> None:
    frame = population(1).with_columns(dataset=pl.col("user") % 3)
    given = duckdb.from_arrow(frame.to_arrow())
    expected = priori.average(Scores.from_frame(frame), positions=11)
    same_columns(priori.average(given, positions=11), expected)
    parts = [given.filter(f"dataset = {one}") for one in range(3)]
    same_columns(priori.average(parts, positions=11), expected)
    with pytest.raises(OptionError, match=r"too many of these scores lie too close together .*; give more memory"):
        priori.average([opened(given, memory=1000)] * 2)


def test_both_identities_come_into_memory_and_are_missed_in_a_scan(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    user, probe = rng.integers(0, 12, 600), rng.integers(0, 12, 600)
    frame = pl.DataFrame(
        {"user": user, "probe_user": np.where(rng.random(600) < 0.3, user, probe), "score": rng.normal(size=600)}
    )
    frame = frame.with_columns(pl.col("score") + 2 * (pl.col("user") == pl.col("probe_user")))
    (tmp_path / "dev").mkdir()
    for part in range(2):
        frame[part::2].write_parquet(tmp_path / "dev" / f"{part}.parquet")
    frame.write_parquet(tmp_path / "one.parquet")
    several, one = priori.scan(tmp_path / "dev"), priori.read(tmp_path / "one.parquet")
    assert several.has_identities
    bands = [priori.epc(scores, scores, alpha=[0.5]).band(n_resamples=50) for scores in (several, one)]
    same_columns(*bands)
    assert bands[0].settings["bootstrap"] == "crossed"
    scanned = priori.scan(tmp_path / "dev", engine="duckdb")
    curve = priori.epc(scanned, scanned, alpha=[0.5])
    band = curve.band(n_resamples=50)
    assert band.settings["bootstrap"] == "user"
    assert any("grouped by claimed user only" in text for text in band.warnings)
    same_columns(curve.band(bootstrap="crossed", n_resamples=50), bands[0])
    itself = priori.compare(curve, curve, claim="deployed", bootstrap="crossed", n_resamples=50)
    assert itself.settings["bootstrap"] == "crossed"
    assert not itself.replicates.any()


def test_rejected_nan_scores_are_counted_whatever_reads_them(tmp_path: Path) -> None:
    frame = population(3).with_columns(
        pl.when(pl.int_range(pl.len()) % 100 == 0).then(math.nan).otherwise(pl.col("score")).alias("score")
    )
    given = write(frame, tmp_path / "dev")
    for engine in ("auto", "memory", "duckdb"):
        assert priori.scan(given, engine=engine, nan="reject").nan_rejected == 30  # type: ignore[arg-type]


def test_users_that_contradict_each_other_are_refused() -> None:
    frames = [population(1, 1.5), population(1, 1.8).with_columns(user=(pl.col("user") + 1) % 25)]
    tables = [opened(frame) for frame in frames]
    curves = [priori.epc(table, table, points=5) for table in tables]
    with pytest.raises(InputError, match=r"users of 3000 trials differ between .*unpaired=True"):
        priori.compare(*curves, bootstrap="user", n_resamples=100)


@pytest.mark.parametrize("users", ["the same", "none"])
def test_pairs_by_user_whatever_the_other_system_knows_of_users(users: str) -> None:
    frames = [population(1, quality) for quality in (1.5, 1.8)]
    if users == "none":
        frames[1] = frames[1].drop("user")
    tables = [opened(frame) for frame in frames]
    sets = [tables, [Scores.from_frame(frame) for frame in frames]]
    verdicts = [
        priori.compare(*(priori.epc(s, s, points=5) for s in each), claim="deployed", bootstrap="user", n_resamples=100)
        for each in sets
    ]
    same_columns(*verdicts)
    assert tables[0].check_same_trials(tables[1]) == (users == "the same")


def test_a_user_that_is_missing_is_an_error_as_in_memory() -> None:
    whole = population(1, 1.5)
    frames = [whole, whole.with_columns(user=pl.when(pl.col("trial") != "t7").then(pl.col("user")))]
    tables = [opened(frame) for frame in frames]
    with pytest.raises(priori.InputError, match="column 'user': 1 values are missing; fill them in"):
        priori.compare(*(priori.epc(each, each, points=5) for each in tables), claim="deployed", bootstrap="user")
    with pytest.raises(priori.InputError, match="missing"):
        Scores.from_frame(frames[1])
