"""Files give back what was saved: a table and a summary."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import priori
from priori.base.errors import InputError, OptionError
from priori.base.results import Result
from priori.saving.documents import SavedResult, digest
from results import again, every_result


def test_json_comes_back(result: Result, tmp_path: Path) -> None:
    text = result.to_json(tmp_path / "result.json")
    for saved in (again(result), type(result).from_json(tmp_path / "result.json")):
        assert type(saved) is SavedResult
        assert saved.kind is type(result)
        assert saved.to_json() == text
        assert Result.to_dict(saved) == Result.to_dict(result)
        assert list(saved.summary()) == list(result.summary())
    assert repr(saved).splitlines()[0].endswith("read from a file")
    assert repr(saved).splitlines()[1:] == repr(result).splitlines()[1:]


def test_frames_of_saved_results(result: Result) -> None:
    pd.testing.assert_frame_equal(again(result).frame(), result.frame("pandas"))


def test_copies_and_pickles_of_saved_results() -> None:
    saved = Result.from_json(every_result()["epc"].to_json())
    assert copy.deepcopy(saved).to_dict() == pickle.loads(pickle.dumps(saved)).to_dict() == saved.to_dict()
    assert repr(saved).startswith("EPC 'A': an Expected Performance Curve; HTER, thresholds by wer, read from a file\n")
    with pytest.raises(AttributeError):
        saved.table = {}  # type: ignore[misc]
    with pytest.raises(AttributeError, match="band"):
        saved.band()  # type: ignore[attr-defined]


def test_a_saved_result_gives_away_nothing_of_its_own() -> None:
    saved = again(every_result()["epc"])
    saved.columns().clear()
    saved.summary().clear()
    assert next(iter(saved.columns())) == "alpha"
    assert saved.summary()["name"] == "A"


def test_results_from_scores_are_as_before() -> None:
    curve, interval = every_result()["epc"], every_result()["rate"]
    assert curve == curve
    assert len({curve, every_result()["epc exact"]}) == 2
    assert copy.deepcopy(interval) == interval
    assert repr(interval).startswith("RateInterval 'far': an interval of an error rate")
    assert repr(curve).startswith("EPC 'A': an Expected Performance Curve; HTER, thresholds by wer\n")


# -- files that cannot be read -------------------------------------------------------------------------


HEAD = {"priori": "0", "result": "EPC", "layout": 4, "digest": "", "columns": {}}


def signed(**change: Any) -> dict[str, Any]:
    """Return a document that is no result, with the digest that fits."""
    content = {name: value for name, value in (HEAD | change).items() if name != "digest"}
    return {**content, "digest": digest(content)}


BAD: list[tuple[str | dict[str, Any], str]] = [
    ("[1]", "is not a result that Priori saved"),
    ("{", "the JSON text is not JSON"),
    ("{}", "is not a result that Priori saved"),
    ({"priori": "9", "layout": 5}, "written by Priori 9, which is newer"),
    ({"layout": 2}, "in a layout of before; save it again"),
    ({"layout": "1"}, "is not a result that Priori saved"),
    ({"layout": True}, "is not a result that Priori saved"),
    ({"layout": 0}, "is not a result that Priori saved"),
    ({"columns": {"a": "number"}, "a": [1]}, "was changed after Priori saved it"),
    (signed(result="Nothing"), "unknown result 'Nothing'; choose one of: EPC"),
    (signed(result=["EPC"]), "is not as Priori saved it"),
    (signed(columns=[]), "is not as Priori saved it"),
    (signed(columns={"a": "number"}), "is not as Priori saved it .KeyError: 'a'"),
    (signed(columns={"a": "number"}, a=1), "is not as Priori saved it"),
    (signed(columns={"a": "number"}, a=["x"]), "is not as Priori saved it"),
    (signed(columns={"a": "number"}, a=[10**400]), "is not as Priori saved it"),
    (signed(columns={"a": "integer"}, a=["x"]), "is not as Priori saved it"),
    (signed(columns={"a": "date"}, a=[1]), "is not as Priori saved it"),
    (signed(warnings="many"), "is not as Priori saved it"),
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
