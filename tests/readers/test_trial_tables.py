"""One table of many systems, long or wide, is what its files would be one by one."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest

import priori
from priori.base.errors import InputError, OptionError

SYSTEMS = ("B", "A")


@pytest.fixture
def rows() -> list[dict[str, object]]:
    rng = np.random.default_rng(3)
    return [
        {"set": part, "attack": attack, "label": label, "user": f"u{user}", "trial": f"{part}{user}{label}{attack}"}
        | {name: round(float(rng.normal(2 * label)), 3) for name in SYSTEMS}
        for part in ("dev", "test", "test2")
        for user in range(4)
        for label, attack in ((1, "genuine"), (0, "mask"), (0, "replay"))
    ]


def _csv(rows: list[dict[str, object]]) -> bytes:
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    return "\n".join(lines).encode()


def _long(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    kept = ("set", "attack", "label", "user", "trial")
    return [
        {"system": name} | {key: row[key] for key in kept} | {"score": row[name]} for name in SYSTEMS for row in rows
    ]


def _expected(rows: list[dict[str, object]], system: str, part: str, attacks: set[str]) -> tuple[object, ...]:
    chosen = [row for row in rows if row["set"] == part and row["attack"] in attacks]
    classes = [[row for row in chosen if row["label"] == label] for label in (0, 1)]
    return tuple((row[system], row["user"], row["trial"]) for each in classes for row in each)


def _found(scores: priori.Scores) -> tuple[object, ...]:
    assert scores.users is not None
    return tuple(
        (score, scores.users.values[user], trial)
        for trials in (scores.negative, scores.positive)
        for score, user, trial in zip(trials.score.tolist(), trials.user, trials.trial, strict=True)
    )


@pytest.mark.parametrize("shape", ["long", "wide", "long large", "wide large", "long parquet", "wide parquet"])
def test_a_table_is_read_as_its_parts(
    shape: str, rows: list[dict[str, object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _long(rows) if shape.startswith("long") else rows
    path = tmp_path / "all.csv"
    path.write_bytes(_csv(table))
    if "large" in shape:
        monkeypatch.setattr("priori.readers.input_file.SMALL", 1)
    if "parquet" in shape:
        import duckdb

        target = tmp_path / "all.parquet"
        duckdb.sql(f"COPY (FROM '{path}') TO '{target}'")
        path = target
    sets = priori.read_table(
        path,
        systems="system" if shape.startswith("long") else SYSTEMS,
        split=("set", "dev", "test2"),
        where={"attack": ["genuine", "replay"]},
    )
    assert tuple(sets) == SYSTEMS
    for name, (dev, test) in sets.items():
        assert _found(dev) == _expected(rows, name, "dev", {"genuine", "replay"})
        assert _found(test) == _expected(rows, name, "test2", {"genuine", "replay"})


def test_only_the_labels_that_are_kept_count() -> None:
    lines = [b"system,set,label,score"]
    lines += [
        f"A,{part},{label},{n}".encode() for part in "de" for n, label in enumerate(("target", "nontarget", "spoof"))
    ]
    table = gzip.compress(b"\n".join(lines))
    sets = priori.read_table(
        io.BytesIO(table), systems="system", split=("set", "d", "e"), where={"label": ["target", "nontarget"]}
    )
    assert [len(scores) for scores in sets["A"]] == [2, 2]


def test_several_values_make_one_set(rows: list[dict[str, object]]) -> None:
    sets = priori.read_table(io.BytesIO(_csv(rows)), systems=["A"], split=("set", "dev", ["test", "test2"]))
    assert [len(scores) for scores in sets["A"]] == [12, 24]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": ("set", "dev", "eval")}, "no row has set = 'eval'; its values are dev, test, test2"),
        ({"split": ("part", "dev", "test")}, "no column is called 'part'; the columns are system, set,"),
        ({"split": ("set", "dev", "dev")}, "share a value"),
        ({"where": {"attack": "print"}}, "no row has attack = 'print'"),
        ({"where": {"attack": "genuine"}}, "one class only"),
        ({"systems": []}, "systems must name one column"),
        ({"systems": ["score", "score"]}, "columns that differ"),
        ({"systems": ["score"], "columns": {"score": "score"}}, "give systems or a score column"),
        ({"systems": ["user"]}, "is not a number"),
        ({"format": "xls"}, "unknown format 'xls'"),
    ],
)
def test_what_is_wrong_is_said(rows: list[dict[str, object]], options: dict[str, object], message: str) -> None:
    settings = {"systems": "system", "split": ("set", "dev", "test"), **options}
    with pytest.raises((InputError, OptionError), match=message):
        priori.read_table(io.BytesIO(_csv(_long(rows))), source="all.csv", **settings)  # type: ignore[arg-type]


def test_a_system_without_one_of_its_sets_is_named_and_left_out(rows: list[dict[str, object]]) -> None:
    table, lines = [row for row in _long(rows) if row["system"] == "A" or row["set"] != "test"], []
    split = ("set", "dev", "test")
    sets = priori.read_table(io.BytesIO(_csv(table)), systems="system", split=split, announce=lines.append)
    assert [*sets] == ["A"]
    assert "left out, no rows of set=test: B" in lines[0]
    nobody = [row for row in table if row["system"] == "B"] + [{**table[0], "system": "C", "set": "test"}]
    with pytest.raises(InputError, match=r"\(B, set=test\): no rows"):
        priori.read_table(io.BytesIO(_csv(nobody)), systems="system", split=split)


def test_rows_that_nothing_divides(rows: list[dict[str, object]]) -> None:
    for systems, table in (("system", _long(rows)), (SYSTEMS, rows)):
        sets = priori.read_table(io.BytesIO(_csv(table)), systems=systems, split=None)
        assert [*sets] == list(SYSTEMS)
        assert all(dev is test and len(dev) == len(rows) for dev, test in sets.values())


def test_a_missing_score_is_found_in_its_row(rows: list[dict[str, object]]) -> None:
    rows[30]["A"] = "nan"  # the 31st row, in set test2
    with pytest.raises(InputError, match=r"\(A, set=test2\): 1 score is NaN \(the first in row 31 of the table\)"):
        priori.read_table(io.BytesIO(_csv(rows)), systems=SYSTEMS, split=("set", "dev", "test2"))
    assert priori.read_table(io.BytesIO(_csv(rows)), systems=SYSTEMS, split=("set", "dev", "test"))


def test_a_value_that_is_new_in_the_test_set_leaves_the_development_set_whole(rows: list[dict[str, object]]) -> None:
    table = [row for row in rows if (row["set"], row["attack"]) != ("dev", "replay")]
    lines: list[str] = []
    sets = priori.read_table(
        io.BytesIO(_csv(table)),
        systems=["A"],
        split=("set", "dev", "test"),
        where={"attack": ["genuine", "replay"], "user": ["u0", "u1", "u2"]},
        announce=lines.append,
        source="all.csv",
    )
    kept = [row for row in table if row["user"] != "u3"]
    assert _found(sets["A"][0]) == _expected(kept, "A", "dev", {"genuine", "mask"})
    assert _found(sets["A"][1]) == _expected(kept, "A", "test", {"genuine", "replay"})
    assert lines[0] == "all.csv: set=dev has no attack = replay; its rows are kept, whatever their attack"
