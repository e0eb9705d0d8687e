"""Coverage: bands from some users, curves from others, as section 5 of the 2007 paper has it."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori import Scores
from priori.base.errors import InputError, OptionError
from priori.scores import restrict
from priori.studies.coverage import CoverageTally, coverage, standard_error
from priori.studies.simulation import generator, population, systems


@pytest.fixture(scope="module")
def pool():
    return systems(6, 124, 9, 40, user_effect_sd=0.5, rng=11)


@pytest.fixture(scope="module")
def found(pool):
    return coverage(pool, n_resamples=(20, 100), points=21, threads=1)


# -- what the paper found, and what it asked for -----------------------------------------------------------------


def row(found, bootstrap, users, samples):
    return next(
        place
        for place, name in enumerate(found.bootstrap)
        if name == bootstrap and found.draws[place].tolist() == [users, samples]
    )


def test_rows_are_the_bootstraps_by_their_numbers_of_draws(found):
    assert list(zip(found.bootstrap, found.draws.tolist(), strict=True)) == [
        ("sample", [1, 20]),
        ("sample", [1, 100]),
        ("user", [20, 1]),
        ("user", [100, 1]),
        ("user-constrained", [1, 20]),
        ("user-constrained", [1, 100]),
        ("joint", [20, 30]),
        ("joint", [100, 30]),
        ("joint", [30, 20]),
        ("joint", [30, 100]),
        ("prediction", [3000, 1]),
    ]
    assert found.covered.shape == found.widths.shape == (6, 11)
    assert ((found.covered >= 0) & (found.covered <= 1)).all()


def test_the_orderings_of_the_paper_hold_on_a_simulated_pool(found):
    share, width = found.coverage, found.width
    constrained, sample = row(found, "user-constrained", 1, 100), row(found, "sample", 1, 100)
    user, joint = row(found, "user", 100, 1), row(found, "joint", 100, 30)
    assert share[constrained] <= share[sample] < share[user] <= share[joint]  # observations 1, 2 and 3
    assert width[constrained] < width[sample] < width[user] < width[joint]
    assert abs(share[row(found, "joint", 30, 100)] - share[joint]) < 0.05  # observation 4


def test_a_band_made_to_predict_covers_and_is_narrower_than_the_joint_bootstrap(found):
    # Six systems: the standard error of a mean coverage is about two points.
    ours, joint = row(found, "prediction", 3000, 1), row(found, "joint", 100, 30)
    assert found.coverage[ours] > 0.9
    assert found.width[ours] < 0.85 * found.width[joint]


def test_conjecture_14_holds_and_is_only_claimed_where_it_can_be(found, pool):
    assert found.conjecture.holds
    assert found.conjecture.share == 1
    assert found.conjecture.widths[0] == pytest.approx(found.width[row(found, "user-constrained", 1, 100)])
    alone = coverage(pool[:1], bootstraps=["user"], n_resamples=10, points=5)
    assert alone.conjecture is None
    assert np.isnan(alone.standard_error).all()


def test_figure_2_has_a_line_for_each_bootstrap_and_two_for_the_joint_one(found):
    lines = found.lines()
    assert list(lines) == ["sample", "user", "user-constrained", "joint, S = 30", "joint, U = 30", "prediction"]
    assert found.draws[lines["joint, U = 30"]].tolist() == [[30, 20], [30, 100]]
    ax = found.plot()
    drawn = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_allclose(drawn["joint, U = 30"].get_xdata(), [20, 100])
    np.testing.assert_allclose(drawn["user"].get_ydata(), 100 * found.coverage[lines["user"]])


def test_a_share_is_that_of_a_band_made_by_hand():
    dev, test = systems(1, 30, 5, 20, rng=3)[0]
    one = coverage([(dev, test)], train_users=10, test_users=20, bootstraps=["user"], n_resamples=50, points=11, rng=4)
    order = generator((4, 0, 0)).permutation(test.users.values)
    dev_order = generator((4, 0, 1)).permutation(dev.users.values)
    curve = priori.epc(restrict(dev, dev_order[:10]), restrict(test, order[:10]), points=11)
    seed = int(generator((4, 0, 0)).integers(0, 2**62))
    band = curve.band(bootstrap="user", interval="percentile", n_resamples=50, resample="both", rng=seed)
    unseen = priori.epc(curve.dev, restrict(test, order[10:]), points=11)
    assert one.coverage[0] == band.covers(unseen.value)
    assert one.width[0] == pytest.approx(band.expected_width)


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads(pool):
    options = {"bootstraps": ["joint", "prediction"], "n_resamples": 10, "points": 5}
    first, again, other = (
        coverage(pool[:1], threads=threads, rng=seed, **options) for threads, seed in ((1, 1), (2, 1), (1, 2))
    )
    np.testing.assert_array_equal(first.widths, again.widths)
    assert not np.array_equal(first.widths, other.widths)


def test_sets_with_the_same_users_are_split_alike():
    dev, test = (population(30, 5, 20, prefix="u", rng=seed) for seed in (1, 2))
    found = coverage([(dev, test)], train_users=10, test_users=20, bootstraps=["user"], n_resamples=20, points=5)
    assert found.covered.shape == (1, 1)
    with pytest.raises(InputError, match="has 30 users, and 31 are needed"):
        coverage([(dev, test)], train_users=11, test_users=20)


def test_thresholds_of_new_users_are_covered_less_by_bands_that_keep_them(pool):
    options = {"bootstraps": ["user"], "n_resamples": 100, "points": 11, "resample": "test"}
    kept, new = (coverage(pool, thresholds=which, **options).coverage[0] for which in ("kept", "new"))
    assert new < kept


def test_a_tally_counts_places_or_whole_curves():
    tally = CoverageTally()
    lower, upper = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.4, 0.6, 0.8])
    truth = np.array([0.1, 0.3, 0.7, 0.8])  # on an edge is inside
    for whole in (False, True):
        tally.cover(("band", whole), lower, upper, truth, whole=whole)
        tally.cover(("band", whole), lower, upper, lower, whole=whole)
    tally.cover("number", 0.1, 0.3, 0.2)
    assert [[share for share, _ in pairs] for pairs in tally.repeats.values()] == [[0.75, 1.0], [0.0, 1.0], [1.0]]
    assert all(width == pytest.approx(0.25) for _, width in tally.repeats["band", True])
    np.testing.assert_allclose(standard_error(np.array([[0.0, 1.0], [1.0, 1.0]])), [0.5, 0.0])


def test_curves_are_made_with_the_options_given(pool):
    options = {"bootstraps": ["user"], "n_resamples": 10}
    far = coverage(pool[:1], measure="far", alpha=["0.5"], **options)
    both = coverage(pool[:1], alpha=["0.5"], **options)
    assert far.width[0] != both.width[0]
    with pytest.raises(TypeError, match="unexpected keyword argument 'point'"):
        coverage(pool[:1], point=5)


# -- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstraps": ["user", "jackknife"]}, "unknown bootstrap 'jackknife'"),
        ({"bootstraps": []}, "at least one bootstrap"),
        ({"train_users": 1}, "2 users each, not 1"),
        ({"n_resamples": 0}, "whole numbers from 1 up"),
        ({"repeats": 0}, "one repeat"),
        ({"thresholds": "mine"}, "choose one of: kept, new"),
        ({"resample": "dev"}, "unknown set to resample"),
        ({"confidence_level": 95}, "95 % is 0.95"),
    ],
)
def test_options_that_cannot_be_are_said(pool, options, message):
    with pytest.raises(OptionError, match=message):
        coverage(pool, **options)


def test_systems_that_cannot_be_split_are_said(pool):
    with pytest.raises(OptionError, match="at least one system"):
        coverage([])
    with pytest.raises(InputError, match="has 124 users, and 150 are needed"):
        coverage(pool, train_users=50, test_users=100)
    without = Scores.from_arrays([0.0, 1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="read a user column"):
        coverage([(pool[0][0], without)])
    with pytest.raises(InputError, match="pair of Scores"):
        coverage([(pool[0][0],)])


# -- some users only ---------------------------------------------------------------------------------------------


def test_restricting_keeps_the_trials_of_some_users_and_nothing_else():
    scores = population(6, 3, 4, crossed=True, rng=1)
    some = restrict(scores, ["u2", "u5"])
    assert some.n_users == 2
    names = some.users.values
    assert set(names[some.negative.user]) == set(names[some.positive.user]) == {"u2", "u5"}
    for kept, whole in ((some.negative, scores.negative), (some.positive, scores.positive)):
        chosen = np.isin(scores.users.values[whole.user], ["u2", "u5"])
        np.testing.assert_array_equal(kept.score, whole.score[chosen])
        np.testing.assert_array_equal(kept.probe_user, whole.probe_user[chosen])


def test_users_may_be_numbers_and_must_be_there_with_both_classes():
    scores = Scores.from_predictions([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], user=[1, 1, 2, 3])
    assert len(restrict(scores, ["1"])) == len(restrict(scores, [1])) == 2
    with pytest.raises(InputError, match="no user is called"):
        restrict(scores, [4])
    with pytest.raises(InputError, match="no positive trial"):
        restrict(scores, [2])
    with pytest.raises(InputError, match="not known"):
        restrict(Scores.from_arrays([0.0], [1.0]), ["a"])


def test_a_pool_has_systems_of_different_quality_with_users_of_their_own():
    pool = systems(3, 20, 5, 20, equal_error_rates=(0.02, 0.3), rng=(1, 2))
    rates = [float(priori.a_posteriori_eer(test)) for _, test in pool]
    assert rates[0] < rates[1] < rates[2]
    dev, test = pool[0]
    assert not set(dev.users.values) & set(test.users.values)
    with pytest.raises(OptionError, match="at least one system"):
        systems(0)
