"""Reading as a person at the command line sees it: one line on stderr, exit code 2, no file left behind."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from priori.cli import main
from reading import CSV, Write

DEV = "score,label\n0.1,0\n0.4,0\n0.3,1\n0.8,1\n"
BOB = "a a p1 0.5\na b p2 0.25\nb b p3 2\nb a p4 -1.5\n"


def run(*arguments: str) -> int:
    """Run the command line and return its exit code."""
    try:
        main(list(arguments))
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def test_the_format_is_said_on_stderr(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("dev.csv", CSV)
    write("test.tsv", CSV.replace(",", "\t"))
    assert run("epc", "--system", "A", "dev.csv", "test.tsv", "--format", "csv", "--points", "3") == 0
    out, err = capsys.readouterr()
    assert out.startswith("system,alpha,threshold")
    assert "dev.csv: CSV table, 2 positive and 2 negative trials, 3 users, 2 data sets\n" in err
    assert "test.tsv: TSV table, 2 positive" in err


@pytest.mark.parametrize(
    ("dev", "test", "options", "message"),
    [
        (
            BOB,
            DEV,
            [],
            "system 'A': the development file dev is read as bob four columns and the test file test as CSV",
        ),
        (DEV, "score,label\n0.5,1\nhigh,0\n", [], "test:3: the score 'high' is not a number"),
        (
            DEV,
            "score,label\nnan,1\n0.5,0\n",
            [],
            "test: 1 score is NaN (the first on line 2); choose a policy (--nan",
        ),
        (DEV, "value,label\n1,1\n0.5,0\n", [], "test: no column 'score' for the score; the columns are value, label"),
        (DEV, "score,label\n1,2\n0.5,0\n", [], "are not a pair we know; say which one is positive (--positive VALUE"),
        (DEV, "", [], "test: the file is empty"),
        (DEV, b"\x00\x01\x02", [], "test: a binary file"),
        (DEV, "a u1 0.5\n", [], "need the trials file that holds the labels (--trials FILE"),
        (DEV, DEV, ["--input-format", "excel"], "unknown format 'excel'"),
        (DEV, DEV, ["--column", "user=claimed"], "no column 'claimed' for the user"),
        (DEV, DEV, ["--column", "users=claimed"], "unknown column 'users'"),
    ],
)
def test_bad_input_is_one_line(
    write: Write, capsys: pytest.CaptureFixture[str], dev: str, test: str | bytes, options: list[str], message: str
) -> None:
    write("dev", dev)
    write("test", test)
    assert run("epc", "--system", "A", "dev", "test", *options, "--format", "json", "-o", "curve.json") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err.splitlines()[-1]
    assert "Traceback" not in err
    assert not Path("curve.json").exists()


def test_standard_input(write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DEV.encode())))
    assert run("threshold", "-", "--alpha", "0.5") == 0
    assert "standard input: CSV table, 2 positive and 2 negative trials" in capsys.readouterr().err
