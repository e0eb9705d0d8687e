"""What users move the values of a system by, where trials are between two of them."""

from __future__ import annotations

import numpy as np
import pytest

from priori import Scores
from priori.scores.influence import Moves, People
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.expected.influences import Judged, Units, group_units, influence_of, without_noise

PEOPLE = 14


def crossed(level: float) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return trials between people, the bin of each, and what a trial in a bin moves the value by.

    Some people are more easily taken for others; ``level`` is how much that matters.
    """
    rng = np.random.default_rng(3)
    pairs = [(i, j) for i in range(PEOPLE) for j in range(PEOPLE) if i != j and rng.random() < 0.6]
    claimed, partner = np.array(pairs).T
    ease = rng.normal(size=PEOPLE)
    bin_ = np.digitize(level * (ease[claimed] + ease[partner]) + rng.normal(size=claimed.size), [-1, 0, 1])
    return claimed, partner, [bin_, np.arange(PEOPLE) % 4], (np.array([[-1.5], [-0.5], [0.5], [1.5]]), np.ones((4, 1)))


@pytest.mark.parametrize("level", [1.0, 2.0])
def test_trials_that_share_both_people_count_once(level: float) -> None:
    """The variance is that of the sums of both roles, minus that of pairs of people, who are in two sums."""
    claimed, partner, bins, moves = crossed(level)
    positive = np.arange(PEOPLE)
    units = Units((People(claimed, PEOPLE, partner), People(positive, PEOPLE)), np.array([0, PEOPLE]))
    vars(units)["sizes"] = np.ones((2, PEOPLE))  # all alike, so that one correction is that of all
    scores = Scores.from_arrays(np.zeros(claimed.size), np.ones(PEOPLE))
    judged = Judged(np.zeros((1, 1)), (Moves(bins[0], moves[0]), Moves(bins[1], moves[1])))
    influence, share = influence_of([scores], [judged], [units])
    sums = dict.fromkeys(range(PEOPLE), 1.0)  # that of the one positive of each
    pairs: dict[frozenset[int], float] = {}
    for one, other, bin_ in zip(claimed.tolist(), partner.tolist(), bins[0].tolist(), strict=True):
        move = float(moves[0][bin_, 0])
        sums[one] += move
        sums[other] += move
        pairs[frozenset((one, other))] = pairs.get(frozenset((one, other)), 0.0) + move
    mean = sum(sums.values()) / PEOPLE
    twice = PEOPLE / (PEOPLE - 1) * sum((each - mean) ** 2 for each in sums.values())
    once = twice - PEOPLE / (PEOPLE - 1) * sum(each**2 for each in pairs.values())
    assert (influence**2).sum() == pytest.approx(once)
    assert 0.5 < once / twice < 1
    assert share == pytest.approx(once / twice)


@pytest.mark.parametrize(("bootstrap", "strata"), [("sample", [0, 6, 15]), ("rows", [0, 15])])
@pytest.mark.parametrize("most", [100, 4])
def test_trials_are_drawn_by_class_or_in_rows(bootstrap: str, strata: list[int], most: int) -> None:
    scores = Scores.from_arrays(np.arange(6.0), np.arange(9.0))
    plan = Resampling(bootstrap=bootstrap).settle(None, scores)
    units = group_units(scores, plan, most)
    codes = np.concatenate([people.unit for people in units.classes])
    if most == 4:  # in groups of nearly one size
        assert units.strata.tolist() == ([0, 4] if bootstrap == "rows" else [0, 2, 4])
        assert set(np.bincount(codes)) <= ({3, 4} if bootstrap == "rows" else {3, 4, 5})
    else:
        assert units.strata.tolist() == strata
        assert sorted(codes) == list(range(15))


@pytest.mark.parametrize("rows", [3, 40])
def test_noise_is_taken_off_each_alpha_as_if_it_were_alone(rows: int) -> None:
    """Also where so much noise is taken off that products of all alphas would be negative."""
    rng = np.random.default_rng(rows)
    influence = rng.normal(size=(30, 2, 5)) + 2 * rng.normal(size=(30, 1, 1))
    noise = 0.8 * rng.normal(size=(rows, 2, 5))
    together = without_noise(influence, noise)
    for alpha in range(5):
        alone = without_noise(influence[:, :, [alpha]], noise[:, :, [alpha]])
        found, expected = (np.einsum("us,ut->st", *[each] * 2) for each in (together[:, :, alpha], alone[:, :, 0]))
        np.testing.assert_allclose(found, expected, atol=1e-9)
        values, vectors = np.linalg.eigh(
            sum(sign * each.T @ each for sign, each in ((1, influence[:, :, alpha]), (-1, noise[:, :, alpha])))
        )
        np.testing.assert_allclose(expected, vectors * np.maximum(values, 0) @ vectors.T, atol=1e-9)
