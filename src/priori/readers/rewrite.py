"""Temporary copies of a text file, for duckdb to read when it cannot, or must not, read the file itself."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from priori.readers.layout import Layout
from priori.readers.source import Source
from priori.readers.text import rows

#: What separates the fields of a cleaned copy; no name that was read from a file holds it.
TAB = "\t"


class Unclean(Exception):
    """The file may mean something else than what duckdb read; or names are missing, or hold a NUL, in ``columns``."""

    def __init__(self, columns: Sequence[str] = ()) -> None:
        self.columns = columns


@contextmanager
def squeezed(source: Source, layout: Layout) -> Iterator[tuple[Source, Layout]]:
    """Copy a file of fields between blanks, without comment lines, and with every run of blanks made one space.

    Quick, as no line is looked into; nothing is checked but that lines end as duckdb will take them to.
    """
    with _temporary() as (file, path):
        with source.open() as stream:
            while lines := stream.readlines(1 << 20):
                if any(b"\r" in line.removesuffix(b"\r\n") for line in lines):
                    raise Unclean
                dropped = min(layout.skip, len(lines))
                layout = replace(layout, skip=layout.skip - dropped)
                kept = [line for line in lines[dropped:] if not line.lstrip(b" \t").startswith(b"#")]
                text = b"".join(kept).replace(b"\r\n", b"\n").replace(b"\t", b" ")
                while b"  " in text:
                    text = text.replace(b"  ", b" ")
                file.write(text.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" "))
        file.close()
        if not os.path.getsize(path):
            raise Unclean
        yield _copy(source, path), replace(layout, delimiter=" ")


@contextmanager
def cleaned(source: Source, layout: Layout) -> Iterator[tuple[Source, Layout]]:
    """Copy the rows as the text parser reads and checks them, so that there is only one way left to read them."""
    scored = "score" in layout.columns
    fields = [*layout.names, *(["trial"] if layout.trial else []), *(["score"] if scored else [])]
    with _temporary() as (file, path):
        for _, names, trial, value in rows(source, layout):
            tail = ([trial] if layout.trial else []) + ([repr(value)] if scored else [])
            file.write((TAB.join(names + tail) + "\n").encode())
        file.close()
        places = {name: place for place, name in enumerate(fields)}
        trial_place = (places.pop("trial"),) if layout.trial else ()
        yield _copy(source, path), Layout(TAB, tuple(fields), places, trial_place, layout.trial_is_built)


@contextmanager
def _temporary() -> Iterator[tuple[BinaryIO, str]]:
    descriptor, path = tempfile.mkstemp(prefix="priori-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, path
    finally:
        os.unlink(path)


def _copy(source: Source, path: str) -> Source:
    return Source(source.name, Path(path), b"", False, False, os.path.getsize(path))
