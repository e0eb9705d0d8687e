"""Results: dictionaries, dataframes, notebooks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import priori
from priori.base.dataframes import _typed, make_frame
from priori.base.errors import OptionError
from priori.base.results import Result
from results import FROM_RATES, again, every_result, scores

NAMES = list(every_result())


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def result(name: str) -> Result:
    return every_result()[name]


# -- dataframes ----------------------------------------------------------------------------------------


def test_frames_go_back_to_the_library_of_the_scores(name: str, result: Result) -> None:
    assert result.backend == (None if name in FROM_RATES else "pandas")
    assert isinstance(result.frame(), pd.DataFrame)
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
    for library, kind in frames.items():
        frame = result.frame(library)
        assert isinstance(frame, kind)
        assert list(getattr(frame, "column_names", None) or frame.columns) == list(result.columns())


def test_every_result_of_polars_scores_is_polars() -> None:
    test = scores(2.0, 1)
    label = np.repeat([0, 1], 200)
    frame = pl.DataFrame({"score": test.negative.score.tolist() + test.positive.score.tolist(), "label": label})
    own = priori.Scores.from_frame(frame)
    curve = priori.epc(own, own, points=3)
    found: list[Result] = [
        curve, priori.areas(own, own), curve.band(n_resamples=20), priori.roc(own), priori.det(own),
        priori.average([own, own], positions=3), priori.average_epc([own, own], points=3),
        priori.ztest_scores(own, 1.0), priori.ztest_epc(curve, curve), priori.a_posteriori_auc_interval(own),
        priori.a_posteriori_auc_test(own, own), priori.design_effect(own, 1.0),
        priori.plan(width=0.1, pilot=own, threshold=1.0),
    ]  # fmt: skip
    assert [type(one).__name__ for one in found if not isinstance(one.frame(), pl.DataFrame)] == []
    assert isinstance(curve.frame("pandas"), pd.DataFrame)


@pytest.mark.parametrize("rows", [0, 3])
def test_types_of_columns(rows: int) -> None:
    columns = {
        "whole": np.arange(rows),
        "number": np.linspace(0, 1, rows),
        "truth": np.ones(rows, dtype=bool),
        "small": np.arange(rows, dtype=np.int32),
    }
    pandas = make_frame(columns, "pandas").dtypes.astype(str).tolist()
    assert pandas == ["int64", "float64", "bool", "int32"]
    assert make_frame(columns, "polars").dtypes == [pl.Int64, pl.Float64, pl.Boolean, pl.Int32]
    assert [str(kind) for kind in make_frame(columns, "pyarrow").schema.types] == ["int64", "double", "bool", "int32"]


def test_missing_values_in_frames() -> None:
    frame = every_result()["plan"].frame()
    assert frame["negatives"].dtype == np.int64
    assert frame["users"].dtype == np.float64
    assert frame["users"].isna().all()
    with pytest.raises(OptionError, match="unknown dataframe library 'excel'; choose one of: pandas, polars"):
        every_result()["plan"].frame("excel")


def test_a_column_in_which_one_value_is_missing_keeps_the_others() -> None:
    assert _typed(np.array(["a", None], dtype=object)) == ["a", None]
    assert np.isnan(_typed(np.array([None, None], dtype=object))).all()
    assert _typed(np.array([], dtype=object)) == []


# -- notebooks -----------------------------------------------------------------------------------------


def test_html(result: Result) -> None:
    html = result._repr_html_()
    assert html.startswith(f"<div><strong>{type(result).__name__}</strong>")
    assert html.count("<table>") == html.count("</table>") == 1
    assert all(f"<th>{column}</th>" in html for column in result.columns())
    assert again(result)._repr_html_() == html


def test_html_is_escaped_and_short() -> None:
    a, b = every_result()["epc"], every_result()["ztest curve"]
    html = b._repr_html_()
    assert "<B>" not in html
    assert "&lt;B&gt; &amp; é" in html
    assert "criterion: wer" in a._repr_html_()
    long = priori.epc(scores(2, 0), scores(2, 1), points=1001)._repr_html_()
    assert "<caption>1001 rows</caption>" in long
    assert long.count("<tr>") == 1 + 13
    assert "<li>" in every_result()["ztest of rates"]._repr_html_()
