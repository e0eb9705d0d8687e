"""``priori epsc``, ``adcf`` and ``pad``: exactly these columns, and the numbers of Python."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import priori
from priori.cli import cli


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = []
    for seed, name in enumerate(("dev.csv", "test.csv")):
        rng = np.random.default_rng(seed)
        label = np.repeat(["nontarget", "spoof", "target"], [80, 30, 50])
        score = rng.normal(np.select([label == "nontarget", label == "spoof"], [0.0, 1.0], 2.0)).round(3)
        kind = np.where(label == "spoof", np.tile(["A1", "A2"], 80), "bonafide")
        path = tmp_path / name
        rows = "".join(f"{a},{b},{c}\n" for a, b, c in zip(score, label, kind, strict=True))
        path.write_text(f"score,label,kind\n{rows}", encoding="utf-8")
        paths.append(str(path))
    return paths


def rows(*arguments: str) -> list[dict[str, str]]:
    result = CliRunner().invoke(cli, [*arguments, "--format", "csv"], catch_exceptions=False)
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_epsc_prints_exactly_its_columns(files: list[str]) -> None:
    asked = ["epsc", "--system", "A", *files, "--omega", "0,1/3,1", "--beta", "0.3,0.5"]
    found = rows(*asked)
    assert list(found[0]) == [
        "system",
        "omega",
        "beta",
        "threshold",
        "far",
        "frr",
        "iapmr",
        "far_omega",
        "value",
        "best",
    ]
    assert [(row["omega"], row["beta"]) for row in found[:3]] == [("0.0", "0.3"), ("0.0", "0.5"), (str(1 / 3), "0.3")]
    curve = priori.epsc(*map(priori.read, files), omega=["0", "1/3", "1"], beta=["0.3", "0.5"])
    for name in list(found[0])[1:-1]:
        np.testing.assert_array_equal([float(row[name]) for row in found], getattr(curve, name))
    banded = rows(*asked, "--bootstrap", "auto", "--resamples", "200")
    assert list(banded[0])[-2:] == ["lower", "upper"]
    assert all(float(row["lower"]) <= float(row["value"]) <= float(row["upper"]) for row in banded)


def test_tables_figures_and_json(files: list[str], tmp_path: Path) -> None:
    system = ["--system", "A", *files]
    for number, more in enumerate(([], ["--omega", "0.5", "--beta", "0.2,0.8"], ["--omega", "0,1", "--beta", "0,1"])):
        figure = tmp_path / f"{number}.svg"
        result = CliRunner().invoke(cli, ["epsc", *system, *more, "--plot", str(figure)], catch_exceptions=False)
        assert "far_omega" in result.stdout
        assert figure.stat().st_size > 1000
    content = json.loads(CliRunner().invoke(cli, ["epsc", *system, "--json", "--bootstrap", "auto"]).stdout)
    assert {"omega", "band", "attack_types"} <= set(content["systems"][0])


def test_adcf_and_pad_give_the_numbers_of_python(files: list[str]) -> None:
    (cost,) = rows("adcf", "--system", "A", *files, "--costs", "fn=1,fp=10,attack=10", "--bootstrap", "auto")
    assert list(cost)[-4:] == ["value", "best", "lower", "upper"]
    dev, test = (priori.read(path, columns={"attack": "kind"}) for path in files)
    known = priori.adcf(dev, test, costs=(1, 10, 10))
    assert (float(cost["value"]), float(cost["best"])) == (known.value[0], known.best[0])
    found = rows("pad", "--system", "A", *files, "--column", "attack=kind", "--apcer", "0.1")
    result = priori.pad(dev, test, apcer="0.1")
    assert list(found[0]) == ["system", *result.columns()]
    np.testing.assert_array_equal([float(row["rate"]) for row in found], result.rate)
    assert {row["attack"] for row in found} == {"A1", "A2", ""}
    assert "apcer-max" in CliRunner().invoke(cli, ["pad", "--system", "A", *files]).stdout


def test_attacks_are_known_in_scanned_files(files: list[str]) -> None:
    for command in (["epsc", "--omega", "0.5"], ["adcf"], ["pad", "--column", "attack=kind"]):
        arguments = [*command, "--system", "A", *files]
        assert rows(*arguments, "--engine", "duckdb") == rows(*arguments)
