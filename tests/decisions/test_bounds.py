"""Bounds: a bin is discarded only where it cannot hold the candidate that a criterion chooses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from priori import Outcomes, Scores
from priori.base.alphas import grid
from priori.base.types import Mask
from priori.decisions.criteria import CRITERIA, Criterion, get_criterion
from priori.scores.candidates import CutErrors

#: What is chosen among candidates; theory's threshold is none.
MINIMISED = [name for name in CRITERIA if name not in ("bayes", "probability")]


def bins_kept(
    criterion: Criterion, scores: Scores, cuts: list[int], alphas: list[Fraction] | None
) -> tuple[Mask, list[tuple[int, int]]]:
    """Return which bins between some candidates may hold the choice, and the errors of all candidates."""
    fp, fn = scores.candidates().every()
    keep = criterion.promising(CutErrors(fp[cuts], fn[cuts], scores.n_negatives, scores.n_positives), alphas)
    assert keep is not None
    assert keep.shape == (len(cuts) - 1,)
    return keep, list(zip(fp.tolist(), fn.tolist(), strict=True))


def may_hold(keep: Mask, cuts: list[int], chosen: int) -> bool:
    """Tell whether a candidate is a cut beside a kept bin, an end of all, or within a kept bin."""
    return any(kept and low <= chosen <= high for kept, low, high in zip(keep, cuts, cuts[1:], strict=False))


@pytest.mark.parametrize("task", oracle.TASKS)
@pytest.mark.parametrize("criterion", [*MINIMISED, "max:f1", "max:mcc"])
@settings(max_examples=settings.default.max_examples // 4)
@given(
    negatives=oracle.score_list,
    positives=oracle.score_list,
    alphas=st.lists(oracle.alpha, min_size=1, max_size=3),
    data=st.data(),
)
def test_the_bin_of_the_choice_is_kept(
    criterion: str,
    task: str,
    negatives: list[float],
    positives: list[float],
    alphas: list[Fraction],
    data: st.DataObject,
) -> None:
    scores, rule = Scores.from_arrays(negatives, positives), get_criterion(oracle.named(criterion, task), task)
    last = scores.candidates().every()[0].size - 1
    inner = data.draw(st.sets(st.integers(0, last), max_size=4))
    cuts = sorted({0, last} | inner)
    keep, every = bins_kept(rule, scores, cuts, alphas)
    outcomes = rule.choose(scores, alphas).outcomes
    for errors in zip(outcomes.fp.tolist(), outcomes.fn.tolist(), strict=True):
        chosen = every.index(errors)
        # A choice on a cut is known without looking into a bin; all others must be looked for.
        assert chosen in cuts or may_hold(keep, cuts, chosen)


@given(negatives=oracle.score_list, positives=oracle.score_list, step=st.integers(1, 5))
def test_the_bins_of_all_vertices_are_kept(negatives: list[float], positives: list[float], step: int) -> None:
    scores, rule = Scores.from_arrays(negatives, positives), get_criterion("wer")
    last = scores.candidates().every()[0].size - 1
    cuts = sorted({*range(0, last, step), last})
    keep, every = bins_kept(rule, scores, cuts, None)
    outcomes = rule.pieces(scores).choice.outcomes
    for errors in zip(outcomes.fp.tolist(), outcomes.fn.tolist(), strict=True):
        chosen = every.index(errors)
        assert chosen in cuts or may_hold(keep, cuts, chosen)


@pytest.mark.parametrize(
    ("criterion", "most"), [("wer", 0.2), ("pr", 0.25), ("target-v1", 0.05), ("target-v2", 0.05), ("eer", 0.01)]
)
def test_most_bins_are_discarded(criterion: str, most: float) -> None:
    rng = np.random.default_rng(1)
    scores = Scores.from_arrays(rng.normal(size=30_000), rng.normal(2, 1, size=20_000))
    cuts = [*range(0, 50_001, 50), 50_000]
    keep, _ = bins_kept(get_criterion(criterion), scores, cuts, list(grid(11)))
    assert 0 < keep.mean() < most


def test_ties_that_floats_can_tell_discard_bins_too() -> None:
    # At alpha = 0 all candidates without a miss tie; the best of them has the highest threshold, in one bin.
    scores = Scores.from_arrays(np.arange(-1000.0, 0.0), np.arange(1.0, 1001.0))
    cuts = [*range(0, 2000, 10), 2000]
    keep, _ = bins_kept(get_criterion("wer"), scores, cuts, [Fraction(0)])
    assert keep.sum() <= 2


def test_no_bin_is_no_bin() -> None:
    for criterion in MINIMISED:
        none = get_criterion(criterion).promising(CutErrors(np.array([0]), np.array([1]), 1, 1), [Fraction(1, 2)])
        assert none is not None
        assert none.size == 0


def test_of_what_nothing_is_known_every_bin_may_hold_the_choice() -> None:
    def own(outcomes: Outcomes, alpha: float) -> object:
        return outcomes.fp

    cuts = CutErrors(np.array([3, 0]), np.array([0, 3]), 3, 3)
    assert get_criterion(own).promising(cuts, [Fraction(1, 2)]) is None
    for criterion in ("pr", "target-v1", "target-v2", "eer"):  # all alphas at once
        assert get_criterion(criterion).promising(cuts, None) is None
