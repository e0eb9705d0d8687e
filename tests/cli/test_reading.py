"""Reading as a person at the command line sees it: one line on stderr, exit code 2, no file left behind."""

from __future__ import annotations

import pytest

from priori.cli import main
from reading import Write

DEV = "score,label\n0.1,0\n0.4,0\n0.3,1\n0.8,1\n"
BOB = "a a p1 0.5\na b p2 0.25\nb b p3 2\nb a p4 -1.5\n"


def run(*arguments: str) -> int:
    """Run the command line and return its exit code."""
    try:
        main(list(arguments))
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


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
