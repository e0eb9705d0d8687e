"""``priori check``, and files taken apart by --folds and --split."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import priori
from priori.cli import main
from priori.testing import assert_no_worse, assert_rate


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("dev", "test", "all"):
        user = np.repeat(np.arange(40), 10)
        label = np.tile([0, 1], 200)
        day = np.datetime64("2024-01-01") + user.astype("timedelta64[D]")
        frame = {"label": label, "score": rng.normal(2.5 * label), "user": [f"{name}{u}" for u in user], "day": day}
        pd.DataFrame(frame).to_csv(f"{name}.csv", index=False)


def run(*words: str) -> int:
    try:
        main(["check", *words, "--resamples", "300"])
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


SYSTEM = ("--system", "A", "dev.csv", "test.csv")


def test_the_exit_code_tells_kept_from_broken_and_from_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    curve = priori.epc(priori.read("dev.csv"), priori.read("test.csv"), alpha=[0.5])
    band = curve.band(n_resamples=300)
    value, upper = float(curve.value[0]), float(band.upper[0])
    between = (value + upper) / 2
    assert run(*SYSTEM, "--max", f"hter={upper + 1e-9}") == 0
    assert run(*SYSTEM, "--max", f"hter={between}") == 1
    assert run(*SYSTEM, "--max", f"hter={between}", "--at", "value") == 0
    assert run(*SYSTEM, "--max", f"hter={value - 1e-9}", "--at", "value") == 1
    assert run(*SYSTEM, "--min", "recall=0.5") == 0
    assert run(*SYSTEM, "--min", "recall=0.999") == 1
    assert run(*SYSTEM) == 2
    assert run(*SYSTEM, "--max", "hter") == 2
    assert run(*SYSTEM, "--margin", "0.1") == 2
    assert "MEASURE=LIMIT" in capsys.readouterr().err
    assert run(*SYSTEM, "--max", "hter=5") == 2
    assert "0.05 for 5 %, not 5" in capsys.readouterr().err


def test_no_worse_than_itself_by_a_margin() -> None:
    same = ("--system", "B", "dev.csv", "test.csv", "--no-worse-than", "B", "--margin", "0.2")
    assert run(*SYSTEM, *same) == 0
    worse = pd.read_csv("test.csv")
    worse["score"] = np.random.default_rng(1).normal(worse["label"])
    worse.to_csv("worse.csv", index=False)
    assert run("--system", "A", "dev.csv", "worse.csv", *same) == 1


def test_no_worse_than_with_folds_judges_both_by_the_same_folds(capsys: pytest.CaptureFixture[str]) -> None:
    other = pd.read_csv("test.csv")
    other["score"] += np.random.default_rng(1).normal(0, 0.5, len(other))
    other.to_csv("other.csv", index=False)
    two = ("--scores", "A", "test.csv", "--scores", "B", "other.csv", "--folds", "3", "--margin", "0.9")
    assert run(*two, "--no-worse-than", "B", "--json") == 0
    (limit,) = json.loads(capsys.readouterr().out)["limits"]
    a, b = (priori.cross_epc(priori.read(name), folds=3, alpha=[0.5]) for name in ("test.csv", "other.csv"))
    assert limit["value"] == pytest.approx(float((a.value - b.value)[0]))
    assert run(*two, "--no-worse-than", "C") == 2
    assert "the systems are A, B" in capsys.readouterr().err


def test_reports_for_machines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    words = ("--max", "far=0.0001", "--max", "hter=0.9", "--junit", "check.xml", "--github", "--json")
    assert run(*SYSTEM, *words) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["kept"] is False
    assert [(each["what"], each["kept"]) for each in content["limits"]] == [("far", False), ("hter", True)]
    suite = ElementTree.parse("check.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), len(suite.findall("testcase/failure"))) == ("2", "1", 1)
    assert Path("summary.md").read_text().count("BROKEN") == 1


def test_assert_rate() -> None:
    dev, test = priori.read("dev.csv"), priori.read("test.csv")
    checked = assert_rate(dev, test, "hter", maximum=0.3, n_resamples=300)
    assert checked.upper == pytest.approx(float(priori.epc(dev, test, alpha=[0.5]).band(n_resamples=300).upper[0]))
    with pytest.raises(AssertionError, match=r"limit 0.001 at upper: broken"):
        assert_rate(dev, test, "far", maximum=0.001, n_resamples=300)


def test_assert_no_worse() -> None:
    good = priori.read("dev.csv"), priori.read("test.csv")
    bad = priori.read("dev.csv", lower_is_better=True), priori.read("test.csv", lower_is_better=True)
    assert assert_no_worse(good, bad, 0.01, n_resamples=300, names=("A", "B")).kept
    with pytest.raises(AssertionError, match=r"A: hter minus that of B .* limit 0.01 at upper: broken"):
        assert_no_worse(bad, good, 0.01, n_resamples=300, names=("A", "B"))


def test_a_limit_on_money(capsys: pytest.CaptureFixture[str]) -> None:
    """The cost per decision at the alpha that the costs give: fn fn_rate prior + fp fp_rate (1 - prior)."""
    assert run(*SYSTEM, "--costs", "fn=30,fp=1", "--prior", "0.1", "--max", "cost=9", "--format", "csv") == 0
    row = capsys.readouterr().out.splitlines()[1].replace('"', "").split(",")
    curve = priori.epc(priori.read("dev.csv"), priori.read("test.csv"), alpha=[0.9 / (0.9 + 3.0)])
    far, frr = float(curve.v1[0]), float(curve.v2[0])
    assert float(row[-6]) == pytest.approx(30 * 0.1 * frr + 0.9 * far)
    assert run(*SYSTEM, "--costs", "fn=30,fp=1", "--prior", "0.1", "--max", "cost=0.01") == 1
    assert run(*SYSTEM, "--costs", "fn=30,fp=1", "--max", "cost=0.01") == 2
    assert "add --prior, such as 0.01" in capsys.readouterr().err
