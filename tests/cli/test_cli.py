"""The command line as a person meets it: real files, a real process, every bad input one line and exit code 2."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import priori
from in_process import run
from priori import Scores

COLUMNS = ["system", "alpha", "threshold", "dev_v1", "dev_v2", "v1", "v2", "value", "best"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems, a development and a test file each."""
    where = tmp_path_factory.mktemp("scores")
    rng = np.random.default_rng(0)
    for name, shift in (("a", 1.5), ("b", 1.2)):
        for role in ("dev", "test"):
            rows = [("score", "label", "user", "trial")]
            for index in range(200):
                label = index % 2
                rows.append((f"{rng.normal(shift * label):.4f}", str(label), f"u{index % 20}", f"t{index}"))
            (where / f"{name}-{role}.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    return where


A = ("--system", "A", "a-dev.csv", "a-test.csv")
B = ("--system", "B", "b-dev.csv", "b-test.csv")


def test_epc_csv(folder: Path) -> None:
    done = run("epc --task authentication --criterion wer --measure hter --points 11 --format csv", *A, *B, cwd=folder)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == COLUMNS
    assert [row["system"] for row in rows] == ["A"] * 11 + ["B"] * 11
    assert [row["alpha"] for row in rows[:11]] == [str(k / 10) for k in range(11)]
    curve = priori.epc(priori.read(folder / "a-dev.csv"), priori.read(folder / "a-test.csv"), points=11)
    assert [float(row["threshold"]) for row in rows[:11]] == curve.threshold.tolist()
    assert [float(row["value"]) for row in rows[:11]] == curve.value.tolist()
    assert "CSV table" in done.stderr


def test_infinite_thresholds_are_inf(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("score,label\n2,0\n1,1\n3,0\n0,1\n")
    done = run("epc", "--system", "X", "x.csv", "x.csv", "--alpha", "0,1", "--format", "csv", cwd=tmp_path)
    assert [row["threshold"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["-inf", "inf"]
    whole = run("epc", "--system", "X", "x.csv", "x.csv", "--alpha", "0,1", "--format", "json", cwd=tmp_path)
    assert json.loads(whole.stdout)["systems"][0]["threshold"] == ["-inf", "inf"]


def test_epc_json_has_settings_areas_and_counts(folder: Path) -> None:
    content = json.loads(run("epc", *A, "--format", "json", cwd=folder).stdout)
    assert content["settings"]["criterion"] == "wer"
    assert content["priori"] == priori.__version__
    (system,) = content["systems"]
    assert len(system["alpha"]) == 101
    assert system["test"]["positives"] == 100
    assert len(system["outcomes"]["fp"]) == 101
    expected = priori.areas(priori.read(folder / "a-dev.csv"), priori.read(folder / "a-test.csv"))
    assert system["areas"]["g"] == expected.g


def test_areas_are_over_the_range_that_was_asked_for(folder: Path) -> None:
    options = ("--range", "0.2", "0.8", "--bootstrap", "sample", "--resamples", "50", "--interval", "percentile")
    (system,) = json.loads(run("epc", *A, *options, "--json", cwd=folder).stdout)["systems"]
    dev, test = (priori.read(folder / f"a-{name}.csv") for name in ("dev", "test"))
    # By hand: the mean of (FAR + FRR)/2 at thresholds whose development FAR is on a fine grid of targets.
    targets = (np.arange(3000) + 0.5) / 3000 * 0.6 + 0.2
    by_hand = float(np.mean(priori.epc(dev, test, criterion="target-v1", alpha=targets.tolist()).value))
    assert system["areas"]["e_v1"] == pytest.approx(by_hand, abs=2e-4)
    assert abs(system["areas"]["e_v1"] - priori.areas(dev, test).e_v1) > 0.01
    assert system["area_bands"]["value"] == [system["areas"][name] for name in ("e_v1", "e_v2", "g")]
    assert (
        "over targets from 0.2 to 0.8 of far" in run("epc", *A, "--range", "0.2", "0.8", "--verbose", cwd=folder).stdout
    )


def test_the_histogram_of_a_difference(folder: Path, tmp_path: Path) -> None:
    options = ("--alpha", "0.3,0.5", "--resamples", "200", "--claim", "deployed", "--histogram", "0.3")
    done = run("compare", *A, *B, *options, "--plot", str(tmp_path / "at.svg"), cwd=folder)
    assert done.returncode == 0, done.stderr
    plain = run("compare", *A, *B, *options[:-2], "--plot", str(tmp_path / "along.svg"), cwd=folder)
    assert plain.returncode == 0, plain.stderr
    labels = [(tmp_path / name).read_text() for name in ("at.svg", "along.svg")]
    assert ["<!-- replicates -->" in text for text in labels] == [True, False]
    assert "add --plot FILE" in run("compare", *A, *B, *options, cwd=folder).stderr


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--exact",),
        ("--range", "0.2", "0.8"),
        ("--preset", "sre05"),
        ("--alpha", "costs:10,1,0.01"),
        ("--task", "retrieval"),
        ("--task", "diagnosis", "--criterion", "target-v1"),
        ("--criterion", "eer"),
    ],
)
def test_epc_table(folder: Path, options: tuple[str, ...]) -> None:
    done = run("epc", *A, *options, "--verbose", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Threshold to deploy" in done.stdout
    assert "e_v1" in done.stdout
    assert "e_v1" not in run("epc", *A, *options, cwd=folder).stdout


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_plots(folder: Path, tmp_path: Path, kind: str) -> None:
    for command in (["epc", *A, *B], ["roc", "--scores", "A", "a-test.csv"], ["det", "--scores", "A", "a-test.csv"]):
        file = tmp_path / f"{command[0]}.{kind}"
        done = run(*command, "--plot", str(file), cwd=folder)
        assert done.returncode == 0, done.stderr
        start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind]
        assert file.read_bytes().startswith(start)


def test_a_threshold_says_how_sure_it_is(folder: Path) -> None:
    asked = ("threshold", "a-dev.csv", "--alpha", "0.5", "--level", "0.9", "--seed", "3")
    chosen = json.loads(run(*asked, "--json", cwd=folder).stdout)
    sure = priori.threshold_interval(priori.read(folder / "a-dev.csv"), alpha=0.5, confidence_level=0.9, rng=3)
    for name in ("new_lower", "new_upper", "best_lower", "best_upper", "good_lower", "good_upper"):
        assert chosen[name] == getattr(sure, name).tolist()
    table = run(*asked, cwd=folder).stdout
    assert f"{sure.new_lower[0]:.4g} to {sure.new_upper[0]:.4g}" in table
    assert "With 90 % confidence" in table
    without = run(*asked, "--no-bootstrap", cwd=folder).stdout
    assert "other sets choose" not in without
    refused = run(*asked, "--no-bootstrap", "--plot", "sure.svg", cwd=folder)
    assert refused.returncode == 2
    assert "these scores give none" in refused.stderr


def test_threshold_and_rates_agree(folder: Path) -> None:
    chosen = json.loads(run("threshold", "a-dev.csv", "--alpha", "0.5", "--format", "json", cwd=folder).stdout)
    threshold = chosen["threshold"][0]
    again = run("rates", "a-dev.csv", "--threshold", repr(threshold), "--format", "json", cwd=folder)
    rates = json.loads(again.stdout)
    assert rates["far"] == chosen["dev_v1"]
    assert rates["frr"] == chosen["dev_v2"]
    assert rates["fp"] == chosen["outcomes"]["fp"]


def test_roc_csv(folder: Path) -> None:
    done = run("roc", "--scores", "A", "a-test.csv", "--format", "csv", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == ["system", "threshold", "fpr", "tpr"]
    assert (rows[0]["fpr"], rows[0]["tpr"], rows[-1]["fpr"], rows[-1]["tpr"]) == ("1.0", "1.0", "0.0", "0.0")


def test_roc_in_other_axes_has_the_points_fixed_in_advance(folder: Path) -> None:
    system = ("--system", "A", "a-dev.csv", "a-test.csv")
    limited = ("--criterion", "at-most-fpr", "--alpha", "0.1", "--json")
    drawn = run("roc", *system, "--axes", "recall-precision", "--bootstrap", "auto", "--format", "csv", cwd=folder)
    assert drawn.stdout.splitlines()[0] == "system,recall,precision,lower,upper"
    done = json.loads(run("roc", *system, "--axes", "recall-precision", *limited, cwd=folder).stdout)
    (one,) = done["systems"]
    curve = json.loads(run("epc", *system, "--measure", "precision", *limited, cwd=folder).stdout)["systems"][0]
    assert one["a_priori"]["threshold"] == curve["threshold"]
    assert one["a_priori"]["precision"] == curve["value"]
    assert curve["dev_v1"][0] <= 0.1
    assert set(one["rates"]) == {"threshold", "recall", "precision"}
    failed = run("roc", *system, "--scores", "B", "b-test.csv", cwd=folder)
    assert (failed.returncode, "as one labelled file each" in failed.stderr) == (2, True)


def test_costs_and_prior(folder: Path) -> None:
    system, costs = ("--system", "A", "a-dev.csv", "a-test.csv"), ("--costs", "fn=20,fp=1", "--prior", "0.1", "--json")
    curve = json.loads(run("epc", *system, *costs, cwd=folder).stdout)["systems"][0]
    assert curve["alpha"] == [pytest.approx(0.9 / 2.9)]
    assert curve["value"][0] == pytest.approx(0.1 * 20 * curve["v2"][0] + 0.9 * curve["v1"][0])
    chosen = json.loads(run("threshold", "a-dev.csv", *costs, cwd=folder).stdout)
    assert chosen["threshold"] == curve["threshold"]
    assert chosen["dev_cost"][0] == pytest.approx(2 * curve["dev_v2"][0] + 0.9 * curve["dev_v1"][0])
    rates = ("rates", "a-test.csv", "--threshold", repr(curve["threshold"][0]), "--prior", "0.1", "--json")
    shown = json.loads(run(*rates, cwd=folder).stdout)
    tpr, far = shown["tpr"][0], shown["far"][0]
    assert shown["precision"][0] == pytest.approx(0.1 * tpr / (0.1 * tpr + 0.9 * far))
    assert shown["npv"][0] == pytest.approx(0.9 * (1 - far) / (0.9 * (1 - far) + 0.1 * (1 - tpr)))


def test_standard_input(folder: Path) -> None:
    text = (folder / "a-dev.csv").read_text()
    done = run("threshold", "-", "--format", "csv", cwd=folder, stdin=text)
    assert done.stdout == run("threshold", "a-dev.csv", "--format", "csv", cwd=folder).stdout
    twice = run("epc", "--system", "A", "-", "-", cwd=folder, stdin=text)
    assert twice.returncode == 2
    assert "only one" in twice.stderr


def test_output_file_appears_whole(folder: Path, tmp_path: Path) -> None:
    done = run("epc", *A, "--format", "csv", "-o", str(tmp_path / "epc.csv"), cwd=folder)
    assert done.returncode == 0
    assert done.stdout == ""
    assert (tmp_path / "epc.csv").read_text().splitlines()[0] == ",".join(COLUMNS)


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m priori epc --system A a-dev.csv a-test.csv --points 100001 --format csv | head -1"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("system,alpha")
    assert "Traceback" not in done.stderr


def test_help_lists_every_command_with_examples(tmp_path: Path) -> None:
    from priori.cli import COMMANDS

    listed = run("--help", cwd=tmp_path).stdout
    for command in COMMANDS:
        assert f"  {command} " in listed
        assert "Examples:" in run(command, "--help", cwd=tmp_path).stdout, command


def test_lower_is_better_and_other_column_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    label = np.arange(60) % 2
    score = rng.normal(label)
    lines = [f"{-value:.6f},{'yes' if one else 'no'}" for value, one in zip(score, label, strict=True)]
    (tmp_path / "distance.csv").write_text("distance,same\n" + "\n".join(lines) + "\n")
    done = run(
        "threshold distance.csv --lower-is-better --column score=distance --column label=same --positive yes --json",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    rounded = [float(f"{value:.6f}") for value in score]
    expected = priori.choose_threshold(Scores.from_predictions(label, rounded))
    assert math.isclose(json.loads(done.stdout)["threshold"][0], -expected)


def test_epc_with_a_band(folder: Path) -> None:
    options = ("--bootstrap", "joint", "--resamples", "20x20", "--resample", "both", "--level", "0.9", "--seed", "3")
    done = run("epc", *A, "--points", "5", *options, "--format", "csv", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert list(rows[0]) == [*COLUMNS, "lower", "upper"]
    assert all(float(row["lower"]) <= float(row["upper"]) for row in rows)
    again = run("epc", *A, "--points", "5", *options, "--threads", "1", "--format", "csv", cwd=folder)
    assert again.stdout == done.stdout


def test_compare(folder: Path) -> None:
    done = run("compare", *A, *B, "--points", "5", "--resamples", "500", "--format", "csv", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    columns = "alpha value_a value_b difference expected lower upper p_value significant"
    assert list(rows[0]) == columns.split()
    assert {row["significant"] for row in rows} <= {"true", "false"}
    table = run("compare", *A, *B, "--resamples", "500", cwd=folder).stdout
    assert "With each alpha tested by itself, " in table
    content = json.loads(
        run("compare --alpha 0.5 --resamples 500 --format json --plot d.svg", *A, *B, cwd=folder).stdout
    )
    assert content["paired"] is True
    assert content["claim"] == "method"
    told = run("compare --alpha 0.5 --resamples 500 --claim deployed --margin 0.9", *A, *B, cwd=folder).stdout
    assert "Within a margin of 90.0 points: the two are equivalent at alpha = 0.5." in told
    assert "Claim: about these thresholds" in told
    assert (folder / "d.svg").exists()


def test_compare_more_than_two(folder: Path) -> None:
    c = ("--system", "C", "b-dev.csv", "a-test.csv")
    done = run("compare", *A, *B, *c, "--points", "5", "--resamples", "300", cwd=folder)
    assert "share a letter" in done.stdout
    first = done.stdout.splitlines()[3].split()
    files = {"A": ("a-dev.csv", "a-test.csv"), "B": ("b-dev.csv", "b-test.csv"), "C": ("b-dev.csv", "a-test.csv")}
    sets = {label: [priori.read(folder / name) for name in names] for label, names in files.items()}
    curves = [priori.epc(*both, points=5, name=label) for label, both in sets.items()]
    place = priori.compare_all(curves, n_resamples=300).places()[0]
    assert first[:4] == [place.name, f"{100 * place.value:.2f}", "%", f"{100 * place.expected:.2f}"]
    done = run("compare", *A, *B, *c, "--points", "5", "--margin", "0.1", cwd=folder)
    assert done.returncode == 2
    assert "--margin is about two systems" in done.stderr


def test_compare_needs_partners(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "b-test.csv").read_text().splitlines()
    (tmp_path / "fewer.csv").write_text("\n".join(lines[:-5]) + "\n")
    arguments = ("--system", "B", "b-dev.csv", str(tmp_path / "fewer.csv"), "--points", "5", "--resamples", "300")
    done = run("compare", *A, *arguments, cwd=folder)
    assert done.returncode == 2
    assert "--unpaired" in done.stderr
    assert run("compare", *A, *arguments, "--unpaired", cwd=folder).returncode == 0
    assert run("compare", *A, cwd=folder).returncode == 2


def test_demo(tmp_path: Path) -> None:
    done = run("demo", "cancer", "--output", "story", "--resamples", "200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The page: story/report.html" in done.stdout
    assert "read on the test set" in done.stdout
    names = {path.name for path in (tmp_path / "story").iterdir()}
    assert {"report.html", "epc.svg", "logistic-dev.csv"} <= names
    for name in names - {"epc.svg"}:
        (tmp_path / "story" / name).unlink()
    (tmp_path / "story" / "epc.svg").write_text("mine")
    again = run("demo", "cancer", "--output", "story", cwd=tmp_path)
    said = "story/epc.svg: there already; name another directory (--output), or add --force"
    assert (again.returncode, again.stderr) == (2, f"priori: error: {said}\n")
    assert [path.read_text() for path in (tmp_path / "story").iterdir()] == ["mine"]
    (tmp_path / "file").write_text("")
    assert "cannot make the directory" in run("demo", "--output", "file/x", cwd=tmp_path).stderr
