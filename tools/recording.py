"""A pytest plugin of ``make mutate``: records which functions of the package each test calls, and runs chosen tests.

``MUTATE_RECORD`` names a file for the record of the tests that pass, ``MUTATE_CHOSEN`` one with the names of the tests
to run, in their order; the name of the first that fails is written beside it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = os.getcwd()  # a test may go elsewhere
PACKAGE = os.path.join(ROOT, "src", "priori") + os.sep
RECORD, CHOSEN = os.environ.get("MUTATE_RECORD"), os.environ.get("MUTATE_CHOSEN")

_called: set[CodeType] = set()
#: What fixtures call that several tests share: the tests of the file all depend on it.
_shared: set[CodeType] = set()
_passed: dict[str, list[Any]] = {}


def _note(frame: FrameType, event: str, _: object) -> None:
    if event == "call":
        _called.add(frame.f_code)


def _names(codes: Iterable[CodeType]) -> list[str]:
    """Return functions of the package as ``src/priori/module.py:Class.method``."""
    own = (code for code in set(codes) if code.co_filename.startswith(PACKAGE))
    return sorted(f"{os.path.relpath(code.co_filename, ROOT)}:{code.co_qualname}" for code in own)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Note what a test calls, with its fixtures, and how many of the processor's seconds it takes."""
    if not RECORD:
        return (yield)
    _called.clear()
    begin = sum(os.times()[:4])
    sys.setprofile(_note)
    threading.setprofile(_note)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        if item.nodeid in _passed:
            _passed[item.nodeid] = [round(sum(os.times()[:4]) - begin, 3), _names(_called)]


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """Keep apart what fixtures call that are made once for several tests."""
    if not RECORD or fixturedef.scope == "function":
        return (yield)
    before = set(_called)
    _called.clear()
    try:
        return (yield)
    finally:
        _shared.update(_called)
        _called.clear()
        _called.update(before)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the tests that pass, and the first that does not."""
    if report.when == "call" and report.passed:
        _passed[report.nodeid] = [0.0, []]
    if report.failed and CHOSEN:
        Path(f"{CHOSEN}.failed").write_text(report.nodeid, encoding="utf-8")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the chosen tests, in their order."""
    if CHOSEN:
        places = {name: place for place, name in enumerate(Path(CHOSEN).read_text(encoding="utf-8").splitlines())}
        items[:] = sorted((item for item in items if item.nodeid in places), key=lambda item: places[item.nodeid])


def pytest_sessionfinish() -> None:
    """Write the record."""
    if RECORD:
        Path(RECORD).write_text(json.dumps({"tests": _passed, "shared": _names(_shared)}), encoding="utf-8")
