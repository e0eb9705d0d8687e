"""The public names: each can be had, none is missing from the list, and importing stays light."""

from __future__ import annotations

import subprocess
import sys
from difflib import unified_diff

import priori
from snapshot import FILE, signatures


def test_every_public_name_is_there_and_documented() -> None:
    for name in priori.__all__:
        thing = getattr(priori, name)
        assert name == "__version__" or thing.__doc__, name


def test_lazy_names_are_public_and_do_not_hide_a_module() -> None:
    from importlib.util import find_spec

    assert set(priori._LATER) <= set(priori.__all__)
    assert [name for name in priori._LATER if find_spec(f"priori.{name}") is not None] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(priori, "nope")


def test_the_public_names_have_not_changed_by_accident() -> None:
    """If the change is meant: python tests/snapshot.py, and say it in CHANGELOG.md."""
    old, new = FILE.read_text(encoding="utf-8").splitlines(), signatures()
    changes = [line for line in unified_diff(old, new, "tests/api.txt", "now", n=0, lineterm="") if line[:2] != "@@"]
    assert not changes, "\n".join([*changes, "if this is meant: python tests/snapshot.py, and add to CHANGELOG.md"])


def test_importing_stays_light() -> None:
    heavy = {"numba", "matplotlib", "pandas", "polars", "pyarrow", "duckdb", "scipy", "sklearn", "starlette"}
    code = "import sys, priori, priori.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert heavy & set(loaded) == set()
