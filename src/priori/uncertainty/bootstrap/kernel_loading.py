"""Kernels by name: imported when a bootstrap runs, with a word to people where one has to be compiled."""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

_log = logging.getLogger("priori")
_warned = False


def load_kernel(name: str, module: str = "kernels") -> Any:
    """Import the kernels; say so where one has to be compiled, which happens once on a machine."""
    global _warned
    kernel = getattr(import_module(f"priori.uncertainty.bootstrap.{module}"), name)
    cached = Path(kernel.stats.cache_path or "/").glob(f"{module}.{kernel.__name__}-*.nbi")
    if not _warned and not kernel.signatures and not any(cached):
        _warned = True
        _log.warning("compiling the bootstrap kernels, once on this machine ...")
    return kernel
