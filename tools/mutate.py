"""Change the source in small ways, one at a time, and see whether a test notices: ``make mutate SAMPLE=300``.

The sample is the same for the same seed; a larger one holds the smaller. Results are kept in ``.mutate/``, so a run
that was interrupted goes on where it was, and a mutant is run again only when its line has changed, or with
``--again`` when it lived. Mutants that change nothing that anybody could notice are listed, with the reason, in
``tools/equivalent_mutants.toml``.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from mutants import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".mutate"
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.toml"
#: What a test may look at: everything that is kept in the repository, but not pictures of pages.
COPIED = ("src", "tests", "papers", "examples", "validation", "benchmarks", "docs", "tools")
#: A module is also covered by the tests of the floors that do little but call it.
ALSO = {"base": ("saving", "scores"), "words": ("report", "cli"), "plots": ("report",), "saving": ("cli",)}
#: A mutant may make the tests this many times slower before it counts as noticed.
PATIENCE = 4.0
#: Set when the run is interrupted.
STOPPED = threading.Event()


def sample(size: int, seed: int, only: str) -> list[Mutant]:
    """Return some mutants of all modules: those that come first when sorted by a hash of seed and name."""
    modules = sorted((ROOT / "src" / "priori").rglob("*.py"))
    found = [mutant for module in modules if only in str(module) for mutant in mutants_of(module, ROOT)]
    found.sort(key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
    return found[:size]


def is_equivalent(mutant: Mutant, listed: Iterable[dict[str, str]]) -> bool:
    """Tell whether a mutant is on the list of those that nobody can notice."""
    wanted = {"path": mutant.path, "code": mutant.code, "change": mutant.change}
    return any(all(entry[name] == value for name, value in wanted.items()) for entry in listed)


def floor_of(path: str) -> str:
    """Return the floor that a module stands on."""
    parts = path.split("/")[2:]
    return parts[0] if len(parts) > 1 else "priori"


def stages(mutant: Mutant, root: Path) -> list[list[str]]:
    """Return the test files to run, those that most likely notice first: of the module, then of its floor."""
    tests = root / "tests"
    module = mutant.path.removeprefix("src/priori/").removesuffix(".py")
    folder = tests / floor_of(mutant.path)
    dotted = "priori." + module.removesuffix("/__init__").replace("/", ".")
    name = module.removesuffix("/__init__").rpartition("/")[2]
    files = sorted(folder.rglob("test_*.py")) if folder.is_dir() else sorted((tests / "project").glob("test_*.py"))
    for other in ALSO.get(floor_of(mutant.path), ()):
        files += sorted((tests / other).rglob("test_*.py"))
    files = [file for file in files if "browser" not in file.name]
    mirrors = [file for file in files if name in file.stem or dotted in file.read_text(encoding="utf-8")]
    rest = [file for file in files if file not in mirrors]
    return [[str(file.relative_to(root)) for file in group] for group in ([*mirrors, root / mutant.path], rest)]


class Tree:
    """A copy of the repository, where one mutant lives at a time."""

    def __init__(self, folder: Path, needed: dict[str, float | None]) -> None:
        self.folder = folder
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build", "*.png"))
        for file in ROOT.glob("*.*"):
            if file.is_file():
                shutil.copy(file, folder)
        self.caches = folder / "numba"
        #: The processor's seconds that each test file needs without a mutant; None: it fails. Trees share them.
        self.needed = needed

    def run(self, files: list[str], seconds: float, cache: Path) -> tuple[str, float]:
        """Run tests within so many of the processor's seconds; return how that ended and how many it took.

        The clock would not do: it runs on while other programs have the processor.
        """
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        environment = {
            **os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(cache), "MPLBACKEND": "agg",
        }  # fmt: skip
        most = (int(seconds) + 1, int(seconds) + 5)
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as scratch:
            environment["TMPDIR"] = scratch
            running = subprocess.Popen(
                [*command, "--doctest-modules", *files], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, most),
            )  # fmt: skip
            try:
                return self._wait(running.pid, time.monotonic() + 20 * seconds)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)

    def _wait(self, process: int, end: float) -> tuple[str, float]:
        while True:
            ended, status, usage = os.wait4(process, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                fate = "passed" if code in (0, 5) else "timed out" if code < 0 else "failed"  # 5: nothing to run
                return fate, usage.ru_utime + usage.ru_stime
            if time.monotonic() > end or STOPPED.is_set():
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                return "timed out", 0.0
            time.sleep(0.05)

    def need(self, file: str) -> float | None:
        """Return what a test file needs without a mutant."""
        if file not in self.needed:
            fate, seconds = self.run([file], 1800, self.caches)
            self.needed[file] = seconds if fate == "passed" else None
        return self.needed[file]

    def fate(self, mutant: Mutant) -> str:
        """Let a mutant live, run the tests of its module and then of its floor, and say what became of it."""
        tested = False
        for files in stages(mutant, self.folder):
            usable = [file for file in files if self.need(file) is not None]
            if usable:
                tested, ended = True, self._ended(mutant, usable)
                if ended != "passed":
                    return "killed" if ended == "failed" else ended
        return "survived" if tested else "untested"

    def _ended(self, mutant: Mutant, files: list[str]) -> str:
        """Run tests with a mutant, and return how they ended."""
        file = self.folder / mutant.path
        source, stamp = file.read_text(encoding="utf-8"), file.stat()
        seconds = PATIENCE * sum(self.needed[name] or 0.0 for name in files) + 10
        # Compiled functions are kept with those that they call: a changed one needs an empty cache.
        cache = self.caches
        if "@compiled" in source:
            cache, seconds = Path(tempfile.mkdtemp(dir=self.folder)), seconds + 240
        file.write_text(mutant.apply(source), encoding="utf-8")
        try:
            return self.run(files, seconds, cache)[0]
        finally:
            file.write_text(source, encoding="utf-8")
            os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            if cache != self.caches:
                shutil.rmtree(cache, ignore_errors=True)


def kept() -> dict[str, str]:
    """Return what became of the mutants of earlier runs."""
    file = KEPT / "results.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {entry["key"]: entry["fate"] for entry in map(json.loads, lines)}


def run(chosen: list[Mutant], jobs: int) -> dict[str, str]:
    """Let the mutants live, one after the other in each of some trees; results are written as they come."""
    fates: dict[str, str] = {}
    if not chosen:
        return fates
    writing = threading.Lock()
    trees: SimpleQueue[Tree] = SimpleQueue()
    needed: dict[str, float | None] = {}
    with tempfile.TemporaryDirectory(prefix="priori-mutate-") as scratch, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            (Path(scratch) / str(number)).mkdir()
            trees.put(Tree(Path(scratch) / str(number), needed))

        def live(mutant: Mutant) -> None:
            tree = trees.get()
            try:
                fate = tree.fate(mutant)
            finally:
                trees.put(tree)
            if STOPPED.is_set():
                return
            with writing, (KEPT / "results.jsonl").open("a", encoding="utf-8") as file:
                fates[mutant.key] = fate
                file.write(json.dumps({"key": mutant.key, "fate": fate, **asdict(mutant)}) + "\n")
                print(f"{len(fates)}/{len(chosen)} {fate}: {mutant.path}:{mutant.line}  {mutant.change}", flush=True)

        try:
            list(pool.map(live, chosen))
        except BaseException:  # interrupted: the tests under way are ended, those that wait are not begun
            STOPPED.set()
            pool.shutdown(cancel_futures=True)
            raise
    if broken := sorted(file for file, seconds in needed.items() if seconds is None):
        print(f"\nleft out, as they fail without a mutant: {', '.join(broken)}")
    return fates


def tally(chosen: list[Mutant], fates: dict[str, str], listed: list[dict[str, str]]) -> None:
    """Print what became of the mutants, floor by floor, and those that lived."""
    floors: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for mutant in chosen:
        fate = "equivalent" if is_equivalent(mutant, listed) else fates.get(mutant.key, "not run")
        for name in (floor_of(mutant.path), "all"):
            floors[name][fate] += 1
    columns = ("killed", "timed out", "survived", "equivalent", "untested", "not run")
    print(f"\n{'floor':<14}" + "".join(f"{name:>12}" for name in columns) + f"{'noticed %':>12}")
    for name in (*sorted(set(floors) - {"all"}), "all"):
        counts = floors[name]
        noticed = counts["killed"] + counts["timed out"]
        share = f"{100 * noticed / (noticed + counts['survived']):.1f}" if noticed + counts["survived"] else "-"
        print(f"{name:<14}" + "".join(f"{counts[column]:>12}" for column in columns) + f"{share:>12}")
    living = [m for m in chosen if fates.get(m.key) == "survived" and not is_equivalent(m, listed)]
    for mutant in sorted(living, key=lambda mutant: (mutant.path, mutant.line)):
        print(f"\n{mutant.path}:{mutant.line}\n    {mutant.code}\n    {mutant.change}")


def main() -> None:
    """Take the options, run what has not been run, print the tally."""
    parser = argparse.ArgumentParser(description="Change the source in small ways; see whether a test notices.")
    parser.add_argument("--sample", type=int, default=300, help="How many mutants.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="How many at the same time.")
    parser.add_argument("--only", default="", help="Part of the path of the modules to change.")
    parser.add_argument("--again", action="store_true", help="Run those that lived again.")
    parser.add_argument("--list", action="store_true", help="Print the tally of earlier runs; run nothing.")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as Ctrl-C does
    KEPT.mkdir(exist_ok=True)
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    chosen, fates = sample(options.sample, options.seed, options.only), kept()
    settled = {"killed", "timed out"} | (set() if options.again else {"survived"})
    known = {key for key, fate in fates.items() if fate in settled}
    waiting = [mutant for mutant in chosen if mutant.key not in known and not is_equivalent(mutant, listed)]
    if not options.list:
        fates |= run(waiting, options.jobs)
    tally(chosen, fates, listed)


if __name__ == "__main__":
    main()
