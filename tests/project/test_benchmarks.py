"""What benchmarks print about results that got worse."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def changes() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_changes", ROOT / "suite" / "changes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_changes"] = module
    spec.loader.exec_module(module)
    return module


def test_only_what_got_slower_by_more_than_a_quarter_is_named(changes: ModuleType) -> None:
    before = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    assert changes.slower(before, before) == []
    assert len(list(changes.figures(before))) > 100
    after = before
    for line, times in (
        (r"(\| 10,000 scores a class, 100 alphas \| )([\d.]+)(?= ms)", 1.32),
        (r"(101 alphas, 1,000,000 a class: )([\d.]+)(?= x sort)", 1.24),
        (r"(joint replicates of both sets, 101 alphas, NIST 2005 shape: )([\d.]+)(?= s)", 10),
    ):
        after, n = re.subn(line, lambda found, times=times: f"{found[1]}{float(found[2]) * times:.4g}", after, count=1)
        assert n == 1
    found = changes.slower(before, after)
    assert found[0].startswith("(b) 10000 joint replicates")
    assert found[1].startswith("Expected Performance Curve: 10,000 scores a class, 100 alphas: Priori ")
    assert found[1].endswith("(1.32 times)")
    assert len(found) == 2


def test_sections_that_were_not_measured_stay(changes: ModuleType) -> None:
    assert changes.merged("# M\n\nold\n\n## A\n\n1\n\n## B\n\n2\n", ["# M\n\nnew\n", "## B\n\n3\n"]) == (
        "# M\n\nnew\n\n## A\n\n1\n\n## B\n\n3\n"
    )


def test_the_serial_part_is_that_of_amdahls_law() -> None:
    """A third of 3 s is serial: two processors take 2 s, eight 1.25 s."""
    sys.path.insert(0, str(ROOT))
    try:
        from suite.cores import projected, serial_part
    finally:
        sys.path.remove(str(ROOT))
    assert serial_part(3.0, 2.0) == pytest.approx(1 / 3)
    assert projected(3.0, 1 / 3, 8) == pytest.approx(1.25)
    assert serial_part(1.0, 1.2) == 1.0
    assert serial_part(1.0, 0.4) == 0.0
