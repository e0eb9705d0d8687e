"""Files written atomically: whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from priori.base.errors import OptionError
from priori.base.temporary import discard, keep_temporary, making

#: Names under which a process finds its own open files; these are written to, never replaced.
OPEN_FILES = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path to write to; at the end it replaces ``path``, after an error it vanishes.

    A file that is replaced keeps its rights; a link stays, and the file behind it is replaced. A device or a pipe
    stays, too, and is written to.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    with _said_of(path):
        old = check_writable(path)
        through = _is_written_through(path, old)
        target = Path(os.path.realpath(path))
        folder = target.parent
        if through:
            import tempfile  # not above: it takes long to import, and most results go into regular files

            folder = Path(tempfile.gettempdir())
        temporary = folder / f".priori-{os.urandom(8).hex()}"
        try:
            # The umask takes its rights away from these; a file with rights of its own is private until it has them.
            with making:
                os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600))
                keep_temporary(str(temporary))
            yield temporary
            if through:
                _append(path, temporary.read_bytes())
                return
            if old is not None:
                with suppress(OSError, AttributeError):  # not every user may give files away
                    os.chown(temporary, old.st_uid, old.st_gid)
                temporary.chmod(stat.S_IMODE(old.st_mode))
            temporary.replace(target)
        finally:
            discard(str(temporary))


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file so that it appears whole or not at all.

    Names that are not UTF-8 are written as JSON and Python escape them (``\\udcff``).
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with _said_of(path):
        if _is_written_through(path, check_writable(path)):  # without a temporary file: its disk may be full
            _append(path, data)
            return
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


def check_writable(path: str | Path) -> os.stat_result | None:
    """Refuse a path that could only fail after the work; return what is there already, if anything."""
    if not os.fspath(path):
        raise OptionError("cannot write a file without a name; give one")
    with _said_of(path):
        try:
            old: os.stat_result | None = os.stat(path)
        except FileNotFoundError:
            old = None
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise OptionError(f"cannot write {path}: it is a directory; give a file name")
        folder = os.path.dirname(os.path.realpath(path))
        if old is None and not os.path.isdir(folder):
            shown = os.path.dirname(path) or folder
            raise OptionError(f"cannot write {path}: there is no directory {shown}; make it first")
        if old is not None and not os.access(path, os.W_OK):
            raise OptionError(f"cannot write {path}: it must not be changed (Permission denied); name another file")
        if not os.access(folder, os.W_OK) and not _is_written_through(path, old):
            raise OptionError(f"cannot write {path}: Permission denied in its directory; name another")
    return old


@contextmanager
def _said_of(path: str | Path) -> Iterator[None]:
    """Make the system's errors name this path; a reader that went away is the caller's concern."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror or error}") from None
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise OptionError(f"cannot write {str(path)!r}: a name cannot hold a NUL character") from None


def _is_written_through(path: str | Path, old: os.stat_result | None) -> bool:
    return old is not None and (not stat.S_ISREG(old.st_mode) or os.path.abspath(path).startswith(OPEN_FILES))


def _append(path: str | Path, data: bytes) -> None:
    # Appending leaves what others wrote before into the same open file; a device or a pipe is unaffected.
    with open(path, "ab") as file:
        file.write(data)
