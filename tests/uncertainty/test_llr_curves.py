"""Reliability diagrams, Tippett plots and cross-entropies: beside scikit-learn, plain counts and Cllr."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

import priori
from priori import Scores
from priori.base.errors import InputError, OptionError
from validation.coverage.simulation import population


def probabilities(seed: int, digits: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, many of them on the edges of bins, and labels that they do not state well."""
    rng = np.random.default_rng(seed)
    stated = rng.random(900).round(digits)
    return stated, (rng.random(900) < stated**1.5).astype(int)


@pytest.mark.parametrize("bins", [1, 4, 10, 30])
def test_reliability_is_scikit_learns(bins: int) -> None:
    (stated, label), dev = probabilities(0), Scores.from_arrays([0.2] * 30, [0.7] * 20)
    test = Scores.from_predictions(label, stated)
    found = priori.reliability(dev, test, given="probabilities", bins=bins)
    share, mean = calibration_curve(label, stated, n_bins=bins)
    assert found.share.tolist() == pytest.approx(share.tolist())
    assert found.probability.tolist() == pytest.approx(mean.tolist())
    assert (found.positives.sum(), found.trials.sum()) == (label.sum(), 900)
    assert found.prior == pytest.approx(0.4)
    each = priori.proportion_interval(found.positives, found.trials, confidence_level=0.95 ** (1 / found.share.size))
    assert found.lower.tolist() == pytest.approx(each.lower.tolist())
    assert found.upper.tolist() == pytest.approx(each.upper.tolist())


def test_likelihood_ratios_are_probabilities_at_the_share_of_the_test_set() -> None:
    rng = np.random.default_rng(1)
    test = Scores.from_arrays(rng.normal(-1, 2**0.5, 3000), rng.normal(1, 2**0.5, 1000))  # true log-likelihood ratios
    found = priori.reliability(test, test, bins=5)
    assert found.prior == pytest.approx(0.25)
    llr = np.concatenate([test.negative.score, test.positive.score])
    stated = 1 / (1 + 3 * np.exp(-llr))
    share, mean = calibration_curve(np.repeat([0, 1], [3000, 1000]), stated, n_bins=5)
    assert (found.share.tolist(), found.probability.tolist()) == (
        pytest.approx(share.tolist()),
        pytest.approx(mean.tolist()),
    )
    assert ((found.lower <= found.probability) & (found.probability <= found.upper)).all()


def test_users_widen_the_intervals_of_a_reliability_diagram() -> None:
    test = population(30, 9, 20, user_effect_sd=0.8, rng=1)
    by_user = priori.reliability(test, test, calibrate="logistic", bins=4)
    alone = priori.reliability(test, test, calibrate="logistic", bins=4, dependence="none")
    assert (by_user.dependence, alone.dependence) == ("user", "none")
    assert by_user.share.tolist() == alone.share.tolist()
    assert (by_user.upper - by_user.lower).mean() > (alone.upper - alone.lower).mean()


def test_a_tippett_plot_has_rates_at_each_ratio() -> None:
    dev, test = (population(30, 9, 20, rng=seed) for seed in (1, 2))
    llr = [1.0, -2.0, 0.5]
    found = priori.tippett(dev, test, calibrate="logistic", llr=llr)
    ratios = priori.calibrate(dev).apply(test)
    for row, value in enumerate(llr):
        assert found.negatives[row] == (ratios.negative.score > value).mean()
        assert found.positives[row] == pytest.approx((ratios.positive.score > value).mean())
        far, frr = (priori.rate_interval(ratios, value, rate=rate) for rate in ("far", "frr"))
        assert (found.negatives_lower[row], found.negatives_upper[row]) == pytest.approx((far.lower, far.upper))
        assert (found.positives_lower[row], found.positives_upper[row]) == pytest.approx((1 - frr.upper, 1 - frr.lower))


def test_cross_entropy_is_its_formula_and_cllr_at_even_odds() -> None:
    dev, test = (population(30, 9, 20, rng=seed) for seed in (1, 2))
    odds = np.array([-3.0, 0.0, 2.0])
    found = priori.ece(dev, test, calibrate="logistic", log_odds=odds)
    ratios = priori.calibrate(dev).apply(test)
    for row, odd in enumerate(np.exp(odds)):
        prior = odd / (1 + odd)
        formula = prior * np.mean(np.log2(1 + 1 / (np.exp(ratios.positive.score) * odd)))
        formula += (1 - prior) * np.mean(np.log2(1 + np.exp(ratios.negative.score) * odd))
        assert found.value[row] == pytest.approx(formula)
        assert found.neutral[row] == pytest.approx(-prior * np.log2(prior) - (1 - prior) * np.log2(1 - prior))
    costs = priori.llr_costs(dev, test, calibrate="logistic")
    assert (found.value[1], found.lower[1], found.upper[1]) == pytest.approx(
        (costs.value[0], costs.lower[0], costs.upper[0])
    )
    assert found.best[1] == pytest.approx(costs.value[1])
    assert (found.best <= np.minimum(found.value, found.neutral) + 1e-12).all()
    assert ((found.lower < found.value) & (found.value < found.upper)).all()


def test_infinite_ratios_on_the_wrong_side_are_said() -> None:
    dev = Scores.from_arrays([0.0, 0.5, 1.0], [0.2, 0.5, 1.0])
    found = priori.ece(dev, dev, given="probabilities", log_odds=[0.0])
    assert found.value[0] == np.inf
    assert "infinite-cost" in [warning.code for warning in found.warnings]  # type: ignore[attr-defined]
    assert found.plot() is not None


def test_bad_input_is_said() -> None:
    scores = Scores.from_arrays([-1.0, 0.0, 1.0], [0.0, 1.0, 2.0])
    for bins in (0, 2.5, True):
        with pytest.raises(OptionError, match="bins must be a whole number from 1 on"):
            priori.reliability(scores, scores, bins=bins)  # type: ignore[arg-type]
    for numbers in ([], [np.inf], ["a"], [[1.0]]):
        with pytest.raises(OptionError, match="llr must be a list of finite numbers"):
            priori.tippett(scores, scores, llr=numbers)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="log_odds must be a list of finite numbers"):
            priori.ece(scores, scores, log_odds=numbers)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="probabilities lie between 0 and 1"):
        priori.reliability(scores, scores, given="probabilities")
    with pytest.raises(OptionError, match="unknown meaning of scores"):
        priori.ece(scores, scores, given="odds")  # type: ignore[arg-type]


def test_scanned_scores_have_the_curves_of_those_read(tmp_path: Path) -> None:
    dev, test = (population(30, 9, 200, rng=seed) for seed in (1, 2))
    for name, scores in (("dev", dev), ("test", test)):
        lines = ["score,label,user"]
        for label, trials in enumerate((scores.negative, scores.positive)):
            assert trials.user is not None
            lines += [
                f"{value!r},{label},u{user}" for value, user in zip(trials.score.tolist(), trials.user, strict=True)
            ]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    sets = [[of(tmp_path / f"{name}.csv") for name in ("dev", "test")] for of in (priori.scan, priori.read)]
    for make in (priori.reliability, priori.tippett, priori.ece):
        scanned, read = (make(*each, calibrate="logistic").columns() for each in sets)  # type: ignore[operator]
        for name, column in read.items():
            np.testing.assert_allclose(scanned[name], column, atol=0.02 if column.dtype.kind == "f" else 20)


def test_figures_draw_every_system() -> None:
    scores = population(30, 9, 20, rng=1)
    for make, lines in ((priori.reliability, 1), (priori.tippett, 2), (priori.ece, 1)):
        axes = make(scores, scores, calibrate="logistic", name="A").plot()  # type: ignore[operator]
        named = [label for label in axes.get_legend_handles_labels()[1] if label.startswith("A")]
        assert len(named) == lines
        assert axes.get_title()
