"""A study in one file, shell completion, and what else a good citizen of the command line does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import priori
from priori import examples
from priori.base.errors import PrioriError
from priori.cli import COMMANDS, EXIT_CODES, cli
from priori.cli.run import DEFAULTS, STEPS, TEMPLATE

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def run(*arguments: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "priori", *arguments],
        cwd=cwd,
        env={**ENVIRONMENT, **more},
        capture_output=True,
        text=True,
        check=False,
    )


def every_command() -> dict[str, click.Command]:
    context = click.Context(cli)
    return {name: found for name in COMMANDS if (found := cli.get_command(context, name)) is not None}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("study")
    examples.write("faces", where / "scores")
    return where


SYSTEMS = """
[systems."Eigen faces"]
dev = "scores/eigenfaces-dev.csv"
test = "scores/eigenfaces-test.csv"
[systems.Fisher]
dev = "scores/fisherfaces-dev.csv"
test = "scores/fisherfaces-test.csv"
"""


def study(folder: Path, text: str, name: str = "study.toml") -> Path:
    (folder / name).write_text(SYSTEMS + text)
    return folder / name


# -- a study -------------------------------------------------------------------------------------------


def test_a_study_gives_what_the_commands_give(folder: Path, tmp_path: Path) -> None:
    path = study(
        folder,
        """
[settings]
measure = "hter"
resamples = 100
level = 0.9
[epc]
alpha = [0.1, 0.5]
bootstrap = "sample"
format = "csv"
output = "epc.csv"
plot = "epc.svg"
[compare]
points = 5
format = "json"
[report]
points = 5
output = "report.html"
""",
    )
    done = run("run", str(path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    systems = (
        "--system",
        "Eigen faces",
        "scores/eigenfaces-dev.csv",
        "scores/eigenfaces-test.csv",
        "--system",
        "Fisher",
        "scores/fisherfaces-dev.csv",
        "scores/fisherfaces-test.csv",
    )
    shared = ("--resamples", "100", "--level", "0.9")
    epc = run("epc", *systems, *shared, "--alpha", "0.1,0.5", "--bootstrap", "sample", "--format", "csv", cwd=folder)
    assert (folder / "epc.csv").read_text() == epc.stdout
    compare = run("compare", *systems, *shared, "--points", "5", "--json", cwd=folder)
    start = done.stdout.index("{")
    found, end = json.JSONDecoder().raw_decode(done.stdout[start:])
    assert found == json.loads(compare.stdout)
    assert "The page: report.html" in done.stdout[start + end :]
    page = (folder / "report.html").read_text()
    assert "priori report --system" in page
    assert list(tmp_path.iterdir()) == []


def test_some_of_it_and_what_it_would_run(folder: Path) -> None:
    study(folder, "[settings]\npoints = 3\n[epc]\n[[ztest]]\nalpha = 0.5\n[[ztest]]\nalpha = 0.25\n", "priori.toml")
    (folder / "study.toml").unlink(missing_ok=True)
    told = run("run", "--dry-run", cwd=folder).stdout.splitlines()
    assert [line.split()[1] for line in told] == ["epc", "ztest", "ztest"]
    assert "--system 'Eigen faces' scores/eigenfaces-dev.csv" in told[0]
    assert told[2].endswith("--alpha=0.25")
    only = run("run", "priori.toml", "epc", cwd=folder)
    assert "Expected" in only.stdout or "HTER on the test scores" in only.stdout
    assert "p-value" not in only.stdout
    wrong = run("run", "priori.toml", "report", cwd=folder)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "does not ask for 'report'; it asks for epc, ztest" in wrong.stderr


def test_without_a_command_the_curves_are_shown(folder: Path) -> None:
    path = study(folder, "", "small.toml")
    assert run("run", "small.toml", "--dry-run", cwd=folder).stdout.split()[:2] == ["priori", "epc"]
    assert "Threshold to deploy" in run("run", path.name, cwd=folder).stdout


def test_every_kind_of_value(folder: Path) -> None:
    path = study(
        folder,
        """
[settings]
task = "diagnosis"
lower-is-better = true
column = { score = "similarity", label = "same" }
trials = ["dev.txt", "test.txt"]
own_users = true
[epc]
range = [0.2, 0.8]
exact = false
[compare]
shared_users = false
unpaired = true
[report]
""",
        "kinds.toml",
    )
    path.write_text('title = "--a title"\n' + path.read_text())
    epc, compare, report = (
        line.split(" --task=diagnosis ")[1]
        for line in run("run", "kinds.toml", "--dry-run", cwd=folder).stdout.splitlines()
    )
    shared = (
        "--lower-is-better --column=score=similarity --column=label=same --trials=dev.txt --trials=test.txt --own-users"
    )
    assert epc == f"{shared} --range 0.2 0.8"
    assert compare == f"{shared} --own-users --unpaired"
    assert report == f"{shared} '--title=--a title'"


def test_the_template_is_a_study(folder: Path) -> None:
    done = run("run", "--init", "new.toml", cwd=folder)
    assert done.returncode == 0
    assert (folder / "new.toml").read_text() == TEMPLATE
    again = run("run", "--init", "new.toml", cwd=folder)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    told = run("run", "new.toml", "--dry-run", cwd=folder).stdout.splitlines()
    assert [line.split()[1] for line in told] == ["epc", "compare", "report"]
    # Every line of it that is commented out is good too.
    whole = re.sub(r"^# (\w+ = )", r"\1", TEMPLATE, flags=re.MULTILINE)
    (folder / "whole.toml").write_text(whole)
    full = run("run", "whole.toml", "--dry-run", cwd=folder)
    assert full.returncode == 0, full.stderr
    assert "--alpha=0.1,0.5,0.9" in full.stdout


BAD = {
    "[settings]\nlevle = 0.9": "[settings]: unknown name 'levle'; did you mean 'level'?",
    "[settings]\nqqqq = 1": "unknown name 'qqqq'; choose one of: alpha,",
    "[epcs]": "unknown name 'epcs'; did you mean 'epc'?",
    "[epc]\nmesure = 'hter'": "[epc]: unknown name 'mesure'; did you mean 'measure'?",
    "[systems.C]\ndev = 'a.csv'": "[systems.C] needs test, the name of a file",
    "[systems.C]\ndev = 'a.csv'\ntset = 'b.csv'": "unknown name 'tset'; did you mean 'test'?",
    "[epc]\nexact = 1": "[epc] exact must be true or false, not 1",
    "[epc]\nrange = 1": "[epc] range must be a list of 2 values, not 1",
    "[epc]\npoints = true": "[epc] points must be a number or a text, not True",
    "[epc]\npoints = 'many'": "[epc]: Invalid value for '--points'",
    "[epc]\nmeasure = 'nothing'": "[epc]: unknown measure 'nothing'",
    "[report]\ntask = 'cooking'": "[report]: Invalid value for '--task'",
    "epc = 1": "[epc] must be a table",
    "title = 1": "title must be a text",
    "[epc": "is not a TOML file",
    "[epc]\nalpha = 2": "alpha",
    "[epc]\nsystem = ['A', 'a-dev.csv', 'a-test.csv']": "[epc]: unknown name 'system'",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_studies_get_one_clear_line(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = "" if text.startswith("[") else text + "\n"
    (folder / "bad.toml").write_text(before + SYSTEMS + ("" if before else text) + "\n")
    monkeypatch.chdir(folder)
    with pytest.raises(PrioriError, match=re.escape(BAD[text])):
        CliRunner().invoke(cli, ["run", "bad.toml"], standalone_mode=False, catch_exceptions=False)


def test_nothing_runs_before_everything_is_checked(folder: Path) -> None:
    study(folder, "[epc]\noutput = 'early.txt'\n[report]\nlevel = 'high'\n", "late.toml")
    done = run("run", "late.toml", cwd=folder)
    assert done.returncode == 2
    assert not (folder / "early.txt").exists()
    assert len(done.stderr.splitlines()) == 1


def test_no_study_here(tmp_path: Path) -> None:
    done = run("run", cwd=tmp_path)
    assert done.returncode == 2
    assert f"there is no {' and no '.join(DEFAULTS)} here" in done.stderr
    (tmp_path / "study.toml").write_text("[epc]\n")
    assert "there is no system; add one" in run("run", cwd=tmp_path).stderr


def test_steps_take_systems() -> None:
    for name in STEPS:
        assert "--system" in [option for each in every_command()[name].params for option in each.opts]


# -- completion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_for_completions(shell: str, tmp_path: Path) -> None:
    done = run("completion", shell, cwd=tmp_path)
    assert done.returncode == 0
    assert f"_PRIORI_COMPLETE={shell}_complete" in done.stdout
    syntax = shutil.which(shell)
    if syntax:
        assert subprocess.run([syntax, "-n"], input=done.stdout, text=True, check=False).returncode == 0


def complete(words: str) -> list[str]:
    *before, last = words.split(" ")
    found = ShellComplete(cli, {}, "priori", "_PRIORI_COMPLETE").get_completions(before, last)
    return [f"{item.type} {item.value}" for item in found]


def test_what_is_completed() -> None:
    assert complete("thr") == ["plain threshold"]
    assert complete("epc --alph") == ["plain --alpha"]
    assert complete("epc --task di") == ["plain diagnosis"]
    assert complete("epc --measure spec") == ["plain specificity"]
    assert complete("epc --criterion target") == ["plain target-v1", "plain target-v2"]
    assert complete("roc --input-format kal") == ["plain kaldi"]
    assert complete("epc --system A de") == ["file de"]
    assert complete("epc --system A dev.csv te") == ["file te"]
    assert complete("threshold de") == ["file de"]
    assert complete("average a.csv b") == ["file b"]
    assert complete("run st") == ["file st"]
    assert complete("demo --output do") == ["dir do"]
    assert complete("completion z") == ["plain zsh"]


def test_bash_completes(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    wrapper = tmp_path / "priori"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m priori "$@"\n')
    wrapper.chmod(0o755)
    asked = (
        'eval "$(priori completion bash)"; COMP_WORDS=(priori thr); COMP_CWORD=1; '
        '_priori_completion priori; echo "${COMPREPLY[@]}"'
    )
    environment = {**ENVIRONMENT, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([bash, "-c", asked], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["threshold"]


# -- good manners --------------------------------------------------------------------------------------


def test_every_command_tells_its_exit_codes_and_takes_json() -> None:
    for name, command in every_command().items():
        # The help option of a command is made once: with the names that the group gives it.
        context = click.Context(command, info_name=name, parent=click.Context(cli, **cli.context_settings))
        context.meta["priori.help_all"] = True
        told = command.get_help(context)
        assert EXIT_CODES in " ".join(told.split()), name
        options = [option for each in command.params for option in each.opts]
        assert ("--json" in options) == ("--format" in options), name
    assert "Exit codes: 0 done" in CliRunner().invoke(cli, ["--help"]).stdout


@pytest.mark.parametrize("command", ["threshold", "rates", "roc", "epc", "report"])
def test_json_is_short_for_format_json(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    dev, test = "scores/eigenfaces-dev.csv", "scores/eigenfaces-test.csv"
    arguments = {
        "threshold": [dev],
        "rates": [test, "--threshold", "0"],
        "roc": ["--scores", "A", test],
        "epc": ["--system", "A", dev, test, "--points", "3"],
        "report": ["--system", "A", dev, test, "--points", "3", "--no-bootstrap"],
    }[command]
    short, long = (
        CliRunner().invoke(cli, [command, *arguments, *words], catch_exceptions=False)
        for words in (["--json"], ["--format", "json"])
    )
    content, same = (json.loads(done.stdout) for done in (short, long))
    for made in (content, same):
        made.pop("command", None)  # it says what was typed
    assert content == same
    assert content["priori"] == priori.__version__
    with pytest.raises(PrioriError, match="--json is short for --format json; leave out --format csv"):
        CliRunner().invoke(
            cli, [command, *arguments, "--json", "--format", "csv"], standalone_mode=False, catch_exceptions=False
        )


COLOUR = re.compile(r"\x1b\[[\d;]*3[0-9][\d;]*m|\x1b\[38;")


def terminal(folder: Path, **environment: str) -> str:
    """Return what a progress bar writes to a terminal."""
    pty = pytest.importorskip("pty")
    code = (
        "from priori.cli.output import Progress\n"
        "with Progress('work', patience=0) as progress:\n    progress(0, 2); progress(1, 2)\n"
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        stderr=theirs,
        env={**ENVIRONMENT, "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            written += part
        process.wait()
    os.close(ours)
    return written.decode()


def test_no_colour_where_none_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ENVIRONMENT, "NO_COLOR", raising=False)
    coloured, plain = terminal(tmp_path), terminal(tmp_path, NO_COLOR="1")
    assert "work" in coloured
    assert "work" in plain
    assert COLOUR.search(coloured)
    assert not COLOUR.search(plain)


def test_nothing_but_numbers_in_a_pipe(folder: Path) -> None:
    done = run("threshold", "scores/eigenfaces-dev.csv", "--format", "csv", cwd=folder)
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stdout.startswith("alpha,threshold,dev_v1,dev_v2,")
