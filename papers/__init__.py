"""The papers redone: each module makes the figures and tables of one paper and checks its conclusions."""

from __future__ import annotations

import importlib

from papers.results import Conclusion, Figure, Progress, Reproduction, Table, silent
from priori.base.errors import unknown

__all__ = ["REPRODUCTIONS", "Conclusion", "Figure", "Reproduction", "Table", "reproduce"]

#: What can be reproduced: the name people type, and the module with its ``reproduce``.
REPRODUCTIONS: dict[str, str] = {
    "epc": "expected_performance",
    "joint-bootstrap": "joint_bootstrap",
    "thesis": "thesis",
    "averaging": "averaging",
}


def reproduce(what: str, *, quick: bool = False, progress: Progress = silent) -> Reproduction:
    """Redo the figures and tables of one paper, and check its conclusions.

    Parameters
    ----------
    what : {"epc", "joint-bootstrap", "thesis", "averaging"}
        Which paper.
    quick : bool
        A small version, in seconds.
    progress : callable
        Called with ``(done, total)``.
    """
    if what not in REPRODUCTIONS:
        raise unknown("reproduction", what, REPRODUCTIONS)
    module = importlib.import_module(f"papers.{REPRODUCTIONS[what]}")
    result: Reproduction = module.reproduce(quick=quick, progress=progress)
    return result
