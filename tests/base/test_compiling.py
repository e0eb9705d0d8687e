"""Compiling: once on a machine, or in every process where nothing can be kept."""

from __future__ import annotations

from typing import Any

from priori.base.compiling import compiled


def test_what_numba_cannot_keep_is_compiled_all_the_same() -> None:
    made: dict[str, Any] = {}
    exec("def half(number):\n    return number / 2", made)  # of no file, so that there is no folder for a cache
    kernel = compiled(made["half"])
    assert kernel(3) == 1.5
    assert kernel.stats.cache_path is None
