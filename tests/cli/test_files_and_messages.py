"""What a command may write where, in which format, and what it says when something is not as it should be."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import click
import pytest

from priori.base.errors import InputError, OptionError, argument, short, unknown
from priori.base.texts import csv_text
from priori.cli import COMMANDS, cli
from priori.cli.files import DIRECTORIES, FILES, Written, metavar_words
from priori.cli.help import message_of

SCORES = "score,label,user\n0.1,0,a\n0.4,0,b\n0.3,1,a\n0.8,1,b\n0.2,0,a\n0.9,1,b\n"
EPC = ("epc", "--system", "A", "dev.csv", "test.csv")


@pytest.fixture
def scores(write: Any) -> None:
    for name in ("dev.csv", "test.csv", "more.csv"):
        write(name, SCORES)


# -- no file is lost -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("scores")
@pytest.mark.parametrize(
    "arguments",
    [
        (*EPC, "-o", "dev.csv"),
        (*EPC, "-o", "./test.csv"),
        (*EPC, "-o", "symbolic.csv"),
        (*EPC, "-o", "hard.csv"),
        (*EPC, "-o", "below/../dev.csv"),
        ("compare", *EPC[1:], "--system", "B", "more.csv", "symbolic.csv", "-o", "dev.csv"),
        ("report", *EPC[1:], "--format", "csv", "-o", "test.csv"),
        ("threshold", "dev.csv", "-o", "dev.csv"),
        ("rates", "test.csv", "--threshold", "0.5", "-o", "hard.csv", "--trials", "dev.csv"),
        ("roc", "--scores", "A", "dev.csv", "-o", "dev.csv"),
        ("average", "more.csv", "dev.csv", "--method", "pooled", "-o", "dev.csv"),
        ("average-epc", "more.csv", "test.csv", "--dev", "dev.csv", "--dev", "more.csv", "-o", "dev.csv"),
        ("epc", "--system", "A", "*.csv", "test.csv", "--engine", "memory", "-o", "dev.csv"),
        ("epc", "--system", "A", ".", "test.csv", "-o", "below/part.csv"),
    ],
)
def test_an_input_is_never_written_over(run: Any, arguments: tuple[str, ...]) -> None:
    Path("symbolic.csv").symlink_to("dev.csv")
    os.link("test.csv", "hard.csv")
    Path("below").mkdir()
    Path("below/part.csv").write_text(SCORES)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"priori: error: cannot write {arguments[arguments.index('-o') + 1]}: it is read by this")
    for name in ("dev.csv", "test.csv", "more.csv", "below/part.csv"):
        assert Path(name).read_text() == SCORES
    assert Path("symbolic.csv").is_symlink()


#: What each command is given besides one option; one that is not here reads EPC's files.
GIVEN = {
    "amounts": (*EPC[1:], "--fp", "5"),
    "average": ("more.csv", "dev.csv"),
    "average-epc": ("more.csv", "test.csv", "--dev", "dev.csv", "--dev", "dev.csv"),
    "threshold": ("dev.csv",),
    "rates": ("dev.csv", "--threshold", "0.5"),
    "demo": ("cancer", "--resamples", "100"),
    "check": (*EPC[1:], "--max", "hter=0.9"),
    "watch": ("dev.csv", "--threshold", "0.5", "--limit", "far=0.9"),
}


@pytest.mark.usefixtures("scores")
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("app", "schema")])
def test_no_option_of_any_command_writes_over_an_input(run: Any, name: str) -> None:
    """Each option that takes a text is given the name of an input."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    texts = [
        param
        for param in command.params
        if isinstance(param, click.Option)
        and param.nargs == 1
        and (isinstance(param.type, Written) or param.type is click.STRING)
        and not param.is_flag
    ]
    before = sorted(Path().iterdir())
    for param in texts:
        code, _, err = run(name, *GIVEN.get(name, EPC[1:]), param.opts[-1], "dev.csv")
        assert [Path(file).read_text() for file in ("dev.csv", "test.csv", "more.csv")] == [SCORES] * 3, param.name
        if isinstance(param.type, Written) and param.name != "plot":
            assert (code, "dev.csv: it is read by this command" in err) == (2, True), (param.name, err)
        for made in {*Path().iterdir()} - {*before}:
            made.unlink()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_for_a_file_says_whether_it_is_read_or_written(name: str) -> None:
    read = {"system", "scores", "systems", "table", "trials", "dev", "files", "threshold_from"}
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    files = {str(param.name) for param in command.params if FILES & {*metavar_words(param)}}
    written = {str(param.name) for param in command.params if isinstance(param.type, Written)}
    assert files - read == written
    folders = {str(param.name) for param in command.params if DIRECTORIES & {*metavar_words(param)}}
    assert folders <= ({"directory"} if name == "demo" else {"temp"})


@pytest.mark.usefixtures("scores")
def test_the_page_that_nobody_named_is_no_input_either(run: Any, write: Any) -> None:
    write("report.html", SCORES)
    arguments = ("report", "--system", "A", "report.html", "test.csv", "--no-bootstrap")
    code, _, err = run(*arguments)
    assert (code, err.endswith("cannot write report.html: it is read by this command; name another file\n")) == (
        2,
        True,
    )
    assert Path("report.html").read_text() == SCORES
    assert run(*arguments, "--format", "csv")[0] == 0


@pytest.mark.usefixtures("scores")
def test_numbers_and_figure_are_two_files(run: Any) -> None:
    code, _, err = run(*EPC, "-o", "x.svg", "--format", "csv", "--plot", "./x.svg")
    assert (code, err) == (2, "priori: error: cannot write ./x.svg twice; name another file\n")


@pytest.mark.usefixtures("scores")
def test_a_pipe_gets_the_numbers(run: Any) -> None:
    os.mkfifo("pipe")
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(Path("pipe").read_text()))
    reader.start()
    assert run(*EPC, "--format", "csv", "-o", "pipe")[0] == 0
    reader.join()
    assert heard[0].startswith("system,alpha,threshold")
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.usefixtures("scores")
def test_a_private_file_stays_private(run: Any) -> None:
    for name, arguments in {"x.csv": ("-o", "x.csv"), "x.svg": ("--plot", "x.svg")}.items():
        Path(name).touch(mode=0o600)
        assert run(*EPC, *arguments)[0] == 0
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o600
        assert os.stat(name).st_size > 100


@pytest.mark.usefixtures("scores")
def test_what_cannot_be_written_is_said_before_the_work(run: Any) -> None:
    for option in ("-o", "--plot"):
        code, _, err = run("epc", "--system", "A", "no.csv", "no.csv", option, "no/such/x.svg", "--format", "csv")
        assert (code, err) == (
            2,
            "priori: error: cannot write no/such/x.svg: there is no directory no/such; make it first\n",
        )


# -- formats -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("scores")
@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ((*EPC, "-o", "x.json"), '{\n  "priori"'),
        ((*EPC, "-o", "x.CSV"), "system,alpha"),
        ((*EPC, "-o", "x.txt"), "HTER on the test"),
        ((*EPC, "-o", "x"), "HTER on the test"),
        ((*EPC, "-o", "x.dat", "--format", "csv"), "system,alpha"),
        ((*EPC, "-o", "x.txt", "--json"), '{\n  "priori"'),
        (("report", *EPC[1:], "--no-bootstrap", "-o", "x.md"), "# "),
        (("report", *EPC[1:], "--no-bootstrap", "-o", "x.tex"), "%"),
        (("report", *EPC[1:], "--no-bootstrap", "-o", "x.csv"), "system,alpha"),
        (("report", *EPC[1:], "--no-bootstrap", "-o", "x.htm"), "<!DOCTYPE html>"),
    ],
)
def test_the_name_of_the_file_says_the_format(run: Any, arguments: tuple[str, ...], begins: str) -> None:
    code, _, err = run(*arguments)
    assert code == 0, err
    written = Path(arguments[arguments.index("-o") + 1]).read_text(encoding="utf-8")
    assert written.lower().startswith(begins.lower()), written[:50]


# -- text cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@sum", "\tx", "'=1"])
def test_names_are_no_formulas(run: Any, scores: None, name: str) -> None:
    import csv

    arguments = ("epc", f"--system={name}", "dev.csv", "test.csv", "--alpha", "0.5", "--format", "csv")
    assert list(csv.reader(run(*arguments)[1].splitlines()))[1][0] == "'" + name
    report = ("report", *arguments[1:], "--no-bootstrap")
    assert list(csv.reader(run(*report)[1].splitlines()))[1][0] == "'" + name


def test_numbers_and_other_texts_stay() -> None:
    table = {
        "name": ["A", "a=b", "it's", ""],
        "number": [-1.5, float("-inf"), 2.0, float("nan")],
        "whole": [-1, 2, 3, 4],
    }
    assert csv_text([table]) == "name,number,whole\nA,-1.5,-1\na=b,-inf,2\nit's,2.0,3\n,nan,4\n"


# -- messages ------------------------------------------------------------------------------------------


def test_help_lists_the_commands(run: Any) -> None:
    code, shown, said = run("--help")
    assert (code, said) == (0, "")
    assert shown.startswith("Usage: priori [OPTIONS] [COMMAND]")
    assert all(f"\n  {command} " in shown for command in COMMANDS)


@pytest.mark.usefixtures("scores")
@pytest.mark.parametrize(
    "arguments",
    [
        ("x" * 5000,),
        ("epc", "--" + "x" * 5000),
        (*EPC, "--measure", "x" * 5000),
        (*EPC, "--points", "9" * 5000),
        (*EPC, "--criterion", "x y " * 5000),
        (*EPC, "--alpha", "9" * 5000),
        (*EPC, "--column", "x" * 5000),
        (*EPC, "--preset", "x" * 5000),
        (*EPC, "--resamples", "x" * 5000, "--bootstrap", "auto"),
        (*EPC, "--plot", "x" * 5000),
        ("rates", "dev.csv", "--threshold", "x" * 5000),
        ("demo", "x" * 5000),
        (*EPC, "--input-format", "x" * 5000),
        (*EPC, "--memory", "x" * 5000, "--engine", "duckdb"),
        ("schema", "x" * 5000),
        ("plan", "--far", "x" * 5000),
        ("run", "x" * 5000),
        (*EPC, "--positive", "x" * 5000),
        ("roc", "--scores", "A", "dev.csv", "--points", "x" * 5000),
    ],
    ids=lambda arguments: " ".join(word[:12] for word in arguments[-2:]),
)
def test_what_was_typed_is_said_again_in_short(run: Any, arguments: tuple[str, ...]) -> None:
    code, _, err = run(*arguments)
    (said,) = [line for line in err.splitlines() if "error:" in line]
    assert code == 2
    assert len(said) < 700
    assert "x" * 81 not in said
    assert "9" * 81 not in said


def test_short_texts() -> None:
    assert short("x" * 80) == "x" * 80
    assert short("ab" * 50) == "ab" * 19 + "a…" + "ab" * 20
    assert len(str(unknown("measure", "x" * 500, ["hter"]))) < 150


def test_arguments_and_options() -> None:
    error = InputError(f"{argument('n_resamples')} or {argument('columns', 'user=NAME')}; 'memory' is the user's")
    assert str(error) == "n_resamples or columns={'user': NAME}; 'memory' is the user's"
    assert message_of(error) == "--resamples or --column user=NAME; 'memory' is the user's"
    assert message_of(OptionError(f"give {argument('pos_label', 'VALUE')}")) == "give --positive VALUE"


@pytest.mark.usefixtures("scores")
def test_names_that_are_no_utf8(run: Any) -> None:
    Path("d\udcff.csv").write_text(SCORES)
    arguments = ("epc", "--system", "s\udcff", "d\udcff.csv", "test.csv", "--alpha", "0.5")
    code, out, _ = run(*arguments, "-o", "o\udcff.json", "--plot", "o\udcff.svg")
    assert (code, out) == (0, "")
    assert json.loads(Path("o\udcff.json").read_text(encoding="utf-8"))["systems"][0]["name"] == r"s\udcff"
    assert Path("o\udcff.svg").read_bytes().startswith(b"<?xml")
    assert run("report", *arguments[1:], "--no-bootstrap", "-o", "o\udcff.html")[0] == 0
