"""Sorting, placing and counting scores on all processors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from priori.base.processors import FEWEST, PARTS, in_parts, processors
from priori.base.types import Floats, Index, Ints
from priori.scores.cuts import Cuts

#: Up to so many edges, a score's gap is looked up by its leading bits rather than searched for.
FEW_EDGES = 1 << 12


def sorted_columns(columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return columns of scores, none of them NaN, in ascending order.

    Examples
    --------
    >>> [column.tolist() for column in sorted_columns([np.array([0.3, 0.1]), np.array([2.0, np.inf, -np.inf])])]
    [[0.1, 0.3], [-inf, 2.0, inf]]
    """
    if sum(column.size for column in columns) < 2 * FEWEST:  # threads would take longer to start
        ordered = [np.sort(column) for column in columns]
    else:
        from concurrent.futures import ThreadPoolExecutor  # large sets only: it takes long to import

        with ThreadPoolExecutor(processors()) as pool:
            ordered = list(pool.map(np.sort, columns))
    for column in ordered:
        column.setflags(write=False)
    return ordered


def gaps_of(edges: Floats, scores: Floats) -> Index:
    """Return how many of the ascending edges lie below each score: the gap between edges that it is in.

    Examples
    --------
    >>> gaps_of(np.array([0.0, 1.0]), np.array([0.5, 0.0, 7.0])).tolist()
    [1, 0, 2]
    """
    if scores.size < FEWEST or edges.size > FEW_EDGES:
        return places_of(edges, scores, "left")
    gaps, cuts = np.empty(scores.size, dtype=np.intp), Cuts.of(edges)
    in_parts(lambda part: cuts.bins(scores[part], out=gaps[part]), scores.size)
    return gaps


def places_of(ordered: Floats, scores: Floats, side: Literal["left", "right"]) -> Index:
    """Return the places of scores among others that are in order, before or after those equal to them."""
    places = in_parts(lambda part: np.searchsorted(ordered, scores[part], side=side), scores.size)
    return places[0] if len(places) == 1 else np.concatenate(places)


def counted(keys: Callable[[slice], Ints], length: int, size: int, number: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return how often each of ``size`` keys comes; ``keys`` gives those of a part of all ``length``.

    ``number`` is how many each of them stands for. Where these are no whole numbers, they are added up in order:
    the sums must not depend on the number of processors.

    Examples
    --------
    >>> counted(lambda part: np.array([0, 2, 2])[part], 3, 4).tolist()
    [1, 0, 2, 0]
    """
    parts = PARTS * processors() if number is None or number.dtype.kind in "iu" else 1

    def count(part: slice) -> NDArray[Any]:
        return np.bincount(keys(part), None if number is None else number[part], size)

    counts = in_parts(count, length, max(1, min(parts, length // max(size, 1))))
    return counts[0] if len(counts) == 1 else np.sum(counts, axis=0)


def counts_by(
    groups: NDArray[Any], n_groups: int, gaps: Index, n_gaps: int, number: NDArray[Any] | None
) -> NDArray[Any]:
    """Return how many trials each group (rows) has in each gap (columns)."""

    def keys(part: slice) -> Ints:
        return groups[part].astype(np.int64) * n_gaps + gaps[part]

    return counted(keys, gaps.size, n_groups * n_gaps, number).reshape(n_groups, n_gaps)
