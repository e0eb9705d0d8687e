"""The README names every command. That its commands, its Python and its links hold is tested with the other pages."""

from __future__ import annotations

from pages import ROOT
from priori.cli import COMMANDS


def test_every_command_is_named() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`priori {name}`" not in readme] == []
