"""The compiled loops against plain numpy on tiny inputs: every trial written out, every count made by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from priori import Scores
from priori.decisions.criteria import get_criterion
from priori.scores.influence import People
from priori.uncertainty.bootstrap import kernels, plain
from priori.uncertainty.bootstrap.draws import TEST_USERS, join_attacks, lay_out, make_layout
from priori.uncertainty.bootstrap.layout import bins_between, distinct_scores
from priori.uncertainty.bootstrap.readers import kernel_kind, outcomes_at
from priori.uncertainty.bootstrap.resampling import Resampling
from random_numbers import uniforms_of

REPLICATES = 40


def make_scores(seed: int, shift: float = 1.0) -> Scores:
    """Five users, four negatives and three positives each, scores with ties."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(5), 7)
    label = np.tile([0, 0, 0, 0, 1, 1, 1], 5)
    return Scores.from_predictions(label, np.round(rng.normal(shift * label), 1), user=user)


def make_plan(scores: Scores, bootstrap: str, **options):
    return Resampling(bootstrap=bootstrap, n_resamples=REPLICATES, rng=5, **options).settle(scores, scores)


def draw_multiplicities(users: int, *, inner: int = 1, first: int = 0):
    drawn = np.empty((users, REPLICATES))
    kernels.multiplicities(first, 5, inner, TEST_USERS, np.array([0, users]), drawn)
    return drawn.T


def laid_out(scores: Scores, cuts: np.ndarray, bootstrap: str, *, inner: int = 1, dev: bool = False):
    plan = replace(make_plan(scores, bootstrap), inner=inner)
    people = plan.design.identities([scores]) if plan.design.by_user else None
    return lay_out([scores], [bins_between(scores, cuts)], plan, people, dev=dev)


def count_at(scores: Scores, thresholds: np.ndarray, bootstrap: str, inner: int = 1, first: int = 0):
    """Rejected trials (replicate, class, threshold) and class sizes (replicate, class) of drawn counts."""
    (counts,) = laid_out(scores, thresholds, bootstrap, inner=inner).counts(first, REPLICATES)
    rejected = np.stack([each.cumsum(axis=1) for each in counts], axis=1)
    return rejected[:, :, :-1], rejected[:, :, -1]


# -- users drawn ---------------------------------------------------------------------------------------------------


def test_users_drawn_are_those_that_the_uniform_numbers_of_the_stream_point_at():
    drawn = draw_multiplicities(7)
    for replicate, row in enumerate(drawn):
        # Whole numbers come from the upper half of the bits that a uniform number shows: the same place in [0, 7).
        users = np.floor(uniforms_of(5, TEST_USERS, replicate, 7) * 7).astype(int)
        np.testing.assert_array_equal(row, np.bincount(users, minlength=7))


def test_inner_replicates_share_their_users():
    drawn, once = draw_multiplicities(6, inner=4), draw_multiplicities(6)
    np.testing.assert_array_equal(drawn, np.repeat(once, 4, axis=0)[:REPLICATES])


def test_a_batch_that_starts_later_goes_on_where_the_first_was():
    np.testing.assert_array_equal(draw_multiplicities(6, first=10)[:30], draw_multiplicities(6)[10:])


# -- thresholds fixed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", [1, 4])
def test_users_with_all_their_trials_are_counted_as_by_hand(inner):
    scores, thresholds = make_scores(1), np.array([-0.5, 0.4, 0.4 + 1e-9, 2.0])
    rejected, totals = count_at(scores, thresholds, "user", inner)
    multiplicity = draw_multiplicities(5, inner=inner)
    for c, trials in enumerate((scores.negative, scores.positive)):
        weights = multiplicity[:, trials.user]
        np.testing.assert_array_equal(totals[:, c], weights.sum(axis=1))
        np.testing.assert_array_equal(rejected[:, c], weights @ (trials.score[:, None] <= thresholds))


def test_trials_drawn_keep_their_number_and_are_binomial():
    scores, thresholds = make_scores(2), np.array([-9.0, 0.3, 9.0])
    counts = [count_at(scores, thresholds, "sample", first=REPLICATES * batch) for batch in range(100)]
    rejected, totals = (np.concatenate(parts) for parts in zip(*counts, strict=True))
    for c, trials in enumerate((scores.negative, scores.positive)):
        assert (totals[:, c] == len(trials)).all()
        assert (rejected[:, c, 0] == 0).all()
        assert (rejected[:, c, 2] == len(trials)).all()
        p, n = float((trials.score <= 0.3).mean()), len(trials)
        assert rejected[:, c, 1].mean() == pytest.approx(n * p, abs=5 * np.sqrt(n * p * (1 - p) / 4000))
        assert rejected[:, c, 1].var() == pytest.approx(n * p * (1 - p), rel=0.15)


def test_trials_of_every_user_are_drawn_among_themselves():
    """The user-constrained bootstrap: with users that are all alike inside, nothing can vary."""
    user = np.repeat(np.arange(4), 6)
    label = np.tile([0, 0, 0, 1, 1, 1], 4)
    scores = Scores.from_predictions(label, user + 0.5 * label, user=user)
    thresholds = np.array([0.2, 1.0, 2.6])
    rejected, totals = count_at(scores, thresholds, "user-constrained")
    assert (totals == 12).all()
    for c, trials in enumerate((scores.negative, scores.positive)):
        expected = (trials.score[:, None] <= thresholds).sum(axis=0)
        np.testing.assert_array_equal(rejected[:, c], np.tile(expected, (REPLICATES, 1)))


def test_counts_between_thresholds_are_laid_out_like_the_trials():
    scores, thresholds = make_scores(3), np.array([-0.5, 0.4, 2.0])
    plan, bins = make_plan(scores, "sample"), bins_between(scores, thresholds)
    numbers = [np.bincount(each, minlength=4) for each in (bins.negative, bins.positive)]
    of_trials = lay_out([scores], [bins], plan, None)
    counted = plain.counted(*numbers, np.arange(4.0))
    of_counts = lay_out([counted], [bins_between(counted, np.arange(3.0))], plan, None)
    expected, found = (
        [counts.copy() for pair in draws.counts(0, REPLICATES) for counts in pair] for draws in (of_trials, of_counts)
    )
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("crossed", [False, True])
def test_units_are_weighed_as_in_numpy(crossed):
    rng = np.random.default_rng(7)
    units, bins, trials = 6, 150, 400
    partner = rng.integers(-1, units, trials).astype(np.int32) if crossed else None
    of_class = People(rng.integers(0, units, trials).astype(np.int32), units, partner)
    layout = make_layout(rng.integers(0, bins, trials).astype(np.int32), bins, of_class, rng.integers(1, 5, trials))
    drawn = rng.integers(0, 4, (units, 9)).astype(float)
    counts = np.empty((9, bins), np.int64)
    kernels.weigh(drawn, layout, counts)
    np.testing.assert_array_equal(counts, plain.weigh(drawn, layout))


def test_systems_drawn_together_have_the_trials_of_one_draw():
    """Trials drawn for two systems at once: the bins of each are those of the same trials."""
    scores = make_scores(8)
    same = replace(scores, negative=replace(scores.negative, score=-scores.negative.score))
    plan, cuts = make_plan(scores, "sample"), np.array([-0.5, 0.5])
    laid = lay_out([scores, same], [bins_between(each, cuts) for each in (scores, same)], plan, None)
    one, other = ([counts.copy() for counts in pair] for pair in laid.counts(0, REPLICATES))
    np.testing.assert_array_equal(one[1], other[1])
    np.testing.assert_array_equal(one[0].sum(axis=1), other[0].sum(axis=1))
    np.testing.assert_array_equal(one[0][:, 1], other[0][:, 1])


# -- thresholds chosen again ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bootstrap", ["sample", "user", "joint"])
@pytest.mark.parametrize("criterion", ["wer", "target-v1", "eer"])
def test_thresholds_are_chosen_on_the_development_draw_and_counted_on_the_test_draw(bootstrap, criterion):
    dev, test = make_scores(4), make_scores(5)
    fractions = (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5))
    rule = get_criterion(criterion, "authentication")
    values = [distinct_scores(scores) for scores in (dev, test)]
    on_dev, on_test = (
        next(laid_out(scores, own[:-1], bootstrap, dev=scores is dev).counts(0, REPLICATES))
        for scores, own in zip((dev, test), values, strict=True)
    )
    kind = kernel_kind(rule, fractions)
    ranks = np.empty((REPLICATES, 3), np.int64)
    kernels.choose_again(kind[0], *on_dev, values[0], 0, *kind[1:], values[1], ranks)
    kept = np.full(3, np.nan)
    np.testing.assert_array_equal(ranks, plain.choose_again(rule, fractions, on_dev, *values, kept))
    outcomes = outcomes_at(*on_test, ranks, test)
    for replicate, rejects in enumerate(ranks):
        rejected = np.arange(values[1].size)[:, None] < rejects
        np.testing.assert_array_equal(outcomes.fp[replicate], on_test[0][replicate] @ ~rejected)
        np.testing.assert_array_equal(outcomes.fn[replicate], on_test[1][replicate] @ rejected)
    np.testing.assert_array_equal((outcomes.fn + outcomes.tp)[:, 0], on_test[1].sum(axis=1))


# -- along the ROC -------------------------------------------------------------------------------------------------


def drawn_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (REPLICATES, 30)), rng.integers(0, 3, (REPLICATES, 30))


def test_the_height_of_a_curve_is_that_of_its_drawn_trials():
    negative, positive = drawn_rows(6)
    rates = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1)]
    heights = np.ones((REPLICATES, 4))
    p, q = (np.array([getattr(rate, part) for rate in rates]) for part in ("numerator", "denominator"))
    kernels.climb(negative, positive, p, q, heights)
    for row, *counts in zip(heights, negative, positive, strict=True):
        assert row == pytest.approx([plain.climb(*counts, rate) for rate in rates])


def test_figures_along_the_curve_are_those_of_its_drawn_trials():
    negative, positive = drawn_rows(7)
    expected = np.array([plain.along_the_curve(*counts, 0.1, 0.99) for counts in zip(negative, positive, strict=True)])
    for figure in (kernels.EER, kernels.MIN_DCF, kernels.AUC):
        found = np.empty(REPLICATES)
        kernels.along_the_curve(negative, positive, figure, 0.1, 0.99, found)
        np.testing.assert_allclose(found, expected[:, figure], rtol=1e-12)


@pytest.mark.parametrize("omega", [(1, 3), (1, 2), (9, 10)])
def test_attacks_have_their_share_in_every_draw(omega):
    rng = np.random.default_rng(8)
    negative, positive = rng.integers(0, 4, (REPLICATES, 20)), rng.integers(0, 4, (REPLICATES, 10))
    shares = [each / each.sum(axis=1, keepdims=True) for each in (negative[:, :10], negative[:, 10:])]
    joined, share = join_attacks(negative, positive, np.array(omega))[0], omega[0] / omega[1]
    np.testing.assert_allclose(
        joined / joined.sum(axis=1, keepdims=True), (1 - share) * shares[0] + share * shares[1], atol=1e-12
    )
