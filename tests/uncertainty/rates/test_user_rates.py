"""Who makes the errors: intervals beside those of proportions, the test beside scipy's and permutations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import priori
from priori.base.errors import InputError, OptionError
from priori.uncertainty.rates.user_rates import alike
from validation.coverage.simulation import population


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
        together = priori.proportion_interval(
            rows["errors"], rows["trials"], confidence_level=0.95 ** (1 / each["users"])
        )
        assert rows["above"].tolist() == (together.lower > overall).tolist()
        assert each["above"] == rows["above"].sum()
        assert np.all(np.diff(rows["lower"]) <= 0)
        wilson = priori.proportion_interval(rows["errors"], rows["trials"])
        np.testing.assert_allclose((rows["lower"], rows["upper"]), (wilson.lower, wilson.upper))
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
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), 100 * found.of_role("genuine")["rate"])
    monkeypatch.setattr("priori.plots.rates.MOST_DRAWN", 25)
    assert len(found.plot().lines[0].get_ydata()) == 25
