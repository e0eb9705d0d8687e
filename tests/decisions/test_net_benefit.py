"""Net benefit: the published example of dcurves, and thresholds by theory."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import priori
from priori import OptionError
from priori.decisions.criteria import get_criterion
from priori.studies.evaluation import Settings

#: What dcurves shows for its example, cancer by family history: of 750 people 105 have cancer; 24 of these and 91 of
#: the others have a family history. Threshold probability, net benefit of treating all, and of those with a history;
#: the first is in dcurves' own tests.
PUBLISHED = [
    (0.0, 0.14, 0.032),
    (0.01, 0.13131313131313133, 0.030774410774410774),
    (0.05, 0.09473684210526317, 0.025614035087719297),
    (0.1, 0.04444444444444445, 0.018518518518518517),
    (0.15, -0.011764705882352927, 0.010588235294117645),
    (0.2, -0.07499999999999998, 0.0016666666666666635),
    (0.25, -0.1466666666666666, -0.008444444444444449),
]


@pytest.fixture(scope="module")
def family() -> priori.Scores:
    return priori.Scores.from_arrays(np.repeat([0.0, 1.0], [554, 91]), np.repeat([0.0, 1.0], [81, 24]))


def test_the_published_example(family: priori.Scores) -> None:
    alphas = [alpha for alpha, _, _ in PUBLISHED]
    curve = priori.epc(family, family, criterion="probability", measure="net-benefit", alpha=alphas)
    assert curve.threshold.tolist() == alphas
    assert curve.value == pytest.approx([benefit for _, _, benefit in PUBLISHED], abs=1e-9)
    treat_all, treat_none = curve.at_extremes()
    assert treat_all == pytest.approx([benefit for _, benefit, _ in PUBLISHED], abs=1e-9)
    assert (treat_none == 0).all()


def calibrated(seed: int, size: int = 400) -> priori.Scores:
    rng = np.random.default_rng(seed)
    probability = rng.beta(1, 4, size)
    return priori.Scores.from_predictions((rng.random(size) < probability).astype(int), probability)


def test_the_best_is_a_search_through_every_threshold() -> None:
    dev, test = calibrated(1), calibrated(2)
    alphas = [0.05, 0.2, 0.5]
    curve = priori.epc(dev, test, criterion="probability", measure="net-benefit", alpha=alphas)
    every = np.concatenate([[-np.inf], np.sort(np.concatenate([test.negatives, test.positives]))])
    for k, alpha in enumerate(alphas):
        outcomes = priori.count(test, every)
        benefit = (outcomes.tp - outcomes.fp * alpha / (1 - alpha)) / 400
        assert curve.best[k] == pytest.approx(benefit.max())
        assert curve.value[k] <= curve.best[k]
    assert get_criterion("max:net-benefit") == curve.criterion.in_hindsight


def test_bands_and_comparisons_come_by_themselves() -> None:
    rng = np.random.default_rng(3)
    test = calibrated(4)
    both = np.concatenate([test.negatives, test.positives])
    labels = np.repeat([0, 1], [test.n_negatives, test.n_positives])
    worse = priori.Scores.from_predictions(labels, np.clip(both + rng.normal(0, 0.3, both.size), 0, 1))
    same = priori.Scores.from_predictions(labels, both)
    a, b = (
        priori.epc(each, each, criterion="probability", measure="net-benefit", alpha=[0.2], name=name)
        for each, name in ((same, "A"), (worse, "B"))
    )
    band = a.band(n_resamples=500)
    assert band.settings["bootstrap"] == "rows"  # the share of positives counts
    assert band.lower[0] < a.value[0] < band.upper[0]
    found = priori.compare(a, b, n_resamples=500)
    assert found.settings["claim"] == "deployed"
    assert found.difference[0] > 0
    assert found.p_value[0] < 0.05


def test_another_share_of_positives(family: priori.Scores) -> None:
    (value,) = priori.epc(family, family, criterion="probability", measure="net-benefit", prior=0.02, alpha=[0.1]).value
    assert value == pytest.approx(0.02 * 24 / 105 - 0.98 * 91 / 645 / 9)


def test_treat_all_and_none_are_drawn_and_printed(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from priori.cli import cli

    test = calibrated(5)
    rows = [f"{score},0" for score in test.negatives] + [f"{score},1" for score in test.positives]
    (path := tmp_path / "p.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    words = [
        "epc",
        str(path),
        str(path),
        "--criterion",
        "probability",
        "--measure",
        "net-benefit",
        "--alpha",
        "0.1,0.2",
    ]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert "(treat all)" in done.output
    assert "(treat none)" in done.output
    curve = priori.epc(test, test, criterion="probability", measure="net-benefit", points=11)
    labels = curve.plot().get_legend_handles_labels()[1]
    assert {"treat all", "treat none"} <= set(labels)


def test_where_an_error_costs_without_end_there_is_no_value() -> None:
    ends = (Fraction(0), Fraction(1, 2), Fraction(1))
    assert priori.decisions.measures.NET_BENEFIT.defined(ends) == ends[:2]
    assert priori.decisions.measures.NORMALISED_WER.defined(ends) == ends[1:2]
    assert priori.decisions.measures.HTER.defined(ends) == ends
    test = calibrated(5)
    curve = priori.epc(test, test, measure="net-benefit", points=11)
    assert curve.alpha.max() == 0.9
    band = curve.band(n_resamples=200)
    assert np.isfinite([band.lower, band.upper]).all()
    assert np.isfinite(band.expected_width)
    assert Settings(measure="net-benefit").alphas[-1] == Fraction(99, 100)
    with pytest.raises(OptionError, match="Net benefit has no value at alpha = 1; give another alpha"):
        Settings(measure="net-benefit", alpha=1)


def test_an_alpha_without_a_value_is_refused() -> None:
    outcomes = priori.Outcomes.from_errors([0, 1], [2, 2], negatives=10, positives=10)
    assert np.isnan(priori.decisions.measures.NET_BENEFIT(outcomes, [1.0, 1.0])).all()
    test = calibrated(5)
    for measure, alpha, said in (
        ("net-benefit", [0.5, 1], "Net benefit has no value at alpha = 1"),
        ("nwer", 0, "no value at alpha = 0"),
    ):
        with pytest.raises(OptionError, match=f"{said}; give another alpha"):
            priori.epc(test, test, measure=measure, alpha=alpha)
    with pytest.raises(OptionError, match="has no value at alpha = 1"):
        priori.epc(test, test, measure="net-benefit").at(1)
