"""Systems as methods, compared on the trials of tables that do not fit in memory: by random parts of these trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given

import oracle
import priori
from priori import InputError, OptionError, Scores, Table
from priori.engines.duckdb import DuckDB
from priori.engines.sql import TableSettings
from priori.scores.influence import People
from priori.uncertainty.expected import method, smoothed_sets
from priori.uncertainty.expected.influences import Units
from priori.uncertainty.expected.smoothed_sets import score_axis

TRIALS = 12_000
#: Less than half of what the trials need.
MEMORY = 700_000
ALPHA = [0.1, 0.5, 0.8]


def trials_of(role: str, rounded: int | None = None) -> pd.DataFrame:
    """Return the trials of four systems in columns; the fourth is the first."""
    rng = np.random.default_rng({"dev": 1, "test": 2}[role])
    label, hard = (rng.random(TRIALS) < 0.3).astype(int), rng.normal(size=TRIALS)
    columns: dict[str, Any] = {"label": label, "trial": [f"t{number}" for number in range(TRIALS)], "role": role}
    for name, quality in (("a", 1.6), ("b", 1.5), ("c", 1.1)):
        score = quality * label + 0.7 * hard + 0.7 * rng.normal(size=TRIALS)
        columns[name] = score if rounded is None else score.round(rounded)
    return pd.DataFrame(columns).assign(d=lambda table: table.a)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("paired")
    for kind, rounded in (("smooth", None), ("tied", 1)):
        for role in ("dev", "test"):
            table = trials_of(role, rounded)
            for number, name in enumerate("abcd"):
                # In another order in each file: ids tell which is which.
                table[["label", "trial", name]].rename(columns={name: "score"}).sample(
                    frac=1, random_state=number
                ).to_parquet(path / f"{kind}-{name}-{role}.parquet")
    both = pd.concat([trials_of("dev"), trials_of("test")])
    both.drop(columns="trial").to_parquet(path / "wide.parquet", row_group_size=2048)
    return path


@pytest.fixture(autouse=True)
def few_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw fewer sets of fewer units, which takes less time."""
    monkeypatch.setattr(method, "DEV_UNITS", 100)
    monkeypatch.setattr(method, "TEST_UNITS", 200)
    monkeypatch.setattr(smoothed_sets, "SETS", 500)


def small(path: Path, memory: int = MEMORY, **options: Any) -> Table:
    table = priori.scan(path, engine="duckdb", **options)
    assert isinstance(table, Table)
    return Table(table.engine, memory=memory, bins=1 << 14)


def curves(folder: Path, kind: str, names: str, *, scanned: bool, **options: Any) -> list[priori.EPC]:
    each = small if scanned else priori.read
    sets = {name: [each(folder / f"{kind}-{name}-{role}.parquet") for role in ("dev", "test")] for name in names}  # type: ignore[operator]
    return [priori.epc(*sets[name], alpha=ALPHA, name=name, **options) for name in names]


def hashed(scores: Scores, parts: int) -> Units:
    """Return the units that a table has, of the same trials in memory."""
    classes = []
    for trials in (scores.negative, scores.positive):
        frame = pl.DataFrame({"trial": trials.trial}).with_row_index()  # noqa: F841 - duckdb finds it by its name
        found = duckdb.sql(f"SELECT hash(trial) % {parts} AS part FROM frame ORDER BY index").fetchnumpy()["part"]
        classes.append(np.unique(found, return_inverse=True)[1].astype(np.int32))
    negative, positive = classes
    first = int(negative.max()) + 1
    count = first + int(positive.max()) + 1
    return Units((People(negative, count), People(positive + first, count)), np.array([0, first, count]))


@pytest.mark.parametrize("kind", ["smooth", "tied"])
def test_methods_are_compared_as_in_memory_by_the_same_parts(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = priori.compare(*curves(folder, kind, "ab", scanned=True), n_resamples=200)
    assert found.settings["bootstrap"] == "sample"
    (said,) = [caution for caution in found.warnings if caution.code == "resampled-in-bins"]  # type: ignore[attr-defined]
    bound = float(said.rsplit(" ", 1)[1])
    assert bound < 0.01
    monkeypatch.setattr(smoothed_sets, "MANY", 0)  # histograms, as where there are many trials
    monkeypatch.setattr(method, "group_units", lambda scores, plan, most, identities: hashed(scores, most // 2))
    expected = priori.compare(*curves(folder, kind, "ab", scanned=False), n_resamples=200)
    columns = found.columns(), expected.columns()
    for name in ("difference", "expected"):
        np.testing.assert_allclose(columns[0][name], columns[1][name], atol=bound / 10)
    np.testing.assert_allclose(found.upper - found.lower, expected.upper - expected.lower, rtol=0.02)
    np.testing.assert_allclose(np.log(found.p_value), np.log(expected.p_value), rtol=0.05, atol=0.02)


@pytest.mark.parametrize("measure", ["hter", "precision"])
def test_other_random_parts_tell_the_same(folder: Path, measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smoothed_sets, "MANY", 0)
    found, expected = (
        priori.compare_all(curves(folder, "smooth", "abc", scanned=scanned, measure=measure), n_resamples=500)
        for scanned in (True, False)
    )
    assert found.settings["bootstrap"] == expected.settings["bootstrap"] == {"hter": "sample"}.get(measure, "rows")
    spread = (expected.pointwise.upper - expected.pointwise.lower) / 4
    np.testing.assert_allclose(found.expected_values, expected.expected_values, atol=0.002)
    np.testing.assert_allclose((found.pointwise.upper - found.pointwise.lower) / 4, spread, rtol=0.35)  # of 50 parts


def test_a_system_does_not_differ_from_itself(folder: Path) -> None:
    compared = priori.compare(*curves(folder, "smooth", "ad", scanned=True), n_resamples=100)
    for values in (compared.columns()["expected"], compared.lower, compared.upper):
        np.testing.assert_allclose(values, 0.0, atol=1e-15)


def test_systems_beside_each_other_need_no_ids(folder: Path) -> None:
    options: dict[str, Any] = {"systems": list("abd"), "split": ("role", "dev", "test")}
    sets = priori.scan_table(folder / "wide.parquet", **options, engine="duckdb")
    tables = {
        name: [Table(each.engine, memory=MEMORY, bins=1 << 14, system=each.system) for each in pair]  # type: ignore[attr-defined]
        for name, pair in sets.items()
    }
    found = priori.compare_all([priori.epc(*tables[name], alpha=[0.5], name=name) for name in "abd"], n_resamples=200)
    assert max(abs(found.pointwise.upper[1, 0]), abs(found.pointwise.lower[1, 0])) < 1e-15  # a and d
    read = priori.read_table(folder / "wide.parquet", **options)
    expected = priori.compare_all(priori.epc_all(read, alpha=[0.5]), n_resamples=200)
    np.testing.assert_allclose(found.expected_values, expected.expected_values, atol=0.002)
    width = [board.pointwise.upper[0, 0] - board.pointwise.lower[0, 0] for board in (found, expected)]
    assert width[0] == pytest.approx(width[1], rel=0.25)


@pytest.mark.parametrize("claim", ["deployed", "method"])
def test_a_leaderboard_draws_parts_of_the_trials(folder: Path, claim: Any) -> None:
    found, expected = (
        priori.rank(curves(folder, "smooth", "ac", scanned=scanned), claim=claim, n_resamples=300)
        for scanned in (True, False)
    )
    for name in ("system", "post_value", "post_rank", "rank", "rank_lower", "rank_upper"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert (found.tau, found.tau_upper) == (expected.tau, expected.tau_upper)
    assert found.tau_lower == pytest.approx(expected.tau_lower, abs=0.1)


def test_a_leaderboard_of_methods_by_user_draws_the_tables(tmp_path: Path) -> None:
    paths = {}
    for role in ("dev", "test"):
        table = trials_of(role).assign(user=np.arange(TRIALS) % 20)
        for name in "ac":
            columns = (
                table[["label", "trial", "user", name]]
                .rename(columns={name: "score"})
                .assign(score=lambda own: own.score.round(1))
            )
            columns.to_parquet(tmp_path / f"{name}-{role}.parquet")
            paths[name, role] = tmp_path / f"{name}-{role}.parquet"
    boards = [
        priori.rank(
            [priori.epc(each(paths[name, "dev"]), each(paths[name, "test"]), name=name) for name in "ac"],  # type: ignore[operator]
            claim="method",
            n_resamples=200,
        )
        for each in (small, priori.read)
    ]
    assert boards[0].post_value.tolist() == boards[1].post_value.tolist()
    assert boards[0].system.tolist() == ["a", "c"]


@pytest.mark.parametrize("side", ["dev", "test"])
@pytest.mark.parametrize("users", [True, False])
def test_methods_on_other_trials_are_refused(tmp_path: Path, side: str, users: bool) -> None:
    for role in ("dev", "test"):
        table = trials_of(role).assign(user=np.arange(TRIALS) % 20)
        for name in "ab":
            other = table.trial.where(table.index > 0, "other") if (name, role) == ("b", side) else table.trial
            own = table.assign(score=table[name], trial=other)[
                ["label", "trial", "score", *(["user"] if users else [])]
            ]
            own.to_parquet(tmp_path / f"{name}-{role}.parquet")
    sets = {name: [small(tmp_path / f"{name}-{role}.parquet") for role in ("dev", "test")] for name in "ab"}
    both = [priori.epc(*sets[name], alpha=[0.5], name=name) for name in "ab"]
    with pytest.raises(InputError, match=r"cannot pair the trials: .* 11999 ids are in both") as refused:
        priori.compare(*both)
    assert ("needs the same test trials only" in str(refused.value)) == (side == "dev")


def test_of_two_sets_one_in_memory_is_refused(folder: Path) -> None:
    scanned, read = (curves(folder, "smooth", "a", scanned=way)[0] for way in (True, False))
    for pair in ((scanned, read), (read, scanned)):
        with pytest.raises(InputError, match="one of the two test sets is in memory and the other is not"):
            priori.compare(*pair)


def test_so_little_memory_is_refused_with_the_way_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priori.engines.table.LEAST_ROOM", 1 << 18)
    with pytest.raises(OptionError, match=r"random parts of the trials fit in the 0 MB given, too few.*memory"):
        priori.compare(*curves(folder, "smooth", "ab", scanned=True))


def test_a_trial_is_in_the_same_part_whatever_order_it_comes_in(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pieces").mkdir()
    one = pd.read_parquet(folder / "smooth-a-test.parquet")
    for part in range(3):
        one[part::3].to_parquet(tmp_path / "pieces" / f"{part}.parquet")
    cuts = np.array([-np.inf, 0.0, 1.0])

    def counted(table: Table) -> list[Any]:
        scores = table.count([cuts], 7)[0]
        negative, positive = People.of(scores.negative, scores.positive, crossed=False)
        return [
            [(codes.tolist(), trials.score.tolist(), trials.number.tolist())]
            for codes, trials in ((negative.unit, scores.negative), (positive.unit, scores.positive))
            if trials.number is not None
        ]

    with duckdb.connect() as database:
        database.register("given", one)
        relation = Table(DuckDB(database.sql("FROM given"), TableSettings()))
        expected = counted(relation)
    assert expected == counted(small(folder / "smooth-d-test.parquet")) == counted(small(tmp_path / "pieces"))
    sizes = np.bincount(expected[0][0][0], expected[0][0][2])
    assert sizes.sum() == (one.label == 0).sum()
    assert sizes.std() < 4 * np.sqrt(sizes.mean())  # at random


@given(negatives=oracle.score_list, positives=oracle.score_list, others=oracle.score_list)
def test_thresholds_of_an_axis_reject_the_bins_they_should(
    negatives: list[float], positives: list[float], others: list[float]
) -> None:
    assume(np.isfinite([*negatives, *positives]).any())
    scores = Scores.from_arrays(negatives, positives)
    axis = score_axis(scores, scores)
    rejected = np.arange(1, axis.n_bins + 1)
    asked = np.array([*negatives, *positives, *others])
    np.testing.assert_array_equal(
        asked[:, None] <= axis.thresholds(rejected), np.floor(axis.places(asked))[:, None] < rejected
    )
    assert axis.thresholds(axis.every).tolist() == axis.thresholds(rejected)[:-1].tolist()
