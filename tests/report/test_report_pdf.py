"""The report as PDF, printed by a browser."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import small_studies
from browser import find_chromium as known_chromium
from priori import OptionError
from priori.report import pdf
from priori.studies.evaluation import Study


@pytest.fixture(scope="module")
def two() -> Study:
    return small_studies.study(2.5, 1.6, names=("$x_1", "B"))


@pytest.mark.skipif(known_chromium() is None, reason="there is no Chromium here")
def test_printed(two: Study, tmp_path: Path) -> None:
    pdf.write_pdf(two, tmp_path / "a.pdf")
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", content)) >= 3
    assert os.listdir(tmp_path) == ["a.pdf"]


@pytest.mark.parametrize("chromium", ["/bin/false", "/nowhere"])
def test_one_that_fails(two: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: str) -> None:
    monkeypatch.setenv("PRIORI_CHROMIUM", chromium)
    with pytest.raises(OptionError, match=f"{chromium} could not print the page; open it in a browser"):
        pdf.write_pdf(two, tmp_path / "a.pdf")
    assert os.listdir(tmp_path) == []


def test_a_chromium_is_named_or_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIORI_CHROMIUM", "/opt/my-chromium")
    assert pdf.find_chromium() == "/opt/my-chromium"
    monkeypatch.setenv("PRIORI_CHROMIUM", "")
    monkeypatch.setattr(pdf, "NAMES", ())
    with pytest.raises(OptionError, match=r"and there is none: install one.* or open the page in a browser"):
        pdf.find_chromium()
