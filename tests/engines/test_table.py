"""Thresholds and counts from bins are those from all the scores, to the last bit, on every kind of awkward scores."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import priori
from memory_engine import Memory
from priori import OptionError, Outcomes, Scores, count, epc
from priori.base.alphas import grid
from priori.base.options import ResamplingOptions
from priori.decisions.criteria import CRITERIA, get_criterion
from priori.decisions.tasks import get_task
from priori.engines import Table
from priori.engines.table import PER_SCORE
from priori.scores import ScoreSet
from priori.scores.score_set import candidates_of
from priori.studies.sizes import design_effect
from priori.uncertainty.bands.bands import area_bands

#: So few bins and so little memory that every path is taken: finer bins, parts, scores forgotten.
sizes = st.tuples(st.integers(1, 20), st.integers(0, 12))


def table_of(scores: Scores, size: tuple[int, int]) -> Table:
    bins, limit = size
    return Table(Memory(scores), memory=limit * PER_SCORE, bins=bins)


@pytest.mark.parametrize("task", oracle.TASKS)
@pytest.mark.parametrize("criterion", [*CRITERIA, *oracle.BEST])
@settings(max_examples=settings.default.max_examples // 3)
@given(
    negatives=oracle.score_list,
    positives=oracle.score_list,
    alphas=st.lists(oracle.alpha, min_size=1, max_size=5),
    size=sizes,
)
def test_choice_is_the_one_in_memory(
    criterion: str,
    task: str,
    negatives: list[float],
    positives: list[float],
    alphas: list[Fraction],
    size: tuple[int, int],
) -> None:
    scores = Scores.from_arrays(negatives, positives)
    rule = get_criterion(oracle.named(criterion, task), task)
    expected, found = rule.choose(scores, alphas), rule.choose(table_of(scores, size), alphas)
    assert found.threshold.tolist() == expected.threshold.tolist()
    assert found.outcomes.to_dict() == expected.outcomes.to_dict()


@pytest.mark.parametrize("criterion", ["wer", "pr", "eer"])
@settings(max_examples=settings.default.max_examples // 2)
@given(negatives=oracle.score_list, positives=oracle.score_list, size=sizes)
def test_exact_curve_is_the_one_in_memory(
    criterion: str, negatives: list[float], positives: list[float], size: tuple[int, int]
) -> None:
    scores = Scores.from_arrays(negatives, positives)
    rule = get_criterion(criterion)
    expected, found = rule.pieces(scores), rule.pieces(table_of(scores, size))
    assert found.breaks.tolist() == expected.breaks.tolist()
    assert found.choice.threshold.tolist() == expected.choice.threshold.tolist()


@given(
    negatives=oracle.score_list,
    positives=oracle.score_list,
    thresholds=st.lists(oracle.score, min_size=1, max_size=6),
    size=sizes,
)
def test_counts_are_those_in_memory(
    negatives: list[float], positives: list[float], thresholds: list[float], size: tuple[int, int]
) -> None:
    scores = Scores.from_arrays(negatives, positives)
    assert count(table_of(scores, size), thresholds).to_dict() == count(scores, thresholds).to_dict()


@given(
    dev=st.tuples(oracle.score_list, oracle.score_list),
    test=st.tuples(oracle.score_list, oracle.score_list),
    size=sizes,
)
def test_curve_is_the_one_in_memory(
    dev: tuple[list[float], list[float]], test: tuple[list[float], list[float]], size: tuple[int, int]
) -> None:
    sets = [Scores.from_arrays(*dev), Scores.from_arrays(*test)]
    expected = epc(*sets, points=11)
    found = epc(*(table_of(scores, size) for scores in sets), points=11)  # type: ignore[arg-type]
    for name, column in expected.columns().items():
        assert found.columns()[name].tolist() == column.tolist()


def test_few_scans_are_enough_where_little_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    scores = Scores.from_arrays(rng.normal(size=300_000), rng.normal(2, 1, size=30_000))
    table, rule, alphas = table_of(scores, (2000, 4000)), get_criterion("wer"), grid(51)
    scans: list[str] = []
    asked = table.engine.answer
    monkeypatch.setattr(
        table.engine,
        "answer",
        lambda requests: (scans.extend(type(each).__name__ for each in requests), asked(requests))[1],
    )
    found, expected = rule.choose(table, alphas), rule.choose(scores, alphas)  # type: ignore[arg-type]
    assert found.threshold.tolist() == expected.threshold.tolist()
    # What the first scan discards stays discarded, and the bins of the next are narrow where scores are many.
    assert scans == ["Count"] * 3 + ["Fetch"]


def test_any_function_may_be_the_criterion() -> None:
    rng = np.random.default_rng(1)
    scores = Scores.from_arrays(rng.normal(size=3000), rng.normal(1, 1, size=500))

    def unlike(outcomes: Outcomes, alpha: float) -> object:
        return np.abs(outcomes.fp - 7 * outcomes.fn) + alpha

    rule = get_criterion(unlike)
    alphas = [Fraction(1, 2)]
    found = rule.choose(table_of(scores, (50, 200)), alphas)
    assert found.threshold[0] == rule.choose(scores, alphas).threshold[0]


def test_the_exact_curve_of_a_target_needs_no_memory() -> None:
    rng = np.random.default_rng(2)
    scores = Scores.from_arrays(rng.normal(size=3000), rng.normal(1, 1, size=500))
    rule = get_criterion("target-v1")
    found = rule.pieces(table_of(scores, (64, 10_000)))
    assert found.choice.threshold.tolist() == rule.pieces(scores).choice.threshold.tolist()
    # Of a table that does not fit, every step holds at most a trial of each class, or a ten-thousandth.
    alphas = np.linspace(0.01, 0.99, 99)
    coarse, exact = (rule.pieces(each).outcomes_after(alphas) for each in (table_of(scores, (64, 100)), scores))
    np.testing.assert_allclose(coarse.fp, exact.fp, atol=2)
    np.testing.assert_allclose(coarse.fn, exact.fn, atol=2)


def test_what_counts_cannot_answer_loads_the_trials() -> None:
    rng = np.random.default_rng(4)
    label, user = rng.integers(0, 2, 400), rng.integers(0, 12, 400)
    sets = [Scores.from_predictions(label, rng.normal(shift * label), user=user) for shift in (1.0, 1.5)]
    tables = [Table(Memory(scores)) for scores in sets]

    def answers(a: ScoreSet, b: ScoreSet) -> list[object]:
        return [
            priori.average_precision(a),
            priori.a_posteriori_partial_auc(a, (0, 0.2)),
            priori.roc(a).columns(),
            priori.a_posteriori_auc_interval(a).to_dict(),
            priori.a_posteriori_auc_test(a, b).to_dict(),
            priori.ztest_scores(a, 0.5, b, 0.7).to_dict(),
            design_effect(a, 0.5),
            priori.plan(width=0.05, pilot=a, threshold=0.5, pilot_b=b, threshold_b=0.7).to_dict(),
            priori.average([a, b], positions=5).columns(),
            priori.areas(a, b).to_dict(),
            priori.roc(a).band(fpr=[0.1, 0.5], n_resamples=50).columns(),
            area_bands(a, b, ResamplingOptions(n_resamples=20, resample="both")).columns(),
        ]

    def written(answer: object) -> str:  # counts are added up in another order: the last digits of a variance differ
        return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.12g}", str(answer))

    for found, expected in zip(answers(*tables), answers(*sets), strict=True):
        assert written(found) == written(expected)
    # By counts of each user, added up in another order than trials are.
    counted, known = (priori.rate_interval(scores, 0.5) for scores in (tables[0], sets[0]))
    assert (counted.errors, counted.trials, counted.rate) == (known.errors, known.trials, known.rate)
    assert (counted.lower, counted.upper) == pytest.approx((known.lower, known.upper), rel=1e-12)


def test_all_trials_must_fit_where_they_are_needed() -> None:
    table = Table(Memory(Scores.from_arrays(np.arange(100.0), np.arange(50.0, 150.0))), memory=10_000)
    with pytest.raises(OptionError, match="this needs all 200 trials in memory"):
        table.load()
    known = Scores.from_arrays(np.arange(100.0), np.arange(50.0, 150.0))
    assert priori.roc(table).auc == pytest.approx(priori.roc(known).auc, abs=1e-3)
    assert priori.roc(table, points=5).threshold.size > 2


def test_a_threshold_is_chosen_on_whatever_a_curve_takes() -> None:
    frame = pl.DataFrame({"label": [0, 0, 0, 1, 1, 1], "score": [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]})
    for dev in (frame, frame.lazy(), frame.to_pandas(), Scores.from_frame(frame)):
        assert priori.choose_threshold(dev) == pytest.approx(0.3)
    with pytest.raises(OptionError, match="a path is no set of scores"):
        priori.choose_threshold("dev.csv")
    with pytest.raises(OptionError, match=r"a set of scores must be Scores .*, not a int"):
        priori.choose_threshold(3)


def test_a_table_asked_twice_at_once_answers_both(tmp_path: Path) -> None:
    # Two curves of one scanned set, as --calibrate none,logistic makes them.
    path = tmp_path / "scores.parquet"
    duckdb.sql(
        "COPY (SELECT (i % 2)::INT AS label, sin(i * 6) + i % 2 AS score, i // 40 AS user FROM range(4000) t(i)) "
        f"TO '{path}'"
    )
    alphas = [Fraction(k, 100) for k in range(101)]
    rule = get_criterion("wer", get_task("authentication"))
    with priori.scan(path, engine="duckdb", memory="40MB") as table:
        found = candidates_of([table, table], [rule, rule], [alphas, alphas])
    expected = rule.choose(priori.read(path), alphas).threshold
    for candidates in found:
        np.testing.assert_array_equal(rule.choose_among(candidates, alphas).threshold, expected)
