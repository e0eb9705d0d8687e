"""Numbers of any size, in every option and in every column: an answer, or one line and exit code 2."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import duckdb
import numpy as np
import pytest

from priori.cli import COMMANDS, cli
from priori.cli.files import file_words

Run = Callable[..., tuple[int, str, str]]

NUMBERS = ("2147483648", str(2**62), str(2**63 - 1), str(10**20), "-1", "0.5", "1e308", "nan")
#: What may be a number and is read as text: of these a few values.
FEW = (str(2**62), "-1", "1e308")
#: Options of text that no number is given to.
NAMES = {"--column", "--input-format", "--silence", "--temp", "--title", "--host", "--name", "--output", "--junit"}

ONE = ("--system", "A", "a.csv", "b.csv")
TWO = (*ONE, "--system", "B", "b.csv", "a.csv")
WHOLE = ("--scores", "A", "a.csv", "--scores", "B", "b.csv", "--folds", "2")
SPOOFED = ("--system", "A", "s.csv", "s.csv", "--attack", "spoof")
FEWER = ("--resamples", "100")
RATES = ("--far", "0.01", "--frr", "0.02")
#: For each command the words that it answers, often in several ways: options are for one or the other.
LINES: dict[str, list[tuple[str, ...]]] = {
    "epc": [(*ONE, "--bootstrap", "user", *FEWER, "--points", "3"), WHOLE],
    "compare": [(*TWO, *FEWER, "--points", "3")],
    "rank": [(*TWO, *FEWER)],
    "check": [(*ONE, "--max", "hter=0.9", *FEWER), (*TWO, "--no-worse-than", "B", "--margin", "0.9", *FEWER)],
    "threshold": [("a.csv",)],
    "rates": [("a.csv", "--threshold", "0.5")],
    "amounts": [(*ONE, "--column", "amount=euros", "--fp", "2")],
    "calibration": [ONE],
    "watch": [
        ("a.csv", "--threshold-from", "b.csv", "--limit", "far=0.9"),
        ("a.csv", "--threshold", "0.5", "--limit", "far=0.9", "--share", "0.4:0.6"),
    ],
    "report": [(*ONE, *FEWER, "--points", "3", "-o", "page.html")],
    "average": [
        ("a.csv", "b.csv", "--method", "cost", "--prior", "0.3"),
        ("a.csv", "b.csv", "--method", "angle", "--theta", "45"),
    ],
    "average-epc": [("a.csv", "b.csv", "--dev", "a.csv", "--dev", "b.csv", "--points", "3")],
    "ztest": [(*RATES, "--negatives", "1000", "--positives", "100"), TWO],
    "plan": [(*RATES, "--width", "0.1"), (*RATES, "--difference", "0.1"), (*ONE, "--width", "0.1")],
    "roc": [ONE, (*ONE, "--bootstrap", "auto", *FEWER)],
    "det": [ONE],
    "epsc": [(*SPOOFED, "--bootstrap", "auto", *FEWER)],
    "adcf": [(*SPOOFED, *FEWER)],
    "pad": [SPOOFED],
    "demo": [()],
    "app": [()],
    "explain": [],
    "schema": [],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Small files of scores, and a gigabyte of memory for all that is done with them."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "s.csv"):
        Path(name).write_text("\n".join(["score,label,user,probe_user,trial,euros", *_rows(name)]))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), before[1]))
    yield tmp_path
    resource.setrlimit(resource.RLIMIT_AS, before)


def _rows(name: str) -> Iterator[str]:
    noise = np.random.default_rng(ord(name[0])).normal(size=24)
    for number, score in enumerate(noise.round(3).tolist()):
        genuine, user = number % 2, number // 6
        label = "target" if genuine else "spoof" if name == "s.csv" and number % 4 else "nontarget"
        yield f"{score + genuine},{label},u{user},u{user if genuine else (user + 1) % 4},t{number},{number + 1}"


def _values(option: click.Parameter) -> tuple[str, ...]:
    """Return the numbers to give to an option: none where it takes no number."""
    if not isinstance(option, click.Option) or option.is_flag or isinstance(option.type, click.Choice):
        return ()
    if not isinstance(option.type, click.types.StringParamType):
        return NUMBERS
    return () if file_words(option) or NAMES & {*option.opts} or option.nargs > 2 else FEW


def test_every_command_is_tried() -> None:
    assert [*LINES] == sorted(COMMANDS, key=[*LINES].index)


@pytest.mark.parametrize(("command", "line"), [(name, line) for name, lines in LINES.items() for line in lines])
@pytest.mark.usefixtures("folder")
def test_numbers_of_any_size_in_every_option(run: Run, command: str, line: tuple[str, ...]) -> None:
    described = cli.get_command(click.Context(cli), command)
    assert described is not None
    if line:
        code, _, said = run(command, *line)
        assert code in (0, 1), said
    wrong = []
    for option in described.params:
        values = _values(option) if command != "app" or not isinstance(option.type, click.types.StringParamType) else ()
        for value in values:
            words = (command, *line, option.opts[-1], *[value] * option.nargs)
            code, _, said = run(*words)
            if not _tidy(code, said):
                wrong.append((words, code, said))
    assert not wrong


HEADER = ("score", "label", "user", "probe_user", "trial", "dataset", "group", "attack", "time", "weight")


@pytest.mark.parametrize(("kind", "engine"), [("csv", "memory"), ("parquet", "memory"), ("parquet", "duckdb")])
@pytest.mark.parametrize("column", HEADER)
@pytest.mark.usefixtures("folder")
def test_numbers_of_any_size_in_every_column(run: Run, column: str, kind: str, engine: str) -> None:
    plain = [[*row.split(","), "x", "y", "-", "2024-01-31", "1"] for row in _rows("a.csv")]
    place, wrong = HEADER.index(column), []
    for value in NUMBERS:
        # Four such weights of 2^62 add up to 2^64, which is 0 in 64 bits.
        rows = [[*row[:place], value, *row[place + 1 :]] if number < 4 else row for number, row in enumerate(plain)]
        Path("n.csv").write_text("\n".join(map(",".join, [HEADER, *rows])))
        if kind == "parquet":
            duckdb.sql("COPY (FROM 'n.csv') TO 'n.parquet'")
        words = ("rates", f"n.{kind}", "--threshold", "0.5", "--engine", engine, "--column", f"{column}={column}")
        code, _, said = run(*words)
        if not _tidy(code, said):
            wrong.append((value, code, said))
    assert not wrong


def _tidy(code: int, said: str) -> bool:
    """Tell whether a command answered, or ended with one line of error; memory was enough for either."""
    errors = sum(line.startswith("priori: error: ") for line in said.splitlines())
    return code in (0, 1, 2) and errors == (code == 2) and "not enough memory" not in said
