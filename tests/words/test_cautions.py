"""Cautions: each is given where it is due, and seldom where it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import small_studies
from priori import Scores
from priori.base.cautions import Caution
from priori.scores.systems import System
from priori.studies.evaluation import Settings, make_study
from priori.words.cautions import as_shown, cautions


def given(systems: list[System], **settings: Any) -> dict[str, Caution]:
    study = make_study(systems, Settings(**{"bootstrap": None, "points": 3, **settings}))
    return {caution.code: caution for caution in cautions(study)}


def normal(shift: float, seed: int, **sizes: Any) -> Scores:
    return small_studies.scores(shift, seed, **{"negatives": 4000, "positives": 4000, **sizes})


def one(dev: Scores, test: Scores, name: str = "A") -> list[System]:
    return [System(name, dev, test)]


def test_good_data_raise_no_warning() -> None:
    found = given(one(normal(2, 0), normal(2, 1)), bootstrap="sample", n_resamples=200)
    assert found == {}
    assert set(given(one(normal(2, 0), normal(2, 1)))) == {"no-bootstrap"}


def test_few_errors() -> None:
    found = given([*one(normal(7, 0), normal(7, 1)), *one(normal(2, 2), normal(2, 3), "B")])["few-units"]
    assert found.level == "warning"
    assert "A: " in found
    assert "B: " not in found
    assert "false acceptance" in found
    assert "false positive" in given(one(normal(7, 0), normal(7, 1)), task="diagnosis")["few-units"]


def test_few_users() -> None:
    few = one(normal(2, 0, users=9), normal(2, 1, users=50))
    assert given(few)["few-units"].startswith("only 9 development users: ")
    assert "few-units" not in given(one(normal(2, 0, users=50), normal(2, 1, users=50)))
    both = [*few, replace(few[0], name="B")]
    assert given(both, unpaired=True)["few-units"].startswith("only 9 development users: ")  # once


def test_users_unused() -> None:
    known = one(normal(2, 0, users=50), normal(2, 1, users=50))
    drawn = {"n_resamples": 50}
    found = given(known, bootstrap="sample", **drawn)
    assert found["users-unused"].level == "warning"
    assert "use bootstrap='user'" in found["users-unused"]
    assert "users-unused" not in given(known, bootstrap="user", **drawn)
    assert "users-unused" not in given(one(normal(2, 0), normal(2, 1)), bootstrap="sample", **drawn)


def test_sets_that_differ_in_kind() -> None:
    found = given(one(normal(2, 0), normal(1.5, 1)))["disagreement"]
    assert found.level == "warning"
    assert "FRR" in found
    assert "FAR" not in found


def test_sets_of_one_kind_seldom_alarm() -> None:
    """3 standard deviations, two rates: about 0.5 % by chance; the threshold is chosen, so allow for 3 %."""
    alarms = [
        "disagreement" in given(one(normal(2, 2 * seed, negatives=300, positives=200), normal(2, 2 * seed + 1)))
        for seed in range(60)
    ]
    assert sum(alarms) <= 2


def test_users_who_differ_seldom_alarm() -> None:
    """With 40 users whose scores differ as much between as within them, trials alone would alarm half the time."""
    rng = np.random.default_rng(0)

    def population() -> Scores:
        user = np.repeat(np.arange(40), 25)
        parts = [rng.normal(shift, 1, user.size) + rng.normal(0, 1, 40)[user] for shift in (0, 2.5)]
        return Scores.from_arrays(*parts, negative_user=user, positive_user=user)

    sets = [(population(), population()) for _ in range(30)]
    with_users = sum("disagreement" in given(one(dev, test)) for dev, test in sets)
    without = sum(
        "disagreement"
        in given(one(*(Scores.from_arrays(part.negative.score, part.positive.score) for part in (dev, test))))
        for dev, test in sets
    )
    assert with_users <= 2
    assert without >= 8


def test_unbalanced_and_missing() -> None:
    few = normal(2, 0, positives=200)
    assert given(one(few, few))["unbalanced"].level == "note"
    assert "unbalanced" not in given(one(normal(2, 0), normal(2, 1)))
    lost = Scores.from_arrays([np.nan, 0.1, 0.2], [0.3, np.nan, 0.5], nan="reject")
    assert given(one(normal(2, 0), lost))["missing"].startswith("2 scores missing")


def test_ties() -> None:
    rng = np.random.default_rng(0)
    coarse = Scores.from_arrays(np.round(rng.normal(0, 1, 500)), np.round(rng.normal(3, 1, 500)))
    assert "of a class have the same score" in given(one(coarse, coarse))["ties"]
    assert "ties" not in given(one(normal(2, 0), normal(2, 1)))


def test_too_few_resamples() -> None:
    def too_few(systems: list[System], n_resamples: int, **settings: Any) -> bool:
        found = given(systems, bootstrap="sample", n_resamples=n_resamples, **settings)
        return "too few for any p-value to be significant" in found["few-replicates"]

    systems = small_studies.systems(2, 1, 1.5)
    assert too_few(systems, 19)
    # Pairs are tested together by their maximum: 1 / 21 is below 0.05, whatever their number.
    assert not too_few(systems, 20)
    assert not too_few(systems[:1], 19)
    for claim, resamples, expected in (("deployed", 39, True), ("deployed", 40, False), ("method", 39, False)):
        assert too_few(systems[:2], resamples, claim=claim) == expected


def test_warnings_come_before_notes() -> None:
    study = make_study(one(normal(7, 0), normal(7, 1, positives=100)), Settings(bootstrap=None, points=3))
    levels = [caution.level for caution in cautions(study)]
    assert levels == sorted(levels, reverse=True)
    assert {"warning", "note"} == set(levels)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_any_scale(scale: float) -> None:
    rng = np.random.default_rng(0)
    sets = [Scores.from_arrays(scale * rng.normal(0, 1, 50), scale * rng.normal(2, 1, 50)) for _ in range(2)]
    assert "few-units" in given(one(*sets))


def test_shares_of_positives_are_compared_whatever_they_are() -> None:
    # One positive in five, in ten, in two: balance is not the same as no shift.
    few, fewer, half = (normal(2, seed, negatives=4000, positives=n) for seed, n in enumerate((1000, 444, 4000)))
    for dev, test, shares in (
        (few, fewer, ("20 %", "9.99 %")),
        (fewer, few, ("9.99 %", "20 %")),
        (few, half, ("20 %", "50 %")),
    ):
        said = str(given(one(dev, test), task="retrieval")["prior-shift"])
        assert f"{shares[0]} positives in development, {shares[1]} in test" in said
    for dev, test in ((few, normal(2, 7, negatives=4000, positives=1000)), (few, normal(2, 8, positives=1200))):
        assert "prior-shift" not in given(one(dev, test), task="retrieval")


def test_a_page_speaks_of_what_is_known_and_of_no_arguments() -> None:
    backwards = make_study(one(normal(-1.0, 0), normal(-1.0, 1)), Settings(n_resamples=100, points=5))
    caution = next(each for each in cautions(backwards) if each.code == "reversed-scores")
    assert "lower_is_better=True" in caution
    heading, sentence = as_shown(backwards, caution)
    assert heading == "Scores look reversed"
    assert sentence.endswith("mark distances as such, or check the labels.")
    few = Caution("few-units", "1 false rejection at alpha 0.5: the rate is uncertain; test more trials")
    assert as_shown(backwards, few)[0] == "Few trials"  # nobody is known
    assert as_shown(small_studies.study(2.5, sizes={"users": 30}), few)[0] == "Few users"
    assert Caution("dev-looks-trained-on", "was the system trained on it?").sentence == "Was the system trained on it?"
