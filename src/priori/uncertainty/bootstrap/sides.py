"""Sides: a development or a test set laid out for the kernels, for one system or for several paired ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Ints
from priori.scores import Trials
from priori.uncertainty.bootstrap.urns import LIGHT, Urns, fill

#: From this many trials on it pays to count at ranks only.
MANY = 1 << 15


class Side(NamedTuple):
    """What `kernels.count_rechosen` needs of one set.

    ``users`` of them are drawn (0: none); ``values[s]`` are the distinct scores of system s, ascending, the
    first ``distinct[s]`` of them real, the first ``lowest[s]`` of those -inf; ``places[s, c, x]`` is the
    distinct score of cell x of class c. With one system a cell is its distinct score and ``direct`` is true.
    Where all trials of a class are drawn among themselves, once, ``at_ranks`` is true: counts at given ranks then
    need no more than ``below[c, g]``, how many of class c are among the first g distinct scores.
    """

    negative: Urns
    positive: Urns
    cells: int
    users: int
    user_stream: int
    trial_stream: int
    future: Ints
    values: NDArray[np.float64]
    distinct: Ints
    lowest: Ints
    places: NDArray[np.int32]
    direct: bool
    at_ranks: bool
    below: Ints


class Draw(NamedTuple):
    """How the trials of one class go into urns: which urn each belongs to, how many there are, its partner."""

    urn: NDArray[Any] | None
    urns: int
    partner: NDArray[Any] | None
    light: int = LIGHT


def make_urns(cells: NDArray[Any], draw: Draw, number: Ints | None = None) -> Urns:
    """Fill the urns of one class; each cell given stands for ``number`` trials (None: for one)."""
    return fill(cells, draw.urn, draw.urns, partner=draw.partner, light=draw.light, number=number)


def fixed_cells(
    scores: Sequence[NDArray[np.float64]], edges: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the cell of each trial, and the gap of each cell on the edges of each system.

    ``scores[s]`` are the scores of the same trials by system s. Of one system the gaps are the cells; of
    several, the combinations of gaps that occur.
    """
    gaps = [
        np.searchsorted(edge, score, side="left").astype(np.int32) for score, edge in zip(scores, edges, strict=True)
    ]
    if len(gaps) == 1:
        return gaps[0], np.arange(edges[0].size + 1, dtype=np.int32)[None, :]
    key = gaps[0].astype(np.int64)
    combined = np.arange(edges[0].size + 1, dtype=np.int64)[:, None]
    for gap, edge in zip(gaps[1:], edges[1:], strict=True):
        key = key * (edge.size + 1) + gap
        present, key = np.unique(key, return_inverse=True)
        before, last = np.divmod(present, edge.size + 1)
        combined = np.column_stack([combined[before], last])
    return key, np.ascontiguousarray(combined.T.astype(np.int32))


def make_side(
    negative: Sequence[Trials],
    positive: Sequence[Trials],
    draws: tuple[Draw, Draw],
    *,
    users: int,
    user_stream: int,
    trial_stream: int,
    future: tuple[int, int, int] = (0, 0, 0),
    whole: bool = False,
) -> Side:
    """Lay out one set for one system, or for several whose trials are paired (same order in each class)."""
    grids = [np.unique(np.concatenate([a.score, b.score])) for a, b in zip(negative, positive, strict=True)]
    width = max(grid.size for grid in grids)
    values = np.full((len(grids), width), np.inf)
    for row, grid in zip(values, grids, strict=True):
        row[: grid.size] = grid
    ranks = [
        [np.searchsorted(grid, trials.score).astype(np.int32) for trials in pair]
        for grid, pair in zip(grids, zip(negative, positive, strict=True), strict=True)
    ]
    direct = len(grids) == 1
    sizes = [negative[0].score.size, positive[0].score.size]
    at_ranks = direct and draws[0].urn is None and not any(future) and not whole and sum(sizes) >= MANY
    cells = width if direct else max(sizes)
    if direct:
        places = np.zeros((1, 2, 1), dtype=np.int32)
        of_trial = ranks[0]
    else:
        places = np.zeros((len(grids), 2, cells), dtype=np.int32)
        for s, pair in enumerate(ranks):
            for c in range(2):
                places[s, c, : sizes[c]] = pair[c]
        of_trial = [np.arange(size, dtype=np.int32) for size in sizes]
    return Side(
        make_urns(of_trial[0], draws[0], negative[0].number),
        make_urns(of_trial[1], draws[1], positive[0].number),
        cells,
        users,
        user_stream,
        trial_stream,
        np.array(future, dtype=np.int64),
        values,
        np.array([grid.size for grid in grids], dtype=np.int64),
        np.array([int(np.searchsorted(grid, -np.inf, side="right")) for grid in grids], dtype=np.int64),
        places,
        direct,
        at_ranks,
        _below(ranks[0], width) if at_ranks else np.zeros((2, 1), dtype=np.int64),
    )


def _below(ranks: Sequence[NDArray[np.int32]], width: int) -> Ints:
    """Return how many trials of each class have a rank below 0, 1, ..., width."""
    below = np.zeros((2, width + 1), dtype=np.int64)
    for row, rank in zip(below, ranks, strict=True):
        np.cumsum(np.bincount(rank, minlength=width), out=row[1:])
    return below
