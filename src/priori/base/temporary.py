"""Temporary files and folders: each is removed where it was used, or else at the end of the process.

Whoever ends the process on a signal calls `remove_temporary`, or exits as Python does, which calls it.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from priori.base.errors import InputError, OptionError

#: What a disk without room says.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: The paths in use, and the process that made each: a fork must not remove what its parent uses.
_in_use: dict[str, int] = {}


def keep_temporary(path: str) -> str:
    """Note a path that is to be gone when the process ends, and return it."""
    _in_use[path] = os.getpid()
    return path


def discard(path: str) -> None:
    """Remove a temporary file or folder, if it is still there."""
    _in_use.pop(path, None)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        Path(path).unlink(missing_ok=True)


def remove_temporary() -> None:
    """Remove every temporary file and folder that this process still has."""
    for path in [path for path, process in _in_use.items() if process == os.getpid()]:
        discard(path)


atexit.register(remove_temporary)


def temporary_folder(parent: str | os.PathLike[str] | None = None) -> str:
    """Make a folder in ``parent``, or where the system keeps temporary files; `discard` removes it."""
    import tempfile  # not above: it takes long to import

    try:
        return keep_temporary(tempfile.mkdtemp(prefix="priori-", dir=parent))
    except OSError as error:
        raise OptionError(_no_room(error, parent)) from None


@contextmanager
def temporary_file() -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file to write into, removed at the end; a full disk is an `InputError` that says so."""
    import tempfile

    try:
        descriptor, path = tempfile.mkstemp(prefix="priori-")
    except OSError as error:
        raise InputError(_no_room(error, None)) from None
    keep_temporary(path)
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
