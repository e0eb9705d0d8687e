"""The fuzz in small: both readers, the engines and saved results agree; and the checks would notice if they did not."""

from __future__ import annotations

import csv
import random
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from priori.readers import duckdb_parser

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "validation" / "fuzz"))

import fuzzing  # noqa: E402
import measure  # noqa: E402


def test_numbers() -> None:
    rng = random.Random(1)
    with fuzzing.database() as database:
        outcomes = fuzzing.check_numbers(database, [fuzzing.number_text(rng) for _ in range(20_000)])
        assert outcomes["same number"] > 5_000
        with patch.object(duckdb_parser, "odd_score", return_value="false"), pytest.raises(fuzzing.Disagreement):
            fuzzing.check_numbers(database, ["1", "nan(1)"])


def test_text_files(tmp_path: Path) -> None:
    rng, outcomes = random.Random(2), Counter[str]()
    with fuzzing.database() as database:
        for _ in range(300):
            format, data = fuzzing.text_file(rng)
            path = tmp_path / "scores"
            path.write_bytes(data)
            outcomes[fuzzing.check_file(database, path, format)] += 1
    assert outcomes["read alike, as it is"] > 60  # duckdb itself, without the text parser
    assert outcomes["read alike, rewritten"] > 10
    assert outcomes["refused in the same words"] > 30


def test_a_reader_with_rules_of_its_own_is_found_out(tmp_path: Path) -> None:
    path = tmp_path / "scores"
    path.write_bytes(b"0 1\n1 \n1 2\n")
    with fuzzing.database() as database:
        assert fuzzing.check_file(database, path, "two-column") == "refused in the same words"
        with patch.object(duckdb_parser, "count_rows", return_value=3), pytest.raises(fuzzing.Disagreement):
            fuzzing.check_file(database, path, "two-column")


def test_engines_and_saved_results(tmp_path: Path) -> None:
    outcomes = Counter(fuzzing.check_engine(seed, tmp_path) for seed in range(10))
    assert set(outcomes) == {"same curve and counts", "refused by both"}
    assert {fuzzing.check_saved(seed) for seed in range(10)} == {"came back from JSON"}


def test_the_tally_holds_every_kind_of_case() -> None:
    with (ROOT / "validation" / "fuzz" / "tally.csv").open(encoding="utf-8") as file:
        kinds = Counter[str]()
        for row in csv.DictReader(file):
            kinds[row["kind"]] += int(row["cases"])
    assert set(kinds) == set(measure.CASES)
    assert sum(measure.CASES.values()) == 1_000_000
