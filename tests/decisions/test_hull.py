"""The envelope of many candidates, and the choice where candidates tie exactly, against all candidates in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from priori import Scores
from priori.decisions.criteria import get_criterion
from priori.decisions.hull import error_envelope, precision_recall_envelope

LEVELS = 700
few = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=9)


def many_levels(noise: int, seed: int = 0) -> tuple[list[float], list[float]]:
    """Return scores whose share of positives rises with the score, level by level, give or take some noise."""
    rng = np.random.default_rng(seed)
    level = np.arange(LEVELS)
    positives = 3 + level + rng.integers(0, noise + 1, LEVELS)
    negatives = 3 + level[::-1] + rng.integers(0, noise + 1, LEVELS)
    return np.repeat(level, negatives).astype(float).tolist(), np.repeat(level, positives).astype(float).tolist()


def points(negatives: list[float], positives: list[float]) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """Return FAR, FRR and the errors of precision and recall of every candidate, thresholds rising."""
    low, high = np.array(negatives), np.array(positives)
    found = []
    for threshold in [-np.inf, *np.unique([*negatives, *positives]).tolist()]:
        fp, tp = int((low > threshold).sum()), int((high > threshold).sum())
        precision = Fraction(tp, tp + fp) if tp + fp else Fraction(0)
        recall = Fraction(tp, high.size)
        found.append((Fraction(fp, low.size), 1 - recall, 1 - precision, 1 - recall))
    return found


def best(of_all: list[tuple[Fraction, ...]], pair: slice, alpha: Fraction) -> int:
    """Return the candidate of the smallest cost; ties to the smaller sum, then to the lower threshold."""
    errors = [one[pair] for one in of_all]
    return min(range(len(errors)), key=lambda i: (alpha * errors[i][0] + (1 - alpha) * errors[i][1], sum(errors[i]), i))


@pytest.mark.parametrize(("criterion", "pair"), [("wer", slice(0, 2)), ("pr", slice(2, 4))])
@pytest.mark.parametrize("noise", [0, 2, 60])
def test_the_choice_among_many_corners_is_that_of_all_candidates(criterion: str, pair: slice, noise: int) -> None:
    negatives, positives = many_levels(noise)
    scores, of_all = Scores.from_arrays(negatives, positives), points(negatives, positives)
    envelope = (error_envelope if criterion == "wer" else precision_recall_envelope)(scores.candidates())
    assert noise > 2 or envelope.fp.size > 256  # so that points were pruned, and enough are left to be pruned again
    # Alphas in the middle of pieces, and where two vertices tie exactly.
    ties = [Fraction(int(rise), int(rise) + int(fall)) for rise, fall in zip(envelope.rise, envelope.fall, strict=True)]
    some = ties[:: max(len(ties) // 12, 1)]
    alphas = sorted({Fraction(k, 37) for k in range(38)} | set(some))
    chosen = get_criterion(criterion, "retrieval").choose(scores, alphas)
    for index, alpha in enumerate(alphas):
        wanted = of_all[best(of_all, pair, alpha)]
        outcomes = chosen.outcomes[index]
        assert Fraction(int(outcomes.fp), len(negatives)) == wanted[0]
        assert Fraction(int(outcomes.fn), len(positives)) == wanted[1]


@pytest.mark.parametrize(("criterion", "task"), [("wer", "authentication"), ("pr", "retrieval")])
@given(negatives=few, positives=few)
def test_exact_ties_go_to_the_smaller_sum_and_then_to_the_lower_threshold(
    criterion: str, task: str, negatives: list[float], positives: list[float]
) -> None:
    alphas = oracle.ties(negatives, positives, criterion, task)
    found = get_criterion(criterion, task).choose(Scores.from_arrays(negatives, positives), alphas).threshold
    assert found.tolist() == [oracle.choose(negatives, positives, criterion, alpha, task).threshold for alpha in alphas]


def test_the_oracle_finds_ties() -> None:
    # Rejecting 1 costs a third of the positives and spares half of the negatives.
    assert Fraction(2, 5) in oracle.ties([0.0, 1.0], [1.0, 2.0, 3.0], "wer", "authentication")
    assert len(list(combinations(oracle.candidates([0.0, 1.0], [1.0, 2.0, 3.0]), 2))) == 10
