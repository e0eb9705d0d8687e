"""``priori calibration`` and ``--calibrate``: the numbers of the library, typed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import priori
from priori.cli import main


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    paths = []
    for part in ("dev", "test"):
        path = tmp_path / f"{part}.csv"
        label = np.repeat([0, 1], [300, 100])
        rows = zip(label, rng.normal(2.0 * label, 1).round(4), strict=True)
        path.write_text("label,score\n" + "".join(f"{one},{score}\n" for one, score in rows))
        paths.append(str(path))
    return paths


def test_csv_and_json_are_the_library(files: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dev, test = map(priori.read, files)
    typed = ["calibration", "--system", "A", *files, "--calibrate", "none,logistic"]
    main([*typed, "--format", "csv", "--plot", str(tmp_path / "ape.svg")])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["calibrate"], row["cost"]) for row in rows[::3]] == [("none", "cllr"), ("logistic", "cllr")]
    expected = priori.llr_costs(dev, test, calibrate="logistic")
    assert [float(row["upper"]) for row in rows[3:]] == pytest.approx(expected.upper.tolist(), nan_ok=True)
    assert (tmp_path / "ape.svg").read_text().startswith("<?xml")
    main([*typed, "--json"])
    (comparison,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (comparison["calibrate_a"], comparison["calibrate_b"]) == ("none", "logistic")
    plain = priori.llr_costs(dev, test)
    assert comparison["difference"] == pytest.approx((plain.value - expected.value).tolist())


@pytest.mark.parametrize("command", ["epc", "threshold"])
def test_a_criterion_calibrates(files: list[str], command: str, capsys: pytest.CaptureFixture[str]) -> None:
    system = ["--system", "A", *files] if command == "epc" else files[:1]
    main([command, *system, "--criterion", "bayes:logistic", "--alpha", "0.3", "--format", "csv"])
    fitted = priori.calibrate(priori.read(files[0]))
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert float(row["threshold"]) == pytest.approx(fitted.thresholds(np.log([3 / 7]))[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["epc", "--calibrate", "logistic"], "no such option --calibrate; write --criterion bayes:NAME"),
        (["epc", "--criterion", "bayes:platt"], "unknown calibration 'platt'"),
        (["calibration", "--range", "3", "-3"], "with A below B"),
    ],
)
def test_what_cannot_be_asked_for(
    files: list[str], options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ending:
        main([options[0], "--system", "A", *files, *options[1:]])
    assert ending.value.code == 2
    assert message in capsys.readouterr().err


def test_the_axis_of_log_odds() -> None:
    from priori.plots import plot_epc

    rng = np.random.default_rng(1)
    scores = priori.Scores.from_arrays(rng.normal(-2, 2, 50), rng.normal(2, 2, 50))
    curve = priori.epc(scores, scores, criterion="bayes", measure="wer", alpha=[0, 0.1, 0.5, 0.9, 1])
    axes = plot_epc([curve], axis="log-odds", bands=[curve.band(n_resamples=50)])
    np.testing.assert_allclose(axes.lines[0].get_xdata(), [np.nan, -np.log(9), 0, np.log(9), np.nan], atol=1e-12)
    with pytest.raises(priori.OptionError, match="unknown axis"):
        plot_epc([curve], axis="odds")  # type: ignore[arg-type]


def test_from_probabilities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, label = tmp_path / "p.csv", np.repeat([0, 1], [300, 100])
    share = 1 / (1 + np.exp(-np.random.default_rng(1).normal(2.0 * label - 2)))
    path.write_text("label,score\n" + "".join(f"{one},{p}\n" for one, p in zip(label, share, strict=True)))
    typed = ["calibration", "--system", "A", str(path), str(path)]
    main([*typed, "--from", "probabilities", "--format", "csv", "--plot", str(tmp_path / "ape.svg")])
    shown = capsys.readouterr()
    scores = priori.read(path)
    expected = priori.llr_costs(scores, scores, given="probabilities").value
    assert [float(row["value"]) for row in csv.DictReader(io.StringIO(shown.out))] == pytest.approx(expected.tolist())
    assert "not-likelihood-ratios" not in shown.err
    main([*typed, "--format", "csv"])
    assert "warning [not-likelihood-ratios]: all scores lie between 0 and 1" in capsys.readouterr().err
    path.write_text("label,score\n0,-3\n1,0.5\n1,0.4\n")
    with pytest.raises(SystemExit, match="2"):
        main([*typed, "--from", "probabilities"])
    assert "leave out --from probabilities" in capsys.readouterr().err


@pytest.mark.parametrize("figure", ["ape", "reliability", "tippett", "ece"])
def test_figures_of_every_kind(files: list[str], figure: str, tmp_path: Path) -> None:
    words = ["calibration", "--system", "A", *files, "--calibrate", "none,logistic", "--points", "5"]
    main([*words, "--figure", figure, "--plot", str(tmp_path / "figure.svg")])
    drawn = (tmp_path / "figure.svg").read_text()
    assert drawn.startswith("<?xml")
    assert ("Tippett" in drawn) == (figure == "tippett")


def test_a_figure_without_a_file_is_asked_for_one(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["calibration", "--system", "A", *files, "--figure", "ece"])
    assert "add --plot FILE" in capsys.readouterr().err
