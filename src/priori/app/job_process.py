"""The job's process, from the outside: started, listened to, and ended with its children whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from priori.app.limits import Limits, megabytes

#: What the process runs. ``-P``: nothing in the working directory, where uploads are, can be imported.
WORKER = ("-P", "-X", "utf8", "-m", "priori.app.worker")

#: What the process gets to know of our environment; the rest is none of its business.
PASSED = ("PATH", "HOME", "LD_LIBRARY_PATH", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "VIRTUAL_ENV", "SYSTEMROOT")

#: The longest line it may say.
LINE = 1 << 20


@dataclass(frozen=True)
class Ended:
    """How a job's process ended: done, or failed for reasons given by field (``form``: the whole of it)."""

    state: Literal["done", "failed"]
    errors: dict[str, str] = field(default_factory=dict)
    log: str = ""


def _environment(temporary: Path) -> dict[str, str]:
    package = Path(__file__).resolve().parents[2]
    paths = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {
        **{name: os.environ[name] for name in PASSED if name in os.environ},
        "PYTHONPATH": os.pathsep.join([str(package), *paths]),
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
        # Threads reserve address space, which is what the memory limit counts.
        "MALLOC_ARENA_MAX": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


async def run_worker(
    order: Mapping[str, Any],
    outcome: Path,
    limits: Limits,
    listen: Callable[[Mapping[str, Any]], None],
    worker: tuple[str, ...] = WORKER,
) -> Ended:
    """Compute one job in a process of its own; results go to ``outcome``.

    When this returns or is cancelled, the process and its children are gone.
    """
    temporary = outcome / "tmp"
    temporary.mkdir(mode=0o700)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *worker,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        cwd=outcome,
        env=_environment(temporary),
        limit=LINE,
        start_new_session=True,
    )
    watching = asyncio.create_task(_watch_disk(process, outcome, 2 * limits.unpacked))
    try:
        async with asyncio.timeout(limits.seconds):
            full_order = {**order, "outcome": outcome, "limits": asdict(limits)}
            return await _converse(process, full_order, limits, listen)
    except TimeoutError:
        return _failed(
            f"stopped after {limits.seconds:g} seconds, which is the limit; "
            "use fewer resamples or fewer trials, or priori report on the command line"
        )
    finally:
        watching.cancel()
        await asyncio.shield(_end(process))
        shutil.rmtree(temporary, ignore_errors=True)


async def _converse(
    process: Process, order: Mapping[str, Any], limits: Limits, listen: Callable[[Mapping[str, Any]], None]
) -> Ended:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):
        # Left open: its end tells the process that the server is gone.
        process.stdin.write(json.dumps(order, default=str).encode() + b"\n")
        await process.stdin.drain()
    while True:
        try:
            line = await process.stdout.readline()
        except ValueError:
            return _died(limits, " (said too much)")
        if not line:
            return _died(limits, f" (exit {await process.wait()})")
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise TypeError("a message is an object")
            if "finished" in message:
                return Ended("done")
            if "errors" in message:
                errors = {str(key)[:40]: str(text)[:4000] for key, text in message["errors"].items()}
                return Ended("failed", errors, " " + str(message.get("log", ""))[:200])
            listen(message)
        except (ValueError, TypeError, AttributeError):
            return _died(limits, " (said what is not understood)")


def _failed(message: str, log: str = "") -> Ended:
    return Ended("failed", {"form": message}, log)


def _died(limits: Limits, log: str) -> Ended:
    return _failed(
        "the analysis ended unexpectedly; most often it needed more memory than the "
        f"{megabytes(limits.memory)} it may use: try fewer trials or resamples, or the command line",
        log,
    )


async def _watch_disk(process: Process, outcome: Path, most: int) -> None:
    """End a process that fills the disk."""
    while True:
        await asyncio.sleep(1.0)
        size = 0
        for folder, _, names in os.walk(outcome):
            for name in names:
                with suppress(OSError):
                    size += os.lstat(os.path.join(folder, name)).st_size
        if size > most:
            _kill(process)


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def _end(process: Process) -> None:
    _kill(process)
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()
        with suppress(ConnectionError):
            await process.stdin.wait_closed()
