"""The paper in paper/: its length, its references, and that every number stands where its comment says it was made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
#: Paragraphs with numbers are followed by a comment: the file that has them, and the command that makes it.
MADE = re.findall(r"\n\n((?:(?!\n\n).)*)\n\n<!-- from (\S+): (.*?) -->", PAPER, flags=re.DOTALL)


@pytest.mark.parametrize(("paragraph", "file", "command"), MADE, ids=[command for _, _, command in MADE])
def test_every_number_is_in_the_file_that_a_command_makes(paragraph: str, file: str, command: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    numbers = re.findall(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])", paragraph)
    assert numbers
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", text)] == []
    if command.startswith("make"):
        assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


def test_paragraphs_with_per_cents_say_where_they_come_from() -> None:
    made = {paragraph for paragraph, _, _ in MADE}
    body = PAPER.split("---", 2)[2]
    with_numbers = [part for part in body.split("\n\n") if re.search(r"\d %|\d s\b", part) and not part.startswith("!")]
    assert with_numbers
    assert [part for part in with_numbers if part not in made] == []


def test_it_is_about_a_thousand_words_and_cites_what_it_lists() -> None:
    assert 800 <= len(PAPER.split()) <= 1200
    listed = re.findall(r"@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"))
    assert sorted(set(re.findall(r"@(\w+)\]", PAPER))) == sorted(listed)


def test_its_figures_are_there() -> None:
    figures = re.findall(r"\]\((\S+\.svg)\)", PAPER)
    assert figures
    assert all((ROOT / "paper" / figure).is_file() for figure in figures)
