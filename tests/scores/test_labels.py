"""Labels: which of two values is positive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import priori
from priori import InputError
from priori.base.dataframes import is_missing
from priori.scores.labels import KNOWN_PAIRS, classes_of, normal


@pytest.mark.parametrize("pair", KNOWN_PAIRS, ids="/".join)
@pytest.mark.parametrize("change", [str, str.upper, str.title, lambda text: f" {text} "])
def test_known_pairs_in_any_case(pair: tuple[str, str], change: Any) -> None:
    labels = np.array([change(pair[0]), change(pair[1]), change(pair[1])])
    assert classes_of(labels)[0].tolist() == [True, False, False]
    assert classes_of(labels[::-1].astype(object))[0].tolist() == [False, False, True]


@pytest.mark.parametrize(
    "labels",
    [
        [1, 0, 0],
        [1, -1, -1],
        [1.0, 0.0, 0.0],
        [True, False, False],
        ["1", "0", "0.0"],
        ["+1", "-1", "-1.0"],
        [b"1", b"0", b"0"],
        [np.float32(1), np.float32(-1), np.float32(-1)],
        ["TRUE", "false", "False"],
    ],
)
def test_labels_of_every_kind(labels: list[Any]) -> None:
    assert classes_of(np.array(labels))[0].tolist() == [True, False, False]
    if not isinstance(labels[0], bytes):
        assert classes_of(np.array(labels, dtype=object))[0].tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("labels", "pos_label", "expected"),
    [
        (["spam", "ham", "ham"], "spam", [1, 0, 0]),
        (["spam", "ham", "ham"], "HAM", [0, 1, 1]),
        ([0, 3, 1, 0], 0, [1, 0, 0, 1]),
        ([0, 3, 1, 0], "0", [1, 0, 0, 1]),
        ([0.0, 3.0, 1.0], "0", [1, 0, 0]),
        (["0", "3", "00"], 0, [1, 0, 1]),
        ([True, False], False, [0, 1]),
        ([True, False], 1, [1, 0]),
        ([1, 0], True, [1, 0]),
        ([1, 0], 0, [0, 1]),
    ],
)
def test_a_named_positive_label_makes_all_others_negative(
    labels: list[Any], pos_label: Any, expected: list[int]
) -> None:
    assert classes_of(np.array(labels), pos_label)[0].tolist() == [bool(each) for each in expected]


@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        (
            [1, 2, 0],
            None,
            r"^here: 3 different labels \('0', '1', '2'\) where two are needed; say which one is positive",
        ),
        (list(range(9)), None, r"9 different labels \('0', '1', '2', '3', '4', \.\.\.\)"),
        ([1, 1], None, "^here: one class only, every label is '1'; trials of both classes are needed"),
        (["a", "a"], None, "one class only, every label is 'a'"),
        (["a", "b"], None, r"the labels 'a', 'b' are not a pair we know; say which one is positive \(pos_label=VALUE"),
        ([1, 2], None, "'1', '2' are not a pair we know"),
        (["a", "b"], "c", "the positive label 'c' does not occur; the labels are 'a', 'b'"),
        ([1.0, np.nan, 0.0], None, "^here: 1 label is missing .*every trial needs one"),
        ([], None, "no trials; both classes are needed"),
    ],
)
def test_labels_that_do_not_tell(labels: list[Any], pos_label: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        classes_of(np.array(labels), pos_label, where="here")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_labels_among_objects(missing: Any) -> None:
    assert is_missing(missing)
    with pytest.raises(InputError, match="2 labels are missing"):
        classes_of(np.array([1, missing, 0, missing], dtype=object))


@pytest.mark.parametrize("value", ["", "nan", 0, False, "1", 1.5, b""])
def test_what_is_not_missing(value: Any) -> None:
    assert not is_missing(value)


@given(st.lists(st.sampled_from(["1", "1.0", " 1", "01", "0", "-0", "0.0", "0e3"]), min_size=1))
def test_numbers_are_compared_as_numbers(labels: list[str]) -> None:
    expected = [float(label) == 1 for label in labels]
    if len(set(expected)) == 2:
        assert classes_of(np.array(labels))[0].tolist() == expected
    assert {normal(label) for label in labels} == {str(int(each)) for each in expected}


@pytest.mark.parametrize(
    ("labels", "column", "probes", "told"),
    [
        (("genuine", "impostor"), "user", False, ("impostor",)),
        (("Target", "Nontarget"), "user", False, ("Nontarget",)),
        (("bonafide", "spoof"), "user", False, ("spoof",)),
        (("1", "0"), "claimed_id", False, ("claimed_id",)),
        (("genuine", "impostor"), "user", True, ()),
        (("1", "0"), "user", False, ()),
        (("spam", "ham"), "user", False, ()),
    ],
)
def test_words_tell_of_impostors_wherever_trials_are(
    labels: tuple[str, str], column: str, probes: bool, told: tuple[str, ...], tmp_path: Path
) -> None:
    frame = pd.DataFrame({"label": [*labels, *labels], "score": [1.0, 0.0, 0.8, 0.1], column: ["a", "a", "b", "b"]})
    if probes:
        frame["probe_user"] = ["a", "b", "b", "c"]
    file, columns = tmp_path / "scores.parquet", {"user": column}
    frame.to_parquet(file)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    assert priori.read(tmp_path / "scores.csv", columns=columns).nobody == told
    assert priori.Scores.from_frame(frame, columns=columns).nobody == told
    assert priori.read(file, columns=columns).nobody == told
    scanned = priori.scan(duckdb.from_df(frame), columns=columns)
    assert scanned.n_negatives == 2
    assert scanned.nobody == told
    assert scanned.load().nobody == told
