"""Attacks with a share of their own in every bootstrap, against plain EPCs and against loops in numpy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import priori
from priori.scores.derived import weigh_attacks
from priori.scores.trials import Mixture
from priori.uncertainty.bootstrap.resampling import Resampling

BETAS = [0.3, 0.6]


def by_user(seed: int, *, even: bool = True, users: int = 12, quality: float = 2.5) -> priori.Scores:
    """Users with impostors and genuine trials alike, and with as many attacks each, or with 1, 2, ... of them."""
    rng = np.random.default_rng(seed)
    attacks = np.full(users, 4) if even else np.arange(users) % 5 + 1
    user = np.concatenate([np.repeat(np.arange(users), number) for number in (8, attacks, 5)])
    label = np.repeat(["impostor", "attack", "genuine"], [8 * users, attacks.sum(), 5 * users])
    centre = np.select([label == "impostor", label == "attack"], [0.0, 1.3], quality)
    own = rng.normal(0, 0.4, users)[user]
    return priori.Scores.from_predictions(label, rng.normal(centre + own), user=user)


@pytest.mark.parametrize("resample", ["test", "both"])
@pytest.mark.parametrize("bootstrap", ["user", "joint"])
def test_replicates_are_those_of_the_plain_curve_where_shares_are_as_they_are(bootstrap: str, resample: str) -> None:
    """With a third of the negatives attacks, and as many for each user, omega = 1/3 weighs all trials alike."""
    dev, test = by_user(1), by_user(2)
    settings = {"bootstrap": bootstrap, "resample": resample, "interval": "percentile", "n_resamples": 200}
    if bootstrap == "joint":
        settings["n_resamples"] = (20, 10)
    mixed = priori.epsc(dev, test, omega=Fraction(1, 3), beta=BETAS).curves[0].band(**settings, keep=True)
    plain = priori.epc(dev, test, alpha=BETAS).band(**settings, keep=True)
    assert mixed.replicates is not None
    assert plain.replicates is not None
    if bootstrap == "user":
        np.testing.assert_allclose(mixed.replicates, plain.replicates, atol=1e-12)
    else:  # trials are drawn too, so that the share of attacks varies in the plain replicates
        np.testing.assert_allclose(mixed.replicates.mean(axis=0), plain.replicates.mean(axis=0), atol=0.02)


def rates(of: priori.Scores, times: np.ndarray, threshold: np.ndarray) -> list[np.ndarray]:
    """FAR, IAPMR and FRR at thresholds where each user comes so many times."""
    attack = of.attacks != ""
    found = []
    for trials, mask, wrong_above in (
        (of.negative, ~attack, True),
        (of.negative, attack, True),
        (of.positive, np.ones(of.n_positives, dtype=bool), False),
    ):
        assert trials.user is not None
        weight = times[trials.user[mask]]
        wrong = (trials.score[mask][:, None] > threshold) == wrong_above
        found.append(weight @ wrong / weight.sum())
    return found


def loop(dev: priori.Scores, test: priori.Scores, omega: float, beta: float, new: bool, size: int) -> np.ndarray:
    """The user bootstrap of HTER_omega, a replicate at a time; new thresholds by trying them all."""
    rng = np.random.default_rng(0)
    tried = np.unique(np.concatenate([[-np.inf], dev.negative.score, dev.positive.score]))
    between = np.append((tried[1:-1] + tried[2:]) / 2, tried[-1])
    between = np.concatenate([[-np.inf], between])
    values = np.empty(size)

    def chosen(times: np.ndarray) -> np.ndarray:
        far, iapmr, frr = rates(dev, times, tried)
        return between[[int(np.argmin(beta * (omega * iapmr + (1 - omega) * far) + (1 - beta) * frr + 1e-9 * frr))]]

    at = chosen(np.ones(12))
    for row in range(size):
        times, other = (np.bincount(rng.integers(0, 12, 12), minlength=12) for _ in "ab")
        far, iapmr, frr = rates(test, other, chosen(times) if new else at)
        values[row] = ((omega * iapmr + (1 - omega) * far + frr) / 2)[0]
    return values


@pytest.mark.parametrize("resample", ["test", "both"])
def test_uneven_users_against_a_loop(resample: str) -> None:
    dev, test = by_user(3, even=False), by_user(4, even=False)
    curve = priori.epsc(dev, test, omega=0.4, beta=0.5).curves[0]
    band = curve.band(
        bootstrap="user", resample=resample, interval="percentile", n_resamples=4000, keep=True, shared_users=False
    )
    expected = loop(dev, test, 0.4, 0.5, resample == "both", 1500)
    assert band.mean[0] == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(1500))
    assert band.replicates is not None
    assert band.replicates.std() == pytest.approx(expected.std(), rel=0.08)


def test_the_method_interval_has_the_variance_of_both_sets() -> None:
    """The expected value's standard error, from influences, is near that of drawing both sets anew."""
    dev, test = by_user(5, even=False), by_user(6, even=False)
    curve = priori.epsc(dev, test, omega=0.4, beta=0.5).curves[0]
    band = curve.band(bootstrap="user", resample="both", n_resamples=2000, keep=True, shared_users=False)
    assert band.replicates is not None
    assert band.replicates.std() == pytest.approx(loop(dev, test, 0.4, 0.5, True, 800).std(), rel=0.35)


def test_sample_bootstrap_has_the_binomial_variance() -> None:
    rng = np.random.default_rng(7)
    dev, test = (
        priori.Scores.from_arrays(rng.normal(0, 1, 800), rng.normal(2.5, 1, 400), attacks=rng.normal(1.2, 1, 200))
        for _ in "ab"
    )
    curve = priori.epsc(dev, test, omega=0.5, beta=[0.5])
    variance = sum(
        share**2 * rate * (1 - rate) / number
        for share, rate, number in ((0.25, curve.far[0], 800), (0.25, curve.iapmr[0], 200), (0.5, curve.frr[0], 400))
    )
    band = curve.curves[0].band(interval="percentile", n_resamples=4000, keep=True)
    assert band.replicates is not None
    assert band.replicates.std() == pytest.approx(np.sqrt(variance), rel=0.05)
    for omega in (0.1, 0.5, 0.9):
        surface = priori.epsc(dev, test, omega=omega, beta=[0.5])
        calibrated = surface.band(n_resamples=4000)
        parts = ((1 - omega) / 2, surface.far[0], 800), (omega / 2, surface.iapmr[0], 200), (0.5, surface.frr[0], 400)
        variance = sum(share**2 * rate * (1 - rate) / number for share, rate, number in parts)
        assert calibrated.lower[0] < surface.value[0] < calibrated.upper[0]
        assert calibrated.upper[0] - calibrated.lower[0] == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.06)


@pytest.mark.parametrize("claim", ["deployed", "method"])
def test_two_systems_are_compared_under_both_claims(claim: str) -> None:
    """The same trials: a better system against a worse one, and against itself."""
    pairs = [(by_user(8, quality=quality), by_user(9, quality=quality)) for quality in (2.0, 4.0)]
    worse, better = (
        priori.epsc(*pair, omega=0.5, beta=0.5, name=name).over_beta(0.5)
        for pair, name in zip(pairs, ("worse", "better"), strict=True)
    )
    result = priori.compare(worse, better, claim=claim, n_resamples=500)
    assert [region.better for region in result.regions] == ["better"]
    itself = priori.compare(worse, worse, claim=claim, n_resamples=500)
    assert not itself.significant.any()
    with pytest.raises(priori.OptionError, match="one omega"):
        priori.compare(worse, priori.epsc(*pairs[1], omega=0.4).over_beta(0.5).at(0.5))


def test_crossed_identities_run() -> None:
    rng = np.random.default_rng(0)
    user, probe = np.repeat(np.arange(10), 10), np.tile(np.arange(10), 10)
    label = np.where(user == probe, "genuine", "impostor")
    attacked = np.arange(10)
    names = np.concatenate([user, attacked]), np.concatenate([probe, attacked])
    labels = np.concatenate([label, np.repeat("attack", 10)])
    score = rng.normal(np.select([labels == "impostor", labels == "attack"], [0.0, 1.0], 2.0))
    dev, test = (
        priori.Scores.from_predictions(labels, score + shift, user=names[0], probe_user=names[1]) for shift in (0, 0.1)
    )
    curve = priori.epsc(dev, test, omega=0.3)
    for settings in ({"bootstrap": "crossed"}, {"bootstrap": "crossed", "resample": "both"}):
        band = curve.band(n_resamples=100, **settings)
        assert (band.lower <= band.upper).all()


def test_many_trials_go_by_histogram() -> None:
    """Of many trials the method's sets are made of histograms: the same expected value as trial by trial."""
    rng = np.random.default_rng(1)
    sets = [
        priori.Scores.from_arrays(
            rng.normal(0, 1, 90_000), rng.normal(2.5, 1, 30_000), attacks=rng.normal(1, 1, 20_000)
        )
        for _ in "ab"
    ]
    curve = priori.epsc(*sets, omega=0.5).curves[0]
    band = curve.band(resample="both", n_resamples=200)
    assert band.mean[0] == pytest.approx(curve.value[0], abs=0.003)
    assert weigh_attacks(sets[0], Fraction(1, 2)).mixture is not None


def test_the_calibration_of_draws_knows_what_trials_of_each_kind_weigh() -> None:
    """What one error more would be, and how FAR_omega varies, by hand."""
    rng = np.random.default_rng(8)
    impostors, attacks = rng.normal(0, 1, 80), rng.normal(1, 1, 20)
    plain = priori.Scores.from_arrays(impostors, rng.normal(2.5, 1, 40), attacks=attacks)
    at = np.array([0.5, 1.5])
    for omega in (0.1, 0.7):
        test = weigh_attacks(plain, Fraction(str(omega)))
        plan = Resampling("sample", 100).settle(None, test)
        found = plan.design.calibrate(test, at, plan)
        far, iapmr = ((part[:, None] > at).mean(axis=0) for part in (impostors, attacks))
        variance = omega**2 * iapmr * (1 - iapmr) / 20 + (1 - omega) ** 2 * far * (1 - far) / 80
        np.testing.assert_allclose(found.spread.variance[0], variance, rtol=1e-12)
        # An error of an attack is omega / 20 of the rate, where an average one is 1 / 100.
        np.testing.assert_allclose(found.weight[0], 100 * max(omega / 20, (1 - omega) / 80), rtol=1e-12)
        np.testing.assert_array_equal(found.weight[1], 1)


def test_entries_that_stand_for_several_trials_weigh_as_many() -> None:
    """Cells of a scanned table are such entries."""
    rng = np.random.default_rng(9)
    scores = priori.Scores.from_arrays(rng.normal(0, 1, 30), rng.normal(2.5, 1, 20), attacks=rng.normal(1, 1, 10))
    times, single = rng.integers(1, 5, 40), scores.negative
    entries = replace(single, number=times)
    repeated = single.take(np.repeat(np.arange(40), times))
    for omega in (Fraction(1, 5), Fraction(2, 3)):
        found, expected = (Mixture.of(each, omega).weights(each) for each in (entries, repeated))
        np.testing.assert_allclose(np.repeat(found / times, times), expected, rtol=1e-12)
