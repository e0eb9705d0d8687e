"""The bytes of a text file, looked at before duckdb is believed: how many rows it must find in them.

Only of plain files is a number told. What is not plain (comments, blank lines of blanks, runs of blanks, mixed line
ends, quotes within fields, a byte-order mark before a name, bytes that are no UTF-8) duckdb may read in another way
than `priori.readers.text`, which defines what a file means.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

import numpy as np

from priori.base.types import Mask
from priori.readers.input_file import BYTE_ORDER_MARK, Source
from priori.readers.layout import BLANKS, LineLayout

#: Bytes looked at together.
BLOCK = 1 << 17

#: A line of twice as many bytes is left to the text parser, which has its own limits.
LONGEST = 1 << 16


class _NotPlain(Exception):
    """Only the text parser can say what this is."""


def count_rows(source: Source, layout: LineLayout, separator: str) -> int | None:
    """Return how many rows a file has, or None where it is not plain.

    ``separator`` is the one character between fields; a file of fields between blanks is plain where no other blank
    stands in it.
    """
    try:
        return _count(source, layout, separator.encode())
    except (_NotPlain, EOFError, OSError, zlib.error, UnicodeDecodeError):
        return None


def _count(source: Source, layout: LineLayout, separator: bytes) -> int:
    pattern = _quoted_lines(separator)
    between_blanks = layout.delimiter == BLANKS
    rows = separators = 0
    skip, quoted = layout.skip, False
    for lines in _lines(source, marked=skip > 0):
        while skip and lines:
            lines = lines.partition(b"\n")[2]
            skip -= 1
        if lines.startswith(b"#") or (b"#" in lines and b"\n#" in lines):
            raise _NotPlain
        feeds, marks = _places(lines, b"\n"), _places(lines, separator)
        if between_blanks and _stray_blanks(lines, feeds, marks, separator):
            raise _NotPlain
        if layout.quoted and b'"' in lines:
            quoted = True
            if pattern.fullmatch(lines) is None:
                raise _NotPlain
        # A line feed that follows another ends no row.
        rows += int(np.count_nonzero(feeds) - np.count_nonzero(feeds[1:] & feeds[:-1])) - (lines[:1] == b"\n")
        separators += int(np.count_nonzero(marks))
    # duckdb counts the fields of each row too; this is to be sure that it does.
    width = len(layout.fields)
    if not quoted and separators not in (rows * (width - 1), rows * width):
        raise _NotPlain
    return rows


def _lines(source: Source, marked: bool) -> Iterator[bytes]:
    """Yield whole lines of UTF-8, many at a time, each with a line feed; all must end alike.

    ``marked`` says that a byte-order mark may stand in front: it is part of a line that is skipped.
    """
    rest, line_end = b"", b""
    with source.open() as stream:
        while block := stream.read(BLOCK):
            if not line_end:
                line_end = b"\r\n" if b"\r" in block else b"\n"
                if block.startswith(BYTE_ORDER_MARK) and not marked:
                    raise _NotPlain
            whole, feed, rest = (rest + block).rpartition(b"\n")
            if len(rest) > LONGEST:
                raise _NotPlain
            if feed:
                yield _with_feeds(whole + feed, line_end)
    if rest:
        yield _with_feeds(rest + line_end, line_end)


def _with_feeds(lines: bytes, line_end: bytes) -> bytes:
    """Return lines that all end in ``line_end`` with a line feed instead."""
    if line_end == b"\n":
        if b"\r" in lines:
            raise _NotPlain
    elif not lines.count(b"\r\n") == lines.count(b"\n") == lines.count(b"\r"):
        raise _NotPlain
    if b"\0" in lines or any(b"\n" not in lines[start : start + LONGEST] for start in range(0, len(lines), LONGEST)):
        raise _NotPlain
    if not lines.isascii():
        lines.decode()
    return lines.replace(b"\r\n", b"\n") if line_end == b"\r\n" else lines


def _places(lines: bytes, byte: bytes) -> Mask:
    """Tell of each byte whether it is this one; quicker by far than to count one that is in every line."""
    return np.asarray(np.frombuffer(lines, dtype=np.uint8) == ord(byte))


def _stray_blanks(lines: bytes, feeds: Mask, marks: Mask, separator: bytes) -> bool:
    """Tell whether there is another blank than one separator between two fields, or a field begins a comment."""
    other = b" " if separator == b"\t" else b"\t"
    if lines.startswith(separator) or other in lines or (b"#" in lines and separator + b"#" in lines):
        return True
    ends = feeds | marks
    beside = ends[1:] & ends[:-1]
    return bool(beside.any()) and bool((beside & (marks[1:] | marks[:-1])).any())  # only line feeds may be


def _quoted_lines(separator: bytes) -> re.Pattern[bytes]:
    """Return what matches lines whose fields are without quotes, or stand between two of them."""
    mark = re.escape(separator)
    return re.compile(b'(?:(?:"[^"\\n]*+"|[^"\\n%b]*+)[\\n%b])*+' % (mark, mark))
