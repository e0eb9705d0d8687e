"""Candidates: every gap between sorted scores, and a list of some of them, answer alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from priori.base.types import Floats
from priori.scores.candidates import Gaps, Shortlist, joined

scores = st.tuples(oracle.score_list, oracle.score_list)


def gaps_of(classes: tuple[list[float], list[float]]) -> Gaps:
    negatives, positives = (np.sort(np.asarray(part, dtype=np.float64)) for part in classes)
    return Gaps(negatives, positives)


def listed(gaps: Gaps) -> Shortlist:
    """Return all the candidates, as a list."""
    fp, fn = gaps.every()
    return Shortlist(fp, fn, *gaps.neighbours(fp, fn), gaps.n_negatives, gaps.n_positives)


def pairs(errors: tuple[Floats, Floats]) -> list[tuple[int, int]]:
    return list(zip(*(column.tolist() for column in errors), strict=True))


@given(scores)
def test_there_is_one_candidate_per_gap(classes: tuple[list[float], list[float]]) -> None:
    gaps, expected = gaps_of(classes), oracle.candidates(*classes)
    found = dict.fromkeys((one.fp, one.fn) for one in expected)  # two thresholds beyond an infinite score are one
    assert pairs(gaps.every()) == list(found)
    assert gaps.lowest() == next(iter(found))
    thresholds = {(one.fp, one.fn): one.threshold for one in reversed(expected)}
    if (0, gaps.n_positives) != gaps.lowest():
        thresholds[0, gaps.n_positives] = np.inf
    assert gaps.thresholds(*gaps.every()).tolist() == [thresholds[errors] for errors in found]


@given(scores)
def test_a_list_of_all_candidates_answers_as_the_gaps_do(classes: tuple[list[float], list[float]]) -> None:
    gaps = gaps_of(classes)
    short = listed(gaps)
    for ask in ("every", "per_negative", "per_positive", "corners"):
        assert pairs(getattr(short, ask)()) == pairs(getattr(gaps, ask)()), ask
    assert short.lowest() == gaps.lowest()
    assert short.thresholds(*short.every()).tolist() == gaps.thresholds(*gaps.every()).tolist()


@given(scores)
def test_the_nearest_errors_are_among_those_returned(classes: tuple[list[float], list[float]]) -> None:
    gaps = gaps_of(classes)

    def apart(errors: tuple[int, int]) -> int:
        return abs(errors[0] * gaps.n_positives - errors[1] * gaps.n_negatives)

    assert min(map(apart, pairs(gaps.around_equal_errors()))) == min(map(apart, pairs(gaps.every())))
    assert set(pairs(gaps.around_equal_errors())) <= set(pairs(gaps.every()))


@given(scores)
def test_corners_are_what_nothing_else_dominates(classes: tuple[list[float], list[float]]) -> None:
    every = pairs(gaps_of(classes).every())
    undominated = [
        (fp, fn) for fp, fn in every if not any(a <= fp and b <= fn and (a, b) != (fp, fn) for a, b in every)
    ]
    assert pairs(gaps_of(classes).corners()) == undominated


@given(scores, st.data())
def test_parts_of_a_list_are_joined_again(classes: tuple[list[float], list[float]], data: st.DataObject) -> None:
    whole = listed(gaps_of(classes))
    index = np.arange(whole.fp.size)
    parts = [
        whole.only(whole.fp[chosen], whole.fn[chosen])
        for chosen in (np.sort(data.draw(st.permutations(index)))[: data.draw(st.integers(1, index.size))], index[::2])
    ]
    found = joined([*parts, whole.only(whole.fp[::-1], whole.fn[::-1])])
    for name in ("fp", "fn", "below", "above"):
        assert getattr(found, name).tolist() == getattr(whole, name).tolist()


def test_a_list_keeps_the_thresholds_of_its_candidates() -> None:
    gaps = gaps_of(([0.0, 1.0, 4.0], [2.0, 3.0, 4.0]))
    fp, fn = (column[[0, 2, 5]] for column in gaps.every())
    short = listed(gaps).only(fp, fn)
    assert short.thresholds(fp, fn).tolist() == [-np.inf, 1.5, np.inf]
    assert short.thresholds(fp[1:2], fn[1:2]).tolist() == [1.5]


@pytest.mark.parametrize(("negatives", "positives"), [(12_000, 11_000), (11_000, 12_000)])
def test_few_corners_are_looked_at_where_there_are_many(negatives: int, positives: int) -> None:
    rng = np.random.default_rng(1)
    gaps = Gaps(np.sort(rng.normal(size=negatives)), np.sort(rng.normal(2, 1, size=positives)))

    def hull(fp: Floats, fn: Floats) -> tuple[Floats, Floats]:
        from priori.decisions.hull import envelope_of_errors

        envelope = envelope_of_errors(fp, fn, negatives, positives)
        return envelope.fp, envelope.fn

    near = set(pairs(gaps.corners_near(hull)))
    assert set(pairs(hull(*gaps.corners()))) <= near
    assert len(near) < len(pairs(gaps.corners()))
