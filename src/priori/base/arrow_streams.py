"""Arrow streams as numpy columns, batch by batch.

Columns of numbers are read, and one of text as it stands; a query turns everything else into numbers first.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class StreamError(RuntimeError):
    """The producer of a stream reported an error."""


class MissingValues(StreamError):
    """A column has missing values, and is not one of floating numbers."""

    def __init__(self, column: int) -> None:
        super().__init__(f"column {column} has missing values")
        self.column = column


class TextPiece(NamedTuple):
    """Text of some rows in UTF-8, one after the other: that of row i is ``data[offsets[i]:offsets[i + 1]]``."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.integer]

    @property
    def text(self) -> NDArray[np.uint8]:
        """The text of these rows alone; ``data`` may hold more."""
        return self.data[self.offsets[0] : self.offsets[-1]]


def batches(source: Any) -> Generator[list[NDArray[Any]], None, None]:
    """Yield the columns of each batch of ``source.__arrow_c_stream__()``; nulls of floating columns become NaN."""
    for batch in _batches(source):
        yield [_column(batch, number) for number in range(batch.n_children)]


def batches_with_text(source: Any) -> Generator[tuple[list[NDArray[Any]], TextPiece], None, None]:
    """Yield the same of a stream of which the last column is text."""
    for batch in _batches(source):
        last = batch.n_children - 1
        yield [_column(batch, number) for number in range(last)], _text(batch, last)


def _batches(source: Any) -> Generator[Any, None, None]:
    from nanoarrow import c_array_stream

    try:
        with c_array_stream(source) as stream:
            for batch in stream:
                if len(batch):
                    yield batch
    except StreamError:
        raise
    except RuntimeError as error:  # nanoarrow raises this, and has no public name for it
        raise StreamError(getattr(error, "message", None) or str(error)) from None


def _column(batch: Any, number: int) -> NDArray[Any]:
    column = batch.child(number).view()
    rows = slice(batch.offset + column.offset, batch.offset + column.offset + len(batch))
    values = np.asarray(column.buffer(1))[rows]
    if not column.null_count:
        return values
    if values.dtype.kind != "f":
        raise MissingValues(number)
    valid = np.unpackbits(np.frombuffer(column.buffer(0), dtype=np.uint8), bitorder="little")[rows].view(np.bool_)
    return np.where(valid, values, values.dtype.type(np.nan))


def _text(batch: Any, number: int) -> TextPiece:
    column = batch.child(number).view()
    if column.null_count:
        raise MissingValues(number)
    first = batch.offset + column.offset
    offsets = np.asarray(column.buffer(1))[first : first + len(batch) + 1]
    return TextPiece(np.frombuffer(column.buffer(2), dtype=np.uint8), offsets)
