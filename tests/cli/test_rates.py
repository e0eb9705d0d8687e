"""``priori rates``: intervals, the words of ISO/IEC 19795-1, groups and users, from files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import priori
from pages import run
from priori.cli import cli
from validation.coverage.simulation import population


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Thirty users with a sex; some scores are missing in the second file."""
    scores = population(30, 9, 29, user_effect_sd=0.5, crossed=True, rng=2)
    rng = np.random.default_rng(0)
    rows, missing = ["score,label,user,probe_user,sex"], ["score,label,user,probe_user,sex"]
    for label, trials in enumerate((scores.negative, scores.positive)):
        assert trials.user is not None
        assert trials.probe_user is not None
        for value, user, probe in zip(trials.score.tolist(), trials.user, trials.probe_user, strict=True):
            rest = f"{label},u{user},u{probe},{'fm'[user % 2]}"
            rows.append(f"{value!r},{rest}")
            missing.append(f"{'nan' if rng.random() < 0.04 else repr(value)},{rest}")
    (tmp_path / "test.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "missing.csv").write_text("\n".join(missing) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(*words: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(run(["rates", *words, "--format", "csv"]))))


def test_rates_have_the_intervals_of_rate_interval(folder: Path) -> None:
    first, second = table("test.csv", "--threshold", "1.2", "--threshold", "2", "--level", "0.9")
    scores = priori.read("test.csv")
    for row, threshold in ((first, 1.2), (second, 2.0)):
        for name, rate in (("far", "far"), ("frr", "frr"), ("fmr", "far")):
            found = priori.rate_interval(scores, threshold, rate=rate, confidence_level=0.9)  # type: ignore[arg-type]
            assert float(row[f"{name}_lower"]) == pytest.approx(found.lower)
            assert float(row[f"{name}_upper"]) == pytest.approx(found.upper)
        assert float(row["tpr_lower"]) == pytest.approx(1 - float(row["frr_upper"]))
    shown = run(["rates", "test.csv", "--threshold", "1.2"])
    assert "(95 % intervals, by user)" in shown
    assert "False match rate" not in shown
    assert "precision_lower" not in first


def test_iso_words_stand_side_by_side_where_scores_are_missing(folder: Path) -> None:
    (row,) = table("missing.csv", "--threshold", "1.2", "--nan", "reject")
    number = {name: float(value) for name, value in row.items()}
    scores = priori.read("missing.csv", nan="reject")
    fta = [float(trials.failed.mean()) for trials in (scores.negative, scores.positive)]  # type: ignore[union-attr]
    assert number["far"] == pytest.approx(number["fmr"] * (1 - fta[0]))
    assert number["frr"] == pytest.approx(fta[1] + number["fnmr"] * (1 - fta[1]))
    assert number["fta"] == pytest.approx(scores.nan_rejected / len(scores))
    shown = run(["rates", "missing.csv", "--threshold", "1.2", "--nan", "reject"])
    lines = [line.split("(")[0].strip() for line in shown.splitlines()]
    at = lines.index("False acceptance rate")
    named = ("acceptance", "rejection", "match", "non-match")
    assert lines[at : at + 5] == [*(f"False {name} rate" for name in named), "Failure-to-acquire rate"]
    assert "FAR = FMR (1 - FTA)" in shown


def test_groups_are_those_of_group_rates(folder: Path) -> None:
    rows = table("test.csv", "--threshold", "1.2", "--by", "sex")
    found = priori.group_rates(priori.read("test.csv", columns={"group": "sex"}), 1.2)
    assert [row["group"] for row in rows] == found.group.tolist()
    assert [float(row["upper"]) for row in rows] == pytest.approx(found.upper.tolist())
    shown = run(["rates", "test.csv", "--threshold", "1.2", "--by", "sex", "--plot", "groups.svg"])
    assert "FAR, gap: " in shown
    assert "Intervals hold for all groups" in shown
    assert (folder / "groups.svg").read_text().startswith("<?xml")
    rates = {row["rate"] for row in table("missing.csv", "--threshold", "1.2", "--by", "sex", "--nan", "reject")}
    assert rates == {"far", "frr", "fmr", "fnmr", "fta", "far+frr", "fmr+fnmr"}
    assert "FAR+FRR, GARBE " in shown
    assert "FAR, worst: " in shown


def test_groups_with_few_users_are_left_out(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((folder / "test.csv").read_text())))
    for row in rows:
        row["sex"] = "x" if row["user"] in ("u0", "u1") else row["sex"]
    with (folder / "few.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    words = ("few.csv", "--threshold", "1.2", "--by", "sex")
    assert {row["group"] for row in table(*words) if row["what"] == "rate"} == {"f", "m", "x"}
    assert {row["group"] for row in table(*words, "--min-users", "10") if row["what"] == "rate"} == {"f", "m"}


def test_groups_are_crossed(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((folder / "test.csv").read_text())))
    for number, row in enumerate(rows):
        row["site"] = ("north", "south")[number % 2]
    with (folder / "crossed.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    words = ("crossed.csv", "--threshold", "1.5", "--by", "sex,site")
    found = [row for row in table(*words) if row["what"] == "rate"]
    assert [row["group"] for row in found[:4]] == ["f, north", "f, south", "m, north", "m, south"]
    for line in found:
        sex, site = line["group"].split(", ")
        label = {"far": "0", "frr": "1"}[line["rate"]]
        scores = [float(row["score"]) for row in rows if (row["sex"], row["site"], row["label"]) == (sex, site, label)]
        wrong = sum((score > 1.5) == (label == "0") for score in scores)
        assert (int(line["errors"]), int(line["trials"])) == (wrong, len(scores))


def test_users_are_those_of_user_rates(folder: Path) -> None:
    told = json.loads(run(["rates", "test.csv", "--threshold", "1.2", "--by", "user", "--json"]))
    found = priori.user_rates(priori.read("test.csv"), 1.2)
    assert told["user"] == found.user.tolist()
    assert told["lower"] == pytest.approx(found.lower.tolist())
    assert [each["role"] for each in told["roles"]] == ["genuine", "claimed", "impostor"]
    shown = run(["rates", "test.csv", "--threshold", "1.2", "--by", "user"])
    assert shown.count("highest lower bound first") == 3
    assert "the user claims to be somebody else: users " in shown


def test_one_user_has_rates_without_interval(folder: Path) -> None:
    (folder / "one.csv").write_text("score,label,user\n0.1,0,a\n0.4,0,a\n0.3,1,a\n0.9,1,a\n")
    shown = run(["rates", "one.csv", "--threshold", "0.35"])
    assert "False acceptance rate (far)            50.00 %\n" in shown


def test_rates_in_money(folder: Path) -> None:
    scores = priori.read("test.csv")
    (row,) = table("test.csv", "--threshold", "1", "--costs", "fn=100,fp=2", "--prior", "0.01")
    far, frr = (scores.negative.score > 1).mean(), (scores.positive.score <= 1).mean()
    assert float(row["cost"]) == pytest.approx(100 * 0.01 * frr + 2 * 0.99 * far)


def test_a_threshold_keeps_its_limit_in_every_group(folder: Path) -> None:
    words = ["threshold", "test.csv", "--criterion", "at-most-far", "--alpha", "0.05"]
    found = json.loads(run([*words, "--by", "sex", "--format", "json"]))
    dev = priori.read("test.csv", columns={"group": "sex"})
    assert found["threshold"] == [priori.group_threshold(dev, limit="0.05")]
    worst = priori.group_rates(dev, found["threshold"][0], rates=["far"]).rows("far", "worst")
    assert worst["value"][0] <= 0.05
    assert found["worst_group"] == [f"{worst['group'][0]} ({100 * worst['value'][0]:.2f} %)"]
    small = CliRunner().invoke(cli, [*words[:-1], "0.001,0.05", "--by", "sex"]).stderr
    assert "groups with so few trials that one error breaks the limit 0.001: " in small
    assert "breaks the limit 0.05" not in small
    assert found["threshold"] > json.loads(run([*words, "--format", "json", "--no-bootstrap"]))["threshold"]
    assert "choose at-most-far or at-most-frr, not wer" in run(["threshold", "test.csv", "--by", "sex"])


def test_the_rate_that_is_limited_stands_beside_the_other_as_it_is_reached(folder: Path) -> None:
    shown = run(["epc", "test.csv", "missing.csv", "--nan", "drop", "--preset", "frte"])
    test, alphas = priori.read("missing.csv", nan="drop"), ["0.001", "0.0001", "0.00001", "0.000001"]
    curve = priori.epc(priori.read("test.csv"), test, criterion="at-most-far", measure="frr", alpha=alphas)
    (row,) = (line.split() for line in shown.splitlines() if ", far " in line)
    assert row[2::2] == [f"{100 * value:.2f}" for value in curve.v1.tolist()]
    assert ", far" not in run(["epc", "test.csv", "missing.csv", "--nan", "drop", "--alpha", "0.1"])


def test_a_column_of_groups_is_named_once(folder: Path) -> None:
    assert "name each column once" in run(["rates", "test.csv", "--threshold", "1", "--by", "sex,sex"])
