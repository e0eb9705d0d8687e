"""A result as CONTRIBUTING says: a dataclass whose annotations are all that is said of what it holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import jsonschema
import numpy as np
import pytest

from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column, Level, Size, Summary, Unsaved
from priori.base.results import Result
from priori.base.types import Counts, Floats, Mask, Texts
from priori.saving.documents import RESULTS, schema


class Span(NamedTuple):
    """A range of heights."""

    low: float
    high: float


@dataclass(frozen=True)
class Trunk:
    """A record within a result."""

    rings: Counts
    span: Span

    @property
    def years(self) -> Summary[int]:
        """How old it is."""
        return int(self.rings.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Forest(Result):
    """Trees and how high they are: one row per tree. Made by nobody.

    Attributes
    ----------
    height : ndarray
        In metres.
    """

    tree: Texts
    height: Floats
    old: Mask
    kind: Literal["oak", "birch"]
    oldest: Trunk
    spans: tuple[Span, ...]
    confidence_level: Level
    users: Size | None
    leaves: Unsaved[Floats]
    warnings: Cautions = ()

    @property
    def twice(self) -> Column[Floats]:
        """Twice the height."""
        return 2 * self.height

    @cached_property
    def fallen(self) -> Summary[int]:
        """How many leaves fell."""
        return int(self.leaves.sum())


@pytest.fixture
def forest(monkeypatch: pytest.MonkeyPatch) -> Forest:
    monkeypatch.setitem(RESULTS, "Forest", __name__)
    return Forest(
        np.array(["a", "b"]),
        np.array([3.5, np.inf]),
        np.array([True, False]),
        "oak",
        Trunk(np.array([1, 2]), Span(0.0, np.nan)),
        (Span(1.0, 2.0), Span(2.0, 4.0)),
        0.9,
        None,
        np.ones(7),
        (Caution("few-users", "only 2 trees"),),
    )


def test_tables_summaries_and_words_follow(forest: Forest) -> None:
    assert list(forest.columns()) == ["tree", "height", "old", "twice"]
    summary = forest.summary()
    assert list(summary) == ["kind", "oldest", "spans", "confidence_level", "users", "warnings", "fallen"]
    assert summary["spans"] == [{"low": 1.0, "high": 2.0}, {"low": 2.0, "high": 4.0}]
    assert (summary["oldest"]["years"], summary["fallen"]) == (3, 7)
    assert forest.frame("pandas")["twice"].tolist() == [7.0, np.inf]
    assert repr(forest).splitlines()[0] == "Forest: Trees and how high they are; 90 % confidence"
    assert "<th>twice</th>" in forest._repr_html_()


def test_files_follow(forest: Forest, tmp_path: Path) -> None:
    forest.to_json(tmp_path / "forest.json")
    saved: Any = Result.from_json(tmp_path / "forest.json")
    assert saved.kind is Forest
    assert saved.to_json() == forest.to_json()
    assert saved.columns()["height"].tolist() == [3.5, np.inf]
    summary = saved.summary()
    assert summary["oldest"] == {"rings": [1, 2], "span": {"low": 0.0, "high": None}, "years": 3}
    assert (summary["spans"][1]["high"], summary["users"], summary["fallen"]) == (4.0, None, 7)
    assert summary["warnings"][0].code == "few-users"
    assert "leaves" not in summary


def test_the_schema_follows(forest: Forest) -> None:
    own = schema("forest")
    jsonschema.Draft202012Validator.check_schema(own)
    check = jsonschema.Draft202012Validator(own).is_valid
    content = json.loads(forest.to_json())
    assert check(content)
    wrong: list[dict[str, Any]] = [{"kind": "elm"}, {"users": -1}, {"confidence_level": 1}, {"oldest": {}}, {"more": 1}]
    for change in wrong:
        assert not check(content | change)
    assert own["description"] == "Trees and how high they are: one row per tree."
    told = {name: own["properties"][name].get("description") for name in ("height", "twice", "fallen")}
    assert told == {"height": "In metres.", "twice": "Twice the height.", "fallen": "How many leaves fell."}


def test_what_cannot_be_saved_is_an_error_when_it_is_declared() -> None:
    @dataclass(frozen=True, eq=False, repr=False)
    class Wood(Result):
        """Something else."""

        path: Path

    with pytest.raises(TypeError, match=r"nothing says how a <class 'pathlib.*Path'> is saved"):
        Wood(Path()).summary()
