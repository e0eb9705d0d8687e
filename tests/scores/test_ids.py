"""Trial ids that stay text: the same ids, keys and answers as arrays of text give; decoded only when asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest

import priori
from priori.base.arrow_streams import TextPiece
from priori.readers import input_file
from priori.scores import Trials
from priori.scores import ids as module
from priori.scores.ids import BuiltIds, IdBuffer, comparable, decoded, exact_keys, id_keys, joined
from priori.scores.pairing import has_ids, pair, repeated_ids, shared_trials

NAMES = ["a", "probe/12", "é", "12345678", "123456789", "日本語の名前", "b" * 40, "probe/13", "a"]


def text_ids(names: list[str]) -> Any:
    """Put names into one array, in two pieces of which the second does not begin at 0."""
    ids = IdBuffer()
    for part, before in ((names[:3], b""), (names[3:], b"other")):
        encoded = [name.encode() for name in part]
        ends = np.cumsum([len(before), *map(len, encoded)])
        ids.append(TextPiece(np.frombuffer(before + b"".join(encoded) + b"after", dtype=np.uint8), ends))
    return ids.array()


@pytest.mark.parametrize("rows", [1, 2, 100])
@pytest.mark.parametrize("names", [NAMES, [name for name in NAMES if name.isascii()], [*NAMES, "c" * 9000]])
def test_ids_are_what_they_were(monkeypatch: pytest.MonkeyPatch, rows: int, names: list[str]) -> None:
    monkeypatch.setattr(module, "ROWS", rows)
    ids = text_ids(names)
    assert ids.dtype.kind == ("O" if len(names[-1]) > 1000 else "S")
    assert decoded(ids).tolist() == names
    index = np.array([4, 0, 2, 2])
    assert decoded(ids[index]).tolist() == [names[number] for number in index]
    again = text_ids(names[::-1])
    one, two = comparable(ids, again)
    np.testing.assert_array_equal(one == two, [a == b for a, b in zip(names, names[::-1], strict=True)])
    np.testing.assert_array_equal(id_keys(one), id_keys(two)[::-1])
    assert len(set(id_keys(one).tolist())) == len(set(names))
    assert decoded(joined(ids, again[index])).tolist() == names + [names[::-1][number] for number in index]


def test_ids_compare_with_ids_of_other_kinds() -> None:
    one, two = comparable(text_ids(["1", "2", "30", "4"]), np.array([1, 2, 3, 4]))
    assert (one == two).tolist() == [True, True, False, True]
    assert joined(text_ids(["1", "2", "3"]), np.array([4])).tolist() == ["1", "2", "3", "4"]


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("as_text", [True, False])
def test_keys_are_exact_where_they_are_alike_by_chance(
    monkeypatch: pytest.MonkeyPatch, alike: bool, as_text: bool
) -> None:
    """Compared with counting the ids, and pairs of id and data set, in a dictionary."""
    if alike:  # two keys for all ids
        monkeypatch.setattr(module, "_weighed", lambda ids: (np.strings.str_len(ids) % 2).astype(np.uint64))
    rng = np.random.default_rng(4)
    names = [[f"t{number}" for number in rng.integers(0, 300, size)] for size in (150, 200)]
    codes = [rng.integers(0, 3, len(each)).astype(np.int32) for each in names]
    columns = [text_ids(each) if as_text else np.array(each, dtype="U4") for each in names]
    for within in ((), tuple(codes)):
        keys = exact_keys(*columns, within=within)
        listed = [
            list(zip(each, code.tolist(), strict=True)) if within else each
            for each, code in zip(names, codes, strict=True)
        ]
        pairs = set(zip((*listed[0], *listed[1]), np.concatenate(keys).tolist(), strict=True))
        assert len(pairs) == len({each for each, _ in pairs}) == len({key for _, key in pairs})


def test_built_ids_that_repeat_are_none() -> None:
    ids = text_ids(NAMES)
    trials = Trials(np.zeros(len(NAMES)), ids=ids)
    assert trials.has_ids
    built = replace(trials, built_ids=BuiltIds(ids))
    assert not built.has_ids
    assert built.trial is None
    assert built.take(np.arange(8)).trial is None  # which of them repeat elsewhere, nobody knows
    unique = replace(trials, built_ids=BuiltIds(ids[:8])).take(np.arange(8))
    assert unique.trial is not None
    assert unique.trial.tolist() == NAMES[:8]


# -- from files -----------------------------------------------------------------------------------------------------

ROWS = 300_000  # more than one batch, and more than one group of rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write ids in no order, as CSV, as Parquet and as bob's four columns."""
    folder = tmp_path_factory.mktemp("ids")
    columns = f"""
        SELECT i::DOUBLE AS score, i % 7 = 0 AS label, 'u' || i % 50 AS claimed,
               'u' || (i + (i % 3 = 0)::INT) % 50 AS real, 'ü' || (i * 7919) % {ROWS} AS trial
        FROM range({ROWS}) numbers(i)
    """
    with duckdb.connect() as database:
        table = f"(SELECT score, label, trial FROM ({columns}))"
        database.execute(f"COPY {table} TO '{folder / 'ids.csv'}' (FORMAT csv, HEADER)")
        database.execute(f"COPY {table} TO '{folder / 'ids.parquet'}' (FORMAT parquet)")
        bob = f"(SELECT claimed, real, trial, score FROM ({columns}))"
        database.execute(f"COPY {bob} TO '{folder / 'ids.txt'}' (FORMAT csv, HEADER false, DELIM ' ')")
    return folder


@pytest.mark.parametrize("name", ["ids.csv", "ids.parquet", "ids.txt"])
def test_each_score_has_its_id(folder: Path, name: str) -> None:
    with patch("priori.scores.trials.decoded", side_effect=AssertionError("decoded")):
        scores = priori.read(folder / name)
        assert has_ids(scores)
        assert repeated_ids(scores) == 0
        pairing = pair(scores, priori.read(folder / name))
    np.testing.assert_array_equal(pairing.negative, np.arange(pairing.negative.size))
    for trials in (scores.negative, scores.positive):
        number = trials.score.astype(np.int64)
        before = np.strings.add(np.strings.add("u", (number % 50).astype(str)), " ") if name == "ids.txt" else ""
        expected = np.strings.add(before, np.strings.add("ü", (number * 7919 % ROWS).astype(str)))
        assert trials.trial is not None
        np.testing.assert_array_equal(trials.trial, expected)


def test_ids_of_a_large_file_are_those_of_a_small_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [(f"t{i}", rng.integers(2), rng.normal(), f"d{rng.integers(2)}") for i in rng.integers(0, 400, 300)]
    sets = {}
    for part, size in (("dev", 300), ("test", 200)):
        path = tmp_path / f"{part}.csv"
        path.write_text("trial,label,score,dataset\n" + "".join("{},{},{},{}\n".format(*row) for row in rows[:size]))
        with patch.object(input_file, "SMALL", 0):
            sets[part] = priori.read(path), priori.read(path)
        sets[part] = sets[part][0], priori.read(path)
    (dev, small_dev), (test, small_test) = sets["dev"], sets["test"]
    assert [each.negative.ids.dtype.kind for each in (dev, small_dev)] == ["S", "U"]  # type: ignore[union-attr]
    within_classes = sum(n - 1 for n in Counter(row[:2] for row in rows).values())
    assert repeated_ids(dev) == repeated_ids(small_dev) == within_classes
    shared = {shared_trials(one, two) for one in (dev, small_dev) for two in (test, small_test)}
    assert len(shared) == 1
    assert shared.pop() > 100
