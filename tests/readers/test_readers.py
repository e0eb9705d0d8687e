"""Reading good files: every format, with both parsers, plain and gzip, from a path, a pipe and standard input."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori
from priori import InputError, OptionError, Scores
from priori.readers import FORMATS, pair_check
from reading import CSV, SIMPLE, Write, both, names, trials


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("dev.csv", CSV, "csv"),
        ("dev.csv.gz", CSV, "csv"),
        ("dev.CSV", CSV, "csv"),
        ("dev.txt", CSV, "csv"),
        ("dev.csv", CSV.replace(",", ";"), "csv"),
        ("dev.tsv", CSV.replace(",", "\t"), "tsv"),
        ("dev.tsv.gz", CSV.replace(",", "\t"), "tsv"),
        ("dev.txt", CSV.replace(",", "\t"), "tsv"),
        ("dev.txt", CSV.replace(",", "   "), "table"),
        ("dev.csv", CSV.replace(",", " "), "table"),
    ],
)
def test_tables(write: Write, parser: str, name: str, content: str, format: str) -> None:
    lines: list[str] = []
    scores = priori.read(write(name, content), announce=lines.append)
    assert both(scores) == SIMPLE
    assert names(scores) == ["007", "8", "7", "8"]
    assert names(scores, "probe_user") == ["8", "007", "7", "8"]
    assert names(scores, "dataset") == ["a", "b", "b", "b"]
    assert trials(scores) == ["t1", "t3", "t2", "t4"]
    assert scores.format == format
    assert scores.source == name
    title = FORMATS[format].title
    assert lines == [f"{name}: {title}, 2 positive and 2 negative trials, 3 users, 2 data sets"]
    assert priori.read(name, format=format).format == format


@pytest.mark.parametrize(
    "content",
    [
        "score,label\r\n0.25,0\r\n0.5,1\r\n-1.5,0\r\n2,1\r\n",
        "score,label\r0.25,0\r0.5,1\r-1.5,0\r2,1\r",
        "score,label\n0.25,0\r\n0.5,1\n-1.5,0\r\n2,1",
        "\ufeffscore,label\n0.25,0\n0.5,1\n-1.5,0\n2,1\n",
        "# made by hand\n\n#\nscore,label\n\n0.25,0\n0.5,1\n   \n# half way, 1\n#3,1\n-1.5,0\n2,1\n\n",
        '# an "odd comment\r\nscore,label\r\n0.25,0\r\n0.5,1\r\n-1.5,0\r\n2,1\r\n',
        ' score , label \n0.25, 0\n 0.5 ,1\n-1.5,0 \n"2",  "1"\n',
        '"score","label"\n"0.25","0"\n"0.5","1"\n-1.5,"0"\n2,1\n',
        'score,label,note\n0.25,0,\n0.5,1,"a, ""b""\n#c"\n-1.5,0,it\'s "so"\n2,1,\n',
        "score,label\n0.25,0,\n0.5,1,\n-1.5,0,\n2,1,\n",
        "Label,SCORE\n0,0.25\n1,0.5\n0,-1.5\n1,2\n",
    ],
    ids=["crlf", "cr", "mixed", "bom", "comments", "comment-quote", "blanks", "quotes", "note", "trailing", "case"],
)
def test_tables_as_people_write_them(write: Write, parser: str, content: str) -> None:
    assert both(priori.read(write("dev.csv", content))) == SIMPLE


@pytest.mark.parametrize(
    "content",
    [
        "0 0.25\n1 0.5\n0 -1.5\n1 2\n",
        "0\t0.25\n1\t0.5\n0\t-1.5\n1\t2\n",
        "  0   0.25  \n1\t\t0.5\n0 \t -1.5\n1 2 # the last\n# end",
        "#label score\n\n0 0.25\n\t\n1 0.5\r\n0 -1.5\r\n1 2",
        "\ufeff0 0.25\r\n1 0.5\r\n0 -1.5\r\n1 2\r\n",
        "0 0.25 # 1 3\n1 0.5\n#1 7\n0 -1.5\n1 2\n",
        "-1 0.25\n+1 0.5\n-1 -1.5\n1.0 2\n",
        "nontarget 0.25\nTarget 0.5\nNonTarget -1.5\ntarget 2\n",
    ],
)
@pytest.mark.parametrize("name", ["dev.txt", "dev", "dev.csv", "dev.scores.gz", "dev.tsv"])
def test_two_columns(write: Write, parser: str, content: str, name: str) -> None:
    scores = priori.read(write(name, content))
    assert both(scores) == SIMPLE
    assert scores.format == "two-column"
    assert not scores.has_users


FOUR = "a a p1 0.5\na b p2 0.25\nb b p3 2\nb a p1 -1.5\n"


def test_bob_four_columns(write: Write, parser: str) -> None:
    lines: list[str] = []
    scores = priori.read(write("dev.txt", FOUR), announce=lines.append)
    assert both(scores) == SIMPLE
    assert names(scores) == ["a", "b", "a", "b"]
    assert names(scores, "probe_user") == ["b", "a", "a", "b"]
    assert trials(scores) == ["a p2", "b p1", "a p1", "b p3"]
    assert lines == ["dev.txt: bob four columns, 2 positive and 2 negative trials, 2 users"]


def test_bob_five_columns(write: Write, parser: str) -> None:
    scores = priori.read(write("dev.txt", "a m a p1 0.5\na m b p2 0.25\nb n b p1 2\nb m a p1 -1.5\n"))
    assert both(scores) == SIMPLE
    assert scores.format == "bob5"
    assert trials(scores) == ["a m p2", "b m p1", "a m p1", "b n p1"]


@pytest.mark.parametrize("content", ["a a x 0.5\na b x 0.25\nb b x 2\nb a x -1.5\n", FOUR + "# more\na a p1 0.5\n"])
def test_probe_names_that_repeat_are_no_ids(write: Write, parser: str, content: str) -> None:
    assert trials(priori.read(write("dev.txt", content))) is None


TRIALS = "a u1 target\na u2 nontarget\nb u1 nontarget\nb u2 target\n"
PAIRS = "b u2 2\na u2 0.25\nb u1 -1.5\na u1 0.5\n"


@pytest.mark.parametrize(
    ("trials_file", "format"),
    [
        (TRIALS, "kaldi"),
        (TRIALS.replace("nontarget", "0").replace("target", "1"), "kaldi"),
        ("1 a u1\n0 a u2\n0 b u1\n1 b u2\n", "voxceleb"),
        ("# list\n1\ta  u1\n\n0 a u2 # no\n0 b u1\n1 b u2\n", "voxceleb"),
    ],
)
def test_scores_joined_with_trials(write: Write, parser: str, trials_file: str, format: str) -> None:
    scores = priori.read(write("scores", PAIRS), trials=write("trials", trials_file))
    assert both(scores) == ([0.25, -1.5], [2.0, 0.5])
    assert names(scores) == ["a", "b", "b", "a"]
    assert trials(scores) == ["a u2", "b u1", "b u2", "a u1"]
    assert scores.format == format
    assert both(priori.read("scores", trials="trials", format=format)) == both(scores)


def test_a_pair_may_be_listed_twice(write: Write, parser: str) -> None:
    write("trials", TRIALS + "a u1 target\n")
    scores = priori.read(write("scores", PAIRS + "a u1 0.5\n"), trials="trials")
    assert len(scores.positive) == 3
    assert trials(scores) is None


@pytest.mark.parametrize(
    ("scores", "trials", "message"),
    [
        (
            PAIRS,
            TRIALS + "c u1 target\nc u2 target\nc u3 target\nc u4 target\n",
            r"trials: 4 trials have no score in scores: c u1, c u2, c u3, \.\.\.",
        ),
        (PAIRS + "c u1 3\n", TRIALS, r"scores: 1 trials are not in trials: c u1$"),
        (PAIRS + "a u1 3\n", TRIALS, r"scores: 1 trials have more than one score: a u1"),
        (PAIRS, TRIALS + "a u1 nontarget\n", r"trials: 1 trials have more than one label: a u1"),
        (PAIRS, TRIALS + "a u1\n", r"trials:5: 2 fields where 3 are needed \(enrol test label\)"),
        ("1 a u1 0.5\n", TRIALS, r"scores:1: 4 fields where 3 are needed \(enrol test score\)"),
        (PAIRS, "a u1 tgt\na u2 imp\nb u1 imp\nb u2 tgt\n", "'imp', 'tgt' are not a pair we know"),
        (PAIRS, "# none\n", "trials: no rows"),
        (PAIRS, "a u1 target\na u2 target\nb u1 target\nb u2 target\n", "one class only"),
        ("", TRIALS, "scores: the file is empty"),
    ],
)
def test_scores_that_do_not_join(write: Write, parser: str, scores: str, trials: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        priori.read(write("scores", scores), trials=write("trials", trials))


def test_labels_of_a_trials_file_can_be_named(write: Write) -> None:
    write("trials", "a u1 tgt\na u2 imp\nb u1 imp\nb u2 tgt\n")
    assert both(priori.read(write("scores", PAIRS), trials="trials", pos_label="tgt")) == ([0.25, -1.5], [2.0, 0.5])


def test_voxceleb_with_the_score_in_a_fourth_column(write: Write, parser: str) -> None:
    scores = priori.read(
        write("dev.txt", "1 id1/a id1/b 0.5\n0 id1/a id2/c 0.25\n0 id2/c id1/b -1.5\n1 id2/c id2/d 2\n")
    )
    assert scores.format == "voxceleb"
    assert both(scores) == SIMPLE
    assert names(scores) == ["id1/a", "id2/c", "id1/a", "id2/c"]
    assert trials(scores) == ["id1/a id2/c", "id2/c id1/b", "id1/a id1/b", "id2/c id2/d"]


def test_bob_identities_that_look_like_labels(write: Write) -> None:
    """Identities 0 and 1 are no VoxCeleb labels as soon as one claim is true."""
    assert priori.read(write("dev.txt", "1 1 p1 0.5\n1 0 p2 0.1\n0 1 p1 0.2\n")).format == "bob4"
    write("dev.txt", "1 2 p1 0.5\n1 3 p2 0.1\n")
    with pytest.raises(InputError, match=r"could be bob's four columns or VoxCeleb's.*format='bob4' or voxceleb"):
        priori.read("dev.txt")
    with pytest.raises(InputError, match="no positive trial"):
        priori.read("dev.txt", format="bob4")


# -- Parquet -------------------------------------------------------------------------------------------------


def parquet(path: str, select: str) -> Path:
    import duckdb

    with duckdb.connect() as database:
        database.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")
    return Path(path)


ROWS = "(VALUES (0.25, 0, 7, 't1'), (0.5, 1, 8, 't2'), (-1.5, 0, 8, 't3'), (2, 1, 10, 't4')) rows(s, l, u, t)"


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "DECIMAL(5, 2)"])
@pytest.mark.parametrize(
    "label", ["l", "l = 1", "CASE l WHEN 1 THEN 'Genuine' ELSE 'impostor' END", "l::DOUBLE", "2*l-1"]
)
def test_parquet(write: Write, kind: str, label: str) -> None:
    parquet("dev.parquet", f'SELECT s::{kind} AS score, {label} AS label, u AS "user", t AS trial FROM {ROWS}')
    lines: list[str] = []
    scores = priori.read("dev.parquet", announce=lines.append)
    assert both(scores) == SIMPLE
    assert names(scores) == ["7", "8", "8", "10"]
    assert trials(scores) == ["t1", "t3", "t2", "t4"]
    assert lines == ["dev.parquet: Parquet table, 2 positive and 2 negative trials, 3 users"]


def test_parquet_by_any_name_and_from_a_pipe(write: Write) -> None:
    data = parquet("dev.csv", f"SELECT s AS score, l AS label FROM {ROWS}").read_bytes()
    assert priori.read("dev.csv").format == "parquet"
    assert both(priori.read(io.BytesIO(data))) == SIMPLE


def test_parquet_float32_is_taken_exactly(write: Write) -> None:
    parquet("dev.parquet", "SELECT (0.1 * i)::FLOAT AS score, i % 2 AS label FROM range(10) numbers(i)")
    expected = (np.arange(10) * 0.1).astype(np.float32).astype(np.float64)
    assert priori.read("dev.parquet").negative.score.tolist() == expected[::2].tolist()


@pytest.mark.parametrize(
    ("select", "message"),
    [
        (f"SELECT s AS score FROM {ROWS}", "no column 'label' for the label; the columns are score; say which it is"),
        (
            f"SELECT s::VARCHAR AS score, l AS label FROM {ROWS}",
            "scores in column 'score' must be numbers, not VARCHAR",
        ),
        (f"SELECT s > 0 AS score, l AS label FROM {ROWS}", "must be numbers, not BOOLEAN"),
        (f'SELECT s AS score, l AS label, u::DOUBLE AS "user" FROM {ROWS}', "'user' holds DOUBLE; a user must be text"),
        (
            f"SELECT s AS score, l AS label, [u] AS trial FROM {ROWS}",
            r"'trial' holds INTEGER\[\]; a trial must be text",
        ),
        (
            f"SELECT s AS score, nullif(l, 1) AS label FROM {ROWS}",
            r"'label': 2 values are missing \(the first in row 2\)",
        ),
        (f'SELECT s AS score, l AS label, nullif(u, 10) AS "user" FROM {ROWS}', r"'user': 1 values .* in row 4\)"),
        (f"SELECT s AS score, l AS label, nullif(t, 't3') AS trial FROM {ROWS}", r"'trial': 1 values .* in row 3\)"),
        (f"SELECT nullif(s, 2)::FLOAT AS score, l AS label FROM {ROWS}", r"1 score is NaN \(the first in row 4\)"),
        (f"SELECT s AS score, l AS label FROM {ROWS} WHERE s > 9", "no trials, only the names of columns"),
        (f"SELECT s AS score, l AS label, t || chr(0) AS trial FROM {ROWS}", "'trial' holds a NUL character"),
        (f"SELECT s AS score, u AS label FROM {ROWS}", r"3 different labels \('10', '7', '8'\)"),
    ],
)
def test_parquet_that_is_no_use(write: Write, select: str, message: str) -> None:
    parquet("dev.parquet", select)
    with pytest.raises(InputError, match=message):
        priori.read("dev.parquet")


def test_damaged_parquet(write: Write) -> None:
    data = parquet("dev.parquet", f"SELECT s AS score, l AS label FROM {ROWS}").read_bytes()
    for damaged in (data[:-20], data[:4] + b"rubbish" * 9, b"PAR1"):
        write("dev.parquet", damaged)
        with pytest.raises(InputError, match=r"^dev\.parquet: the Parquet file cannot be read") as raised:
            priori.read("dev.parquet")
        assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="not a Parquet file"):
        priori.read(write("dev.csv", CSV), format="parquet")


# -- where the bytes come from -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a*b.csv", "**.csv", "a[1].csv", "it's; x.csv", 'q".csv', "a?.csv", "ü {1}.csv", "$x %d.csv"]
)
def test_odd_file_names(write: Write, parser: str, name: str) -> None:
    for other in ("axb.csv", "a1.csv", "ab.csv"):
        write(other, "nonsense")
    assert both(priori.read(write(name, CSV))) == SIMPLE
    os.unlink(name)
    parquet("plain.parquet", f"SELECT s AS score, l AS label FROM {ROWS}")
    os.rename("plain.parquet", name)
    assert both(priori.read(name)) == SIMPLE


def test_open_files_and_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (1 << 20, 16):  # kept in memory, then in a temporary file
        monkeypatch.setattr("priori.readers.input_file.SMALL", size)
        for data in (CSV.encode(), gzip.compress(CSV.encode())):
            assert both(priori.read(io.BytesIO(data), source="upload.csv")) == SIMPLE
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            lines: list[str] = []
            assert priori.read("-", announce=lines.append).source == "standard input"
            assert lines[0].startswith("standard input: CSV table, 2 positive")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have no path there")
def test_a_pipe_with_a_path(write: Write) -> None:
    os.mkfifo("pipe")
    writer = subprocess.Popen([sys.executable, "-c", f"open('pipe', 'w').write({CSV!r})"])
    assert both(priori.read("pipe")) == SIMPLE
    assert writer.wait() == 0


def test_no_temporary_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("priori.readers.input_file.SMALL", 8)
    priori.read(io.BytesIO((CSV + "# a comment sends it through the text parser first\n").encode()))
    with pytest.raises(InputError):
        priori.read(io.BytesIO((CSV + "rubbish\n").encode()))
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_sql(write: Write, parser: str) -> None:
    odd = ["it's", "{}", "{0}", "a;--", "%s", "\\x41", "ß 字"]
    content = "score,label,user,trial\n" + "".join(f"{n},{n % 2},{name},{name}\n" for n, name in enumerate(odd))
    scores = priori.read(write("dev.csv", content))
    assert names(scores) == trials(scores) == odd[::2] + odd[1::2]


def test_many_rows_keep_their_order(write: Write) -> None:
    """Large enough for several threads and several pieces, with names, ids and NaN at the end."""
    rows = 300_000
    rng = np.random.default_rng(0)
    score, label, user = rng.random(rows), rng.integers(0, 2, rows), rng.integers(0, 999, rows)
    lines = [f"{s!r},{i},u{u:03},t{k}" for k, (s, i, u) in enumerate(zip(score.tolist(), label, user, strict=True))]
    scores = priori.read(write("dev.csv", "score,label,user,trial\n" + "\n".join(lines)))
    assert np.array_equal(scores.positive.score, score[label == 1])
    assert names(scores)[:50] == [f"u{u:03}" for u in user[label == 0][:50]]
    assert scores.users is not None
    assert scores.users.values.tolist() == sorted(scores.users.values.tolist())
    assert trials(scores) == [f"t{k}" for k in [*np.flatnonzero(label == 0), *np.flatnonzero(label == 1)]]
    write("dev.csv", "score,label\n" + "\n".join(lines[:-1]).replace(",u", ",1\n#") + "\n\nNaN,0")
    with pytest.raises(InputError):
        priori.read("dev.csv")
    write("dev.txt", "".join(f"{i} {s!r}\n" for i, s in zip(label, score.tolist(), strict=True)) + "\n# end\n1 nan\n")
    with pytest.raises(InputError, match=rf"^dev\.txt: 1 score is NaN \(the first on line {rows + 3}\)"):
        priori.read("dev.txt")


# -- options -----------------------------------------------------------------------------------------------------


def test_columns_by_other_names(write: Write, parser: str) -> None:
    content = "id,dataset,kind,distance\nx/1,d1,0,0.5\nx/2,d1,3,1.5\nx/3,d2,1,-0.25\nx/4,d2,0,-2\n"
    write("dev.csv", content)
    columns = {"score": "distance", "label": "kind", "trial": "id"}
    scores = priori.read("dev.csv", columns=columns, pos_label=0, lower_is_better=True)
    assert both(scores) == ([-1.5, 0.25], [-0.5, 2.0])
    assert trials(scores) == ["x/2", "x/3", "x/1", "x/4"]
    assert list(scores.by("dataset")) == ["d1", "d2"]
    with pytest.raises(
        InputError,
        match=r"no column 'klass' for the label; the columns are id, dataset, kind, distance; "
        r"say which it is \(columns=\{'label': NAME\}\)",
    ):
        priori.read("dev.csv", columns={**columns, "label": "klass"})
    with pytest.raises(OptionError, match="unknown column 'scores'; did you mean 'score'"):
        priori.read("dev.csv", columns={"scores": "distance"})


def test_identities_serve_as_labels(write: Write, parser: str) -> None:
    """A table without labels that says who claimed to be whom, as bob's newer files do."""
    write("dev.csv", "probe,reference,score\na,a,0.5\nb,a,0.25\na,b,-1.5\nb,b,2\n")
    assert both(priori.read("dev.csv", columns={"user": "reference", "probe_user": "probe"})) == SIMPLE


@pytest.mark.parametrize("nan", ["nan", "NaN", "-nan", "", "NA"])
def test_nan_policies(write: Write, parser: str, nan: str) -> None:
    content = f"score,label\n0.25,0\n# comment\n{nan},0\n0.5,1\n{nan},1\n-1.5,0\n2,1\n"
    write("dev.csv", content)
    with pytest.raises(InputError, match=r"^dev\.csv: 2 scores are NaN \(the first on line 4\); choose a policy \(nan"):
        priori.read("dev.csv")
    lines: list[str] = []
    assert both(priori.read("dev.csv", nan="drop", announce=lines.append)) == SIMPLE
    rejected = priori.read("dev.csv", nan="reject", lower_is_better=True, announce=lines.append)
    assert both(rejected) == ([-0.25, -np.inf, 1.5], [-0.5, -np.inf, -2.0])
    assert rejected.nan_rejected == 2
    assert lines == [
        "dev.csv: CSV table, 2 positive and 2 negative trials, 2 NaN scores left out",
        "dev.csv: CSV table, 3 positive and 3 negative trials, 2 NaN scores count as rejected",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "arff"}, "unknown format 'arff'; choose one of: parquet, matrix, keyed, classes, jsonl, csv"),
        ({"nan": "ignore"}, "unknown NaN policy 'ignore'; choose one of: error, reject, drop"),
        ({"columns": {"score": "x"}}, r"dev\.txt \(bob four columns\): names of columns .* are for tables"),
        ({"pos_label": "a"}, "there is no label to call positive"),
        ({"format": "bob4", "trials": "dev.txt"}, "a trials file .* goes with Kaldi or VoxCeleb"),
        ({"format": "kaldi"}, r"Kaldi scores need their trials file \(trials=FILE"),
    ],
)
def test_options_that_do_not_fit(write: Write, options: dict[str, Any], message: str) -> None:
    write("dev.txt", FOUR)
    with pytest.raises(OptionError, match=message):
        priori.read("dev.txt", **options)


def test_development_and_test_must_be_of_one_format(write: Write) -> None:
    four, csv = priori.read(write("four.txt", FOUR)), priori.read(write("dev.csv", CSV))
    five = priori.read(write("five.txt", "a m a p1 0.5\na m b p2 0.25\n"))
    tsv = priori.read(write("test.tsv", CSV.replace(",", "\t")))
    pair_check(four, five)
    pair_check(csv, tsv)
    pair_check(csv, Scores.from_arrays([0], [1]))
    with pytest.raises(
        InputError,
        match=r"system A: the development file four.txt is read as bob four columns and the test file dev.csv as CSV "
        r"table; both must be of one format",
    ):
        pair_check(four, csv, name="system A")
