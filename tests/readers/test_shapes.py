"""Matrices with ids, a file for each class, and tables whose labels are in a key file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import priori
from priori.base.errors import InputError, OptionError
from priori.readers import pair_check

PEOPLE, PROBES = ["anna", "bert", "carl"], ["bert", "anna", "bert", "dora"]
MATRIX = np.arange(12.0).reshape(4, 3)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(delimiter: str, corner: str = "probe", rows: np.ndarray = MATRIX) -> str:
    lines = [delimiter.join([corner, *PEOPLE] if corner else PEOPLE)]
    lines += [delimiter.join([probe, *map(repr, row)]) for probe, row in zip(PROBES, rows.tolist(), strict=True)]
    return "\n".join(lines) + "\n"


def save_matrix(delimiter: str, corner: str) -> str:
    Path("m.csv").write_text(written(delimiter, corner))
    return "m.csv"


@pytest.mark.parametrize("corner", ["probe", ""])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_a_matrix_is_trials_of_probes_against_references(delimiter: str, corner: str) -> None:
    lines: list[str] = []
    scores = priori.read(save_matrix(delimiter, corner), announce=lines.append)
    assert sorted(scores.positives.tolist()) == [1.0, 3.0, 7.0]
    assert sorted(scores.negatives.tolist()) == [0.0, 2.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 11.0]
    assert scores.has_identities
    assert lines == ["m.csv: matrix of scores, 3 positive and 9 negative trials, 3 users"]


def test_a_stored_matrix_is_the_same() -> None:
    np.savez("m.npz", scores=MATRIX, probes=PROBES, references=PEOPLE)
    stored, text = priori.read("m.npz"), priori.read(save_matrix(",", "probe"))
    for name in ("negative", "positive"):
        one, other = getattr(stored, name), getattr(text, name)
        assert one.score.tolist() == other.score.tolist()
        assert [stored.users.values[code] for code in one.user] == [text.users.values[code] for code in other.user]


def test_bad_matrices() -> None:
    np.savez("m.npz", scores=MATRIX, probes=PROBES)
    with pytest.raises(InputError, match=r"without 'references'; save it with numpy.savez"):
        priori.read("m.npz")
    np.savez("m.npz", scores=MATRIX, probes=PROBES, references=PEOPLE[:2])
    with pytest.raises(InputError, match=r"4 probes and 2 references for scores \(4, 3\)"):
        priori.read("m.npz")
    Path("m.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InputError, match="cannot be read as arrays"):
        priori.read("m.npz")
    Path("m.csv").write_text(written(",") + "anna,1.0,2.0\n")
    with pytest.raises(InputError, match=r"m.csv:6: 2 scores for 3 references"):
        priori.read("m.csv")
    Path("m.csv").write_text(written(",") + "anna,1.0,2.0,x\n")
    with pytest.raises(InputError, match=r"m.csv:6: a score is not a number"):
        priori.read("m.csv", format="matrix")
    with pytest.raises(OptionError, match="no label to call positive"):
        priori.read(save_matrix(",", "probe"), pos_label="anna")


@pytest.mark.parametrize(
    ("positive", "negative"),
    [("dev-genuine.txt", "dev-impostor.txt"), ("gen.txt", "imp.txt"), ("a_target.scores", "a_nontarget.scores")],
)
def test_a_file_for_each_class(positive: str, negative: str) -> None:
    Path(positive).write_text("0.9\n0.7\n# comment\n1e0\n")
    Path(negative).write_text("0.1\n0.2\n")
    read = [priori.read(name) for name in (positive, negative)]
    for scores in read:
        assert (scores.positives.tolist(), scores.negatives.tolist()) == ([0.7, 0.9, 1.0], [0.1, 0.2])
    with pytest.raises(InputError, match="the two classes of one set, not development and test"):
        pair_check(*read)
    Path("other-gen.txt").write_text("0.9\n")
    Path("other-imp.txt").write_text("0.1\n")
    pair_check(read[0], priori.read("other-imp.txt"))


def test_a_class_without_the_other() -> None:
    Path("dev-genuine.txt").write_text("0.9\n0.7\n")
    with pytest.raises(InputError, match=r"needs the other beside it: .*dev-impostor.txt"):
        priori.read("dev-genuine.txt")
    Path("plain.txt").write_text("0.9\n0.7\n")
    with pytest.raises(InputError, match="one number in each line and no label"):
        priori.read("plain.txt")


KEY = "filename\tcm-label\tattack\nE2\tspoof\tA1\nE1\tbonafide\t-\nE3\tspoof\tA2\n"


def test_scores_and_their_key_as_in_asvspoof_5() -> None:
    Path("cm.tsv").write_text("filename\tcm-score\nE1\t2.5\nE2\t-1\nE3\t0.5\n")
    Path("key.tsv").write_text(KEY)
    scores = priori.read("cm.tsv", trials="key.tsv")
    assert (scores.positives.tolist(), scores.negatives.tolist()) == ([2.5], [-1.0, 0.5])
    assert scores.positive.trial.tolist() == ["E1"]
    attacked = priori.read("cm.tsv", trials="key.tsv", columns={"attack": "attack"})
    assert attacked.n_attack_types == 2
    # Track 2: two ids, and several scores and labels.
    Path("sasv.tsv").write_text(
        "spk\tfilename\tcm-score\tasv-score\tsasv-score\nS1\tE1\t1\t2\t3\nS2\tE1\t4\t5\t6\nS1\tE2\t7\t8\t9\n"
    )
    Path("key2.tsv").write_text(
        "spk\tfilename\tcm-label\tasv-label\nS1\tE1\tbonafide\ttarget\nS1\tE2\tspoof\tspoof\nS2\tE1\tbonafide\tnontarget\n"
    )
    columns = {"score": "sasv-score", "label": "asv-label"}
    scores = priori.read("sasv.tsv", trials="key2.tsv", columns=columns)
    assert (scores.positives.tolist(), scores.negatives.tolist(), scores.n_attacks) == ([3.0], [6.0, 9.0], 1)
    with pytest.raises(InputError, match="which column is the score"):
        priori.read("sasv.tsv", trials="key2.tsv", columns={"label": "asv-label"})


@pytest.mark.parametrize(
    ("scores", "key", "fault"),
    [
        ("E1\t1\nE2\t2\n", KEY, r"1 trials have no score in cm.tsv: E3"),
        ("E1\t1\nE2\t2\nE3\t3\nE9\t1\n", KEY, r"cm.tsv: 1 trials are not in key.tsv: E9"),
        ("E1\t1\nE1\t2\nE2\t2\nE3\t3\n", KEY, r"cm.tsv: 1 trials have more than one score: E1"),
        ("E1\t1\nE2\t2\nE3\t3\n", f"{KEY}E1\tspoof\tA1\n", r"key.tsv: 1 trials have more than one label: E1"),
    ],
)
def test_scores_and_keys_that_do_not_match(scores: str, key: str, fault: str) -> None:
    Path("cm.tsv").write_text(f"filename\tcm-score\n{scores}")
    Path("key.tsv").write_text(key)
    with pytest.raises(InputError, match=fault):
        priori.read("cm.tsv", trials="key.tsv")


STRAYS = "set,label,user,score\ndev,1,a,2\ndev,0,a,1\ntest,1,b,2\ntest,0,b,1\nold,,,\nold,,c,3\n"


def test_rows_that_are_left_out_may_lack_labels() -> None:
    Path("t.csv").write_text(STRAYS)
    lines: list[str] = []
    how = {"systems": ["score"], "announce": lines.append}
    dev, test = priori.read_table("t.csv", split=("set", "dev", "test"), **how)["score"]
    assert (len(dev), len(test), dev.n_users) == (2, 2, 1)
    assert "t.csv: no label in 2 of the rows that are left out" in lines
    assert "t.csv: no user in 1 of the rows that are left out" in lines
    chosen = priori.read_table("t.csv", split=None, where={"set": ["dev"]}, **how)["score"][0]
    assert len(chosen) == 2
    with pytest.raises(InputError, match=r"t.csv: no label in 2 of the rows to be used \(first: row 5\)"):
        priori.read_table("t.csv", split=("set", "dev", "old"), **how)
    with pytest.raises(InputError, match=r"t.csv:6: no label; the field is empty"):
        priori.read("t.csv")
