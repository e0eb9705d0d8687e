"""Names: one class per name in the package, so that a name found anywhere is the thing that was looked for."""

from __future__ import annotations

import ast
from collections import defaultdict
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "priori"


def test_one_class_per_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert shared == {}


def test_what_stands_beside_the_package_finds_what_it_imports() -> None:
    """Measurements and benchmarks take minutes, and so no other test runs most of them."""
    lost = []
    paths = [path for folder in ("validation", "benchmarks", "tools") for path in (ROOT / folder).rglob("*.py")]
    for path in sorted(paths):
        if any(part.startswith(".") for part in path.relative_to(ROOT).parts):
            continue  # the peers that the benchmarks installed
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "priori":
                try:
                    module = import_module(str(node.module))
                    for name in node.names:
                        if not hasattr(module, name.name):
                            import_module(f"{node.module}.{name.name}")
                except ImportError:
                    lost.append(f"{path.relative_to(ROOT)}: {ast.unparse(node)}")
    assert lost == []
