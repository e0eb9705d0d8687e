"""Attacks as they stand in files: a third label, a column of types, bob's real identity."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import priori
from priori.readers import input_file
from priori.readers import text as text_parser

THREE = "score,label,kind\n0.1,nontarget,bonafide\n0.9,target,bonafide\n0.5,spoof,A01\n0.6,spoof,A07\n"


def read(text: str, **settings: Any) -> priori.Scores:
    return priori.read(io.BytesIO(text.encode()), source="file.csv", **settings)


def test_a_third_label_marks_attacks() -> None:
    scores = read(THREE)
    assert (scores.n_attacks, scores.n_negatives, scores.n_positives) == (2, 3, 1)
    assert scores.attacks.tolist() == ["", "spoof", "spoof"]
    assert "2 of the negatives attacks" in repr(scores)


def test_a_column_says_the_type() -> None:
    lines: list[str] = []
    scores = read(THREE, columns={"attack": "kind"}, announce=lines.append)
    assert scores.attacks.tolist() == ["", "A01", "A07"]
    assert lines == ["file.csv: CSV table, 1 positive and 3 negative trials (2 attacks of 2 types)"]


def test_a_column_alone_tells_attacks_from_impostors() -> None:
    text = "score,label,kind\n0.1,0,-\n0.9,1,real\n0.5,0,real\n0.6,0,mask\n"
    scores = read(text, columns={"attack": "kind"})
    assert scores.attacks.tolist() == ["", "", "mask"]


def test_an_empty_type_is_no_attack(tmp_path: Path) -> None:
    text = "score,label,kind\n0.1,0,\n0.9,1,\n0.6,0,mask\n"
    assert read(text, columns={"attack": "kind"}).attacks.tolist() == ["", "mask"]
    path = tmp_path / "few.csv"
    path.write_text(text)
    with patch.object(input_file, "SMALL", 0), patch.object(text_parser, "rows", side_effect=AssertionError):
        assert priori.read(path, columns={"attack": "kind"}).attacks.tolist() == ["", "mask"]
    assert [*priori.scan(path, columns={"attack": "kind"}).load().attacks] == ["", "mask"]
    pd.read_csv(path).to_parquet(tmp_path / "few.parquet")
    assert priori.read(tmp_path / "few.parquet", columns={"attack": "kind"}).attacks.tolist() == ["", "mask"]
    path.write_text("score,user,probe_user,kind\n0.1,a,b,\n0.9,a,a,\n0.6,a,b,mask\n0.6,,b,mask\n")
    with pytest.raises(priori.InputError, match=r"few\.csv:5: no user; the field is empty"):
        priori.read(path, columns={"attack": "kind"})


def test_other_labels_are_named() -> None:
    text = "c 0.9\ni 0.1\nreplay 0.5\nmask 0.6\n"
    scores = read(text, pos_label="c", attack_label=["replay", "mask"])
    assert scores.attacks.tolist() == ["", "replay", "mask"]
    with pytest.raises(priori.InputError, match="the attack label 'print' does not occur"):
        read(text, pos_label="c", attack_label="print")
    with pytest.raises(priori.InputError, match="4 different labels"):
        read(text)
    assert read("target 0.9\nspoof 0.1\n", attack_label="spoof").n_attacks == 1


def test_two_labels_are_two_classes() -> None:
    assert read("bonafide 0.9\nspoof 0.1\n").n_attacks == 0


def test_the_real_identity_of_bob() -> None:
    text = "u1 u1 p1 0.9\nu1 u2 p2 0.1\nu1 attack/mask p3 0.5\nu2 attack p4 0.6\nu2 u2 p5 0.8\n"
    scores = read(text)
    assert scores.attacks.tolist() == ["", "mask", "attack"]
    assert scores.users is not None
    assert scores.negative.probe_user is not None
    assert scores.users.values[scores.negative.probe_user].tolist() == ["u2", "u1", "u2"]
    assert read(text, attack_label="nothing").n_attacks == 0
    five = "u1 m1 u1 p1 0.9\nu1 m1 u2 p2 0.1\nu1 m1 spoof/print p3 0.5\n"
    assert read(five).attacks.tolist() == ["", "print"]


def test_a_column_tells_attacks_where_the_real_identity_tells_the_classes() -> None:
    text = "user,probe_user,kind,score\nu1,u1,-,0.9\nu1,u2,-,0.1\nu1,u2,mask,0.5\nu2,u2,-,0.8\n"
    scores = read(text, columns={"attack": "kind"})
    assert (scores.n_positives, scores.attacks.tolist()) == (2, ["", "mask"])
    marked = text.replace("u1,u2,mask", "u1,attack/print,mask")
    assert read(marked, columns={"attack": "kind"}).attacks.tolist() == ["", "mask"]


def test_frames_and_tables_keep_types() -> None:
    import pandas as pd

    frame = pd.DataFrame({"score": [0.1, 0.9, 0.5], "label": [0, 1, 0], "kind": [None, None, "mask"]})
    assert priori.Scores.from_frame(frame, columns={"attack": "kind"}).attacks.tolist() == ["", "mask"]
    rows = "".join(f"A,{part},{row}\n" for part in ("dev", "eval") for row in THREE.splitlines()[1:])
    sets = priori.read_table(
        io.BytesIO(f"system,set,score,label,kind\n{rows}".encode()),
        systems="system",
        split=("set", "dev", "eval"),
        columns={"attack": "kind"},
        source="all.csv",
    )
    assert [each.attacks.tolist() for each in sets["A"]] == [["", "A01", "A07"]] * 2
    assert priori.scan(frame, columns={"attack": "kind"}).load().attacks.tolist() == ["", "mask"]


def test_parts_keep_types() -> None:
    scores = priori.Scores.from_predictions(
        ["client", "impostor", "attack", "client", "impostor", "attack"],
        np.arange(6.0),
        dataset=list("aaabbb"),
        attack=["", "", "mask", "", "", "video"],
    )
    assert [part.attacks.tolist() for part in scores.by("dataset").values()] == [["", "mask"], ["", "video"]]
    with pytest.raises(priori.InputError, match="2 values for 6 scores"):
        priori.Scores.from_predictions([0, 1, 0, 1, 0, 1], np.arange(6.0), attack=["a", "b"])
