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
        (DEV, "score,label\nnan,1\n0.5,0\n", [], "test: 1 score is NaN (the first on line 2); choose a policy (--nan"),
        (DEV, "value,label\n1,1\n0.5,0\n", [], "test: no column 'score' for the score; the columns are value, label"),
        (DEV, "score,label\n1,2\n0.5,0\n", [], "are not a pair we know; say which one is positive (--positive VALUE"),
        (DEV, "", [], "test: the file is empty"),
        (DEV, b"\x00\x01\x02", [], "test: a binary file"),
        (DEV, "a u1 0.5\n", [], "need the trials file that holds the labels (--trials FILE"),
        (DEV, DEV, ["--input-format", "excel"], "unknown format 'excel'"),
        (DEV, DEV, ["--column", "user=claimed"], "no column 'claimed' for the user"),
        (DEV, DEV, ["--column", "users=claimed"], "unknown column 'users'"),
        (
            DEV,
            DEV,
            ["--column", "score=a", "--column", "score=b"],
            "--column score is given twice, as 'a' and as 'b'; for a "
            "column of one system write --column SYSTEM:score=b",
        ),
        (DEV, DEV, ["--column", "A:score=a", "--column", "A:score=b"], "--column A:score is given twice"),
        (DEV, DEV, ["--column", "C:score=a"], "there is no system 'C'; the systems are A"),
        (DEV, '{"score": 1, "label": 1, "score": 0}\n', [], "test:1: the key 'score' stands twice; keep one of them"),
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


def test_systems_in_one_file_have_columns_of_their_own(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """The system's own column goes before that of all systems."""
    write("both.csv", "good,bad,label\n" + "0.1,0.5,0\n0.2,0.6,0\n0.8,0.5,1\n0.9,0.1,1\n" * 10)
    write("good.csv", "score,label\n" + "0.1,0\n0.2,0\n0.8,1\n0.9,1\n" * 10)
    write("bad.csv", "score,label\n" + "0.5,0\n0.6,0\n0.5,1\n0.1,1\n" * 10)
    rest = ("--split", "50/50", "--alpha", "0.5", "--format", "csv")
    assert run("epc", "--scores", "A", "good.csv", "--scores", "B", "bad.csv", *rest) == 0
    expected = capsys.readouterr().out
    both = ("--scores", "A", "both.csv", "--scores", "B", "both.csv", *rest)
    assert run("epc", *both, "--column", "A:score=good", "--column", "B:score=bad") == 0
    assert capsys.readouterr().out == expected
    assert run("epc", *both, "--column", "B:score=bad", "--column", "score=good") == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("threshold", "dev.csv", "--column", "A:score=x"), "there is no system 'A'; the systems are dev"),
        (
            ("check", "--system", "A", "dev.csv", "dev.csv", "--max", "far=0.1", "--max", "far=0.2"),
            "--max 'far=0.2': this measure has a limit already",
        ),
        (("threshold", "dev.csv", "--costs", "fn=1,fn=2,fp=1", "--prior", "0.1"), "write fn=100,fp=1"),
        (("rates", "dev.csv", "--threshold", "0.5", "-o", ""), "cannot write a file without a name; give one"),
        (
            ("epc", "--system", "A", "dev.csv", "dev.csv", "--measure", "dcf:cost_fn=1,cost_fn=2"),
            "measure 'dcf:cost_fn=1,cost_fn=2': a parameter is given twice; give each once",
        ),
        (
            ("epc", "--table", "dev.csv", "--systems-in", "s", "--split", "p=a:b", "--where", "x=1", "--where", "x=2"),
            "--where x is given twice, as '1' and as '2'",
        ),
    ],
)
def test_a_name_given_twice(
    write: Write, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    write("dev.csv", DEV)
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err
