"""The averaging paper's figures and conclusions, commensurable scores, average EPCs, and the figures drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pytest

import priori
from papers.averaging import CLASSIFIERS, scenario
from priori import InputError, OptionError, Scores
from priori.curves.averaging.datasets import commensurability
from priori.decisions.criteria import get_criterion
from priori.scores.derived import pool

mpl.use("agg")
from matplotlib import pyplot

#: Where the figure's curves are compared, and how often the simulation is repeated.
FPR = np.linspace(0.02, 0.2, 19)
SEEDS = range(10)


def middle(curve):
    return np.interp(FPR, curve.fpr, curve.tpr)


def lower(curve):
    """The lower side of the band: through the corners with the most false and the fewest true positives."""
    return np.interp(FPR, np.maximum.accumulate(curve.fpr_upper), np.maximum.accumulate(curve.tpr_lower))


def upper(curve):
    return np.interp(FPR, np.maximum.accumulate(curve.fpr_lower), np.maximum.accumulate(curve.tpr_upper))


def overlap(one, other):
    return np.mean((lower(one) <= upper(other)) & (lower(other) <= upper(one)))


def apart(one, other):
    """Where the whole interval of one lies above the whole interval of the other."""
    return np.mean(lower(one) > upper(other))


@dataclass
class FigureTwo:
    """The two averages of each classifier that Figure 2 shows, with normal 95 % intervals as in the paper."""

    vertical: dict[str, priori.AverageCurve]
    by_threshold: dict[str, priori.AverageCurve]


def figure_two(seed: int) -> FigureTwo:
    options = {"interval": "normal", "positions": 201}
    sets = {name: scenario(name, 100, seed=seed) for name in CLASSIFIERS}
    vertical, by_threshold = (
        {name: priori.average(parts, method=method, **options) for name, parts in sets.items()}
        for method in ("vertical", "threshold")
    )
    return FigureTwo(vertical, by_threshold)


@pytest.fixture(scope="module")
def figures():
    return [figure_two(seed) for seed in SEEDS]


def test_scenario_1_vertical_averages_are_equal_and_threshold_averages_differ(figures):
    for figure in figures:
        vertical, threshold = figure.vertical, figure.by_threshold
        assert overlap(vertical["C-1"], vertical["C-2a"]) == 1
        assert np.abs(middle(vertical["C-1"]) - middle(vertical["C-2a"])).max() < 0.04
        assert apart(threshold["C-1"], threshold["C-2a"]) == 1
        assert (middle(threshold["C-1"]) - middle(threshold["C-2a"])).mean() > 0.15
    # Without a shift of their own the two differ by chance alone: no side is favoured over the seeds.
    gaps = [(middle(f.vertical["C-1"]) - middle(f.vertical["C-2a"])).mean() for f in figures]
    assert abs(np.mean(gaps)) < 0.01


def test_scenario_2_threshold_averages_are_about_equal_and_vertical_averages_differ(figures):
    overlaps, separations, gaps = [], [], []
    for figure in figures:
        vertical, threshold = figure.vertical, figure.by_threshold
        overlaps.append(overlap(threshold["C-1"], threshold["C-2b"]))
        separations.append(apart(vertical["C-2b"], vertical["C-1"]))
        gaps.append((middle(threshold["C-2b"]) - middle(threshold["C-1"])).mean())
        assert (middle(vertical["C-2b"]) > middle(vertical["C-1"])).all()
        assert (middle(vertical["C-2b"]) > middle(threshold["C-1"])).all()
        assert (middle(vertical["C-2b"]) - middle(vertical["C-1"])).mean() > 0.03
    # Pointwise 95 % intervals of 100 data sets: not every seed overlaps, or is apart, everywhere.
    assert np.mean(overlaps) > 0.9
    assert np.mean(separations) > 0.8
    # "About equal": with these parameters the threshold average of C-2b is about 0.02 above, the vertical one 0.05.
    assert abs(np.mean(gaps)) < 0.035


def test_a_common_shift_is_found_and_separation_is_not_mistaken_for_one(figures):
    for figure in figures:
        ratios = {name: figure.by_threshold[name].commensurability_ratio for name in CLASSIFIERS}
        # The shift of C-2a is as large as the spread of a class; that of C-2b is shared by half of its data sets.
        assert ratios["C-1"] < 0.3
        assert ratios["C-2a"] == pytest.approx(1, abs=0.25)
        assert ratios["C-2b"] < 0.6


# -- commensurability ----------------------------------------------------------------------------------


def false_alarms(datasets: int, trials: int, shift: float, repeats: int = 200) -> float:
    rng = np.random.default_rng(21)
    alarms = 0
    for _ in range(repeats):
        moved = shift * rng.normal(size=datasets)
        sets = [Scores.from_arrays(rng.normal(move, 1, trials), rng.normal(2 + move, 1, trials)) for move in moved]
        alarms += bool(commensurability(sets, [""] * datasets).warnings)
    return alarms / repeats


def test_false_alarms_are_rare_and_real_shifts_are_found():
    assert false_alarms(2, 10, 0.0) == 0
    assert false_alarms(20, 5, 0.0) == 0
    assert false_alarms(20, 50, 0.5) < 0.02
    assert false_alarms(20, 50, 2.0) > 0.98


def test_easier_data_sets_are_no_alarm():
    rng = np.random.default_rng(2)
    sets = [Scores.from_arrays(rng.normal(-d, 1, 100), rng.normal(d, 1, 100)) for d in (0.2, 1, 3, 6)]
    assert commensurability(sets, "abcd").ratio == 0


def test_the_ratio_is_of_medians_and_of_deviations_from_them():
    """Medians of each class about their mean; deviations from them, as those of a normal distribution."""
    sets = [Scores.from_arrays([10.0, 20.0, 40.0], [50.0, 60.0]), Scores.from_arrays([30.0, 31.0], [70.0, 90.0, 100.0])]
    shift = math.sqrt(2 * (20 - 30.5) / 2 * (55 - 90) / 2)
    deviations = (10 + 0 + 20) + (5 + 5) + (0.5 + 0.5) + (20 + 0 + 10)
    spread = math.sqrt(math.pi / 2) * deviations / (10 - 4)
    assert commensurability(sets, ["low", "high"]).ratio == pytest.approx(shift / spread)


def test_commensurability_of_odd_data_sets():
    one = Scores.from_arrays([0.0, 1.0], [1.0, 2.0])
    alone = commensurability([one], ["a"])
    assert (alone.ratio, alone.warnings) == (0.0, ())
    rejected = Scores.from_arrays([-np.inf, -np.inf], [-np.inf, 5.0])
    assert commensurability([one, rejected], "ab").ratio == 0.0
    huge = Scores.from_arrays([1e308, 1.1e308], [1.2e308, 1.3e308])
    assert commensurability([one, one, huge], ["a", "b", "huge"]).farthest == "huge"
    constant = [Scores.from_arrays([k, k], [k + 1, k + 1]) for k in (0, 5)]
    assert commensurability(constant, "ab").ratio == math.inf
    single = [Scores.from_arrays([k], [k + 1]) for k in (0, 5)]
    assert math.isnan(commensurability(single, "ab").ratio)
    assert commensurability(single, "ab").warnings == ()


# -- average EPCs --------------------------------------------------------------------------------------


@pytest.fixture
def pairs():
    rng = np.random.default_rng(4)

    def draw(shift):
        return Scores.from_arrays(rng.normal(shift, 1, 60), rng.normal(2 + shift, 1, 40))

    shifts = {"a": 0.0, "b": 1.0, "c": -1.0}
    return {name: draw(shift) for name, shift in shifts.items()}, {name: draw(shift) for name, shift in shifts.items()}


def test_own_thresholds_average_the_single_curves(pairs):
    devs, tests = pairs
    curve = priori.average_epc(devs, tests, points=11)
    singles = np.stack([priori.epc(devs[name], tests[name], points=11).value for name in devs])
    assert np.allclose(curve.value, singles.mean(axis=0))
    half = 4.302653 * singles.std(axis=0, ddof=1) / math.sqrt(3)
    assert np.allclose(curve.upper, np.clip(singles.mean(axis=0) + half, 0, 1))
    assert np.isnan(curve.threshold).all()
    assert [warning.code for warning in curve.warnings] == ["few-sets"]
    by_order = priori.average_epc(list(devs.values()), list(tests.values()), points=11)
    assert np.array_equal(curve.value, by_order.value)
    weighted = priori.average_epc(devs, tests, points=11, weights=[2, 1, 1])
    assert np.allclose(weighted.value, (2 * singles[0] + singles[1] + singles[2]) / 4)


def test_a_common_threshold_is_chosen_on_the_pooled_development_scores(pairs):
    devs, tests = pairs
    curve = priori.average_epc(devs, tests, thresholds="common", points=11)
    together = pool(list(devs.values()))
    expected = np.stack([priori.epc(together, tests[name], points=11).value for name in tests])
    assert np.allclose(curve.value, expected.mean(axis=0))
    assert np.array_equal(curve.threshold, priori.epc(together, tests["a"], points=11).threshold)
    # Data sets lie apart, so one threshold costs: the average is worse than with thresholds of their own.
    assert curve.value[5] > priori.average_epc(devs, tests, points=11).value[5]


@pytest.mark.parametrize("weights", [None, [3, 1, 2], "size"])
def test_the_best_of_a_common_threshold_is_the_best_that_one_threshold_reaches(pairs, weights):
    devs, tests = pairs
    tests = {**tests, "c": Scores.from_arrays(tests["c"].negatives[:17], tests["c"].positives[:23])}
    curve = priori.average_epc(devs, tests, thresholds="common", alpha=[0.2, 0.5, 0.9], weights=weights)
    scores = np.concatenate([part for test in tests.values() for part in (test.negatives, test.positives)])
    rates = np.array(
        [
            [[(test.negatives > t).mean(), (test.positives <= t).mean()] for test in tests.values()]
            for t in [-np.inf, *np.unique(scores)]
        ]
    )
    far, frr = np.einsum("s,tsr->rt", curve.weights, rates)
    for row, alpha in enumerate(curve.alpha):
        cost = alpha * far + (1 - alpha) * frr
        assert np.isclose(curve.best[row], ((far + frr) / 2)[np.isclose(cost, cost.min())]).any()
    assert curve.best[1] == pytest.approx(((far + frr) / 2).min())
    assert curve.best[1] > priori.average_epc(devs, tests, alpha=[0.5], weights=weights).best[0] + 0.01


def test_the_best_of_a_common_threshold_by_other_criteria(pairs):
    devs, tests = pairs
    asked = {"thresholds": "common", "alpha": [0.1], "weights": "size"}
    for criterion in ("at-most-far", "at-most-far:0.9", "target-frr", "eer", "bayes:logistic", "max:f1", "pr"):
        found = priori.average_epc(devs, tests, criterion=criterion, **asked).best[0]
        # Where each set weighs its size they are one set; sizes of both classes have the same ratio in all.
        rule = get_criterion(criterion).in_hindsight
        threshold = rule.choose(pool(list(tests.values())), [Fraction(1, 10)]).threshold
        expected = [
            (np.mean(test.negatives > threshold) + np.mean(test.positives <= threshold)) / 2 for test in tests.values()
        ]
        assert found == pytest.approx(np.mean(expected)), criterion


def test_a_dataset_column_pairs_by_name():
    y, s, d = [0, 1] * 6, [0.1, 0.9, 0.4, 0.6, 0.2, 0.3, 0.5, 0.7, 0.15, 0.95, 0.6, 0.55], ["x", "x", "y", "y"] * 3
    scores = Scores.from_predictions(y, s, dataset=d)
    curve = priori.average_epc(scores, scores, points=3)
    assert curve.names == ("x", "y")


def test_epc_pairs_that_do_not_fit_are_refused(pairs):
    devs, tests = pairs
    with pytest.raises(InputError, match="'c' has no partner"):
        priori.average_epc(devs, {name: tests[name] for name in "ab"})
    with pytest.raises(InputError, match="cannot be paired by order"):
        priori.average_epc(list(devs.values()), list(tests.values())[:2])
    with pytest.raises(OptionError, match="choose one of: per-dataset"):
        priori.average_epc(devs, tests, thresholds="own")


def test_an_average_epc_goes_everywhere(pairs):
    curve = priori.average_epc(*pairs, points=5, interval="normal")
    content = curve.to_dict()
    assert content["thresholds"] == "per-dataset"
    assert sorted(content["datasets"]) == ["a", "b", "c"]
    assert len(curve.frame("pandas")) == 5
    assert curve.plot().get_title().startswith("Average Expected")
    pyplot.close("all")


# -- figures -------------------------------------------------------------------------------------------


def test_the_plot_carries_meaning_and_warning():
    rng = np.random.default_rng(0)
    sets = [Scores.from_arrays(rng.normal(s, 1, 50), rng.normal(2 + s, 1, 50)) for s in rng.normal(0, 3, 20)]
    ax = priori.average(sets, method="threshold", positions=101).plot()
    words = " ".join(text.get_text().replace("\n", " ") for text in ax.texts)
    assert "one and the same threshold" in words
    assert "on different scales" in words
    assert len(ax.collections[0].get_paths()) == 20
    vertical = priori.average(sets, positions=101).plot()
    assert not any("different scales" in text.get_text() for text in vertical.texts)
    pyplot.close("all")
