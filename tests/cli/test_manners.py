"""Shell completion, and what else a good citizen of the command line does."""

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
from in_process import run
from priori import examples
from priori.cli import COMMANDS, EXIT_CODES, cli

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def every_command() -> dict[str, click.Command]:
    context = click.Context(cli)
    return {name: found for name in COMMANDS if (found := cli.get_command(context, name)) is not None}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("study")
    examples.write("faces", where / "scores")
    return where


# -- completion ----------------------------------------------------------------------------------------


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
    assert complete("demo --output do") == ["dir do"]
    assert complete("explain same") == ["plain same-data"]


def test_bash_completes(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    wrapper = tmp_path / "priori"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m priori "$@"\n')
    wrapper.chmod(0o755)
    asked = (
        'eval "$(_PRIORI_COMPLETE=bash_source priori)"; COMP_WORDS=(priori thr); COMP_CWORD=1; '
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
