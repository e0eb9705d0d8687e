"""Scores: what is accepted, what is refused, what is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from priori import InputError, OptionError, Scores
from priori.scores import Names, Trials, in_memory
from priori.scores.derived import pool
from reading import both, names, trials

FLOATS = st.floats(allow_nan=False)


def test_from_arrays() -> None:
    scores = Scores.from_arrays([0.4, 0.1], (0.8, -np.inf, np.inf), source="dev")
    assert both(scores) == ([0.4, 0.1], [0.8, -np.inf, np.inf])
    assert scores.negatives.tolist() == [0.1, 0.4]
    assert scores.positives.tolist() == [-np.inf, 0.8, np.inf]
    assert len(scores) == 5
    assert repr(scores) == "Scores(2 negatives, 3 positives)"
    assert not scores.has_users
    assert scores.n_users == 0
    assert scores.source == "dev"


def test_from_arrays_with_users() -> None:
    scores = Scores.from_arrays([1, 2], [3, 4], negative_user=["b", "a"], positive_user=["c", "a"])
    assert names(scores) == ["b", "a", "c", "a"]
    assert scores.n_users == 3
    assert scores.has_users
    assert not scores.has_identities
    mixed = Scores.from_arrays([1, 2], [3], negative_user=[7, 8], positive_user=["7"])
    assert names(mixed) == ["7", "8", "7"]
    with pytest.raises(InputError, match="give the user of both classes or of neither"):
        Scores.from_arrays([1], [2], negative_user=["a"])
    with pytest.raises(InputError, match="positive_user: 1 values for 2 scores"):
        Scores.from_arrays([1], [2, 3], negative_user=["a"], positive_user=["a"])


@pytest.mark.parametrize(
    ("negatives", "message"),
    [
        ([], "no negative trial; both classes are needed"),
        (["x"], "negatives: every score must be a number"),
        ([[1, 2]], r"negatives: one column of scores is needed, not an array of shape \(1, 2\)"),
        (0.5, "one column of scores is needed"),
        ([1, [2]], "every score must be a number"),
        ([10**400], "every score must be a number"),
        ([1j], "every score must be a number"),
        ([np.nan, 1.0], r"scores: 1 score is NaN \(the first in row 1\); choose a policy \(nan\)"),
        ([None, 1.0], "1 score is NaN"),
        (np.ma.masked_greater([1.0, 5.0], 3), r"1 score is NaN \(the first in row 2\)"),
    ],
)
def test_scores_that_are_refused(negatives: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Scores.from_arrays(negatives, [1.0])


def test_nan_policies() -> None:
    negatives, positives = [np.nan, 3.0, 1.0], [2.0, np.nan, np.nan]
    with pytest.raises(OptionError, match="unknown NaN policy 'ignore'; choose one of: error, reject, drop"):
        Scores.from_arrays(negatives, positives, nan="ignore")  # type: ignore[arg-type]
    rejected = Scores.from_arrays(negatives, positives, nan="reject")
    assert both(rejected) == ([-np.inf, 3.0, 1.0], [2.0, -np.inf, -np.inf])
    assert rejected.nan_rejected == 3
    far = Scores.from_arrays(negatives, positives, nan="reject", lower_is_better=True)
    assert both(far) == ([-np.inf, -3.0, -1.0], [-2.0, -np.inf, -np.inf])
    dropped = Scores.from_arrays(negatives, positives, nan="drop", negative_user=[1, 2, 3], positive_user=[4, 5, 6])
    assert both(dropped) == ([3.0, 1.0], [2.0])
    assert names(dropped) == ["2", "3", "4"]
    assert dropped.n_users == 3
    assert dropped.nan_rejected == 0
    with pytest.raises(InputError, match="no positive trial"):
        Scores.from_arrays([1.0], [np.nan], nan="drop")


def test_nan_rows_are_counted_over_both_classes() -> None:
    with pytest.raises(InputError, match=r"2 scores are NaN \(the first in row 3\)"):
        Scores.from_predictions([0, 1, 1, 0], [0.5, 0.5, np.nan, np.nan])


def test_from_predictions_keeps_rows_together() -> None:
    scores = Scores.from_predictions(
        ["client", "impostor", "Client", "IMPOSTOR"],
        [4, 1, 3, 2],
        user=["a", "a", "b", "b"],
        probe_user=["a", "b", "b", "c"],
        trial=[10, 20, 30, 40],
        dataset=["x", "y", "x", "y"],
    )
    assert both(scores) == ([1.0, 2.0], [4.0, 3.0])
    assert names(scores) == ["a", "b", "a", "b"]
    assert names(scores, "probe_user") == ["b", "c", "a", "b"]
    assert names(scores, "dataset") == ["y", "y", "x", "x"]
    assert trials(scores) == [20, 40, 10, 30]
    assert scores.has_identities
    assert scores.n_users == 2  # claimed identities; c was never claimed
    assert repr(scores) == "Scores(2 negatives, 2 positives, 2 users, 2 data sets)"
    assert scores.negative.row is not None
    assert scores.negative.row.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [0, 1, 1], "y_score": [1, 2]}, r"y_true has shape \(3,\) and y_score \(2,\)"),
        ({"y_true": [[0, 1]], "y_score": [1, 2]}, "both must be one column"),
        ({"y_true": [0, 1], "y_score": [1, 2], "user": ["a"]}, "user: 1 values for 2 scores"),
        (
            {"y_true": [0, 1], "y_score": [1, 2], "user": ["a", None]},
            "user: 1 values are missing; every trial needs one",
        ),
        ({"y_true": [0, 1], "y_score": [1, 2], "trial": [1.0, np.nan]}, "trial: 1 values are missing"),
        ({"y_true": [0, 1], "y_score": [1, 2], "dataset": pd.array([1, None])}, "dataset: 1 values are missing"),
        ({"y_true": [0, None], "y_score": [1, 2]}, "1 label is missing"),
        ({"y_true": [True, True], "y_score": [1, 2]}, "no negative trial"),
    ],
)
def test_predictions_that_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Scores.from_predictions(**arguments)


@given(st.lists(FLOATS, min_size=1), st.lists(FLOATS, min_size=1), st.booleans())
def test_order_direction_and_zero(negatives: list[float], positives: list[float], lower: bool) -> None:
    scores = Scores.from_arrays(negatives, positives, lower_is_better=lower)
    sign = -1 if lower else 1
    assert scores.negatives.tolist() == sorted(sign * value for value in negatives)
    assert scores.positive.score.tolist() == [sign * value for value in positives]
    assert not np.signbit(scores.positives[scores.positives == 0]).any()
    assert scores.positive.score[scores.positive.order].tolist() == scores.positives.tolist()


def test_scores_are_frozen_and_do_not_follow_the_input() -> None:
    given_array = np.array([1.0, 2.0])
    scores = Scores.from_arrays(given_array, given_array)
    given_array[0] = 9
    assert scores.negatives.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        scores.negative.score[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        scores.positives[0] = 5
    with pytest.raises(AttributeError):
        scores.source = "other"  # type: ignore[misc]


def test_by_dataset_and_by_user() -> None:
    scores = Scores.from_predictions(
        [0, 1, 0, 1, 0],
        [1, 2, 3, 4, 5],
        user=["b", "b", "a", "a", "c"],
        dataset=["y", "y", "x", "x", "z"],
        source="dev",
    )
    parts = scores.by("dataset")
    assert list(parts) == ["x", "y", "z"]
    assert both(parts["x"]) == ([3.0], [4.0])
    assert parts["x"].source == "dev [x]"
    assert names(parts["x"]) == ["a", "a"]
    assert len(parts["z"].positive) == 0
    by_user = scores.by("user")
    assert {name: len(part) for name, part in by_user.items()} == {"a": 2, "b": 2, "c": 1}
    with pytest.raises(InputError, match="there is no column 'dataset' to split by"):
        Scores.from_arrays([1], [2]).by()
    with pytest.raises(InputError, match="there is no column 'trial' to split by"):
        scores.by("trial")  # type: ignore[arg-type]


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("cdef")))
def test_encoded_columns_share_their_names(first: list[str], second: list[str]) -> None:
    listed, (one, none, two) = Names.encode(np.array(first, dtype=str), None, np.array(second, dtype=str))
    assert listed is not None
    assert one is not None
    assert two is not None
    assert none is None
    assert listed.values.tolist() == sorted(set(first + second))
    assert len(listed) == len(set(first + second))
    assert listed.values[one].tolist() == first
    assert listed.values[two].tolist() == second


def test_encoding_nothing_and_mixed_kinds() -> None:
    assert Names.encode(None, None) == (None, [None, None])
    listed, _ = Names.encode(np.array([10, 9]), np.array([9]))
    assert listed is not None
    assert listed.values.tolist() == [9, 10]
    listed, _ = Names.encode(np.array([10, 9]), np.array(["9", "x"]))
    assert listed is not None
    assert listed.values.tolist() == ["10", "9", "x"]


def test_taking_and_pooling() -> None:
    rows = Trials(np.array([1.0, 2.0, 3.0]), ids=np.array(["a", "b", "c"])).take(np.array([2, 0]))
    assert rows.score.tolist() == [3.0, 1.0]
    assert rows.row is not None
    assert rows.row.tolist() == [2, 0]
    assert rows.take(np.array([True, False])).row.tolist() == [2]  # type: ignore[union-attr]
    together = pool([Scores.from_arrays([1], [2]), Scores.from_arrays([0], [3, 4])])
    assert both(together) == ([1.0, 0.0], [2.0, 3.0, 4.0])


def test_many_scores_are_sorted_as_few_are() -> None:
    rng = np.random.default_rng(0)
    negative, positive = rng.normal(size=50_000).round(3), rng.normal(size=40_000).round(3)
    for first in ("negatives", "positives"):
        scores = Scores.from_arrays(negative, positive)
        getattr(scores, first)  # whichever is asked for first
        for found, drawn in ((scores.negatives, negative), (scores.positives, positive)):
            np.testing.assert_array_equal(found, np.sort(drawn))
            assert not found.flags.writeable


def test_groups_are_kept_with_the_trials_and_split_by() -> None:
    scores = Scores.from_predictions(
        [0, 1, 0, 1, 1], [0.1, 0.9, np.nan, 0.8, np.nan], group=["f", "f", "m", "m", "m"], nan="reject"
    )
    assert scores.groups is not None
    assert scores.groups.values.tolist() == ["f", "m"]
    parts = scores.by("group")
    assert [(name, len(part.negative), len(part.positive)) for name, part in parts.items()] == [
        ("f", 1, 1),
        ("m", 1, 2),
    ]
    # Failures to acquire stay with their trials.
    assert (scores.nan_rejected, parts["f"].nan_rejected, parts["m"].nan_rejected) == (2, 0, 2)
    assert parts["m"].positive.failed is not None
    assert parts["m"].positive.failed.tolist() == [False, True]
    frame = pd.DataFrame({"score": [0.1, 0.9], "label": [0, 1], "group": ["x", "y"], "sex": ["f", "m"]})
    assert Scores.from_frame(frame).groups is None
    named = Scores.from_frame(frame, columns={"group": "sex"}).groups
    assert named is not None
    assert named.values.tolist() == ["f", "m"]


def test_trials_are_taken_with_all_their_columns():
    codes = np.array([3, 1, 2], dtype=np.int32)
    trials = Trials(np.array([1.0, 2.0, 3.0]), user=codes, ids=np.array(["a", "b", "c"]), attack=codes + 1)
    for index in (np.array([2, 0]), np.array([True, False, True])):
        taken = trials.take(index)
        assert taken.score.tolist() == trials.score[index].tolist()
        assert taken.user.tolist() == codes[index].tolist()
        assert taken.attack.tolist() == (codes[index] + 1).tolist()
        assert taken.trial.tolist() == trials.trial[index].tolist()
        assert taken.row.tolist() == np.arange(3)[index].tolist()
        assert taken.probe_user is None
    assert trials.take(np.array([2, 0])).take(np.array([1])).row.tolist() == [0]


@pytest.mark.parametrize("positives", [500, 5000])
def test_some_scores_tell_roughly_how_many_pairs_are_in_order(monkeypatch: pytest.MonkeyPatch, positives: int) -> None:
    monkeypatch.setattr(in_memory, "ROUGHLY", 64)
    rng = np.random.default_rng(5)
    scores = Scores.from_arrays(rng.normal(size=3000).round(1), rng.normal(1, 1, positives).round(1))
    above = np.subtract.outer(scores.positive.score, scores.negative.score)
    exact = 2 * np.count_nonzero(above > 0) + np.count_nonzero(above == 0)
    assert scores.pairs_in_order() == exact
    rough = scores.pairs_in_order(rough=True)
    assert rough != exact
    assert rough / exact == pytest.approx(1, abs=1 / 64)


def test_trials_in_their_own_order_are_themselves() -> None:
    trials = Trials(np.array([0.3, 0.1, 0.2]), user=np.array([0, 1, 0], dtype=np.int32))
    assert trials.in_order(np.arange(3)) is trials
    turned = trials.in_order(np.array([2, 1, 0]))
    assert turned.score.tolist() == [0.2, 0.1, 0.3]
    assert turned.row is not None
    assert turned.row.tolist() == [2, 1, 0]
