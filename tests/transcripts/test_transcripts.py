"""Commands and calls answer as the transcripts say: every number, every word, every line of a figure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

import pytest
import transcribing


@pytest.fixture(scope="module")
def inputs() -> Iterator[None]:
    """A folder with all input files."""
    with transcribing.folder():
        yield


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("entry", transcribing.every(), ids=lambda entry: entry.name)
def test_the_answer_is_the_recorded_one(entry: transcribing.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    now = transcribing.answer(entry.asked, in_full=entry.name.startswith(transcribing.IN_FULL))
    if not transcribing.same(entry.answer, now):
        lines = difflib.unified_diff(entry.answer.splitlines(), now.splitlines(), "recorded", "now", n=1, lineterm="")
        pytest.fail(f"{entry.asked}\n" + "\n".join(list(lines)[:60]), pytrace=False)


def test_a_mistake_is_told_in_one_line_and_prints_nothing() -> None:
    told = [entry.answer.split("\n") for entry in transcribing.every() if entry.answer.endswith("exit 2")]
    assert len(told) > 100
    for lines in told:
        assert all(line.startswith("! priori: ") for line in lines[:-1]), lines
        assert [line.startswith("! priori: error: ") for line in lines[:-1]].count(True) == 1, lines


def test_warnings_fit_a_line() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in transcribing.HERE.glob("*.txt"))
    said = re.findall(r"^! priori: (?:warning|note) \[[a-z-]+\]: (.*)$", text, flags=re.MULTILINE)
    assert len(said) > 10
    assert [line for line in said if len(line) > 120] == []


def test_rounding_is_forgiven_and_nothing_else() -> None:
    assert transcribing.same("a 1.0000000001, b 3", "a 1.0000000002, b 3")
    assert not transcribing.same("a 1.00001", "a 1.00002")
    assert not transcribing.same("a 1", "b 1")
    assert not transcribing.same("3 of 4", "4 of 4")
