"""Every set of scores gives the same answers, in memory or scanned where it lies; a frame is taken wherever one is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import priori
from engine_frames import opened, population
from priori import InputError, Scores, Table
from priori.base.alphas import grid
from priori.base.types import Floats
from priori.decisions.criteria import get_criterion
from priori.scores import BOUND, ScoreSet, condense
from priori.scores.score_set import counted_apart
from priori.studies.sizes import design_effect

Make = Callable[[pl.DataFrame], ScoreSet]


relation = partial(opened, bins=200)


@pytest.fixture(params=[Scores.from_frame, relation], ids=["memory", "duckdb"])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return population(1, size=600, users=12)


@pytest.fixture(scope="module")
def expected(frame: pl.DataFrame) -> tuple[Floats, Floats]:
    """The negative and the positive scores, as they stand in the frame."""
    negative, positive = (frame.filter(pl.col("label") == label)["score"].to_numpy() for label in (0, 1))
    return negative, positive


def test_sizes_and_people(make: Make, frame: pl.DataFrame, expected: tuple[Floats, Floats]) -> None:
    scores = make(frame)
    assert isinstance(scores, ScoreSet)
    assert (scores.n_negatives, scores.n_positives) == tuple(map(len, expected))
    assert len(scores) == frame.height == 600
    assert (scores.has_users, scores.n_users, scores.has_identities) == (True, 12, False)
    assert scores.users is not None
    assert scores.users.values.tolist() == list(range(12))
    assert (scores.nan_rejected, scores.leaves_out_probes) == (0, False)
    assert not make(frame.drop("user")).has_users
    assert make(frame.drop("user")).n_users == 0
    assert make(frame.drop("user")).users is None


def test_nothing_but_a_table_says_that_it_is_scanned(make: Make, frame: pl.DataFrame) -> None:
    scores = make(frame)
    assert scores.scanned == isinstance(scores, Table)
    assert len(scores) == 600


def test_rejected_trials_are_those_at_or_below_a_threshold(
    make: Make, frame: pl.DataFrame, expected: tuple[Floats, Floats]
) -> None:
    negative, positive = expected
    thresholds = [[-np.inf, -0.5, 0.0], [0.01, 1.25, np.inf]]
    tn, fn = make(frame).rejected(thresholds)
    assert tn.shape == fn.shape == (2, 3)
    assert tn.dtype == fn.dtype == np.int64
    assert tn.ravel().tolist() == [int((negative <= at).sum()) for at in np.ravel(thresholds)]
    assert fn.ravel().tolist() == [int((positive <= at).sum()) for at in np.ravel(thresholds)]
    outcomes = priori.count(make(frame), 0.5)
    assert (int(outcomes.fp), int(outcomes.tp)) == (int((negative > 0.5).sum()), int((positive > 0.5).sum()))


@pytest.mark.parametrize("criterion", ["wer", "pr", "target-v1", "eer"])
def test_the_choice_is_among_the_candidates(
    make: Make, frame: pl.DataFrame, expected: tuple[Floats, Floats], criterion: str
) -> None:
    rule, alphas = get_criterion(criterion), grid(11)
    candidates = make(frame).candidates(rule, alphas)
    assert (candidates.n_negatives, candidates.n_positives) == tuple(map(len, expected))
    every = Scores.from_arrays(*expected).candidates()
    assert set(zip(*(errors.tolist() for errors in candidates.every()), strict=True)) <= set(
        zip(*(errors.tolist() for errors in every.every()), strict=True)
    )
    chosen, best = rule.choose_among(candidates, alphas), rule.choose_among(every, alphas)
    assert chosen.threshold.tolist() == best.threshold.tolist()
    assert chosen.outcomes.to_dict() == best.outcomes.to_dict()


def test_a_shortlist_is_short() -> None:
    scores = priori.scan(duckdb.from_arrow(population(1, size=3000).to_arrow()))
    candidates = scores.candidates(get_criterion("wer"), [Fraction(1, 2)])
    assert candidates.fp.size < 0.2 * scores.load().candidates().every()[0].size


def test_pairs_in_order(make: Make, frame: pl.DataFrame, expected: tuple[Floats, Floats]) -> None:
    negative, positive = expected
    above, tied = (positive[:, None] > negative).sum(), (positive[:, None] == negative).sum()
    assert make(frame).pairs_in_order() == 2 * above + tied
    turned = frame.with_columns(label=1 - pl.col("label"))  # the larger class is now the other
    assert make(turned).pairs_in_order() == 2 * (negative.size * positive.size - above) - tied


def test_loading_gives_the_trials(make: Make, frame: pl.DataFrame, expected: tuple[Floats, Floats]) -> None:
    scores = make(frame)
    loaded = scores.load()
    assert isinstance(loaded, Scores)
    assert loaded is scores.load()
    for ordered, given in zip((loaded.negatives, loaded.positives), expected, strict=True):
        assert ordered.tolist() == sorted(given.tolist())


def counts(sets: list[Scores], cuts: list[Floats], by_user: bool) -> dict[tuple[int, ...], int]:
    """Count the negatives by bin of each system, and by user."""
    trials = [scores.negative for scores in sets]
    keys = [np.searchsorted(cut, one.score, side="left") for cut, one in zip(cuts, trials, strict=True)]
    if by_user:
        assert trials[0].user is not None
        assert sets[0].users is not None
        keys.append(sets[0].users.values[trials[0].user].astype(np.int64))
    number = np.ones(keys[0].size, dtype=np.int64) if trials[0].number is None else trials[0].number
    found: dict[tuple[int, ...], int] = {}
    for *key, n in zip(*(column.tolist() for column in (*keys, number)), strict=True):
        found[tuple(key)] = found.get(tuple(key), 0) + n
    return found


@pytest.mark.parametrize("by_user", [False, True])
def test_counts_between_thresholds(make: Make, frame: pl.DataFrame, by_user: bool) -> None:
    cuts = [np.array([-0.5, 0.3, 1.1])]
    found = make(frame).count(cuts, ("user",) if by_user else ())
    assert counts(found, cuts, by_user) == counts([Scores.from_frame(frame)], cuts, by_user)


@pytest.mark.parametrize("by_user", [False, True])
def test_counts_of_paired_systems_between_their_thresholds(make: Make, by_user: bool) -> None:
    # One order for both: in memory trials are put into one before they are counted (`priori.compare` does).
    frames = [population(1, quality, 600, 12).sort("trial") for quality in (1.5, 1.8)]
    cuts = [np.array([-0.5, 0.3]), np.array([0.0, 0.4, 1.0])]
    first, second = (make(frame) for frame in frames)
    expected = counts([Scores.from_frame(frame) for frame in frames], cuts, by_user)
    assert counts(first.count(cuts, ("user",) if by_user else (), [second]), cuts, by_user) == expected
    apart = counted_apart([first, second], cuts)
    assert (apart is None) == (not first.scanned)
    for number, scores in enumerate(apart or []):
        alone = [cuts[number]]
        assert counts([scores], alone, True) == counts([Scores.from_frame(frames[number])], alone, True)
    assert counted_apart([first], cuts[:1]) is None


def test_one_in_memory_and_one_not_cannot_be_paired(frame: pl.DataFrame) -> None:
    cuts = [np.array([0.0]), np.array([0.0])]
    sets = [Scores.from_frame(frame), relation(frame)]
    for first, second in (sets, sets[::-1]):
        with pytest.raises(InputError, match="one of the two test sets is in memory and the other is not"):
            first.count(cuts, others=[second])


def test_what_fits_is_resampled_as_it_is(make: Make, frame: pl.DataFrame) -> None:
    scores = make(frame)
    found, notes = condense(scores, ("user",), narrow=BOUND)
    assert found is scores.load()
    assert notes == ()


def test_bins_of_trials_are_counted_as_the_trials_they_stand_for(frame: pl.DataFrame) -> None:
    cuts = np.array([-0.5, 0.3, 1.1])
    (bins,) = relation(frame).count([cuts], ("user",))
    assert bins.negative.number is not None
    expected = Scores.from_frame(frame)
    assert (bins.n_negatives, bins.n_positives) == (expected.n_negatives, expected.n_positives)
    for found, exact in zip(bins.rejected(cuts), expected.rejected(cuts), strict=True):
        assert found.tolist() == exact.tolist()


def test_a_table_has_no_trials_unless_they_are_asked_for(frame: pl.DataFrame) -> None:
    table = relation(frame)
    for name in ("negatives", "positives", "negative", "positive", "by"):
        assert not hasattr(table, name)
    assert table.load().by("user")


# -- what is taken for a set of scores -------------------------------------------------------------------------------

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "epc": lambda a, b: priori.epc(a, b, alpha=[0.3]).value.tolist(),
    "areas": lambda a, b: priori.areas(a, b).g,
    "auc": lambda a, b: priori.a_posteriori_auc(a),
    "auc interval": lambda a, b: priori.a_posteriori_auc_interval(a).lower,
    "auc test": lambda a, b: priori.a_posteriori_auc_test(a, b).p_value,
    "break-even": lambda a, b: priori.a_posteriori_break_even(a),
    "eer": lambda a, b: [priori.a_posteriori_eer(a, method=method) for method in ("nearest", "hull")],
    "min cllr": lambda a, b: priori.a_posteriori_min_cllr(a),
    "min dcf": lambda a, b: priori.a_posteriori_min_dcf(a),
    "partial auc": lambda a, b: priori.a_posteriori_partial_auc(a, (0, 0.3)),
    "average precision": lambda a, b: priori.average_precision(a),
    "calibrate": lambda a, b: priori.calibrate(a).apply([0.7]).tolist(),
    "cllr": lambda a, b: priori.cllr(a),
    "count": lambda a, b: priori.count(a, [0.7]).to_dict(),
    "design effect": lambda a, b: design_effect(a, 0.7).covariance,
    "plan": lambda a, b: priori.plan(width=0.1, pilot=a, threshold=0.7).to_dict(),
    "rate interval": lambda a, b: priori.rate_interval(a, 0.7).upper,
    "user rates": lambda a, b: priori.user_rates(a, 0.7).lower.tolist(),
    "ztest": lambda a, b: priori.ztest_scores(a, 0.7, b, 0.6).comparison["independent"].p_value,
}


def frames() -> list[pd.DataFrame]:
    rng = np.random.default_rng(5)
    label = np.repeat([0, 1], 60)
    noise = rng.normal(size=120)
    table = {"label": label, "user": np.tile(range(12), 10), "trial": range(120)}
    return [pd.DataFrame({"score": noise + rng.normal(1.5 * label), **table}) for _ in range(2)]


@pytest.mark.parametrize("name", CALLS)
def test_a_frame_gives_what_its_scores_give(name: str) -> None:
    a, b = frames()
    assert CALLS[name](a, b) == CALLS[name](priori.Scores.from_frame(a), priori.Scores.from_frame(b))


@pytest.mark.parametrize("name", CALLS)
def test_a_path_is_told_from_scores(name: str) -> None:
    with pytest.raises(priori.PrioriError, match="scores"):
        CALLS[name]("a-test.csv", "b-test.csv")


@pytest.mark.parametrize("threshold", [float("nan"), "high", None])
def test_a_threshold_is_a_number(threshold: Any) -> None:
    (a, _) = frames()
    calls: list[Callable[[], Any]] = [
        lambda: priori.rate_interval(a, threshold),
        lambda: priori.user_rates(a, threshold),
        lambda: priori.group_rates(a, threshold, groups={user: "ab"[user % 2] for user in range(12)}),
        lambda: design_effect(a, threshold),
    ]
    for call in calls:
        with pytest.raises(priori.OptionError, match="a threshold is a number"):
            call()
    with pytest.raises(priori.OptionError, match="a threshold is a number"):
        priori.count(a, [0.5, float("nan")])
