"""Results: dictionaries, dataframes, notebooks, and files that give back what was saved."""

from __future__ import annotations

import copy
import importlib
import json
import pickle
import pkgutil
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

import priori
from priori.base.dataframes import make_frame
from priori.base.errors import InputError, MissingScoresError, OptionError
from priori.base.results import Result
from priori.cli import cli
from priori.saving.documents import HEAD, RESULTS
from priori.saving.schemas import bundle, schema
from results import FROM_RATES, every_result, scores

mpl.use("agg")

NAMES = list(every_result())


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def result(name: str) -> Result:
    return every_result()[name]


def _all_classes() -> set[str]:
    """Import every module of the package and name the results it defines."""
    for module in pkgutil.walk_packages(priori.__path__, "priori."):
        if not module.name.endswith("__main__") and ".sklearn" not in module.name:
            importlib.import_module(module.name)
    waiting, found = [Result], set()
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        found |= {kind.__name__ for kind in below if kind.__module__.startswith("priori.")}
    return found


def test_every_result_can_be_saved_and_is_tried_here() -> None:
    assert set(RESULTS) == _all_classes()
    assert {type(found).__name__ for found in every_result().values()} == set(RESULTS)
    for name, module in RESULTS.items():
        assert issubclass(getattr(importlib.import_module(module), name), Result)


def test_names_in_a_document_do_not_clash(result: Result) -> None:
    names = [*HEAD, *result.summary(), *result.columns()]
    assert len(set(names)) == len(names)


# -- JSON ----------------------------------------------------------------------------------------------


def test_json_fits_its_schema(result: Result) -> None:
    content = json.loads(result.to_json(), parse_constant=pytest.fail)
    own = schema(type(result).__name__)
    jsonschema.Draft202012Validator.check_schema(own)
    wrong = [error.message for error in jsonschema.Draft202012Validator(own).iter_errors(content)]
    assert wrong == [], f"change src/priori/schemas/{type(result).__name__}.json"
    jsonschema.Draft202012Validator(bundle()).validate(content)


def test_a_schema_refuses_what_is_not_there() -> None:
    content = json.loads(every_result()["epc"].to_json())
    check = jsonschema.Draft202012Validator(schema("epc")).is_valid
    assert check(content)
    assert not check({**content, "more": 1})
    assert not check({name: value for name, value in content.items() if name != "threshold"})
    assert not check({**content, "threshold": ["Inf"]})
    assert not check({**content, "result": "Band"})


def test_json_comes_back(result: Result, tmp_path: Path) -> None:
    text = result.to_json(tmp_path / "result.json")
    for saved in (Result.from_json(text), type(result).from_json(tmp_path / "result.json")):
        assert isinstance(saved, type(result))
        assert saved.to_json() == text
    assert saved.from_file
    assert not result.from_file
    assert saved == Result.from_json(str(tmp_path / "result.json"))
    assert saved != result


def test_parquet_comes_back(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "it's.parquet"
    result.to_parquet(path)
    assert type(result).from_parquet(path).to_json() == result.to_json()
    table = pq.read_table(path)
    assert table.column_names == list(result.columns())
    assert table.num_rows == len(next(iter(result.columns().values())))
    assert [file.name for file in tmp_path.iterdir()] == ["it's.parquet"]


def test_copies_and_pickles_of_saved_results() -> None:
    saved = Result.from_json(every_result()["epc"].to_json())
    assert copy.deepcopy(saved) == pickle.loads(pickle.dumps(saved)) == saved
    assert repr(saved) == "EPC(11 rows, read from a file)"
    with pytest.raises(AttributeError):
        saved.alpha = 1  # type: ignore[attr-defined]


def _attributes(result: Result) -> list[str]:
    kind = type(result)
    computed = [name for name in dir(kind) if isinstance(getattr(kind, name), (property, cached_property))]
    return sorted({*(field.name for field in fields(result)), *computed} - {"backend", "from_file"})  # type: ignore[arg-type]


def _same(saved: Any, live: Any) -> bool:
    if type(live).__name__ in ("Estimate", "Verdict"):
        return _same(vars(saved), vars(live))
    if isinstance(live, np.ndarray) and live.dtype.kind == "U":
        return saved.tolist() == live.tolist()
    if isinstance(live, (np.ndarray, float)):
        return bool(np.array_equal(np.atleast_1d(saved), np.atleast_1d(live), equal_nan=True))
    if isinstance(live, dict):
        return all(_same(saved[key], value) for key, value in live.items())
    if type(saved).__name__.startswith("Part"):  # what figures use of a curve, of scores or of a test
        return all(key == "best" or _same(value, getattr(live, key)) for key, value in vars(saved).items())
    if hasattr(live, "name"):  # measures, criteria, tasks, methods
        return bool(saved.name == live.name)
    if isinstance(live, priori.Outcomes):
        return saved.to_dict() == live.to_dict()
    if type(live).__name__ == "IntervalPlan":
        return (saved.kind, saved.confidence_level) == (live.kind, live.confidence_level)
    if isinstance(live, tuple):
        return all(_same(one, other) for one, other in zip(saved, live, strict=True))
    if isinstance(saved, range):
        return len(saved) == len(live)
    return bool(saved == live)


#: What may be missing from a result read from a file.
NEED_SCORES = {
    "a", "area", "area_p_value", "b", "commensurability", "comparison", "comparisons", "covered", "curves", "dev",
    "fractions", "measure", "negatives", "plan", "pointwise", "positives", "replicates", "scores", "simultaneous",
    "test", "threshold", "values", "verdict", "widths",
}  # fmt: skip


def test_attributes_are_the_same_or_say_what_they_need(result: Result) -> None:
    saved = type(result).from_json(result.to_json())
    missing = []
    for name in _attributes(result):
        try:
            found = getattr(saved, name)
        except MissingScoresError:
            missing.append(name)
        else:
            assert _same(found, getattr(result, name)), name
    assert set(missing) <= NEED_SCORES
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        saved.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_what_needs_scores_says_so() -> None:
    saved = priori.EPC.from_json(every_result()["epc"].to_json())
    with pytest.raises(MissingScoresError, match="needs the scores, and this EPC was read from a file"):
        saved.band(n_resamples=10)
    with pytest.raises(MissingScoresError):
        saved.at(0.5)
    own = priori.EPC.from_json(every_result()["epc of one's own"].to_json())
    assert (own.measure.rate, own.criterion.name) == (False, "<lambda>")
    with pytest.raises(priori.PrioriError, match="is not saved"):
        own.measure(own.outcomes)


def _drawn(ax: Any) -> list[Any]:
    lines = [line.get_xydata() for line in ax.lines]
    return [*lines, *(path.vertices for area in ax.collections for path in area.get_paths())]


def test_saved_results_draw_the_same_figure(result: Result) -> None:
    if not hasattr(result, "plot"):
        pytest.skip("has no figure")
    saved = Result.from_json(result.to_json())
    options = {"singles": False} if type(result).__name__ == "AverageCurve" else {}
    live, again = (one.plot(ax=Figure().add_subplot(), **options) for one in (result, saved))
    assert live.get_title() == again.get_title()
    assert (live.get_xlabel(), live.get_ylabel()) == (again.get_xlabel(), again.get_ylabel())
    for one, other in zip(_drawn(live), _drawn(again), strict=True):
        np.testing.assert_allclose(one, other)


BAD = {
    "[1]": "is not a result that Priori saved",
    "{": "the JSON text is not JSON",
    "{}": "is not a result that Priori saved",
    '{"priori": "9", "result": "EPC", "layout": 2, "columns": {}}': "written by Priori 9, which is newer",
    '{"priori": "0", "result": "Nothing", "layout": 1, "columns": {}}': "unknown result 'Nothing'; choose one of: EPC",
    '{"priori": "0", "result": "EPC", "layout": 1, "columns": {"a": "number"}}': "the column 'a' is missing",
    '{"priori": "0", "result": "EPC", "layout": 1, "columns": {"a": "number"}, "a": 1}': "'a' is not a list",
    '{"priori": "0", "result": "EPC", "layout": 1, "columns": {"a": "number"}, "a": ["x"]}': "something else than",
    '{"priori": "0", "result": "EPC", "layout": 1, "columns": {"a": "date"}, "a": [1]}': "unknown kind 'date'",
    '{"priori": "0", "result": "EPC", "layout": 1, "columns": {"a": "number", "b": "number"}, "a": [1], "b": []}':
        "different lengths",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_bad_json(text: str, tmp_path: Path) -> None:
    with pytest.raises((InputError, OptionError), match=BAD[text]):
        Result.from_json(text if text.startswith("{") else tmp_path / _file(tmp_path, text))


def _file(folder: Path, text: str) -> str:
    (folder / "saved.json").write_text(text)
    return "saved.json"


def test_files_that_are_no_results(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*missing.json: No such file"):
        Result.from_json(tmp_path / "missing.json")
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(InputError, match="is not a result that Priori saved"):
        Result.from_parquet(tmp_path / "other.parquet")
    for path in (tmp_path / "missing.parquet", _file(tmp_path, "no parquet")):
        with pytest.raises(InputError, match="cannot read"):
            Result.from_parquet(tmp_path / path)
    with pytest.raises(InputError, match=r"holds a result of class EPC, not Band; use EPC\.from_json"):
        priori.Band.from_json(every_result()["epc"].to_json())
    with pytest.raises(OptionError, match="cannot write"):
        every_result()["epc"].to_json(tmp_path / "no" / "such" / "folder.json")


def test_the_schema_command() -> None:
    done = CliRunner().invoke(cli, ["schema", "epc"])
    assert json.loads(done.stdout) == schema("EPC")
    assert set(json.loads(CliRunner().invoke(cli, ["schema"]).stdout)["$defs"]) == set(RESULTS)
    assert CliRunner().invoke(cli, ["schema", "nothing"]).exit_code == 2
    with pytest.raises(OptionError, match="unknown result 'nothing'"):
        schema("nothing")


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


# -- notebooks -----------------------------------------------------------------------------------------


def test_html(result: Result) -> None:
    html = result._repr_html_()
    assert html.startswith(f"<div><strong>{type(result).__name__}</strong>")
    assert html.count("<table>") == html.count("</table>") == 1
    assert all(f"<th>{column}</th>" in html for column in result.columns())
    assert Result.from_json(result.to_json())._repr_html_() == html


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
