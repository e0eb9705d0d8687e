"""Pairing: which trial of one system is which trial of another."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import priori
from priori import InputError, Scores
from priori.scores.pairing import disagreements, pair, repeated_ids


def _scores(labels, score, trial=None, source="scores"):
    return Scores.from_predictions(labels, score, trial=trial, source=source)


@given(st.integers(2, 30).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.integers(1, n - 1))))
def test_pairs_any_order_by_id(drawn):
    order, n_positive = drawn
    order = np.asarray(order)
    label = np.arange(order.size) < n_positive
    ids = np.char.add("t", np.arange(order.size).astype(str))
    a = _scores(label, np.arange(order.size), ids)
    b = _scores(label[order], np.arange(order.size)[order], ids[order])
    pairing = pair(a, b)
    assert pairing.by == "trial"
    # The score is the trial's own number in both systems, so a right pairing has equal scores.
    assert np.array_equal(a.negative.score, b.negative.score[pairing.negative])
    assert np.array_equal(a.positive.score, b.positive.score[pairing.positive])
    assert pairing.negative.size == len(a.negative)
    assert pairing.positive.size == n_positive


def test_ids_compare_as_text():
    a = _scores([0, 1], [1.0, 2.0], np.array([1, 2]))
    b = _scores([1, 0], [2.0, 1.0], np.array(["2", "1"]))
    pairing = pair(a, b)
    assert b.negative.score[pairing.negative].tolist() == [1.0]


def test_by_row_when_there_are_no_ids():
    a = _scores([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
    b = _scores([0, 1, 0, 1], [10.0, 20.0, 30.0, 40.0])
    pairing = pair(a, b)
    assert pairing.by == "row"
    assert b.positive.score[pairing.positive].tolist() == [20.0, 40.0]


def test_by_row_of_class_arrays():
    a = Scores.from_arrays([1, 2], [3, 4, 5])
    b = Scores.from_arrays([10, 20], [30, 40, 50])
    assert pair(a, b).positive.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match=r"2 negatives and 3 positives.*unpaired"):
        pair(a, Scores.from_arrays([1, 2], [3, 4]))


def test_rows_stay_right_after_dropped_trials():
    a = Scores.from_predictions([0, 1, 0, 1], [1.0, np.nan, 3.0, 4.0], nan="drop")
    b = Scores.from_predictions([0, 1, 0, 1], [1.0, np.nan, 3.0, 4.0], nan="drop")
    assert pair(a, b).positive.tolist() == [0]
    full = Scores.from_predictions([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(InputError, match=r"1 of 4 rows of the second system \(scores\) \(2\)"):
        pair(a, full)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (
            _scores([0, 1, 1], [1, 2, 3], ["x", "y", "z"], "a.csv"),
            _scores([0, 1], [1, 2], ["x", "y"], "b.csv"),
            r"no partner for 1 of 3 trials of the first system \(a.csv\) \(z\); .*unpaired=True",
        ),
        (
            _scores([0, 1], [1, 2], ["x", "y"], "a.csv"),
            _scores([0, 1], [1, 2], ["x", "w"], "b.csv"),
            r"1 of 2 trials of the first system \(a.csv\) \(y\) and 1 of 2 trials of the second system \(b.csv\) \(w\)",
        ),
        (
            _scores([0, 1, 1], [1, 2, 3], ["x", "y", "y"], "a.csv"),
            _scores([0, 1, 1], [1, 2, 3], ["x", "y", "z"]),
            r"a.csv\) has 1 trial ids more than once, 'y' for one",
        ),
        (
            _scores([0, 1, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6], list("vwwyzz"), "a.csv"),
            _scores([0, 1, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6], list("uvwxyz")),
            r"a.csv\) has 2 trial ids more than once, 'w' for one",
        ),
        (
            _scores([0, 1, 1], [1, 2, 3], ["x", "y", "z"], "a.csv"),
            _scores([1, 1, 0], [1, 2, 3], ["x", "y", "z"], "b.csv"),
            r"labels of 2 trials differ .*\(x, z\)",
        ),
        (_scores([0, 1], [1, 2], ["x", "y"], "a.csv"), _scores([0, 1], [1, 2], None, "b.csv"), r"b.csv\) has none"),
        (_scores([0, 1], [1, 2], None, "a.csv"), _scores([0, 1], [1, 2], ["x", "y"], "b.csv"), r"a.csv\) has none"),
        (_scores([0, 1, 1], [1, 2, 3]), _scores([0, 1, 0], [1, 2, 3]), r"labels of 1 rows differ .*\(3\)"),
        (_scores([0, 1, 1], [1, 2, 3]), _scores([0, 1], [1, 2]), r"1 of 3 rows .*\(3\); give trial ids"),
    ],
)
def test_refuses_and_says_which(a, b, message):
    with pytest.raises(InputError, match=message):
        pair(a, b)


def test_ids_whose_keys_collide_are_still_told_apart(monkeypatch):
    monkeypatch.setattr("priori.scores.pairing.id_keys", lambda ids: np.zeros(ids.size, dtype=np.uint64))
    a = _scores([0, 1, 1], [1.0, 2.0, 3.0], ["x", "y", "z"])
    b = _scores([1, 0, 1], [3.0, 1.0, 2.0], ["z", "x", "y"])
    assert pair(a, b).positive.tolist() == [1, 0]


@given(st.integers(0, 2**32 - 1))
def test_disagreements_against_counting_one_by_one(seed):
    rng = np.random.default_rng(seed)
    label = np.r_[0, 1, rng.integers(0, 2, 20)]
    score_a, score_b = rng.integers(0, 5, 22), rng.integers(0, 5, 22)
    a, b = _scores(label, score_a), _scores(label, score_b)
    at_a, at_b = np.array([-np.inf, 1, 2, 4.5]), np.array([3, 1, np.inf, 2])
    found = disagreements(a, b, at_a, at_b)
    for place in range(4):
        wrong_a = (score_a > at_a[place]) != label
        wrong_b = (score_b > at_b[place]) != label
        assert found.negatives_ab[place] == np.sum(~wrong_a & wrong_b & (label == 0))
        assert found.negatives_ba[place] == np.sum(wrong_a & ~wrong_b & (label == 0))
        assert found.positives_ab[place] == np.sum(~wrong_a & wrong_b & (label == 1))
        assert found.positives_ba[place] == np.sum(wrong_a & ~wrong_b & (label == 1))


def _with_users(labels, score, user, trial=None, probe=None):
    return Scores.from_predictions(labels, score, user=user, trial=trial, probe_user=probe, source="file")


LABELS, SCORES = [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]


def test_rows_whose_users_contradict_each_other_are_not_paired():
    a = _with_users(LABELS, SCORES, ["p", "q", "p", "q"])
    shuffled = _with_users(LABELS, SCORES, ["q", "p", "p", "q"])
    said = r"the users of 2 rows differ between the first system .* \(1, 2\); give trial ids, or if the test sets"
    with pytest.raises(InputError, match=said):
        pair(a, shuffled)
    assert pair(a, _with_users(LABELS, SCORES, np.array(["p", "q", "p", "q"]))).by == "row"
    assert pair(a, _scores(LABELS, SCORES)).by == "row"  # what only one of them knows cannot contradict


def test_ids_whose_users_contradict_each_other_are_not_paired():
    ids = ["s", "t", "u", "v"]
    a = _with_users(LABELS, SCORES, [1, 2, 1, 2], ids)
    b = _with_users(LABELS[::-1], SCORES, ["2", "1", "7", "1"], ids[::-1])
    with pytest.raises(InputError, match=r"the users of 1 trials differ .* \(t\); check the user columns, or if"):
        pair(a, b)
    assert pair(a, _with_users(LABELS[::-1], SCORES, ["2", "1", "2", "1"], ids[::-1])).by == "trial"


def test_real_users_that_contradict_each_other_are_not_paired():
    with pytest.raises(InputError, match=r"the probe users of 1 rows differ .* \(2\)"):
        pair(*(_with_users(LABELS, SCORES, ["p", "q", "p", "q"], None, list(probe)) for probe in ("rspq", "rrpq")))


def test_an_id_may_name_a_trial_of_each_class(tmp_path: Path) -> None:
    """A prompt with a human and a machine text: id and label together name a trial, in memory and in a table."""
    a = Scores.from_predictions([0, 1, 0, 1], [0.1, 0.6, 0.3, 0.8], trial=["p", "p", "q", "q"])
    b = Scores.from_predictions([1, 0, 1, 0], [0.9, 0.2, 0.7, 0.4], trial=["q", "q", "p", "p"])
    pairing = pair(a, b)
    assert pairing.negative.tolist() == pairing.positive.tolist() == [1, 0]
    assert repeated_ids(a) == 0
    short = Scores.from_predictions([1, 0, 1], [0.9, 0.2, 0.7], trial=["q", "q", "p"])
    with pytest.raises(InputError, match=r"no partner for 1 of 4 trials .*\(negative p\)"):
        pair(a, short)
    for name, scores in (("a", a), ("b", b)):
        rows = [
            f"{trial},{label},{score}"
            for label, trials in enumerate((scores.negative, scores.positive))
            for trial, score in zip(trials.ids, trials.score, strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["trial,label,score", *rows, ""]))
    scanned = [priori.scan(tmp_path / f"{name}.csv") for name in "ab"]
    in_memory, in_place = (disagreements(*sets, 0.25, 0.65) for sets in ((a, b), scanned))
    assert vars(in_memory) == vars(in_place)
