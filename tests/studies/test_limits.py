"""Certification: published numbers, bounds by brute force, and pilots whose correlation is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import priori
import priori.examples
from priori.studies.limits import _people, passing
from priori.uncertainty.rates.proportions import proportion_interval
from validation.coverage.simulation import population


def test_published_numbers_of_people() -> None:
    """The rule of three: 3 / limit trials, that is 30,000 for 1:10,000.

    174 * 173 = 30,102 ordered pairs and 246 * 245 / 2 = 30,135 unordered ones reach that, 173 and 245 do not. For
    1:25,000 it is 75,000: 388 people in unordered pairs (75,078), 275 in ordered ones; published as 390, rounded.
    """
    for limit, ordered, unordered in ((1e-4, 174, 246), (4e-5, 275, 388)):
        planned = priori.plan_limit({"far": limit})
        assert (planned.ordered, planned.unordered, planned.errors) == (ordered, unordered, 0)
        for people, of in ((ordered, 1), (unordered, 2)):
            assert people * (people - 1) // of >= 3 / limit > (people - 1) * (people - 2) // of
        assert planned.independent == pytest.approx(3 / limit, rel=2e-3)


@pytest.mark.parametrize(("limit", "expected"), [(0.05, 0.02), (0.03, 0.01), (0.2, 0.19), (0.1, 1e-9)])
def test_the_smallest_that_passes_by_brute_force(limit: float, expected: float) -> None:
    trials, errors, chance = passing(limit, expected, 0.8, 0.95)
    assert chance == pytest.approx(binom.cdf(errors, trials, expected))
    assert chance >= 0.8
    # The exact one-sided bound is the upper end of the two-sided interval of 90 %.
    upper = [
        float(proportion_interval(errors, n, method="exact", confidence_level=0.9).upper) for n in (trials, trials - 1)
    ]
    assert upper[0] <= limit < upper[1]
    if errors:
        fewer = passing(limit, None, 0.8, 0.95)[0]
        for n in range(fewer, trials, max((trials - fewer) // 40, 1)):
            allowed = int(np.flatnonzero(binom.cdf(np.arange(n), n, limit) <= 0.05).max(initial=-1))
            assert binom.cdf(allowed, n, expected) < 0.8


def test_people_who_share_trials_are_worth_fewer() -> None:
    """The variance of the mean over all unordered pairs, by hand: neighbours are those that share one person."""
    people, rho = 12, 0.05
    pairs = [(a, b) for a in range(people) for b in range(a)]
    sharing = sum(bool(set(one) & set(other)) for one in pairs for other in pairs) - len(pairs)
    effect = 1 + rho * sharing / len(pairs)
    assert _people(int(len(pairs) / effect), rho, ordered=False) == people
    assert _people(int(len(pairs) / effect) + 1, rho, ordered=False) == people + 1
    assert _people(100, 0.0, ordered=True) == 11


def test_a_pilot_with_both_identities_asks_for_more_people() -> None:
    alike = {"crossed": True, "user_effect_sd": 0.5, "probe_effect_sd": 0.5}
    plans = [
        priori.plan_limit("far=0.02", expect="far=0.01", pilot=population(100, 9, 99, rng=1, **each), threshold=2.33)
        for each in (alike, {**alike, "user_effect_sd": 0.0, "probe_effect_sd": 0.0})
    ]
    assert plans[0].intraclass > 0.005 > plans[1].intraclass
    assert plans[0].unordered > plans[1].unordered
    assert plans[0].independent == plans[1].independent


def test_a_scanned_pilot_gives_the_plan_of_one_in_memory(tmp_path: Path) -> None:
    priori.examples.write("faces", tmp_path)
    path = tmp_path / "eigenfaces-test.csv"
    plans = [
        priori.plan_limit("far=0.2", pilot=pilot, threshold=-2.618) for pilot in (priori.read(path), priori.scan(path))
    ]
    assert plans[0].unordered is not None
    assert plans[0].to_dict() == plans[1].to_dict()


def test_genuine_trials_are_of_users() -> None:
    planned = priori.plan_limit("frr=0.03", expect="frr=0.01", per_user=5, intraclass=0.2)
    assert planned.ordered is None
    assert planned.users == int(np.ceil(planned.independent * 1.8 / 5))
    assert planned.trials == 5 * planned.users
    pilot = priori.plan_limit("frr=0.2", pilot=population(60, 9, 20, rng=2), threshold=0.9)
    assert pilot.users is not None
    assert pilot.trials == 9 * pilot.users


def test_a_pilot_without_errors_says_so() -> None:
    planned = priori.plan_limit("far=0.01", pilot=population(20, 9, 20, rng=1), threshold=99.0)
    assert {note.code for note in planned.warnings} == {"no-errors", "few-pilot-users"}
    assert planned.expected is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": "far=2"}, "between 0 and 1"),
        ({"limit": "far"}, "give one rate, such as far=1e-4, not far"),
        ({"limit": "eer=0.1"}, "eer"),
        ({"limit": {"far": 0.1, "frr": 0.1}}, "give one rate"),
        ({"limit": "far=0.1", "expect": "far=0.2"}, "not below the limit"),
        ({"limit": "far=0.1", "expect": "frr=0.01"}, "the limit is on the far"),
        ({"limit": "far=0.1", "assurance": 1.0}, "assurance"),
        ({"limit": "far=0.1", "intraclass": 2.0}, "intraclass"),
        ({"limit": "frr=0.1", "per_user": 0.0}, "per user"),
        ({"limit": "far=0.1", "confidence_level": 1.5}, "level"),
    ],
)
def test_bad_input(options: dict[str, object], message: str) -> None:
    with pytest.raises(priori.OptionError, match=message):
        priori.plan_limit(**options)  # type: ignore[arg-type]
