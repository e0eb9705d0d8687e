"""The README does what it says: its commands print what it shows, its Python runs, its links lead somewhere."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import priori
from priori.cli import COMMANDS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    priori.examples.write("faces", folder)
    return folder


def test_the_commands_print_what_is_shown(faces: Path) -> None:
    checked = 0
    for block in _blocks("console"):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = piece.split("\n")
            last = next(index for index, line in enumerate(lines) if not line.endswith("\\"))
            command = " ".join(line.rstrip("\\").strip() for line in lines[: last + 1])
            arguments = command.replace("priori ", f"{sys.executable} -m priori ", 1)
            done = subprocess.run(arguments, shell=True, cwd=faces, capture_output=True, text=True, check=True)
            shown = [line.rstrip() for line in lines[last + 1 :]]
            assert [line.rstrip() for line in done.stdout.split("\n")][: len(shown)] == shown, command
            checked += 1
    assert checked >= 1


def test_the_python_runs(faces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(faces)
    for block in _blocks("python"):
        found = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
        assert found.examples
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(found)
        assert result.failed == 0


def test_every_command_is_named() -> None:
    assert [name for name in COMMANDS if f"`priori {name}`" not in README] == []


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
