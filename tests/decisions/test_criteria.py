"""The threshold chosen is the brute-force one, to the last bit, on every kind of awkward scores."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from priori import OptionError, Outcomes, Scores, choose_threshold
from priori.decisions.criteria import CRITERIA, get_criterion
from priori.decisions.tasks import TASKS

CHOSEN = [(oracle.named(criterion, task), task) for task in oracle.TASKS for criterion in (*CRITERIA, *oracle.BEST)]


def test_tasks_of_the_same_rates_choose_alike() -> None:
    first = {oracle.PAIRS[task]: TASKS[task] for task in oracle.TASKS}
    assert set(TASKS) == set(oracle.PAIRS)
    for name, task in TASKS.items():
        tried = first[oracle.PAIRS[name]]
        assert (task.v1, task.v2, task.criterion) == (tried.v1, tried.v2, tried.criterion)


@pytest.mark.parametrize(("criterion", "task"), CHOSEN)
@given(negatives=oracle.score_list, positives=oracle.score_list, alpha=oracle.alpha)
def test_choice_is_the_brute_force_one(
    criterion: str, task: str, negatives: list[float], positives: list[float], alpha: Fraction
) -> None:
    expected = oracle.choose(negatives, positives, criterion, alpha, task)
    choice = get_criterion(criterion, task).choose(Scores.from_arrays(negatives, positives), [alpha])
    assert (int(choice.outcomes.fp[0]), int(choice.outcomes.fn[0])) == (expected.fp, expected.fn)
    assert float(choice.threshold[0]) == expected.threshold


@pytest.mark.parametrize("criterion", ["wer", "pr", "target-v1", "target-v2", "at-most-v1", "at-most-v2"])
@given(negatives=oracle.score_list, positives=oracle.score_list, alphas=st.lists(oracle.alpha, min_size=2, max_size=20))
def test_many_alphas_at_once_equal_one_at_a_time(
    criterion: str, negatives: list[float], positives: list[float], alphas: list[Fraction]
) -> None:
    scores = Scores.from_arrays(negatives, positives)
    rule = get_criterion(criterion)
    together = rule.choose(scores, alphas).threshold
    assert together.tolist() == [rule.choose(scores, [alpha]).threshold[0] for alpha in alphas]


@pytest.mark.parametrize(
    ("criterion", "task"),
    [(name, "authentication") for name in ("wer", "pr", "target-v1", "target-v2", "eer", "at-most-v1", "at-most-v2")]
    + [("at-least-v1", "diagnosis"), ("at-least-v2", "diagnosis"), ("max:f1", "retrieval")],
)
@given(negatives=oracle.score_list, positives=oracle.score_list, alpha=oracle.alpha)
def test_pieces_hold_the_choice_for_every_alpha(
    criterion: str, task: str, negatives: list[float], positives: list[float], alpha: Fraction
) -> None:
    scores = Scores.from_arrays(negatives, positives)
    rule = get_criterion(criterion, task)
    pieces = rule.pieces(scores)
    assert np.all(np.diff(pieces.breaks) >= 0)
    if np.min(np.abs(pieces.breaks - float(alpha))) < 1e-9:
        return  # on a break the tie rule decides; off it the piece must
    piece = int(np.searchsorted(pieces.breaks, float(alpha))) - 1
    assert pieces.choice.threshold[piece] == rule.choose(scores, [alpha]).threshold[0]


def test_large_sets_agree_with_a_plain_search_in_whole_numbers() -> None:
    rng = np.random.default_rng(5)
    scores = Scores.from_arrays(np.round(rng.normal(size=4000), 2), np.round(rng.normal(1.5, 1.2, size=3000), 2))
    values = np.unique(np.concatenate([scores.negatives, scores.positives]))
    fp = [4000, *(4000 - np.searchsorted(scores.negatives, values, side="right")).tolist()]
    fn = [0, *np.searchsorted(scores.positives, values, side="right").tolist()]
    alphas = [Fraction(k, 200) for k in range(201)]
    outcomes = get_criterion("wer").choose(scores, alphas).outcomes
    for alpha, found_fp, found_fn in zip(alphas, outcomes.fp.tolist(), outcomes.fn.tolist(), strict=True):
        p, q = alpha.numerator, alpha.denominator
        costs = [
            (p * a * 3000 + (q - p) * m * 4000, a * 3000 + m * 4000, i)
            for i, (a, m) in enumerate(zip(fp, fn, strict=True))
        ]
        best = min(costs)[2]
        assert (found_fp, found_fn) == (fp[best], fn[best])


@pytest.mark.parametrize(("negatives", "positives"), [(30_000, 20_000), (20_000, 30_000)])
@pytest.mark.parametrize("digits", [1, 3, 12])
def test_passing_over_blocks_changes_no_vertex(negatives: int, positives: int, digits: int) -> None:
    from priori.decisions.hull import envelope_of_errors, error_envelope

    rng = np.random.default_rng(digits)
    low, high = rng.normal(size=negatives).round(digits), rng.normal(1, 2, size=positives).round(digits)
    low[:50], high[:30] = -np.inf, -np.inf
    scores = Scores.from_arrays(low, high)
    whole = envelope_of_errors(*scores.candidates().corners(), negatives, positives)
    assert error_envelope(scores.candidates()).fp.tolist() == whole.fp.tolist()
    assert error_envelope(scores.candidates()).fn.tolist() == whole.fn.tolist()


def test_counts_of_a_thousand_million_do_not_overflow() -> None:
    from priori.decisions.hull import envelope_of_errors

    n = 10**9
    fp = np.array([n, n - 1, n // 2, 1, 0], dtype=np.int64)
    fn = np.array([0, 1, n // 2 - 1, n - 2, n], dtype=np.int64)
    envelope = envelope_of_errors(fp, fn, n, n)
    for alpha in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(999_999_999, 10**9), Fraction(1)):
        best = min(
            range(5), key=lambda i: (alpha * int(fp[i]) + (1 - alpha) * int(fn[i]), int(fp[i]) + int(fn[i]), int(fn[i]))
        )
        chosen = envelope.choose([alpha])[0]
        assert (envelope.fp[chosen], envelope.fn[chosen]) == (fp[best], fn[best])


def test_a_tie_never_picks_a_dominated_point() -> None:
    scores = Scores.from_arrays(negatives=[0.0, 1.0, 2.0], positives=[3.0, 4.0, 5.0])
    assert choose_threshold(scores, alpha=0) == 2.5
    assert choose_threshold(scores, alpha=1) == 2.5


def test_custom_criterion_and_its_ties() -> None:
    scores = Scores.from_arrays(negatives=[0.0, 1.0, 2.0], positives=[1.5, 4.0, 5.0])

    def misses_dear(outcomes: Outcomes, alpha: float) -> object:
        return outcomes.fp + 10 * outcomes.fn

    assert choose_threshold(scores, criterion=misses_dear) == 1.25
    assert choose_threshold(scores, criterion=lambda outcomes, alpha: 0 * outcomes.fp) == 1.25  # all tie: V1 + V2


def test_custom_criterion_of_the_wrong_shape_is_refused() -> None:
    scores = Scores.from_arrays([0.0], [1.0])
    with pytest.raises(OptionError, match="one number per candidate"):
        choose_threshold(scores, criterion=lambda outcomes, alpha: 1.0)


def test_unknown_criterion_lists_the_known_ones() -> None:
    with pytest.raises(OptionError, match="unknown criterion 'nope'; choose one of: wer, pr"):
        get_criterion("nope")


def test_minus_infinity_is_never_accepted() -> None:
    scores = Scores.from_arrays(negatives=[-math.inf, 0.0], positives=[-math.inf, 1.0])
    choice = get_criterion("wer").choose(scores, [Fraction(0)])
    assert (int(choice.outcomes.fn[0]), float(choice.threshold[0])) == (1, 0.5)
