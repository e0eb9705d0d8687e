"""Files give back what was saved: a result of the plain class, or an error that says what needs the scores."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import priori
from priori.base.errors import InputError, MissingScoresError, OptionError
from priori.base.results import Result
from priori.base.saved import NotSaved
from priori.saving.documents import digest
from priori.scores import ScoreSet
from priori.scores.saved import SavedScores
from results import again, every_result

mpl.use("agg")

#: Results that hold numbers only, and so are equal wherever they come from.
OF_NUMBERS = ("Areas", "RateInterval", "AposterioriAUCInterval", "AposterioriAUCTest", "Plan", "LimitPlan")


def test_json_comes_back(result: Result, tmp_path: Path) -> None:
    text = result.to_json(tmp_path / "result.json")
    for saved in (again(result), again(result, str(tmp_path / "result.json"))):
        assert type(saved) is type(result)
        assert saved.to_json() == text
    assert saved.from_file
    assert not result.from_file
    assert saved == again(result)
    assert (saved == result) == (type(result).__name__ in OF_NUMBERS)
    assert repr(saved).splitlines()[0].endswith("read from a file")


def test_frames_of_saved_results(result: Result) -> None:
    pd.testing.assert_frame_equal(again(result).frame(), result.frame("pandas"))


def test_copies_and_pickles_of_saved_results() -> None:
    saved = Result.from_json(every_result()["epc"].to_json())
    assert copy.deepcopy(saved) == pickle.loads(pickle.dumps(saved)) == saved
    assert pickle.loads(pickle.dumps(saved)).from_file
    assert len({saved, copy.deepcopy(saved)}) == 1
    assert repr(saved).startswith("EPC 'A': an Expected Performance Curve; HTER, thresholds by wer, read from a file\n")
    with pytest.raises(AttributeError):
        saved.alpha = 1  # type: ignore[attr-defined]


def test_results_from_scores_are_as_before() -> None:
    curve, interval = every_result()["epc"], every_result()["rate"]
    assert curve == curve
    assert len({curve, every_result()["epc exact"]}) == 2
    assert copy.deepcopy(interval) == interval
    assert repr(interval).startswith("RateInterval 'far': an interval of an error rate")
    assert repr(curve).startswith("EPC 'A': an Expected Performance Curve; HTER, thresholds by wer\n")


# -- what is the same, and what is missing -------------------------------------------------------------


def _attributes(result: Result) -> list[str]:
    kind = type(result)
    computed = [name for name in dir(kind) if isinstance(getattr(kind, name), (property, cached_property))]
    names = {*(field.name for field in fields(result)), *computed} - {"backend", "from_file"}
    return sorted(name for name in names if not name.startswith("_"))


def _same(saved: Any, live: Any) -> bool:
    if isinstance(live, priori.Scores):  # their sizes, where they are saved
        return isinstance(saved, SavedScores) and ("n_negatives" not in vars(saved) or len(saved) == len(live))
    parts = "Estimate Verdict MarginVerdict"
    if isinstance(live, Result) or type(live).__name__ in parts.split():  # what is there is the same
        known = {name: value for name, value in vars(saved).items() if not name.startswith("_")}
        return all(isinstance(value, NotSaved) or _same(value, getattr(live, name)) for name, value in known.items())
    if isinstance(live, np.ndarray) and live.dtype.kind == "U":
        return bool(saved.tolist() == live.tolist())
    if isinstance(live, (np.ndarray, float)):
        return bool(np.array_equal(np.atleast_1d(saved), np.atleast_1d(live), equal_nan=True))
    if isinstance(live, dict):
        return set(saved) == set(live) and all(_same(saved[key], value) for key, value in live.items())
    if isinstance(live, priori.Outcomes):
        return bool(saved.to_dict() == live.to_dict())
    if isinstance(live, (tuple, list)):
        return all(_same(one, other) for one, other in zip(saved, live, strict=True))
    return bool(saved == live)


#: What each class cannot have without its scores. Parts of it may lack more: the curve of a band, its thresholds.
NEED_SCORES = {
    "EPC": {"area", "fractions"},
    "CrossEPC": {"area", "fractions", "curves", "fold"},
    "EPSC": {"curves"},
    "SurfaceBand": {"bands"},
    "AverageCurve": {"sets"},
    "Band": {"replicates"},
    "Comparison": {"replicates", "pointwise", "simultaneous"},
    "Ranking": {"values", "expected_values", "pointwise", "simultaneous", "area", "best_p_value", "replicates"},
    "LLRCosts": {"scores", "means"},
    "AmountCosts": {"scores", "means"},
    "ZTest": {"a", "b", "comparison", "aggregate"},
}


def test_attributes_are_the_same_or_say_what_they_need(result: Result) -> None:
    saved = again(result)
    missing = set()
    for name in _attributes(result):
        try:
            found = getattr(saved, name)
        except MissingScoresError:
            missing.add(name)
            continue
        if isinstance(found, NotSaved):
            missing.add(name)
        else:
            assert _same(found, getattr(result, name)), name
    may = NEED_SCORES.get(type(result).__name__, set())
    assert missing <= may
    assert missing or not may
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        saved.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_what_needs_scores_says_so() -> None:
    saved = priori.EPC.from_json(every_result()["epc"].to_json())
    with pytest.raises(MissingScoresError, match=r"needs the scores \(\w+\), and the result was read from a file"):
        saved.band(n_resamples=10)
    with pytest.raises(MissingScoresError, match=r"needs the scores \(\w+\), and the result was read from a file"):
        saved.band(n_resamples=10, bootstrap="sample", resample="both")
    with pytest.raises(MissingScoresError):
        saved.at(0.5)
    with pytest.raises(MissingScoresError):
        priori.compare(saved, saved)
    with pytest.raises(MissingScoresError):
        priori.count(saved.test, [0.5])


def test_scores_that_were_not_saved_know_their_sizes() -> None:
    live = every_result()["epc"]
    saved = again(live)
    for name in ("dev", "test"):
        known, there = getattr(saved, name), getattr(live, name)
        assert (known.source, len(known), known.n_users) == (there.source, len(there), there.n_users)
        assert (known.n_negatives, known.n_positives) == (len(there.negative), len(there.positive))
        assert "read from a file" in repr(known)
        assert known.backend is None
        members = {name for kind in (ScoreSet, *ScoreSet.__bases__) for name in (*vars(kind), *kind.__annotations__)}
        answered = {"source", "backend", "scanned", "distances", "n_negatives", "n_positives", "n_users"}
        asked = {name for name in members if not name.startswith("_")} - answered
        assert {"users", "has_users", "format", "rejected", "load", "count"} <= asked
        for question in [*sorted(asked), "negatives", "positives", "negative", "positive", "datasets"]:
            assert isinstance(getattr(known, question), NotSaved), question
    assert isinstance(again(every_result()["roc"]).scores.source, NotSaved)


def test_nothing_can_be_done_with_what_was_not_saved() -> None:
    missing: Any = NotSaved("best")
    asked = (len, iter, bool, float, np.asarray, lambda it: it[0], lambda it: it(by_user=True), lambda it: it.size)
    computed = (lambda it: it - 1, lambda it: 1 - it, lambda it: np.ones(2) * it, lambda it: it / np.ones(2))
    shown = (lambda it: it == 1, lambda it: it > 1, lambda it: f"{it:.2f}")
    for use in (*asked, *computed, *shown):
        with pytest.raises(MissingScoresError, match=r"needs the scores \(best\).*; compute it again from the scores"):
            use(missing)
    assert repr(missing) == "NotSaved('best')"


def test_a_band_from_a_file_has_no_values_that_it_did_not_save() -> None:
    band = again(every_result()["band"])
    for name in ("best", "threshold", "v1", "outcomes", "fractions", "optimism"):
        with pytest.raises(MissingScoresError):
            np.asarray(getattr(band.curve, name))
    with pytest.raises(MissingScoresError):
        band.plot(best=True)
    assert len(band.plot().collections) == 1
    assert band.settings == every_result()["band"].settings


def test_comparisons_from_files_have_the_verdict_asked_for_only() -> None:
    saved = again(every_result()["comparison"])
    assert _same(saved.verdict, every_result()["comparison"].verdict)
    assert isinstance(saved.replicates, NotSaved)
    assert isinstance(saved.simultaneous, NotSaved)
    with pytest.raises(MissingScoresError, match="was read from a file"):
        saved.histogram(0.5)
    ranking = again(every_result()["ranking"])
    assert ranking.places() == every_result()["ranking"].places()
    with pytest.raises(MissingScoresError, match=r"needs the scores \(values\)"):
        ranking.places(0.5)


def test_what_an_average_does_not_save_is_not_made_up() -> None:
    average = again(every_result()["average"])
    assert len(average.datasets) == 4
    assert isinstance(average.sets, NotSaved)
    with pytest.raises(MissingScoresError, match="was read from a file"):
        average.singles()


# -- figures -------------------------------------------------------------------------------------------


def _drawn(ax: Any) -> list[Any]:
    lines = [line.get_xydata() for line in ax.lines]
    return [*lines, *(path.vertices for area in ax.collections for path in area.get_paths())]


def test_saved_results_draw_the_same_figure(result: Result) -> None:
    if not hasattr(result, "plot"):
        pytest.skip("has no figure")
    saved = again(result)
    options = {"singles": False} if type(result).__name__ == "AverageCurve" else {}
    live, redrawn = (one.plot(ax=Figure().add_subplot(), **options) for one in (result, saved))
    assert live.get_title() == redrawn.get_title()
    assert (live.get_xlabel(), live.get_ylabel()) == (redrawn.get_xlabel(), redrawn.get_ylabel())
    for one, other in zip(_drawn(live), _drawn(redrawn), strict=True):
        np.testing.assert_allclose(one, other)


# -- files that cannot be read -------------------------------------------------------------------------


HEAD = {"priori": "0", "result": "EPC", "layout": 4, "digest": "", "columns": {}}
BAD: list[tuple[str | dict[str, Any], str]] = [
    ("[1]", "is not a result that Priori saved"),
    ("{", "the JSON text is not JSON"),
    ("{}", "is not a result that Priori saved"),
    ({"priori": "9", "layout": 5}, "written by Priori 9, which is newer"),
    ({"layout": 2}, "in a layout of before; save it again"),
    ({"result": "Nothing"}, "unknown result 'Nothing'; choose one of: EPC"),
    ({"columns": {"a": "number"}}, "the column 'a' is missing"),
    ({"columns": {"a": "number"}, "a": 1}, "'a' is not a list"),
    ({"columns": {"a": "number"}, "a": ["x"]}, "something else than"),
    ({"columns": {"a": "date"}, "a": [1]}, "unknown kind 'date'"),
    ({"columns": {"a": "number", "b": "number"}, "a": [1], "b": []}, "different lengths"),
    ({"columns": {"a": "number"}, "a": [1]}, "was changed after Priori saved it"),
    ({"digest": digest({"columns": {}, "layout": 4, "priori": "0", "result": "EPC"})}, "'name' is missing"),
]


@pytest.mark.parametrize(("content", "words"), BAD)
def test_bad_json(content: str | dict[str, Any], words: str, tmp_path: Path) -> None:
    text = content if isinstance(content, str) else json.dumps({**HEAD, **content})
    with pytest.raises((InputError, OptionError), match=words):
        Result.from_json(text if text.startswith("{") else tmp_path / _file(tmp_path, text))


def _file(folder: Path, text: str) -> str:
    (folder / "saved.json").write_text(text)
    return "saved.json"


def test_files_that_are_no_results(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*missing.json: No such file"):
        Result.from_json(tmp_path / "missing.json")
    with pytest.raises(InputError, match=r"holds a result of class EPC, not Band; use EPC\.from_json"):
        priori.Band.from_json(every_result()["epc"].to_json())
    with pytest.raises(OptionError, match="cannot write"):
        every_result()["epc"].to_json(tmp_path / "no" / "such" / "folder.json")
