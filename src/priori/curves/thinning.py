"""Curves with only the points that a drawing needs, so that a page or a notebook stays small."""

from __future__ import annotations

import numpy as np

from priori.base.types import Floats, Index

#: A quarter of a pixel on axes of 500 pixels: nobody sees a curve move by less.
INVISIBLE = 1 / 2000
#: The most points of a thinned curve; the tolerance grows, a little, until they suffice.
MOST = 2000


def thin(x: Floats, y: Floats, *, tolerance: float = INVISIBLE, most: int = MOST) -> Index:
    """Return which points of a monotone curve to keep so that the drawing does not change.

    ``x`` and ``y`` are in units of their axes' lengths. Points of one tiny cell are first reduced to its first and
    last; then those are dropped that lie within the tolerance of the line between the points kept around them
    (Douglas and Peucker, 1973).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 1001)
    >>> thin(x, np.where(x < 0.5, 0, 2 * x - 1)).tolist()
    [0, 500, 1000]
    """
    if x.size < 3:
        return np.arange(x.size)
    while True:
        index = _reduce(x, y, _first_and_last(x, y, tolerance / 4), tolerance)
        if index.size <= most:
            return index
        tolerance *= 1.25


def _first_and_last(x: Floats, y: Floats, cell: float) -> Index:
    column, row = np.floor(x / cell), np.floor(y / cell)
    starts = np.flatnonzero((column[1:] != column[:-1]) | (row[1:] != row[:-1])) + 1
    return np.unique(np.concatenate([[0], starts - 1, starts, [x.size - 1]]))


def _reduce(x: Floats, y: Floats, index: Index, tolerance: float) -> Index:
    x, y = x[index], y[index]
    keep = np.zeros(index.size, dtype=np.bool_)
    keep[[0, -1]] = True
    waiting = [(0, index.size - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        across, up = x[last] - x[first], y[last] - y[first]
        between = slice(first + 1, last)
        away = np.abs(across * (y[between] - y[first]) - up * (x[between] - x[first]))
        farthest = int(np.argmax(away))
        if away[farthest] > tolerance * max(float(np.hypot(across, up)), 1e-300):
            middle = first + 1 + farthest
            keep[middle] = True
            waiting += [(first, middle), (middle, last)]
    return np.asarray(index[keep])
