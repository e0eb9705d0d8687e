"""A process of ``make mutate`` with the libraries imported, which forks for every run of tests: they begin at once.

It reads one line of JSON for each run, with the arguments of pytest, the environment and the processor's seconds it may
take; it answers with the number of the process, and with how it ended.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from typing import Any, NoReturn

#: Imported once, as far as they are there; never the package itself, which changes.
LIBRARIES = (
    "pytest",
    "_pytest.doctest",
    "hypothesis",
    "numpy",
    "scipy.stats",
    "numba",
    "duckdb",
    "narwhals",
    "click",
    "pandas",
    "polars",
    "pyarrow.parquet",
    "matplotlib.pyplot",
    "playwright.sync_api",
    "sklearn.base",
)


def run(arguments: list[str], environment: dict[str, str], seconds: float) -> NoReturn:
    """Run pytest in this process, which ends with it."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 5))
    os.environ.update(environment)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    code = 3
    try:
        import numba
        import pytest

        numba.core.config.reload_config()  # where compiled functions are kept
        sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
        code = int(pytest.main(["-W", "ignore::pytest.PytestAssertRewriteWarning", *arguments]))
    finally:
        os._exit(code)


def main() -> None:
    """Import, then fork for every line until there is none."""
    for library in LIBRARIES:
        try:
            importlib.import_module(library)
        except ImportError:
            continue
    for line in sys.stdin:
        wanted: dict[str, Any] = json.loads(line)
        process = os.fork() or run(**wanted)
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
