"""Large and small files have one grammar: what duckdb might read in a way of its own goes to the text parser."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest

import priori
from priori import InputError, Scores
from priori.readers import duckdb_parser, input_file, text
from priori.readers.census import count_rows
from priori.readers.input_file import open_source
from priori.readers.layout import BLANKS, LineLayout
from reading import CSV, SIMPLE, Write, both


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dev.txt", "0 1\n1 2\n0 \n1 3\n", r"dev\.txt:3: 1 field where 2 are needed"),
        ("dev.csv", "label,score\n0,nan(1)\n1,2\n0,3\n", r"dev\.csv:2: the score 'nan\(1\)' is not a number"),
        ("dev.csv", "label,score\n0,+-nan\n1,2\n0,3\n", r"dev\.csv:2: the score '\+-nan' is not a number"),
        ("dev.csv", 'label,score\n"0" ,1\n1,2\n', r"dev\.csv:2: cannot be split into fields .*check the quotes"),
        ("dev.csv", 'label,score\n0,1\n1,2\n"1', r"dev\.csv:4: cannot be split into fields .*check the quotes"),
        ("dev.csv", "label,score\n0,1\n1,2\n1", r"dev\.csv:4: 1 field where 2 are needed"),
        ("dev.csv", "label,score\n0,1\n1,2\n1," + "x" * 200_000, r"dev\.csv:4: a field of more than 131072 characters"),
        ("dev.txt", "0 1\n1 2\n1 " + "x" * 300_000, r"dev\.txt:3: a line of more than 262144 characters"),
    ],
)
def test_refused_in_the_same_words(write: Write, parser: str, name: str, content: str, message: str) -> None:
    write(name, content)
    with pytest.raises(InputError, match=f"^{message}"):
        priori.read(name, nan="drop")


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffa a p1 0.5\na b p2 0.25\nb b p3 2\nb a p1 -1.5\n",
        "\ufeffa  a p1 0.5\na b p2 0.25\nb b p3 2\nb a p1 -1.5\n",
        "\ufeff# bob\na a p1 0.5\r\na b p2 0.25\nb b p3 2\nb a p1 -1.5",
    ],
)
def test_a_byte_order_mark_is_no_part_of_a_name(write: Write, parser: str, content: str) -> None:
    scores = priori.read(write("dev.txt", content))
    assert both(scores) == SIMPLE
    assert scores.users is not None
    assert scores.users.values.tolist() == ["a", "b"]


def test_a_byte_order_mark_within_a_file_is(write: Write, parser: str) -> None:
    scores = priori.read(write("dev.csv", "\ufeffuser,score,label\r\ufeffa,1,0\ra,2,1\r"))
    assert scores.users is not None
    assert scores.users.values.tolist() == ["a", "\ufeffa"]


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2009", "\x1f", "\x85"])
def test_other_blanks_are_part_of_a_name(write: Write, parser: str, blank: str) -> None:
    """Also where spaces stand around the fields, which are not."""
    scores = priori.read(write("dev.csv", f"score;label;user\n0.5 ;1;a\n1 ;0; {blank}a\n2 ;0;a{blank} \n3;1; a\n"))
    assert scores.users is not None
    assert scores.users.values.tolist() == sorted(["a", f"{blank}a", f"a{blank}"])


ENDS = {
    "comment": b"# made\r\nscore,label\n1,0\n2,1\n",
    "cr": b"# made\rscore,label\r1,0\r2,1\r",
    "mixed": b"# made\nscore,label\r\n1,0\r\n2,1",
    "crlf then cr": b"# made\r\nscore,label\r1,0\n2,1\n",
}


@pytest.mark.parametrize("engine", ["auto", "memory", "duckdb"])
@pytest.mark.parametrize("ends", ENDS)
def test_every_file_of_a_glob_gives_its_rows(write: Write, engine: Any, ends: str) -> None:
    write("a.csv", b"score,label\n3,0\n4,1\n5,1\n")
    write("b.csv", ENDS[ends])
    scores = priori.scan("*.csv", engine=engine)
    assert (scores.n_negatives, scores.n_positives) == (2, 3)


@pytest.mark.parametrize("engine", ["auto", "memory", "duckdb"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"^b\.csv: the file is empty"),
        ("# nothing\r\n", r"^b\.csv: no rows, only comments"),
        ("# nothing\r\nscore,label\n", r"^b\.csv: no trials, only a header"),
    ],
)
def test_a_file_of_a_glob_without_rows_is_named(write: Write, engine: Any, content: str, message: str) -> None:
    write("a.csv", CSV)
    write("b.csv", content)
    with pytest.raises(InputError, match=message):
        priori.scan("*.csv", engine=engine)


# -- what duckdb is believed in ----------------------------------------------------------------------------------

TABLE = LineLayout(",", ("score", "label"), {"score": 0, "label": 1}, skip=1, quoted=True)
PLAIN = LineLayout(BLANKS, ("label", "score"), {"label": 0, "score": 1})


@pytest.mark.parametrize(
    ("layout", "content", "rows"),
    [
        (TABLE, b"score,label\n1,0\n2,1\n", 2),
        (TABLE, b"\xef\xbb\xbfscore,label\r\n1,0\r\n2,1", 2),
        (TABLE, b'score,label\n"1","0"\n2,"a, b"\n\n', 2),
        (TABLE, b"score,label\n1,0,\n2,1,\n", 2),
        (TABLE, b"score,label\n1,0\r\n2,1\n", None),
        (TABLE, b"score,label\r\n1,0\n2,1\n", None),
        (TABLE, b"score,label\r1,0\r2,1\r", None),
        (TABLE, b'score,label\n1,0\n2,"a""b"\n', None),
        (TABLE, b'score,label\n1,0\n2,"a" \n', None),
        (TABLE, b"score,label\n1,0\n#2,1\n", None),
        (TABLE, b"score,label\n1,0\n2\n", None),
        (TABLE, b"score,label\n" + b"1,0\n" * 2000 + b"2,\0\n", None),
        (TABLE, b"score,label\n1,0\n2,\xff\n", None),
        (TABLE, b"score,label\n1,0\n2," + b"x" * 132_000 + b"\n", None),
        (PLAIN, b"0 1\n1 2", 2),
        (PLAIN, b"0\t1\n1\t2\n", None),
        (PLAIN, b"0  1\n1 2\n", None),
        (PLAIN, b"0 1\n 1 2\n", None),
        (PLAIN, b"0 1\n1 \n", None),
        (PLAIN, b"0 1\n1 #2\n", None),
        (PLAIN, b"\xef\xbb\xbf0 1\n1 2\n", None),
    ],
)
def test_rows_are_counted_where_they_can_mean_one_thing_only(
    write: Write, layout: LineLayout, content: bytes, rows: Any
) -> None:
    with open_source(write("dev", content)) as source:
        assert count_rows(source, layout, layout.delimiter) == rows


@pytest.mark.parametrize("content", [CSV, CSV.replace("0.25", '"0.25"'), CSV.replace("\n", "\r\n")])
def test_duckdb_reads_a_plain_file_itself(write: Write, content: str) -> None:
    """The text parser must not be needed: no row goes through it."""
    write("dev.csv", content)
    with patch.object(input_file, "SMALL", 0), patch.object(text, "rows", side_effect=AssertionError("text parser")):
        assert both(priori.read("dev.csv")) == SIMPLE
    with patch.object(duckdb_parser, "_attempt", side_effect=AssertionError("duckdb")):
        assert both(priori.read("dev.csv")) == SIMPLE


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_row_that_duckdb_loses_is_found_again(write: Write, engine: Any) -> None:
    """Whatever makes it lose one: here it is told to read all but the last."""
    write("dev.csv", CSV)
    scan = duckdb_parser._scan

    def forgetful(source: Any, layout: LineLayout) -> str:
        return f"(FROM {scan(source, layout)} LIMIT 3)" if source.path == Path("dev.csv") else scan(source, layout)

    with patch.object(input_file, "SMALL", 0), patch.object(duckdb_parser, "_scan", forgetful):
        assert priori.scan("dev.csv", engine=engine).n_positives == 2


# -- missing labels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("missing", ["NA", "nan", "NaN", "n/a", "<NA>", "null"])
@pytest.mark.parametrize("positive", [None, "1"])
def test_a_missing_label_is_no_negative(
    write: Write, parser: str, engine: Any, missing: str, positive: str | None
) -> None:
    write("dev.csv", f"score,label\n1,0\n2,1\n3,{missing}\n4,{missing}\n")
    with pytest.raises(
        InputError, match=rf"^dev\.csv: 2 labels are missing \(written as '{missing}'.*every trial needs one"
    ) as raised:
        _ = priori.scan("dev.csv", engine=engine, pos_label=positive).n_negatives
    assert engine == "duckdb" or "the first on line 4" in str(raised.value)


@pytest.mark.parametrize("missing", ["NA", "NaN", float("nan"), None, np.ma.masked])
@pytest.mark.parametrize("positive", [None, 1])
def test_a_missing_label_among_predictions(missing: Any, positive: Any) -> None:
    labels: Any = [0, 1, missing, 1]
    if missing is np.ma.masked:
        labels = np.ma.array([0, 1, 0, 1], mask=[0, 0, 1, 0])
    elif isinstance(missing, str):
        labels = [str(label) for label in labels]
    with pytest.raises(InputError, match=r"^scores: 1 label is missing \(.*the first in row 3\)"):
        Scores.from_predictions(labels, [1, 2, 3, 4], pos_label=positive)


def test_labels_beyond_double_precision_stay_apart() -> None:
    with pytest.raises(InputError, match="are not a pair we know"):
        Scores.from_predictions([2**53, 2**53 + 1], [1, 2])
    assert Scores.from_predictions([2**53, 2**53 + 1], [1, 2], pos_label=2**53 + 1).n_positives == 1


def test_a_missing_label_of_a_kaldi_trial(write: Write, parser: str) -> None:
    write("scores", "a u1 1\na u2 2\nb u1 3\n")
    write("trials", "a u1 1\na u2 0\nb u1 NA\n")
    with pytest.raises(InputError, match=r"^trials: 1 label is missing \(written as 'NA'; the first on line 3\)"):
        priori.read("scores", trials="trials", pos_label="1")


# -- Parquet: one rule for what is read and what is scanned ---------------------------------------------------------

ROWS = "(VALUES (1.0, 1, 'a'), (2.0, 0, 'b'), (3.0, 1, 'b')) rows(s, l, u)"


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (
            "s AS score, l AS label, s::DOUBLE AS user",
            "column 'user' holds DOUBLE; a user must be text or a whole number",
        ),
        ("s AS score, l AS label, [u] AS user", r"column 'user' holds VARCHAR\[\]; a user must be"),
        ("s AS score, l AS label, nullif(u, 'a') AS user", "column 'user': 1 values are missing"),
        ("s AS score, l AS label, replace(u, 'a', '') AS user", "column 'user': 1 values are missing"),
        ("s AS score, l AS label, u || chr(0) AS user", "column 'user' holds a NUL character"),
        (
            "s AS score, l AS label, u AS user, nullif(u, 'b') AS probe_user",
            "column 'probe_user': 2 values are missing",
        ),
        ("s AS score, if(s > 2, 'nan'::DOUBLE, l) AS label", "1 label is missing"),
        ("s AS score, if(s > 2, 'NA', l::VARCHAR) AS label", "1 label is missing .written as 'NA'"),
        ("s AS score, nullif(l, 0) AS label", "1 (values are|label is) missing"),
        ("u AS score, l AS label", "scores in column 'score' must be numbers, not VARCHAR"),
    ],
)
def test_a_scan_refuses_what_is_refused_in_memory(write: Write, select: str, message: str) -> None:
    write("x", "")
    columns = select.replace("AS user", 'AS "user"')
    duckdb.sql(f"SELECT {columns} FROM {ROWS}").write_parquet("dev.parquet")
    for engine in ("memory", "duckdb"):
        with pytest.raises(InputError, match=rf"^dev\.parquet: .*{message}"):
            _ = priori.scan("dev.parquet", engine=engine, pos_label=1).n_negatives  # type: ignore[arg-type]


def test_labels_in_bytes_are_read_and_scanned(write: Write) -> None:
    write("x", "")
    duckdb.sql(f"SELECT s AS score, l::VARCHAR::BLOB AS label FROM {ROWS}").write_parquet("dev.parquet")
    for engine in ("memory", "duckdb"):
        assert priori.scan("dev.parquet", engine=engine).n_positives == 2  # type: ignore[arg-type]


# -- where the bytes come from --------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_what_has_no_end(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(input_file, "MOST", 1 << 22)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InputError, match=r"^/dev/zero: a binary file"):
        priori.read("/dev/zero")
    with subprocess.Popen(["yes", "0 1"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        with pytest.raises(InputError, match=r"^stream: more than .* GiB came from it; write it to a file"):
            priori.read(endless.stdout, source="stream")  # type: ignore[arg-type]
        endless.stdout.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no path there")
@pytest.mark.parametrize("engine", ["auto", "memory", "duckdb"])
def test_a_pipe_does_not_change_by_being_read(write: Write, engine: Any) -> None:
    os.mkfifo("pipe")
    with subprocess.Popen([sys.executable, "-c", f"open('pipe', 'w').write({CSV!r})"]):
        scores = priori.scan("pipe", engine=engine)
        assert (scores.n_negatives, scores.n_positives) == (2, 2)
        assert scores.rejected([0.3])[0].tolist() == [2]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are UTF-8 there")
def test_a_name_that_is_no_utf8(write: Write, parser: str) -> None:
    name = os.fsdecode(b"a\xff.csv")
    scores = priori.read(write(name, CSV))
    assert both(scores) == SIMPLE
    assert scores.source == "a\\xff.csv"
    assert priori.scan(name, engine="duckdb").n_positives == 2
    duckdb.sql(f"SELECT s AS score, l AS label FROM {ROWS}").write_parquet("plain.parquet")
    os.rename("plain.parquet", name)
    assert priori.read(name).n_positives == priori.scan(name, engine="duckdb").n_positives == 2
    with pytest.raises(InputError, match=r"^b\\xff: there is no such file"):
        priori.scan(os.fsdecode(b"b\xff"))
