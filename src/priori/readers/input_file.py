"""Where the bytes come from: a file, standard input, an open file; plain or gzip. Refuses what is not scores."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TextIO

from priori.base.errors import InputError
from priori.base.temporary import discard, temporary_file, temporary_folder

PathOrFile = str | os.PathLike[str] | BinaryIO

#: The most bytes kept of an input that can be read only once (a pipe, standard input); some never end.
MOST = 16 << 30

#: Files below this many bytes are parsed here, line by line: quicker than starting duckdb.
SMALL = 1 << 20

#: How files of other kinds begin, and what they are.
MAGIC = (
    (b"PK\x03\x04", "a zip archive: save a spreadsheet as CSV (UTF-8), unpack anything else"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet: save it as CSV (UTF-8)"),
    (b"\x93NUMPY", "a numpy array: load it, and use Scores.from_predictions, or save a matrix with its ids as .npz"),
    (b"\x89HDF", "an HDF5 file: load it, and save the columns as CSV or Parquet"),
    (b"MATLAB", "a MATLAB file: load it with scipy.io.loadmat, and use Scores.from_predictions"),
    (b"ARROW1", "Feather (Arrow): read it with pandas.read_feather, and use Scores.from_frame or save it as Parquet"),
    (b"FEA1", "Feather version 1: read it with pandas.read_feather, and save it as Parquet"),
    *(
        (
            bytes((0x80, version)),
            "a pickle, which could run any code: load it where you trust it, and save it as CSV or Parquet",
        )
        for version in (2, 3, 4, 5)
    ),
    (b"BZh", "compressed with bzip2 (only gzip is read; decompress it first)"),
    (b"\xfd7zXZ", "compressed with xz (only gzip is read; decompress it first)"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstandard (only gzip is read; decompress it first)"),
    (b"\xff\xfe", "UTF-16 text (save it as UTF-8)"),
    (b"\xfe\xff", "UTF-16 text (save it as UTF-8)"),
)
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
PARQUET_MAGIC = b"PAR1"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: The most characters in a line: a file without line ends is not a file of scores.
LONGEST = 1 << 18


@dataclass(frozen=True)
class Source:
    """Bytes that can be read again and again: a regular file (``path``), or a few bytes kept here (``data``)."""

    name: str
    path: Path | None
    data: bytes
    gzipped: bool
    parquet: bool
    size: int
    npz: bool = False

    @property
    def extension(self) -> str:
        """The extension that tells the format: lower case, without ``.gz``."""
        name = self.name.lower().removesuffix(".gz")
        return os.path.splitext(name)[1]

    @property
    def small(self) -> bool:
        """Whether parsing it line by line beats starting duckdb."""
        return self.path is None or self.size * (4 if self.gzipped else 1) < SMALL

    def open(self) -> BinaryIO | gzip.GzipFile:
        """Open the bytes, decompressed."""
        if self.gzipped:
            return gzip.open(self.path or io.BytesIO(self.data))
        return self.path.open("rb") if self.path else io.BytesIO(self.data)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers, from 1, without line ends (LF, CRLF or CR) and byte-order mark."""
        number = 0
        with self.open() as raw:
            text: TextIO = io.TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape")
            try:
                while line := text.readline(LONGEST + 1):
                    number += 1
                    yield number, _checked_line(line.removesuffix("\n"), f"{self.name}:{number}")
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise _damaged(self.name, error, number) from None


def _checked_line(line: str, where: str) -> str:
    if "\0" in line:
        raise InputError(f"{where}: a NUL byte; the file is binary or damaged, scores are read from text or Parquet")
    if not line.isascii():
        bad = next((character for character in line if "\ud800" <= character <= "\udfff"), None)
        if bad is not None:
            raise InputError(
                f"{where}: not UTF-8 text (byte 0x{ord(bad) - 0xDC00:02x}); save the file as UTF-8, "
                "for instance with: iconv -f latin1 -t utf-8"
            )
    if len(line) > LONGEST:
        raise InputError(f"{where}: a line of more than {LONGEST} characters; scores are one trial per line")
    return line


def _damaged(name: str, error: Exception, lines: int) -> InputError:
    after = f" after line {lines}" if lines else ""
    if isinstance(error, EOFError):
        return InputError(f"{name}: the gzip file ends too early{after}; it was cut short, fetch or write it again")
    return InputError(f"{name}: the gzip data are damaged{after} ({error}); fetch or write the file again")


@contextmanager
def open_source(path_or_file: PathOrFile, name: str | None = None) -> Iterator[Source]:
    """Open a path, ``-`` (standard input) or an open binary file, and refuse what cannot be scores.

    What cannot be read twice (a pipe) is kept in memory when small, else in a temporary file, removed at the end.
    """
    with ExitStack() as stack:
        if isinstance(path_or_file, (str, os.PathLike)):
            path = os.fspath(path_or_file)
            name = name or ("standard input" if path == "-" else shown(path))
            if path == "-" and (sys.stdin is None or sys.stdin.closed):
                raise InputError(f"{name} is closed; give a file, or pipe the scores in")
            yield _settled(sys.stdin.buffer if path == "-" else _opened(path, name, stack), name, stack)
        else:
            yield _settled(path_or_file, name or str(getattr(path_or_file, "name", "open file")), stack)


def shown(path: str) -> str:
    """Return a path as text that can be printed, also where its bytes are no UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def utf8_path(path: Path, stack: ExitStack) -> Path:
    """Return a path that duckdb takes: the same, or a link to it where its bytes are no UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        folder = temporary_folder()
        stack.callback(discard, folder)
        link = Path(folder, "scores")
        link.symlink_to(path.absolute())
        return link
    return path


def _opened(path: str, name: str, stack: ExitStack) -> Path | BinaryIO:
    """Return the path of a regular file, or what is open of a pipe or a device."""
    try:
        file = stack.enter_context(open(path, "rb"))  # noqa: SIM115
    except IsADirectoryError:
        raise InputError(f"{name}: is a directory; give a file of scores") from None
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{name}: cannot be read ({reason}); check the path and its permissions") from None
    return Path(path) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else file


def _settled(opened: Path | BinaryIO, name: str, stack: ExitStack) -> Source:
    if isinstance(opened, Path):
        path: Path | None = utf8_path(opened, stack)
        with opened.open("rb") as stream:
            data = stream.read(len(PARQUET_MAGIC))
        size = opened.stat().st_size
    else:
        path, data, size = _spooled(opened, name, stack)
    if not size:
        raise InputError(f"{name}: the file is empty; a score and a label per trial are needed")
    parquet = data.startswith(PARQUET_MAGIC)
    npz = data.startswith(ZIP_MAGIC) and name.lower().endswith(".npz")
    if (parquet or npz) and path is None:
        file, path = stack.enter_context(temporary_file())
        with file:
            file.write(data)
    gzipped = data.startswith(GZIP_MAGIC)
    if name.lower().endswith(".gz") and not gzipped:
        raise InputError(f"{name}: named .gz but not compressed with gzip; rename it, or fetch it again")
    source = Source(name, path, b"" if path else data, gzipped, parquet, size, npz)
    if not (parquet or npz):
        _refuse_binary(source)
    return source


def _spooled(stream: BinaryIO, name: str, stack: ExitStack) -> tuple[Path | None, bytes, int]:
    """Keep an input that can be read only once: in memory when small, else in a temporary file; refuse endless ones."""
    data = _some(stream, name)
    chunk = _some(stream, name)
    if not chunk:
        return None, data, len(data)
    if not data.startswith((GZIP_MAGIC, PARQUET_MAGIC)):
        _refuse_head(data, name)  # before it fills the disk
    file, path = stack.enter_context(temporary_file())
    size = 0
    with file:
        for part in chain([data, chunk], iter(lambda: _some(stream, name), b"")):
            size += len(part)
            if size > MOST:
                raise InputError(f"{name}: more than {MOST >> 30} GiB came from it; write it to a file, and give that")
            file.write(part)
    return path, data, size


def _some(stream: BinaryIO, name: str) -> bytes:
    try:
        data = stream.read(SMALL)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if not isinstance(data, bytes):
        raise InputError(f"{name}: is open as text; open it in binary mode ('rb')")
    return data


def _refuse_binary(source: Source) -> None:
    try:
        with source.open() as stream:
            head = stream.read(4096)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(source.name, error, 0) from None
    if source.gzipped and head.startswith((PARQUET_MAGIC, GZIP_MAGIC)):
        raise InputError(f"{source.name}: compressed twice; decompress it once with gunzip")
    _refuse_head(head, source.name)


def _refuse_head(head: bytes, name: str) -> None:
    for magic, kind in MAGIC:
        if head.startswith(magic):
            raise InputError(f"{name}: not scores but {kind}")
    if b"\0" in head:
        raise InputError(f"{name}: a binary file; scores are read from text (UTF-8), gzip or Parquet")
