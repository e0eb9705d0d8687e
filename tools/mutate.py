"""Change the source in small ways, one at a time, and see whether a test notices: ``make mutate SAMPLE=300``.

The sample is the same for the same seed; a larger one holds the smaller. Results are kept in ``.mutate/``, so a run
that was interrupted goes on where it was, and a mutant is run again only when its line has changed, or with
``--again`` when it lived. Mutants that change nothing that anybody could notice are listed, with the reason, in
``tools/equivalent_mutants.toml``.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from mutants import Mutant, is_python, mutants_of

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".mutate"
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.toml"
#: What a test may look at: everything that is kept in the repository, but not pictures of pages.
COPIED = ("src", "tests", "papers", "examples", "validation", "benchmarks", "docs", "tools")
#: A module is also covered by the tests of the floors that do little but call it.
ALSO = {"base": ("saving", "scores"), "words": ("report", "cli"), "plots": ("report",), "saving": ("cli",)}
#: The floors whose tests may notice what those of the module's own did not.
FLOORS = ("scores", "decisions", "curves", "uncertainty", "studies", "saving", "words", "engines")
#: Many commands and calls, and all that they answered: they take a second at most.
TRANSCRIPTS = "transcripts/test_transcripts.py"
#: So many of them, the fastest.
FARTHER = 60
#: Files of tests with these in their names need minutes, and are left to the modules and functions of that name.
SLOW = ("browser", "spark")
#: A mutant may make the tests this many times slower before it counts as noticed.
PATIENCE = 4.0
#: So many seconds without any work, and a run of tests waits without end.
IDLE = 90.0
#: What became of those that no test noticed, or calls.
LIVED = ("survived", "untested")
#: Set when the run is interrupted.
STOPPED = threading.Event()
#: The runs of tests under way.
RUNNING: set[int] = set()
#: One tree records the tests of a file, the others wait.
RECORDING: dict[str, threading.Lock] = defaultdict(threading.Lock)


def sample(size: int, seed: int, only: str) -> list[Mutant]:
    """Return some mutants of all modules: those that come first when sorted by a hash of seed and name."""
    modules = sorted((ROOT / "src" / "priori").rglob("*.py"))
    found = [mutant for module in modules if only in str(module) for mutant in mutants_of(module, ROOT)]
    found.sort(key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
    return list(islice((mutant for mutant in found if is_python(mutant, ROOT)), size))


def is_equivalent(mutant: Mutant, listed: Iterable[dict[str, str]]) -> bool:
    """Tell whether a mutant is on the list of those that nobody can notice."""
    wanted = {"path": mutant.path, "code": mutant.code, "change": mutant.change}
    return any(all(entry[name] == value for name, value in wanted.items()) for entry in listed)


def floor_of(path: str) -> str:
    """Return the floor that a module stands on."""
    parts = path.split("/")[2:]
    return parts[0] if len(parts) > 1 else "priori"


def is_compiled(source: str) -> bool:
    """Tell whether functions of a module are compiled before they run."""
    return re.search(r"^@(compiled|inner)$", source, re.MULTILINE) is not None


@cache
def called_at_import(root: Path) -> set[str]:
    """Return the names of what modules and classes call while they are imported, which no record of a test shows."""

    def calls(node: ast.AST) -> Iterator[ast.Call]:
        for name, value in ast.iter_fields(node):
            if name != "body" or not isinstance(node, (ast.FunctionDef, ast.Lambda)):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from ([child] if isinstance(child, ast.Call) else [])
                        yield from calls(child)

    modules = (root / "src").rglob("*.py")
    found = (call.func for file in modules for call in calls(ast.parse(file.read_text(encoding="utf-8"))))
    return {getattr(function, "id", getattr(function, "attr", "")) for function in found}


def stages(mutant: Mutant, function: str, root: Path) -> list[list[str]]:
    """Return the files with the tests to run, likely ones first: of the module, transcripts, its floor, all."""
    tests = root / "tests"
    module = mutant.path.removeprefix("src/priori/").removesuffix(".py")
    folder = tests / floor_of(mutant.path)
    dotted = "priori." + module.removesuffix("/__init__").replace("/", ".")
    name = module.removesuffix("/__init__").rpartition("/")[2]
    files = sorted(folder.rglob("test_*.py")) if folder.is_dir() else sorted((tests / "project").glob("test_*.py"))
    for other in ALSO.get(floor_of(mutant.path), ()):
        files += sorted((tests / other).rglob("test_*.py"))
    about = f"{name} {function}".lower()
    files = [file for file in files if not any(slow in file.name and slow not in about for slow in SLOW)]
    mirrors = [file for file in files if name in file.stem or dotted in file.read_text(encoding="utf-8")]
    rest = [file for file in files if file not in mirrors]
    others = [file for other in FLOORS for file in sorted((tests / other).rglob("test_*.py")) if file not in files]
    others = [file for file in others if not any(slow in file.name for slow in SLOW)]
    groups = ([*mirrors, root / mutant.path], [tests / TRANSCRIPTS], rest, others)
    return [[str(file.relative_to(root)) for file in group] for group in groups]


def function_of(mutant: Mutant, source: str) -> str:
    """Return the name, as recorded, of the function that a mutant is in; that of the module where it is in none."""

    def inside(node: ast.AST, name: str, end: str) -> tuple[str, str]:
        for child in ast.iter_child_nodes(node):
            if getattr(child, "lineno", 0) <= mutant.line <= getattr(child, "end_lineno", 0):
                if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                    is_function = isinstance(child, ast.FunctionDef)
                    whole = name + child.name
                    return inside(child, whole + (".<locals>." if is_function else "."), whole if is_function else end)
                return inside(child, name, end)
        return name, end

    return f"{mutant.path}:{inside(ast.parse(source), '', '')[1]}"


def _used(session: int) -> int:
    """Return the processor's time that a run of tests and what it started have used."""
    used = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            used += sum(map(int, fields[11:15])) if int(fields[3]) == session else 0
    return used


def _end_when_idle(session: int, ended: threading.Event) -> None:
    """End a run of tests that waits without end; a busy machine lets every process go on a little."""
    before, since = -1, time.monotonic()
    while not ended.wait(5):
        if (now := _used(session)) != before:
            before, since = now, time.monotonic()
        elif time.monotonic() > since + IDLE:
            _end(session)


class Recorded(NamedTuple):
    """The tests of a file that pass without a mutant."""

    #: By name, the processor's seconds that each needs and the functions that it calls.
    tests: dict[str, tuple[float, list[str]]]
    #: What fixtures call that all of them share.
    shared: list[str]

    def every(self) -> dict[str, float]:
        """Return all of them, with their seconds."""
        return {name: seconds for name, (seconds, _) in self.tests.items()}

    def calling(self, function: str) -> dict[str, float]:
        """Return the tests that call a function, or any of a module, with their seconds."""
        begin = function if function.endswith(":") else f"{function}."

        def calls(names: list[str]) -> bool:
            return any(name == function or name.startswith(begin) for name in names)

        if calls(self.shared):
            return self.every()
        return {name: seconds for name, (seconds, called) in self.tests.items() if calls(called)}


def _end(process: int) -> None:
    """End a run of tests, and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


class Tree:
    """A copy of the repository, where one mutant lives at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build", "*.png"))
        for file in ROOT.glob("*.*"):
            if file.is_file():
                shutil.copy(file, folder)
        self.server = subprocess.Popen(
            [sys.executable, str(ROOT / "tools" / "ready_tests.py")],
            cwd=folder,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        )
        # numba keeps what it compiled under the path of the source; trees and runs share it.
        self.caches = folder / "numba"
        self.caches.mkdir()
        for package in {file.parent for file in (folder / "src").rglob("*.py")}:
            kept = KEPT / "numba" / package.relative_to(folder)
            kept.mkdir(parents=True, exist_ok=True)
            hashed = hashlib.sha1(str(package).encode()).hexdigest()
            (self.caches / f"{package.name}_{hashed}").symlink_to(kept)

    def run(self, files: Iterable[str], seconds: float, cache: Path, **settings: str) -> str:
        """Run tests within so many of the processor's seconds; return how that ended.

        The clock would not do: it runs on while other programs have the processor.
        """
        arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "recording", "--doctest-modules", *files]
        environment = {
            "PYTHONPATH": os.pathsep.join(str(self.folder / name) for name in ("src", "tools")),
            "NUMBA_CACHE_DIR": str(cache),
            "MPLBACKEND": "agg",
            "HYPOTHESIS_PROFILE": "quick",
            **settings,
        }
        if STOPPED.is_set():
            return "timed out"
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        with tempfile.TemporaryDirectory(dir=self.folder, ignore_cleanup_errors=True) as scratch:
            environment["TMPDIR"] = scratch
            wanted = {"arguments": arguments, "environment": environment, "seconds": seconds}
            self.server.stdin.write(json.dumps(wanted) + "\n")
            self.server.stdin.flush()
            process = int(self.server.stdout.readline())
            ended = threading.Event()
            watch = threading.Thread(target=_end_when_idle, args=(process, ended), daemon=True)
            watch.start()
            RUNNING.add(process)
            try:
                code = int(self.server.stdout.readline())
            finally:
                ended.set()
                RUNNING.discard(process)
                _end(process)  # what it started and left
        named = {0: "passed", 5: "passed", -signal.SIGXCPU: "timed out", -signal.SIGKILL: "timed out"}  # 5: none to run
        return named.get(code, "killed")

    def tests_of(self, file: str) -> Recorded:
        """Return the tests of a file that pass, as recorded without a mutant since the file has changed."""
        text = (self.folder / file).read_text(encoding="utf-8")
        if file.startswith("src") and ">>>" not in text:
            return Recorded({}, [])
        beside = "".join(each.read_text(encoding="utf-8") for each in sorted((self.folder / file).parent.glob("*.txt")))
        stamp = hashlib.sha256(f"{file} {text}{beside}".encode()).hexdigest()[:16]
        kept = KEPT / f"tests-{stamp}.json"
        with RECORDING[file]:
            if not kept.exists():
                record = self.folder / "record.json"
                record.write_text('{"tests": {}, "shared": []}', encoding="utf-8")
                self.run([file], 1800, self.caches, MUTATE_RECORD=str(record))
                if not STOPPED.is_set():
                    shutil.copy(record, kept)
                else:
                    return Recorded({}, [])
        return Recorded(**json.loads(kept.read_text(encoding="utf-8")))

    def fate(self, mutant: Mutant) -> tuple[str, str]:
        """Let a mutant live, run the tests that call its function, and say what became of it, and by which test."""
        source = (self.folder / mutant.path).read_text(encoding="utf-8")
        function = function_of(mutant, source)
        at_import = re.split("[.:]", function)[-1] in called_at_import(self.folder)
        tested, groups = False, stages(mutant, function, self.folder)
        near = {file for group in groups[:3] for file in group}
        for files in groups:
            chosen: dict[str, float] = {}
            waiting = list(files)
            while waiting:  # first for those that no other tree is recording
                self.tests_of(waiting.pop(min(range(len(waiting)), key=lambda n: RECORDING[waiting[n]].locked())))
            for file in files:
                found = self.tests_of(file)
                unseen = file in near and (at_import or is_compiled(source))
                calling = found.every() if unseen else found.calling(function)
                chosen |= dict(sorted(calling.items(), key=lambda test: test[1]))
            if files is groups[-1]:
                chosen = dict(sorted(chosen.items(), key=lambda test: test[1])[:FARTHER])
            if chosen:
                tested, (fate, by) = True, self._ended(mutant, source, chosen)
                if fate != "passed":
                    return fate, by
        if not tested:  # by any test of this process: one may call it in another
            chosen = {name: seconds for file in near for name, seconds in self.tests_of(file).every().items()}
            tested, (fate, by) = bool(chosen), self._ended(mutant, source, chosen) if chosen else ("passed", "")
            if fate != "passed":
                return fate, by
        return ("survived" if tested else "untested"), ""

    def _ended(self, mutant: Mutant, source: str, chosen: dict[str, float]) -> tuple[str, str]:
        """Run tests with a mutant, and return how they ended."""
        file, list_of_tests = self.folder / mutant.path, self.folder / "chosen.txt"
        failed, stamp = Path(f"{list_of_tests}.failed"), file.stat()
        failed.unlink(missing_ok=True)
        list_of_tests.write_text("\n".join(chosen), encoding="utf-8")
        seconds = PATIENCE * sum(chosen.values()) + 30
        # Compiled functions are kept with those that they call: a changed one needs an empty cache.
        cache = self.caches
        if is_compiled(source):
            cache, seconds = Path(tempfile.mkdtemp(dir=self.folder)), seconds + 240
        file.write_text(mutant.apply(source), encoding="utf-8")
        try:
            files = dict.fromkeys(name.partition("::")[0] for name in chosen)
            fate = self.run(["-x", *files], seconds, cache, MUTATE_CHOSEN=str(list_of_tests))
        finally:
            file.write_text(source, encoding="utf-8")
            os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            if cache != self.caches:
                shutil.rmtree(cache, ignore_errors=True)
        return fate, failed.read_text(encoding="utf-8") if failed.exists() else ""


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
    with tempfile.TemporaryDirectory(prefix="priori-mutate-") as scratch, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            (Path(scratch) / str(number)).mkdir()
            trees.put(Tree(Path(scratch) / str(number)))

        def live(mutant: Mutant) -> None:
            tree = trees.get()
            try:
                fate, by = tree.fate(mutant)
            finally:
                trees.put(tree)
            if STOPPED.is_set():
                return
            with writing, (KEPT / "results.jsonl").open("a", encoding="utf-8") as file:
                fates[mutant.key] = fate
                file.write(json.dumps({"key": mutant.key, "fate": fate, "by": by, **asdict(mutant)}) + "\n")
                print(f"{len(fates)}/{len(chosen)} {fate}: {mutant.path}:{mutant.line}  {mutant.change}", flush=True)

        try:
            list(pool.map(live, chosen))
        except BaseException:  # interrupted: the tests under way are ended, those that wait are not begun
            STOPPED.set()
            for process in tuple(RUNNING):
                _end(process)
            pool.shutdown(cancel_futures=True)
            raise
    return fates


def tally(chosen: list[Mutant], fates: dict[str, str], listed: list[dict[str, str]]) -> None:
    """Print what became of the mutants, floor by floor, and those that lived."""
    floors: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for mutant in chosen:
        fate = "equivalent" if is_equivalent(mutant, listed) else fates.get(mutant.key, "not run")
        for name in (floor_of(mutant.path), "all"):
            floors[name][fate] += 1
    columns = ("killed", "timed out", "survived", "untested", "equivalent", "not run")
    print(f"\n{'floor':<14}" + "".join(f"{name:>12}" for name in columns) + f"{'noticed %':>12}")
    for name in (*sorted(set(floors) - {"all"}), "all"):
        counts = floors[name]
        noticed = counts["killed"] + counts["timed out"]
        run = noticed + sum(counts[name] for name in LIVED)
        share = f"{100 * noticed / run:.1f}" if run else "-"
        print(f"{name:<14}" + "".join(f"{counts[column]:>12}" for column in columns) + f"{share:>12}")
    living = [m for m in chosen if fates.get(m.key) in LIVED and not is_equivalent(m, listed)]
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
    settled = {"killed", "timed out"} | (set() if options.again else {"survived", "untested"})
    known = {key for key, fate in fates.items() if fate in settled}
    waiting = [mutant for mutant in chosen if mutant.key not in known and not is_equivalent(mutant, listed)]
    waiting.sort(key=lambda mutant: is_compiled((ROOT / mutant.path).read_text(encoding="utf-8")))  # they take longest
    if not options.list:
        fates |= run(waiting, options.jobs)
    tally(chosen, fates, listed)


if __name__ == "__main__":
    main()
