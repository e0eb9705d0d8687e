"""Temporary files and folders: removed after use, or else when the process ends, even by a signal."""

from __future__ import annotations

import atexit
import errno
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO

from priori.base.errors import InputError, OptionError

if TYPE_CHECKING:
    import subprocess

#: The errors of a full disk.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: The paths in use, and the process that made each: a fork must not remove what its parent uses.
_in_use: dict[str, int] = {}
#: Held while a path is made and recorded, so that a process that ends removes them all.
making = threading.RLock()


def keep_temporary(path: str) -> str:
    """Note a path that is to be gone when the process ends, and return it; hold ``making`` if it is made already."""
    with making:
        _in_use[path] = os.getpid()
    return path


def discard(path: str) -> None:
    """Remove a temporary file or folder, if it is still there."""
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil  # not above: whoever only writes a file does without

        shutil.rmtree(path, ignore_errors=True)
    else:
        Path(path).unlink(missing_ok=True)
    _in_use.pop(path, None)


def remove_temporary(*, for_good: bool = False) -> None:
    """Remove every temporary file and folder that this process still has.

    ``for_good``: nothing is made any more, as the process ends. While other threads still write into a folder it may
    not be removable; it is tried again.
    """
    if for_good:
        making.acquire(timeout=1)
    paths = [path for path, process in [*_in_use.items()] if process == os.getpid()]
    for _ in range(50 if for_good else 1):
        for path in paths:
            with suppress(OSError):
                discard(path)
        if not any(map(os.path.lexists, paths)):
            return
        time.sleep(0.01)


atexit.register(remove_temporary)


def temporary_folder(parent: str | os.PathLike[str] | None = None) -> str:
    """Make a folder in ``parent``, or where the system keeps temporary files; `discard` removes it."""
    import tempfile  # not above: it takes long to import

    try:
        with making:
            return keep_temporary(tempfile.mkdtemp(prefix="priori-", dir=parent))
    except OSError as error:
        raise OptionError(_no_room(error, parent)) from None


@contextmanager
def temporary_file() -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file to write into, removed at the end; a full disk is an `InputError` that says so."""
    import tempfile

    try:
        with making:
            descriptor, path = tempfile.mkstemp(prefix="priori-")
            keep_temporary(path)
    except OSError as error:
        raise InputError(_no_room(error, None)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, Path(path)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise InputError(_no_room(error, None)) from None
    finally:
        discard(path)


def _no_room(error: OSError, parent: str | os.PathLike[str] | None) -> str:
    import tempfile

    where = f"cannot put temporary files into {os.fspath(parent)}" if parent is not None else ""
    if not where:
        try:
            where = f"cannot put temporary files into {tempfile.gettempdir()}"
        except OSError:
            where = "there is no directory for temporary files"
    return f"{where}: {error.strerror or error}; name one with room (--temp, temp=, or the variable TMPDIR)"


# -- signals: being interrupted or told to end removes what is temporary and ends the process, whatever it is doing ---

#: What ends a program, and the word for it.
ENDINGS = {
    getattr(signal, name): word
    for name, word in (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "terminated"))
    if hasattr(signal, name)
}
#: The processes that this one waits for: they end with it.
children: set[subprocess.Popen[bytes]] = set()
#: Set when a signal ends the process: errors caused by the removal are no longer reported.
ending = threading.Event()


def end_on_signals() -> None:
    """Let a signal end this process in one line, with the exit code of the shells: 128 and the signal's number.

    A thread waits for signals, so that a long query or kernel ends at once, and no code is left half-way by an
    exception that may come anywhere, its clean-up included. Signals that are ignored (nohup) stay ignored, and a
    library that handles a signal itself keeps it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    usual = (signal.SIG_DFL, signal.default_int_handler)
    ours = [number for number in ENDINGS if signal.getsignal(number) in usual]

    def pass_on(number: int, frame: FrameType | None) -> None:
        """Wake the thread, in case a library has taken the file descriptor by which Python wakes it."""
        os.write(writing, bytes([number]))

    def wait() -> None:
        while True:
            number = os.read(reading, 1)[0]
            if number in ENDINGS and signal.getsignal(number) is pass_on:
                end(number)

    try:
        threading.Thread(target=wait, daemon=True, name="priori-signals").start()
    except RuntimeError:  # no thread can be started: a signal ends the process when it next runs Python
        for number in ours:
            signal.signal(number, lambda given, frame: end(given))
        return
    for number in ours:
        signal.signal(number, pass_on)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))


def end(number: int) -> None:
    """Say why, remove what is temporary, and end the process and those that it waits for."""
    ending.set()
    with suppress(OSError):
        clear = b"\r\x1b[K\x1b[?25h" if os.isatty(2) else b""  # the progress bar, and its hidden cursor
        os.write(2, clear + f"priori: error: {ENDINGS[signal.Signals(number)]}\n".encode())
    for child in children:
        with suppress(OSError):
            child.kill()
    remove_temporary(for_good=True)
    os._exit(128 + number)
