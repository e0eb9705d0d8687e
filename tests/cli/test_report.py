"""``priori report`` as a person meets it: real files, and what they are answered."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from in_process import run
from priori.report.page import unpack

QUICK = ("--points", "5", "--resamples", "100")
A = ("--system", "A", "a-dev.csv", "a-test.csv")
B = ("--system", "B", "b-dev.csv", "b-test.csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, shift in (("a", 2.5), ("b", 1.2)):
        for role in ("dev", "test"):
            lines = [f"{rng.normal(shift * (k % 2)):.4f},{k % 2},u{k % 25}" for k in range(300)]
            (tmp_path / f"{name}-{role}.csv").write_text("score,label,user\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_the_page_and_its_verdict(folder: Path) -> None:
    done = run("report", *A, *B, *QUICK, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("At equal costs (alpha = 0.5), A's HTER is ")
    assert done.stdout.endswith("The page: report.html\n")
    assert "priori: warning [few-replicates]: " in done.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    scores = {"a-dev.csv", "a-test.csv", "b-dev.csv", "b-test.csv"}
    assert {path.name for path in folder.iterdir()} == {*scores, "report.html"}


def test_the_command_in_the_page_makes_the_page_again(folder: Path) -> None:
    (folder / "a-dev.csv").rename(folder / "a dev.csv")
    system = ("--system", "it's <A>", "a dev.csv", "a-test.csv")
    given = (*system, *B, *QUICK, "--alpha", "1/3", "--title", "x & y", "--own-users", "-o", "mine.html")
    done = run("report", *given, cwd=folder)
    assert done.returncode == 0, done.stderr
    first = (folder / "mine.html").read_text(encoding="utf-8")
    command = unescape(first.partition('<code id="command">')[2].partition("</code>")[0])
    words = shlex.split(command)
    assert words[:2] == ["priori", "report"]
    assert set(given) == set(words[2:]) - {"--output"} | {"-o"}
    (folder / "mine.html").unlink()
    assert run("report", *words[2:], cwd=folder).returncode == 0
    assert (folder / "mine.html").read_text(encoding="utf-8") == first


def test_other_formats(folder: Path) -> None:
    texts = {
        name: run("report", *A, *B, *QUICK, "--format", name, cwd=folder)
        for name in ("markdown", "latex", "json", "csv")
    }
    assert all(done.returncode == 0 for done in texts.values())
    assert "| System |" in texts["markdown"].stdout
    assert "\\toprule" in texts["latex"].stdout
    assert json.loads(texts["json"].stdout)["settings"]["bootstrap"] == "auto"
    assert texts["csv"].stdout.startswith("system,alpha,threshold,")
    assert not (folder / "report.html").exists()
    done = run("report", *A, *QUICK, "--format", "latex", "-o", "table.tex", cwd=folder)
    assert done.stdout == ""
    assert "\\toprule" in (folder / "table.tex").read_text()


def test_json_has_what_the_page_is_drawn_from(folder: Path) -> None:
    told = json.loads(run("report", *A, *QUICK, "--json", cwd=folder).stdout)
    run("report", *A, *QUICK, cwd=folder)
    (carried,) = re.findall(r'id="priori-data">([^<]*)<', (folder / "report.html").read_text(encoding="utf-8"))
    assert told["page"] == unpack(carried)


def test_to_standard_output(folder: Path) -> None:
    done = run("report", *A, *QUICK, "-o", "-", cwd=folder)
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.rstrip().endswith("</html>")
