"""The command line and the page say the same sentences about the same scores."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from priori import examples

Run = Callable[..., tuple[int, str, str]]
QUICK = ("--resamples", "200", "--points", "11")


def named(*names: str) -> list[str]:
    return [word for name in names for word in ("--system", name, f"{name}-dev.csv", f"{name}-test.csv")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    examples.write("faces", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("names", [("eigenfaces", "fisherfaces"), ("eigenfaces", "fisherfaces", "correlation")])
def test_compare_and_the_page_give_one_verdict(names: tuple[str, ...], folder: Path, run: Run) -> None:
    code, report, _ = run("report", *named(*names), *QUICK, "--static", "-o", "page.html")
    assert code == 0
    page = unescape((folder / "page.html").read_text()).replace("\u00a0", " ")
    _, comparison, _ = run("compare", *named(*names), *QUICK)
    (sentence,) = [line for line in comparison.splitlines() if line.startswith("At alpha = 0.5, ")]
    assert sentence in page
    assert sentence in report.splitlines()


def test_a_band_has_one_name(folder: Path, run: Run) -> None:
    band = ("--bootstrap", "user", *QUICK)
    _, table, _ = run("epc", *named("eigenfaces"), *band)
    run("report", *named("eigenfaces"), *band, "--static", "-o", "page.html")
    name = "95 % pointwise confidence interval, user bootstrap"
    assert f"eigenfaces: {name}" in table
    assert (folder / "page.html").read_text().replace("\u00a0", " ").count(name) == 1
