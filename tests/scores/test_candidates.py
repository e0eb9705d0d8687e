"""Candidates: one between any two neighbouring scores; all of them, or some."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from priori.base.types import Floats
from priori.decisions.criteria import get_criterion
from priori.scores import Scores
from priori.scores.candidates import Candidates, joined
from priori.scores.in_memory import MANY

scores = st.tuples(oracle.score_list, oracle.score_list)


def candidates_of(classes: tuple[list[float], list[float]]) -> Candidates:
    return Scores.from_arrays(*classes).candidates()


def pairs(errors: tuple[Floats, Floats]) -> list[tuple[int, int]]:
    return list(zip(*(column.tolist() for column in errors), strict=True))


@given(scores)
def test_there_is_one_candidate_between_neighbours(classes: tuple[list[float], list[float]]) -> None:
    candidates, expected = candidates_of(classes), oracle.candidates(*classes)
    found = dict.fromkeys((one.fp, one.fn) for one in expected)  # two thresholds beyond an infinite score are one
    assert pairs(candidates.every()) == list(found)
    assert candidates.lowest() == next(iter(found))
    thresholds = {(one.fp, one.fn): one.threshold for one in reversed(expected)}
    if (0, candidates.n_positives) != candidates.lowest():
        thresholds[0, candidates.n_positives] = np.inf
    assert candidates.thresholds(*candidates.every()).tolist() == [thresholds[errors] for errors in found]


@given(scores)
def test_each_number_of_errors_comes_with_the_fewest_of_the_other(classes: tuple[list[float], list[float]]) -> None:
    candidates = candidates_of(classes)
    every = pairs(candidates.every())
    for found, own in ((candidates.per_negative(), 0), (candidates.per_positive(), 1)):
        best = {errors[own]: min(other for other in every if other[own] == errors[own]) for errors in every}
        assert pairs(found) == list(best.values())


@given(scores)
def test_corners_are_what_nothing_else_dominates(classes: tuple[list[float], list[float]]) -> None:
    every = pairs(candidates_of(classes).every())
    undominated = [
        (fp, fn) for fp, fn in every if not any(a <= fp and b <= fn and (a, b) != (fp, fn) for a, b in every)
    ]
    assert pairs(candidates_of(classes).corners()) == undominated


@given(scores, st.data())
def test_parts_of_a_list_are_joined_again(classes: tuple[list[float], list[float]], data: st.DataObject) -> None:
    whole = candidates_of(classes)
    index = np.arange(whole.fp.size)
    parts = [
        whole.only(whole.fp[chosen], whole.fn[chosen])
        for chosen in (np.sort(data.draw(st.permutations(index)))[: data.draw(st.integers(1, index.size))], index[::2])
    ]
    found = joined([*parts, whole.only(whole.fp[::-1], whole.fn[::-1])])
    for name in ("fp", "fn", "below", "above"):
        assert getattr(found, name).tolist() == getattr(whole, name).tolist()


def test_a_list_keeps_the_thresholds_of_its_candidates() -> None:
    candidates = candidates_of(([0.0, 1.0, 4.0], [2.0, 3.0, 4.0]))
    fp, fn = (column[[0, 2, 5]] for column in candidates.every())
    short = candidates.only(fp, fn)
    assert short.thresholds(fp, fn).tolist() == [-np.inf, 1.5, np.inf]
    assert short.thresholds(fp[1:2], fn[1:2]).tolist() == [1.5]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    "criterion", ["wer", "pr", "eer", "target-far", "at-most-far:0.95", "max:f1", lambda outcomes, alpha: outcomes.fp]
)
@pytest.mark.parametrize("points", [3, 40])
def test_of_many_scores_few_are_sorted_and_the_same_is_chosen(tied: bool, criterion: Any, points: int) -> None:
    rng = np.random.default_rng(1)
    sizes = MANY // 3, MANY - MANY // 3
    classes = [rng.normal(mean, 1, size).round(2 if tied else 15) for mean, size in zip((0, 2), sizes, strict=True)]
    classes[0][:3], classes[1][:3] = np.inf, -np.inf
    rule, alphas = get_criterion(criterion), [Fraction(number, points) for number in range(1, points)]
    few = rule.choose(Scores.from_arrays(*classes), alphas)
    ordered = Scores.from_arrays(*classes)
    assert ordered.negatives.size == sizes[0]  # sorted, so that every candidate is looked at
    every = rule.choose(ordered, alphas)
    np.testing.assert_array_equal(few.threshold, every.threshold)
    np.testing.assert_array_equal(few.outcomes.fp, every.outcomes.fp)
    np.testing.assert_array_equal(few.outcomes.fn, every.outcomes.fn)


def test_many_scores_are_counted_at_thresholds_without_being_sorted() -> None:
    rng = np.random.default_rng(2)
    classes = [rng.normal(mean, 1, MANY).round(2) for mean in (0, 1)]
    scores, thresholds = Scores.from_arrays(*classes), np.array([0.5, -np.inf, 0.0, np.inf, 0.5])
    for found, own in zip(scores.rejected(thresholds), classes, strict=True):
        assert found.tolist() == [int((own <= threshold).sum()) for threshold in thresholds]
    assert "sorted" not in scores.negative.__dict__
