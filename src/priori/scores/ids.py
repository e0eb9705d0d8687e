"""Trial ids: arrays of whole numbers or text; those of a large file are UTF-8 bytes until somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Codes, Index

if TYPE_CHECKING:
    from priori.base.arrow_streams import TextPiece

#: Rows that are laid out together.
ROWS = 1 << 14
#: Ids are an array of one width, unless that takes more than this many times the bytes of their text.
WIDEST = 4

#: Whole numbers that are equal for equal ids.
IdKeys: TypeAlias = NDArray[Any]


class IdBuffer:
    """The ids of a file, which come in pieces; none is empty or holds a NUL."""

    def __init__(self) -> None:
        self._pieces: list[TextPiece] = []

    def append(self, piece: TextPiece) -> None:
        """Add the ids of the next rows."""
        self._pieces.append(type(piece)(piece.text.copy(), piece.offsets - piece.offsets[0]))

    def array(self) -> NDArray[Any]:
        """Return all of them: bytes of one width, a whole number of words of 8; or text of any length in a list."""
        longest = max((int(np.diff(piece.offsets).max(initial=1)) for piece in self._pieces), default=1)
        rows, width = sum(piece.offsets.size - 1 for piece in self._pieces), -(-longest // 8) * 8
        if rows * width > WIDEST * (8 * rows + sum(piece.data.size for piece in self._pieces)):
            texts = [
                bytes(piece.data[begin:end]).decode()
                for piece in self._pieces
                for begin, end in zip(piece.offsets.tolist(), piece.offsets[1:].tolist(), strict=False)
            ]
            return np.array(texts, dtype=object)
        laid_out, done = np.zeros((rows, width), dtype=np.uint8), 0
        for data, offsets in self._pieces:
            for start in range(0, offsets.size - 1, ROWS):
                ends = offsets[start : start + ROWS + 1]
                some, lengths = laid_out[done : done + ends.size - 1], np.diff(ends)
                if (lengths == lengths[0]).all():
                    some[:, : lengths[0]] = data[ends[0] : ends[-1]].reshape(lengths.size, -1)
                else:
                    some[np.arange(width) < lengths[:, None]] = data[ends[0] : ends[-1]]
                done += ends.size - 1
        return laid_out.view(f"S{width}").ravel()


class BuiltIds:
    """The ids of a file that we made from other columns: if any of them repeats, none is an id."""

    def __init__(self, ids: NDArray[Any]) -> None:
        self._ids = ids

    @cached_property
    def unique(self) -> bool:
        """Whether none repeats; computed when ids are first asked for."""
        return not repetitions(*exact_keys(self._ids))


def decoded(ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids with bytes decoded."""
    if ids.dtype.kind != "S":
        return ids
    ascii_only = ids.size == 0 or int(ids.view(np.uint8).max()) < 128
    return ids.astype(str) if ascii_only else np.strings.decode(ids, "utf-8")


def joined(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return two columns of ids one after the other."""
    if first.dtype.kind != second.dtype.kind:
        first, second = decoded(first).astype(str), decoded(second).astype(str)
    return np.concatenate([first, second])


def comparable(*columns: NDArray[Any]) -> Sequence[NDArray[Any]]:
    """Return ids that can be compared: as text; whole numbers, and bytes, need not be turned into text for that."""
    kinds = {column.dtype.kind for column in columns}
    if kinds == {"i"}:
        return columns
    if "O" in kinds:
        return [ids if ids.dtype.kind == "O" else decoded(ids).astype(str).astype(object) for ids in columns]
    if kinds != {"S"}:
        columns = tuple(decoded(ids).astype(str, copy=False) for ids in columns)
    # One width for all, so that `id_keys` sees whole words of 8 bytes.
    kind, size = columns[0].dtype.kind, 4 if columns[0].dtype.kind == "U" else 1
    width = -(-max(1, *(ids.dtype.itemsize for ids in columns)) // 8) * 8 // size
    return [ids.astype(f"{kind}{width}", copy=False) for ids in columns]


def id_keys(ids: NDArray[Any]) -> IdKeys:
    """Return whole numbers that are equal for equal ids: much faster to sort than text."""
    if ids.dtype.kind == "O":
        return np.fromiter(map(hash, ids), np.int64, ids.size).view(np.uint64)
    return _weighed(ids) if ids.dtype.kind in "US" else ids


def exact_keys(*columns: NDArray[Any], within: tuple[Codes, ...] = ()) -> list[IdKeys]:
    """Return whole numbers, for columns of ids, that are equal for equal ids and for no others.

    ``within`` has codes that must be equal too, such as those of data sets. Where keys are equal the ids are looked at,
    and should two of them have one key by chance, all of them are sorted as text.
    """
    columns = tuple(comparable(*columns))
    keys = np.concatenate([id_keys(column) for column in columns])
    codes = np.concatenate(within) if within else np.zeros(keys.size, dtype=np.int32)
    if within:
        by_id, by_code = np.random.Philox(1).random_raw(2) | np.uint64(1)
        keys = keys.astype(np.uint64) * by_id + codes.astype(np.uint64) * by_code
    if repetitions(keys) and (within or keys.dtype.kind == "u"):
        order = np.argsort(keys, kind="stable")
        twice = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
        ids, one, two = np.concatenate(columns), order[twice], order[twice + 1]
        if not ((codes[one] == codes[two]) & (ids[one] == ids[two])).all():
            number = np.unique(ids, return_inverse=True)[1].astype(np.int64)
            keys = number * (int(codes.max()) + 1) + codes
    return np.split(keys, np.cumsum([column.size for column in columns])[:-1])


def match(a: IdKeys, b: IdKeys, *, unique: bool = True) -> Index | None:
    """Return, for each key of ``a``, the position of the same in ``b``; None unless they pair one to one."""
    if a.size != b.size:
        return None
    order_a, order_b = np.argsort(a, kind="stable"), np.argsort(b, kind="stable")
    sorted_a = a[order_a]
    if not np.array_equal(sorted_a, b[order_b]) or (unique and (sorted_a[1:] == sorted_a[:-1]).any()):
        return None
    partner = np.empty(a.size, dtype=np.intp)
    partner[order_a] = order_b
    return partner


def repetitions(keys: IdKeys) -> int:
    """Return how many keys are the same as one before them."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _weighed(ids: NDArray[Any]) -> IdKeys:
    """Return the sum of the words of each id, each multiplied by an odd number that depends only on its position."""
    words = np.ascontiguousarray(ids).view(np.uint64).reshape(ids.size, -1)
    odd = np.random.Philox(0).random_raw(words.shape[1]) | np.uint64(1)
    return np.asarray(words @ odd)
