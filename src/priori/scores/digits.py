"""Digits: scores sorted by the bits they are made of, eight at a time, compiled.

A score's bits, those of negative ones turned round, rise as the score does: they are its key. Sorting by one digit
after the other, the lowest first, compares nothing. Importing this module imports numba: only large sets of scores do.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled, inner

#: Bits of a digit: few enough for the places of all its values to stay in a processor's nearest cache.
BITS = 8
DIGITS, VALUES = 64 // BITS, 1 << BITS
_LOWEST = np.uint64(VALUES - 1)
_SIGN = np.uint64(1 << 63)


@inner
def _part_of(key, edges):  # type: ignore[no-untyped-def]
    """Return how many edges are at or below a key; all are looked at, since no branch is guessed wrong so."""
    part = np.int64(0)
    for edge in edges:
        part += key >= edge
    return part


@compiled
def count_parts(bits, edges, counts):  # type: ignore[no-untyped-def]
    """Add to ``counts`` how many scores, given as their bits, have keys in each part between ascending edges."""
    for i in range(bits.size):
        counts[_part_of(bits[i] ^ (np.uint64(np.int64(bits[i]) >> 63) | _SIGN), edges)] += 1


@compiled
def place_parts(bits, edges, start, keys):  # type: ignore[no-untyped-def]
    """Write the keys of scores into the parts they belong to, each from its ``start`` on, which moves."""
    for i in range(bits.size):
        key = bits[i] ^ (np.uint64(np.int64(bits[i]) >> 63) | _SIGN)
        part = _part_of(key, edges)
        keys[start[part]] = key
        start[part] += 1


@compiled
def sort_part(part, spare):  # type: ignore[no-untyped-def]
    """Sort keys, and make them bits of scores again; ``spare`` is as large."""
    size = part.size
    counts = np.zeros((DIGITS, VALUES), np.int64)
    for i in range(size):
        for digit in range(DIGITS):
            counts[digit, (part[i] >> np.uint64(BITS * digit)) & _LOWEST] += 1
    given, sorted_by_it = part, spare
    for digit in range(DIGITS):
        place, shift = counts[digit], np.uint64(BITS * digit)
        if size and place[(given[0] >> shift) & _LOWEST] == size:
            continue  # all have the same digit: single precision has none of the lowest
        before = 0
        for value in range(VALUES):
            number = place[value]
            place[value] = before
            before += number
        for i in range(size):
            key = given[i]
            value = (key >> shift) & _LOWEST
            to = place[value]
            sorted_by_it[to] = key
            place[value] = to + 1
        given, sorted_by_it = sorted_by_it, given
    for i in range(size):
        key = given[i]
        part[i] = key ^ (np.uint64(np.int64(~key) >> 63) | _SIGN)
