"""Floors that show compute nothing: they import no function that counts, draws or estimates."""

from __future__ import annotations

import ast
from importlib import import_module
from inspect import isfunction
from pathlib import Path

import pytest

import priori

ROOT = Path(priori.__file__).parent
COMPUTING = ("scores", "decisions", "engines", "curves", "uncertainty")
#: What only prepares points for the eye, or names a measure.
ALLOWED = {"thin", "finely", "measures_of", "average_precision"}


@pytest.mark.parametrize("floor", ["report", "plots", "words"])
def test_what_shows_computes_nothing(floor: str) -> None:
    for path in (ROOT / floor).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module or not node.module.startswith("priori."):
                continue
            if node.module.split(".")[1] in COMPUTING:
                found = {name.name: getattr(import_module(node.module), name.name) for name in node.names}
                assert {name for name, thing in found.items() if isfunction(thing)} <= ALLOWED, path
