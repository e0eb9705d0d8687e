"""Jobs: the analyses of all visitors, each computed in a process of its own that can be ended at any moment."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import shutil
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from priori.app.choices import Choices
from priori.app.limits import Limits, Refusal, megabytes
from priori.app.uploads import Storage, SystemFiles, Upload

#: What the process runs. ``-P``: nothing in the working directory, where uploads are, can be imported.
WORKER = ("-P", "-X", "utf8", "-m", "priori.app.worker")

#: The part of our environment that the process gets; it needs nothing else.
PASSED = ("PATH", "HOME", "LD_LIBRARY_PATH", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "VIRTUAL_ENV", "SYSTEMROOT")

#: The longest line it may send.
LINE = 1 << 20


@dataclass(frozen=True)
class Ended:
    """How a job's process ended: done, failed for reasons given by field (``form``: the whole of it), or cancelled."""

    state: Literal["done", "failed", "cancelled"]
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
        # Left open: when it closes, the process knows that the server is gone.
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


State = Literal["waiting", "running", "done", "failed", "cancelled"]
LOG = logging.getLogger("priori.app")

#: The longest message taken from a job's process.
MESSAGE = 4_000


@dataclass
class Job:
    """One analysis: files, choices, and how far it is."""

    key: str
    visitor: str
    folder: Path
    systems: dict[str, SystemFiles] = field(default_factory=dict)
    trials: dict[str, Upload] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)
    state: State = "waiting"
    stage: str = ""
    done: int = 0
    total: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    outcome: Path | None = None
    mark: str = ""
    runs: int = 0
    used: float = field(default_factory=time.monotonic)
    begun: datetime = field(default_factory=partial(datetime.now, UTC))
    task: asyncio.Task[None] | None = None

    @property
    def active(self) -> bool:
        """Whether it computes or waits for its turn."""
        return self.state in ("waiting", "running")

    def uploads(self) -> list[Upload]:
        """Return every file of this job."""
        scores = [file for system in self.systems.values() for file in (system.dev, system.test)]
        return [*self.trials.values(), *scores]

    def take(self, systems: dict[str, SystemFiles], trials: dict[str, Upload], choices: Choices) -> None:
        """Take what a form gives: move new files into the job's folder, delete those it no longer has."""

        def moved(file: Upload) -> Upload:
            return replace(file, path=file.path.replace(self.folder / file.path.name))

        before = self.uploads()
        self.systems = {
            key: replace(system, dev=moved(system.dev), test=moved(system.test)) for key, system in systems.items()
        }
        self.trials = {part: moved(file) for part, file in trials.items()}
        self.choices = choices
        for path in {file.path for file in before} - {file.path for file in self.uploads()}:
            path.unlink(missing_ok=True)

    def order(self) -> dict[str, Any]:
        """Return what the job's process is to compute."""
        return {
            "systems": [{"key": key, **asdict(system)} for key, system in self.systems.items()],
            "trials": {part: asdict(upload) for part, upload in self.trials.items()},
            "choices": asdict(self.choices),
        }

    def size(self) -> int:
        """Return how many bytes it takes."""
        results = list(self.outcome.iterdir()) if self.outcome is not None and self.outcome.exists() else []
        return sum(file.size for file in self.uploads()) + sum(file.stat().st_size for file in results)


class Jobs:
    """All jobs of one server: at most so many at a time, the others wait their turn."""

    def __init__(self, storage: Storage, limits: Limits, worker: tuple[str, ...] = WORKER) -> None:
        self.storage, self.limits, self.worker = storage, limits, worker
        self.jobs: dict[str, Job] = {}
        self.turns = asyncio.Semaphore(limits.jobs)
        self.uploading = 0
        self.reserved = 0

    # -- finding and making ----------------------------------------------------------------------------

    def find(self, key: str, visitor: str) -> Job:
        """Return a visitor's job; another's does not exist for them."""
        job = self.jobs.get(key)
        if job is None or not secrets.compare_digest(job.visitor, visitor):
            raise Refusal(404, "there is no such analysis here: it was deleted, or it belongs to another visitor")
        job.used = time.monotonic()
        return job

    def of(self, visitor: str) -> list[Job]:
        """Return the jobs of a visitor, the latest first."""
        return [job for job in reversed(self.jobs.values()) if job.visitor == visitor]

    def check_room(self, visitor: str, *, new: bool) -> None:
        """Refuse a request before its files are received, when there is no place for its job."""
        if sum(job.active for job in self.of(visitor)) >= self.limits.active_per_visitor:
            raise Refusal(429, "wait until one of your analyses is done, or cancel one", retry_after=10)
        if len(self.waiting) >= self.limits.queue:
            raise Refusal(503, "too many analyses are waiting; try again in a minute", retry_after=60)
        if new and sum(job.active for job in self.jobs.values()) >= self.limits.kept:
            raise Refusal(503, "the server keeps as many analyses as it can; try again in a while", retry_after=300)

    @contextmanager
    def upload(self, needed: int, sparing: Job | None) -> Iterator[int]:
        """Take one of the places for uploads, and room on disk; idle jobs make way, but not the one it belongs to."""
        if self.uploading >= self.limits.uploads:
            raise Refusal(503, "too many uploads at the same time; try again in a minute", retry_after=60)
        while needed > self.limits.stored - self.reserved - sum(job.size() for job in self.jobs.values()):
            if not self._evict(sparing):
                raise Refusal(503, "the server's room for files is used up; try again in some minutes", retry_after=300)
        self.uploading += 1
        self.reserved += needed
        try:
            yield needed
        finally:
            self.uploading -= 1
            self.reserved -= needed

    def _evict(self, sparing: Job | None = None) -> bool:
        """Forget the idle job that nobody has asked for the longest; False when there is none."""
        idle = [job for job in self.jobs.values() if not job.active and job is not sparing]
        if idle:
            self.remove(min(idle, key=lambda job: job.used))
        return bool(idle)

    def new(self, visitor: str) -> Job:
        """Make a job; idle ones make way for it, of the same visitor and of all: first those without a result."""
        finished = sorted((job for job in self.of(visitor) if not job.active), key=lambda job: job.state != "done")
        for old in finished[max(self.limits.kept_per_visitor - 1, 0) :]:
            self.remove(old)
        while len(self.jobs) >= self.limits.kept and self._evict():
            pass
        job = Job(secrets.token_urlsafe(24), visitor, self.storage.new_folder())
        self.jobs[job.key] = job
        return job

    # -- running ---------------------------------------------------------------------------------------

    @property
    def waiting(self) -> list[Job]:
        """The jobs that wait for their turn, the next one first."""
        return [job for job in self.jobs.values() if job.state == "waiting"]

    def start(self, job: Job) -> None:
        """Compute a job, now or when its turn comes."""
        job.state, job.stage, job.done, job.total = "waiting", "", 0, 0
        job.errors, job.notes = {}, {}
        self.jobs[job.key] = self.jobs.pop(job.key)  # the last in the queue, also if it was computed before
        job.task = asyncio.create_task(self._run(job))

    async def _run(self, job: Job) -> None:
        async with self.turns:
            begin = time.monotonic()
            job.state = "running"
            job.runs += 1
            outcome, mark = job.folder / f"run-{job.runs}", secrets.token_hex(24)
            outcome.mkdir(mode=0o700)
            ended = Ended("cancelled")
            try:
                order = {**job.order(), "mark": mark}
                ended = await run_worker(order, outcome, self.limits, partial(_listen, job), self.worker)
            finally:
                job.state, job.errors, job.used = ended.state, ended.errors, time.monotonic()
                unused: Path | None = outcome
                if job.state == "done":
                    unused, job.outcome, job.mark = job.outcome, outcome, mark
                if unused is not None:
                    self.storage.remove(unused)
                LOG.info("analysis %s after %.1f s%s", job.state, time.monotonic() - begin, ended.log)

    async def cancel(self, job: Job) -> None:
        """End a job; when this returns its process is gone."""
        if job.task is not None:
            job.task.cancel()
            await asyncio.wait([job.task])
        if job.active:  # cancelled before its turn
            job.state = "cancelled"

    # -- ending ----------------------------------------------------------------------------------------

    def remove(self, job: Job) -> None:
        """Forget a job that is not active, with its files and results."""
        self.jobs.pop(job.key, None)
        self.storage.remove(job.folder)

    async def delete(self, job: Job) -> None:
        """End a job, and forget it."""
        await self.cancel(job)
        self.remove(job)

    def expire(self) -> None:
        """Forget the jobs that nobody has asked for in a while."""
        now = time.monotonic()
        for job in [job for job in self.jobs.values() if not job.active and now - job.used > self.limits.keep]:
            self.remove(job)

    async def watch(self) -> None:
        """Forget what is too old, again and again, until cancelled."""
        while True:
            await asyncio.sleep(min(10.0, self.limits.keep / 4))
            self.expire()

    async def close(self) -> None:
        """End every job and remove every file."""
        await asyncio.gather(*(self.cancel(job) for job in list(self.jobs.values())))
        self.jobs.clear()
        self.storage.close()

    def status(self, job: Job) -> dict[str, Any]:
        """Return what the page needs to show how far a job is."""
        position = self.waiting.index(job) + 1 if job in self.waiting else 0
        told = ("state", "stage", "done", "total", "errors", "notes")
        return {"position": position, **{name: getattr(job, name) for name in told}}


def _listen(job: Job, message: Mapping[str, Any]) -> None:
    """Take what a job's process says of its progress."""
    if "stage" in message:
        job.stage = str(message["stage"])[:MESSAGE]
        job.done, job.total = int(message.get("done", 0)), int(message.get("total", 0))
    elif "note" in message:
        job.notes[str(message.get("field", ""))[:40]] = str(message["note"])[:MESSAGE]
