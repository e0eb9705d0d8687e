"""Thresholds chosen inside a replicate: the same as brute force in exact fractions on the trials written out."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import oracle
from priori.decisions.criteria import get_criterion
from priori.uncertainty.bootstrap import choosing, kernels, plain
from priori.uncertainty.bootstrap.readers import kernel_kind

CASES = [
    ("wer", "authentication"),
    ("wer", "diagnosis"),
    ("pr", "retrieval"),
    ("target-v1", "authentication"),
    ("target-v2", "authentication"),
    ("target-v1", "diagnosis"),
    ("target-v2", "diagnosis"),
    ("target-v2", "retrieval"),
    ("eer", "authentication"),
    ("eer", "diagnosis"),
    ("eer", "retrieval"),
    ("at-most-v1", "authentication"),
    ("at-most-v2", "authentication"),
    ("at-least-v1", "diagnosis"),
    ("at-least-v2", "diagnosis"),
]


def chosen_thresholds(negatives, positives, undrawn, criterion, task, alphas):
    """Choose among drawn scores, on a grid that also has scores nobody drew: by the kernels, or by the criterion."""
    values = np.unique(np.array([*negatives, *positives, *undrawn]) + 0.0)
    weights = [
        np.bincount(np.searchsorted(values, drawn), minlength=values.size).astype(np.int64)
        for drawn in (negatives, positives)
    ]
    rule = get_criterion(criterion, task)
    kind = kernel_kind(rule, alphas)
    if kind is None:
        return rule.choose(plain.counted(*weights, values), alphas).threshold.tolist()
    chosen = np.empty(len(alphas), np.int64)
    totals = np.array([len(negatives), len(positives)])
    lowest = int(np.searchsorted(values, -np.inf, side="right"))
    scratch = np.empty((3, values.size + 1), np.int64)
    choosing.choose(kind[0], *weights, lowest, totals, *kind[1:], scratch, chosen)
    return [kernels.threshold_after(values, *weights, last) for last in chosen]


@pytest.mark.parametrize(("criterion", "task"), CASES)
@given(oracle.score_list, oracle.score_list, st.lists(oracle.score, max_size=4), st.lists(oracle.alpha, min_size=1))
def test_the_choice_is_that_of_brute_force(criterion, task, negatives, positives, undrawn, alphas):
    alphas = sorted(alphas)
    found = chosen_thresholds(negatives, positives, undrawn, criterion, task, alphas)
    for alpha, threshold in zip(alphas, found, strict=True):
        best = oracle.choose(negatives, positives, criterion, alpha, task)
        at = oracle.at(threshold, negatives, positives)
        assert (at.fp, at.fn) == (best.fp, best.fn)
        assert threshold == best.threshold


@pytest.mark.parametrize(("criterion", "task"), [("wer", "authentication"), ("pr", "retrieval")])
@given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=9), oracle.score_list)
def test_exact_ties_are_decided_as_by_brute_force(criterion, task, negatives, positives):
    alphas = oracle.ties(negatives, positives, criterion, task)
    found = chosen_thresholds(negatives, positives, [], criterion, task, alphas)
    assert found == [oracle.choose(negatives, positives, criterion, alpha, task).threshold for alpha in alphas]


@given(st.lists(st.integers(0, 2**62), min_size=4, max_size=4))
def test_products_are_compared_exactly(numbers):
    a, b, c, d = numbers
    for other in ((c, d), (a, b), (b, a), (a, b + 1), (max(a, 1) - 1, b)):
        exact = a * b - other[0] * other[1]
        assert choosing.compare(a, b, *other) == (exact > 0) - (exact < 0)


def test_huge_denominators_come_down_to_what_fits():
    fraction = Fraction(1, 3) + Fraction(1, 10**25)
    kind, p, q = kernel_kind(get_criterion("wer"), [fraction])
    assert kind == 0
    assert abs(Fraction(int(p[0]), int(q[0])) - fraction) < Fraction(1, 10**20)
    assert int(q[0]) <= 2**61


def test_other_criteria_are_left_to_themselves():
    for name in ("pr", "eer", "target-v1", "target-v2"):
        assert kernel_kind(get_criterion(name, "retrieval"), [Fraction(1, 2)]) is None
    assert kernel_kind(get_criterion(lambda outcomes, alpha: outcomes.fp), [Fraction(1, 2)]) is None
