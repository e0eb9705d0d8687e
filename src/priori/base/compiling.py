"""Compiling: the one way in which kernels are compiled.

Importing this module imports numba, so only kernel modules do, when there is enough work for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function once per machine, or in every process where no cache folder can be written to."""
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder for the cache
        return njit(nogil=True, error_model="numpy")(function)
