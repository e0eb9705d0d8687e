"""Users that weigh alike: rates as means over users, their bands and comparisons, and what does not go with them."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori import InputError, OptionError, Scores

SIZES = np.array([2, 40, 5, 7, 9, 11, 13, 3, 1, 20])
AT = [0.3, 0.5, 0.7]


def draw(seed: int, quality: float = 2.0) -> Scores:
    """Ten users; those with many trials have the worse scores. The last has no positive."""
    rng = np.random.default_rng(seed)
    negative, positive = np.repeat(np.arange(10), SIZES), np.repeat(np.arange(9), SIZES[:9])
    scores = rng.normal(0, 1, negative.size), rng.normal(quality - 0.03 * SIZES[positive], 1)
    return Scores.from_arrays(*scores, negative_user=negative, positive_user=positive)


def user_rates(scores: Scores, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """The FAR of each user, and the FRR of those who have positives, by hand."""
    negative, positive = scores.negative, scores.positive
    far = [(negative.score[negative.user == user] > threshold).mean() for user in range(10)]
    frr = [(positive.score[positive.user == user] <= threshold).mean() for user in range(9)]
    return np.array(far), np.array(frr)


@pytest.fixture(scope="module")
def curve():
    return priori.epc(draw(1), draw(2), alpha=AT, weight="user")


def test_rates_are_means_over_users_and_thresholds_those_of_trials(curve):
    plain = priori.epc(draw(1), draw(2), alpha=AT)
    np.testing.assert_array_equal(curve.threshold, plain.threshold)
    np.testing.assert_array_equal(curve.outcomes.fp, plain.outcomes.fp)
    for k, threshold in enumerate(curve.threshold):
        far, frr = user_rates(curve.test, threshold)
        assert (curve.v1[k], curve.v2[k]) == pytest.approx((far.mean(), frr.mean()))
        assert curve.value[k] == pytest.approx((far.mean() + frr.mean()) / 2)
    assert (np.abs(curve.value - plain.value) > 0.01).all()
    np.testing.assert_array_equal(curve.at([0.5]).value, curve.value[1:2])
    itself = priori.epc(draw(2), draw(2), alpha=AT, weight="user")
    np.testing.assert_allclose(curve.best, itself.value)


def test_with_as_many_trials_each_nothing_changes():
    user = np.repeat(np.arange(6), 5)
    rng = np.random.default_rng(0)
    sets = [
        Scores.from_arrays(*rng.normal([[0], [2]], 1, (2, 30)), negative_user=user, positive_user=user) for _ in "ab"
    ]
    alike, plain = (priori.epc(*sets, alpha=AT, weight=weight) for weight in ("user", "trial"))
    np.testing.assert_allclose(alike.value, plain.value)
    bands = [each.band(n_resamples=300, keep=True) for each in (alike, plain)]
    np.testing.assert_allclose(bands[0].replicates, bands[1].replicates, atol=1e-9)
    np.testing.assert_allclose(bands[0].upper, bands[1].upper, atol=1e-9)
    assert alike.area == pytest.approx(plain.area)


def test_replicates_are_means_over_the_users_drawn(curve):
    found = curve.band(n_resamples=20_000, interval="percentile", keep=True).replicates
    rng = np.random.default_rng(0)
    far, frr = user_rates(curve.test, curve.threshold[1])
    drawn = rng.integers(0, 10, (20_000, 10))
    known = np.append(frr, np.nan)[drawn]
    expected = (far[drawn].mean(axis=1) + np.nanmean(known, axis=1)) / 2
    assert found[:, 1].mean() == pytest.approx(expected.mean(), abs=3e-3)
    assert found[:, 1].std() == pytest.approx(expected.std(), rel=0.03)


def test_systems_are_compared_by_their_users(curve):
    other = priori.epc(draw(3), draw(4, 1.5), alpha=AT, weight="user", name="B")
    found = priori.compare(curve, other, n_resamples=2000, claim="deployed")
    np.testing.assert_allclose(found.difference, curve.value - other.value)
    assert found.settings["bootstrap"] == "user"
    far, frr = (
        of_a - of_b
        for of_a, of_b in zip(
            user_rates(curve.test, curve.threshold[1]), user_rates(other.test, other.threshold[1]), strict=True
        )
    )
    # The spread of the mean over users, of both classes of a user together.
    spread = np.sqrt(np.var(far[:9] / 2 + (frr - frr.mean()) * 10 / 9 / 2) / 10)
    assert found.replicates[:, 1].std() == pytest.approx(spread, rel=0.15)


def test_what_does_not_weigh_users_says_so(curve):
    for options in ({"bootstrap": "sample"}, {"resample": "both"}):
        with pytest.raises(OptionError, match="users that weigh alike"):
            curve.band(n_resamples=10, **options)
    with pytest.raises(OptionError, match="one curve weighs users alike, the other trials"):
        priori.compare(curve, priori.epc(draw(1), draw(2), alpha=AT))
    with pytest.raises(OptionError, match="exact curve weighs trials alike"):
        priori.epc(draw(1), draw(2), exact=True, weight="user")
    with pytest.raises(OptionError, match="unknown weight 'users'"):
        priori.epc(draw(1), draw(2), alpha=AT, weight="users")
    nobody = Scores.from_arrays([0.0], [1.0])
    with pytest.raises(InputError, match="read a user column"):
        priori.epc(nobody, nobody, alpha=AT, weight="user")


def test_a_file_remembers_what_weighs_alike(curve, tmp_path):
    curve.to_json(tmp_path / "curve.json")
    again = priori.EPC.from_json(tmp_path / "curve.json")
    assert again.summary()["weight"] == "user"
    np.testing.assert_array_equal(again.columns()["value"], curve.value)
    band = curve.band(n_resamples=50)
    band.to_json(tmp_path / "band.json")
    assert priori.Band.from_json(tmp_path / "band.json").summary()["weight"] == "user"
    assert priori.epc(draw(1), draw(2), alpha=AT).summary()["weight"] == "trial"
