"""Print what a first bootstrap on a machine waits for: the compilation of each kernel, in a process without a cache.

``make compile-times``. Seconds are those of the processor, beside a reference compiled in the same minute: so a busy
machine counts little. Those of a function include what it calls; ``own`` are without.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: How many functions to list, the slowest first.
SHOWN = 12


def band() -> None:
    """Make the first plain band."""
    import priori

    rng = np.random.default_rng(0)
    dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(2, 1, 500)) for _ in range(2))
    priori.epc(dev, test).band(n_resamples=100)


def demo() -> None:
    """Run the demo."""
    from priori.cli import main

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        sys.argv = ["priori", "demo", "--output", folder]
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            main()


def reference() -> None:
    """Compile functions of numpy's, which take some seconds whatever the version of Priori."""
    import numba

    def pick(x: Any, y: Any) -> Any:
        return np.sort(x)[::-1].sum(), np.argsort(x * y + 1.0), np.cumsum(x)

    numba.njit(pick)(np.ones(3), np.ones(3))


WORK: dict[str, Callable[[], None]] = {work.__name__: work for work in (reference, band, demo)}


def watch(work: Callable[[], None]) -> None:
    """Do some work, and print what was compiled."""
    from numba.core import event

    running: list[list[float]] = []
    found: list[tuple[float, float, str]] = []

    class Stopwatch(event.Listener):
        def on_start(self, _: Any) -> None:
            running.append([time.thread_time(), 0.0])

        def on_end(self, ended: Any) -> None:
            start, inside = running.pop()
            spent = time.thread_time() - start
            if running:
                running[-1][1] += spent
            function = ended.data["dispatcher"].py_func
            found.append(
                (spent, spent - inside, f"{(function.__module__ or '').rpartition('.')[2]}.{function.__name__}")
            )

    event.register("numba:compile", Stopwatch())
    work()
    print(f"{time.process_time():6.2f} s, {sum(own for _, own, _ in found):.2f} s of it for {len(found)} functions")
    for whole, own, name in sorted(found, reverse=True)[:SHOWN]:
        print(f"{whole:6.2f} s, own {own:5.2f} s  {name}")


def main() -> None:
    """Do each work in a process of its own, with nothing compiled and then with all of it."""
    parser = argparse.ArgumentParser(description="Print how long each kernel takes to compile.")
    parser.add_argument("work", nargs="?", choices=WORK, help="only this, in this process")
    if name := parser.parse_args().work:
        watch(WORK[name])
        return
    for name in WORK:
        with tempfile.TemporaryDirectory() as cache:
            for state in ("nothing", "all"):
                print(f"{name}, {state} compiled before:", flush=True)
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
                subprocess.run([sys.executable, __file__, name], env=environment, check=True)


if __name__ == "__main__":
    main()
