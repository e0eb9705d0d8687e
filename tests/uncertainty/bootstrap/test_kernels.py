"""The compiled loops against plain numpy on tiny inputs: every trial written out, every count made by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from priori import Scores
from priori.decisions.criteria import get_criterion
from priori.uncertainty.bootstrap import kernels
from priori.uncertainty.bootstrap.kernel_criteria import kernel_kind
from priori.uncertainty.bootstrap.kernel_sets import TEST_TRIALS, TEST_USERS, lay_out, lay_out_counts, make_side
from priori.uncertainty.bootstrap.resampling import Resampling
from random_numbers import uniforms_of

REPLICATES = 40
NO_FUTURE = np.zeros(3, np.int64)


def make_scores(seed: int, shift: float = 1.0) -> Scores:
    """Five users, four negatives and three positives each, scores with ties."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(5), 7)
    label = np.tile([0, 0, 0, 0, 1, 1, 1], 5)
    return Scores.from_predictions(label, np.round(rng.normal(shift * label), 1), user=user)


def make_plan(scores: Scores, bootstrap: str, **options):
    return Resampling(bootstrap=bootstrap, n_resamples=REPLICATES, rng=5, **options).settle(scores, scores)


def draw_multiplicities(users: int, *, inner: int = 1, future: int = 0, first: int = 0, draws: int | None = None):
    drawn = np.empty((REPLICATES, users))
    kernels.multiplicities(first, 5, inner, users if draws is None else draws, future, TEST_USERS, drawn)
    return drawn


def count_at(scores: Scores, thresholds: np.ndarray, bootstrap: str, inner: int = 1, first: int = 0):
    """Rejected trials (replicate, class, threshold) and class sizes (replicate, class) by `count_fixed`."""
    plan = make_plan(scores, bootstrap)
    identities = plan.design.identities([scores])[0] if plan.design.by_user else None
    urns, places = lay_out([scores], [thresholds], plan, identities)
    users = identities.count if identities is not None and plan.design.draws_users else 0
    rejected = np.empty((REPLICATES, 1, 2, thresholds.size), np.int64)
    totals = np.empty((REPLICATES, 2), np.int64)
    kernels.count_fixed(
        first, 5, inner, users, plan.design.trial_draws, NO_FUTURE, TEST_USERS, TEST_TRIALS, *urns, places, rejected,
        totals,
    )  # fmt: skip
    return rejected[:, 0], totals


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


def test_a_future_set_has_as_many_users_as_asked_for_and_only_drawn_ones():
    drawn, population = draw_multiplicities(6, future=50), draw_multiplicities(6)
    assert (drawn.sum(axis=1) == 50).all()
    assert (population.sum(axis=1) == 6).all()
    assert (drawn[population == 0] == 0).all()


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
    plan = make_plan(scores, "sample")
    of_trials, places = lay_out([scores], [thresholds], plan, None)
    of_counts, counted_places = lay_out_counts(scores, thresholds)
    np.testing.assert_array_equal(places[0, 0], counted_places[0, 0])
    for urns, counted in zip(of_trials, of_counts, strict=True):
        for name, expected, found in zip(urns._fields, urns, counted, strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=name)
            assert found.dtype == expected.dtype, name


# -- thresholds chosen again ---------------------------------------------------------------------------------------


def written_out(weights: np.ndarray, values: np.ndarray) -> Scores:
    return Scores.from_arrays(*(np.repeat(values, of_class) for of_class in weights))


@pytest.mark.parametrize("bootstrap", ["sample", "user", "joint"])
@pytest.mark.parametrize("criterion", ["wer", "target-v1", "eer"])
def test_thresholds_are_chosen_on_the_development_draw_and_counted_on_the_test_draw(bootstrap, criterion):
    dev, test = make_scores(4), make_scores(5)
    plan = replace(make_plan(test, bootstrap), resample="both")
    fractions = (Fraction(1, 10), Fraction(1, 2), Fraction(4, 5))
    rule = get_criterion(criterion, "authentication")
    of_dev, of_test = (plan.design.identities([scores])[0] if plan.design.by_user else None for scores in (dev, test))
    sides = make_side([dev], plan, of_dev, dev=True), make_side([test], plan, of_test)
    errors = np.empty((REPLICATES, 1, 2, len(fractions)), np.int64)
    totals = np.empty((REPLICATES, 2), np.int64)
    settings = (plan.seed, plan.inner, plan.design.trial_draws)
    kind = kernel_kind(rule, fractions, len(dev))
    kernels.count_rechosen(0, *settings, *sides, *kind, errors, totals)
    for replicate in range(REPLICATES):
        weights = [kernels.weights_of(replicate, *settings, side) for side in sides]
        resampled = written_out(weights[0], sides[0].values[0])
        thresholds = rule.choose(resampled, fractions).threshold
        values = sides[1].values[0]
        false_positives = weights[1][0] @ (values[:, None] > thresholds)
        false_negatives = weights[1][1] @ (values[:, None] <= thresholds)
        np.testing.assert_array_equal(errors[replicate, 0], [false_positives, false_negatives])
        np.testing.assert_array_equal(totals[replicate], [of_class.sum() for of_class in weights[1]])


# -- heights of ROC curves -----------------------------------------------------------------------------------------


def test_the_height_of_a_curve_is_that_of_its_drawn_trials():
    scores = make_scores(6)
    plan = make_plan(scores, "user")
    side = make_side([scores], plan, plan.design.identities([scores])[0])
    settings = (plan.seed, plan.inner, plan.design.trial_draws)
    heights = np.ones((REPLICATES, 3))
    kernels.climb(0, *settings, side, np.array([0, 1, 1]), np.array([1, 4, 1]), heights)
    assert (heights[:, 2] == 1).all()
    for replicate, row in enumerate(heights):
        negative, positive = (of_class[::-1] for of_class in kernels.weights_of(replicate, *settings, side))
        fpr = np.concatenate([[0], np.cumsum(negative) / negative.sum()])
        tpr = np.concatenate([[0], np.cumsum(positive) / positive.sum()])
        right = np.flatnonzero(fpr > 0.25)[0]  # the first point beyond a quarter: the height lies on the way to it
        part = (0.25 - fpr[right - 1]) / (fpr[right] - fpr[right - 1])
        assert row[1] == pytest.approx(tpr[right - 1] + part * (tpr[right] - tpr[right - 1]))
        assert row[0] == pytest.approx(tpr[fpr == 0].max())
