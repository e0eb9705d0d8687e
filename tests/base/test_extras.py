"""A library that is not installed: one line that says what to install."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

import priori
from priori.base.extras import EXTRAS, PACKAGES, MissingExtraError, require
from priori.cli import main

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]


def test_extras_are_those_of_the_project() -> None:
    declared = PROJECT["optional-dependencies"]
    assert list(EXTRAS) == [name for name in declared if name != "all"]
    for extra, (modules, _) in EXTRAS.items():
        brought = [line.partition(">=")[0] for line in declared[extra] if not line.startswith("priori[")]
        assert sorted(brought) == sorted(PACKAGES.get(module, module) for module in modules), extra


def test_a_figure_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    scores = priori.Scores.from_arrays([0.1, 0.6], [0.4, 0.9])
    with pytest.raises(MissingExtraError, match=r"^this needs matplotlib, .* pip install 'priori\[report\]'; tables"):
        priori.epc(scores, scores).plot()
    require("numpy")


def test_the_command_line_says_it_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(SystemExit) as ended:
        main(["app", "--port", "0"])
    assert ended.value.code == 2
    said = "this needs starlette, which is not installed: pip install 'priori[app]'; the other commands work without"
    assert capsys.readouterr().err == f"priori: error: {said}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "--system", "A", "dev.csv", "test.csv"), "jinja2, which is"),
        (("report", "--system", "A", "dev.csv", "test.csv", "--format", "csv", "--pdf", "x.pdf"), "jinja2, which is"),
        (("demo", "cancer"), "jinja2 and matplotlib, which are"),
    ],
)
def test_what_the_page_needs_is_said_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for module in ("jinja2", "matplotlib"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    whole = f"this needs {said} not installed: pip install 'priori[report]'; tables, CSV and JSON work without"
    assert capsys.readouterr() == ("", f"priori: error: {whole}\n")
    assert list(tmp_path.iterdir()) == []
