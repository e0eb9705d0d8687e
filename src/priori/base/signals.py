"""Signals: being interrupted or told to end removes what is temporary and ends the process, whatever it is doing."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from priori.base.temporary import remove_temporary

if TYPE_CHECKING:
    import subprocess

#: What ends a program, and the word for it.
ENDINGS = {
    getattr(signal, name): word
    for name, word in (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "terminated"))
    if hasattr(signal, name)
}
#: The processes that this one waits for: they end with it.
children: set[subprocess.Popen[bytes]] = set()


def end_on_signals() -> None:
    """Let a signal end this process in one line, with the exit code of the shells: 128 and the signal's number.

    A thread waits for signals, so that a long query or kernel ends at once, and no code is left half-way by an
    exception that may come anywhere, its clean-up included. What is ignored (nohup) stays so, and a library that
    takes a signal for itself keeps it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    usual = (signal.SIG_DFL, signal.default_int_handler)
    ours = [number for number in ENDINGS if signal.getsignal(number) in usual]

    def pass_on(number: int, frame: FrameType | None) -> None:
        """Wake the thread, should a library have taken the file that Python itself wakes it by."""
        os.write(writing, bytes([number]))

    def wait() -> None:
        while True:
            number = os.read(reading, 1)[0]
            if number in ENDINGS and signal.getsignal(number) is pass_on:
                end(number)

    try:
        threading.Thread(target=wait, daemon=True, name="priori-signals").start()
    except RuntimeError:  # no thread can be had: a signal ends the process when it next runs Python
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
    with suppress(OSError):
        clear = b"\r\x1b[K\x1b[?25h" if os.isatty(2) else b""  # the progress bar, and its hidden cursor
        os.write(2, clear + f"priori: error: {ENDINGS[signal.Signals(number)]}\n".encode())
    for child in children:
        with suppress(OSError):
            child.kill()
    remove_temporary(for_good=True)
    os._exit(128 + number)
