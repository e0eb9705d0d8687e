"""Who makes the errors: shrunken rates beside a plain Bayesian computation, the test beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

import priori
from priori.base.errors import InputError, OptionError
from priori.uncertainty.rates.user_rates import _log_posterior, _quantile, alike, fit_beta_binomial
from validation.coverage.simulation import population

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


def test_users_that_err_alike_have_the_chi_square_p_value() -> None:
    errors, trials = np.array([30, 45, 38, 52, 35]), np.array([400, 400, 400, 500, 420])
    expected = stats.chi2_contingency([errors, trials - errors], correction=False).pvalue
    assert alike(errors, trials) == pytest.approx(expected, abs=0.005)
    assert alike(np.array([0, 20, 0]), np.array([50, 50, 50])) < 1e-6
    assert alike(np.zeros(3, dtype=np.int64), np.array([5, 5, 5])) == 1.0
    assert alike(np.array([1, 0]), np.array([1, 1])) == 1.0


@pytest.mark.parametrize(("users", "rate"), [(40, 0.1), (300, 0.2), (2000, 0.01)])
def test_users_are_judged_as_permutations_of_their_errors_would(users: int, rate: float) -> None:
    rng = np.random.default_rng(users)
    trials = rng.integers(1, 12, users)
    for spread in (500.0, 30.0, 8.0):
        errors = rng.binomial(trials, rng.beta(spread * rate, spread * (1 - rate), users))
        drawn = rng.multivariate_hypergeometric(trials, errors.sum(), size=1999, method="marginals")
        permuted = (1 + ((drawn**2 / trials).sum(axis=1) >= (errors**2 / trials).sum() - 1e-9).sum()) / 2000
        assert alike(errors, trials) == pytest.approx(permuted, abs=0.04)


def test_those_above_are_those_whose_interval_is_above_the_rate_of_all() -> None:
    scores = population(40, 9, 39, crossed=True, user_effect_sd=0.5, probe_effect_sd=0.5, rng=2)
    found = priori.user_rates(scores, 1.6)
    assert [each["role"] for each in found.roles] == ["genuine", "claimed", "impostor"]
    for each in found.roles:
        rows = found.of_role(each["role"])
        overall = rows["errors"].sum() / rows["trials"].sum()
        assert each["overall"] == pytest.approx(overall)
        assert (rows["lower"] > overall).sum() == each["above"] == rows["above"].sum()
        assert np.all(np.diff(rows["shrunken"]) <= 0)
    impostors = found.of_role("impostor")
    user = str(impostors["user"][0])
    who = scores.users.values[scores.negative.probe_user] == user  # type: ignore[union-attr]
    assert (impostors["errors"][0], impostors["trials"][0]) == ((scores.negative.score[who] > 1.6).sum(), who.sum())
    assert found.roles[1]["p_value"] < 0.01
    assert len(found.of_role("genuine", 3)["user"]) == 3
    with pytest.raises(OptionError, match="unknown role 'sheep'"):
        found.of_role("sheep")  # type: ignore[arg-type]


def test_users_that_do_not_differ_are_not_told_apart() -> None:
    found = priori.user_rates(population(60, 9, 20, user_effect_sd=0.0, rng=5), 1.25)
    assert min(each["p_value"] for each in found.roles) > 0.05
    assert sum(each["above"] for each in found.roles) <= 2
    with pytest.raises(InputError, match="users of the trials are not known"):
        priori.user_rates(priori.Scores.from_arrays([0.0, 1.0], [1.0]), 0.5)


def test_the_figure_shows_the_rates_of_each_role(monkeypatch: pytest.MonkeyPatch) -> None:
    found = priori.user_rates(population(60, 9, 20, user_effect_sd=0.8, rng=1), 1.25)
    axes = found.plot()
    assert len(axes.get_legend_handles_labels()[1]) == 2
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), 100 * found.of_role("genuine")["shrunken"])
    monkeypatch.setattr("priori.plots.rates.MOST_DRAWN", 25)
    assert len(found.plot().lines[0].get_ydata()) == 25


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
    np.testing.assert_allclose(found, low, rtol=1e-7, atol=1e-7)


def test_very_many_users_are_answered_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    trials = rng.integers(20, 2000, 300).astype(float)
    errors = rng.binomial(trials.astype(int), rng.beta(2, 30, 300)).astype(float)
    fitted = fit_beta_binomial(errors, trials)
    wanted = fitted.rates(errors, trials, 0.95)
    monkeypatch.setattr("priori.uncertainty.rates.user_rates.AT_A_TIME", 5000)
    for found, other in zip(fitted.rates(errors, trials, 0.95), wanted, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-9)


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
