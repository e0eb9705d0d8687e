"""Arrow streams as numpy columns, batch by batch.

Only columns of numbers are read; a query turns everything else into numbers first.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class StreamError(RuntimeError):
    """The producer of a stream reported an error."""


class MissingValues(StreamError):
    """A column of whole numbers has missing values."""

    def __init__(self, column: int) -> None:
        super().__init__(f"column {column} has missing values")
        self.column = column


def batches(source: Any) -> Generator[list[NDArray[Any]], None, None]:
    """Yield the columns of each batch of ``source.__arrow_c_stream__()``; nulls of floating columns become NaN."""
    from nanoarrow import c_array_stream

    try:
        with c_array_stream(source) as stream:
            for batch in stream:
                if len(batch):
                    yield [_column(batch, number) for number in range(batch.n_children)]
    except StreamError:
        raise
    except RuntimeError as error:  # what nanoarrow raises, and it has no public name for it
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
