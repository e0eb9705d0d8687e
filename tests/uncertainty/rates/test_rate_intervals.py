"""Intervals of a rate that allow for who the trials share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtri

import priori
from priori import Scores, proportion_interval, rate_interval
from priori.base.errors import InputError, OptionError
from priori.scores import Trials
from priori.scores.influence import rate_spread
from validation.coverage.simulation import population


def crossed(rng: np.random.Generator, people: int, trials: int) -> Scores:
    """Impostor trials between any two people, in either role, some pairs more than once; attacks; and genuine ones."""
    user = rng.integers(0, people, trials)
    probe = (user + rng.integers(1, people, trials)) % people
    probe[1 : rng.integers(1, trials)] = -1
    own = np.arange(people)
    score = rng.normal(size=trials + people) + rng.normal(size=people)[np.concatenate([user, own])]
    label = np.repeat([0, 1], [trials, people])
    return Scores.from_predictions(
        label,
        score,
        user=np.char.mod("u%d", np.concatenate([user, own])),
        probe_user=np.concatenate([np.where(probe < 0, "attack", np.char.mod("u%d", probe)), np.char.mod("u%d", own)]),
    )


@given(st.integers(0, 10_000), st.integers(3, 7), st.integers(6, 40), st.sampled_from(["user", "crossed"]))
def test_the_variance_is_the_sum_over_pairs_of_trials_that_share_someone(seed, people, trials, shared):
    scores = crossed(np.random.default_rng(seed), people, trials)
    negative = scores.negative
    wrong = negative.score > 0.3
    if not 0 < wrong.sum() < wrong.size or np.unique(negative.user).size < 2:
        return
    off = wrong - wrong.mean()

    def alike(a, b):
        return a[:, None] == b[None, :]

    user, probe = negative.user, negative.probe_user
    two = probe != user  # somebody who is attacked is one person
    ways = [alike(user, user)]
    if shared == "crossed":
        ways += [
            alike(probe, probe) & np.outer(two, two),
            ways[0] | alike(probe, probe) | alike(user, probe) | alike(probe, user),
        ]
    found = rate_spread(wrong, negative, shared).at(0)
    lost = min(ways[-1].mean(), 1 - 1 / found.people)
    wanted = max((np.outer(off, off) * sharing).sum() for sharing in ways) / off.size**2 / (1 - lost)
    independent = wrong.mean() * (1 - wrong.mean()) / off.size
    who = [(user, two | True)] if shared == "user" else [(user, two | True), (probe, two)]
    held = [np.concatenate([role[kind & there] for role, there in who]) for kind in (wrong, ~wrong, wrong | True)]
    erring = min(len(set(each)) for each in held[:2])
    size = np.bincount(held[2])
    pseudo = min((size @ size) / size.sum(), off.size) / (1 + erring)
    for number, kind in ((found.erring, wrong), (found.right, ~wrong)):
        counts = [np.bincount(role[kind & there]) for role, there in who]
        assert number == pytest.approx(min(each.sum() ** 2 / max(each @ each, 1) for each in counts))
    assert found.pseudo == pytest.approx(max(min(max(wanted / independent, 1.0), off.size), pseudo), rel=1e-9)
    assert 0 < found.freedom <= found.people - 1


def test_without_users_it_is_wilsons_and_with_users_it_is_wider():
    scores = population(50, 9, 20, user_effect_sd=0.8, rng=1)
    plain = Scores.from_arrays(scores.negatives, scores.positives)
    for rate in ("far", "frr"):
        found = rate_interval(plain, 1.2, rate=rate)
        same = proportion_interval(found.errors, found.trials)
        assert (found.lower, found.upper) == pytest.approx((same.lower, same.upper))
        assert (found.design_effect, found.people, found.dependence) == (1.0, 0, "none")
        wider = rate_interval(scores, 1.2, rate=rate)
        assert (wider.rate, wider.people, wider.dependence) == (found.rate, 50, "user")
        assert wider.design_effect > 1.5
        assert wider.width > found.width
        assert wider.effective_trials == pytest.approx(found.trials / wider.design_effect)


def test_impostors_who_are_nobody_matter_to_false_acceptances_only():
    scores = crossed(np.random.default_rng(1), 6, 40)
    codes = {rate: [note.code for note in rate_interval(scores, 0.3, rate=rate).warnings] for rate in ("far", "frr")}
    assert "unknown-impostors" in codes["far"]
    assert "unknown-impostors" not in codes["frr"]


def test_of_independent_trials_it_is_wilsons():
    found = rate_interval(population(50, 9, 20, rng=1), 1.2, dependence="none")
    same = proportion_interval(found.errors, found.trials)
    assert (found.lower, found.upper) == (float(same.lower), float(same.upper))


def test_no_error_counts_the_trials_that_share_nobody():
    scores = population(40, 3, 39, crossed=True, rng=1)
    found = rate_interval(scores, 100.0)
    size = np.bincount(np.concatenate([scores.negative.user, scores.negative.probe_user]))
    half = size.sum() ** 2 / (size @ size) / 2  # 20 people, were all in as many trials
    assert (found.errors, found.lower, found.effective_trials) == (0, 0.0, pytest.approx(half))
    assert 19.5 < half < 20
    assert found.upper > proportion_interval(0, 20, method="wilson").upper
    by_user = rate_interval(scores, 100.0, dependence="user")
    assert by_user.effective_trials == pytest.approx(40)
    every = rate_interval(scores, -100.0)
    assert (every.rate, every.upper) == (1.0, 1.0)
    assert every.lower < 0.9
    # Genuine trials have one person each.
    assert rate_interval(scores, 100.0, rate="frr").effective_trials == pytest.approx(40)


def test_the_result_tells_what_it_did():
    found = rate_interval(population(40, 3, 39, crossed=True, rng=1), 1.0)
    told = found.to_dict()
    assert (told["dependence"], told["people"]) == ("crossed", 40)
    assert told["lower"][0] < told["rate"][0] < told["upper"][0]


def with_failures():
    """Scores by user of which some are NaN, and which those are."""
    scores = population(30, 9, 20, user_effect_sd=0.5, rng=3)
    rng = np.random.default_rng(0)
    score = np.concatenate([scores.negative.score, scores.positive.score])
    failed = rng.random(score.size) < np.repeat([0.03, 0.08], [600, 270])
    score = np.where(failed, np.nan, score)
    user = np.concatenate([scores.negative.user, scores.positive.user])
    label = np.repeat([0, 1], [600, 270])
    return label, score, user, failed


def test_failures_to_acquire_are_rejected_or_left_out():
    label, score, user, failed = with_failures()
    rejected = Scores.from_predictions(label, score, user=user, nan="reject")
    dropped = Scores.from_predictions(label, score, user=user, nan="drop")
    rates = {rate: rate_interval(rejected, 1.0, rate=rate) for rate in ("far", "frr", "fmr", "fnmr", "fta")}
    for of_acquired, of_all in (("fmr", "far"), ("fnmr", "frr")):
        same = rate_interval(dropped, 1.0, rate=of_all)
        found = rates[of_acquired]
        assert (found.rate, found.lower, found.upper) == (same.rate, same.lower, same.upper)
    # ISO/IEC 19795-1: FAR = FMR (1 - FTA), FRR = FTA + FNMR (1 - FTA), with the FTA of the class.
    fta = [failed[label == kind].mean() for kind in (0, 1)]
    assert rates["far"].rate == pytest.approx(rates["fmr"].rate * (1 - fta[0]))
    assert rates["frr"].rate == pytest.approx(fta[1] + rates["fnmr"].rate * (1 - fta[1]))
    assert (rates["fta"].errors, rates["fta"].trials, rates["fta"].people) == (failed.sum(), 870, 30)
    assert rates["fta"].design_effect == pytest.approx(rate_spread(failed, Trials(score, user), "user").pseudo[0])
    everything = Scores.from_predictions([0, 1, 1], [0.1, np.nan, np.nan], nan="reject")
    with pytest.raises(InputError, match="every trial of a class failed"):
        rate_interval(everything, 0.0, rate="fnmr")


def test_a_scanned_table_gives_the_same_interval_without_loading_it(tmp_path, monkeypatch):
    scores = population(30, 9, 20, user_effect_sd=0.5, rng=3)
    classes = enumerate((scores.negative, scores.positive))
    rows = [
        f"{value!r},{label},{user}"
        for label, trials in classes
        for value, user in zip(trials.score.tolist(), trials.user, strict=True)
    ]
    (tmp_path / "test.csv").write_text("\n".join(["score,label,user", *rows]) + "\n")
    table = priori.scan(str(tmp_path / "test.csv"), engine="duckdb")
    monkeypatch.setattr(type(table), "load", None)
    for rate in ("far", "frr"):
        found, same = rate_interval(table, 1.2, rate=rate), rate_interval(scores, 1.2, rate=rate)
        assert (found.lower, found.upper, found.freedom) == pytest.approx((same.lower, same.upper, same.freedom))
        assert (found.errors, found.trials, found.people) == (same.errors, same.trials, same.people)
    table.close()


def test_bad_options_are_said():
    scores = population(5, 3, 4, rng=1)
    with pytest.raises(OptionError, match="unknown rate 'fprr'"):
        rate_interval(scores, 0.0, rate="fprr")
    with pytest.raises(OptionError, match="both identities"):
        rate_interval(scores, 0.0, dependence="crossed")
    with pytest.raises(OptionError, match="unknown dependence"):
        rate_interval(scores, 0.0, dependence="pairs")
    with pytest.raises(InputError, match="must be Scores"):
        rate_interval([1, 2], 0.0)
    lonely = Scores.from_arrays([0.0, 1.0], [1.0], negative_user=["a", "a"], positive_user=["a"])
    with pytest.raises(InputError, match="at least two"):
        rate_interval(lonely, 0.5)


# -- the promise, measured ---------------------------------------------------------------------------------------


def coverage(repeats, rate, dependence=None, **shape):
    """Return the share of intervals that hold the FAR of the population."""
    threshold = float(-ndtri(rate))
    held = 0
    for repeat in range(repeats):
        scores = population(**shape, rng=(1, repeat))
        found = rate_interval(scores, threshold, dependence=dependence)
        held += found.lower <= rate <= found.upper
    return held / repeats


def test_crossed_trials_are_covered_where_users_alone_are_not_enough():
    # 40 people, FAR 2 %; 1000 sets: a standard error of 0.7 points at 95 %, 1.2 at 82 %.
    shape = {
        "n_users": 40,
        "genuine_per_user": 1,
        "impostor_per_user": 39,
        "user_effect_sd": 0.3,
        "probe_effect_sd": 0.3,
        "crossed": True,
    }
    assert 0.925 < coverage(1000, 0.02, **shape) < 0.98
    assert coverage(1000, 0.02, dependence="user", **shape) < 0.965
    assert coverage(1000, 0.02, dependence="none", **shape) < 0.88


def test_users_are_covered_also_where_few_of_them_make_most_errors():
    shape = {"n_users": 62, "genuine_per_user": 1, "impostor_per_user": 20, "user_effect_sd": 0.8}
    assert 0.92 < coverage(600, 0.02, **shape) < 0.98
    assert coverage(300, 0.02, dependence="none", **shape) < 0.75


def users_erring(wrong: list[int], trials: int = 10) -> Scores:
    """Impostor trials of several users, so many of each above the threshold 0.5."""
    score = np.concatenate([np.r_[np.ones(each), np.zeros(trials - each)] for each in wrong])
    user = np.repeat(np.arange(len(wrong)), trials)
    return Scores.from_arrays(score, [2.0, 3.0], negative_user=user, positive_user=[0, 1])


def test_the_freedom_is_satterthwaites():
    """Twice the squared variance over its own variance, from each user's errors beyond the mean rate."""
    wrong = [0, 0, 0, 0, 1, 1, 1, 1, 2, 9]
    off = [each - sum(wrong) / 10 for each in wrong]
    squares = sum(each**2 for each in off)
    expected = 2 * squares**2 / (sum(each**4 for each in off) - squares**2 / len(wrong))
    assert rate_interval(users_erring(wrong), 0.5, rate="far").freedom == pytest.approx(expected)
    assert expected < 9


def test_few_people_who_make_the_errors_are_said():
    def codes(wrong: list[int]) -> list[str]:
        return [line.code for line in rate_interval(users_erring(wrong), 0.5, rate="far").warnings]

    assert codes([3, 2, 2, 0, 0, 0]) == ["few-units"]  # as all of so few users are
    assert codes([3, 2, 2, 0, 0, 0, 0]) == []
    # Fewer than one in eight, and than 7.5.
    assert codes([1] * 3 + [0] * 23) == ["few-units"]
    assert codes([1] * 3 + [0] * 21) == []
    assert codes([1] * 7 + [0] * 60) == ["few-units"]
    assert codes([1] * 8 + [0] * 60) == []
    # Fewer than half, and than 15, where the trials of a user are alike.
    assert codes([6, 5, 4, 4, 5] + [0] * 5) == ["few-units"]
    assert codes([6, 5, 4, 4, 5] + [0] * 4) == []
    assert codes([6] * 14 + [0] * 30) == ["few-units"]
    assert codes([6] * 15 + [0] * 30) == []
    assert codes([2] * 7 + [0] * 20) == []


def test_the_upper_limit_allows_for_a_user_who_is_unlike_those_seen():
    """Wilson's limit for the trials that the larger variance is worth; he errs four times as often, or in half."""
    for wrong in ([1, 2] * 20, [5, 6] * 20):
        found = rate_interval(users_erring(wrong), 0.5, rate="far")
        p, n, t = found.rate, found.trials, stats.t.ppf(0.975, found.freedom)
        variance = p * (1 - p) * found.design_effect / n + min(4 * p, 0.5) ** 2 / 41**2
        limits = []
        for effective in (n / found.design_effect, p * (1 - p) / variance):
            centre = (p + t**2 / (2 * effective)) / (1 + t**2 / effective)
            half = t / (1 + t**2 / effective) * np.sqrt(p * (1 - p) / effective + t**2 / (4 * effective**2))
            limits.append((centre - half, centre + half))
        assert (found.lower, found.upper) == pytest.approx((limits[0][0], limits[1][1]))


def test_users_who_try_more_and_err_more_are_said_with_the_rate_per_user():
    rng = np.random.default_rng(3)
    sizes = np.round(10 * np.exp(rng.normal(0, 1, 60))).astype(int) + 1
    user = np.repeat(np.arange(60), sizes)
    wrong = rng.random(user.size) < 0.1 * (sizes[user] / 10) ** 0.6
    scores = Scores.from_arrays(wrong * 1.0, [2.0, 3.0], negative_user=user, positive_user=[0, 1])
    found = rate_interval(scores, 0.5)
    per_user = np.mean([wrong[user == each].mean() for each in range(60)])
    assert found.rate_per_user == pytest.approx(per_user)
    assert per_user < found.rate
    assert found.size_effect > 2.5
    (said,) = (line for line in found.warnings if line.code == "size-follows-error")  # type: ignore[attr-defined]
    assert f"{per_user:.3g} per user" in said
    alike = rate_interval(users_erring([1, 2, 0, 3, 1, 1, 2, 0, 1, 2]), 0.5)
    assert alike.size_effect == 0
    assert alike.rate_per_user == pytest.approx(alike.rate)
