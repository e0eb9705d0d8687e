"""The same four trials as JSON lines, and CSV with decimal commas: read and scanned, they are the CSV's."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import priori
from priori import InputError, Scores
from reading import CSV, SIMPLE, Write, both, names, trials

ROWS = list(csv.DictReader(io.StringIO(CSV)))
JSON_LINES = "".join(json.dumps({**row, "score": float(row["score"]), "more": [1]}) + "\n" for row in ROWS)
COMMAS = CSV.replace(",", ";").replace(".", ",")


def _files(write: Write) -> dict[str, Path]:
    return {
        "JSON lines": write("dev.jsonl", JSON_LINES),
        "gzip": write("dev.jsonl.gz", JSON_LINES),
        "decimal commas": write("dev.csv", COMMAS),
        "tabs": write("dev.tsv", COMMAS.replace(";", "\t")),
    }


def test_every_format_says_the_same(write: Write, parser: str) -> None:
    for kind, path in _files(write).items():
        scores = priori.read(path)
        assert both(scores) == SIMPLE, kind
        assert names(scores) == ["007", "8", "7", "8"], kind
        assert trials(scores) == ["t1", "t3", "t2", "t4"], kind


def test_every_format_is_scanned(write: Write) -> None:
    for kind, path in _files(write).items():
        with priori.scan(path, engine="duckdb") as scanned:
            assert both(scanned.load()) == SIMPLE, kind


def test_a_table_of_systems_in_each_format(write: Write) -> None:
    table = "system;set;label;score\n" + "".join(
        f"{system};{part};{label};{score}\n"
        for system in "AB"
        for part in ("dev", "test")
        for label, score in ((0, "0,25"), (1, "0,5"), (0, "-1,5"), (1, "2"))
    )
    lines = [
        dict(row, score=float(row["score"].replace(",", ".")))
        for row in csv.DictReader(io.StringIO(table), delimiter=";")
    ]
    for path in (write("all.csv", table), write("all.jsonl", "".join(json.dumps(line) + "\n" for line in lines))):
        sets = priori.read_table(path, systems="system", split=("set", "dev", "test"))
        assert [both(scores) for pair in sets.values() for scores in pair] == [SIMPLE] * 4


def test_json_null_and_a_missing_key(write: Write, parser: str) -> None:
    path = write(
        "dev.jsonl",
        '{"label": true, "score": 1}\n\n{"score": null, "label": false}\n{"label": false}\n'
        '{"label": false, "score": -Infinity}\n',
    )
    assert both(priori.read(path, nan="drop")) == ([-np.inf], [1.0])
    with pytest.raises(InputError, match=r"2 scores are NaN \(the first on line 3\)"):
        priori.read(path)


def test_which_label_is_positive_is_said(write: Write) -> None:
    lines: list[str] = []
    scores = priori.read(write("dev.csv", "label,score\nHam,1\nSpam,2\nham,0\n"), announce=lines.append)
    assert both(scores) == ([1.0, 0.0], [2.0])
    assert lines == ["dev.csv: CSV table, 1 positive and 2 negative trials, positive label Spam"]


def test_a_column_of_an_array() -> None:
    column = np.array([[0.25], [0.5], [-1.5], [2.0]])
    scores = Scores.from_predictions(
        np.array([[0], [1], [0], [1]]), column, user=np.array([["a"], ["b"], ["c"], ["d"]])
    )
    assert both(scores) == SIMPLE
    assert both(Scores.from_arrays(column[::2], column[1::2])) == SIMPLE
    with pytest.raises(InputError, match="not an array of shape"):
        Scores.from_arrays(column.reshape(2, 2), column)
