"""The bytes of a text file, checked before duckdb is trusted with them: how many rows it must find.

Only plain files give a number. What is not plain (comments, blank lines of blanks, runs of blanks, mixed line ends,
quotes within fields, a byte-order mark before a name, bytes that are no UTF-8) duckdb may read in another way than
`priori.readers.text`, which defines what a file means.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import BinaryIO

import numpy as np

from priori.base.types import Mask
from priori.readers.input_file import BYTE_ORDER_MARK, Source
from priori.readers.layout import BLANKS, LineLayout

#: How many bytes are looked at together.
BLOCK = 1 << 17

#: A line of twice that length is left to the text parser, which has its own limits.
LONGEST = 1 << 16


class _NotPlain(Exception):
    """Raised for a file that only the text parser can read."""


def count_rows(source: Source, layout: LineLayout, separator: str) -> int | None:
    """Return how many rows a file has, or None where it is not plain.

    ``separator`` is the one character between fields; a file of fields between blanks is plain where no other blank
    stands in it.
    """
    try:
        with source.open() as stream:
            return _count(_lines(stream, layout.skip), layout, separator.encode())
    except (_NotPlain, EOFError, OSError, zlib.error, UnicodeDecodeError):
        return None


def _count(found: Iterable[bytes], layout: LineLayout, separator: bytes) -> int:
    pattern, quoted = _quoted_lines(separator), False
    rows = separators = 0
    for lines in found:
        if lines.startswith(b"#") or (b"#" in lines and b"\n#" in lines):
            raise _NotPlain
        feeds, marks = _places(lines, b"\n"), _places(lines, separator)
        if layout.delimiter == BLANKS and _stray_blanks(lines, feeds, marks, separator):
            raise _NotPlain
        if layout.quoted and b'"' in lines:
            quoted = True
            if pattern.fullmatch(lines) is None:
                raise _NotPlain
        # A line feed that follows another ends no row.
        rows += int(np.count_nonzero(feeds) - np.count_nonzero(feeds[1:] & feeds[:-1])) - (lines[:1] == b"\n")
        separators += int(np.count_nonzero(marks))
    # duckdb counts the fields of each row, too; this makes sure of it.
    width = len(layout.fields)
    if not quoted and separators not in (rows * (width - 1), rows * width):
        raise _NotPlain
    return rows


def _lines(stream: BinaryIO | gzip.GzipFile, skip: int) -> Iterator[bytes]:
    """Yield whole lines of UTF-8 below the first few, many at a time, each with a line feed; all must end alike."""
    above = b"".join(stream.readline(LONGEST) for _ in range(skip))
    ends: set[bool] = set()
    for number, lines in enumerate(chain([above], iter(partial(_block, stream), b""))):
        returns = b"\r" in lines
        if returns and not lines.count(b"\r\n") == lines.count(b"\n") == lines.count(b"\r"):
            raise _NotPlain
        if b"\n" in lines:
            ends.add(returns)
        if len(ends) > 1 or b"\0" in lines or (not skip and number == 1 and lines.startswith(BYTE_ORDER_MARK)):
            raise _NotPlain
        if number:
            lines = lines.replace(b"\r\n", b"\n") if returns else lines
            lines += b"" if lines.endswith(b"\n") else b"\n"
            if any(b"\n" not in lines[start : start + LONGEST] for start in range(0, len(lines), LONGEST)):
                raise _NotPlain
            if not lines.isascii():
                lines.decode()
            yield lines


def _block(stream: BinaryIO | gzip.GzipFile) -> bytes:
    block = stream.read(BLOCK)
    return block + stream.readline(LONGEST) if block else b""


def _places(lines: bytes, byte: bytes) -> Mask:
    """Tell of each byte whether it is this one; far quicker than counting a byte that is in every line."""
    return np.asarray(np.frombuffer(lines, dtype=np.uint8) == ord(byte))


def _stray_blanks(lines: bytes, feeds: Mask, marks: Mask, separator: bytes) -> bool:
    """Tell whether there is another blank than one separator between two fields, or a field begins a comment."""
    other = b" " if separator == b"\t" else b"\t"
    if lines.startswith(separator) or other in lines or (b"#" in lines and separator + b"#" in lines):
        return True
    ends = feeds | marks
    beside = ends[1:] & ends[:-1]
    return bool(beside.any()) and bool((beside & (marks[1:] | marks[:-1])).any())  # only line feeds are allowed


def _quoted_lines(separator: bytes) -> re.Pattern[bytes]:
    """Return what matches lines whose fields are without quotes, or stand between two of them."""
    mark = re.escape(separator)
    return re.compile(b'(?:(?:"[^"\\n]*+"|[^"\\n%b]*+)[\\n%b])*+' % (mark, mark))
