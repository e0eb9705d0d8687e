"""One grammar for giving data: whatever names systems goes with whatever divides them, and with --where."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import priori
from priori.cli import COMMANDS, cli

#: How one system is named, all its trials in one place, and how they can be divided.
NAMED = {
    "scores": ("--scores", "A", "a.csv"),
    "file": ("a.csv",),
    "long": ("--table", "long.csv", "--systems-in", "system", "--where", "system=A"),
    "long file": ("long.csv", "--systems-in", "system", "--where", "system=A"),
    "wide": ("--table", "wide.csv", "--systems-columns", "A"),
}
DIVIDED = {
    "column": ("--split", "set=dev:eval"),
    "share": ("--split", "30/70", "--split-seed", "3"),
    "date": ("--split", "day=2024-01-16", "--mixed-users"),
    "folds": ("--folds", "3"),
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred trials of two systems: in a file each, in a long and a wide table, and divided into files."""
    monkeypatch.chdir(tmp_path)
    rng, lines = np.random.default_rng(7), []
    for row in range(100):
        part = "dev" if row % 3 else "eval"
        a, b = (row % 2 + rng.normal(size=2)).round(4).tolist()
        lines.append((part, row % 2, f"u{row % 10}", f"2024-01-{1 + row % 30:02}", "fm"[row % 7 > 3], f"t{row}", a, b))
    header = "set,label,user,day,sex,trial"
    text = [",".join(map(str, line[:6])) for line in lines]
    Path("wide.csv").write_text("\n".join([f"{header},A,B", *(",".join(map(str, line)) for line in lines)]))
    by_system = {
        name: [f"{row},{line[6 + n]}" for row, line in zip(text, lines, strict=True)] for n, name in enumerate("AB")
    }
    for name, rows in by_system.items():
        Path(f"{name.lower()}.csv").write_text("\n".join([f"{header},score", *rows]))
        for part in ("dev", "eval"):
            kept = [row for row in rows if row.startswith(part)]
            Path(f"{name.lower()}-{part}.csv").write_text("\n".join([f"{header},score", *kept]))
    rows = [f"{name},{row}" for name, own in by_system.items() for row in own]
    Path("long.csv").write_text("\n".join([f"system,{header},score", *rows]))


def ask(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(cli, words)
    return done.exit_code, done.stdout, str(done.exception or "") + done.stderr


def values(*words: str) -> list[float]:
    code, out, err = ask("epc", *words, "--alpha", "0.3,0.5", "--json")
    assert code == 0, err
    (system,) = json.loads(out)["systems"]
    return system["value"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("how", DIVIDED)
def test_the_same_trials_give_the_same_numbers_however_they_are_named(how: str) -> None:
    for where in ((), ("--where", "sex=f")):
        found = {name: values(*words, *DIVIDED[how], *where) for name, words in NAMED.items()}
        assert len({*map(tuple, found.values())}) == 1, found
    scores = priori.read("a.csv", columns={"time": "day"})
    by_python = {
        "column": lambda: priori.epc(priori.read("a-dev.csv"), priori.read("a-eval.csv"), alpha=[0.3, 0.5]),
        "share": lambda: priori.epc(*scores.split(0.3, rng=3), alpha=[0.3, 0.5]),
        "date": lambda: priori.epc(*scores.split(before="2024-01-16", together=False), alpha=[0.3, 0.5]),
        "folds": lambda: priori.cross_epc(scores, folds=3, alpha=[0.3, 0.5]),
    }
    assert values(*NAMED["file"], *DIVIDED[how]) == by_python[how]().value.tolist()


@pytest.mark.parametrize("command", ["epc", "compare", "rank", "ztest"])
def test_systems_come_in_the_order_of_the_table_by_every_engine(command: str) -> None:
    header, *rows = Path("long.csv").read_text().splitlines()
    Path("turned.csv").write_text("\n".join([header, *reversed(rows)]))
    table = ("--table", "turned.csv", "--systems-in", "system", "--split", "set=dev:eval", "--format", "csv")
    said = [ask(command, *table, "--engine", engine) for engine in ("memory", "duckdb")]
    assert [code for code, _, _ in said] == [0, 0], said[1]
    assert said[0][1] == said[1][1]
    if command != "rank":  # the best comes first there
        assert re.findall(r"\b[AB]\b", said[0][1])[:1] in (["B"], [])


@pytest.mark.parametrize("command", ["epc", "compare"])
def test_a_table_gives_what_its_files_give(command: str) -> None:
    quick = ("--format", "csv", "--points", "5")
    files = ask(
        command,
        *(word for name in "ab" for word in ("--system", name.upper(), f"{name}-dev.csv", f"{name}-eval.csv")),
        *quick,
    )[1]
    tables = [("long.csv", "--systems-in", "system"), ("wide.csv", "--systems-columns", "A,B")]
    for table in tables:
        for engine in ("memory", "duckdb"):
            words = ("--table", *table, "--split", "set=dev:eval", *quick, "--engine", engine)
            assert ask(command, *words)[1] == files != "", table


def test_a_ranking_and_its_figure() -> None:
    table = ("--table", "long.csv", "--systems-in", "system", "--split", "set=dev:eval")
    code, out, err = ask("rank", *table, "--resamples", "200", "--plot", "slopes.svg")
    assert (code, "Kendall's tau" in out) == (0, True), err
    assert Path("slopes.svg").stat().st_size > 1000


def test_a_page_of_many_systems() -> None:
    rows = [
        f"s{system},{part},{row % 2},{row % 2 + (row * (system + 3)) % 17 / 8}"
        for system in range(10)
        for part in ("dev", "eval")
        for row in range(40)
    ]
    Path("all.csv").write_text("\n".join(["system,set,label,score", *rows]))
    table = ("--table", "all.csv", "--systems-in", "system", "--split", "set=dev:eval")
    code, out, err = ask("report", *table, "--resamples", "50", "--points", "3", "-o", "many.html")
    assert (code, "of 10 systems" in out) == (0, True), err
    page = Path("many.html").read_text()
    assert "<title>10 systems" in page
    assert 'id="ranking-title">All' in page


@pytest.mark.parametrize("columns", [("A:score=A", "B:score=B"), ("B:score=B", "score=A")])
def test_systems_in_one_file_have_columns_of_their_own(columns: tuple[str, ...]) -> None:
    """The system's own column goes before that of all systems."""
    rest = ("--split", "50/50", "--alpha", "0.5", "--format", "csv")
    named = [word for column in columns for word in ("--column", column)]
    apart = ask("epc", "--scores", "A", "a.csv", "--scores", "B", "b.csv", *rest)
    together = ask("epc", "--scores", "A", "wide.csv", "--scores", "B", "wide.csv", *rest, *named)
    assert (together[0], together[1]) == (apart[0], apart[1]) == (0, apart[1])


def test_two_files_with_some_of_their_rows() -> None:
    two = ("a-dev.csv", "a-eval.csv")
    assert values(*two) == values("--system", "A", *two) == values(*NAMED["wide"], *DIVIDED["column"])
    some = values(*two, "--where", "sex=f")
    assert some == values(*NAMED["scores"], *DIVIDED["column"], "--where", "sex=f") != values(*two)
    assert values(*two, "--where", "sex=f", "--engine", "duckdb") == some
    _, out, _ = ask("epc", *two, "--json")
    assert json.loads(out)["systems"][0]["name"] == "a"


def test_a_value_that_only_one_of_two_files_has() -> None:
    """An attack may be new in the test set, whose threshold is what is to be judged."""
    two = ("a-dev.csv", "a-eval.csv")
    code, out, err = ask("epc", *two, "--where", "set=eval", "--alpha", "0.3,0.5", "--json")
    assert (code, json.loads(out)["systems"][0]["value"]) == (0, values(*two)), err
    assert "a-dev.csv: has no set = eval; its rows are kept, whatever their set" in err
    code, _, err = ask("epc", *two, "--where", "set=evil")
    assert (code, "no row has set = 'evil'; its values are eval" in err) == (1, True), err


def test_a_command_about_one_set_takes_what_names_a_system() -> None:
    expected = priori.choose_threshold(priori.read("a-dev.csv"), alpha=0.5)
    for words in (("a-dev.csv",), *((*words, "--split", "set=dev:eval") for words in NAMED.values())):
        code, out, err = ask("threshold", *words, "--json")
        assert code == 0, err
        assert json.loads(out)["threshold"] == [expected]
    _, out, _ = ask("threshold", "--scores", "A", "a.csv", "--where", "set=dev", "--json")
    assert json.loads(out)["threshold"] == [expected]
    counted = priori.count(priori.read("a-eval.csv"), 0.5)
    _, out, _ = ask("rates", *NAMED["wide"], "--split", "set=dev:eval", "--threshold", "0.5", "--json")
    assert json.loads(out)["far"] == [pytest.approx(float(counted.fp / (counted.fp + counted.tn)))]
    code, _, err = ask("threshold", "--table", "wide.csv", "--systems-columns", "A,B", "--split", "set=dev:eval")
    assert (code, "one system at a time" in err) == (1, True)


def test_a_table_seen_a_posteriori() -> None:
    code, out, err = ask("roc", "--table", "wide.csv", "--systems-columns", "A,B", "--json")
    assert code == 0, err
    first, _ = json.loads(out)["systems"]
    assert first["auc"] == pytest.approx(priori.roc(priori.read("a.csv")).auc)


def test_a_column_can_be_left_out() -> None:
    text = Path("a.csv").read_text()
    Path("a.csv").write_text(text.replace(",u1,", ",,"))
    code, _, err = ask("epc", "a.csv", "--split", "50/50")
    assert (code, "no user; the field is empty, fill it in, or ignore the column" in err) == (1, True)
    code, _, err = ask("epc", "a.csv", "--split", "50/50", "--column", "user=")
    assert (code, "users are not known" in err) == (0, True)


def test_what_rows_outside_the_filter_hold_is_not_read() -> None:
    words = (*NAMED["long"], "--split", "day=2024-01-16", "--mixed-users", "--where", "set=dev,eval")
    expected = values(*words)
    with Path("long.csv").open("a") as file:
        file.write("\nA,broken,,,no day,f,,")
    assert values(*words) == expected


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_systems_outside_the_split_are_left_out(engine: str) -> None:
    with Path("long.csv").open("a") as file:
        file.write("\nC,dev,0,u1,2024-01-01,f,t,0.5\nC,dev,1,u1,2024-01-01,f,s,0.7\nD,old,1,u1,2024-01-01,f,t,nan")
    words = ("epc", "--table", "long.csv", "--systems-in", "system", "--split", "set=dev:eval", "--json")
    code, out, err = ask(*words, "--engine", engine)
    assert code == 0, err
    assert [system["name"] for system in json.loads(out)["systems"]] == ["A", "B"]
    assert "left out, no rows of set=eval: C" in err


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_systems_that_lack_trials_are_left_out_of_a_ranking(engine: str) -> None:
    rows = [
        f"{system},{part},{label},{number},{(number * 7 + label * 3 + len(system) * number) % 11}"
        for system in ("A", "BB", "CCC")
        for part in ("dev", "eval")
        for label in (0, 1)
        for number in range(30 - 4 * (system == "A" and part == "eval"))
    ]
    Path("prompts.csv").write_text("\n".join(["system,set,label,trial,score", *rows, ""]))
    words = ("rank", "--table", "prompts.csv", "--systems-in", "system", "--split", "set=dev:eval", "--json")
    code, out, err = ask(*words, "--resamples", "100", "--engine", engine)
    assert code == 0, err
    assert set(json.loads(out)["system"]) == {"BB", "CCC"}
    assert "left out, other numbers of trials than the 2 systems compared: A" in err


def test_a_command_lists_folds_where_it_can_judge_them() -> None:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        listed = {param.name for param in command.params}
        takes_systems = {"system", "scores", "table"} <= listed
        assert takes_systems == ({"split", "where"} <= listed), name
        if "folds" in listed:
            own = {"check": "--max hter=0.9", "plan": "--width 0.2"}
            two = ("--scores", "A", "a.csv", "--scores", "B", "b.csv", "--folds", "2")
            code, _, err = ask(name, *two, *own.get(name, "").split())
            assert code == 0, (name, err)
