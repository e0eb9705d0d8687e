"""``priori average`` and ``priori average-epc`` as a person meets them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import priori as library
from priori import Scores
from priori.curves.averaging import METHODS

SHIFTS = {"north": 0.0, "south": 6.0, "west": -6.0}


def write(path, rows):
    path.write_text("label,score,dataset,user,site\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    found = []
    for name, shift in SHIFTS.items():
        for label in (0, 1):
            for index, score in enumerate(rng.normal(2 * label + shift, 1, 30)):
                found.append((label, round(float(score), 6), name, f"u{index % 4}", "ab"[index % 2]))
    return found


@pytest.fixture
def table(tmp_path, rows):
    return write(tmp_path / "scores.csv", rows)


def scores_of(rows):
    label, score, dataset = zip(*(row[:3] for row in rows), strict=True)
    return Scores.from_predictions(label, score, dataset=dataset)


def read_csv(text):
    found = list(csv.reader(io.StringIO(text)))
    return found[0], np.array([[float(cell) for cell in row] for row in found[1:]])


def test_csv_is_the_librarys_curve(run, table, rows):
    code, out, err = run("average", "--method", "vertical", "--by", "dataset", table, "--format", "csv")
    header, numbers = read_csv(out)
    curve = library.average(scores_of(rows))
    assert code == 0
    assert header == ["fpr", "tpr", "lower", "upper"]
    assert np.array_equal(numbers, np.column_stack([curve.fpr, curve.tpr, curve.tpr_lower, curve.tpr_upper]))
    assert "vertical average of 3 data sets: The average true positive rate" in err
    assert "different-scales" not in err


def test_threshold_csv_has_both_axes_and_a_warning_on_stderr(run, table, rows):
    code, out, err = run("average", "--method", "threshold", table, "--format", "csv", "--positions", "exact")
    header, numbers = read_csv(out)
    assert code == 0
    assert header == ["threshold", "fpr", "tpr", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper"]
    curve = library.average(scores_of(rows), method="threshold", positions="exact")
    assert np.array_equal(numbers, np.column_stack([getattr(curve, name) for name in header]))
    assert "warning [different-scales]: scores are on different scales" in err


@pytest.mark.parametrize(
    ("answers", "method"),
    [
        (["--one-threshold"], "threshold"),
        (["--own-thresholds", "--read-along", "fpr"], "vertical"),
        (["--own-thresholds", "--read-along", "tpr"], "horizontal"),
        (["--read-along", "ratio"], "diagonal"),
        (["--own-thresholds", "--read-along", "cost", "--prior", "0.1"], "cost"),
    ],
)
def test_two_questions_choose_the_method(run, table, answers, method):
    code, out, err = run("average", *answers, table, "--format", "json")
    content = json.loads(out)
    assert code == 0
    assert content["method"] == method
    assert content["meaning"] in err
    assert content["datasets"] == sorted(SHIFTS)


@pytest.mark.parametrize("method", ["pooled", "vertical", "horizontal", "diagonal"])
def test_every_other_method_has_the_same_csv_columns(run, table, method):
    assert f"{method} average of 3 ROC curves (a posteriori)" in run("average", "--method", method, table)[1]
    _, out, _ = run("average", "--method", method, table, "--format", "csv")
    header, rows = read_csv(out)
    assert list(header) == ["fpr", "tpr", "lower", "upper"]
    assert np.all(rows[:, 2] <= rows[:, 3])


def test_an_angle_is_given_in_degrees(run, table):
    _, level, _ = run("average", "--method", "horizontal", table, "--format", "csv", "--positions", 11)
    _, turned, _ = run("average", "--method", "angle", "--theta", 90, table, "--format", "csv", "--positions", 11)
    assert np.array_equal(read_csv(level)[1][:, :2], read_csv(turned)[1][:, :2])
    code, _, err = run("average", "--method", "angle", "--theta", 120, table)
    assert code == 2
    assert "between 0" in err


def test_data_sets_from_users_other_columns_and_files(run, table, tmp_path, rows):
    def names(*arguments):
        code, out, err = run("average", "--method", "vertical", *arguments, "--format", "json")
        assert code == 0, err
        return json.loads(out)["datasets"]

    assert names("--by", "user", table) == ["u0", "u1", "u2", "u3"]
    assert names("--by", "site", table) == ["a", "b"]
    files = [write(tmp_path / f"{name}.csv", [row for row in rows if row[2] == name]) for name in SHIFTS]
    assert names(*files) == list(SHIFTS)
    systems = [word for name, file in zip("xyz", files, strict=False) for word in ("--system", name, file, file)]
    assert names(*systems) == list(SHIFTS)
    named, in_order = (
        run("average-epc", *words, "--points", "3", "--format", "csv")[1]
        for words in (systems, [*(word for file in files for word in ("--dev", file)), *files])
    )
    assert named == in_order != ""
    # With a column, one data set may be spread over several files.
    assert names("--by", "site", *files) == ["a", "b"]
    _, one, _ = run("average", "--method", "vertical", "--by", "site", table, "--format", "csv")
    _, three, _ = run("average", "--method", "vertical", "--by", "site", *files, "--format", "csv")
    assert one == three


def test_a_data_set_with_one_class_is_named_or_left_out(run, tmp_path, rows):
    table = write(tmp_path / "scores.csv", [*rows, (1, 0.5, "lone", "u0", "a")])
    code, out, err = run("average", "--method", "vertical", table)
    assert (code, out) == (2, "")
    assert "'lone' (no negative trial)" in err
    code, out, err = run("average", "--method", "vertical", table, "--skip-incomplete", "--format", "json")
    assert code == 0
    assert json.loads(out)["skipped"] == ["lone"]
    assert "left out, one class only: lone" in err


def test_a_file_with_one_class_is_named_or_left_out(run, tmp_path, rows):
    files = [write(tmp_path / f"{name}.csv", [row for row in rows if row[2] == name]) for name in SHIFTS]
    lone = write(tmp_path / "lone.csv", [(1, 0.5, "lone", "u0", "a"), (1, 0.6, "lone", "u0", "a")])
    code, _, err = run("average", "--method", "vertical", *files, lone)
    assert code == 2
    assert "lone.csv" in err
    assert "--skip-incomplete" in err
    code, out, err = run("average", "--method", "vertical", *files, lone, "--skip-incomplete", "--format", "json")
    assert code == 0
    assert json.loads(out)["datasets"] == list(SHIFTS)
    assert "lone.csv" in err


def test_no_file_or_no_column_says_what_to_do(run, tmp_path):
    assert "give the files" in run("average", "--method", "vertical")[2]
    plain = tmp_path / "plain.csv"
    plain.write_text("label,score\n0,1\n1,2\n0,3\n1,4\n")
    code, _, err = run("average", "--method", "vertical", plain)
    assert code == 2
    assert "--by COLUMN" in err
    assert "given twice" in run("average", "--method", "vertical", plain, plain)[2]


def test_the_plot_and_the_output_file_appear(run, table, tmp_path):
    figure, numbers = tmp_path / "average.svg", tmp_path / "average.json"
    options = ("--plot", figure, "-o", numbers)
    code, out, err = run("average --one-threshold --interval normal --positions 51 --json", table, *options)
    assert (code, out) == (0, "")
    assert figure.read_text().startswith("<?xml")
    assert json.loads(numbers.read_text())["interval"] == "normal"
    assert "wrote" in err


def test_average_epc_over_data_sets(run, table, tmp_path, rows):
    code, out, err = run("average-epc", "--dev", table, "--by", "site", table, "--format", "csv", "--points", "5")
    header, numbers = read_csv(out)
    assert code == 0, err
    assert header == ["alpha", "threshold", "v1", "v2", "value", "lower", "upper", "best"]
    sites = [scores_of([row for row in rows if row[4] == site]) for site in "ab"]
    assert np.allclose(numbers[:, 4], library.average_epc(sites, sites, points=5).value)
    assert "to cross-validate one set use priori epc --folds" in run("average-epc", "--by", "site", table)[2]
    code, out, err = run("average-epc", "--dev", table, table, "--by", "dataset", "--one-threshold", "--points", 3)
    assert code == 0
    assert "pooled development scores" in " ".join(out.split())
    assert "[different-scales]" in err
    parts = [write(tmp_path / f"{name}.csv", [row for row in rows if row[2] == name]) for name in SHIFTS]
    given = [item for part in parts for item in ("--dev", part)]
    code, out, _ = run("average-epc", *given, *parts, "--format", "json", "--alpha", "0.5")
    expected = library.average_epc(scores_of(rows), scores_of(rows), alpha=[0.5])
    assert json.loads(out)["value"] == pytest.approx(expected.value.tolist())
    code, _, err = run("average-epc", *given[:2], *parts)
    assert code == 2
    assert "1 --dev files for 3 test files" in err
    figure = tmp_path / "epc.svg"
    assert run("average-epc", *given, *parts, "--plot", figure)[0] == 0
    assert figure.exists()


def test_the_document_has_every_method():
    text = (Path(__file__).parents[2] / "docs" / "averaging.md").read_text(encoding="utf-8")
    assert all(f"| `{method}` |" in text for method in METHODS)
