"""The one ending of commands: what was asked for is made, and nothing else; figures, formats and files."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import matplotlib as mpl
import pytest
from matplotlib import pyplot

from priori.base.errors import OptionError
from priori.cli import COMMANDS, cli
from priori.cli.output import Output

mpl.use("agg")

DEV = "score,label\n0.1,0\n0.4,0\n0.3,1\n0.8,1\n"


def _commands() -> dict[str, click.Command]:
    return {name: command for name in COMMANDS if (command := cli.get_command(click.Context(cli), name)) is not None}


WITH_FORMATS = [name for name, command in _commands().items() if any(one.name == "format_" for one in command.params)]


def _refused() -> Any:
    raise AssertionError("made without being asked for")


@pytest.mark.parametrize(
    ("format_", "expected"), [("table", "a table\n"), ("csv", "x,y\n1,0.5\n2,0.5\n"), ("json", None)]
)
def test_only_the_format_asked_for_is_made(
    capsys: pytest.CaptureFixture[str], format_: str, expected: str | None
) -> None:
    made: dict[str, Any] = {"table": _refused, "csv": _refused, "json": _refused, "figure": _refused}
    content = {"table": "a table", "csv": {"x": [1, 2], "y": [0.5]}, "json": {"x": [1, float("nan")]}}
    made[format_] = lambda: content[format_]
    Output(format_, None).finish(**made, warnings=["mind this"])
    out, err = capsys.readouterr()
    assert err == "priori: warning: mind this\n"
    if expected is None:
        document = json.loads(out)
        assert document["x"] == [1, None]
        assert "priori" in document
    else:
        assert out == expected


def test_several_tables_are_one_csv(capsys: pytest.CaptureFixture[str]) -> None:
    tables = [{"system": ["A"], "x": [1, 2]}, {"system": ["B"], "x": [3, 4]}]
    Output("csv", None).finish(table=_refused, csv=lambda: tables, json=_refused)
    assert capsys.readouterr().out == "system,x\nA,1\nA,2\nB,3\nB,4\n"


def test_figure_and_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure, numbers = tmp_path / "x.svg", tmp_path / "x.txt"
    for drawn in (pyplot.figure(), pyplot.figure().add_subplot()):
        figure.unlink(missing_ok=True)
        Output("table", str(numbers), str(figure)).finish(
            table=lambda: "a table",
            csv=_refused,
            json=_refused,
            figure=lambda plots, drawn=drawn: drawn,
            warnings=["first"],
        )
        assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert numbers.read_text(encoding="utf-8") == "a table\n"
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"priori: warning: first\npriori: wrote {figure}\n" * 2
    with pytest.raises(OptionError, match="cannot write"):
        Output("table", str(tmp_path / "no" / "x.txt")).finish(table=lambda: "a", csv=_refused, json=_refused)
    pyplot.close("all")


@pytest.mark.parametrize(("format_", "given"), [("csv", "a\n1\n"), ("json", '"a": 1')])
def test_a_result_gives_its_own(format_: str, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = SimpleNamespace(columns=lambda: {"a": [1]}, to_dict=lambda: {"a": 1}, warnings=["mind this"])
    Output(format_, None).finish(result, table=_refused)
    out, err = capsys.readouterr()
    assert given in out
    assert err == "priori: warning: mind this\n"


@pytest.mark.parametrize("name", WITH_FORMATS)
def test_commands_with_formats_share_their_options(name: str) -> None:
    options = {option.name: option for option in _commands()[name].params}
    assert {"format_", "json_", "output"} <= set(options)
    choices = options["format_"].type
    assert isinstance(choices, click.Choice)
    assert {"csv", "json"} <= set(choices.choices)
    assert options["format_"].default == choices.choices[0]


def test_which_commands_those_are() -> None:
    assert {*COMMANDS} - {*WITH_FORMATS} == {"app", "demo", "explain", "schema"}
