"""The mutants of ``make mutate``: what is changed, what is left alone, and names that stay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutants import Mutant, mutants_of  # noqa: E402
from mutate import Recorded, called_at_import, function_of, is_compiled  # noqa: E402

SOURCE = '''"""A module."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 3


def choose(a: int = 1, *, é: "list[1]" = None) -> int:
    """Return 1 < 2."""
    if a < 2 and not é:
        raise ValueError(f"{a + 1} is 7" + str(a * 2))
    "ü"; total = max(a - 1, -a)
    return power(a, total, side="left", strict=True)
'''
EXPECTED = {
    "a: int = 1": {"1  ->  2"},
    "if a < 2": {
        "a < 2 and not é  ->  (not (a < 2 and not é))",
        "a < 2 and not é  ->  ((a < 2) or (not é))",
        "a < 2  ->  a <= 2",
        "a < 2  ->  a >= 2",
        "2  ->  3",
        "not é  ->  (é)",
    },
    "total =": {"max  ->  min", "a - 1  ->  (a) + (1)", "1  ->  2", "-a  ->  (a)"},
    "return": {
        'power(a, total, side="left", strict=True)  ->  None',
        'power(a, total, side="left", strict=True)  ->  power(total, a, side="left", strict=True)',
        "\"left\"  ->  'right'",
    },
}


def made(folder: Path, source: str) -> list[Mutant]:
    file = folder / "module.py"
    file.write_text(source, encoding="utf-8")
    return mutants_of(file, folder)


def test_what_computes_is_changed_and_nothing_else(tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    for mutant in made(tmp_path, SOURCE):
        begin = next(begin for begin in EXPECTED if begin in mutant.code)
        found.setdefault(begin, set()).add(mutant.change)
        changed = mutant.apply(SOURCE)
        assert changed != SOURCE
        compile(changed, "module.py", "exec")
        assert changed.splitlines()[mutant.line - 1].strip() != mutant.code
    assert found == EXPECTED


def test_a_name_stays_when_the_line_moves_and_goes_when_it_changes(tmp_path: Path) -> None:
    names = {mutant.key for mutant in made(tmp_path, SOURCE)}
    assert len(names) == sum(map(len, EXPECTED.values()))
    assert {mutant.key for mutant in made(tmp_path, SOURCE.replace("\n\n\ndef", "\n\n# moved\n\n\ndef"))} == names
    changed = {mutant.key for mutant in made(tmp_path, SOURCE.replace("a - 1", "a - 9"))}
    assert len(names - changed) == len(EXPECTED["total ="])


@pytest.mark.parametrize("twice", ["x = [1, 1]\n", "x = (a < b) + (a < b)\n"])
def test_the_same_change_twice_on_one_line_has_two_names(tmp_path: Path, twice: str) -> None:
    found = made(tmp_path, twice)
    assert len({mutant.key for mutant in found}) == len(found)
    assert len({mutant.apply(twice) for mutant in found}) == len(found)


NESTED = """LIMIT = 1


class Cell:
    edge = 2

    def width(self) -> int:
        return [3 for _ in self]


def outer() -> int:
    def inner() -> int:
        return 4

    return inner() * 5
"""


def test_the_function_of_a_mutant_is_named_as_tests_record_it(tmp_path: Path) -> None:
    names = {mutant.before: function_of(mutant, NESTED) for mutant in made(tmp_path, NESTED) if mutant.before.isdigit()}
    module = "module.py:"
    assert names == {
        "1": module,
        "2": module,
        "3": f"{module}Cell.width",
        "4": f"{module}outer.<locals>.inner",
        "5": f"{module}outer",
    }


def test_what_modules_and_classes_call_is_known(tmp_path: Path) -> None:
    source = (
        "A = f(g())\n\nclass B:\n    c = m.h()\n\n    @j()\n    def k(self, x=n()):\n        return o(lambda: p())\n"
    )
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module.py").write_text(source)
    assert called_at_import(tmp_path) == {"f", "g", "h", "j", "n"}


@pytest.mark.parametrize(("module", "compiled"), [("streams", True), ("choosing", True), ("readers", False)])
def test_modules_of_kernels_are_known(module: str, compiled: bool) -> None:
    source = ROOT / "src" / "priori" / "uncertainty" / "bootstrap" / f"{module}.py"
    assert is_compiled(source.read_text(encoding="utf-8")) is compiled


def test_the_tests_of_a_function_are_those_that_call_it() -> None:
    calls = {"a": (0.1, ["m.py:f"]), "b": (0.2, ["m.py:f.<locals>.g", "n.py:f"]), "c": (0.3, ["m.py:fg"])}
    assert Recorded(calls, []).calling("m.py:f") == {"a": 0.1, "b": 0.2}
    assert Recorded(calls, []).calling("m.py:") == {"a": 0.1, "b": 0.2, "c": 0.3}
    assert Recorded(calls, []).calling("n.py:f") == {"b": 0.2}
    assert Recorded(calls, ["n.py:h"]).calling("n.py:h") == {"a": 0.1, "b": 0.2, "c": 0.3}


def test_a_test_is_recorded_with_what_it_calls_and_chosen_by_name(tmp_path: Path) -> None:
    package = tmp_path / "src" / "priori"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest, priori\n@pytest.fixture(scope='module')\ndef shared():\n    return priori.two()\n"
        "def test_one():\n    assert priori.one() == 1\n"
        "def test_two(shared):\n    assert shared == 2\n"
        "def test_bad():\n    assert priori.one() == 2\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "recording", "test_it.py"]
    path = os.pathsep.join(map(str, (tmp_path / "src", ROOT / "tools")))
    for name, value in {"RECORD": "record.json", "CHOSEN": "chosen.txt"}.items():
        (tmp_path / "chosen.txt").write_text("test_it.py::test_bad\ntest_it.py::test_one")
        environment = {**os.environ, "PYTHONPATH": path, f"MUTATE_{name}": str(tmp_path / value)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stdout
    record = json.loads((tmp_path / "record.json").read_text())
    assert {name: called for name, (_, called) in record["tests"].items()} == {
        "test_it.py::test_one": ["src/priori/__init__.py:one"],
        "test_it.py::test_two": [],
    }
    assert record["shared"] == ["src/priori/__init__.py:two"]
    assert (tmp_path / "chosen.txt.failed").read_text() == "test_it.py::test_bad"
    assert "1 failed, 1 passed" in done.stdout
