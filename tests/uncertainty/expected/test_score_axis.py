"""The axis on which development scores are smoothed, beside the same computed score by score."""

from __future__ import annotations

from math import exp, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from priori.scores import Scores, Trials
from priori.uncertainty.expected import smoothed_sets as module
from priori.uncertainty.expected.smoothed_sets import BINS, KNOTS, ScoreAxis, bandwidth, score_axis, tied

PROBIT = NormalDist().inv_cdf


def drawn(seed: int, negatives: int = 60, positives: int = 40, digits: int = 2) -> Scores:
    """Positives spread wider, and their scale is bent: no line through the probits fits."""
    rng = np.random.default_rng(seed)
    shifted = rng.normal(1.2, 1.6, positives)
    return Scores.from_arrays(
        np.round(rng.normal(0, 1, negatives), digits), np.round(shifted + 0.1 * shifted**2, digits)
    )


def by_hand(dev: Scores, test: Scores, knots: list[float]) -> list[float]:
    """Return the scale at the knots: two probits of each, the second on the line of the first, by their precision."""
    probits: list[list[float]] = []
    weights: list[list[float]] = []
    for name in ("negatives", "positives"):
        scores = [*getattr(dev, name), *getattr(test, name)]
        below = [sum((score < knot) + (score == knot) / 2 for score in scores) for knot in knots]
        shares = [(number + 0.5) / (len(scores) + 1) for number in below]
        probits.append([PROBIT(share) for share in shares])
        weights.append(
            [
                exp(-(PROBIT(share) ** 2))
                / (share * (1 - share))
                * len(scores)
                * (1 if 0.75 <= number <= len(scores) - 0.75 else 1e-6)
                for share, number in zip(shares, below, strict=True)
            ]
        )
    both = [place for place in range(len(knots)) if min(weights[0][place], weights[1][place]) > 1e-3]
    mass = {place: 1 / (1 / weights[0][place] + 1 / weights[1][place]) for place in both}

    def mean(values: dict[int, float]) -> float:
        return sum(mass[place] * values[place] for place in both) / sum(mass.values())

    centres = [mean({place: probit[place] for place in both}) for probit in probits]
    spreads = [
        mean({place: (probit[place] - centre) ** 2 for place in both})
        for probit, centre in zip(probits, centres, strict=True)
    ]
    slope = sqrt(spreads[1] / spreads[0])
    scale: list[float] = []
    for negative, positive, known, also in zip(*probits, *weights, strict=True):
        moved = centres[0] + (positive - centres[1]) / slope
        value = (known * negative + also * slope**2 * moved) / (known + also * slope**2)
        scale.append(max([value, *scale[-1:]]))
    return scale


def test_the_scale_is_the_mean_of_both_probits_by_their_precision() -> None:
    dev, test = drawn(0), drawn(1, negatives=50, positives=70)
    axis = score_axis(dev, test)
    every = [*dev.negatives, *dev.positives, *test.negatives, *test.positives]
    assert axis.knots.tolist() == sorted(set(every))
    scale = by_hand(dev, test, axis.knots.tolist())
    width = (scale[-1] - scale[0]) / (BINS - 2)
    assert axis.place == pytest.approx([1 + min((at - scale[0]) / width, BINS - 2 - 1e-6) for at in scale], rel=1e-12)
    assert (axis.n_bins, axis.smooth) == (BINS, True)
    assert axis.value.tolist() == [-np.inf, *range(1, BINS - 1), np.inf]


def test_two_normal_classes_have_the_scale_of_their_scores() -> None:
    normal = [NormalDist(0, 1), NormalDist(2, 1.5)]
    negatives, positives = ([each.inv_cdf((place + 0.5) / 4000) for place in range(4000)] for each in normal)
    scores = Scores.from_arrays(negatives, positives)
    axis = score_axis(scores, scores)
    inside = (axis.knots > -2.5) & (axis.knots < 4)
    line = np.polynomial.Polynomial.fit(axis.knots[inside], axis.place[inside], 1)
    assert np.abs(line(axis.knots[inside]) - axis.place[inside]).max() < 0.02 * np.ptp(axis.place)


def test_classes_apart_meet_in_the_middle() -> None:
    scores = Scores.from_arrays([0.1, 0.2, 0.3, 0.4], [1.1, 1.2, 1.3, 1.4])
    axis = score_axis(scores, scores)
    steps = np.diff(axis.place)
    assert steps == pytest.approx(steps[::-1])  # the two classes mirror each other
    assert (steps > 0).all()


def test_where_scores_lie() -> None:
    axis = ScoreAxis(np.array([1.0, 2.0, 4.0]), np.array([1.0, 5.0, 6.0]), np.arange(9.0), smooth=True)
    score = np.array([-np.inf, 0.0, 1.0, 1.5, 2.0, 3.9, 4.0, 7.0, np.inf])
    assert axis.places(score).tolist() == [0.0, 1.0, 1.0, 3.0, 5.0, 5.5, 6.0, 6.0, 8.0]
    assert axis.n_bins == 9


def test_the_bandwidth_shrinks_with_the_fifth_root() -> None:
    assert [bandwidth(trials) for trials in (0, 1, 32, 3125)] == pytest.approx([0.75, 0.75, 0.375, 0.15])


@pytest.mark.parametrize("counted", [False, True])
def test_scores_that_many_have_are_tied(counted: bool) -> None:
    """Of 400 trials more than 400 * 0.1 * 0.75 * 400 ** -0.2 = 9.05 have one score."""
    score = np.concatenate([np.repeat([1.0, 2.0, 3.0], [9, 10, 11]), np.linspace(4, 5, 368), [-np.inf, np.inf]])
    trials = Trials(score)
    if counted:
        values, number = np.unique(score, return_counts=True)
        trials = Trials(values, number=number)
    assert sorted(set(trials.score[tied(trials)])) == [-np.inf, 2.0, 3.0, np.inf]


def test_trials_that_stand_for_several_count_as_many() -> None:
    score = np.round(np.random.default_rng(0).normal(0, 1, 200), 1)
    values, number = np.unique(score, return_counts=True)
    mixed = np.random.default_rng(1).permutation(values.size)
    knots = np.array([-9.0, -0.5, 0.0, 0.05, 1.0, 9.0])
    expected = [sum((each < knot) + (each == knot) / 2 for each in score.tolist()) for knot in knots.tolist()]
    assert module._below(Trials(score), knots).tolist() == expected
    assert module._below(Trials(values[mixed], number=number[mixed]), knots).tolist() == expected


def test_many_scores_are_known_by_those_at_equal_shares_and_both_ends() -> None:
    size = 3 * KNOTS
    negative = Scores.from_arrays(np.arange(size, dtype=float), [0.0, 1.0]).negative
    shares = [place * (size - 1) // (KNOTS - 1) for place in range(KNOTS)]
    expected = {*range(KNOTS // 2), *shares, *range(size - KNOTS // 2, size)}
    assert set(module._knots(negative)) == expected
    few = Scores.from_arrays(np.arange(2.0 * KNOTS), [0.0, 1.0]).negative
    assert module._knots(few).tolist() == list(range(2 * KNOTS))


def test_few_tied_scores_are_cells_of_their_own() -> None:
    scores = Scores.from_arrays([0.0, 0.0, 1.0, 1.0, 2.0] * 20, [1.0, 2.0, 2.0, 3.0, np.inf] * 20)
    axis = score_axis(scores, scores)
    assert axis.value.tolist() == [-np.inf, 0.0, 1.0, 2.0, 3.0, np.inf]
    assert axis.places(np.array([0.0, 1.0, 2.0, 3.0])).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert not axis.smooth
