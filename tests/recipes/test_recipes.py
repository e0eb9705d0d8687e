"""The lines of docs/howto/trackers.md, run with the real packages: ``make test-recipes`` installs them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori
from pages import DOCS

PAGE = (DOCS / "howto/trackers.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^\*\*([\w &]+)\*\*.*?^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE))
# What these packages warn of is theirs.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page says is there: scores, their curve and the report."""
    monkeypatch.chdir(tmp_path)
    Path("report.html").write_text("<p>the page</p>")
    dev, test = priori.examples.load("faces").systems["eigenfaces"]
    return {"priori": priori, "dev": dev, "test": test, "curve": priori.epc(dev, test, name="A")}


def test_every_recipe_is_tested() -> None:
    assert list(RECIPES) == ["MLflow", "Weights & Biases", "skore", "fairlearn", "evaluate"]
    assert {name for name in globals() if name.startswith("test_with_")} == {
        f"test_with_{re.sub(r'[^a-z]+', '_', name.lower())}" for name in RECIPES
    }


def test_with_mlflow(names: dict[str, Any], tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    exec(RECIPES["MLflow"], names | {"mlflow": mlflow})
    run = mlflow.last_active_run()
    assert run.data.metrics["hter"] == pytest.approx(names["curve"].at(0.5).value.item())
    kept = {each.path for each in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert {"epc.json", "epc.svg", "report.html"} <= kept
    table = mlflow.load_table("epc.json", run_ids=[run.info.run_id])
    assert table["value"].to_numpy() == pytest.approx(names["curve"].value)


def test_with_weights_biases(names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    exec(RECIPES["Weights & Biases"], names | {"wandb": wandb})
    (run,) = tmp_path.rglob("run-*.wandb")
    record = run.read_bytes()
    assert b"hter" in record
    assert json.dumps(names["curve"].at(0.5).value.item())[:10].encode() in record
    (table,) = tmp_path.rglob("*.table.json")
    kept = json.loads(table.read_text())
    value = kept["columns"].index("value")
    assert [row[value] for row in kept["data"]] == pytest.approx(names["curve"].value)
    assert any("the page" in page.read_text() for page in tmp_path.rglob("media/html/*.html"))


def test_with_skore(names: dict[str, Any]) -> None:
    skore = pytest.importorskip("skore")
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    import priori.sklearn  # noqa: F401 - the recipe's

    X, y = make_classification(n_samples=600, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    space = names | {"skore": skore, "LogisticRegression": LogisticRegression}
    space |= {"X_train": X_train, "X_test": X_test, "y_train": y_train, "y_test": y_test}
    exec(RECIPES["skore"], space)
    decided = space["report"].estimator_.predict(X_test)
    hter = (np.mean(decided[y_test == 0] == 1) + np.mean(decided[y_test == 1] == 0)) / 2
    assert 0 < hter < 0.3
    values = [
        abs(float(value)) for value in space["summary"].to_numpy(dtype=object).ravel() if isinstance(value, float)
    ]
    assert np.isclose(values, hter).any()


def test_with_fairlearn(names: dict[str, Any]) -> None:
    pytest.importorskip("fairlearn")
    import fairlearn.metrics

    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 400)
    space = names | {"fairlearn": fairlearn, "y_true": y_true, "y_score": rng.normal(2 * y_true - 3.5, 1)}
    space["group"] = rng.choice(["north", "south"], 400)
    exec(RECIPES["fairlearn"], space)
    rows = space["groups"].frame("pandas").query("what == 'rate'")
    found = rows.set_index(["group", "rate"])["value"]
    for group, row in space["frame"].by_group.iterrows():
        for rate in ("far", "frr"):
            assert 0 < row[rate] < 1
            assert found[group, rate] == pytest.approx(row[rate])


def test_with_evaluate(names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = pytest.importorskip("evaluate")
    import datasets

    monkeypatch.setenv("HF_HOME", str(tmp_path))
    space = names | {"evaluate": evaluate, "datasets": datasets}
    exec(RECIPES["evaluate"], space)
    point, test = names["curve"].at(0.5), names["test"]
    metric = space["HTER"](cache_dir=str(tmp_path))
    scores = np.concatenate([test.negatives, test.positives])
    labels = np.repeat([0, 1], [test.n_negatives, test.n_positives])
    found = metric.compute(predictions=scores, references=labels, threshold=point.threshold.item())
    assert found == {"hter": pytest.approx(point.value.item())}
