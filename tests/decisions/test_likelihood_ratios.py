"""Log-likelihood ratios: thresholds by theory, calibration, and its rules where it has no fit."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import priori
from priori import Scores
from priori.decisions.criteria import get_criterion
from priori.decisions.likelihood_ratios import StepMap, best_map, calibrate, get_calibrator, llr_losses

finite = st.lists(st.integers(-6, 6).map(lambda number: number / 2), min_size=1, max_size=12)


def pooled(negatives: list[float], positives: list[float]) -> list[tuple[Fraction, list[float]]]:
    """Pool adjacent violators in exact fractions: the share of positives of each block, and its scores."""
    blocks: list[tuple[int, int, list[float]]] = []
    for value in sorted({*negatives, *positives}):
        blocks.append((positives.count(value), negatives.count(value) + positives.count(value), [value]))
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            (p, n, low), (q, m, high) = blocks[-2:]
            blocks[-2:] = [(p + q, n + m, low + high)]
    return [(Fraction(p, n), values) for p, n, values in blocks]


@given(negatives=oracle.score_list, positives=oracle.score_list)
def test_the_hull_is_pav(negatives: list[float], positives: list[float]) -> None:
    best = best_map(Scores.from_arrays(negatives, positives).candidates())
    for share, values in pooled(negatives, positives):
        expected = math.inf if share == 1 else -math.inf if share == 0 else math.log(share / (1 - share))
        prior = math.log(len(positives) / len(negatives))
        np.testing.assert_allclose(best.apply(np.array(values)), expected - prior, atol=1e-12)


@given(negatives=finite, positives=finite)
def test_pseudo_trials_are_trials_beyond_all_scores(negatives: list[float], positives: list[float]) -> None:
    fitted = calibrate(Scores.from_arrays(negatives, positives), method="isotonic")
    ends = [-1e9, 1e9]
    for share, values in pooled(negatives + ends, positives + ends):
        expected = math.log(share / (1 - share)) - math.log((len(positives) + 2) / (len(negatives) + 2))
        seen = np.array([value for value in values if value not in ends])
        np.testing.assert_allclose(fitted.apply(seen), np.full(seen.size, expected), atol=1e-12)


@given(negatives=finite, positives=finite, alpha=st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=60))
def test_thresholds_of_scores_decide_as_the_ratios_do(
    negatives: list[float], positives: list[float], alpha: Fraction
) -> None:
    dev = Scores.from_arrays(negatives, positives)
    for name in ("none", "isotonic"):
        rule = get_criterion(f"bayes:{name}")
        (threshold,) = rule.choose(dev, [alpha]).threshold
        seen = np.arange(-8, 8.25, 0.25)
        ratios = get_calibrator(name).fit(dev).apply(seen)
        np.testing.assert_array_equal(seen > threshold, ratios > math.log(alpha / (1 - alpha)))


def test_isotonic_calibration_chooses_what_the_development_set_does() -> None:
    """Away from the ends, where pseudo-trials count."""
    rng = np.random.default_rng(0)
    dev = Scores.from_arrays(rng.normal(0, 1, 2000), rng.normal(2, 1, 700))
    alphas = [Fraction(k, 20) for k in range(1, 20)]
    by_pav, by_wer = (get_criterion(name).choose(dev, alphas).threshold for name in ("bayes:isotonic", "wer"))
    np.testing.assert_array_equal(by_pav, by_wer)


def test_ends_accept_and_reject_all() -> None:
    dev = Scores.from_arrays([-1.0, 0.0, 2.0], [-0.5, 1.0, 3.0])
    for name in ("bayes", "bayes:logistic", "bayes:isotonic"):
        choice = get_criterion(name).choose(dev, [Fraction(0), Fraction(1)])
        assert choice.threshold.tolist() == [-math.inf, math.inf]
    assert get_criterion("bayes").choose(dev, [Fraction(1, 2)]).outcomes.tn.item() == 2  # a score of 0 is rejected


def test_logistic_is_where_the_gradient_vanishes() -> None:
    """By a grid around it, and by the odds of two values that are all there is: the map then gives their counts."""
    dev = Scores.from_arrays([0.0] * 3 + [1.0], [0.0] + [1.0] * 3)
    assert calibrate(dev).apply(np.array([0.0, 1.0])) == pytest.approx([-math.log(3), math.log(3)], abs=1e-12)
    skewed = Scores.from_arrays([0.0] * 3 + [1.0], [0.0] * 2 + [1.0] * 2)
    for prior in (0.5, 0.01):  # saturated: whatever the prior
        expected = [math.log((1 / 2) / (3 / 4)), math.log((1 / 2) / (1 / 4))]
        assert calibrate(skewed, prior=prior).apply(np.array([0.0, 1.0])) == pytest.approx(expected, abs=1e-9)


def test_a_prior_weighs_the_classes() -> None:
    rng = np.random.default_rng(1)
    negative, positive = rng.normal(0, 1, 300), rng.gamma(4, 0.5, 200)
    fitted = calibrate(Scores.from_arrays(negative, positive), prior=0.02)
    assert fitted.method == "logistic:0.02"
    best = np.array([fitted.to_dict()["slope"], fitted.to_dict()["offset"]])
    odds = math.log(0.02 / 0.98)

    def cost(slope: float, offset: float) -> float:
        accepted, rejected = (slope * each + offset + odds for each in (negative, positive))
        return 0.98 * np.logaddexp(0, accepted).mean() + 0.02 * np.logaddexp(0, -rejected).mean()

    for step in ([1e-4, 0], [-1e-4, 0], [0, 1e-4], [0, -1e-4]):
        assert cost(*best) < cost(*(best + np.array(step)))


def test_separated_classes_have_platts_targets() -> None:
    dev = Scores.from_arrays([0.0] * 8, [1.0] * 8)
    expected = math.log(9 / 10 / (1 / 10))  # (8 + 1) / (8 + 2)
    assert calibrate(dev).apply(np.array([0.0, 1.0])) == pytest.approx([-expected, expected], abs=1e-9)
    nearly = Scores.from_arrays([0.0, 1.0], [1.0 - 1e-12, 2.0])
    assert np.isfinite(calibrate(nearly).apply(np.array([0.0, 2.0]))).all()


def test_scores_that_run_the_wrong_way_are_worth_nothing() -> None:
    fitted = calibrate(Scores.from_arrays([1.0, 2.0, 3.0], [0.0, 1.0, 2.0]))
    assert fitted.apply(np.array([-5.0, np.inf])).tolist() == [0.0, 0.0]
    assert fitted.thresholds(np.array([-1.0, 0.0, 1.0])).tolist() == [-math.inf, math.inf, math.inf]


def test_infinite_scores_take_no_part_in_the_fit() -> None:
    plain = Scores.from_arrays([-1.0, 0.0, 1.0], [0.0, 1.0, 2.0])
    endless = Scores.from_arrays([-math.inf, -1.0, 0.0, 1.0], [0.0, 1.0, 2.0, math.inf])
    assert calibrate(endless).to_dict() == calibrate(plain).to_dict()
    assert calibrate(endless).apply(endless).negative.score[0] == -math.inf
    assert priori.cllr(Scores.from_arrays([-1.0, math.inf], [1.0])) == math.inf


@given(negatives=finite, positives=finite)
def test_no_rising_map_costs_less_than_pav(negatives: list[float], positives: list[float]) -> None:
    scores = Scores.from_arrays(negatives, positives)
    least = priori.a_posteriori_min_cllr(scores)
    for method in ("none", "logistic", "isotonic"):
        assert priori.cllr(calibrate(scores, method=method).apply(scores)) >= least - 1e-9
    assert least <= 1 + 1e-12


def test_losses_of_hand() -> None:
    negative, positive = llr_losses([0.0, math.log(3)], [math.log(3), -math.inf])
    assert negative == pytest.approx([1.0, 2.0])
    assert positive == pytest.approx([math.log2(4 / 3), math.inf])


def test_the_calibration_of_a_curve_is_saved() -> None:
    dev = Scores.from_arrays([-1.0, 0.0, 1.0], [0.0, 1.0, 2.0])
    for name in ("bayes:logistic:0.1", "bayes:isotonic"):
        curve = priori.epc(dev, dev, criterion=name, alpha=[0.5])
        assert curve.calibration is not None
        again = priori.EPC.from_json(curve.to_json())
        assert again.to_dict()["calibration"] == curve.to_dict()["calibration"]
        assert again.summary()["criterion"] == name
    assert priori.epc(dev, dev, criterion="bayes", alpha=[0.5]).calibration is None


def test_cautions() -> None:
    rng = np.random.default_rng(2)
    share = Scores.from_arrays(rng.uniform(0, 0.6, 200), rng.uniform(0.4, 1, 200))
    wild = Scores.from_arrays(rng.normal(5, 20, 200), rng.normal(9, 20, 200))
    true = Scores.from_arrays(rng.normal(-2, 2, 200), rng.normal(2, 2, 200))

    def codes(dev: Scores, criterion: str) -> set[str]:
        return {caution.code for caution in priori.epc(dev, dev, criterion=criterion, points=3).warnings}  # type: ignore[attr-defined]

    assert "not-likelihood-ratios" in codes(share, "bayes") & codes(wild, "bayes")
    assert "not-likelihood-ratios" not in codes(true, "bayes") | codes(share, "bayes:logistic")
    apart = Scores.from_arrays(rng.uniform(0, 0.4, 50), rng.uniform(0.5, 1, 50))
    assert "separated-development" in codes(apart, "bayes:logistic")
    assert "separated-development" not in codes(share, "bayes:logistic") | codes(apart, "bayes:isotonic")


@pytest.mark.parametrize("typed", ["platt", "none:0.5", "isotonic:0.1", "logistic:0", "logistic:one"])
def test_what_is_no_calibration(typed: str) -> None:
    with pytest.raises(priori.OptionError):
        get_criterion(f"bayes:{typed}")


def test_boundaries_rise() -> None:
    rng = np.random.default_rng(3)
    dev = Scores.from_arrays(rng.normal(0, 1, 500).round(1), rng.normal(1, 1, 500).round(1))
    fitted = calibrate(dev, method="isotonic").to_dict()
    for name in ("boundaries", "llr"):
        assert all(low < high for low, high in pairwise(fitted[name]))


def test_a_step_as_likely_as_the_odds_ask_for_is_rejected() -> None:
    steps = StepMap("isotonic", np.array([0.0, 1.0]), np.array([-1.0, 0.5, 2.0]))
    assert steps.thresholds(np.array([-2.0, -1.0, 0.4, 0.5, 2.0])).tolist() == [-np.inf, 0.0, 0.0, 1.0, np.inf]
