"""A library that is not installed: one line that says what to install."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

import priori
from priori.base.extras import EXTRAS, MissingExtraError, require
from priori.cli import main

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_extra_installs_its_libraries() -> None:
    for module, extra in EXTRAS.items():
        library = {"sklearn": "scikit-learn"}.get(module, module.replace("_", "-"))
        assert any(line.startswith(library) for line in PROJECT["optional-dependencies"][extra]), module


def test_a_figure_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    scores = priori.Scores.from_arrays([0.1, 0.6], [0.4, 0.9])
    with pytest.raises(MissingExtraError, match=r"^this needs matplotlib, .* pip install 'priori\[report\]'$"):
        priori.epc(scores, scores).plot()
    require("numpy")


def test_the_command_line_says_it_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(SystemExit) as ended:
        main(["app", "--port", "0"])
    assert ended.value.code == 2
    said = "priori: error: this needs starlette, which is not installed: pip install 'priori[app]'\n"
    assert capsys.readouterr().err == said
