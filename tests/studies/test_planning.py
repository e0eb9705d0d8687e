"""Planning: the promise (width, power) against simulated data of the planned size."""

import numpy as np
import pytest

from priori import InputError, OptionError, Scores, design_effect, plan, ztest
from priori.studies.design_effect import paired_design_effect
from priori.uncertainty.ztest_normals import Rates, Setting, ZComparison, weights_of

Z95 = 1.959963984540054


def _rates(rng, runs, planned, far, frr):
    return Rates(
        rng.binomial(planned.negatives, far, runs) / planned.negatives,
        rng.binomial(planned.positives, frr, runs) / planned.positives,
        np.full(runs, planned.negatives),
        np.full(runs, planned.positives),
    )


def _population(rng, users, per_user, shift=2.5, effect=0.6, noise=None):
    """Scores whose errors come in users; ``noise`` adds what a second system sees differently."""
    user = np.repeat(np.arange(users), sum(per_user))
    label = np.tile(np.repeat([0, 1], per_user), users)
    score = rng.normal(shift * label) + rng.normal(0, effect, users)[user]
    return [
        Scores.from_predictions(label, score + rng.normal(0, extra, score.size), user=user)
        for extra in ([0.0] if noise is None else noise)
    ]


def test_width_is_the_formula_turned_round():
    found = plan(width=0.0153, far=0.0115, frr=0.025, negatives_per_positive=280)
    # Table 3.3: 400 positives and 112000 negatives give 1.531 %.
    assert found.positives == 401
    assert ztest(0.0115, 0.025, found.negatives, found.positives).a.hter.width <= 0.0153
    assert ztest(0.0115, 0.025, found.negatives - 280, found.positives - 1).a.hter.width > 0.0153
    assert found.width == pytest.approx(ztest(0.0115, 0.025, found.negatives, found.positives).a.hter.width)


def test_width_kept_on_simulated_sets():
    found = plan(width=0.02, far=0.05, frr=0.08, negatives_per_positive=5)
    value = _rates(np.random.default_rng(1), 20_000, found, 0.05, 0.08).value(weights_of("hter"))
    assert 2 * Z95 * value.std() == pytest.approx(0.02, rel=0.03)


@pytest.mark.parametrize(("alternative", "power"), [("two-sided", 0.8), ("two-sided", 0.95), ("less", 0.9)])
def test_power_kept_on_simulated_sets(alternative, power):
    rng = np.random.default_rng(2)
    rates = {"far": 0.05, "frr": 0.08, "far_b": 0.06, "frr_b": 0.10}
    found = plan(difference=0.015, power=power, negatives_per_positive=4, alternative=alternative, **rates)
    a = _rates(rng, 10_000, found, 0.05, 0.08)
    b = _rates(rng, 10_000, found, 0.06, 0.10)
    tests = ZComparison.of(a, b, Setting.of("hter", None, 0.95, alternative), None)
    assert np.mean(tests.independent.p_value < 0.05) == pytest.approx(power, abs=0.02)
    assert found.power == pytest.approx(power, abs=0.005)
    assert found.assumptions["test"] == "independent"


def test_width_kept_when_trials_come_in_users():
    rng = np.random.default_rng(3)
    (pilot,) = _population(rng, 1500, (20, 8))
    found = plan(width=0.04, pilot=pilot, threshold=1.25)
    assert found.assumptions["design_effect_far"] > 1.3
    assert found.negatives == 20 * found.users
    values = []
    for _ in range(400):
        (scores,) = _population(rng, found.users, (20, 8))
        values.append(((scores.negatives > 1.25).mean() + (scores.positives <= 1.25).mean()) / 2)
    assert 2 * Z95 * np.std(values) == pytest.approx(0.04, rel=0.1)


def test_more_trials_per_user_are_worth_less():
    rng = np.random.default_rng(4)
    (pilot,) = _population(rng, 1500, (10, 10))
    found = plan(width=0.04, pilot=pilot, threshold=1.25, negatives_per_user=60, positives_per_user=60)
    same = plan(width=0.04, pilot=pilot, threshold=1.25)
    assert found.users < same.users
    assert found.trials > same.trials
    values = []
    for _ in range(300):
        (scores,) = _population(rng, found.users, (60, 60))
        values.append(((scores.negatives > 1.25).mean() + (scores.positives <= 1.25).mean()) / 2)
    assert 2 * Z95 * np.std(values) == pytest.approx(0.04, rel=0.12)


def test_power_kept_for_two_systems_on_the_same_users():
    rng = np.random.default_rng(5)
    a, b = _population(rng, 1500, (10, 10), noise=(0.3, 0.8))
    weights = weights_of("hter")
    truth = paired_design_effect(a, 1.25, b, 1.25)
    difference = abs(truth.negatives.rate + truth.positives.rate) / 2
    options = {"difference": difference, "pilot": a, "threshold": 1.25, "pilot_b": b, "threshold_b": 1.25}
    found = plan(test="dependent", **options)
    rejected = []
    for _ in range(400):
        one, other = _population(rng, found.users, (10, 10), noise=(0.3, 0.8))
        effect = paired_design_effect(one, 1.25, other, 1.25)
        mean = (effect.negatives.rate + effect.positives.rate) / 2
        rejected.append(abs(mean) > Z95 * np.sqrt(effect.variance(weights, effect.users)))
    assert np.mean(rejected) == pytest.approx(0.8, abs=0.08)
    # The verdict wants the independent test too, which cannot use that errors are shared: more users.
    verdict = plan(**options)
    assert verdict.users > found.users
    assert verdict.assumptions["test"] == "independent"


def test_design_effect_is_one_without_user_effects():
    (scores,) = _population(np.random.default_rng(6), 2000, (15, 5), effect=0.0)
    found = design_effect(scores, 1.25)
    assert found.negatives.design_effect == pytest.approx(1, abs=0.1)
    assert found.positives.intraclass == pytest.approx(0, abs=0.02)


def test_design_effect_when_users_repeat_themselves():
    # Every trial of a user twice: the variance doubles, and errors within a pair are the same.
    rng = np.random.default_rng(7)
    negatives, positives = (rng.random(500) < rate for rate in (0.2, 0.3))
    user = np.repeat(np.arange(500), 2)
    scores = Scores.from_arrays(
        np.repeat(negatives, 2), 1.0 - np.repeat(positives, 2), negative_user=user, positive_user=user
    )
    found = design_effect(scores, 0.5)
    assert found.negatives.design_effect == pytest.approx(2 * 500 / 499)
    assert found.negatives.intraclass == pytest.approx(1, abs=0.01)
    assert found.positives.rate == pytest.approx(positives.mean())


def test_variance_of_a_pilot_counts_the_covariance():
    # User by user, without any formula: the variance of the mean of the users' own HTERs.
    (scores,) = _population(np.random.default_rng(8), 400, (12, 6))
    found = design_effect(scores, 1.25)
    far = np.bincount(scores.negative.user, weights=scores.negative.score > 1.25) / 12
    frr = np.bincount(scores.positive.user, weights=scores.positive.score <= 1.25) / 6
    assert found.covariance < 0  # a user with high scores is accepted more, rightly and wrongly
    expected = ((far + frr) / 2).var(ddof=1) / 400
    assert found.variance(weights_of("hter"), 400) == pytest.approx(expected, rel=1e-9)


def test_sentence_and_warnings():
    found = plan(width=0.02, far=0.001, frr=0.05, negatives_per_user=20, positives_per_user=5, intraclass=0.1)
    assert f"{found.users:,} users with {found.negatives:,} negatives" in found.sentence
    assert found.assumptions["design_effect_frr"] == pytest.approx(1.4)
    assert any("few errors" in line and "FAR" in line for line in found.warnings)
    assert any("draws users" in line for line in found.warnings)
    assert found.to_dict()["users"] == found.users
    assert plan(width=0.02, far=0.05, frr=0.05).users is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either a width or a difference"),
        ({"width": 0.1, "difference": 0.1}, "either a width or a difference"),
        ({"width": 2}, "width must lie between 0 and 1"),
        ({"difference": 0}, "difference must lie"),
        ({"difference": 0.1, "power": 0.2}, "power must lie"),
        ({"width": 0.1, "far": None}, "give the rates expected"),
        ({"width": 0.1, "negatives_per_user": 3}, "both numbers"),
        ({"width": 0.1, "intraclass": 0.1}, "both numbers"),
        ({"width": 0.1, "negatives_per_positive": 0}, "above 0"),
        ({"width": 0.1, "threshold": 0.5}, "goes with a pilot"),
        ({"width": 0.1, "negatives_per_user": 3, "positives_per_user": 3, "negatives_per_positive": 1}, "instead"),
        ({"difference": 0.1, "test": "dependent"}, "two pilots"),
        ({"difference": 0.1, "test": "paired"}, "unknown test"),
        ({"width": 0.1, "pilot": Scores.from_arrays([0, 1], [1, 2])}, "either a pilot or rates"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        plan(**{"far": 0.1, "frr": 0.1, **options})


def test_bad_input():
    with pytest.raises(InputError, match=r"give 0.05"):
        plan(width=0.1, far=5, frr=0.1)
    with pytest.raises(InputError, match="FAR has no variance"):
        plan(width=0.1, far=0, frr=0.1)
    with pytest.raises(OptionError, match="needs its threshold"):
        plan(width=0.1, pilot=Scores.from_arrays([0, 1], [1, 2]))
    with pytest.raises(InputError, match="two users"):
        plan(
            width=0.1,
            threshold=0.5,
            pilot=Scores.from_arrays([0, 1], [1, 2], negative_user=["x", "x"], positive_user=["x", "x"]),
        )
