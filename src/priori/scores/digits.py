"""Digits: scores sorted by the bits they are made of, eight at a time, compiled.

A score's bits, those of negative ones turned round, rise as the score does. Sorting by one digit after the other, the
lowest first, compares nothing. Importing this module imports numba: only large sets of scores do.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled

#: Bits of a digit: few enough for the places of all its values to stay in a processor's nearest cache.
BITS = 8
DIGITS, VALUES = 64 // BITS, 1 << BITS
_LOWEST = np.uint64(VALUES - 1)
_SIGN = np.uint64(1 << 63)


@compiled
def count_between(bits, first, last):  # type: ignore[no-untyped-def]
    """Return how many scores, given as their bits, have keys from ``first`` to ``last``."""
    number = 0
    for i in range(bits.size):
        key = bits[i] ^ (np.uint64(np.int64(bits[i]) >> 63) | _SIGN)
        number += (key >= first) & (key <= last)
    return number


@compiled
def sort_between(bits, first, last, part, spare):  # type: ignore[no-untyped-def]
    """Put the scores with keys from ``first`` to ``last`` into ``part`` in ascending order.

    ``part`` has one place for each, ``spare`` one more.
    """
    size, held = part.size, 0
    for i in range(bits.size):
        key = bits[i] ^ (np.uint64(np.int64(bits[i]) >> 63) | _SIGN)
        spare[held] = key  # and the next one in its place, if it does not belong here: no branch is guessed wrong
        held += (key >= first) & (key <= last)
    counts = np.zeros((DIGITS, VALUES), np.int64)
    for i in range(size):
        for digit in range(DIGITS):
            counts[digit, (spare[i] >> np.uint64(BITS * digit)) & _LOWEST] += 1
    given, sorted_by_it = spare, part
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
