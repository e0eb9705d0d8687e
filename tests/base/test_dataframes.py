"""Scores from dataframes of every library, with columns of every kind; and frames back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from priori import InputError, OptionError, Scores
from priori.base.dataframes import make_frame, match_columns
from reading import both, names, trials

Make = Callable[[dict[str, list[Any]]], Any]


def relation(columns: dict[str, list[Any]]) -> Any:
    return duckdb.from_arrow(pa.table(columns))


MAKERS: dict[str, Make] = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas pyarrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": relation,
}
BACKENDS = {"pandas nullable": "pandas", "pandas pyarrow": "pandas", "polars lazy": "polars", "duckdb": None}

LABELS = {
    "numbers": [0, 1, 0, 1],
    "signs": [-1, 1, -1, 1],
    "floats": [0.0, 1.0, 0.0, 1.0],
    "booleans": [False, True, False, True],
    "words": ["impostor", "Genuine", "impostor", "Genuine"],
}


@pytest.fixture(params=MAKERS)
def library(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("labels", LABELS)
def test_every_library(library: str, labels: str) -> None:
    frame = MAKERS[library](
        {
            "score": [0.25, 0.5, -1.5, 2.0],
            "label": LABELS[labels],
            "user": ["a", "b", "b", "a"],
            "probe_user": ["b", "b", "c", "a"],
            "trial": [10, 2, 30, 4],
            "dataset": ["x", "x", "y", "y"],
            "ignored": [None, 1, 2, 3],
        }
    )
    scores = Scores.from_frame(frame)
    assert both(scores) == ([0.25, -1.5], [0.5, 2.0])
    assert names(scores) == ["a", "b", "b", "a"]
    assert names(scores, "probe_user") == ["b", "c", "b", "a"]
    assert names(scores, "dataset") == ["x", "y", "x", "y"]
    assert trials(scores) == [10, 30, 2, 4]
    assert scores.backend == BACKENDS.get(library, library)


def test_other_names_and_labels_from_identities(library: str) -> None:
    frame = MAKERS[library]({"s": [1, 2, 3], "claimed": [7, 8, 9], "real": [7, 9, 9]})
    columns = {"score": "s", "user": "claimed", "probe_user": "real"}
    assert both(Scores.from_frame(frame, columns=columns, lower_is_better=True)) == ([-2.0], [-1.0, -3.0])
    assert Scores.from_frame(frame, columns={"score": "s", "label": "claimed"}, pos_label=8).positives.tolist() == [2]


def test_missing_scores_are_nan(library: str) -> None:
    frame = MAKERS[library]({"score": [0.25, None, 0.5], "label": [0, 0, 1]})
    with pytest.raises(InputError, match=r"^frame: 1 score is NaN \(the first in row 2\)"):
        Scores.from_frame(frame)
    assert Scores.from_frame(frame, nan="reject").negatives.tolist() == [-np.inf, 0.25]
    whole = MAKERS[library]({"score": [3, None, 5], "label": [0, 0, 1]})
    assert both(Scores.from_frame(whole, nan="drop")) == ([3.0], [5.0])


@pytest.mark.parametrize("column", ["label", "user", "probe_user", "trial", "dataset"])
@pytest.mark.parametrize("values", [["0", "1", None, None], [0, 1, None, None], [False, True, None, None]])
def test_missing_names_are_errors(library: str, column: str, values: list[Any]) -> None:
    columns: dict[str, list[Any]] = {"score": [1.0, 2.0, 3.0, 4.0], "label": [0, 1, 0, 1]}
    with pytest.raises(InputError, match=rf"^frame: column '{column}': 2 values are missing \(the first in row 3\)"):
        Scores.from_frame(MAKERS[library](columns | {column: values}))


def test_columns_that_do_not_fit(library: str) -> None:
    make = MAKERS[library]
    cases: list[tuple[dict[str, list[Any]], str]] = [
        (
            {"score": [1.0], "user": ["a"]},
            "no column 'label' for the label; the columns are score, user; say which it is",
        ),
        ({"score": ["a", "b"], "label": [0, 1]}, "column 'score': the scores must be numbers, not str"),
        ({"score": [True, False], "label": [0, 1]}, "column 'score': the scores must be numbers, not bool"),
        (
            {"score": [1.0, 2.0], "label": [0, 1], "user": [1.5, 2.5]},
            "'user': holds floating-point numbers; a user must",
        ),
        ({"score": [1.0, 2.0, 3.0], "label": [0, 1, 2]}, "3 different labels"),
        ({"score": [1.0, 2.0], "label": [1, 1]}, "one class only|no negative trial"),
    ]
    for columns, message in cases:
        with pytest.raises(InputError, match=message):
            Scores.from_frame(make(columns), source="table")


def test_categories() -> None:
    words, ids = ["spoof", "bonafide", "spoof"], ["007", "7", "007"]
    frames = [
        pd.DataFrame({"score": [1, 2, 3], "label": pd.Categorical(words), "user": pd.Categorical(ids)}),
        pl.DataFrame({"score": [1, 2, 3], "label": words, "user": ids}).cast(
            {"label": pl.Categorical, "user": pl.Enum(["007", "7"])}
        ),
        pa.table({"score": [1, 2, 3], "label": pa.array(words).dictionary_encode(), "user": ids}),
        duckdb.sql(
            "SELECT * FROM (VALUES (1, 'spoof'::ENUM('spoof', 'bonafide'), '007'), (2, 'bonafide', '7'), "
            "(3, 'spoof', '007')) t(score, label, \"user\")"
        ),
    ]
    for frame in frames:
        scores = Scores.from_frame(frame)
        assert both(scores) == ([1.0, 3.0], [2.0])
        assert names(scores) == ["007", "007", "7"]
    numbers = pd.DataFrame({"score": [1, 2, 3], "label": pd.Categorical([0, 1, 0])})
    assert Scores.from_frame(numbers).positives.tolist() == [2.0]


def test_scores_of_other_numeric_types() -> None:
    single = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    decimals = [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]
    label = [0, 1, 0]
    assert Scores.from_frame(pl.DataFrame({"score": single, "label": label})).positives[0] == float(np.float32(0.2))
    for frame in (
        pl.DataFrame({"score": decimals, "label": label}),
        pa.table({"score": decimals, "label": label}),
        pd.DataFrame({"score": decimals, "label": label}),
        duckdb.sql("SELECT 0.1 * i AS score, CAST(i = 2 AS INTEGER) AS label FROM range(1, 4) r(i)"),
    ):
        assert Scores.from_frame(frame).positives.tolist() == pytest.approx([0.2])
    unsigned = pl.DataFrame({"score": pl.Series([1, 2**64 - 1], dtype=pl.UInt64), "label": [0, 1]})
    assert Scores.from_frame(unsigned).positives.tolist() == [2.0**64]


@pytest.mark.parametrize("what", [[1, 2], np.zeros(3), {"score": [1]}, pd.Series([1.0]), None, "dev.csv"])
def test_what_is_no_frame(what: Any) -> None:
    with pytest.raises(InputError, match=f"^frame: a {type(what).__name__} is not a dataframe we can read"):
        Scores.from_frame(what)


def test_matching_columns() -> None:
    assert match_columns(["SCORE", "Label", "x"], {"trial": "X"}, source="f") == {
        "score": "SCORE",
        "label": "Label",
        "trial": "x",
    }
    assert match_columns(["score", "Score", "label"], {}, source="f")["score"] == "score"
    with pytest.raises(OptionError, match="unknown column 'sore'; did you mean 'score'"):
        match_columns(["score"], {"sore": "score"}, source="f")
    with pytest.raises(InputError, match="2 columns are called 'score'; rename all but one"):
        match_columns(["Score", "SCORE", "label"], {}, source="f")
    with pytest.raises(InputError, match=r"the columns are c0, c1, .*, c11 and 18 more; say which"):
        match_columns([f"c{place}" for place in range(30)], {}, source="f")
    with pytest.raises(InputError, match=r"no column 'nobody' for the user; the columns are score, label"):
        match_columns(["score", "label"], {"user": "nobody"}, source="f")


@pytest.mark.parametrize("library_name", ["pandas", "polars", "pyarrow"])
def test_frames_back(library_name: str) -> None:
    frame = make_frame({"a": np.array([1, 2]), "b": np.array(["x", "y"])}, library_name)
    assert type(frame).__module__.split(".")[0] == library_name
    assert type(make_frame({"a": np.array([1])})).__module__.split(".")[0] == "pandas"
    with pytest.raises(OptionError, match="no dataframe library found"):
        make_frame({"a": np.array([1])}, "cudf")
