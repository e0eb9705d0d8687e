"""One table with all systems on the command line: the same numbers as from its files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from priori.cli import cli

ROWS = [
    ("A", "dev", 0, 0.1),
    ("A", "dev", 1, 0.6),
    ("A", "dev", 0, 0.5),
    ("A", "dev", 1, 0.9),
    ("A", "eval", 0, 0.2),
    ("A", "eval", 1, 0.3),
    ("A", "eval", 0, 0.7),
    ("A", "eval", 1, 0.8),
    ("B", "dev", 0, 1),
    ("B", "dev", 1, 3),
    ("B", "dev", 0, 2),
    ("B", "dev", 1, 4),
    ("B", "eval", 0, 1),
    ("B", "eval", 1, 5),
    ("B", "eval", 0, 3),
    ("B", "eval", 1, 2),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = ["system,set,label,score", *(",".join(map(str, row)) for row in ROWS)]
    Path("all.csv").write_text("\n".join(lines))
    wide = [(*first[1:], second[3]) for first in ROWS[:8] for second in ROWS[8:] if _twins(first, second)]
    Path("wide.csv").write_text("\n".join(["set,label,A,B", *(",".join(map(str, row)) for row in wide)]))
    for name in "AB":
        for part in ("dev", "eval"):
            chosen = [f"{label},{score}" for system, where, label, score in ROWS if (system, where) == (name, part)]
            Path(f"{name}-{part}.csv").write_text("\n".join(["label,score", *chosen]))
    return tmp_path


def _twins(first: tuple[object, ...], second: tuple[object, ...]) -> bool:
    return ROWS.index(second) == ROWS.index(first) + 8  # type: ignore[arg-type]


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, [*arguments, "--format", "csv", "--points", "5"])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("command", ["epc", "compare"])
@pytest.mark.usefixtures("folder")
def test_a_table_gives_what_its_files_give(command: str) -> None:
    files = _run(command, "--system", "A", "A-dev.csv", "A-eval.csv", "--system", "B", "B-dev.csv", "B-eval.csv")
    long = _run(command, "--table", "all.csv", "--systems-in", "system", "--split", "set=dev:eval")
    wide = _run(command, "--table", "wide.csv", "--systems-columns", "A,B", "--split", "set=dev:eval")
    for engine in ("memory", "duckdb"):
        arguments = (command, "--table", "wide.csv", "--systems-columns", "A,B", "--split", "set=dev:eval")
        assert _run(*arguments, "--engine", engine) == wide
    one = _run("epc", "--table", "all.csv", "--systems-in", "system", "--split", "set=dev:eval", "--where", "system=A")
    assert long == wide == files
    assert one == _run("epc", "--system", "A", "A-dev.csv", "A-eval.csv")


@pytest.mark.parametrize("command", ["epc", "compare", "rank", "ztest"])
@pytest.mark.usefixtures("folder")
def test_systems_come_in_the_order_of_the_table_by_every_engine(command: str) -> None:
    rows = [f"{number % 8},{','.join(map(str, row))}" for number, row in enumerate(ROWS)]
    Path("all.csv").write_text("\n".join(["trial,system,set,label,score", *reversed(rows)]))
    words = [command, "--table", "all.csv", "--systems-in", "system", "--split", "set=dev:eval", "--format", "csv"]
    said = [CliRunner().invoke(cli, [*words, "--engine", engine]) for engine in ("memory", "duckdb")]
    assert [result.exit_code for result in said] == [0, 0], said[1].output
    assert said[0].stdout == said[1].stdout
    assert re.findall(r"\b[AB]\b", said[0].stdout)[:1] in (["B"], [])


def test_a_page_of_many_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"s{system},{part},{row % 2},{row % 2 + (row * (system + 3)) % 17 / 8}"
        for system in range(10)
        for part in ("dev", "eval")
        for row in range(40)
    ]
    Path("all.csv").write_text("\n".join(["system,set,label,score", *rows]))
    table = ["--table", "all.csv", "--systems-in", "system", "--split", "set=dev:eval"]
    result = CliRunner().invoke(cli, ["report", *table, "--resamples", "50", "--points", "3", "-o", "many.html"])
    assert result.exit_code == 0, result.output
    assert "of 10 systems" in result.stdout
    page = Path("many.html").read_text()
    assert "<title>10 systems" in page
    assert 'id="ranking-title">All' in page


@pytest.mark.usefixtures("folder")
def test_ranks_as_a_table_of_comma_separated_values() -> None:
    table = ["--table", "all.csv", "--systems-in", "system", "--split", "set=dev:eval"]
    result = CliRunner().invoke(cli, ["rank", *table, "--format", "csv", "--resamples", "200"])
    assert result.exit_code == 0, result.output
    header, *rows = result.stdout.splitlines()
    assert header == "system,value,lower,upper,rank,rank_lower,rank_upper,post_value,post_rank,groups"
    assert {row.split(",")[0] for row in rows} == {"A", "B"}
    shown = CliRunner().invoke(cli, ["rank", *table, "--resamples", "200", "--plot", "slopes.svg"])
    assert "Kendall's tau" in shown.stdout
    assert Path("slopes.svg").stat().st_size > 1000
    assert CliRunner().invoke(cli, ["rank", *table, "--alpha", "0.1,0.5"]).exit_code != 0
