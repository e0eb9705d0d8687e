"""Cross-fitted curves: counts beside the same by hand, and bands beside a bootstrap written out."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori.base.errors import OptionError
from priori.scores.derived import fold_of_trials


def some_scores(seed: int = 0, users: int = 40, each: int = 10) -> priori.Scores:
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), each)
    label = rng.integers(0, 2, user.size)
    score = 1.5 * label + rng.normal(size=user.size) + 0.5 * rng.normal(size=users)[user]
    return priori.Scores.from_predictions(label, score, user=user)


@pytest.mark.parametrize("criterion", ["wer", "eer", "target-far", "at-most-frr", "bayes:logistic"])
def test_outcomes_are_those_of_every_fold_at_thresholds_of_the_others(criterion: str) -> None:
    scores = some_scores()
    curve = priori.cross_epc(scores, folds=4, points=11, criterion=criterion, rng=5)
    fold = fold_of_trials(scores, 4, rng=5)
    fp, fn = np.zeros(11, int), np.zeros(11, int)
    for number in range(4):
        inside = fold[0] == number, fold[1] == number
        rest = priori.Scores.from_arrays(scores.negative.score[~inside[0]], scores.positive.score[~inside[1]])
        for place, alpha in enumerate(curve.fractions):
            threshold = priori.choose_threshold(rest, criterion=criterion, alpha=alpha)
            fp[place] += (scores.negative.score[inside[0]] > threshold).sum()
            fn[place] += (scores.positive.score[inside[1]] <= threshold).sum()
    assert curve.outcomes.fp.tolist() == fp.tolist()
    assert curve.outcomes.fn.tolist() == fn.tolist()
    assert np.allclose(curve.value, (fp / scores.n_negatives + fn / scores.n_positives) / 2)
    assert curve.threshold[5] == priori.choose_threshold(scores, criterion=criterion, alpha=0.5)


def test_a_band_resamples_users_who_keep_the_thresholds_of_their_fold() -> None:
    scores = some_scores(1)
    curve = priori.cross_epc(scores, folds=5, alpha=[0.3, 0.5])
    band = curve.band(bootstrap="user", interval="percentile", n_resamples=40_000)
    rng = np.random.default_rng(0)
    errors = np.zeros((2, 2, 40))  # of each class, at each alpha, by user
    sizes = np.zeros((2, 40))
    for number, part in enumerate(curve.curves):
        for place, trials in enumerate((scores.negative, scores.positive)):
            own = curve.fold[place] == number
            user, score = trials.user[own], trials.score[own]
            sizes[place] += np.bincount(user, minlength=40)
            for row, threshold in enumerate(part.threshold):
                wrong = score > threshold if place == 0 else score <= threshold
                errors[place, row] += np.bincount(user, wrong, minlength=40)
    drawn = rng.multinomial(40, np.full(40, 1 / 40), size=40_000)
    values = sum((errors[place] @ drawn.T) / (sizes[place] @ drawn.T) for place in range(2)) / 2
    lower, upper = np.quantile(values, [0.025, 0.975], axis=1)
    assert np.allclose(band.lower, lower, atol=0.0015)
    assert np.allclose(band.upper, upper, atol=0.0015)


def test_users_that_weigh_alike_and_other_alphas() -> None:
    curve = priori.cross_epc(some_scores(2), folds=3, points=5, weight="user")
    assert curve.at(0.5).value[0] == pytest.approx(curve.value[2], rel=1e-12)
    assert curve.folds == 3
    assert curve.each.shape == (3, 5)
    assert [part.value[2] for part in curve.curves] == curve.each[:, 2].tolist()


def test_compared_in_pairs_as_deployed_only() -> None:
    a, b = (priori.cross_epc(some_scores(3), points=3, name=name) for name in "AB")
    same = priori.compare(a, b, claim="deployed", n_resamples=200)
    assert not same.difference.any()
    assert not same.significant.any()
    with pytest.raises(OptionError, match="cross-fitted thresholds are kept"):
        priori.compare(a, b, n_resamples=200)
    with pytest.raises(OptionError, match="one threshold for each system"):
        priori.rank([a, b], n_resamples=200)


def test_thresholds_without_a_common_order_are_refused() -> None:
    def jumping(outcomes: priori.Outcomes, alpha: float) -> object:  # up and down with alpha, otherwise in each fold
        return np.abs(outcomes.fp / outcomes.negatives - (outcomes.positives * 7919 * (1 + alpha * 10) % 1))

    with pytest.raises(OptionError, match="one alpha, or another criterion"):
        priori.cross_epc(some_scores(4), points=9, criterion=lambda o, alpha: jumping(o, alpha**2 + o.positives / 97))


def test_what_is_said_of_two_sets_is_not_said_of_folds() -> None:
    codes = {caution.code for caution in priori.cross_epc(some_scores(5), points=3).warnings}
    assert "same-data" not in codes
    assert "shared-users" not in codes
