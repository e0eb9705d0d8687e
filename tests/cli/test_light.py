"""A command imports what it needs: modules are counted, never seconds."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from light import modules


@pytest.mark.parametrize(
    ("words", "most"), [(["--version"], 10), (["--help"], 10), (["epc", "--system", "A", "DEV", "TEST"], 59)]
)
def test_a_command_imports_few_modules(words: list[str], most: int, tmp_path: Path) -> None:
    assert len(modules(words, tmp_path)) <= most


def test_a_curve_needs_no_engine_no_bootstrap_and_no_figure(tmp_path: Path) -> None:
    floors = {name.split(".")[1] for name in modules(["epc", "--system", "A", "DEV", "TEST"], tmp_path) if "." in name}
    assert not floors & {"engines", "uncertainty", "studies", "plots", "saving", "report", "app"}
