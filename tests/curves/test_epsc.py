"""The EPSC against brute force in fractions, and against the EPC that it is at the ends and in the middle."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import priori
from priori.decisions.outcomes import count
from priori.scores.derived import weigh_attacks

OMEGAS = [Fraction(k, 7) for k in range(8)]
BETAS = [Fraction(k, 6) for k in range(7)]


def scores(seed: int, impostors: int = 30, attacks: int = 11, genuine: int = 23, digits: int = 1) -> priori.Scores:
    """Scores with ties, attacks between impostors and genuine trials."""
    rng = np.random.default_rng(seed)
    return priori.Scores.from_arrays(
        np.round(rng.normal(0, 1, impostors), digits),
        np.round(rng.normal(2, 1, genuine), digits),
        attacks=np.round(rng.normal(1, 1, attacks), digits),
    )


def parts(of: priori.Scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    attack = of.attacks != ""
    return of.negative.score[~attack], of.negative.score[attack], of.positive.score


def by_brute_force(dev: priori.Scores, omega: Fraction, beta: Fraction) -> float:
    """Try every gap between distinct scores that weigh anything, in fractions."""
    impostors, attacks, genuine = parts(dev)
    weighing = [genuine] + [impostors] * (omega < 1) + [attacks] * (omega > 0)
    values = [-np.inf, *np.unique(np.concatenate(weighing)), np.inf]
    tried = []
    for low, high in pairwise(values):
        far, iapmr = (Fraction(int((part > low).sum()), part.size) for part in (impostors, attacks))
        frr = Fraction(int((genuine <= low).sum()), genuine.size)
        far_omega = omega * iapmr + (1 - omega) * far
        middle = low if np.isinf(low) else np.inf if np.isinf(high) else 0.5 * low + 0.5 * high
        tried.append((beta * far_omega + (1 - beta) * frr, far_omega + frr, low, middle))
    return float(min(tried)[-1])


@pytest.mark.parametrize("seed", range(20))
def test_thresholds_are_those_of_brute_force(seed: int) -> None:
    dev, test = scores(seed), scores(1000 + seed, 41, 17, 19)
    curve = priori.epsc(dev, test, omega=OMEGAS, beta=BETAS)
    assert curve.threshold.tolist() == [by_brute_force(dev, omega, beta) for omega in OMEGAS for beta in BETAS]
    impostors, attacks, genuine = parts(test)
    for row, threshold in enumerate(curve.threshold):
        far, iapmr, frr = (impostors > threshold).mean(), (attacks > threshold).mean(), (genuine <= threshold).mean()
        far_omega = curve.omega[row] * iapmr + (1 - curve.omega[row]) * far
        expected = [far, frr, iapmr, far_omega, (far_omega + frr) / 2]
        found = [curve.far, curve.frr, curve.iapmr, curve.far_omega, curve.value]
        np.testing.assert_allclose([column[row] for column in found], expected, atol=1e-14)
        after = by_brute_force(test, OMEGAS[row // len(BETAS)], BETAS[row % len(BETAS)])
        far, iapmr, frr = (impostors > after).mean(), (attacks > after).mean(), (genuine <= after).mean()
        assert curve.best[row] == pytest.approx((curve.omega[row] * (iapmr - far) + far + frr) / 2, abs=1e-14)


def test_a_grid_of_thresholds_is_never_better() -> None:
    dev = scores(3, 400, 150, 250, digits=3)
    impostors, attacks, genuine = parts(dev)
    for omega in (0.25, 0.5, 0.9):
        curve = priori.epsc(dev, dev, omega=omega, beta=[0.2, 0.5, 0.8])
        for row, beta in enumerate((0.2, 0.5, 0.8)):
            low, high = min(map(np.min, (impostors, attacks, genuine))), genuine.max()
            grid = np.linspace(low, high, 5000)[:, None]
            far = omega * (attacks > grid).mean(axis=1) + (1 - omega) * (impostors > grid).mean(axis=1)
            costs = beta * far + (1 - beta) * (genuine <= grid).mean(axis=1)
            ours = beta * curve.far_omega[row] + (1 - beta) * curve.frr[row]
            assert ours <= costs.min() + 1e-12


def test_the_ends_are_the_epc_of_impostors_and_of_attacks() -> None:
    dev, test = scores(5), scores(6)
    curve = priori.epsc(dev, test, omega=[0, 1], beta=BETAS)
    for index, omega in enumerate((0, 1)):
        sides = []
        for each in (dev, test):
            impostors, attacks, genuine = parts(each)
            sides.append(priori.Scores.from_arrays(attacks if omega else impostors, genuine))
        alone = priori.epc(*sides, alpha=BETAS)
        np.testing.assert_array_equal(curve.curves[index].threshold, alone.threshold)
        np.testing.assert_array_equal(curve.curves[index].value, alone.value)


def test_the_share_of_all_negatives_gives_the_plain_epc() -> None:
    dev, test = scores(7, 30, 10), scores(8, 30, 10)
    alone = priori.epc(dev, test, alpha=BETAS)
    curve = priori.epsc(dev, test, omega=Fraction(1, 4), beta=BETAS)  # 10 of 40 negatives are attacks
    np.testing.assert_array_equal(curve.threshold, alone.threshold)
    np.testing.assert_allclose(curve.value, alone.value, atol=1e-15)
    assert [warning.code for warning in alone.warnings if warning.code == "attacks-pooled"]  # type: ignore[attr-defined]
    assert "attacks-pooled" not in [warning.code for warning in curve.warnings]  # type: ignore[attr-defined]


def test_views_of_the_surface() -> None:
    curve = priori.epsc(scores(1), scores(2), omega=[0.2, 0.5, 0.8], beta=[0.3, 0.7], name="A")
    assert curve.surface("iapmr").shape == (3, 2)
    over_beta = curve.over_beta(0.5)
    np.testing.assert_array_equal(over_beta.value, curve.surface()[1])
    assert over_beta.omega == Fraction(1, 2)
    assert curve.columns()["beta"].tolist() == [0.3, 0.7] * 3
    for drawn in (curve, priori.epsc(scores(1), scores(2), omega=[0.2, 0.5, 0.8], beta=0.7)):
        assert drawn.plot().get_title().startswith("Expected Performance and Spoofability")


def test_counts_of_a_mixture_are_whole_numbers() -> None:
    mixed = weigh_attacks(scores(4, 6, 4, 5), Fraction(1, 3))  # 6 times 4 is 2/3 of 36
    assert mixed.whole_negatives == 36
    assert mixed.mixture is not None
    assert (mixed.mixture.impostor_weight, mixed.mixture.attack_weight) == (4, 3)
    outcomes = count(mixed, [-np.inf, np.inf])
    assert outcomes.fp.tolist() == [36, 0]
    assert outcomes.fp.dtype == np.int64


@pytest.mark.parametrize("omega", [Fraction(1, 10), Fraction(1, 2), Fraction(5, 7)])
def test_the_variance_of_a_mixture_is_that_of_drawing_its_parts(omega: Fraction) -> None:
    of = scores(11, 60, 25, 40)
    impostors, attacks, _ = parts(of)
    mixture = weigh_attacks(of, omega).mixture
    assert mixture is not None
    rng, share = np.random.default_rng(12), float(omega)
    thresholds = np.array([-1.0, 0.25, 1.0])
    drawn = [part[rng.integers(0, part.size, (20_000, part.size))] for part in (impostors, attacks)]
    far, iapmr = (np.stack([(each > t).mean(axis=1) for t in thresholds]) for each in drawn)
    simulated = (share * iapmr + (1 - share) * far).var(axis=1)
    np.testing.assert_allclose(mixture.variance(thresholds), simulated, rtol=0.04)
    rates = [[(part > t).mean() for t in thresholds] for part in (impostors, attacks)]
    binomial = [np.multiply(rate, np.subtract(1, rate)) / n for rate, n in zip(rates, (60, 25), strict=True)]
    expected = (1 - share) ** 2 * binomial[0] + share**2 * binomial[1]
    np.testing.assert_allclose(mixture.variance(thresholds), expected, rtol=1e-12)


def test_trials_of_a_mixture_weigh_what_their_shares_say() -> None:
    of = scores(13, 60, 25, 40)
    for omega in (Fraction(1, 10), Fraction(5, 7)):
        mixture = weigh_attacks(of, omega).mixture
        assert mixture is not None
        attack = of.attacks != ""
        # Of 85 average trials attacks have the share omega.
        each = np.where(attack, 85 * float(omega) / 25, 85 * float(1 - omega) / 60)
        np.testing.assert_allclose(mixture.weights(of.negative), each, rtol=1e-12)
        assert mixture.heaviest == pytest.approx(each.max())
        for threshold in (-0.5, 0.5, 1.5):
            accepted = each[of.negative.score > threshold].sum() / 85
            assert 1 - mixture.rejected(threshold) / mixture.whole == pytest.approx(accepted)


def test_a_development_set_without_attacks_has_omega_0() -> None:
    plain = weigh_attacks(scores(0), Fraction(0))
    found, known = (priori.epsc(dev, scores(1), omega=0, beta=[0.3, 0.5]) for dev in (plain, scores(0)))
    for column in ("threshold", "far", "frr", "iapmr", "value"):
        np.testing.assert_array_equal(getattr(found, column), getattr(known, column))
    without = priori.Scores.from_arrays(plain.negative.score, plain.positive.score)
    np.testing.assert_array_equal(priori.epsc(without, scores(1), omega=0).threshold, known.threshold[1:])
    no_spoof = {"costs": (1, 10, 0)}
    assert priori.adcf(without, scores(1), **no_spoof).value == priori.adcf(scores(0), scores(1), **no_spoof).value


def test_what_is_refused() -> None:
    plain = priori.Scores.from_arrays([0.1, 0.2], [0.3, 0.4])
    with pytest.raises(priori.InputError, match="no attack among the negatives"):
        priori.epsc(plain, plain)
    with pytest.raises(priori.InputError, match="no attack among the negatives, which is possible with omega 0 only"):
        priori.epsc(plain, scores(1))
    with pytest.raises(priori.OptionError, match="omega is given twice"):
        priori.epsc(scores(0), scores(1), omega=[0.5, "1/2"])
    with pytest.raises(priori.OptionError, match="must lie between 0 and 1"):
        priori.epsc(scores(0), scores(1), omega=1.5)
    mixed = weigh_attacks(scores(0), Fraction(1, 2))
    with pytest.raises(priori.OptionError, match="not exact"):
        priori.epc(mixed, mixed, exact=True)


def test_a_dcf_is_its_definition() -> None:
    """Shim et al. 2024: the actual cost at the development threshold, and the smallest on the test data."""
    dev, test = scores(9, 60, 40, 50, digits=2), scores(10, 70, 30, 60, digits=2)
    impostors, attacks, genuine = parts(test)

    def cost(threshold: float) -> float:
        rates = (genuine <= threshold).mean(), (impostors > threshold).mean(), (attacks > threshold).mean()
        return float(np.dot([1 * 0.9, 10 * 0.05, 20 * 0.05], rates)) / min(0.9, 10 * 0.05 + 20 * 0.05)

    curve = priori.adcf(dev, test)
    assert curve.value[0] == pytest.approx(cost(curve.threshold[0]), abs=1e-12)
    candidates = [-np.inf, *impostors, *attacks, *genuine]
    weights, of_dev = (0.9, 0.5, 1.0), parts(dev)

    def dev_cost(threshold: float) -> float:
        rates = (of_dev[2] <= threshold).mean(), (of_dev[0] > threshold).mean(), (of_dev[1] > threshold).mean()
        return float(np.dot(weights, rates))

    assert dev_cost(curve.threshold[0]) == pytest.approx(min(map(dev_cost, [-np.inf, *np.concatenate(of_dev)])))
    assert curve.best[0] == pytest.approx(min(map(cost, candidates)), abs=1e-12)
    plain = priori.adcf(dev, test, normalised=False)
    assert plain.value[0] == pytest.approx(cost(curve.threshold[0]) * 0.9, abs=1e-12)
    with pytest.raises(priori.OptionError, match="three numbers"):
        priori.adcf(dev, test, costs=(1, 2))
    with pytest.raises(priori.OptionError, match="positive"):
        priori.adcf(dev, test, costs=(0, 1, 1))
    with pytest.raises(priori.OptionError, match=r"add up to 1, not 0\.8"):
        priori.adcf(dev, test, priors=("0.5", "0.2", "0.1"))
