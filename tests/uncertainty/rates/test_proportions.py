"""Proportions: intervals for one rate, tests of two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from priori import InputError, OptionError
from priori.uncertainty.rates.proportions import mcnemar_test, proportion_interval, proportion_test

COUNTS = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVELS = st.floats(0.5, 0.999)


@given(COUNTS, LEVELS)
def test_wilson_and_exact_equal_scipy(counts, level):
    errors, trials = counts
    for ours, theirs in (("wilson", "wilson"), ("exact", "exact")):
        found = proportion_interval(errors, trials, method=ours, confidence_level=level)
        expected = stats.binomtest(errors, trials).proportion_ci(level, method=theirs)
        assert found.lower == pytest.approx(expected.low, abs=1e-9)
        assert found.upper == pytest.approx(expected.high, abs=1e-9)


def test_the_normal_interval_is_equation_3_28():
    found = proportion_interval(1288, 112_000, method="normal", confidence_level=0.95)
    half = 1.959963984540054 * np.sqrt(0.0115 * 0.9885 / 112_000)
    assert [found.lower, found.upper] == pytest.approx([0.0115 - half, 0.0115 + half], rel=1e-12)


@given(st.lists(COUNTS, min_size=1, max_size=5), LEVELS)
def test_many_rates_at_once_as_one_by_one(counts, level):
    errors, trials = np.array(counts).T
    for method in ("normal", "wilson", "exact"):
        together = proportion_interval(errors, trials, method=method, confidence_level=level)
        for place, (x, n) in enumerate(counts):
            alone = proportion_interval(x, n, method=method, confidence_level=level)
            assert together.lower[place] == alone.lower
            assert together.upper[place] == alone.upper
            assert 0 <= alone.lower <= alone.rate <= alone.upper <= 1


@pytest.mark.parametrize("rate", [0.005, 0.02, 0.2])
def test_exact_coverage_summed_over_every_count(rate):
    # The coverage needs no simulation: add the binomial probabilities of the counts whose interval holds the rate.
    trials = 400
    errors = np.arange(trials + 1)
    weight = stats.binom.pmf(errors, trials, rate)
    covered = {
        method: float(weight[(found.lower <= rate) & (rate <= found.upper)].sum())
        for method in ("normal", "wilson", "exact")
        for found in [proportion_interval(errors, trials, method=method)]
    }
    assert covered["exact"] >= 0.95
    assert covered["wilson"] >= 0.93
    if rate == 0.005:
        assert covered["normal"] < 0.90  # what the warning at n p (1 - p) < 10 is about


def test_independent_proportions_equal_the_formulas():
    found = proportion_test(115, 1000, 195, 1000, pooled=False)
    sd = np.sqrt((0.115 * 0.885 + 0.195 * 0.805) / 1000)
    assert [found.difference, found.sd] == pytest.approx([-0.08, sd])
    assert found.p_value == pytest.approx(2 * stats.norm.sf(0.08 / sd))
    pooled = proportion_test(115, 1000, 195, 1000)
    assert pooled.sd == pytest.approx(np.sqrt(2 * 0.155 * 0.845 / 1000))
    # The pooled z-test squared is Pearson's chi-square of the two-by-two table.
    table = [[115, 885], [195, 805]]
    assert pooled.statistic**2 == pytest.approx(stats.chi2_contingency(table, correction=False).statistic)


def test_the_statistic_of_mcnemar_is_the_root_of_his_chi_square():
    found = mcnemar_test(60, 90, 5000)
    assert found.statistic == pytest.approx(-30 / np.sqrt(150))
    assert found.p_value == pytest.approx(stats.chi2.sf(30**2 / 150, 1), rel=0.02)


@pytest.mark.parametrize(("a", "b"), [(60, 90), (3, 9), (0, 5), (5, 0), (4, 4), (1, 0)])
def test_mcnemar_by_the_binomial(a, b):
    for alternative in ("two-sided", "less", "greater"):
        exact = stats.binomtest(a, a + b, 0.5, alternative=alternative).pvalue
        # Mid-p: half of the probability of what was seen goes, twice where both sides count (but never for a tie).
        seen = stats.binom.pmf(a, a + b, 0.5)
        less = seen if alternative == "two-sided" else seen / 2
        expected = 1.0 if alternative == "two-sided" and a == b else exact - less
        assert mcnemar_test(a, b, 5000, alternative=alternative).p_value == pytest.approx(expected)
    assert mcnemar_test(a, b, 5000).method == "McNemar's, mid-p"


def test_no_difference_and_no_deviation():
    assert proportion_test(0, 10, 0, 10).p_value == 1
    assert mcnemar_test(0, 0, 10).confidence == 0


def test_tests_reject_five_percent():
    rng = np.random.default_rng(20240501)
    runs, n, p = 20_000, 500, 0.1
    found = proportion_test(rng.binomial(n, p, runs), n, rng.binomial(n, p, runs), n)
    assert np.mean(found.p_value < 0.05) == pytest.approx(0.05, abs=0.007)
    a, b, _ = rng.multinomial(n, [0.06, 0.06, 0.88], runs).T
    assert np.mean(mcnemar_test(a, b, n).p_value < 0.05) == pytest.approx(0.05, abs=0.007)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: proportion_interval(5, 0), "at least one trial"),
        (lambda: proportion_interval(5, 4), "between 0 and the number of trials"),
        (lambda: proportion_interval(-1, 4), "between 0 and the number of trials"),
        (lambda: proportion_interval(np.nan, 4), "between 0 and the number of trials"),
        (lambda: proportion_interval("x", 4), "must be numbers"),
        (lambda: mcnemar_test(3, 3, 4), "between 0 and the number of trials"),
    ],
)
def test_bad_counts(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: proportion_interval(1, 4, method="bayes"), "unknown interval 'bayes'"),
        (lambda: proportion_interval(1, 4, confidence_level=95), "95 % is 0.95"),
        (lambda: proportion_test(1, 4, 2, 4, alternative="both"), "unknown alternative 'both'"),
        (lambda: mcnemar_test(1, 2, 4, alternative="both"), "unknown alternative 'both'"),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(OptionError, match=message):
        call()
