"""Z-tests: the thesis's tables, the size of each test, and what bad input says."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import priori
from priori import InputError, OptionError, Scores, ztest, ztest_scores
from priori.scores.pairing import Disagreements
from priori.uncertainty.comparing.ztests import (
    Rates,
    Setting,
    ZSystem,
    differences,
    significant,
    weights_of,
    ztests_along,
)

# Tables 3.2 to 3.7 of the thesis as printed.
PUBLISHED = json.loads(
    (Path(__file__).parents[3] / "validation" / "ztests" / "published.json").read_text(encoding="utf-8")
)
MODELS = PUBLISHED["models"]
METHODS = ("hter", "naive", "class")


def _rates(model):
    return tuple(MODELS[model][name] for name in ("far", "frr", "negatives", "positives"))


def _corners(model):
    """The published rates, and every corner of the box in which their rounding leaves them."""
    far, frr, negatives, positives = _rates(model)
    half = MODELS[model]["half_digit"]
    return [(far + i * half, frr + j * half, negatives, positives) for i, j in product((-1, 0, 1), repeat=2)]


def _by_method(found, column):
    return dict(zip(found.columns()["method"].tolist(), found.columns()[column].tolist(), strict=True))


def _within(published, half, low, high):
    return low - half <= published <= high + half


@pytest.mark.parametrize("row", PUBLISHED["widths_percent"], ids=lambda row: f"{row['table']}-{row['level']}")
def test_tables_3_3_and_3_6(row, record_property):
    found = [_by_method(ztest(*at, confidence_level=row["level"]), "width") for at in _corners(row["model"])]
    for method in METHODS:
        ours = [100 * width[method] for width in found]
        record_property(method, f"printed {row[method]}, ours {min(ours):.4f} to {max(ours):.4f}")
        assert _within(row[method], 0.0005, min(ours), max(ours))


@pytest.mark.parametrize("row", PUBLISHED["differences"], ids=lambda row: row["table"])
def test_tables_3_4_and_3_7(row, record_property):
    found = [
        ztest(*one, far_b=other[0], frr_b=other[1]).comparison
        for one in _corners(row["a"])
        for other in _corners(row["b"])
    ]
    for method, delta in row["confidence_percent"].items():
        ours = [100 * tests[method].confidence for tests in found]
        sds = [tests[method].sd for tests in found]
        record_property(f"{method} delta", f"printed {delta}, ours {min(ours):.2f} to {max(ours):.2f}")
        record_property(f"{method} sigma", f"printed {row['sd'][method]}, ours {min(sds):.5f} to {max(sds):.5f}")
        assert _within(delta, 0.05, min(ours), max(ours))
        assert _within(row["sd"][method], 0.00005, min(sds), max(sds))
    # The thesis's verdict in both cases, with 95 %: not significant, as the independent test says.
    central = ztest(*_rates(row["a"]), far_b=MODELS[row["b"]]["far"], frr_b=MODELS[row["b"]]["frr"])
    assert central.significant is False
    assert "dependent" not in central.columns()["method"]


def test_table_values_from_the_rates_as_printed():
    # Where the rates as printed already give the published digits.
    assert ztest(*_rates("A")).a.hter.width == pytest.approx(0.01531, abs=5e-6)
    found = ztest(*_rates("A"), far_b=0.0195, frr_b=0.0275).comparison
    assert found["independent"].sd == pytest.approx(0.0057, abs=5e-5)


def test_dcf_is_equation_3_31():
    found = ztest(0.02, 0.08, 5000, 500, measure="dcf")
    variance = 0.02 * 0.98 / (0.99**-2 * 5000) + 0.08 * 0.92 / (100 * 500)
    assert found.a.hter.value == pytest.approx(0.99 * 0.02 + 0.1 * 0.08)
    assert found.a.hter.sd == pytest.approx(np.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize(
    ("measure", "weights"),
    [
        ("hter", (0, 0.5, 0.5)),
        ("far", (0, 1, 0)),
        ("sensitivity", (1, 0, -1)),
        ("balanced-accuracy", (1, -0.5, -0.5)),
        ("wer:0.3", (0, 0.3, 0.7)),
    ],
)
def test_weights(measure, weights):
    found = weights_of(measure)
    assert (found.constant, found.far, found.frr) == pytest.approx(weights)


def test_weights_follow_alpha():
    assert weights_of("wer", [0.0, 0.25, 1.0]).far.tolist() == [0, 0.25, 1]


@pytest.mark.parametrize("measure", ["f1", "precision", "accuracy", "error", "mcc"])
def test_other_measures_are_refused(measure):
    with pytest.raises(OptionError, match=r"add FAR and FRR.*use a bootstrap"):
        ztest(0.1, 0.1, 100, 100, measure=measure)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_good_measure_and_its_error_have_the_same_spread(far, frr, negatives, positives):
    error = ztest(far, frr, negatives, positives)
    good = ztest(far, frr, negatives, positives, measure="balanced-accuracy")
    for method in METHODS:
        assert good.a.intervals[method].sd == pytest.approx(error.a.intervals[method].sd, abs=1e-12)
    assert good.a.hter.lower == pytest.approx(1 - error.a.hter.upper, abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_swapping_the_systems_only_turns_the_sign(seed):
    rng = np.random.default_rng(seed)
    label = np.r_[0, 1, rng.integers(0, 2, 60)]
    a, b = (Scores.from_predictions(label, rng.normal(label)) for _ in range(2))
    one, other = ztest_scores(a, 0.4, b, 0.6), ztest_scores(b, 0.6, a, 0.4)
    for name, test in one.comparison.items():
        back = other.comparison[name]
        assert test.value == pytest.approx(-back.value)
        assert test.p_value == pytest.approx(back.p_value)
        assert test.lower == pytest.approx(-back.upper)


def test_dependent_from_scores_is_equation_3_33_counted_by_hand():
    label = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    a = Scores.from_predictions(label, [0, 1, 1, 0, 0, 1, 1, 0, 1])
    b = Scores.from_predictions(label, [0, 1, 0, 1, 0, 1, 0, 0, 0])
    found = ztest_scores(a, 0.5, b, 0.5)
    # Negatives: A alone wrong 1, B alone wrong 1, of 5. Positives: B alone wrong 2, of 4.
    variance = (1 + 1) / 5 / (4 * 5) + 2 / 4 / (4 * 4)
    assert found.comparison["dependent"].sd == pytest.approx(np.sqrt(variance))
    assert found.comparison["dependent"].value == pytest.approx((2 / 5 + 1 / 4) / 2 - (2 / 5 + 3 / 4) / 2)
    assert ztest_scores(a, 0.5, b, 0.5, unpaired=True).comparison.get("dependent") is None


# -- the size of the tests: how often a true null is rejected at the 5 % level -------------------------------------


def _setting(level=0.95):
    return Setting.of("hter", None, level, "two-sided")


def _paired(rng, runs, negatives, positives, far, frr, shared):
    """Counts of two systems with equal rates that make the same decision on a share of the trials."""
    counts = []
    for trials, rate in ((negatives, far), (positives, frr)):
        one = rate * (1 - rate) * (1 - shared)  # only one of the two is wrong
        counts.append(rng.multinomial(trials, [one, one, rate - one, 1 - rate - one], runs).T)
    (fa_a, fa_b, fa_both, _), (fr_a, fr_b, fr_both, _) = counts
    sizes = (np.full(runs, negatives), np.full(runs, positives))
    rates = [
        Rates((fa + fa_both) / negatives, (fr + fr_both) / positives, *sizes) for fa, fr in ((fa_a, fr_a), (fa_b, fr_b))
    ]
    return *rates, Disagreements(fa_b, fa_a, fr_b, fr_a)


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.9])
def test_dependent_test_rejects_five_percent(shared):
    # Equal FAR and FRR in truth, decisions shared on half or nine tenths of the trials (correlated systems).
    rng = np.random.default_rng(33)
    runs = 20_000
    a, b, found = _paired(rng, runs, 20_000, 2000, 0.05, 0.08, shared)
    tests = differences(a, b, _setting(), found)
    size = np.mean(tests["dependent"].p_value < 0.05)
    assert size == pytest.approx(0.05, abs=0.006)  # four standard errors
    # Twice the difference over the deviation of the difference, a known mistake, rejects a third of the time.
    doubled = 2 * np.abs(tests["dependent"].statistic)
    assert np.mean(2 * stats.norm.sf(doubled) < 0.05) > 0.3
    # The independent test does not know that errors are shared: it rejects less; so does the verdict.
    assert np.mean(significant(tests, 0.95)) <= size
    if shared:
        assert np.mean(tests["independent"].p_value < 0.05) < 0.02


def test_independent_test_rejects_five_percent_on_independent_sets():
    rng = np.random.default_rng(32)
    runs, negatives, positives = 20_000, 20_000, 2000
    sizes = (np.full(runs, negatives), np.full(runs, positives))
    a, b = (
        Rates(rng.binomial(negatives, 0.05, runs) / negatives, rng.binomial(positives, 0.08, runs) / positives, *sizes)
        for _ in range(2)
    )
    tests = differences(a, b, _setting(), None)
    assert np.mean(tests["independent"].p_value < 0.05) == pytest.approx(0.05, abs=0.006)
    # With ten times as many negatives as positives the comparisons of the thesis are over-confident.
    assert np.mean(tests["naive"].p_value < 0.05) > 0.1
    assert np.mean(significant(tests, 0.95)) == np.mean(tests["independent"].p_value < 1 - 0.95)


def test_a_distribution_is_called_over_confident_only_where_it_is_narrower() -> None:
    skewed = ztest(0.0115, 0.025, 112_000, 400).columns()
    assert [remark.partition(":")[0] for remark in skewed["remark"]] == ["the aggregate's own", *2 * ["over-confident"]]
    alike = ztest(0.05, 0.25, 400, 400, far_b=0.06, frr_b=0.2).columns()
    assert alike["method"].tolist() == ["independent", "naive", "class"]
    assert (alike["sd"][1:] > alike["sd"][0]).all()
    assert not [remark for remark in alike["remark"] if "over-confident" in remark]


def test_one_sided_tests_reject_five_percent_on_each_side():
    rng = np.random.default_rng(31)
    a, b, found = _paired(rng, 20_000, 20_000, 2000, 0.05, 0.08, 0.5)
    for alternative in ("less", "greater"):
        tests = differences(a, b, Setting.of("hter", None, 0.95, alternative), found)
        assert np.mean(tests["dependent"].p_value < 0.05) == pytest.approx(0.05, abs=0.006)


def test_dependent_test_on_scores_of_correlated_systems():
    # The whole way, from scores: two systems that share half of their noise, one threshold.
    rng = np.random.default_rng(5)
    label = np.repeat([0, 1], [2000, 400])
    rejected = []
    for _ in range(600):
        common = rng.normal(2 * label, np.sqrt(0.5))
        a, b = (Scores.from_predictions(label, common + rng.normal(0, np.sqrt(0.5), label.size)) for _ in range(2))
        rejected.append(ztest_scores(a, 1.0, b, 1.0).comparison["dependent"].p_value < 0.05)
    assert 0.02 < np.mean(rejected) < 0.08


def test_interval_covers_95_percent():
    rng = np.random.default_rng(30)
    runs, negatives, positives, far, frr = 20_000, 20_000, 1000, 0.03, 0.06
    rates = Rates(
        rng.binomial(negatives, far, runs) / negatives,
        rng.binomial(positives, frr, runs) / positives,
        np.full(runs, negatives),
        np.full(runs, positives),
    )
    system = ZSystem.of("A", rates, _setting())
    covered = {
        name: np.mean((one.lower <= (far + frr) / 2) & ((far + frr) / 2 <= one.upper))
        for name, one in (("hter", system.hter), ("naive", system.intervals["naive"]))
    }
    assert covered["hter"] == pytest.approx(0.95, abs=0.012)  # a little under: errors are counted, not normal
    assert covered["naive"] < 0.6


# -- one-sided, warnings, the curve ----------------------------------------------------------------------------


def test_one_sided_limits_and_confidence():
    two = ztest(0.05, 0.08, 20_000, 2000, far_b=0.04, frr_b=0.07)
    greater = ztest(0.05, 0.08, 20_000, 2000, far_b=0.04, frr_b=0.07, alternative="greater")
    less = ztest(0.05, 0.08, 20_000, 2000, far_b=0.04, frr_b=0.07, alternative="less")
    # Equation 3.20: P(Y_A - Y_B < p_A - p_B), here with A the greater.
    assert greater.comparison["independent"].confidence == pytest.approx(
        stats.norm.cdf(0.01 / two.comparison["independent"].sd)
    )
    assert less.comparison["independent"].p_value == pytest.approx(1 - greater.comparison["independent"].p_value)
    assert greater.comparison["independent"].upper == 1
    upper = ztest(0.05, 0.08, 20_000, 2000, alternative="less").a.hter
    assert upper.lower == 0
    assert upper.upper == pytest.approx(0.065 + stats.norm.ppf(0.95) * upper.sd)


def test_warnings_offer_the_exact_intervals():
    (few,) = ztest(0.0115, 0.025, 112_000, 400).warnings
    assert "A: FRR 0.025 of 400 trials is too small for a z-test" in few
    assert "exact 95 % bounds 0.0121 to 0.0455 (Wilson 0.0136 to 0.0454)" in few
    (none,) = ztest(0.0115, 0, 112_000, 400).warnings
    assert "bounds 0 to 0.00918" in none
    assert ztest(0.0115, 0.05, 112_000, 400).warnings == ()


def test_users_known_and_not_used_are_said():
    rng = np.random.default_rng(0)
    label, user = np.repeat([0, 1], 500), np.tile(np.arange(50), 20)
    known = Scores.from_predictions(label, rng.normal(3 * label), user=user)
    nobody = Scores.from_predictions(label, rng.normal(3 * label))
    for test in (ztest_scores(known, 1.5), ztest_scores(known, 1.5, nobody, 1.5)):
        assert [caution.code for caution in test.warnings] == ["users-unused"]
    assert ztest_scores(nobody, 1.5).warnings == ()
    rates = ztest(0.0115, 0, 112_000, 400).to_dict()["a"]["frr"]
    assert rates["errors"] == 0


def _curves(rng, *shifts, points=5):
    label = np.repeat([0, 1], 300)
    return [
        priori.epc(
            *(Scores.from_predictions(label, rng.normal(shift * label)) for _ in range(2)),
            points=points,
            name=f"s{shift}",
        )
        for shift in shifts
    ]


def test_along_alpha_equals_one_alpha_at_a_time():
    a, b = _curves(np.random.default_rng(1), 2.0, 1.7)
    along = ztests_along(a, b)
    for place in range(a.alpha.size):
        alone = ztest_scores(a.test, a.threshold[place], b.test, b.threshold[place])
        for name, test in alone.comparison.items():
            assert along[name].confidence[place] == pytest.approx(float(test.confidence))
        assert significant(along, 0.95)[place] == alone.significant
    assert ztests_along(a, b, unpaired=True).get("dependent") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"far": 1.15}, r"far = 1.15 is not a rate between 0 and 1; if it is a percentage, give 0.0115"),
        ({"frr": -0.1}, r"frr = -0.1 is not a rate"),
        ({"far": float("nan")}, r"far = nan is not a rate"),
        ({"negatives": 0}, r"negatives = 0 is not a number of trials"),
        ({"positives": 10.5}, r"positives = 10.5 is not a number of trials"),
        ({"far_b": 2.5, "frr_b": 0.1}, r"far_b = 2.5 .* give 0.025"),
    ],
)
def test_bad_rates(options, message):
    with pytest.raises(InputError, match=message):
        ztest(**{"far": 0.1, "frr": 0.1, "negatives": 100, "positives": 100, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"far_b": 0.1}, "needs both rates"),
        ({"negatives_b": 10}, "give far_b and frr_b"),
        ({"confidence_level": 95}, "95 % is 0.95"),
        ({"alternative": "sideways"}, "unknown alternative"),
        ({"measure": "hters"}, "unknown measure"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        ztest(0.1, 0.1, 100, 100, **options)


def test_frame_and_json():
    found = ztest(0.0115, 0.025, 112_000, 400, far_b=0.0195, frr_b=0.0275)
    assert found.frame("pandas")["method"].tolist() == ["independent", "naive", "class"]
    assert '"significant": false' in found.to_json()
    assert "over-confident" in found._repr_html_()


def test_the_intervals_of_a_dcf_are_filed_under_its_name() -> None:
    found = ztest(0.131, 0.096, 57_748, 5825, measure="dcf")
    sd = np.sqrt(0.99**2 * 0.131 * 0.869 / 57_748 + 0.096 * 0.904 / 100 / 5825)  # Eq. 3.31
    assert _by_method(found, "sd")["dcf"] == pytest.approx(sd, rel=1e-12)
    assert list(found.to_dict()["a"]["interval"]) == ["dcf", "naive", "class"]
    assert found.columns()["method"].tolist() == ["dcf", "naive", "class"]
    assert found.columns()["equation"].tolist() == ["3.31", "3.35", "3.34"]
    assert ztest(0.1, 0.1, 100, 100).aggregate == "hter"
    assert type(found).from_json(found.to_json()).to_dict() == found.to_dict()
