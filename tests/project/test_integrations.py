"""Where people use Priori: the GitHub action, the pre-commit hook, the container, the conda recipe."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import priori
from pages import ROOT

yaml = pytest.importorskip("yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    priori.examples.write("faces", tmp_path)
    return tmp_path


def run_action(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the script as the action's last step does: inputs with their defaults, in one variable."""
    action = read_yaml("action.yml")
    inputs = {name: each.get("default", "") for name, each in action["inputs"].items()}
    assert given.keys() <= inputs.keys()
    last = action["runs"]["steps"][-1]
    assert last["run"] == 'python "$GITHUB_ACTION_PATH/tools/action.py"'
    environment = {
        **os.environ,
        "INPUTS": json.dumps({**inputs, **given}),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "PYTHONPATH": str(ROOT / "src"),
    }
    script = [sys.executable, str(ROOT / "tools/action.py")]
    return subprocess.run(script, cwd=folder, env=environment, capture_output=True, text=True, check=False)


SCORES = {"dev": "eigenfaces-dev.csv", "test": "eigenfaces-test.csv"}


def test_the_action_fails_where_a_limit_is_broken_and_reports_it(folder: Path) -> None:
    kept = run_action(folder, **SCORES, max="hter=0.5 far=0.6", arguments="--resamples 200")
    assert (kept.returncode, "2 limits kept." in kept.stdout) == (0, True), kept.stderr
    broken = run_action(folder, **SCORES, max="hter=0.01", at="value", junit="other.xml")
    assert (broken.returncode, "1 of 1 limit broken." in broken.stdout) == (1, True), broken.stderr
    assert "BROKEN" in (folder / "summary.md").read_text(encoding="utf-8")
    assert (folder / "output").read_text(encoding="utf-8") == "junit=priori-check.xml\njunit=other.xml\n"
    assert "<failure" in (folder / "other.xml").read_text(encoding="utf-8")


def test_the_action_compares_with_a_baseline(folder: Path) -> None:
    baseline = {"baseline-dev": "gradients-dev.csv", "baseline-test": "gradients-test.csv"}
    done = run_action(folder, **SCORES, **baseline, margin="0.5", arguments="--resamples 200")
    assert (done.returncode, "1 limit kept." in done.stdout) == (0, True), done.stderr
    told = run_action(folder, **SCORES, **baseline)
    assert (told.returncode, "--margin" in told.stderr) == (2, True), told.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"dev": "eigenfaces-dev.csv"}, "the action needs the input test"),
        ({**SCORES, "baseline-dev": "x.csv"}, "give both baseline-dev and baseline-test"),
        ({**SCORES, "max": "hter"}, "write it as MEASURE=LIMIT"),
        ({**SCORES, "max": "hter=0.1; touch here"}, "write it as MEASURE=LIMIT"),
        ({**SCORES, "max": "hter=0.1", "arguments": "--name 'x"}, "cannot be taken apart into words (No closing quot"),
    ],
)
def test_wrong_inputs_of_the_action_are_no_verdict(folder: Path, given: dict[str, str], said: str) -> None:
    done = run_action(folder, **given)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (folder / "here").exists()


def test_the_hook_runs_where_scores_change(folder: Path) -> None:
    (hook,) = read_yaml(".pre-commit-hooks.yaml")
    assert hook["language"] == "python"
    for name, wanted in (("data/dev.csv.gz", True), ("a.parquet", True), ("code.py", False)):
        assert bool(re.search(hook["files"], name)) is wanted
    program, *words = hook["entry"].split()
    assert program == "priori"
    given = ["--system", "A", "eigenfaces-dev.csv", "eigenfaces-test.csv", "--at", "value", "--max", "hter=0.01"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "priori", *words, *given]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 of 1 limit broken." in done.stdout) == (1, True), done.stderr


def test_the_container_serves_the_app_and_is_found_healthy(tmp_path: Path) -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    assert re.findall(r"^USER (.+)$", text, flags=re.MULTILINE) == ["10001"]
    assert re.findall(r"^EXPOSE (.+)$", text, flags=re.MULTILINE) == ["8000"]
    health, served = (
        json.loads(found) for found in re.findall(r"^(?:HEALTHCHECK.* )?CMD (\[.*\])$", text, flags=re.MULTILINE)
    )
    copied = {name for line in re.findall(r"^COPY (?!--)(.+)$", text, flags=re.MULTILINE) for name in line.split()[:-1]}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = [word.replace("8000", port) for word in served]
    app = subprocess.Popen([sys.executable, "-m", "priori", *words], cwd=tmp_path, env=environment, stderr=-3)
    try:
        asked = [sys.executable, *(word.replace("8000", port) for word in health[1:])]
        healthy = False
        for _ in range(120):
            healthy = subprocess.run(asked, capture_output=True, check=False).returncode == 0
            if healthy or app.poll() is not None:
                break
            time.sleep(0.5)
        assert healthy
    finally:
        app.terminate()
        app.wait(120)
    assert subprocess.run(asked, capture_output=True, check=False).returncode != 0


def test_the_conda_recipe_has_the_version_and_the_dependencies_of_the_project() -> None:
    recipe = read_yaml("packaging/conda/recipe.yaml")
    assert recipe["context"]["version"] == priori.__version__
    names = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base"}
    wanted = {f"python {PROJECT['requires-python']}"}
    extras = PROJECT["optional-dependencies"]
    for line in (*PROJECT["dependencies"], *extras["report"], *extras["app"]):
        name, _, lowest = line.partition(">=")
        if lowest:
            wanted.add(f"{names.get(name, name)} >={lowest}")
    assert set(recipe["requirements"]["run"]) == wanted
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"priori = {PROJECT['scripts']['priori']}"
