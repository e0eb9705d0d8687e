"""Limits that a rate keeps: on development data exactly, and in the population by the binomial distribution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import priori
from priori import OptionError, Scores
from priori.decisions.constraints import Constraint, _most_errors, _worth
from priori.decisions.criteria import BreakEven, Target, get_criterion
from priori.scores.influence import rate_spreads
from priori.sklearn import AprioriScorer
from priori.studies.evaluation.settings import Settings
from priori.testing import assert_rate
from validation.coverage.simulation import population

LIMITS = [Fraction(0), Fraction(1, 1000), Fraction(1, 20), Fraction(1, 2), Fraction(1)]


@given(
    trials=st.integers(1, 400),
    limit=st.fractions(0, 1, max_denominator=1000),
    level=st.sampled_from([0.9, 0.95, 0.999]),
)
@settings(max_examples=100)
def test_the_most_errors_are_those_of_clopper_and_pearson(trials: int, limit: Fraction, level: float) -> None:
    errors = _most_errors(limit, trials, float(trials), level)
    # The upper end of a two-sided interval is the one-sided limit at half its error.
    kept = [
        k
        for k in (errors - 1, errors, errors + 1)
        if 0 <= k <= trials
        and stats.binomtest(k, trials).proportion_ci(2 * level - 1).high <= float(limit) + 1e-12 * (limit < 1)
    ]
    assert max(kept, default=-1) == errors


def test_a_tenth_of_the_trials_says_as_much_as_they_do_alone() -> None:
    for errors_seen in (0, 3):
        alone = stats.binomtest(errors_seen, 300).proportion_ci(0.9).high
        limit = Fraction(str(round(alone + 1e-6, 7)))
        assert _most_errors(limit, 3000, 300.0, 0.95) in range(10 * errors_seen, 10 * errors_seen + 10)


@pytest.mark.parametrize("name", ["at-most-far:0.95", "at-most-frr:0.95", "at-least-tpr:0.95"])
def test_the_safe_threshold_allows_so_many_errors_and_no_more(name: str) -> None:
    rng = np.random.default_rng(3)
    scores = Scores.from_arrays(rng.normal(size=900), rng.normal(2, 1, size=700))
    for limit in LIMITS:
        alpha = 1 - limit if "least" in name else limit
        choice = get_criterion(name).choose(scores, [alpha])
        fp, fn = int(choice.outcomes.fp[0]), int(choice.outcomes.fn[0])
        errors, trials = (fp, 900) if "far" in name else (fn, 700)
        most = max(
            (k for k in range(trials + 1) if limit == 1 or stats.binom.cdf(k, trials, float(limit)) <= 0.05), default=-1
        )
        assert errors <= max(most, 0)
        if most < 0:  # nothing will do: no later trial can be an error
            assert choice.threshold[0] == (np.inf if "far" in name else -np.inf)
        else:  # one error more of the kind would be the next candidate
            bounded = np.sort(scores.negatives)[::-1] if "far" in name else np.sort(scores.positives)
            beyond = bounded[most] if most < trials else (-np.inf if "far" in name else np.inf)
            other = scores.positives if "far" in name else scores.negatives
            between = sorted([beyond, float(choice.threshold[0])])
            assert not ((other > between[0]) & (other < between[1])).any()


def test_the_rate_of_later_trials_keeps_the_limit() -> None:
    """A small check; the measured guarantee is in docs/coverage.md."""
    rng = np.random.default_rng(1)
    kept = {"at-most-far": 0, "at-most-far:0.9": 0}
    for _ in range(300):
        scores = Scores.from_arrays(rng.uniform(size=400), rng.uniform(0.2, 1.2, size=2000))
        for name in kept:
            threshold = priori.choose_threshold(scores, criterion=name, alpha=0.05)
            kept[name] += threshold >= 0.95  # the rate of later trials is 1 - threshold
    assert 270 - 2 * 5.2 <= kept["at-most-far:0.9"] <= 295  # 90 % of them, or a little more
    assert kept["at-most-far"] < 190


def test_users_count_for_less_than_their_trials() -> None:
    scores = population(40, 5, 30, user_effect_sd=0.8, rng=4)
    alone = Scores.from_arrays(scores.negative.score, scores.positive.score)
    by_user, by_trial = (
        priori.choose_threshold(one, criterion="at-most-far:0.95", alpha=0.05) for one in (scores, alone)
    )
    assert by_user > by_trial > priori.choose_threshold(scores, criterion="at-most-far", alpha=0.05)
    # By hand: the design effect of the users at the threshold of at-most-far, and Student's quantile (Korn, Graubard).
    at = priori.choose_threshold(scores, criterion="at-most-far", alpha=0.05)
    wrong = scores.negative.score > at
    sums = np.bincount(scores.negative.user, wrong - wrong.mean(), 40)
    effect = 40 / 39 * sums @ sums / (wrong.size * wrong.mean() * (1 - wrong.mean()))
    freedom = min(2 * (sums @ sums) ** 2 / ((sums**4).sum() - (sums @ sums) ** 2 / 40), 39)
    own = np.bincount(scores.negative.user, wrong, 40)
    unseen = 1 + 3 * (own @ own) / own.sum() ** 2  # three more users who err
    effective = wrong.size / effect / unseen * (stats.norm.ppf(0.95) / stats.t.ppf(0.95, freedom)) ** 2
    rates = np.arange(wrong.size + 1) / wrong.size
    upper = stats.beta.ppf(0.95, rates * effective + 1, np.maximum(effective * (1 - rates), 1e-9))
    errors = int((scores.negative.score > by_user).sum())
    most = int(np.flatnonzero(upper <= 0.05)[-1])
    assert errors <= most < errors + 5  # no positive lies between, or it would be accepted
    assert not ((scores.positives < by_user) & (scores.positives > np.sort(scores.negatives)[::-1][most])).any()


@pytest.mark.parametrize("criterion", ["at-most-far", "at-most-far:0.95", "max:f1"])
def test_thresholds_chosen_again_are_those_of_the_criterion(criterion: str) -> None:
    rng = np.random.default_rng(8)
    dev, test = (
        Scores.from_arrays(rng.normal(size=60).round(1), rng.normal(1.5, 1, size=40).round(1)) for _ in range(2)
    )
    curve = priori.epc(dev, test, criterion=criterion, alpha=[0.1, 0.3])
    again = curve.band(bootstrap="sample", resample="both", interval="percentile", n_resamples=1000, keep=True)
    expected = []
    for _ in range(400):
        drawn = [
            Scores.from_arrays(*(rng.choice(one, one.size) for one in (part.negatives, part.positives)))
            for part in (dev, test)
        ]
        expected.append(priori.epc(*drawn, criterion=criterion, alpha=[0.1, 0.3]).value)
    for mine, theirs in zip(again.replicates.T, np.array(expected).T, strict=True):
        assert stats.ks_2samp(mine, theirs).pvalue > 1e-3


def test_names_that_people_type() -> None:
    for typed, name in {
        "target-fpr": "target-far",
        "at_most_FNR": "at-most-frr",
        "at-most-miss-rate:0.9": "at-most-frr:0.9",
        "at-least-ppv": "at-least-precision",
        "at-least-recall": "at-least-recall",
        "target-v2": "target-v2",
    }.items():
        assert get_criterion(typed).name == name
    limited = get_criterion("at-least-recall")
    assert isinstance(limited, Constraint)
    assert (limited.aimed_at.name, limited.other.name) == ("recall", "precision")
    frr = get_criterion("target-frr")
    assert isinstance(frr, Target)
    assert (frr.aimed_at.name, frr.v1.name) == ("frr", "far")
    assert get_criterion(priori.Measure.custom(lambda o: o.fp + o.fn, name="errors")).name == "min:errors"
    assert isinstance(get_criterion("bep"), BreakEven)


@pytest.mark.parametrize(
    ("criterion", "task", "words"),
    [
        ("at-most-v1", "diagnosis", "sensitivity is better when it is greater; write at-least-v1"),
        ("at-least-far", "authentication", "far is better when it is smaller; write at-most-far"),
        ("at-least-precision:0.9", "retrieval", "needs rates of one class each"),
        ("at-most-far:95", "authentication", "must lie between 0.5 and 1, not 95"),
        ("at-most-far:x", "authentication", "must lie between 0.5 and 1, not x"),
        ("at-most-speed", "authentication", "unknown rate 'speed'"),
        ("max:hter", "authentication", "best where it is minimal; write min:hter"),
        ("target-far:0.9", "authentication", "unknown criterion"),
    ],
)
def test_what_cannot_be_meant_is_refused(criterion: str, task: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        get_criterion(criterion, task)


def test_a_safe_limit_says_where_users_are_few_or_those_who_try_more_err_more() -> None:
    rng = np.random.default_rng(1)
    sizes = np.round(20 * np.exp(rng.normal(0, 1, 62))).astype(int) + 1
    user = np.repeat(np.arange(62), sizes)
    heavy = Scores.from_arrays(
        rng.normal(0.8 * np.log(sizes / 20), 0.2)[user] + rng.normal(0, 1, user.size),
        rng.normal(4, 1, 620),
        negative_user=user,
        positive_user=np.repeat(np.arange(62), 10),
    )
    cases = (
        (population(62, 9, 96, separation=4.0, user_effect_sd=0.2, rng=1), ""),
        (population(20, 9, 96, separation=4.0, user_effect_sd=0.2, rng=1), "who count for 20: too few"),
        (heavy, "those who try more err more"),
    )
    for dev, wanted in cases:
        curve = priori.epc(dev, dev, criterion="at-most-far:0.95", alpha=[0.1])
        (found,) = [line for line in curve.warnings if getattr(line, "code", "") == "limit-by-users"] or [""]
        assert np.isfinite(curve.threshold).all()
        assert wanted in found
        assert bool(wanted) is bool(found)
    plain = priori.epc(heavy, heavy, criterion="at-most-far", alpha=[0.1])
    assert "limit-by-users" not in {getattr(line, "code", "") for line in plain.warnings}


def test_a_limit_that_nothing_keeps_is_said() -> None:
    scores = Scores.from_arrays([0.0, 2.0, 3.0], [1.0, 2.5, -np.inf])
    curve = priori.epc(scores, scores, criterion="at-least-precision", alpha=[0.9], task="retrieval")
    assert "limit-not-kept" in {getattr(caution, "code", "") for caution in curve.warnings}
    assert curve.dev_v1[0] == 0.5  # the best that can be had: 2 of 4 accepted, or 1 of 2
    assert curve.dev_v2[0] == pytest.approx(2 / 3)
    rejected = priori.epc(scores, scores, criterion="at-most-frr", alpha=[0.1])
    assert rejected.dev_v2[0] == pytest.approx(1 / 3)  # -inf is never accepted


def test_costs_give_alpha_and_measure() -> None:
    rng = np.random.default_rng(2)
    dev, test = (Scores.from_arrays(rng.normal(size=300), rng.normal(2, 1, size=90)) for _ in range(2))
    curve = priori.epc(dev, test, costs="fn=100,fp=1", prior="0.01")
    same = priori.epc(dev, test, alpha="costs:100,1,0.01", measure="cost:fn=100,fp=1,prior=0.01")
    assert curve.fractions == same.fractions == (Fraction(99, 199),)
    thresholds = np.concatenate([[-np.inf], np.unique(np.concatenate([dev.negatives, dev.positives]))])
    by_hand = [
        0.99 * (dev.negatives > t).mean() + 0.01 * 100 * (dev.positives <= t).mean() for t in thresholds.tolist()
    ]
    far, frr = (test.negatives > curve.threshold[0]).mean(), (test.positives <= curve.threshold[0]).mean()
    assert curve.value[0] == pytest.approx(0.99 * far + 0.01 * 100 * frr)
    chosen = 0.99 * curve.dev_v1[0] + curve.dev_v2[0]
    assert chosen == pytest.approx(min(by_hand))
    for costs in ({"fn": 100, "fp": 1}, (100, 1), "fp=1, fn=100"):
        assert priori.choose_threshold(dev, costs=costs, prior=0.01) == curve.threshold[0]
    limited = priori.epc(dev, test, criterion="at-most-far", alpha=0.05, costs="fn=100,fp=1", prior=0.01)
    assert limited.fractions == (Fraction(1, 20),)
    assert limited.measure is curve.measure
    for settings_, words in (
        ({"costs": "fn=1,fp=1"}, "add prior, such as"),
        ({"costs": "fn=1", "prior": 0.1}, "write fn=100,fp=1"),
        ({"prior": 0.1}, "does not depend on the share of"),
        ({"alpha": "costs:1,2"}, "COST_FN,COST_FP,PRIOR"),
    ):
        with pytest.raises(OptionError, match=words):
            priori.epc(dev, test, **settings_)


def test_a_prior_shifts_the_band_too() -> None:
    rng = np.random.default_rng(5)
    dev, test = (Scores.from_arrays(rng.normal(size=300), rng.normal(2, 1, size=90)) for _ in range(2))
    shifted = priori.epc(dev, test, alpha=[0.5], measure="precision", prior="0.01")
    far, frr = float(shifted.v1[0]), float(shifted.v2[0])
    assert shifted.value[0] == pytest.approx(0.01 * (1 - frr) / (0.01 * (1 - frr) + 0.99 * far))
    band = shifted.band(bootstrap="sample", n_resamples=500, interval="percentile", keep=True)
    draws = [(rng.binomial(300, far) / 300, rng.binomial(90, frr) / 90) for _ in range(4000)]
    by_hand = [0.01 * (1 - miss) / (0.01 * (1 - miss) + 0.99 * alarm) for alarm, miss in draws]
    assert [band.lower[0], band.upper[0]] == pytest.approx(np.quantile(by_hand, [0.025, 0.975]), rel=0.1)


def test_two_users_have_one_degree_of_freedom() -> None:
    rng = np.random.default_rng(4)
    user = np.repeat(["a", "b"], 4000)
    scores = priori.Scores.from_arrays(
        rng.normal(size=8000) + 0.3 * (user == "a"),
        rng.normal(2, 1, 10),
        negative_user=user,
        positive_user=np.repeat(["a", "b"], 5),
    )
    spread = rate_spreads(scores.negative, np.array([1.0]), "crossed", above=True)
    worth = [float(_worth(8000, spread, level)[0]) for level in (0.6, 0.7)]
    expected = [(stats.norm.ppf(level) / stats.t.ppf(level, df=1)) ** 2 for level in (0.6, 0.7)]
    assert worth[1] / worth[0] == pytest.approx(expected[1] / expected[0])
    assert _worth(8000, spread, 0.95).tolist() == [1.0]  # never fewer than one


@pytest.mark.parametrize("criterion", ["at-most-far", "at-most-far:0.95", "at-least-recall", "target-frr"])
def test_a_limit_or_a_target_has_no_default(criterion: str) -> None:
    rng = np.random.default_rng(3)
    scores = Scores.from_arrays(rng.normal(size=30), rng.normal(2, 1, 30))
    curves = [priori.epc(scores, scores, criterion=criterion, points=5, name=name) for name in "AB"]  # along all limits
    calls = [
        lambda: priori.choose_threshold(scores, criterion=criterion),
        lambda: priori.rank(curves, n_resamples=100),
        lambda: priori.pad(scores, scores, criterion=criterion),
        lambda: assert_rate(scores, scores, maximum=0.9, criterion=criterion),
        lambda: Settings(criterion=criterion),
        lambda: AprioriScorer(criterion=criterion),
    ]
    for call in calls:
        with pytest.raises(OptionError, match=f"{criterion} was given without the .* say which, such as alpha=0.01"):
            call()
    assert priori.choose_threshold(scores) == priori.choose_threshold(scores, alpha=0.5)


def test_a_limit_that_only_refusing_everyone_keeps_is_said() -> None:
    rng = np.random.default_rng(4)
    scores = Scores.from_arrays(rng.normal(size=30), rng.normal(2, 1, 30))
    for criterion, every in (("at-most-far:0.95", "rejecting"), ("at-most-frr:0.95", "accepting")):
        curve = priori.epc(scores, scores, criterion=criterion, alpha=[0.01])
        assert np.isinf(curve.threshold).all()
        (line,) = [line for line in curve.warnings if getattr(line, "code", "") == "limit-not-kept"]
        assert line.startswith(f"only {every} every trial keeps")
