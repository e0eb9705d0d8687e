"""``priori coverage`` as a person meets it."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from priori.studies.simulation import systems

SMALL = ["--train-users", "10", "--test-users", "20", "--resamples", "10,20", "--fixed", "5", "--points", "11"]


@pytest.fixture
def files(tmp_path):
    """A development and a test file of one system, with 30 users each."""
    paths = []
    for name, scores in zip(("dev", "test"), systems(1, 30, 4, 10, rng=2)[0], strict=True):
        lines = ["label,score,user"]
        for label, trials in ((0, scores.negative), (1, scores.positive)):
            users = scores.users.values[trials.user]
            lines += [f"{label},{score},{user}" for score, user in zip(trials.score, users, strict=True)]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def test_simulated_systems_in_a_table(run):
    code, out, err = run("coverage", "--simulate", "--systems", 2, "--users", 30, "--impostor", 10, *SMALL)
    assert (code, err) == (0, "")
    assert out.startswith("Coverage of the curve of 20 unseen users by bands from 10\n")
    assert "prediction" in out
    assert "conjecture (14)" in out


def test_files_as_csv_and_json_agree_and_hold_every_row(run, files, tmp_path):
    arguments = ["coverage", "--system", "A", *files, *SMALL, "--repeats", 2]
    code, out, _ = run(*arguments, "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["bootstrap", "U", "S", "coverage", "standard_error", "width"]
    assert [row["bootstrap"] for row in rows].count("joint") == 4
    code, _, _ = run(*arguments, "--format", "json", "-o", tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert found["experiments"] == 2
    assert found["train_users"] == 10
    assert found["coverage"] == pytest.approx([float(row["coverage"]) for row in rows])
    assert np.all(np.diff(found["conjecture"]["widths"]) > 0)


def test_a_figure_is_drawn(run, files, tmp_path):
    target = tmp_path / "coverage.svg"
    code, _, err = run("coverage", "--system", "A", *files, *SMALL, "--plot", target)
    assert code == 0
    assert f"wrote {target}" in err
    assert target.read_text(encoding="utf-8").startswith("<?xml")
    code, _, err = run("coverage", "--simulate", "--plot", "figure.xlsx")
    assert code == 2
    assert "name the figure .svg" in err


def test_one_bootstrap_can_be_asked_for(run, files):
    code, out, _ = run("coverage", "--system", "A", *files, *SMALL, "--bootstraps", "user", "--format", "csv")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["user", "user"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give score files (--system NAME DEV TEST) or --simulate"),
        (["--simulate", "--users", "50"], "has 50 users, and 93 are needed"),
        (["--simulate", "--bootstraps", "jackknife"], "unknown bootstrap 'jackknife'; choose one of: sample, user"),
        (["--simulate", "--resamples", "many"], "--resamples 'many': write whole numbers"),
        (["--simulate", "--level", "95"], "95 % is 0.95"),
        (["--simulate", "--criterion", "best"], "unknown criterion"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(run, arguments, message):
    code, out, err = run("coverage", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_files_and_simulated_systems_do_not_mix(run, files):
    code, _, err = run("coverage", "--system", "A", *files, "--users", 50)
    assert code == 2
    assert "--users goes with --simulate" in err
    code, _, err = run("coverage", "--system", "A", *files, "--simulate")
    assert code == 2
    assert "one of the two" in err


def test_files_without_users_are_said(run, tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("label,score\n0,0.1\n1,0.9\n0,0.3\n1,0.7\n", encoding="utf-8")
    code, _, err = run("coverage", "--system", "A", path, path)
    assert code == 2
    assert "read a user column" in err
