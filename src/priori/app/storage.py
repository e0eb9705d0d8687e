"""Where uploads live: a private directory per server, a folder per job, names that we make; all gone at the end."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from priori.base.temporary import discard, keep_temporary, making

PREFIX = "priori-app-"
LOCK = "owner.lock"

#: A directory without a signed lock may belong to a server that is just starting; after so many seconds it does not.
STARTING = 3600.0


def _lock(file: IO[str], *, wait: bool = False) -> bool:
    """Take the lock that a living server holds; False when another process has it.

    The system lets go of it when its holder ends, however it ends, so no process number can mislead.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _is_stale(folder: Path) -> bool:
    """Tell whether no living server holds a directory."""
    try:
        with (folder / LOCK).open("r+", encoding="ascii") as lock:
            if not _lock(lock):
                return False
            if lock.read():
                return True
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return time.time() - folder.lstat().st_mtime > STARTING


def _is_ours(folder: Path) -> bool:
    """Tell whether a path is a real directory that belongs to this user."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    owned = sys.platform == "win32" or status.st_uid == os.getuid()
    return owned and folder.is_dir() and not folder.is_symlink()


def sweep(parent: Path) -> int:
    """Remove what servers that were killed left behind, and return how many directories that were."""
    removed = 0
    for folder in parent.glob(f"{PREFIX}*"):
        if _is_ours(folder) and _is_stale(folder):
            shutil.rmtree(folder, ignore_errors=True)
            removed += not folder.exists()
    return removed


class Storage:
    """A private directory that lives as long as the server; nobody else's user can look into it."""

    def __init__(self, parent: str | Path | None = None) -> None:
        base = Path(parent or tempfile.gettempdir())
        self.swept = sweep(base)
        with making:
            self.root = Path(keep_temporary(tempfile.mkdtemp(prefix=PREFIX, dir=base)))
        self._held = (self.root / LOCK).open("w", encoding="ascii")
        _lock(self._held, wait=True)
        self._held.write("held\n")
        self._held.flush()

    def new_folder(self) -> Path:
        """Make an empty folder with a name nobody can guess."""
        folder = self.root / secrets.token_hex(16)
        folder.mkdir(mode=0o700)
        return folder

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Give an empty folder that is removed at the end."""
        folder = self.new_folder()
        try:
            yield folder
        finally:
            self.remove(folder)

    def remove(self, folder: Path) -> None:
        """Remove a folder and all that is in it."""
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove everything."""
        discard(str(self.root))
        self._held.close()
