"""Costs of log-likelihood ratios: their deviations against a bootstrap written out, by trials, by users, by the fit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

import priori
from priori import Scores
from priori.scores.derived import restrict

USERS = 40


@cache
def two_sets() -> tuple[Scores, Scores]:
    """Development and test scores of forty users each, whose trials are alike."""
    rng = np.random.default_rng(3)
    sets = []
    for prefix in "dt":
        user = np.repeat(np.arange(USERS), 12)
        label = np.tile([0, 0, 1], USERS * 4)
        shift = rng.normal(0, 0.6, (2, USERS))
        score = rng.normal(2.0 * label, 0.8) + shift[label, user]
        sets.append(Scores.from_predictions(label, score, user=[f"{prefix}{code}" for code in user]))
    return sets[0], sets[1]


def drawn(scores: Scores, rng: np.random.Generator, by_user: bool) -> Scores:
    """Draw a set as large: users with all their trials, or trials of each class."""
    trials = scores.negative, scores.positive
    if not by_user:
        negative, positive = (each.score[rng.integers(0, len(each), len(each))] for each in trials)
        return Scores.from_arrays(negative, positive)
    times = np.bincount(rng.integers(0, USERS, USERS), minlength=USERS)
    negative, positive = (np.repeat(each.score, times[each.user]) for each in trials)
    return Scores.from_arrays(negative, positive)


@pytest.mark.parametrize("dependence", ["none", "user"])
def test_deviations_are_those_of_a_bootstrap(dependence: str) -> None:
    dev, test = two_sets()
    costs = priori.llr_costs(dev, test, calibrate="logistic", dependence=dependence)  # type: ignore[arg-type]
    fitted, rng = priori.calibrate(dev), np.random.default_rng(0)
    values = []
    for _ in range(300):
        again = fitted.apply(drawn(test, rng, dependence == "user"))
        values.append(priori.cllr(again))
    assert costs.sd[0] == pytest.approx(np.std(values), rel=0.12)
    assert costs.value[2] == pytest.approx(costs.value[0] - costs.value[1])
    assert np.isnan([costs.sd[1:], costs.lower[1:], costs.upper[1:]]).all()  # fitted to the test set


def test_two_systems_on_the_same_trials() -> None:
    dev, test = two_sets()
    rng = np.random.default_rng(4)
    noisy = [
        replace(
            scores,
            **{
                name: replace(trials, score=trials.score + rng.normal(0, 0.5, len(trials)))
                for name, trials in (("negative", scores.negative), ("positive", scores.positive))
            },
        )
        for scores in (dev, test)
    ]
    a, b = (
        priori.llr_costs(*sets, calibrate="logistic", name=name) for sets, name in ((noisy, "A"), ((dev, test), "B"))
    )
    result = priori.compare_llr_costs(a, b)
    pairs = []
    maps = [priori.calibrate(sets[0]) for sets in (noisy, (dev, test))]
    for _ in range(300):
        times = np.bincount(rng.integers(0, USERS, USERS), minlength=USERS)
        values = []
        for fitted, scores in zip(maps, (noisy[1], test), strict=True):
            parts = (np.repeat(each.score, times[each.user]) for each in (scores.negative, scores.positive))
            values.append(priori.cllr(fitted.apply(Scores.from_arrays(*parts))))
        pairs.append(values[0] - values[1])
    assert result.difference[0] == pytest.approx(a.value[0] - b.value[0])
    assert result.sd[0] == pytest.approx(np.std(pairs), rel=0.12)
    assert result.sd[0] < a.sd[0]
    assert result.p_value[0] < 0.05
    same = priori.compare_llr_costs(a, a)
    assert same.p_value.tolist() == [1.0] * 3


def test_a_comparison_of_few_users_says_so() -> None:
    whole = two_sets()[1]
    few = restrict(whole, [f"t{code}" for code in range(39)])
    for scores, said in ((few, True), (whole, False)):
        costs = priori.llr_costs(scores, scores)
        found = priori.compare_llr_costs(costs, replace(costs, name="another"))
        assert any(line.startswith("39 users: tests of minima") for line in found.warnings) is said


def test_what_cannot_be() -> None:
    dev, test = two_sets()
    a = priori.llr_costs(dev, test)
    with pytest.raises(priori.OptionError, match="different options"):
        priori.compare_llr_costs(a, priori.llr_costs(dev, test, confidence_level=0.9))
    endless = priori.llr_costs(dev, Scores.from_arrays([-1.0, 0.0, np.inf], [1.0, 2.0, 0.5]))
    assert (endless.value[0], endless.lower[0], endless.upper[0]) == (np.inf, 0.0, np.inf)
    assert "infinite-cost" in {getattr(caution, "code", "") for caution in endless.warnings}
    finite = priori.llr_costs(dev, Scores.from_arrays([-1.0, 0.0, 0.1], [1.0, 2.0, 0.5]))
    assert priori.compare_llr_costs(endless, finite).p_value[0] == 1.0


def test_theory_has_no_new_thresholds_to_choose() -> None:
    dev, test = two_sets()
    a, b = (priori.epc(dev, test, criterion="bayes", measure="wer", alpha=[0.3, 0.7], name=name) for name in "AB")
    kept, both = (a.band(n_resamples=200, resample=resample) for resample in ("test", "both"))
    np.testing.assert_array_equal(kept.upper, both.upper)
    assert both.settings["resample"] == "test"
    assert priori.compare(a, b, n_resamples=200).settings["claim"] == "deployed"


def test_calibration_is_fitted_again_in_every_replicate() -> None:
    """The replicates of both sets vary as a bootstrap written out, the fit included; the thresholds kept vary less."""
    rng = np.random.default_rng(5)
    dev = Scores.from_arrays(rng.normal(0, 1, 15), rng.normal(1.5, 1, 15))
    test = Scores.from_arrays(rng.normal(0, 1, 4000), rng.normal(1.5, 1, 4000))
    curve = priori.epc(dev, test, criterion="bayes:logistic", measure="far", alpha=[0.8])
    both = curve.band(bootstrap="sample", n_resamples=400, resample="both", interval="percentile", keep=True)
    values = []
    for _ in range(400):
        again = Scores.from_arrays(*(rng.choice(each, each.size) for each in (dev.negatives, dev.positives)))
        values.append(priori.epc(again, test, criterion="bayes:logistic", measure="far", alpha=[0.8]).value[0])
    assert both.replicates is not None
    assert both.replicates.std() == pytest.approx(np.std(values), rel=0.2)
    assert both.replicates.mean() == pytest.approx(np.mean(values), abs=0.2 * np.std(values))


def test_probabilities_are_made_log_likelihood_ratios_by_the_prior_they_were_learnt_with() -> None:
    rng = np.random.default_rng(8)
    label = np.repeat([0, 1], [2700, 300])
    score = rng.normal(2.0 * label)
    # Bayes' rule for two normal classes: the true probability, and the true log-likelihood ratio 2 x - 2.
    density = np.array([0.9 * stats.norm.pdf(score), 0.1 * stats.norm.pdf(score, 2)])
    probability = density[1] / density.sum(axis=0)
    given = Scores.from_predictions(label, probability)
    truth = Scores.from_predictions(label, 2 * score - 2)
    found, expected = priori.llr_costs(given, given, given="probabilities"), priori.llr_costs(truth, truth)
    for name in ("value", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)
    logistic = [priori.llr_costs(given, given, given="probabilities", calibrate="logistic")]
    logistic.append(priori.llr_costs(truth, truth, calibrate="logistic"))
    np.testing.assert_allclose(logistic[0].upper, logistic[1].upper, rtol=1e-6)
    # Taken for log-likelihood ratios they cost far more, and that is said.
    taken = priori.llr_costs(given, given)
    assert taken.value[0] > found.value[0] + 0.3
    assert [caution.code for caution in taken.warnings] == ["not-likelihood-ratios"]
    assert not found.warnings
    assert not priori.llr_costs(given, given, calibrate="logistic").warnings


def test_probabilities_of_0_and_1_are_infinite_and_others_are_refused() -> None:
    sure = Scores.from_arrays([0.0, 0.25, 0.5], [0.5, 0.75, 1.0])
    assert np.isfinite(priori.llr_costs(sure, sure, given="probabilities").value[0])
    wrong = Scores.from_arrays([0.0, 0.25, 1.0], [0.5, 0.75, 1.0])
    assert priori.llr_costs(sure, wrong, given="probabilities").value[0] == np.inf
    beyond = Scores.from_arrays([0.0, 0.25, 0.5], [0.5, 0.75, 1.5])
    with pytest.raises(priori.InputError, match=r"and 1 scores do not, such as 1\.5; leave out given="):
        priori.llr_costs(sure, beyond, given="probabilities")
    with pytest.raises(priori.OptionError, match="choose one of: llr, probabilities"):
        priori.llr_costs(sure, sure, given="odds")
