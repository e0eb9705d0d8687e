"""Many systems: one set of draws, tested together, ranked with their uncertainty."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import priori
from priori import OptionError, Scores
from priori.uncertainty.ranking.ranking import Ranking


def curves(qualities: dict[str, float], *, users: int = 30, points: int = 5, seed: int = 0) -> list[priori.EPC]:
    """Systems of some quality on the same trials of the same users."""
    rng = np.random.default_rng(seed)
    label, user = np.tile(np.repeat([0, 1], [10, 5]), users), np.repeat(np.arange(users), 15)
    hard = [rng.normal(0, 0.7, label.size) for _ in range(2)]
    found = []
    for name, quality in qualities.items():
        sets = []
        for shared in hard:
            own = rng.normal(0, 0.4, (2, users))[label, user]
            score = quality * label + shared + own + rng.normal(0, 0.7, label.size)
            sets.append(Scores.from_predictions(label, score, user=user))
        found.append(priori.epc(*sets, points=points, name=name))
    return found


@pytest.fixture(scope="module")
def five() -> list[priori.EPC]:
    return curves({"poor": 0.8, "good": 3.4, "fair": 2.0, "fine": 3.3, "alike": 2.1})


def test_every_pair_is_compared_on_the_same_draws(five):
    seen = []
    ranking = priori.compare_all(
        five, claim="deployed", n_resamples=999, keep=True, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (999, 999)
    assert ranking.replicates.shape == (999, 5, 5)
    for row, (i, j) in enumerate(combinations(range(5), 2)):
        alone = priori.compare(five[i], five[j], claim="deployed", n_resamples=999)
        difference = ranking.replicates[:, i] - ranking.replicates[:, j]
        np.testing.assert_allclose(difference, alone.replicates, atol=1e-6)
        # Tested together no p-value is smaller than alone, where replicates on both sides of 0 can tell.
        told = (alone.replicates.min(axis=0) < 0) & (alone.replicates.max(axis=0) > 0)
        assert (ranking.pointwise.p_value[row] >= alone.pointwise.p_value - 1e-12)[told].all()
        assert (ranking.pointwise.lower[row] <= alone.simultaneous.upper).all()
    assert [place.name for place in ranking.places(0.5)][-1] == "poor"
    assert set(ranking.could_be_best(0.5)) == set(ranking.could_be_best())
    assert set(ranking.could_be_best()) == {"good", "fine"}
    assert priori.compare_all(five, claim="deployed", n_resamples=99).replicates is None


@pytest.mark.parametrize("claim", ["deployed", "method"])
def test_all_alphas_together_imply_each(five, claim):
    ranking = priori.compare_all(five[:4], claim=claim, n_resamples=500)
    assert (ranking.simultaneous.p_value >= ranking.pointwise.p_value).all()
    assert (ranking.simultaneous.lower <= ranking.pointwise.lower).all()
    assert (ranking.simultaneous.upper >= ranking.pointwise.upper).all()
    together = priori.compare_all(five[:4], claim=claim, n_resamples=500, simultaneous=True)
    np.testing.assert_array_equal(together.p_value, ranking.simultaneous.p_value)


@pytest.mark.parametrize("claim", ["deployed", "method"])
def test_places_carry_ranks_that_hold_together(five, claim):
    ranking = priori.compare_all(five, claim=claim, n_resamples=2000)
    for alpha in (None, 0.25, 0.5):
        places = ranking.places(alpha)
        assert [place.rank for place in places] == [1, 2, 3, 4, 5]
        for place in places:
            assert 1 <= place.rank_lower <= place.rank <= place.rank_upper <= 5
        by_name = {place.name: place for place in places}
        column = -1 if alpha is None else int(np.argmin(np.abs(ranking.alpha - alpha)))
        significant = ranking.area.significant if alpha is None else ranking.pointwise.significant[:, column]
        for (i, j), differ in zip(ranking.pairs, significant, strict=True):
            groups = [set(by_name[ranking.names[system]].groups) for system in (i, j)]
            assert bool(groups[0] & groups[1]) == (not differ)
        assert places[0].could_be_best
    np.testing.assert_allclose(ranking.rank_probability.sum(axis=0), 1)
    np.testing.assert_allclose(ranking.rank_probability.sum(axis=1), 1)
    assert ranking.rank_probability[0, 4] == 1  # the poor one is last in every draw


def test_the_best_against_the_rest(five):
    pairs = priori.compare_all(five, claim="deployed", n_resamples=999)
    best = priori.compare_all(five, claim="deployed", n_resamples=999, family="best")
    assert best.settings["family"] == "best"
    assert best.could_be_best() == pairs.could_be_best()
    leader = best.places()[0].name
    for (i, j), p_value in zip(best.pairs, best.area.p_value, strict=True):
        names = {best.names[i], best.names[j]}
        assert np.isnan(p_value) == (leader not in names)
    bounds = {place.name: (place.rank_lower, place.rank_upper, place.groups) for place in best.places()}
    assert bounds["poor"] == (2, 5, "")
    assert bounds["good"] == (1, 5, "a")
    with pytest.raises(OptionError, match="family"):
        priori.compare_all(five, family="rest")


def test_a_measure_of_which_more_is_better_turns_the_ranking(five):
    options = {"claim": "deployed", "n_resamples": 500}
    up = [priori.epc(curve.dev, curve.test, points=5, measure="accuracy", name=curve.name) for curve in five]
    ranking = priori.compare_all(up, **options)
    values = {place.name: place.value for place in ranking.places()}
    assert list(values.values()) == sorted(values.values(), reverse=True)
    assert set(ranking.could_be_best()) == {"good", "fine"}
    assert ranking.rank_probability[0, 4] == 1


def test_systems_drawn_apart_need_not_share_trials(five):
    other = curves({"other": 3.0}, users=20, seed=5)
    with pytest.raises(priori.InputError, match="unpaired"):
        priori.compare_all([*five[:2], *other], n_resamples=50)
    ranking = priori.compare_all([*five[:2], *other], unpaired=True, claim="deployed", n_resamples=500)
    assert ranking.settings["paired"] is False
    assert [place.name for place in ranking.places()][-1] == "poor"


def test_a_ranking_comes_back_from_a_file(five, tmp_path):
    ranking = priori.compare_all(five[:3], claim="deployed", n_resamples=200)
    ranking.to_json(tmp_path / "ranking.json")
    saved = Ranking.from_json(tmp_path / "ranking.json")
    assert saved.places() == ranking.places()
    assert saved.could_be_best() == ranking.could_be_best()
    np.testing.assert_array_equal(saved.p_value, ranking.p_value)
    np.testing.assert_array_equal(saved.rank_probability, ranking.rank_probability)
    assert list(saved.columns()) == [
        "system_a",
        "system_b",
        "alpha",
        "difference",
        "expected",
        "lower",
        "upper",
        "p_adjusted",
        "significant",
    ]


def test_names_must_differ(five):
    with pytest.raises(OptionError, match="name of its own"):
        priori.compare_all([five[0], five[0]])
    with pytest.raises(OptionError, match="two or more"):
        priori.compare_all(five[:1])


def test_values_that_differ_by_rounding_share_a_rank(five):
    ranking = priori.compare_all(five[:3], claim="deployed", n_resamples=50)
    values = np.array([0.3, 0.1 + 0.2, 0.1])
    places = ranking._places(values, values, np.zeros(3, dtype=bool), 0)
    assert [(place.name, place.rank) for place in places] == [("fair", 1), ("poor", 2), ("good", 2)]


def test_many_systems_on_few_users_are_warned_of():
    many = curves({f"S{number}": 2.0 for number in range(9)}, users=4, points=2)
    said = [priori.compare_all(some, claim="deployed", n_resamples=50).warnings for some in (many, many[:8])]
    assert ["many-systems" in {caution.code for caution in each} for each in said] == [True, False]
