"""What --help shows at first and in full, tables for papers, and --system where one set is asked for."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import priori
from priori.cli import COMMANDS, cli
from priori.cli.options import HEADINGS

#: Six trials that both systems err on.
CSV = "score,label,user\n0.1,0,a\n0.7,0,b\n0.3,0,c\n0.4,1,a\n0.8,1,b\n0.9,1,c\n"


def run(line: str, *more: str) -> str:
    done = CliRunner().invoke(cli, [*shlex.split(line), *more], catch_exceptions=False, prog_name="priori")
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("dev.csv", "test.csv"):
        Path(name).write_text(CSV)


def test_help_fits_a_screen_and_names_every_option() -> None:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        short = run(name, "--help")
        assert short.count("\n") <= 45, name
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                assert re.search(rf"(?<![\w-]){param.opts[-1]}(?![\w-])", short), (name, param.opts)


def test_help_all_describes_every_option_under_its_heading() -> None:
    whole = run("epc", "--help-all")
    places = [whole.index(f"\n{heading}:\n") for heading in HEADINGS if heading in whole]
    assert places == sorted(places)
    assert len(places) == 5
    assert "The label of the positive class" in whole[places[-1] :]
    assert "The csv columns are system, alpha" in whole
    assert "Simultaneous band" not in run("epc", "--help")


def test_tables_for_papers(files: None) -> None:
    system = ("--system", "A_1", "dev.csv", "test.csv")
    assert "| A\\_1 | " in run("epc", *system, "--format", "markdown")
    text = run("epc", *system, "--format", "latex", "--verbose")
    assert text.startswith("% \\usepackage{booktabs}\n")
    assert text.count("\\begin{tabular}") == text.count("\\end{table}") == 3
    # The error rate of the one false negative of three, and of the one false positive.
    assert "A\\_1 & 0.35 &" in text or "33.33\\,\\%" in text
    run("rates", "test.csv", "--threshold", "0.5", "-o", "rates.md")
    assert "| fp | 1 |" in Path("rates.md").read_text()
    two = (*system, "--system", "B", "dev.csv", "test.csv", "--system", "C", "dev.csv", "test.csv")
    for name, options in {"compare": two, "roc": system, "det": system, "threshold": system}.items():
        assert "\n| --- | ---: |" in run(name, *options, "--format", "markdown"), name
        # Every line of text stands in a table or its caption.
        assert re.fullmatch(
            r"% .*\n\n(\s*\\begin\{table\}(.|\n)*?\\end\{table\}\s*)+", run(name, *options, "--format", "latex")
        ), name


def test_a_system_where_one_set_is_asked_for(files: None) -> None:
    system = ("--system", "A", "dev.csv", "test.csv")
    Path("dev.csv").write_text(CSV.replace("0.7,0", "0.2,0"))
    done = CliRunner().invoke(cli, ["threshold", *system, "--json"])
    assert "A: the development scores are used, dev.csv" in done.stderr
    expected = priori.choose_threshold(priori.read("dev.csv"), alpha=0.5)
    assert json.loads(done.stdout)["threshold"] == [expected]
    done = CliRunner().invoke(cli, ["rates", *system, "--threshold", "0.5", "--json"])
    assert "A: the test scores are used, test.csv" in done.stderr
    assert json.loads(done.stdout)["far"] == [1 / 3]


def test_what_the_command_line_takes_python_takes(files: None) -> None:
    scores = priori.read("dev.csv")
    curve = priori.epc(scores, scores, alpha="costs:100,1,0.01", criterion="at-most-far")
    typed = json.loads(run("epc --system A dev.csv dev.csv --alpha costs:100,1,0.01 --criterion at-most-far --json"))
    assert typed["systems"][0]["threshold"] == curve.threshold.tolist()
