"""How commands end when something outside goes wrong: signals, full disks, no memory, closed streams, odd settings.

Each ends in one line and an exit code, without a traceback; what was there before stays, nothing half-written appears.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import priori
from priori.cli import main

A = ("--system", "A", "a-dev.csv", "a-test.csv")
B = ("--system", "B", "b-dev.csv", "b-test.csv")
#: Processes import this copy of the package.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(priori.__file__).parents[1])}
ENDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
#: How many seconds anything may take: on a busy machine everything is late.
PATIENCE = 300
#: Commands that write, each with its file; the number of resamples stands at RESAMPLES.
WRITING = {
    "epc": (
        ("epc", *A, "--bootstrap", "user", "--resamples", "RESAMPLES", "--threads", "1", "-o", "out.csv"),
        "out.csv",
    ),
    "report": (("report", *A, *B, "--resamples", "RESAMPLES", "--threads", "1", "-o", "out.html"), "out.html"),
    "demo": (("demo", "cancer", "--resamples", "RESAMPLES", "--output", ".", "--force"), "report.html"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two systems, a development and a test file each."""
    rng = np.random.default_rng(0)
    for name in ("a-dev", "a-test", "b-dev", "b-test"):
        rows = [f"{rng.normal(1.5 * (index % 2)):.4f},{index % 2},u{index % 20},t{index}" for index in range(200)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["score,label,user,trial", *rows]) + "\n")
    return tmp_path


def start(folder: Path, *arguments: str, **settings: Any) -> subprocess.Popen[str]:
    """Start a command, as a shell would: with its usual signals."""
    environment = {**ENVIRONMENT, **settings.pop("environment", {})}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return subprocess.Popen(
        [sys.executable, "-m", "priori", *arguments], cwd=folder, text=True, env=environment, **{**pipes, **settings}
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Return how a command ended and what it said of it."""
    try:
        _, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert "Traceback" not in (err or ""), err
    return process.returncode, "\n".join(line for line in (err or "").splitlines() if "error:" in line)


def python(code: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program."""
    words = [sys.executable, "-c", code]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=ENVIRONMENT)


def limited(what: int, size: int) -> Callable[[], None]:
    """Return what sets a limit of the system in a new process."""
    return lambda: resource.setrlimit(what, (size, size))


def _writing(folder: Path, name: str, resamples: str) -> tuple[tuple[str, ...], Path]:
    arguments, written = WRITING[name]
    (folder / written).write_text("as before")
    return tuple(resamples if word == "RESAMPLES" else word for word in arguments), folder / written


def _temporary(folder: Path) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.name.startswith((".", "priori-"))]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("epc", signal.SIGINT),
        ("epc", signal.SIGTERM),
        ("epc", signal.SIGKILL),
        ("report", signal.SIGINT),
        ("demo", signal.SIGTERM),
    ],
    ids=lambda each: str(getattr(each, "name", each)),
)
def test_signals(folder: Path, name: str, number: signal.Signals) -> None:
    arguments, written = _writing(folder, name, "5000000")
    (folder / "tmp").mkdir()
    process = start(folder, *arguments, environment={"TMPDIR": str(folder / "tmp")})
    if name == "demo":
        _soon(lambda: (folder / "naive-bayes-test.csv").exists(), process)
    else:
        assert process.stderr is not None
        assert "a-dev.csv" in process.stderr.readline()
    time.sleep(0.5)
    process.send_signal(number)
    code, said = finish(process)
    told = (128 + number, f"priori: error: {ENDS[number]}") if number in ENDS else (-number, "")
    assert (code, said) == told
    assert written.read_text() == "as before"
    assert _temporary(folder) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_signals_during_imports(folder: Path, number: signal.Signals) -> None:
    """The handler is there before the first import of a library, and ends the program at once."""
    code = (
        "import sys, signal, os, builtins, priori.__main__\n"
        "usual = builtins.__import__\n"
        "def slow(name, *rest, **more):\n"
        f"    if name.startswith('numpy'): os.kill(os.getpid(), {int(number)})\n"
        "    return usual(name, *rest, **more)\n"
        "builtins.__import__ = slow\n"
        "sys.argv[1:] = ['threshold', 'a-dev.csv']\n"
        "priori.__main__.main()\n"
    )
    done = python(code, folder)
    assert (done.returncode, done.stderr) == (128 + number, f"priori: error: {ENDS[number]}\n")


def test_importing_the_package_imports_no_library() -> None:
    code = "import sys, priori; print([name for name in ('numpy', 'click', 'scipy', 'numba') if name in sys.modules])"
    assert python(code).stdout == "[]\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
@pytest.mark.parametrize(
    "doing",
    [
        "import duckdb; duckdb.sql('SELECT sum(sqrt(a.range * b.range)) FROM range(9999999) a, range(99999) b').show()",
        "import atexit; atexit.register(time.sleep, 60)",
        "try:\n    pass\nfinally:\n    time.sleep(60)",
        "class Slow:\n    def __del__(self):\n        for _ in range(600): time.sleep(0.1)\nSlow()",
    ],
    ids=["query", "exit", "finally", "finaliser"],
)
def test_signals_end_at_once_whatever_runs(tmp_path: Path, number: signal.Signals, doing: str) -> None:
    """In a query, which runs no Python for minutes, and in clean-up, where no exception may come."""
    code = (
        "import sys, time; from priori.base.temporary import end_on_signals; end_on_signals()\n"
        f"from priori.base.temporary import temporary_folder; temporary_folder({str(tmp_path)!r})\n"
        f"print('ready', flush=True)\n{doing}\n"
    )
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([sys.executable, "-c", code], text=True, env=ENVIRONMENT, **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (128 + number, f"priori: error: {ENDS[number]}\n")
    assert list(tmp_path.iterdir()) == []


def test_what_a_library_takes_for_itself_stays_its_own() -> None:
    code = (
        "import os, signal, time; from priori.base.temporary import end_on_signals; end_on_signals()\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('mine'))\n"
        "os.kill(os.getpid(), signal.SIGTERM); time.sleep(0.5)\n"
    )
    done = python(code)
    assert (done.returncode, done.stdout) == (0, "mine\n")


SHORT = "not enough memory or threads ({}); allow more (ulimit -v, ulimit -u), or give --threads 1"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("can't start new thread"), SHORT.format("RuntimeError can't start new thread")),
        (OSError("Could not find/load shared object"), SHORT.format("OSError Could not find/load shared object")),
        (MemoryError(), "not enough memory for these scores"),
        (
            KeyError("x"),
            "KeyError 'x'; this is a fault of Priori, please report it with what 'python -X dev -m priori ...' prints",
        ),
    ],
)
def test_a_crash_is_no_verdict(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, said: str
) -> None:
    monkeypatch.chdir(folder)

    def crash(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("priori.cli.check.check_limits", crash)
    with pytest.raises(SystemExit) as ended:
        main(["check", *A, "--max", "hter=0.9"])
    assert ended.value.code == 3
    assert capsys.readouterr().err.splitlines()[-1] == f"priori: error: {said}"


def test_signals_that_are_ignored_stay_so(folder: Path) -> None:
    """As after nohup."""
    ignored: dict[str, Any] = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    process = start(folder, "threshold", "--no-bootstrap", "-", stdin=subprocess.PIPE, **ignored)
    time.sleep(1)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate((folder / "a-dev.csv").read_text(), timeout=PATIENCE)
    assert process.returncode == 0
    assert out.startswith("Threshold by weighted error rate")


@pytest.mark.parametrize("name", WRITING)
def test_a_full_disk(folder: Path, name: str) -> None:
    arguments, written = _writing(folder, name, "100")
    code, said = finish(start(folder, *arguments, preexec_fn=limited(resource.RLIMIT_FSIZE, 2000)))
    assert code == 2
    assert said.startswith("priori: error: ")
    assert said.endswith(": File too large")
    assert written.read_text() == "as before"
    assert _temporary(folder) == []


@pytest.mark.parametrize("name", WRITING)
def test_no_memory(folder: Path, name: str) -> None:
    arguments, written = _writing(folder, name, "10000000")
    code, said = finish(start(folder, *arguments, preexec_fn=limited(resource.RLIMIT_AS, 6 << 30)))
    assert (code, said) == (3, "priori: error: not enough memory for these scores")
    assert written.read_text() == "as before"
    assert _temporary(folder) == []


FULL = "No space left on device"
CLOSED = "standard output is closed: there is nowhere to print to; leave it open, or give -o FILE"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("threshold --no-bootstrap a-dev.csv > /dev/full", 2, f"cannot write to standard output: {FULL}"),
        ("threshold --no-bootstrap a-dev.csv -o /dev/full", 2, f"cannot write /dev/full: {FULL}"),
        ("--help > /dev/full", 2, FULL),
        ("threshold --no-bootstrap a-dev.csv >&-", 2, CLOSED),
        ("schema EPC >&-", 2, CLOSED),
        ("threshold --no-bootstrap - <&-", 2, "standard input is closed; give a file, or pipe the scores in"),
        ("threshold --no-bootstrap a-dev.csv -o out.csv >&- <&-", 0, ""),
        ("threshold --no-bootstrap a-dev.csv 2> /dev/full > out.txt", 0, ""),
        ("threshold --no-bootstrap a-dev.csv 2>&- > out.txt", 0, ""),
        ("threshold missing.csv 2> /dev/full", 2, ""),
        ("threshold missing.csv 2>&-", 2, ""),
        ("threshold --no-bootstrap a-dev.csv -o /dev/stdout | head -0", 0, ""),
    ],
)
def test_streams_that_are_full_or_closed(folder: Path, command: str, code: int, said: str) -> None:
    line, taken = f'"{sys.executable}" -m priori {command}', {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(line, shell=True, cwd=folder, text=True, check=False, env=ENVIRONMENT, **taken)
    errors = [line for line in done.stderr.splitlines() if "CSV table" not in line and "warning [" not in line]
    assert (done.returncode, errors) == (code, [f"priori: error: {said}"] if said else [])
    if "out." in command:
        assert len(next(folder.glob("out.*")).read_text()) > 30


def test_no_directory_for_temporary_files(folder: Path) -> None:
    nowhere: dict[str, Any] = {"environment": {"TMPDIR": "no"}, "preexec_fn": limited(resource.RLIMIT_FSIZE, 0)}
    process = start(folder, "threshold", "-", stdin=subprocess.PIPE, **nowhere)
    _, err = process.communicate("score,label\n" + "0.5,1\n0.25,0\n" * 200_000, timeout=PATIENCE)
    assert process.returncode == 2
    assert "Traceback" not in err
    assert "priori: error: " in err.splitlines()[-1]


@pytest.mark.parametrize("files", [5, 7])
def test_few_open_files(folder: Path, files: int) -> None:
    few = limited(resource.RLIMIT_NOFILE, files)
    code, said = finish(start(folder, "epc", *A, "-o", "out.csv", "--plot", "out.svg", preexec_fn=few))
    assert (code == 0) == (said == "")
    assert code in (0, 2, 3)
    assert "Too many open files" in said or code == 0


def test_more_files_than_may_be_open(folder: Path) -> None:
    (folder / "parts").mkdir()
    for number in range(60):
        (folder / "parts" / f"{number}.csv").write_text((folder / "a-dev.csv").read_text())
    (folder / "out.csv").write_text("as before")
    arguments = ("epc", "--system", "A", "parts/*.csv", "a-test.csv", "--engine", "duckdb", "-o", "out.csv")
    code, said = finish(start(folder, *arguments, preexec_fn=limited(resource.RLIMIT_NOFILE, 8)))
    assert (code, said) == (
        2,
        "priori: error: parts/*.csv: more files than may be open at a time; allow more "
        "(ulimit -n), or join them into fewer",
    )
    assert (folder / "out.csv").read_text() == "as before"


# -- what is on disk meanwhile -------------------------------------------------------------------------


def _soon(there: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is there, while the process runs."""
    end = time.monotonic() + PATIENCE
    while not there():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_signals_while_standard_input_is_kept(folder: Path, number: signal.Signals) -> None:
    """More than fits into the first piece goes to a file, which goes with the command."""
    (folder / "tmp").mkdir()
    process = start(folder, "threshold", "-", stdin=subprocess.PIPE, environment={"TMPDIR": str(folder / "tmp")})
    assert process.stdin is not None
    process.stdin.write("score,label\n" + "0.5,1\n0.25,0\n" * 400_000)
    process.stdin.flush()
    _soon(lambda: any(file.stat().st_size for file in (folder / "tmp").rglob("*")), process)
    process.send_signal(number)
    code, said = finish(process)
    assert (code, said) == (128 + number, f"priori: error: {ENDS[number]}")
    assert list((folder / "tmp").iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
def test_signals_during_a_scan(folder: Path, number: signal.Signals) -> None:
    """The database has a folder of its own for what does not fit, from its first query on."""
    (folder / "tmp").mkdir()
    rows = (folder / "a-dev.csv").read_text().partition("\n")[2]
    (folder / "large.csv").write_text("score,label,user,trial\n" + rows * 20_000)
    (folder / "out.csv").write_text("as before")
    arguments = ("epc", "--system", "A", "large.csv", "large.csv", "--engine", "duckdb", "-o", "out.csv")
    process = start(folder, *arguments, environment={"TMPDIR": str(folder / "tmp")})
    _soon(lambda: any((folder / "tmp").iterdir()), process)
    process.send_signal(number)
    code, said = finish(process)
    assert (code, said) == (128 + number, f"priori: error: {ENDS[number]}")
    assert list((folder / "tmp").iterdir()) == []
    assert (folder / "out.csv").read_text() == "as before"


# -- numba ---------------------------------------------------------------------------------------------


def test_numba_that_must_not_compile(folder: Path) -> None:
    arguments = ("epc", *A, "--bootstrap", "user", "--resamples", "10")
    code, said = finish(start(folder, *arguments, environment={"NUMBA_DISABLE_JIT": "1"}))
    assert (code, said) == (2, "priori: error: bootstraps run compiled, and NUMBA_DISABLE_JIT forbids that; unset it")
    assert finish(start(folder, "epc", *A, environment={"NUMBA_DISABLE_JIT": "1"})) == (0, "")


def test_a_damaged_cache(folder: Path, tmp_path: Path) -> None:
    arguments = ("epc", *A, "--bootstrap", "user", "--resamples", "10")
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert finish(start(folder, *arguments, environment=environment))[0] == 0
    for kind in ("nbi", "nbc"):
        (file,) = (tmp_path / "cache").rglob(f"*weigh-*.{kind}")
        whole = file.read_bytes()
        file.write_bytes(whole[:20])
        code, said = finish(start(folder, *arguments, environment=environment))
        assert code == 3
        assert said.startswith("priori: error: a compiled kernel on disk is damaged; delete the *.nbi")
        file.write_bytes(whole)
