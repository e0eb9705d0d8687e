"""Uploads: a form read as it arrives, files straight to disk under names we make; all gone at the end."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from priori.app.limits import NO_KEY, Limits, Refusal, megabytes
from priori.base.temporary import discard, keep_temporary, making
from priori.words.numbers import one_line

#: Fields that may hold a file: a system's development and test scores, and the two trials files.
FILE_FIELD = re.compile(r"(dev|test)-([0-9]{1,4}|trials)")


@dataclass(frozen=True)
class Upload:
    """A file that was uploaded: where it is, what its owner calls it (text to show, never a path), its size."""

    path: Path
    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class SystemFiles:
    """A system as it was uploaded: its name, its development and its test file."""

    name: str
    dev: Upload
    test: Upload


@dataclass
class Form:
    """The fields and files of one request."""

    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)


def clean_name(text: str, longest: int) -> str:
    """Return a name as one line of text that cannot rewrite what stands around it.

    Examples
    --------
    >>> clean_name(" a\\nb\\u202e ", 10)
    'a b'
    """
    if len(text) > longest:
        raise Refusal(422, f"a name has {len(text):,} characters; at most {longest:,} are taken: shorten it")
    return one_line(text)


@dataclass
class _Part:
    """The part of the form that is arriving."""

    headers: dict[bytes, bytes] = field(default_factory=dict)
    header_name: bytes = b""
    header_value: bytes = b""
    name: str = ""
    file_name: str = ""
    file: IO[bytes] | None = None
    path: Path = Path()
    data: bytearray = field(default_factory=bytearray)
    size: int = 0
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)


class _Receiver:
    """What the multipart parser calls: keeps small fields, writes files, counts everything."""

    def __init__(self, folder: Path, limits: Limits, check_key: Callable[[str], None], trusted: bool) -> None:
        self.folder, self.limits, self.check_key, self.trusted = folder, limits, check_key, trusted
        self.form = Form()
        self.part = _Part()
        self.parts = 0
        self.finished = False

    def callbacks(self) -> dict[str, Callable[..., None]]:
        return {name: getattr(self, name) for name in dir(self) if name.startswith("on_")}

    def on_part_begin(self) -> None:
        self.part = _Part()
        self.parts += 1
        if self.parts > self.limits.files + self.limits.fields:
            raise Refusal(413, f"the form has more than {self.limits.files + self.limits.fields} parts")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self.part.header_name += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self.part.header_value += data[start:end]

    def on_header_end(self) -> None:
        self.part.headers[self.part.header_name.lower()] = self.part.header_value
        self.part.header_name = self.part.header_value = b""

    def on_headers_finished(self) -> None:
        from python_multipart.multipart import parse_options_header

        part = self.part
        kind, options = parse_options_header(part.headers.get(b"content-disposition", b""))
        part.name = options.get(b"name", b"").decode("utf-8", "replace")
        if kind != b"form-data" or not part.name:
            raise Refusal(400, "the form has a part without a name")
        if part.name in self.form.fields or part.name in self.form.files:
            raise Refusal(400, "the form has two parts of the same name")
        if b"filename" in options:
            part.file_name = options[b"filename"].decode("utf-8", "replace").replace("%22", '"')
            self._open()
        elif len(self.form.fields) >= self.limits.fields:
            raise Refusal(413, f"the form has more than {self.limits.fields} fields")

    def _open(self) -> None:
        if not self.trusted:
            raise Refusal(403, NO_KEY)
        if not FILE_FIELD.fullmatch(self.part.name):
            raise Refusal(400, "the form has a file where none is expected")
        if len(self.form.files) >= self.limits.files:
            raise Refusal(413, f"at most {self.limits.files} files are taken at a time ({self.limits.systems} systems)")
        self.part.path = self.folder / secrets.token_hex(16)
        descriptor = os.open(self.part.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        self.part.file = os.fdopen(descriptor, "wb")

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        part = self.part
        piece = data[start:end]
        part.size += len(piece)
        if part.file is not None:
            part.file.write(piece)
            part.digest.update(piece)
        elif part.size > self.limits.field_bytes:
            raise Refusal(413, f"a field is longer than {megabytes(self.limits.field_bytes)}")
        else:
            part.data += piece

    def on_part_end(self) -> None:
        part = self.part
        if part.file is None:
            text = self.form.fields[part.name] = part.data.decode("utf-8", "replace")
            if part.name == "csrf":
                self.check_key(text)
                self.trusted = True
            return
        self.close()
        if not part.size and not part.file_name:  # what a browser sends for a file field left empty
            part.path.unlink()
            return
        name = clean_name(part.file_name, self.limits.name_characters) or "a file without a name"
        self.form.files[part.name] = Upload(part.path, name, part.size, part.digest.hexdigest())

    def on_end(self) -> None:
        self.finished = True

    def close(self) -> None:
        if self.part.file is not None:
            self.part.file.close()
            self.part.file = None


async def read_form(
    stream: AsyncIterator[bytes],
    content_type: str,
    folder: Path,
    limits: Limits,
    *,
    room: int,
    check_key: Callable[[str], None],
    trusted: bool,
) -> Form:
    """Read a multipart form as it arrives; files go to ``folder``, at most ``room`` bytes of them.

    ``check_key`` is called with the field ``csrf``, and raises when it is not this visitor's key; unless the request
    is ``trusted`` (the key was in a header), that field must come before the first file. Raises `Refusal` at the first
    byte too many; what was written is the caller's to remove, with the folder.
    """
    from python_multipart.exceptions import MultipartParseError
    from python_multipart.multipart import MultipartParser, parse_options_header

    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= 200:
        raise Refusal(415, "send the form as multipart/form-data")
    receiver = _Receiver(folder, limits, check_key, trusted)
    # Long enough for a file name of 10,000 characters; what is longer is an attack.
    header = 200 + 6 * limits.name_characters
    parser = MultipartParser(boundary, receiver.callbacks(), max_header_size=header)  # type: ignore[arg-type]
    received = 0
    try:
        async for chunk in _timely(stream, limits):
            received += len(chunk)
            if received > limits.upload:
                raise too_large(limits)
            if received > room:
                raise Refusal(503, "the server's room for files is used up; try again in some minutes", retry_after=300)
            parser.write(chunk)
        parser.finalize()
    except MultipartParseError:
        raise Refusal(400, "the form cannot be read; load the page again and send it from there") from None
    finally:
        receiver.close()
    if not receiver.finished:
        raise Refusal(400, "the form ended too early; send it again")
    if not receiver.trusted:
        raise Refusal(403, NO_KEY)
    return receiver.form


def too_large(limits: Limits) -> Refusal:
    """Return the refusal of an upload over the limit."""
    return Refusal(413, f"the files are larger than {megabytes(limits.upload)} together, which is the limit")


async def _timely(stream: AsyncIterator[bytes], limits: Limits) -> AsyncIterator[bytes]:
    """Yield the pieces of a body, and give up on one that takes too long."""
    pieces = stream.__aiter__()
    loop = asyncio.get_running_loop()
    end = loop.time() + limits.upload_seconds
    while True:
        patience = min(limits.idle_seconds, end - loop.time())
        try:
            async with asyncio.timeout(max(patience, 0)):
                chunk = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise Refusal(408, "the upload took too long; send it again") from None
        yield chunk


def systems_of(
    form: Form, earlier: dict[str, SystemFiles], limits: Limits, errors: dict[str, str]
) -> dict[str, SystemFiles]:
    """Return the systems of a form, by their keys; a file that is not sent again is the one already there."""
    sent = [name.removeprefix("name-") for name in form.fields if name.startswith("name-")]
    # A system that was left empty is ignored, unless it is the only one.
    keys = [
        key
        for key in sent
        if form.fields[f"name-{key}"].strip() or key in earlier or {f"dev-{key}", f"test-{key}"} & form.files.keys()
    ] or sent[:1]
    if not all(re.fullmatch(r"[0-9]{1,4}", key) for key in keys):
        raise Refusal(400, "the form has a system of an unknown kind; load the page again")
    if not keys:
        errors["form"] = "give at least one system"
    if len(keys) > limits.systems:
        raise Refusal(413, f"at most {limits.systems} systems are taken at a time")
    systems: dict[str, SystemFiles] = {}
    names: set[str] = set()
    for number, key in enumerate(keys, start=1):
        name = clean_name(form.fields[f"name-{key}"], limits.name_characters) or f"System {number}"
        if name in names:
            errors[f"name-{key}"] = "another system has this name; give each its own"
        names.add(name)
        files: dict[str, Upload] = {}
        for part, word in (("dev", "development"), ("test", "test")):
            file = form.files.get(f"{part}-{key}") or getattr(earlier.get(key), part, None)
            if file is None:
                errors[f"{part}-{key}"] = f"choose a file with {word} scores"
            else:
                files[part] = file
        if len(files) == 2:
            systems[key] = SystemFiles(name, **files)
    return systems


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
