"""Arrow streams as numpy columns, batch by batch, through the Arrow C interface: no Arrow library is needed.

Only columns of numbers are read; a query turns everything else into numbers first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MissingValues", "StreamError", "batches"]

#: The format letters of the Arrow C data interface that we read.
TYPES: dict[bytes, type[np.generic]] = {
    b"c": np.int8,
    b"C": np.uint8,
    b"s": np.int16,
    b"S": np.uint16,
    b"i": np.int32,
    b"I": np.uint32,
    b"l": np.int64,
    b"L": np.uint64,
    b"f": np.float32,
    b"g": np.float64,
}


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]


class StreamError(RuntimeError):
    """The producer of a stream reported an error."""


class MissingValues(StreamError):
    """A column of whole numbers has missing values."""

    def __init__(self, column: int) -> None:
        super().__init__(f"column {column} has missing values")
        self.column = column


def batches(source: Any) -> Generator[list[NDArray[Any]], None, None]:
    """Yield the columns of each batch of ``source.__arrow_c_stream__()``; nulls of floating columns become NaN.

    The arrays look into the producer's memory and are valid until the next batch is asked for.
    """
    capsule = source.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = _Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    schema, array = _Schema(), _Array()
    try:
        _check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
        formats = [schema.children[i].contents.format for i in range(schema.n_children)]
        while True:
            _check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(array)))
            if not array.release:
                return
            if array.length:
                yield [_column(array, i, kind) for i, kind in enumerate(formats)]
            array.release(ctypes.byref(array))
    finally:
        for held in (array, schema, stream):
            if held.release:
                held.release(ctypes.byref(held))


def _check(stream: _Stream, code: int) -> None:
    if code:
        message = stream.get_last_error(ctypes.byref(stream)) or b""
        raise StreamError(message.decode("utf-8", "replace") or f"error {code} while reading")


def _column(parent: Any, place: int, kind: bytes) -> NDArray[Any]:
    column, dtype = parent.children[place].contents, np.dtype(TYPES[kind])
    size, first = parent.length, column.offset + parent.offset
    buffer = (ctypes.c_char * ((first + size) * dtype.itemsize)).from_address(column.buffers[1])
    values = np.frombuffer(buffer, dtype=dtype, count=size, offset=first * dtype.itemsize)
    if column.null_count == 0 or not column.buffers[0]:
        return values
    bits = (ctypes.c_uint8 * ((first + size + 7) // 8)).from_address(column.buffers[0])
    valid = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")[first : first + size].view(np.bool_)
    if valid.all():
        return values
    if dtype.kind != "f":
        raise MissingValues(place)
    return np.where(valid, values, dtype.type(np.nan))
