"""Exact and frugal: pruning happens and never loses the choice; float32, one class, NaN and change are seen to."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow.parquet
import pytest

import priori
from memory_engine import Memory
from priori import InputError, Scores, Table
from priori.base.alphas import grid
from priori.base.errors import OneClassError
from priori.decisions.criteria import get_criterion
from priori.engines.looks import candidates_of
from priori.engines.table import PER_SCORE
from priori.scores import BOUND, condense
from priori.scores.candidates import CutErrors
from priori.scores.grid import even_grid
from priori.scores.histogram import Distinct


class Recording(Memory):
    """The memory back end, and how many scores each look into bins brought."""

    def __init__(self, scores: Scores) -> None:
        super().__init__(scores)
        self.fetched: list[int] = []

    def answer(self, requests: Any) -> Any:
        answers = super().answer(requests)
        self.fetched += [answer.value.size for answer in answers if isinstance(answer, Distinct)]
        return answers


@pytest.mark.parametrize("criterion", ["wer", "eer", "target-v1"])
def test_few_scores_are_looked_at_and_the_choice_is_that_of_all(criterion: str) -> None:
    rng = np.random.default_rng(3)
    scores = Scores.from_arrays(rng.normal(size=30_000), rng.normal(2, 1, size=10_000))
    engine, rule = Recording(scores), get_criterion(criterion)
    alphas = [Fraction(1, 10), Fraction(1, 2)]
    table = Table(engine, memory=40_000 * PER_SCORE, bins=1 << 12)
    found = rule.choose_among(candidates_of([table], [rule], [alphas])[0], alphas)
    expected = rule.choose(scores, alphas)
    assert found.threshold.tolist() == expected.threshold.tolist()
    assert found.outcomes.fp.tolist() == expected.outcomes.fp.tolist()
    assert sum(engine.fetched) < 4_000  # of 40,000


def test_of_bins_that_tie_those_with_fewer_errors_are_kept() -> None:
    """At alpha 0 only V2 counts: it is 0 below the lowest positive, and the highest of those thresholds is best."""
    negatives, positives = np.arange(1000.0), np.arange(500.0, 1500.0)
    scores, rule = Scores.from_arrays(negatives, positives), get_criterion("wer")
    fp, fn = scores.candidates().every()
    for alpha, where in ((Fraction(0), 500), (Fraction(1), 1000)):
        keep = rule.promising(CutErrors(fp, fn, 1000, 1000), [alpha])
        assert keep is not None
        assert set(np.flatnonzero(keep)) <= {where - 1, where}
        chosen = rule.choose(scores, [alpha]).outcomes
        assert (chosen.fp[0], chosen.fn[0]) == ((500, 0) if alpha == 0 else (0, 500))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("low", "high"), [(-3.0, -1.0), (-1e-3, 2e-3), (-1e30, 1e30)])
def test_the_ends_of_bins_are_exact_on_both_sides_of_zero(dtype: Any, low: float, high: float) -> None:
    bins = even_grid(low, high, 100, dtype)
    inner = np.arange(2, 100)
    lowest, highest = bins.lowest(inner), bins.highest(inner)
    assert lowest.dtype == highest.dtype == dtype
    assert bins.bins(lowest).tolist() == bins.bins(highest).tolist() == inner.tolist()
    assert bins.bins(np.nextafter(lowest, dtype(-np.inf))).tolist() == (inner - 1).tolist()
    assert bins.bins(np.nextafter(highest, dtype(np.inf))).tolist() == (inner + 1).tolist()


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_negative_scores_in_single_precision(tmp_path: Path, lower_is_better: bool) -> None:
    rng = np.random.default_rng(5)
    label = rng.integers(0, 2, 4000)
    score = (rng.normal(size=4000) - 5 + label).astype(np.float32)
    path = tmp_path / "dev.parquet"
    pl.DataFrame({"score": score, "label": label}).write_parquet(path)
    in_memory = Scores.from_predictions(label, score.astype(np.float64), lower_is_better=lower_is_better)
    scanned = priori.scan(path, engine="duckdb", memory="1MB", lower_is_better=lower_is_better)
    for criterion in ("wer", "eer"):
        found, expected = (priori.epc(s, s, points=11, criterion=criterion) for s in (scanned, in_memory))
        assert found.threshold.tolist() == expected.threshold.tolist()
    cuts = np.append(in_memory.negatives[::500], [-5.0, 5.0])
    assert [counts.tolist() for counts in scanned.rejected(cuts)] == [
        [int((scores <= cut).sum()) for cut in cuts] for scores in (in_memory.negatives, in_memory.positives)
    ]


@pytest.mark.parametrize(("label", "missing"), [(0, "positive"), (1, "negative")])
def test_one_class_only_is_named(label: int, missing: str) -> None:
    table = priori.scan(duckdb.sql(f"SELECT i::DOUBLE AS score, {label} AS label FROM range(9) t(i)"), pos_label=None)
    with pytest.raises(OneClassError, match="one class only, every label is"):
        _ = table.n_negatives
    scores = Scores.from_arrays([1.0, 2.0], [3.0])
    empty = Scores(
        *(
            (scores.negative, scores.positive.take(np.array([], dtype=int)))
            if missing == "positive"
            else (scores.negative.take(np.array([], dtype=int)), scores.positive)
        )
    )
    with pytest.raises(OneClassError, match=f"no {missing} trial; both classes are needed"):
        _ = Table(Memory(empty)).n_negatives


def test_a_label_that_changes_between_scans_is_noticed() -> None:
    """As many trials of each class, and the same scores: only the counts within bins tell."""
    rng = np.random.default_rng(7)
    score = rng.normal(size=2000)
    label = np.arange(2000) % 2
    table = Table(engine := Memory(Scores.from_predictions(label, score)), bins=64)
    _ = table.histogram
    engine.scores = Scores.from_predictions(1 - label, score)
    with pytest.raises(InputError, match="the scores changed while they were read"):
        candidates_of([table], [get_criterion("wer")], [grid(11)])
    table = Table(engine := Memory(Scores.from_predictions(label, score, user=label)))
    _ = table.n_negatives
    engine.scores = Scores.from_predictions(label[:-2], score[:-2], user=label[:-2])
    with pytest.raises(InputError, match="the scores changed while they were read"):
        table.count([[0.0]], ("user",))


def test_spark_does_not_read_another_file_than_the_one_named(tmp_path: Path) -> None:
    (tmp_path / "x[1].parquet").write_bytes(b"PAR1")
    (tmp_path / "x1.parquet").write_bytes(b"PAR1")
    with pytest.raises(priori.OptionError, match=r"x\[1\]\.parquet: spark takes a name with any of .* for a pattern"):
        priori.scan(tmp_path / "x[1].parquet", engine="spark")


# -- NaN that a file does not tell of ----------------------------------------------------------------------------


@pytest.fixture(params=["polars", "pyarrow", "duckdb"])
def with_nan(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A Parquet file in which one of ten users has NaN scores only; its range is told without them."""
    score = np.arange(1000.0)
    score[3::10] = np.nan
    user = [f"u{i % 10}" for i in range(1000)]
    frame = pl.DataFrame({"score": score, "label": np.arange(1000) // 10 % 2, "user": user, "trial": np.arange(1000)})
    path = tmp_path / "dev.parquet"
    if request.param == "polars":
        frame.write_parquet(path)
    elif request.param == "pyarrow":
        pyarrow.parquet.write_table(frame.to_arrow(), path)
    else:
        duckdb.from_arrow(frame.to_arrow()).write_parquet(str(path))
    return path


def test_trials_left_out_are_left_out_everywhere(with_nan: Path) -> None:
    glob = with_nan.parent / "*.parquet"
    relation = duckdb.sql(f"FROM '{with_nan}'")
    for source in (with_nan, relation, pl.scan_parquet(with_nan)):
        table = priori.scan(source, engine="duckdb" if source is with_nan else "auto", nan="drop")
        assert (len(table), table.n_users, table.load().n_users) == (900, 9, 9)
        loaded = table.load()
        assert len(loaded) == 900
        assert np.isfinite(loaded.negatives).all()
        assert table.check_same_trials(
            priori.scan(source, engine="duckdb" if source is with_nan else "auto", nan="drop")
        )
    assert len(priori.scan(glob, nan="drop")) == 900
    rejected = priori.scan(with_nan, engine="duckdb", nan="reject")
    assert (len(rejected), rejected.nan_rejected, rejected.n_users) == (1000, 100, 10)


@pytest.mark.parametrize("asked", ["nothing", "curve", "threshold", "counts"])
def test_bins_do_not_depend_on_what_was_asked_before(asked: str) -> None:
    rng = np.random.default_rng(11)
    label = rng.integers(0, 2, 60_000)
    table = Table(Memory(Scores.from_predictions(label, rng.normal(size=60_000) + label)), memory=10**6)
    if asked == "curve":
        priori.epc(table, table, points=11)
    elif asked == "threshold":
        priori.choose_threshold(table, alpha=0.5)
    elif asked == "counts":
        table.rejected(np.linspace(-2, 2, 500))
    bins, said = condense(table, narrow=BOUND)
    fresh = Table(Memory(table.engine.load()), memory=10**6)
    expected, _ = condense(fresh, narrow=BOUND)
    assert said
    assert bins.negatives.tolist() == expected.negatives.tolist()
    assert len(bins) == 60_000


def test_many_files_are_sampled_and_read_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    label = np.arange(400) % 2
    frame = pl.DataFrame({"score": np.round(rng.normal(label), 3), "label": label})
    for part in range(20):
        frame[part::20].write_parquet(tmp_path / f"{part:02}.parquet")
    with priori.scan(tmp_path, engine="duckdb") as scanned:
        found = priori.epc(scanned, scanned, points=11)
        whole = Scores.from_predictions(label, frame["score"].to_numpy())
        expected = priori.epc(whole, whole, points=11)
        assert found.threshold.tolist() == expected.threshold.tolist()
        assert found.value.tolist() == expected.value.tolist()
