"""Trial ids: those of a large file stay the text that they were there, and are decoded where somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Codes, Index, Mask

if TYPE_CHECKING:
    from priori.base.arrow_streams import TextPiece

#: Rows that are laid out together, as wide as the longest of them.
ROWS = 1 << 14

#: Whole numbers that are equal for equal ids.
IdKeys: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class IdText:
    """The ids of all rows of a file in UTF-8, one after the other; none is empty or holds a NUL."""

    data: NDArray[np.uint8]
    #: The id of row i is ``data[offsets[i]:offsets[i + 1]]``.
    offsets: NDArray[np.int64]
    #: Whether we made the ids from other columns; if they then repeat they are no ids.
    built: bool = False

    @cached_property
    def keys(self) -> IdKeys:
        """The key of each id."""
        keys = np.empty(self.offsets.size - 1, dtype=np.uint64)
        done = 0
        for piece in self.padded(np.arange(keys.size)):
            keys[done : done + piece.size] = _weighed(piece)
            done += piece.size
        return keys

    @cached_property
    def usable(self) -> bool:
        """Whether these are ids: given as such, or made by us and never the same."""
        if not self.built or not repetitions(self.keys):
            return True
        (keys,) = exact_keys(TextIds(self))
        return not repetitions(keys)

    def padded(self, rows: Index) -> Iterator[NDArray[np.bytes_]]:
        """Yield the ids of some rows, some at a time, as bytes of one width: a whole number of words of 8."""
        for start in range(0, rows.size, ROWS):
            piece = rows[start : start + ROWS]
            begins, ends = self.offsets[piece], self.offsets[piece + 1]
            lengths = ends - begins
            width = -(-int(lengths.max()) // 8) * 8
            laid_out = np.zeros((piece.size, width), dtype=np.uint8)
            places: slice | Index = slice(int(begins[0]), int(ends[-1]))
            if (begins[1:] != ends[:-1]).any():  # rows that do not follow on one another
                before = np.cumsum(lengths) - lengths
                places = np.repeat(begins - before, lengths) + np.arange(before[-1] + lengths[-1])
            laid_out[np.arange(width) < lengths[:, None]] = self.data[places]
            yield laid_out.view(f"S{width}").ravel()


class IdBuffer:
    """Ids that come in pieces, one after the other in one buffer; memory that is not written to costs nothing."""

    def __init__(self, rows: int) -> None:
        self._data = np.empty(0, dtype=np.uint8)
        self._offsets = np.zeros(rows + 1, dtype=np.int64)
        self._rows = 0

    def append(self, piece: TextPiece) -> None:
        """Add the ids of the next rows."""
        rows, start = piece.offsets.size - 1, int(self._offsets[self._rows])
        end = start + piece.text.size
        if end > self._data.size:
            left = max(1, (self._offsets.size - 1 - self._rows) // rows)
            grown = np.empty(end + 2 * left * piece.text.size, dtype=np.uint8)
            grown[:start] = self._data[:start]
            self._data = grown
        self._data[start:end] = piece.text
        ends = self._offsets[self._rows + 1 : self._rows + rows + 1]
        ends[:] = piece.offsets[1:]
        ends += start - int(piece.offsets[0])
        self._rows += rows

    def text(self, *, built: bool) -> IdText:
        """Return what came."""
        return IdText(self._data[: self._offsets[-1]], self._offsets, built)


@dataclass(frozen=True, eq=False)
class TextIds:
    """The ids of some rows of a file."""

    text: IdText = field(repr=False)
    #: None: all rows.
    chosen: Index | None = None

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.text.offsets.size - 1 if self.chosen is None else self.chosen.size)

    @property
    def rows(self) -> Index:
        """Their rows."""
        return np.arange(self.size) if self.chosen is None else self.chosen

    @property
    def usable(self) -> bool:
        """Whether these are ids."""
        return self.text.usable

    def __getitem__(self, index: NDArray[Any] | slice) -> TextIds:
        if self.chosen is None and isinstance(index, np.ndarray) and index.dtype.kind == "i":
            return TextIds(self.text, index)
        return TextIds(self.text, self.rows[index])

    def decoded(self) -> NDArray[np.str_]:
        """Return the ids as an array of text."""
        if (self.text.data >= 128).any():
            pieces = [np.strings.decode(piece, "utf-8") for piece in self.text.padded(self.rows)]
            return np.concatenate([np.empty(0, dtype="U1"), *pieces])
        rows = self.rows
        lengths = self.text.offsets[rows + 1] - self.text.offsets[rows]
        texts = np.empty(self.size, dtype=f"U{lengths.max(initial=1)}")
        done = 0
        for piece in self.text.padded(rows):
            texts[done : done + piece.size] = piece
            done += piece.size
        return texts

    def same(self, other: TextIds) -> Mask:
        """Tell, row by row, whether ids are the same as others of the same number."""
        pieces = zip(self.text.padded(self.rows), other.text.padded(other.rows), strict=True)
        return np.concatenate([np.empty(0, dtype=np.bool_), *(one == two for one, two in pieces)])


Ids: TypeAlias = NDArray[Any] | TextIds


def as_array(ids: Ids) -> NDArray[Any]:
    """Return ids as an array."""
    return ids.decoded() if isinstance(ids, TextIds) else ids


def joined(first: Ids, second: Ids) -> Ids:
    """Return two columns of ids one after the other."""
    if isinstance(first, TextIds) and isinstance(second, TextIds):
        if first.text is second.text:
            return TextIds(first.text, np.concatenate([first.rows, second.rows]))
        data = np.concatenate([first.text.data, second.text.data])
        offsets = np.concatenate([first.text.offsets, first.text.offsets[-1] + second.text.offsets[1:]])
        rows = np.concatenate([first.rows, second.rows + (first.text.offsets.size - 1)])
        return TextIds(IdText(data, offsets), rows)
    one, two = as_array(first), as_array(second)
    if one.dtype.kind != two.dtype.kind:
        one, two = one.astype(str), two.astype(str)
    return np.concatenate([one, two])


def comparable(first: Ids, second: Ids) -> tuple[Ids, Ids]:
    """Return ids that can be compared: as text; whole numbers need not be turned into text for that."""
    if isinstance(first, TextIds) and isinstance(second, TextIds):
        return first, second
    one, two = as_array(first), as_array(second)
    if one.dtype.kind == "i" and two.dtype.kind == "i":
        return one, two
    one, two = one.astype(str, copy=False), two.astype(str, copy=False)
    # One width for both, an even number of characters, so that `id_keys` sees whole words.
    width = -(-max(one.dtype.itemsize, two.dtype.itemsize) // 8) * 2
    return one.astype(f"U{width}"), two.astype(f"U{width}")


def same_ids(first: Ids, second: Ids) -> Mask:
    """Tell, row by row, whether comparable ids are the same."""
    if isinstance(first, TextIds) and isinstance(second, TextIds):
        return first.same(second)
    return np.asarray(as_array(first) == as_array(second))


def id_keys(ids: Ids) -> IdKeys:
    """Return whole numbers that are equal for equal ids: much faster to sort than text."""
    if isinstance(ids, TextIds):
        return np.asarray(ids.text.keys[ids.rows])
    return _weighed(ids) if ids.dtype.kind == "U" else ids


def exact_keys(*columns: Ids, within: tuple[Codes, ...] = ()) -> list[IdKeys]:
    """Return whole numbers, for comparable columns of ids, that are equal for equal ids and for no others.

    ``within`` has codes that must be equal too, such as those of data sets. Where keys are equal the ids are looked at,
    and should two of them have one key by chance, all of them are sorted as text.
    """
    keys = np.concatenate([id_keys(column) for column in columns])
    codes = np.concatenate(within) if within else np.zeros(keys.size, dtype=np.int32)
    if within:
        by_id, by_code = np.random.Philox(1).random_raw(2) | np.uint64(1)
        keys = keys.astype(np.uint64) * by_id + codes.astype(np.uint64) * by_code
    if repetitions(keys) and (within or keys.dtype.kind == "u"):
        order = np.argsort(keys, kind="stable")
        twice = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
        ids = columns[0]
        for column in columns[1:]:
            ids = joined(ids, column)
        one, two = order[twice], order[twice + 1]
        if not ((codes[one] == codes[two]) & same_ids(ids[one], ids[two])).all():
            number = np.unique(as_array(ids), return_inverse=True)[1].astype(np.int64)
            keys = number * (int(codes.max()) + 1) + codes
    return np.split(keys, np.cumsum([column.size for column in columns])[:-1])


def repetitions(keys: IdKeys) -> int:
    """Return how many keys are the same as one before them."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _weighed(ids: NDArray[Any]) -> IdKeys:
    """Return the sum of the words of each id, each times an odd number that depends on its place alone."""
    words = ids.view(np.uint64).reshape(ids.size, -1)
    odd = np.random.Philox(0).random_raw(words.shape[1]) | np.uint64(1)
    return np.asarray(words @ odd)
