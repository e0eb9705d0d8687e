# ruff: noqa: E501
"""Bad files: one clear line that says where and what to do; and numbers, which two parsers must agree on."""

from __future__ import annotations

import gzip
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import priori
from priori import InputError, PrioriError, Scores
from priori.readers import input_file as source
from priori.readers.text import number
from reading import CSV, Write, both, names, trials

TABLE = "score,label,user\n0.5,1,a\n0.25,0,b\n"
TWO = "1 0.5\n0 0.25\n"

BAD = {
    "empty": ("dev.csv", "", "dev.csv: the file is empty; a score and a label per trial are needed"),
    "blank": ("dev.csv", "\n  \n# note\n", "dev.csv: no rows, only comments and blank lines; nothing to read"),
    "header only": ("dev.csv", "score,label\n", "dev.csv: no trials, only a header; nothing to read"),
    "three labels": (
        "dev.txt",
        TWO + "2 0.1\n",
        "3 different labels ('0', '1', '2') where two are needed; say which one is positive (pos_label=VALUE",
    ),
    "unknown pair": (
        "dev.txt",
        "cat 0.5\ndog 0.25\n",
        "the labels 'cat', 'dog' are not a pair we know; say which one is positive",
    ),
    "one class": (
        "dev.txt",
        "1 0.5\n1 0.25\n",
        "dev.txt: one class only, every label is '1'; trials of both classes are needed",
    ),
    "missing column": (
        "dev.csv",
        "value,label\n1,0\n",
        "dev.csv: no column 'score' for the score; the columns are value, label; say which it is (columns={'score': NAME}",
    ),
    "column twice": (
        "dev.csv",
        "score,label,Score,score\n1,0,1,1\n",
        "dev.csv: 2 columns are called 'score'; rename all but one",
    ),
    "no header": (
        "dev.csv",
        "1,0.5\n0,0.25\n",
        "dev.csv:1: this table has no header: its first line '1,0.5' holds numbers; add a line above it that names the columns, such as: label,score",
    ),
    "no header, semicolons": ("dev.txt", "1;0.5\n0;0.25\n", "dev.txt:1: this table has no header"),
    "no header, blanks": (
        "dev.txt",
        "1, 0.5\n0, 0.25\n",
        "dev.txt:1: this table has no header: its first line '1, 0.5'",
    ),
    "one column": ("dev.csv", "score\n0.5\n", "dev.csv: no column 'label' for the label; the columns are score"),
    "one column text": (
        "dev.txt",
        "0.5\n0.25\n",
        "dev.txt: one number in each line and no label; a file of one class needs the other beside it",
    ),
    "header between blanks": (
        "dev.txt",
        "value label\n0.5 1\n",
        "dev.txt: no column 'score' for the score; the columns are value, label",
    ),
    "header between tabs": ("dev.tsv", "value\tlabel\n0.5\t1\n", "dev.tsv: no column 'score' for the score"),
    "text": ("dev.csv", TABLE + "high,1,a\n", "dev.csv:4: the score 'high' is not a number"),
    "text after comment": (
        "dev.csv",
        "# x\n" + TABLE + "\n\nhigh,1,a\n",
        "dev.csv:7: the score 'high' is not a number",
    ),
    "decimal comma": (
        "dev.csv",
        "score;label\n0,5;1\n0.1;0\n",
        "dev.csv:2: the score '0,5' is not a number (write a decimal point)",
    ),
    "too large": (
        "dev.txt",
        TWO + "1 1e400\n",
        "dev.txt:3: the score '1e400' is too large for double precision (write inf if infinity is meant)",
    ),
    "underscore": ("dev.txt", TWO + "1 1_000\n", "dev.txt:3: the score '1_000' is not a number"),
    "thousands": ("dev.txt", TWO + "1 1,000\n", "dev.txt:3: the score '1,000' is not a number"),
    "hexadecimal": ("dev.txt", TWO + "1 0x10\n", "dev.txt:3: the score '0x10' is not a number"),
    "first score": ("dev.txt", "a a x high\n", "dev.txt:1: the score 'high' is not a number; correct it"),
    "few fields": ("dev.csv", TABLE + "0.1,1\n", "dev.csv:4: 2 fields where 3 are needed (score label user): '0.1 1'"),
    "many fields": ("dev.csv", TABLE + "0.1,1,a,b\n", "dev.csv:4: 4 fields where 3 are needed"),
    "bob line": (
        "dev.txt",
        "a a p 1\na b p\n",
        "dev.txt:2: 3 fields where 4 are needed (claimed real probe score): 'a b p'",
    ),
    "bob comment": ("dev.txt", "a a p 1\na #b p 2\n", "dev.txt:2: 1 field where 4 are needed"),
    "no label": ("dev.csv", TABLE + "0.1,,a\n", "dev.csv:4: no label; the field is empty, fill it in"),
    "no user": ("dev.csv", TABLE + '0.1,1,""\n', "dev.csv:4: no user; the field is empty, fill it in"),
    "line break": (
        "dev.csv",
        TABLE + '0.1,1,"a\nb"\n',
        "dev.csv:4: the user 'a\\nb' holds a tab or a line break; remove it",
    ),
    "open quote": (
        "dev.csv",
        TABLE + '0.1,1,"a\n0.2,0,b\n',
        "dev.csv:4: cannot be split into fields (unexpected end of data); check the quotes",
    ),
    "late quote": ("dev.csv", TABLE + '0.1,1,"a"b\n', "dev.csv:4: cannot be split into fields"),
    "open header": (
        "dev.csv",
        '"score,label\n0.1,1\n',
        "dev.csv:1: the header cannot be split into columns; check its quotes",
    ),
    "swapped": (
        "dev.txt",
        "0.5 1\n0.25 0\n",
        "dev.txt:1: looks like 'score label', but the order of two columns is 'label score'; swap them",
    ),
    "swapped words": ("dev.txt", "0.5 target\n0.25 nontarget\n", "dev.txt:1: looks like 'score label'"),
    "three columns": (
        "dev.txt",
        "a u1 0.5\na u2 0.25\n",
        "dev.txt:1: three columns 'enrol test score' need the trials file that holds the labels (trials=FILE",
    ),
    "kaldi trials": ("dev.txt", "a u1 target\na u2 nontarget\n", "dev.txt:1: looks like a trials file, without scores"),
    "voxceleb trials": ("dev.txt", "1 a u1\n0 a u2\n", "dev.txt:1: looks like a trials file, without scores"),
    "prose": (
        "README",
        "This is not a file of scores at all, really.\n",
        "README:1: 10 columns and no header that names 'score', so the format cannot be told",
    ),
    "latin-1": (
        "dev.csv",
        "score,label,user\n0.5,1,José\n0.1,0,b\n".encode("latin-1"),
        "dev.csv:2: not UTF-8 text (byte 0xe9); save the file as UTF-8",
    ),
    "nul": ("dev.csv", TABLE.encode() * 1 + b"0.1,1,a\0\n", "a binary file"),
    "late nul": (
        "dev.csv",
        TABLE.encode() + b"0.1,1,a\n" * 1000 + b"0.1,1,a\0\n",
        "dev.csv:1004: a NUL byte; the file is binary or damaged",
    ),
    "utf-16": ("dev.csv", TABLE.encode("utf-16"), "dev.csv: not scores but UTF-16 text (save it as UTF-8)"),
    "zip": ("dev.xlsx", b"PK\x03\x04....", "dev.xlsx: not scores but a zip archive: save a spreadsheet as CSV (UTF-8)"),
    "numpy": (
        "dev.npy",
        b"\x93NUMPY\x01\0",
        "dev.npy: not scores but a numpy array: load it, and use Scores.from_predictions",
    ),
    "old spreadsheet": (
        "dev.xls",
        b"\xd0\xcf\x11\xe0....",
        "dev.xls: not scores but a spreadsheet: save it as CSV (UTF-8)",
    ),
    "pickle": (
        "dev.pkl",
        b"\x80\x04\x95....",
        "dev.pkl: not scores but a pickle, which could run any code: load it where",
    ),
    "matlab": (
        "dev.mat",
        b"MATLAB 5.0 MAT-file",
        "dev.mat: not scores but a MATLAB file: load it with scipy.io.loadmat",
    ),
    "json": (
        "dev.jsonl",
        '{"score": 1, "label": 0}\n{"score": 2, "label": 1}\n{"score": 1\n',
        "dev.jsonl:3: not JSON (",
    ),
    "json list": (
        "dev.jsonl",
        '{"score": 1, "label": 0}\n{"score": 2, "label": [1]}\n',
        "dev.jsonl:2: the label is a list or an object; give one value",
    ),
    "json number": (
        "dev.jsonl",
        '{"score": "high", "label": 0}\n{"score": 2, "label": 1}\n',
        "dev.jsonl:1: the score 'high' is not a number",
    ),
    "two decimals": (
        "dev.csv",
        "score;label\n" + "0,5;1\n0,1;0\n" * 600 + "0.5;1\n",
        "dev.csv:1202: the score '0.5' is not a number (this file has decimal commas)",
    ),
    "bzip2": ("dev.bz2", b"BZh91AY", "dev.bz2: not scores but compressed with bzip2 (only gzip is read"),
    "binary": ("dev", bytes(range(256)), "dev: a binary file; scores are read from text (UTF-8), gzip or Parquet"),
    "binary gz": ("dev.gz", bytes(range(256)), "dev.gz: a binary file"),
    "gz twice": ("dev.csv.gz", gzip.compress(CSV.encode()), "dev.csv.gz: compressed twice"),
    "empty gz": ("dev.csv.gz", "", "dev.csv.gz: no rows"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(write: Write, parser: str, case: str) -> None:
    name, content, message = BAD[case]
    write(name, content)
    with pytest.raises(InputError) as raised:
        priori.read(name)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert name in str(raised.value)


def test_paths_that_cannot_be_read(write: Write, parser: str) -> None:
    Path("folder").mkdir()
    for path, message in {
        "nowhere.csv": "nowhere.csv: there is no such file; check the path",
        "folder": "folder: is a directory; give a file of scores",
        "a\0b": "embedded null",
        "x" * 5000: "cannot be read (File name too long); check the path",
    }.items():
        with pytest.raises(InputError) as raised:
            priori.read(path)
        assert message in str(raised.value)
    with (
        pytest.raises(InputError, match="is open as text; open it in binary mode"),
        open(write("dev.csv", CSV)) as file,
    ):
        priori.read(file)  # type: ignore[arg-type]


def test_forbidden_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    write("dev.csv", CSV)
    monkeypatch.setattr("priori.readers.input_file.open", refuse, raising=False)
    with pytest.raises(
        InputError, match=r"^dev\.csv: cannot be read \(Permission denied\); check the path and its perm"
    ):
        priori.read("dev.csv")


def test_damaged_gzip(write: Write, parser: str) -> None:
    rng = np.random.default_rng(0)
    data = gzip.compress(
        ("score,label\n" + "".join(f"{x!r},{x > 0.5:d}\n" for x in rng.random(4000).tolist())).encode()
    )
    Path("dev.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(
        InputError, match=r"^dev\.csv\.gz: the gzip file ends too early after line \d+; it was cut short"
    ):
        priori.read("dev.csv.gz")
    Path("dev.csv.gz").write_bytes(data[:-6] + b"xx" + data[-4:])
    with pytest.raises(InputError, match=r"^dev\.csv\.gz: the gzip data are damaged after line \d+ \(CRC check failed"):
        priori.read("dev.csv.gz")
    Path("dev.csv.gz").write_bytes(data[:2] + b"\xff" * 30)
    with pytest.raises(InputError, match=r"^dev\.csv\.gz: the gzip data are damaged \("):
        priori.read("dev.csv.gz")
    Path("dev.csv.gz").write_text(CSV)
    with pytest.raises(InputError, match=r"^dev\.csv\.gz: named \.gz but not compressed with gzip"):
        priori.read("dev.csv.gz")
    Path("dev.csv").write_bytes(gzip.compress(b"score,label\n") + gzip.compress(b"1,1\n2,0\n"))
    assert both(priori.read("dev.csv")) == ([2.0], [1.0])


NUMBERS = {
    "1": 1.0,
    "+1": 1.0,
    "-0.5": -0.5,
    ".5": 0.5,
    "5.": 5.0,
    "1e3": 1000.0,
    "1E-3": 0.001,
    "007": 7.0,
    "123456789012345678901234567890": 123456789012345678901234567890.0,
    "1e-400": 0.0,
    "4.9e-324": 5e-324,
    "0.1000000000000000055511151231257827": 0.1,
    "1.7976931348623157e308": sys.float_info.max,
    "inf": math.inf,
    "-inf": -math.inf,
    "+Infinity": math.inf,
    "-0": 0.0,
}
NO_NUMBERS = [
    "1_000",
    "0x10",
    "1e400",
    "-1e400",
    "9" * 400,
    "1.8e308",
    "1,5",
    "high",
    "1e",
    "--1",
    "1d",
    "0b1",
    "٣",
    "∞",
    "true",
    "null",
    "None",
    "1'000",
    "$1",
    "1%",
    "infi",
    "1 .5",
    "é",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers(write: Write, parser: str, text: str) -> None:
    value = priori.read(write("dev.csv", f"label,score\n1,{text}\n0,0\n")).positive.score[0]
    assert value == NUMBERS[text]
    assert not (value == 0 and np.signbit(value))


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number(write: Write, parser: str, text: str) -> None:
    write("dev.csv", f'label,score,x\n1,"0.5",\n0,"{text}",\n')
    with pytest.raises(InputError, match=r"^dev\.csv:3: the score .* is (not a number|too large)"):
        priori.read("dev.csv")


@given(st.floats(allow_nan=False))
def test_every_double_survives(value: float) -> None:
    assert number(repr(value)) == value


# -- the two parsers agree ---------------------------------------------------------------------------------------

SCORE = st.sampled_from(["0.5", "1", " 2 ", "nan", "", "-inf", "1_0", "1e999", "x", '"3"', "-0.0", "NA", "#1"])
LABEL = st.sampled_from(["0", "1", "1.0", " 1", '"0"', "", "#"])
NAME = st.sampled_from(["a", "b", "007", "7", " b", "é", '"a,b"', '"a;b"', '"a""b"', "#a", "", '"x\ny"', "a b", 'q"q'])
END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", "\n#\n", "\n# 1,2,3\n", "\n  \n"])
ROW = st.tuples(NAME, SCORE, LABEL, NAME, END)


def outcome(path: Path, small: int) -> object:
    """Return what reading gives: columns or a message."""
    kept, source.SMALL = source.SMALL, small
    try:
        scores = priori.read(path, nan="reject")
    except PrioriError as error:
        return str(error)
    finally:
        source.SMALL = kept
    return both(scores), names(scores), trials(scores)


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(ROW, min_size=1, max_size=6), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_both_parsers_read_tables_alike(
    tmp_path_factory: pytest.TempPathFactory, rows: list, delimiter: str, crlf: bool
) -> None:  # type: ignore[type-arg]
    good = [("u", "0.5", "1", "t1", "\n"), ("v", "1.5", "0", "t2", "\n")]
    content = delimiter.join(["user", "score", "label", "trial"]) + "\n"
    content += "".join(delimiter.join(fields) + end for *fields, end in good + rows)
    path = tmp_path_factory.mktemp("alike") / "dev.csv"
    path = path.with_suffix(".tsv" if delimiter == "\t" else ".csv")
    path.write_bytes((content.replace("\n", "\r\n") if crlf else content).encode())
    assert outcome(path, 0) == outcome(path, 1 << 20)


BLANK = st.sampled_from([" ", " ", " ", "\t", "  ", " # "])


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(st.tuples(NAME, BLANK, NAME, BLANK, NAME, BLANK, SCORE, END), min_size=1, max_size=6),
    st.sampled_from([" ", "\t"]),
    st.booleans(),
)
def test_both_parsers_read_bob_alike(
    tmp_path_factory: pytest.TempPathFactory, rows: list, blank: str, tidy: bool
) -> None:  # type: ignore[type-arg]
    text = "".join("".join(row) for row in rows)
    content = "a a p1 0.5\na b p2 0.25\n".replace(" ", blank) + (text.replace("\t", " ") if tidy else text)
    path = tmp_path_factory.mktemp("alike") / "dev.txt"
    path.write_bytes(content.encode())
    assert outcome(path, 0) == outcome(path, 1 << 20)


def test_messages_name_the_file_once_at_the_front(write: Write) -> None:
    with pytest.raises(InputError) as raised:
        priori.read(write("dev.csv", TABLE + "x,1,a\n"), source="Uploaded file")
    assert str(raised.value).startswith("Uploaded file:4: ")
    assert isinstance(raised.value, ValueError)
    assert Scores is priori.Scores
