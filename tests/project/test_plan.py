"""The plan of the house: its picture is drawn from the imports as they are, its floors import one way."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("grimp")

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "priori"
sys.path.insert(0, str(ROOT / "tools"))
import plan  # noqa: E402


def test_the_picture_shows_the_imports_as_they_are() -> None:
    assert plan.FILE.read_text(encoding="utf-8") == plan.drawn(), "run make plan"


def test_every_folder_is_a_floor_and_no_module_lies_beside_them() -> None:
    floors = {floor for level in plan.floors() for floor in level}
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == floors
    assert {path.name for path in SOURCE.glob("*.py")} == {"__init__.py", "__main__.py", "_version.py"}


def test_contributing_names_every_floor() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for level in plan.floors():
        for floor in level:
            assert re.search(rf"^\| .*`{floor}/`.* \|", text, re.MULTILINE), floor


def test_every_path_in_contributing_leads_somewhere() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(
        r"`((?:src|tests|docs|tools|papers|validation|benchmarks)/[^`*<>\s]+)`", text.replace("docs/_build/html", "")
    )
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_is_a_room(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or path.name in ("_version.py", "__init__.py"), (
        "its first line says what belongs there"
    )
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [f"{node.name} ({_body(node)} lines)" for node in functions if _body(node) > 72] == []


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of the body: a signature of many options, or an example in the docstring, is no length."""
    before = node.body[0].end_lineno if ast.get_docstring(node) else node.body[0].lineno - 1
    return node.end_lineno - before


def test_no_public_function_hides_its_options() -> None:
    listed = (ROOT / "tests" / "api.txt").read_text(encoding="utf-8").splitlines()
    hidden = [line for line in listed if re.search(r"\*\*\w+: Any", line)]
    # What an estimator's own fit takes, only the estimator knows.
    assert [line.split("(")[0] for line in hidden] == ["priori.sklearn.AprioriThresholdClassifier.fit"]


def test_no_module_passes_nameless_options_on() -> None:
    # A command's options are named by their decorators, and so are those of displays.
    passed = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in SOURCE.rglob("*.py")
        if path.parent.name != "cli"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None and node.args.kwarg.arg == "options"
        if not any("with_options_of" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]
    assert passed == []
