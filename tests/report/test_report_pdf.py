"""The report as PDF: by a browser where there is one, by matplotlib where not."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

import pytest

import small_studies
from priori.report.pdf import find_chromium, write_pdf
from priori.studies.evaluation import Study


@pytest.fixture(scope="module")
def two() -> Study:
    return small_studies.study(2.5, 1.6, names=("$x_1", "B"))


def pages(content: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", content))


@pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium here")
def test_printed(two: Study, tmp_path: Path) -> None:
    assert write_pdf(two, tmp_path / "a.pdf") == "Chromium"
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert pages(content) >= 3
    assert os.listdir(tmp_path) == ["a.pdf"]


@pytest.mark.parametrize("chromium", ["", "/bin/false", "/nowhere"])
def test_drawn_where_there_is_none_or_it_fails(
    two: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chromium: str
) -> None:
    monkeypatch.setenv("PRIORI_CHROMIUM", chromium)
    assert write_pdf(two, tmp_path / "a.pdf") == "matplotlib"
    content = (tmp_path / "a.pdf").read_bytes()
    assert pages(content) == 8  # the summary and seven figures
    streams = [zlib.decompress(part) for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)[:1]]
    assert b"Tj" in streams[0] or b"TJ" in streams[0]


def test_a_chromium_is_named_or_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for named, found in (("/opt/my-chromium", "/opt/my-chromium"), ("", None)):
        monkeypatch.setenv("PRIORI_CHROMIUM", named)
        assert find_chromium() == found
