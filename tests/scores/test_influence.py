"""Influences against sums over all pairs of trials that share somebody, one pair after the other."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from priori.scores import Scores, Trials, influence
from priori.scores.influence import (
    Errors,
    Moves,
    People,
    SampleMean,
    Spread,
    correlation_of_means,
    freedom_of_sizes,
    rate_spread,
    satterthwaite,
    spread_of_errors,
    spread_of_means,
    spread_of_trials,
    unit_cautions,
    welch,
)
from priori.studies.sizes import design_effect

CUTS = np.array([0.4, -0.6, 1.5, -np.inf])


def drawn(seed, people, count, two=0.7):
    """Draw who the trials are of, some of them of two people, who may meet more than once, and two systems' scores."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, people, count)
    probe = (user + rng.integers(1, people, count)) % people
    effect = rng.normal(size=people)
    scores = [rng.normal(size=count) + effect[user] + 0.5 * effect[probe] for _ in "ab"]
    partner = np.where(rng.random(count) < two, probe, -1)
    partner[0] = probe[0]
    return user.astype(np.int32), partner.astype(np.int32), scores, rng.integers(1, 4, count)


def by_hand(values, user, partner, number):
    """Return, exactly, the mean, and over pairs of trials that share somebody, a pair of people, or a person in a role:
    the sum of e_s e_t / n^2, and the number of such pairs among all.
    """
    trials = [
        (Fraction(value), {int(u)} if p < 0 else {int(u), int(p)}, int(u), int(p))
        for value, u, p, times in zip(values.tolist(), user, partner, number, strict=True)
        for _ in range(times)
    ]
    n = len(trials)
    mean = sum(value for value, *_ in trials) / n
    ways = {
        "either": lambda s, t: bool(s[1] & t[1]),
        "pair": lambda s, t: s[1] == t[1] and len(s[1]) == 2,
        "claimed": lambda s, t: s[2] == t[2],
        "probe": lambda s, t: s[3] == t[3] >= 0,
    }
    found = {name: [Fraction(0), Fraction(0)] for name in ways}
    for s in trials:
        for t in trials:
            for name, alike in ways.items():
                if alike(s, t):
                    found[name][0] += (s[0] - mean) * (t[0] - mean) / n**2
                    found[name][1] += Fraction(1, n**2)
    return mean, found


CASES = given(st.integers(0, 10_000), st.integers(3, 6), st.integers(4, 12), st.sampled_from(["user", "crossed"]))


@CASES
@settings(deadline=None, max_examples=30)
def test_variances_are_sums_over_pairs_of_trials_that_share_somebody(seed, people, count, shared):
    user, partner, scores, number = drawn(seed, people, count)
    partner = partner if shared == "crossed" else np.full_like(partner, -1)
    used = len({*user.tolist(), *partner[partner >= 0].tolist()})
    who = People(user, people, partner, number)
    kinds = Errors.of(scores[:1], [CUTS], above=True), Errors.of(scores, [CUTS, CUTS[::-1]], above=True)
    wrong = [(scores[0][:, None] > CUTS) * 1, (scores[0][:, None] > CUTS) * 1 - (scores[1][:, None] > CUTS[::-1])]
    for errors, values in zip(kinds, wrong, strict=True):
        found, moves = (
            spread_of_errors(SampleMean(errors, who)),
            spread_of_means(SampleMean(Moves.of(values * 1.0), who)),
        )
        for k in range(CUTS.size):
            mean, sums = by_hand(values[:, k], user, partner, number)
            left = 1 - min(float(sums["either"][1]), 1 - 1 / max(used, 2))
            one_role = max(float(sums[name][0]) for name in ("claimed", "probe")) / left
            two_way = float(sums["either"][0]) / left
            assert found.value[k] == pytest.approx(float(mean))
            assert found.lost[k] == pytest.approx(1 - left)
            assert found.by_pair[k] == pytest.approx(float(sums["pair"][0]) / left, abs=1e-12)
            assert found.by_person[k] - found.by_pair[k] == pytest.approx(two_way, abs=1e-12)
            assert found.variance[k] == pytest.approx(max(two_way, one_role), abs=1e-12)
            squares = float((number * (values[:, k] - float(mean)) ** 2).sum()) / number.sum() ** 2
            assert found.floor[k] == pytest.approx(max(one_role, squares / left), abs=1e-12)
            if squares > 1e-12:
                wanted = np.clip(found.variance[k] / squares, 1, number.sum())
                assert found.effect[k] == pytest.approx(wanted, rel=1e-9)
        for name in ("value", "variance", "most", "by_pair", "by_person", "lost"):
            np.testing.assert_allclose(getattr(moves, name), getattr(found, name), atol=1e-12, err_msg=name)


@CASES
@settings(deadline=None, max_examples=20)
def test_entries_that_stand_for_many_trials_count_as_many(seed, people, count, shared):
    user, partner, scores, number = drawn(seed, people, count)
    partner = partner if shared == "crossed" else None
    again = [np.repeat(score, number) for score in scores]
    repeated = People(np.repeat(user, number), people, None if partner is None else np.repeat(partner, number))
    found = spread_of_errors(
        SampleMean(Errors.of(scores, [CUTS, CUTS], above=False), People(user, people, partner, number))
    )
    wanted = spread_of_errors(SampleMean(Errors.of(again, [CUTS, CUTS], above=False), repeated))
    for name in Spread.__dataclass_fields__:
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-9, atol=1e-12, err_msg=name)


@CASES
@settings(deadline=None, max_examples=20)
def test_groups_counted_at_once_are_groups_counted_one_by_one(seed, people, count, shared):
    user, partner, scores, number = drawn(seed, people, 3 * count)
    probe = np.where(partner < 0, user, partner)
    group = np.random.default_rng(seed).permutation(np.arange(3 * count) % 3)
    trials, wrong = Trials(scores[0], user, probe, number=number), scores[0] > 0.4
    found = rate_spread(wrong, trials, shared, group, 3)
    for g in range(3):
        own = group == g
        alone = rate_spread(wrong[own], trials.take(own), shared)
        for name in Spread.__dataclass_fields__:
            values = getattr(found, name)[g], getattr(alone, name)[0]
            assert values[0] == pytest.approx(values[1], rel=1e-9, abs=1e-12), name


def test_a_sum_of_classes_counts_people_in_both():
    """The variance of mean(a) - mean(b): the products of all trials, of either class, that share somebody."""
    user, partner, scores, number = drawn(2, 6, 25)
    other, _, (values, _), _ = drawn(3, 6, 18)
    samples = (
        SampleMean(Moves.of(scores[0]), People(user, 6, partner, number)),
        SampleMean(Moves.of(values), People(other, 6), -1.0),
    )
    found = spread_of_means(*samples).at(0)
    entries = []
    for sample, own, second, sign in zip(samples, (user, other), (partner, np.full(18, -1)), (1, -1), strict=True):
        times = np.ones(own.size) if sample.people.number is None else sample.people.number
        off = sign * times * (sample.values.moves[:, 0] - sample.mean[0, 0]) / times.sum()
        off = off / np.sqrt(1 - sample.people.lost[0, 0])
        entries += [(e, {u} if p < 0 else {u, p}) for e, u, p in zip(off, own, second, strict=True)]
    wanted = sum(e * f for e, a in entries for f, b in entries if a & b)
    assert found.by_person - found.by_pair == pytest.approx(wanted)
    assert found.variance == pytest.approx(max(wanted, found.floor))
    assert found.value == pytest.approx(np.average(scores[0], weights=number) - values.mean())


def test_independent_trials_have_the_variance_of_a_sample():
    rng = np.random.default_rng(0)
    values, number = rng.normal(size=20), rng.integers(1, 5, 20)
    found = spread_of_trials((Moves.of(values), number), (Moves.of(values[:7]), None)).at(0)
    every = np.repeat(values, number)
    assert found.variance == pytest.approx(every.var(ddof=1) / every.size + values[:7].var(ddof=1) / 7)
    assert 1 <= found.freedom <= found.most == every.size + 7 - 1


def test_pairs_in_many_parts_are_the_pairs_in_one(monkeypatch):
    user, partner, scores, number = drawn(6, 9, 300)
    group = np.arange(300) % 2

    def both():
        errors = Errors.of(scores, [CUTS, CUTS], above=True)
        (people,) = People.of(Trials(scores[0], user, np.where(partner < 0, user, partner)), crossed=True, group=group)
        one = Errors([(scores[0] > 0.4).astype(np.intp)], [np.zeros(1, np.intp)], above=True)
        return spread_of_errors(SampleMean(errors, People(user, 9, partner, number))), spread_of_errors(
            SampleMean(one, people)
        )

    whole = both()
    monkeypatch.setattr(influence, "SUMS_AT_A_TIME", 20)
    for found, wanted in zip(both(), whole, strict=True):
        for name in Spread.__dataclass_fields__:
            np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-12, atol=1e-18)


@pytest.mark.parametrize("columns", [1, 3, 40])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_by_code_whichever_way_they_are_made(columns, weighted):
    rng = np.random.default_rng(columns)
    bins, moves, code = rng.integers(0, 6, 50), rng.normal(size=(6, columns)), rng.integers(0, 9, 50)
    some, number = np.flatnonzero(rng.random(50) < 0.6), rng.integers(1, 4, 50) if weighted else None
    found = Moves(bins, moves).sums(code[some], 9, some, None if number is None else number[some])
    wanted = np.zeros((9, columns))
    for entry in some:
        wanted[code[entry]] += moves[bins[entry]] * (1 if number is None else number[entry])
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_correlations_are_sums_over_trials_that_share_somebody():
    user, partner, scores, number = drawn(4, 7, 60)
    column = np.arange(60) % 3
    off = scores[0] * number
    found = correlation_of_means(off, column, People(user, 7, partner)).toarray()
    people = [{u} if p < 0 else {u, p} for u, p in zip(user.tolist(), partner.tolist(), strict=True)]
    covariance = np.zeros((3, 3))
    for s in range(60):
        for t in range(60):
            covariance[column[s], column[t]] += off[s] * off[t] * bool(people[s] & people[t])
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found, np.clip(covariance / np.outer(sd, sd), -1, 1), atol=1e-12)


def test_people_have_one_code_in_all_classes_and_nobody_has_none():
    first, second = Trials(np.zeros(3), np.array([4, 9, 4]), np.array([4, 2, 9])), Trials(np.zeros(2), np.array([9, 7]))
    a, b = People.of(first, second, crossed=True)
    assert (a.unit.tolist(), a.partner.tolist(), b.unit.tolist(), b.partner) == ([1, 3, 1], [-1, 0, 3], [3, 2], None)
    assert a.count == b.count == 4
    assert [people.unit.tolist() for people in People.of(first, second, crossed=False)] == [[0, 2, 0], [2, 1]]


def test_a_pair_is_the_same_whoever_claims_to_be_the_other():
    pair, sizes, _ = People(np.array([0, 3, 1, 3, 2]), 4, np.array([3, 0, 2, 1, -1])).pairs
    assert pair.tolist() == [0, 0, 1, 2]
    assert sizes.tolist() == [2, 1, 1]


def test_degrees_of_freedom():
    influences = np.random.default_rng(0).normal(size=(20_000, 1))
    sums = (influences**2).sum(), (influences**4).sum()
    # Of normal influences as many as units, or two thirds where fourth powers are not centred.
    assert satterthwaite(*sums, np.inf, units=20_000) == pytest.approx(20_000, rel=0.05)
    assert satterthwaite(*sums, np.inf) == pytest.approx(2 / 3 * 20_000, rel=0.05)
    assert satterthwaite(*sums, 7.0) == 7
    assert satterthwaite(0.0, 0.0, 5.0) == 5
    assert welch([2.0, 0.0], [6.0, 3.0]) == pytest.approx(6)
    assert welch([0.0, 0.0], [6.0, 3.0]) == 3  # nothing varies: as sure as the less sure
    assert welch([1.0, 1.0], [np.inf, 4.0], 10.0) == 10
    sizes = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    variances = np.array([[[2.0]], [[6.0]]])
    weights = np.array([0.75 * 2, 0.25 * 2 + 0.5 * 6, 0.5 * 6])
    assert freedom_of_sizes(sizes, variances).item() == pytest.approx(weights.sum() ** 2 / (weights @ weights) - 1)
    assert freedom_of_sizes(sizes, 0 * variances).item() == pytest.approx(4 / (0.75**2 + 0.75**2 + 0.5**2) - 1)


def test_one_rate_and_a_design_effect_are_the_same():
    user, _, scores, _ = drawn(7, 12, 400)
    made = Scores.from_predictions(np.repeat([0, 1], 200), scores[0], user=user)
    wrong = made.negative.score > 0.4
    spread = rate_spread(wrong, made.negative, "user").at(0)
    assert design_effect(made, 0.4).negatives.design_effect == pytest.approx(spread.effect)
    size = np.bincount(made.negative.user)
    off = np.bincount(made.negative.user, wrong - wrong.mean())
    assert spread.variance == pytest.approx(off @ off / (200**2 - size @ size))


def test_what_few_units_decide_is_said_by_its_share_of_the_variance():
    """Ten thresholds of two classes of 30 users; at the last ones few make the errors of the first class."""

    def said(few: int, share: float) -> list[str]:
        erring, most, value = np.full((2, 10), 20.0), np.full((2, 10), 29.0), np.full((2, 10), 0.1)
        erring[0, 10 - few :] = 2.5
        spread = Spread(value, value, most, most, 30, erring=erring)
        shares = np.array([[share], [1 - share]]) / 10
        return [*map(str, unit_cautions(spread, shares, lambda here: f" at {here.sum()}", ("those A", "those B")))]

    text = "those A at {} come from effectively 2.5 of 30 users: the interval may be too narrow"
    assert said(few=2, share=1.0) == said(few=4, share=0.49) == []
    assert said(few=3, share=1.0) == [text.format(3)]
    assert said(few=10, share=0.25) == [text.format(10)]
