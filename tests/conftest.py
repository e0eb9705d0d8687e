"""Fixtures, and the hypothesis profiles: 100 examples by default; quick: 30, thorough: 2000."""

from __future__ import annotations

import gzip
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from browser import chromium, visit  # noqa: F401 - fixtures for every test
from in_process import run as run_here

# A run in the background of a shell ignores Ctrl-C, and so would the commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

_quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("default", max_examples=100, deadline=None, derandomize=True, suppress_health_check=_quiet)
settings.register_profile("quick", max_examples=30, deadline=None, derandomize=True, suppress_health_check=_quiet)
settings.register_profile("thorough", max_examples=2000, deadline=None, suppress_health_check=_quiet)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def figures_closed() -> Iterator[None]:
    """Close the figures that a test left open: matplotlib warns from the twentieth on."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(params=["text", "duckdb"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read with the line by line parser, then with duckdb."""
    if request.param == "duckdb":
        monkeypatch.setattr("priori.readers.input_file.SMALL", 0)
    return str(request.param)


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write a file into an empty current directory; names ending in .gz are compressed."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        Path(name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return Path(name)

    return write


@pytest.fixture
def run() -> Callable[..., tuple[int, str, str]]:
    """Run a command line in this process; return its exit code, what it printed and what it said."""

    def run(line: object = "", *more: object) -> tuple[int, str, str]:
        done = run_here(str(line), *more)
        return done.returncode, done.stdout, done.stderr

    return run
