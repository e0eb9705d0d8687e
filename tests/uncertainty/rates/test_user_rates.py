"""Who makes the errors: shrunken rates beside a plain Bayesian computation, the tests beside scipy's."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

import priori
from priori.base.errors import InputError, OptionError
from priori.studies.simulation import population
from priori.uncertainty.rates.beta_binomial import _log_posterior, _quantile, fit_beta_binomial
from priori.uncertainty.rates.user_rates import alike, at_least, kruskal_wallis

ERRORS = np.array([0, 1, 0, 9, 2, 0, 1, 0, 3, 0, 0, 4])
TRIALS = np.array([20, 20, 25, 20, 20, 5, 20, 20, 40, 20, 20, 8])


def test_shrunken_rates_are_posterior_means_and_quantiles() -> None:
    # By scipy's beta-binomial on a plain grid of the mean and of 1 / (1 + k), both uniform beforehand.
    mean, rho = (np.linspace(0, 1, 602)[1:-1] for _ in range(2))
    m, k = mean[:, None], (1 / rho - 1)[None, :]
    weight = np.exp(sum(stats.betabinom.logpmf(x, n, m * k, (1 - m) * k) for x, n in zip(ERRORS, TRIALS, strict=True)))
    weight /= weight.sum()
    fitted = fit_beta_binomial(ERRORS.astype(float), TRIALS.astype(float))
    assert fitted.overall == pytest.approx((weight * m).sum(), abs=2e-4)
    assert fitted.correlation == pytest.approx((weight * rho).sum(), abs=1e-3)
    shrunken, lower, upper = fitted.rates(ERRORS.astype(float), TRIALS.astype(float), 0.9)
    big = weight > 1e-9 * weight.max()
    a, b, weight = (m * k)[big], ((1 - m) * k)[big], weight[big]
    for user in (0, 3, 5, 11):
        x, n = ERRORS[user], TRIALS[user]
        assert shrunken[user] == pytest.approx((weight * (a + x) / (a + b + n)).sum(), abs=3e-4)
        below = [(weight * stats.beta.cdf(limit, a + x, b + n - x)).sum() for limit in (lower[user], upper[user])]
        if x:
            assert below[0] == pytest.approx(0.05, abs=2e-3)
        assert below[1] == pytest.approx(0.95, abs=2e-3)
    assert lower[ERRORS == 0].tolist() == [0.0] * 6


def test_users_alike_share_one_rate_and_users_apart_keep_their_own() -> None:
    rng = np.random.default_rng(1)
    trials = np.full(200, 50.0)
    same = rng.binomial(50, 0.1, 200).astype(float)
    shrunken, _, _ = fit_beta_binomial(same, trials).rates(same, trials, 0.95)
    assert np.ptp(shrunken) < 0.25 * np.ptp(same / 50)
    apart = rng.binomial(50, rng.beta(0.5, 4.5, 200)).astype(float)
    shrunken, _, _ = fit_beta_binomial(apart, trials).rates(apart, trials, 0.95)
    assert np.ptp(shrunken) > 0.85 * np.ptp(apart / 50)
    none = np.zeros(62)
    _, _, upper = fit_beta_binomial(none, np.full(62, 96.0)).rates(none, np.full(62, 96.0), 0.95)
    assert upper[0] == pytest.approx(-np.log(0.025) / (62 * 96))


def test_kruskal_wallis_is_scipys() -> None:
    rng = np.random.default_rng(0)
    owner = rng.integers(0, 7, 300).astype(np.int32) * 2  # codes without trials between them
    for scores in (rng.normal(size=300) + owner / 10, rng.integers(0, 4, 300).astype(float)):
        expected = stats.kruskal(*(scores[owner == code] for code in np.unique(owner)))
        statistic, freedom, p_value = kruskal_wallis(scores, owner)
        assert (statistic, freedom, p_value) == (pytest.approx(expected.statistic), 6.0, pytest.approx(expected.pvalue))
    assert kruskal_wallis(np.ones(5), np.arange(5, dtype=np.int32)) == (0.0, 4.0, 1.0)


def test_users_that_err_alike_have_the_chi_square_p_value() -> None:
    errors, trials = np.array([30, 45, 38, 52, 35]), np.array([400, 400, 400, 500, 420])
    expected = stats.chi2_contingency([errors, trials - errors], correction=False).pvalue
    assert alike(errors, trials, np.random.default_rng(0)) == pytest.approx(expected, abs=0.035)
    assert alike(np.array([0, 20, 0]), np.array([50, 50, 50]), np.random.default_rng(0)) == 1 / 2000
    assert alike(np.zeros(3, dtype=np.int64), np.array([5, 5, 5]), np.random.default_rng(0)) == 1.0


def test_animals_are_counted_against_the_hypergeometric() -> None:
    assert at_least(4, 60, 15, 15) == pytest.approx(stats.hypergeom.sf(3, 60, 15, 15))
    found = priori.user_rates(population(60, 9, 20, user_effect_sd=0.6, rng=1), 1.25)
    genuine, impostor, names = found.means()
    high, low = stats.rankdata(genuine) > 45, stats.rankdata(impostor) <= 15
    dove = next(each for each in found.animals if each["animal"] == "dove")
    assert (dove["found"], dove["expected"], names.size) == (int((high & low).sum()), 3.75, 60)


def test_goats_lambs_and_wolves_are_those_whose_interval_is_above_all() -> None:
    scores = population(40, 9, 39, crossed=True, user_effect_sd=0.5, probe_effect_sd=0.5, rng=2)
    found = priori.user_rates(scores, 1.6)
    assert [test["kind"] for test in found.tests] == ["goat", "lamb", "wolf"]
    for test in found.tests:
        rows = found.of_kind(test["kind"])
        overall = rows["errors"].sum() / rows["trials"].sum()
        assert test["overall"] == pytest.approx(overall)
        assert (rows["lower"] > overall).sum() == test["found"] == rows["found"].sum()
        assert np.all(np.diff(rows["shrunken"]) <= 0)
    wolves = found.of_kind("wolf")
    user = str(wolves["user"][0])
    who = scores.users.values[scores.negative.probe_user] == user  # type: ignore[union-attr]
    assert (wolves["errors"][0], wolves["trials"][0]) == ((scores.negative.score[who] > 1.6).sum(), who.sum())
    assert wolves["mean_score"][0] == pytest.approx(scores.negative.score[who].mean())
    assert found.tests[1]["p_errors"] < 0.01
    assert len(found.of_kind("goat", 3)["user"]) == 3
    with pytest.raises(OptionError, match="unknown kind 'sheep'"):
        found.of_kind("sheep")  # type: ignore[arg-type]


def test_users_that_do_not_differ_are_sheep() -> None:
    found = priori.user_rates(population(60, 9, 20, user_effect_sd=0.0, rng=5), 1.25)
    assert min(test["p_errors"] for test in found.tests) > 0.05
    assert sum(test["found"] for test in found.tests) <= 2
    with pytest.raises(InputError, match="users of the trials are not known"):
        priori.user_rates(priori.Scores.from_arrays([0.0, 1.0], [1.0]), 0.5)


def test_the_zoo_plot_marks_who_was_found() -> None:
    found = priori.user_rates(population(60, 9, 20, user_effect_sd=0.8, rng=1), 1.25)
    axes = found.plot()
    assert axes.get_legend_handles_labels()[1] == ["sheep", "goats", "lambs"]
    sheep, goats, _ = axes.collections
    assert (len(sheep.get_offsets()), len(goats.get_offsets())) == (60, found.tests[0]["found"])


@pytest.mark.parametrize(("trials", "rate"), [(900, 0.05), (5, 0.2), (1000, 1e-4), (20, 0.97)])
@pytest.mark.parametrize("share", [0.005, 0.5, 0.975])
def test_quantiles_of_mixtures_are_those_of_bisection(trials, rate, share):
    rng = np.random.default_rng(trials)
    errors = rng.binomial(trials, rng.beta(20 * rate, 20 * (1 - rate), 30)).astype(float)
    fitted = fit_beta_binomial(errors, np.full(30, float(trials)))
    a = fitted.mean * fitted.concentration + errors[:, None]
    b = (1 - fitted.mean) * fitted.concentration + (trials - errors)[:, None]
    found = _quantile(a, b, fitted.weight, share)
    low, high = np.zeros(30), np.ones(30)
    for _ in range(80):
        middle = (low + high) / 2
        below = betainc(a, b, middle[:, None]) @ fitted.weight < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    np.testing.assert_allclose(found, low, rtol=1e-7, atol=1e-16)


def test_many_users_are_permuted_some_at_a_time() -> None:
    rng = np.random.default_rng(0)
    trials = np.full(5000, 10)
    errors = rng.binomial(trials, 0.2)
    tracemalloc.start()
    alike(errors, trials, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # all permutations at once take 160 MB


@pytest.mark.parametrize(("users", "rate"), [(300, 0.2), (2000, 0.01)])
def test_very_many_users_are_judged_as_their_permutations_would(monkeypatch, users, rate) -> None:
    rng = np.random.default_rng(users)
    trials = rng.integers(1, 12, users)
    for spread in (500.0, 30.0, 8.0):
        errors = rng.binomial(trials, rng.beta(spread * rate, spread * (1 - rate), users))
        monkeypatch.setattr("priori.uncertainty.rates.user_rates.MANY_USERS", users)
        permuted = alike(errors, trials, rng)
        monkeypatch.setattr("priori.uncertainty.rates.user_rates.MANY_USERS", users - 1)
        assert alike(errors, trials, rng) == pytest.approx(permuted, abs=0.04)


def test_fewer_points_average_as_well_over_the_posterior_of_many_users(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    trials = rng.integers(20, 2000, 1500).astype(float)
    errors = rng.binomial(trials.astype(int), rng.beta(2, 30, 1500)).astype(float)
    fitted = fit_beta_binomial(errors, trials)
    monkeypatch.setattr("priori.uncertainty.rates.beta_binomial.MANY", 1e9)
    plain = fit_beta_binomial(errors, trials)
    assert fitted.weight.size < plain.weight.size
    monkeypatch.setattr("priori.uncertainty.rates.beta_binomial.AT_A_TIME", 5000)  # and some users at a time
    for found, wanted in zip(fitted.rates(errors, trials, 0.95), plain.rates(errors, trials, 0.95), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_the_posterior_is_that_of_each_user_counted_on_its_own() -> None:
    rng = np.random.default_rng(5)
    trials = rng.integers(1, 30, 80).astype(float)
    errors = rng.binomial(trials.astype(int), 0.2).astype(float)
    counted = [np.unique(values, return_counts=True) for values in (errors, trials - errors, trials)]
    logit, log_k = rng.normal(-1, 1, 9), rng.normal(2, 3, 9)
    mean, k = 1 / (1 + np.exp(-logit)), np.exp(log_k)
    each = stats.betabinom(trials[:, None], mean * k, (1 - mean) * k).logpmf(errors[:, None]).sum(axis=0)
    wanted = each + np.log(mean * (1 - mean) * k / (1 + k) ** 2)
    found = _log_posterior(logit, log_k, counted)
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], rtol=1e-9, atol=1e-9)


def test_a_drawing_of_very_many_users_is_one_of_some_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priori.plots.people.MOST_DRAWN", 25)
    found = priori.user_rates(population(60, 9, 20, user_effect_sd=0.8, rng=1), 1.25)
    axes = found.plot()
    assert axes.get_legend_handles_labels()[1][0] == "sheep (25 of 60 users)"
    assert len(axes.collections[0].get_offsets()) == 25


def test_animals_among_very_many_users_are_counted_against_the_hypergeometric() -> None:
    for found in (0, 1480, 1560, 1650):
        expected = stats.hypergeom.sf(found - 1, 25_000, 6250, 6250)
        assert at_least(found, 25_000, 6250, 6250) == pytest.approx(expected, rel=1e-8)
    assert at_least(7, 12, 6, 6) == 0.0


def test_quarters_are_those_of_the_mean_scores() -> None:
    found = priori.user_rates(population(40, 5, 20, rng=3), 1.25)
    genuine, impostor, _ = found.means()
    for quarters, means in zip(found.quarters(), (genuine, impostor), strict=True):
        assert quarters == pytest.approx(np.quantile(means, [0.25, 0.75]))
