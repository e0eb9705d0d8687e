"""The command line and the page say the same sentences about the same scores."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from priori import examples
from priori.words.numbers import bounds, cell, per_thousand, per_thousand_range

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
    code, report, _ = run("report", *named(*names), *QUICK, "-o", "page.html")
    assert code == 0
    page = unescape((folder / "page.html").read_text()).replace("\u00a0", " ")
    _, comparison, _ = run("compare", *named(*names), *QUICK)
    (sentence,) = [line for line in comparison.splitlines() if line.startswith("At alpha = 0.5, ")]
    assert sentence in page
    assert sentence in report.splitlines()


def test_a_band_has_one_name(folder: Path, run: Run) -> None:
    band = ("--bootstrap", "user", *QUICK)
    _, table, _ = run("epc", *named("eigenfaces"), *band)
    run("report", *named("eigenfaces"), *band, "-o", "page.html")
    name = "95 % pointwise confidence interval, user bootstrap"
    assert f"eigenfaces: {name}" in table
    assert (folder / "page.html").read_text().replace("\u00a0", " ").count(name) == 1


def test_the_page_has_the_rates_and_the_limits_of_the_command_line(folder: Path, run: Run) -> None:
    run("report", *named("eigenfaces"), *QUICK, "-o", "page.html")
    page = unescape((folder / "page.html").read_text()).replace("\u00a0", " ")

    def rates(*chosen: str) -> dict[str, float]:
        _, threshold, _ = run("threshold", "eigenfaces-dev.csv", *chosen, "--format", "csv")
        (row,) = csv.DictReader(io.StringIO(threshold))
        _, table, _ = run("rates", "eigenfaces-test.csv", "--threshold", row["threshold"], "--format", "csv")
        return {name: float(number) for name, number in next(csv.DictReader(io.StringIO(table))).items()}

    deployed = rates("--alpha", "0.5")
    for rate in ("frr", "far"):
        assert f'data-part="1">about {per_thousand(deployed[rate])}<' in page
        interval = per_thousand_range(deployed[f"{rate}_lower"], deployed[f"{rate}_upper"])
        assert f'data-part="3">({interval})<' in page
    limited = rates("--criterion", "at-most-far", "--alpha", "0.01")
    cells = [
        text
        for rate in ("frr", "far")
        for text in (cell(limited[rate]), bounds(limited[f"{rate}_lower"], limited[f"{rate}_upper"], True))
    ]
    assert "".join(f"<td>{text}</td>" for text in cells) in page
