"""The first minute: `priori` alone, and a demo that shows its page where there is somebody to look."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from priori.cli import COMMANDS
from priori.cli.output import has_screen
from priori.studies.evaluation import Settings, Study, make_study


def test_priori_alone_says_in_three_lines_how_to_start(run: Any) -> None:
    code, shown, said = run()
    assert (code, said) == (0, "")
    first, second, third = (line.split() for line in shown.splitlines())
    assert [*first[:2], *second[:4]] == ["priori", "demo", "priori", "epc", "DEV", "TEST"]
    assert third[:2] == ["priori", "--help"]
    assert {first[1], second[1]} <= set(COMMANDS)


@pytest.mark.parametrize(
    ("words", "screen", "opened"), [((), False, False), ((), True, True), (("--open",), False, True)]
)
def test_the_demo_opens_its_page(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...], screen: bool, opened: bool
) -> None:
    def quickly(systems: Any, settings: Settings, **more: Any) -> Study:
        return make_study(systems, replace(settings, bootstrap=None), **more)

    launched: list[str] = []
    monkeypatch.setattr("priori.studies.evaluation.make_study", quickly)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("priori.cli.demo.has_screen", lambda: screen)
    monkeypatch.setattr(click, "launch", launched.append)
    code, shown, _ = run("demo", "cancer", "--output", "d", *words)
    assert code == 0
    assert shown.endswith("The page: d/report.html\n")
    assert launched == (["d/report.html"] if opened else [])


@pytest.mark.parametrize(
    ("platform", "terminal", "environment", "expected"),
    [
        ("linux", True, {"DISPLAY": ":0"}, True),
        ("linux", True, {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", True, {}, False),
        ("linux", False, {"DISPLAY": ":0"}, False),
        ("linux", True, {"DISPLAY": ":0", "SSH_CONNECTION": "x"}, False),
        ("darwin", True, {}, True),
    ],
)
def test_a_screen_is_a_terminal_with_a_display(
    monkeypatch: pytest.MonkeyPatch, platform: str, terminal: bool, environment: dict[str, str], expected: bool
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert has_screen() is expected
