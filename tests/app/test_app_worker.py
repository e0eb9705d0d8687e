"""The job's own process: hostile files, limits, and the reader's own messages."""

from __future__ import annotations

import gzip
import html
import io
import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from app_serving import DEV, PATIENCE, TEST, gone, worker_that

import small_studies
from priori.app.choices import LABELS
from priori.app.jobs import WORKER
from priori.app.worker import exchanged, refuse_bomb
from priori.base.errors import InputError
from priori.scores.systems import System


def _ends(visitor, **files):
    given = {"name-0": "A", "dev-0": ("dev.csv", DEV), "test-0": ("test.csv", TEST)}
    given.update({name.replace("_", "-"): file for name, file in files.items()})
    answer = visitor.send(files=given)
    assert answer.status_code == 202, answer.text
    return visitor.wait(answer.json()["job"])


def _parquet(**columns):
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


BAD = [
    (b"", "the file is empty"),
    (b"\x00\x01\x02" * 100, "a binary file"),
    (b"PK\x03\x04" + b"x" * 100, "a zip archive"),
    (b"label,score\n0,x\n1,2\n", "is not a number"),
    (b"label,score\n0,nan\n1,2\n", "NaN"),
    (b"label,score\n0,1\n0,2\n", "one class only"),
    (b"\x80\x04\x95cos\nsystem\n(S'id'\ntR.", "x.csv"),
    (b"PAR1" + b"\x00" * 200 + b"PAR1", "Parquet"),
    (b"\x1f\x8b" + b"\x00" * 50, "gzip"),
    (gzip.compress(b"label,score\n0,1\n")[:-6], "gzip"),
    (b"label,score\n" + b"0" * 3_000_000, "x.csv"),
    (b"label,score\n" + b"x" * 100_000 + b",1\n0,2\n", "xxx"),
]


def test_bad_files_are_answered_next_to_their_fields_with_the_readers_own_message(serve):
    files = {}
    for place, (content, _) in enumerate(BAD):
        files |= {f"name-{place}": str(place), f"dev-{place}": ("d.csv", DEV), f"test-{place}": ("x.csv", content)}
    visitor = serve().visitor()
    status = visitor.wait(visitor.send(files=files).json()["job"])
    assert set(status["errors"]) == {f"test-{place}" for place in range(len(BAD))}
    for place, (_, expected) in enumerate(BAD):
        message = status["errors"][f"test-{place}"]
        assert message.startswith("x.csv")
        assert expected in message
        assert message.isprintable()
        assert len(message) <= 1_000
        assert "priori-app-" not in message


UNCLEAR = {
    b"label,similarity\n0,1\n1,2\n": "'Names of columns': score=NAME",
    b"label,score\nred,1\nblue,2\n": "say which one is positive ('Positive label')",
    b"label,score\nred,1\nblue,2\ngreen,3\n": "say which one is positive ('Positive label')",
    b"label,score\n0,nan\n1,2\n": "choose a policy ('Scores that are NaN')",
    b"a b 0.5\nc d 0.1\n": "the trials file that holds the labels ('Trials')",
    b"1 a b 0.5\n1 c d 0.1\n": "say which with 'Format': bob4 or voxceleb",
    b"1 2 3 4 5 6 7\n": "or force a format with 'Format'",
}


def test_a_message_speaks_of_the_form_and_not_of_the_command_line_or_of_python(serve):
    files = {}
    for place, content in enumerate(UNCLEAR):
        files |= {f"name-{place}": str(place), f"dev-{place}": ("d.csv", DEV), f"test-{place}": ("x.txt", content)}
    visitor = serve().visitor()
    errors = visitor.wait(visitor.send(files=files).json()["job"])["errors"]
    for place, expected in enumerate(UNCLEAR.values()):
        message = errors[f"test-{place}"]
        assert expected in message
        assert "--" not in message
        assert not re.search(r"\((columns|pos_label|nan|format|trials)=", message)


def test_every_name_that_a_message_gives_a_field_stands_in_the_form(serve):
    page = html.unescape(serve().first.get("/").text)
    for label in LABELS.values():
        assert f">{label}" in page, label


def test_a_message_is_read_to_its_end_however_long_the_name(serve):
    status = _ends(serve().visitor(), dev_0=("n" * 9_996 + ".csv", b"label,score\n0,oops\n1,2\n"))
    assert status["errors"]["dev-0"].endswith(".csv:2: the score 'oops' is not a number")


def test_the_message_of_a_bad_trials_file_stands_next_to_it(serve):
    scores = b"a b 0.1\na c 0.9\n"
    status = _ends(
        serve().visitor(),
        dev_0=("d", scores),
        test_0=("t", scores),
        dev_trials=("trials", b"\x00\x00"),
        test_trials=("trials2", b"a b target\na c nontarget\n"),
    )
    assert list(status["errors"]) == ["dev-trials"]
    assert status["errors"]["dev-trials"].startswith("trials:")


def test_kaldi_scores_with_their_trials(serve):
    scores, trials = b"a b 0.1\na c 0.9\n", b"a b nontarget\na c target\n"
    visitor = serve().visitor()
    status = _ends(
        visitor, dev_0=("d", scores), test_0=("t", scores), dev_trials=("x", trials), test_trials=("y", trials)
    )
    assert status["state"] == "done", status


def test_a_gzip_bomb_is_refused_without_being_unpacked(serve):
    bomb = gzip.compress(bytes(80_000_000))
    assert len(bomb) < 100_000
    served = serve(unpacked=20_000_000)
    status = _ends(served.visitor(), dev_0=("scores.csv.gz", bomb))
    assert status["errors"] == {"dev-0": "scores.csv.gz: more than 20 MB once decompressed, which is the limit"}


def test_many_gzip_members_count_together(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(bytes(1_000_000)) * 30)
    with pytest.raises(InputError, match="more than 20 MB"):
        refuse_bomb(path, "x.gz", 20_000_000)
    refuse_bomb(path, "x.gz", 40_000_000)


def test_parquet_cannot_reach_other_files(serve):
    visitor = serve().visitor()
    labels, scores = ["/etc/passwd", "x'); DROP TABLE trials; --"] * 4, np.arange(8.0)
    content = _parquet(**{"label": labels, "score": scores, "') FROM read_text('/etc/passwd') --": labels})
    status = _ends(visitor, dev_0=("d.parquet", content), test_0=("t.parquet", content))
    assert "are not a pair we know" in status["errors"]["dev-0"]
    content = _parquet(label=[0, 1] * 4, score=scores, user=["read_csv('/etc/passwd')"] * 8)
    assert _ends(visitor, dev_0=("d.parquet", content), test_0=("t.parquet", content))["state"] == "done"


def test_duckdb_reads_the_one_file_it_was_given(tmp_path):
    import duckdb

    from priori.readers.duckdb_parser import connection

    ours, other = tmp_path / "ours.csv", tmp_path / "other.csv"
    for path in (ours, other):
        path.write_text("x\n1\n")
    with connection(ours) as database:
        assert database.execute(f"FROM read_csv('{ours}')").fetchall() == [(1,)]
        for query in (
            f"FROM read_csv('{other}')",
            "FROM read_text('/etc/passwd')",
            "FROM read_csv('http://127.0.0.1:9/x')",
            f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
            f"ATTACH '{tmp_path}/new.db'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            f"FROM glob('{tmp_path}/*')",
        ):
            with pytest.raises(duckdb.Error):
                database.execute(query).fetchall()


def test_the_limit_on_memory_holds_and_is_told(serve):
    rng = np.random.default_rng(0)
    n = 1_500_000
    content = _parquet(label=np.arange(n) % 2, score=rng.normal(size=n), trial=[f"{i:0200d}" for i in range(n)])
    served = serve(memory=700_000_000)
    status = _ends(served.visitor(), dev_0=("d.parquet", content))
    assert status["state"] == "failed"
    assert "memory" in " ".join(status["errors"].values()).lower()
    assert len(served.files()) == 2


def _worker(tmp_path, **order):
    limits = {"memory": 4_000_000_000, "seconds": 60, "unpacked": 10**9}
    given = {"systems": [], "trials": {}, "choices": {"example": "faces", "bootstrap": "none"}, "mark": "m"}
    given |= {"outcome": str(tmp_path), "limits": limits, **order}
    process = subprocess.Popen(
        [sys.executable, *WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    process.stdin.write(json.dumps(given).encode() + b"\n")
    process.stdin.flush()
    return process


def test_it_ends_when_the_server_is_gone(tmp_path):
    process = _worker(tmp_path)
    process.stdout.readline()
    process.stdin.close()
    assert process.wait(timeout=PATIENCE) != 0
    process.stdout.close()


def test_an_unexpected_failure_tells_the_place_and_nothing_of_the_files(tmp_path):
    process = _worker(tmp_path, outcome=str(tmp_path / "secret-missing" / "x"))
    *_, last = process.stdout.read().splitlines()
    process.wait(timeout=PATIENCE)
    process.stdin.close()
    process.stdout.close()
    message = json.loads(last)["errors"]["form"]
    assert "FileNotFoundError" in message
    assert "secret" not in message


def test_the_process_knows_nothing_of_our_environment(serve, monkeypatch):
    monkeypatch.setenv("PRIORI_TEST_SECRET", "hush")
    code = "print(json.dumps({'errors': {'form': ' '.join(sorted(os.environ))}}), flush=True); time.sleep(5)"
    visitor = serve(worker_that(code)).visitor()
    status = visitor.wait(visitor.send().json()["job"])
    assert "TMPDIR" in status["errors"]["form"]
    assert "PRIORI_TEST_SECRET" not in status["errors"]["form"]


def test_a_stopped_process_is_ended_too(serve):
    code = "print(json.dumps({'stage': str(os.getpid())}), flush=True); os.kill(os.getpid(), 19)"
    visitor = serve(worker_that(code)).visitor()
    job = visitor.send().json()["job"]
    process = int(visitor.wait(job, lambda status: bool(status["stage"]))["stage"])
    time.sleep(0.05)
    assert visitor.post(f"/jobs/{job}/cancel").status_code == 200
    assert gone(process)


def test_exchanged_sets_are_noticed_by_their_sizes():
    small, large = (small_studies.scores(2.0, 0, negatives=size) for size in (50, 80))
    right, wrong = System("A", small, large), System("B", large, small)
    (text,) = exchanged([right, wrong]).values()
    assert list(exchanged([right, wrong, right])) == [1]
    assert list(exchanged([wrong, right, right])) == [0]
    assert text.endswith("exchange the two files")
    assert "of A " in text
    assert exchanged([right, right]) == {}
    assert exchanged([System("A", small, small), System("B", small, small)]) == {}
    assert exchanged([wrong]) == {}
