"""``priori report`` as a person meets it: real files, and what they are answered."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from priori.cli import main
from priori.report.page import unpack

Run = Callable[..., Any]
QUICK = ("--points", "5", "--resamples", "100")
A = ("--system", "A", "a-dev.csv", "a-test.csv")
B = ("--system", "B", "b-dev.csv", "b-test.csv")


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run the command in a folder, in this process."""

    def run(*arguments: str, cwd: Path) -> Done:
        monkeypatch.chdir(cwd)
        try:
            main(["report", *arguments])
            code = 0
        except SystemExit as ending:
            code = int(ending.code or 0)
        return Done(code, *capsys.readouterr())

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, shift in (("a", 2.5), ("b", 1.2)):
        for role in ("dev", "test"):
            lines = [f"{rng.normal(shift * (k % 2)):.4f},{k % 2},u{k % 25}" for k in range(300)]
            (tmp_path / f"{name}-{role}.csv").write_text("score,label,user\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_the_page_and_its_verdict(folder: Path) -> None:
    command = [sys.executable, "-m", "priori", "report", *A, *B, *QUICK]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("At equal costs (alpha = 0.5), A's HTER is ")
    assert done.stdout.endswith("The page: report.html\n")
    assert "priori: warning [few-replicates]: " in done.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    scores = {"a-dev.csv", "a-test.csv", "b-dev.csv", "b-test.csv"}
    assert {path.name for path in folder.iterdir()} == {*scores, "report.html"}


def test_the_command_in_the_page_makes_the_page_again(run: Run, folder: Path) -> None:
    (folder / "a-dev.csv").rename(folder / "a dev.csv")
    system = ("--system", "it's <A>", "a dev.csv", "a-test.csv")
    given = (*system, *B, *QUICK, "--alpha", "1/3", "--title", "x & y", "--own-users", "-o", "mine.html")
    done = run(*given, cwd=folder)
    assert done.returncode == 0, done.stderr
    first = (folder / "mine.html").read_text(encoding="utf-8")
    command = unescape(first.partition('<code id="command">')[2].partition("</code>")[0])
    words = shlex.split(command)
    assert words[:2] == ["priori", "report"]
    assert set(given) == set(words[2:]) - {"--output"} | {"-o"}
    (folder / "mine.html").unlink()
    assert run(*words[2:], cwd=folder).returncode == 0
    assert (folder / "mine.html").read_text(encoding="utf-8") == first


def test_other_formats(run: Run, folder: Path) -> None:
    texts = {name: run(*A, *B, *QUICK, "--format", name, cwd=folder) for name in ("markdown", "latex", "json", "csv")}
    assert all(done.returncode == 0 for done in texts.values())
    assert "| System |" in texts["markdown"].stdout
    assert "\\toprule" in texts["latex"].stdout
    assert json.loads(texts["json"].stdout)["settings"]["bootstrap"] == "auto"
    assert texts["csv"].stdout.startswith("system,alpha,threshold,")
    assert not (folder / "report.html").exists()
    done = run(*A, *QUICK, "--format", "latex", "-o", "table.tex", cwd=folder)
    assert done.stdout == ""
    assert "\\toprule" in (folder / "table.tex").read_text()


def test_json_has_what_the_page_is_drawn_from(run: Run, folder: Path) -> None:
    told = json.loads(run(*A, *QUICK, "--json", cwd=folder).stdout)
    run(*A, *QUICK, cwd=folder)
    (carried,) = re.findall(r'id="priori-data">([^<]*)<', (folder / "report.html").read_text(encoding="utf-8"))
    assert told["page"] == unpack(carried)


def test_to_standard_output(run: Run, folder: Path) -> None:
    done = run(*A, *QUICK, "-o", "-", cwd=folder)
    assert done.stdout.startswith("<!doctype html>")
    assert done.stdout.rstrip().endswith("</html>")
