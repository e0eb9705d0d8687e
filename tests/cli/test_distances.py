"""Distances: wherever a threshold is printed, saved, drawn or typed it is one, and trials below it are accepted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import priori
from priori.cli import cli
from priori.report.page import page_data
from priori.scores.systems import System
from priori.studies.evaluation import Settings, make_study
from priori.words.headline import deployment
from priori.words.vocabulary import GLOSSARY

GIVEN = ("--lower-is-better",)
SYSTEM = ("--system", "A", "dev.csv", "test.csv", *GIVEN)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Distances between 5 and 20, of two sets; returns their labels and distances."""
    rng, label = np.random.default_rng(0), np.repeat([0, 1], 200)
    sets = {part: (label, 14 - 4 * label + 1.5 * rng.normal(size=400)) for part in ("dev", "test")}
    monkeypatch.chdir(tmp_path)
    for part, (labels, distance) in sets.items():
        rows = (f"{y},{d!r},{'ab'[n % 2]},u{n % 20}" for n, (y, d) in enumerate(zip(labels, distance.tolist())))  # noqa: B905
        Path(f"{part}.csv").write_text("label,score,site,user\n" + "\n".join(rows) + "\n")
    return sets


def run(*arguments: str) -> str:
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def rates(labels: np.ndarray, distance: np.ndarray, threshold: float) -> tuple[float, float]:
    accepted = distance < threshold
    return float(accepted[labels == 0].mean()), float((~accepted)[labels == 1].mean())


def test_thresholds_of_commands_are_distances(files: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    chosen = json.loads(run("threshold", "dev.csv", *GIVEN, "--alpha", "0.3", "--json"))
    assert chosen["distances"] is True
    threshold = chosen["threshold"][0]
    assert 5 < threshold < 20
    assert rates(*files["dev"], threshold) == (chosen["dev_v1"][0], chosen["dev_v2"][0])
    assert "accept when the distance is less\n" in run("threshold", "dev.csv", *GIVEN)
    curve = json.loads(run("epc", *SYSTEM, "--alpha", "0.3", "--json"))["systems"][0]
    assert (curve["threshold"], curve["distances"]) == ([threshold], True)
    assert rates(*files["test"], threshold) == (curve["v1"][0], curve["v2"][0])
    header, row = run("epc", *SYSTEM, "--alpha", "0.3", "--format", "csv").splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["threshold"] == repr(threshold)
    for command in ("roc", "det"):
        told = json.loads(run(command, *SYSTEM, "--alpha", "0.3", "--json"))["systems"][0]
        assert told["a_priori"]["threshold"] == [threshold]
        assert all(number in ("inf", "-inf") or 5 < number < 21 for number in told["threshold"])
    assert json.loads(run("ztest", *SYSTEM, "--alpha", "0.3", "--json"))["threshold_a"] == threshold
    averaged = run("average", "--method", "threshold", "--by", "site", "test.csv", *GIVEN, "--format", "csv")
    assert all(-1 < float(line.split(",")[0]) < np.inf or "inf" in line for line in averaged.splitlines()[1:])


def test_thresholds_are_typed_as_distances(files: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    far, frr = rates(*files["test"], 12.0)
    told = json.loads(run("rates", "test.csv", *GIVEN, "--threshold", "12", "--json"))
    assert (told["threshold"], told["far"], told["frr"]) == ([12.0], [far], [frr])
    assert run("rates", "test.csv", *GIVEN, "--threshold", "12").startswith("accept when distance < ")
    for by in ("site", "user"):
        told = json.loads(run("rates", "test.csv", *GIVEN, "--threshold", "12", "--by", by, "--json"))
        assert (told["threshold"], told["distances"]) == (12.0, True)
    assert "distance is less than 12\n" in run("rates", "test.csv", *GIVEN, "--threshold", "12", "--by", "site")
    watched = ("watch", "test.csv", *GIVEN, "--threshold", "12", "--limit", "far=0.9", "--json")
    told = json.loads(run(*watched))
    assert (told["threshold"], told["rates"]["far"]["rate"]) == (12.0, pytest.approx(far))


@pytest.mark.parametrize("scanned", [False, True])
def test_results_know_that_they_are_about_distances(scanned: bool) -> None:
    read = priori.scan if scanned else priori.read
    dev, test = (read(f"{part}.csv", lower_is_better=True) for part in ("dev", "test"))
    assert dev.distances
    curve = priori.epc(dev, test, alpha=[0.3, 0.5])
    assert (curve.threshold < 0).all()
    assert curve.columns()["threshold"].tolist() == (-curve.threshold).tolist()
    saved = priori.EPC.from_json(curve.to_json())
    assert saved.summary()["distances"]
    assert saved.columns()["threshold"].tolist() == curve.columns()["threshold"].tolist()
    assert "distances" not in priori.epc(priori.read("dev.csv"), priori.read("test.csv"), alpha=[0.5]).summary()


def test_the_page_speaks_of_distances() -> None:
    dev, test = (priori.read(f"{part}.csv", lower_is_better=True) for part in ("dev", "test"))
    study = make_study([System("A", dev, test)], Settings(bootstrap=None, points=5))
    card = deployment(study, study.at)
    assert 5 < float(card.threshold) < 20
    assert card.rule == f"accept when the distance is less than {card.threshold}"
    edges = study.members[0].histogram.edges
    assert (edges > 0).all()
    assert (np.diff(edges) > 0).all()
    assert study.members[0].histogram.negatives[-1] >= study.members[0].histogram.negatives[0]  # far apart
    run("report", *SYSTEM, "--no-bootstrap", "--points", "5", "-o", "page.html")
    page = Path("page.html").read_text("utf-8")
    assert page.count("score is greater than") == page.count(GLOSSARY["threshold"])
    data = page_data(study)
    assert (data["scored"], data["acceptance"]) == ("distance", "accept when the distance is less than")
    assert all(5 < threshold < 20 for threshold in data["systems"][0]["threshold"][1:-1])
