"""Results: dictionaries, dataframes, notebooks."""

from __future__ import annotations

import html
import re

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
        curve,
        priori.areas(own, own),
        curve.band(n_resamples=20),
        priori.roc(own),
        priori.det(own),
        priori.average([own, own], positions=3),
        priori.average_epc([own, own], [own, own], points=3),
        priori.ztest_scores(own, 1.0),
        priori.a_posteriori_auc_interval(own),
        priori.a_posteriori_auc_test(own, own),
        priori.plan(width=0.1, pilot=own, threshold=1.0),
    ]
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
    page = result._repr_html_()
    assert page.startswith(f"<div><strong>{type(result).__name__}")
    assert page.count("<table>") == page.count("</table>") == 1
    columns = result.summary()["ranking"][0] if isinstance(result, priori.Ranking) else result.columns()
    assert all(f"<th>{column}</th>" in page for column in columns)
    assert re.sub("[,;] read from a file", "", again(result)._repr_html_()) == page


def test_text_is_short_and_has_the_rows_of_the_html(result: Result) -> None:
    line, header, *rows = repr(result).splitlines()
    assert line.startswith(type(result).__name__)
    assert max(map(len, (header, *rows))) <= 300
    assert len(rows) <= 16
    shown = re.findall("<td>(.*?)</td>", result._repr_html_())
    assert rows[0].split() == html.unescape(" ".join(shown[: len(shown)])).split()[: len(rows[0].split())]


def test_long_curves_show_five_alphas_in_per_cent() -> None:
    curve = priori.epc(scores(2, 0), scores(2, 1), points=1001)
    rows = [line.split() for line in repr(curve).splitlines()[2:7]]
    assert [float(row[0]) for row in rows] == [0.1, 0.25, 0.5, 0.75, 0.9]
    hter = curve.at([0.1, 0.25, 0.5, 0.75, 0.9]).value
    assert [f"{row[-4]} {row[-3]}" for row in rows] == [f"{100 * value:.2f} %" for value in hter]
    exact = priori.epc(scores(2, 0), scores(2, 1), exact=True)
    pieces = [line.split() for line in repr(exact).splitlines()[2:7]]
    assert [row[1:] for row in pieces[:3]] == [row[1:] for row in rows[:3]]  # at 0.75 one piece ends, another begins


def test_measures_that_are_no_rates_are_not_in_per_cent() -> None:
    row = repr(priori.epc(scores(2, 0), scores(2, 1), alpha=[0.5], measure="dcf")).splitlines()[2]
    assert not row.rstrip().endswith("%")


def test_a_ranking_shows_the_ranking() -> None:
    ranking = every_result()["ranking"]
    assert isinstance(ranking, priori.Ranking)
    _, header, *rows = repr(ranking).splitlines()
    assert header.split()[:2] == ["name", "value"]
    assert [place.name for place in ranking.places()] == [
        row.split("  ")[0].strip() or row.split()[0] for row in rows[:3]
    ]


def test_html_is_escaped_and_short() -> None:
    a, b = every_result()["epc"], every_result()["comparison"]
    page = b._repr_html_()
    assert "<B>" not in page
    assert "&lt;B&gt; &amp; é" in page
    assert "criterion: wer" in a._repr_html_()
    long = priori.epc(scores(2, 0), scores(2, 1), points=1001)._repr_html_()
    assert "<caption>1001 rows, not all shown</caption>" in long
    assert long.count("<tr>") == 1 + 5
    assert "<li>" in every_result()["ztest of rates"]._repr_html_()
