"""The mutants of ``make mutate``: what is changed, what is left alone, and names that stay."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutants import Mutant, mutants_of  # noqa: E402

SOURCE = '''"""A module."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 3


def choose(a: int = 1, *, é: "list[1]" = None) -> int:
    """Return 1 < 2."""
    if a < 2 and not é:
        raise ValueError(f"{a + 1} is 7" + str(a * 2))
    "ü"; total = max(a - 1, -a)
    return power(a, total, side="left")
'''
EXPECTED = {
    "a: int = 1": {"1  ->  2"},
    "if a < 2": {
        "a < 2 and not é  ->  (not (a < 2 and not é))", "a < 2 and not é  ->  ((a < 2) or (not é))",
        "a < 2  ->  a <= 2", "a < 2  ->  a >= 2", "2  ->  3", "not é  ->  (é)",
    },
    "total =": {"max  ->  min", "a - 1  ->  (a) + (1)", "1  ->  2", "-a  ->  (a)"},
    "return": {
        'power(a, total, side="left")  ->  None', 'power(a, total, side="left")  ->  power(total, a, side="left")',
        "\"left\"  ->  'right'",
    },
}  # fmt: skip


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
