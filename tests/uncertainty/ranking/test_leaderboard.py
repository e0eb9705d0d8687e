"""A leaderboard: both rankings under one set of draws, beside values computed trial by trial."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

import priori
from priori.base.errors import OptionError
from priori.decisions.measures import get_measure
from priori.uncertainty.bootstrap import kernels
from priori.uncertainty.bootstrap.draws import TEST_USERS
from priori.uncertainty.bootstrap.layout import bins_between, distinct_scores
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.expected.influences import group_units
from priori.uncertainty.ranking.leaderboard import GROUPS, POSTERIORS, Against, as_methods, draw_both
from priori.uncertainty.ranking.ranks import kendall_tau, moved_ranks, rank_shares, ranks_of, tau_interval


def _curves(seed: int, qualities: tuple[float, ...], users: bool = True, shift: float = 0.0) -> list[priori.EPC]:
    rng = np.random.default_rng(seed)
    label, user = np.tile([0, 0, 1], 30), np.repeat(np.arange(15), 6)
    common = rng.normal(size=(2, label.size))

    def scores(quality: float, part: int, moved: float) -> priori.Scores:
        values = np.round(quality * label + common[part] + rng.normal(size=label.size) + moved, 1)
        return priori.Scores.from_predictions(label, values, user=user if users else None)

    return [
        priori.epc(scores(quality, 0, 0.0), scores(quality, 1, shift * (number == 0)), alpha=[0.3], name=f"S{number}")
        for number, quality in enumerate(qualities)
    ]


@pytest.mark.parametrize("users", [True, False])
def test_a_draw_is_its_trials_written_out(users: bool) -> None:
    (curve,) = _curves(5, (1.5,), users)
    test = curve.test.load()
    plan = Resampling(n_resamples=10).settle(curve.dev, test)
    units = group_units(test, plan, GROUPS)
    times = np.empty((units.count, 7))
    kernels.multiplicities(0, plan.seed, 1, TEST_USERS, units.strata, times)
    negative, positive = (times[people.unit].T for people in units.classes)
    assert negative.sum(axis=1).min() > 0
    drawn = {name: draw_both([curve], plan, name, 7)[1][:, 0] for name in POSTERIORS}
    fixed = draw_both([curve], plan, "eer", 7)[0][:, 0]
    for row in range(7):
        written_out = priori.Scores.from_arrays(
            np.repeat(test.negative.score, negative[row].astype(int)),
            np.repeat(test.positive.score, positive[row].astype(int)),
        )
        for name, (_, figures) in POSTERIORS.items():
            assert drawn[name][row] == pytest.approx(figures([written_out])[0], abs=1e-12)
        far = (written_out.negatives > curve.threshold[0]).mean()
        frr = (written_out.positives <= curve.threshold[0]).mean()
        assert fixed[row] == pytest.approx((far + frr) / 2, abs=1e-12)


def test_draws_do_not_depend_on_their_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    curves = _curves(5, (1.5, 1.0))
    plan = Resampling(n_resamples=10).settle(curves[0].dev, curves[0].test)
    whole = draw_both(curves, plan, "eer", 20)
    monkeypatch.setattr("priori.uncertainty.bootstrap.draws.HELD", 300)
    for once, again in zip(whole, draw_both(curves, replace(plan, threads=1), "eer", 20), strict=True):
        np.testing.assert_array_equal(once, again)


@pytest.mark.parametrize("bootstrap", ["user", "crossed"])
@pytest.mark.parametrize("against", list(POSTERIORS))
def test_cells_stand_for_many_trials(monkeypatch: pytest.MonkeyPatch, bootstrap: str, against: Against) -> None:
    """At the threshold, which is a cut, every draw is the same; a posteriori to the share by which rates change."""
    rng = np.random.default_rng(8)
    label, user = np.tile([0, 0, 1], 1000), rng.integers(0, 60, 3000)
    probe = np.where(label == 1, user, rng.integers(0, 60, 3000))
    sets = [
        priori.Scores.from_predictions(label, rng.normal(quality * label), user=user, probe_user=probe)
        for quality in (1.5, 1.0)
    ]
    curves = [priori.epc(each, each, alpha=[0.3]) for each in sets]
    plan = Resampling(bootstrap, n_resamples=10).settle(curves[0].dev, curves[0].test)
    before, after = draw_both(curves, plan, against, 70)
    monkeypatch.setattr("priori.uncertainty.bootstrap.layout.DISTINCT", 10)
    monkeypatch.setattr("priori.uncertainty.bootstrap.layout.BOUND", 0.005)
    cells_before, cells_after = draw_both(curves, plan, against, 70)
    np.testing.assert_allclose(cells_before, before, rtol=0, atol=1e-12)
    np.testing.assert_allclose(cells_after, after, rtol=0, atol=0.01)
    assert against == "min_dcf" or (cells_after != after).any()


def test_groups_of_trials_vary_as_trials_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many trials without users, groups are drawn: the HTER has the variance of two binomial rates."""
    monkeypatch.setattr("priori.uncertainty.ranking.leaderboard.GROUPS", 600)
    rng = np.random.default_rng(3)
    test = priori.Scores.from_arrays(rng.normal(0, 1, 5000), rng.normal(1, 1, 3000))
    curve = priori.epc(test, test, alpha=[0.5])
    plan = Resampling("sample", n_resamples=10).settle(test, test)
    (drawn,) = draw_both([curve, curve], plan, "eer", 2000)[0].T[:1]
    far, frr = (test.negatives > curve.threshold[0]).mean(), (test.positives <= curve.threshold[0]).mean()
    expected = np.sqrt(far * (1 - far) / 5000 + frr * (1 - frr) / 3000) / 2
    assert drawn.mean() == pytest.approx((far + frr) / 2, abs=4 * expected / np.sqrt(2000))
    assert drawn.std() == pytest.approx(expected, rel=0.12)


def test_kendalls_tau_is_scipys() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 6, (2, 7, 12)).astype(float)
    for row in range(7):
        assert kendall_tau(first, second)[row] == pytest.approx(kendalltau(first[row], second[row]).statistic)
    assert kendall_tau(np.ones(3), np.arange(3.0)).item() == 0


def _board(
    rng: np.random.Generator, truth: np.ndarray, noise: float, draws: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Both rankings of systems with these true values (rows), and draws of them; two thirds of the noise are shared."""

    def errors(number: int) -> np.ndarray:
        shared = np.sqrt(2) * rng.normal(size=(number, 1, truth.shape[1]))
        return noise * (shared + rng.normal(size=(number, *truth.shape))) / np.sqrt(3)

    seen = truth + errors(1)[0]
    return list(zip(seen, (seen + errors(draws)).swapaxes(0, 1), strict=True))


@pytest.mark.parametrize("systems", [3, 6, 10])
@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0, 4.0])
def test_the_interval_covers_tau_whether_rankings_agree_or_not(systems: int, noise: float) -> None:
    rng = np.random.default_rng(systems)
    agreeing = np.arange(systems, dtype=float)
    moved = agreeing[[1, 0, *range(2, systems)]]
    for other in (agreeing, moved, agreeing[::-1]):
        tau, covered, widths = float(kendall_tau(agreeing, other)), [], []
        for _ in range(100):
            lower, upper = tau_interval(_board(rng, np.stack([agreeing, other]), noise, 200), 0.95)
            covered.append(lower - 1e-9 <= tau <= upper + 1e-9)
            widths.append(upper - lower)
        assert np.mean(covered) >= 0.93
        if noise == 0.1:  # as in trials enough to tell all systems apart
            assert np.mean(widths) < 0.02


def test_the_interval_of_tau_is_of_what_pairs_may_do() -> None:
    draws = np.random.default_rng(2).normal(0, [1.0, 1.0, 1.0, 0.0], (4000, 4))
    sure = np.array([0.0, 10.0, 20.0, 30.0])
    # Of six pairs one is not told apart by the second ranking: its two lie four deviations of one apart, less than the
    # 2.87 of a normal that 12 bounds at 95 % together take, times the root of two.
    assert tau_interval([(sure, draws), (np.array([0.0, 4.0, 20.0, 30.0]), draws)], 0.95) == (pytest.approx(4 / 6), 1.0)
    assert tau_interval([(sure, draws), (np.array([0.0, 4.2, 20.0, 30.0]), draws)], 0.95) == (1.0, 1.0)
    assert tau_interval([(sure, draws), (np.array([4.2, 0.0, 20.0, 30.0]), draws)], 0.95) == pytest.approx(
        (2 / 3, 2 / 3)
    )
    assert tau_interval([(sure, draws), (np.zeros(4), draws)], 0.95) == (-1.0, 1.0)


def test_moves_are_simultaneous() -> None:
    drawn = np.array([[1, -4], [3, -6], [1, -4], [3, -6]])
    lower, upper, sure = moved_ranks(np.array([2, -5]), drawn, 0.95)
    assert (lower.tolist(), upper.tolist(), sure.tolist()) == ([1, -6], [3, -4], [True, True])
    assert moved_ranks(np.array([1, -5]), drawn, 0.95)[2].tolist() == [False, True]


def test_ranks_forgive_rounding() -> None:
    assert ranks_of(np.array([0.1 + 0.2, 0.3, 0.1])).tolist() == [2, 2, 1]


def test_ranks_by_sorting_are_those_by_comparing_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("priori.uncertainty.ranking.ranks.DRAWS_AT_A_TIME", 7)
    values = np.random.default_rng(3).integers(0, 9, (50, 12)).astype(np.float32)  # with many equals
    below, equal = ((compare(values[:, None, :], values[:, :, None])).sum(axis=-1) for compare in (np.less, np.equal))
    np.testing.assert_array_equal(ranks_of(values), 1 + below)
    place = np.arange(12)
    held = (place >= below[:, :, None]) & (place < (below + equal)[:, :, None])
    np.testing.assert_allclose(rank_shares(values), (held / equal[:, :, None]).mean(axis=0), atol=1e-15)


@pytest.mark.parametrize("bootstrap", ["user", "sample"])
@pytest.mark.parametrize("measure", ["hter", "f1"])
def test_intervals_of_values_are_those_of_each_band(bootstrap: str, measure: str) -> None:
    shown = get_measure(measure)
    curves = [curve.showing(shown) for curve in _curves(5, (1.5, 1.0, 9.0))]  # one without an error
    board = priori.rank(curves, alpha=0.3, bootstrap=bootstrap, n_resamples=400)
    bands = {curve.name: curve.band(bootstrap=bootstrap, n_resamples=400) for curve in curves}
    for system, lower, upper in zip(board.system, board.lower, board.upper, strict=True):
        assert (lower, upper) == (bands[system].lower[0], bands[system].upper[0])


def test_the_best_a_posteriori_loses_when_its_scale_moves() -> None:
    curves = _curves(7, (4.0, 2.5, 2.0, 1.5), shift=4.0)
    board = priori.rank(curves, alpha=0.3, n_resamples=2000)
    assert board.post_rank[board.system == "S0"] == 1
    assert board.rank[board.system == "S0"] == 4
    (move,) = [move for move in board.moves if move["name"] == "S0"]
    assert move["gain"] == -3
    assert move["significant"]
    values = {curve.name: curve.value[0] for curve in curves}
    assert dict(zip(board.system.tolist(), board.value, strict=True)) == values
    assert (np.diff(board.value) >= 0).all()
    bands = {curve.name: curve.band(n_resamples=2000) for curve in curves}
    assert board.lower.tolist() == [bands[name].lower[0] for name in board.system]
    assert board.upper.tolist() == [bands[name].upper[0] for name in board.system]
    post = {curve.name: priori.a_posteriori_eer(curve.test) for curve in curves}
    assert board.post_value.tolist() == [post[name] for name in board.system]
    assert board.tau == pytest.approx(
        kendalltau([values[name] for name in values], [post[name] for name in values]).statistic
    )
    np.testing.assert_allclose(board.rank_probability.sum(axis=1), 1)
    assert "S0" not in board.could_be_best


def test_draws_of_methods_have_the_covariances_of_methods() -> None:
    rng = np.random.default_rng(3)
    covariance = np.array([[4.0, 1.0], [1.0, 2.0]])
    drawn = rng.multivariate_normal([5, 7], covariance / 4, 200_000)
    found = as_methods(drawn, np.array([1.0, 2.0]), covariance, 0)
    np.testing.assert_allclose(found.mean(axis=0), [1, 2], atol=0.01)
    np.testing.assert_allclose(np.cov(found.T), covariance, atol=0.03)
    # Draws that vary more than the methods are left as they are.
    np.testing.assert_allclose(as_methods(drawn, np.zeros(2), np.zeros((2, 2)), 0), drawn - drawn.mean(axis=0))


def test_gains_of_methods_are_between_the_ranks_that_are_shown() -> None:
    curves = _curves(7, (2.2, 2.1, 2.0, 1.9, 1.8), shift=0.3)
    board = priori.rank(curves, alpha=0.3, claim="method", n_resamples=500)
    assert [move["name"] for move in board.moves] == board.system.tolist()
    assert [move["gain"] for move in board.moves] == (board.post_rank - board.rank).tolist()


def test_greater_may_be_better() -> None:
    curves = [curve.at([0.5]) for curve in _curves(7, (0.5, 3.0))]
    retrieval = [priori.epc(curve.dev, curve.test, task="retrieval", alpha=[0.5], name=curve.name) for curve in curves]
    board = priori.rank(retrieval, against="auc", n_resamples=500)
    assert board.system.tolist() == ["S1", "S0"]
    assert board.post_rank.tolist() == [1, 2]


def test_it_comes_back_from_a_file(tmp_path: object) -> None:
    board = priori.rank(_curves(7, (2.5, 1.5)), n_resamples=500)
    back = priori.Leaderboard.from_json(board.to_json())
    for name, column in board.columns().items():
        assert back.columns()[name].tolist() == column.tolist()
    assert back.to_dict() == board.to_dict()


def test_what_cannot_be_ranked_is_said() -> None:
    curves = _curves(7, (2.5, 1.5))
    with pytest.raises(OptionError, match="unknown a posteriori figure 'f1'"):
        priori.rank(curves, against="f1")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="two or more curves"):
        priori.rank(curves[:1])


def test_infinite_scores_are_tied_with_each_other() -> None:
    test = priori.Scores.from_arrays([-np.inf, -np.inf, 0.0, np.inf], [-np.inf, 0.0, np.inf, np.inf])
    bins = bins_between(test, distinct_scores(test))
    assert bins.negative.tolist() == [0, 0, 1, 2]
    assert bins.positive.tolist() == [0, 1, 2, 2]
