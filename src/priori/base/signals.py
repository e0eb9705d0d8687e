"""Signals: being interrupted or told to end is an exception like others, so that nothing is left behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: What ends a program, and the word for it.
ENDINGS = {name: word for name, word in (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "terminated"))
           if hasattr(signal, name)}  # fmt: skip


class Terminated(BaseException):
    """A signal asked the program to end; its exit code is that of the shells, 128 and the signal's number."""

    def __init__(self, number: int) -> None:
        self.word = ENDINGS[signal.Signals(number).name]
        self.code = 128 + number
        super().__init__(self.word)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let a signal end the program with one line and no more: while modules are imported, nothing has to be removed."""

    def end(number: int, frame: Any) -> None:
        ended = Terminated(number)
        os.write(2, f"priori: error: {ended.word}\n".encode())
        os._exit(ended.code)

    with _handled(end):
        yield


#: The signals that asked the program to end, and may not have reached it: libraries make errors of their own of them.
_RECEIVED: list[int] = []


def end_if_asked() -> None:
    """Raise `Terminated` if a signal asked the program to end and something below made another error of it."""
    if _RECEIVED:
        raise Terminated(_RECEIVED[0])


@contextmanager
def ending_tidily() -> Iterator[None]:
    """Let a signal raise `Terminated`, whatever libraries below make of it; further ones are ignored meanwhile."""
    _RECEIVED.clear()

    def end(number: int, frame: Any) -> None:
        for name in ENDINGS:
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        _RECEIVED.append(number)
        raise Terminated(number)

    try:
        with _handled(end):
            yield
        end_if_asked()
    except BaseException as error:
        if _RECEIVED and not isinstance(error, Terminated):
            raise Terminated(_RECEIVED[0]) from None
        raise
    finally:
        _RECEIVED.clear()


@contextmanager
def held_back() -> Iterator[None]:
    """Let a signal wait: a library that loads compiled parts would crash if an exception came between them."""
    waiting: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in (getattr(signal, name) for name in ENDINGS)}
    for number in before:
        signal.signal(number, lambda given, frame: waiting.append(given))
    try:
        yield
    finally:
        for number, usually in before.items():
            signal.signal(number, usually)
    for number in waiting[:1]:
        signal.raise_signal(number)


@contextmanager
def _handled(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Set the handler of those signals that have their usual one, and give that back at the end."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    before = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in ENDINGS]
        before = {number: found for number in numbers if (found := signal.getsignal(number)) in usual}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, usually in before.items():
            signal.signal(number, usually)
