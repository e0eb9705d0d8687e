"""Urns: the trials of one class reduced to what a bootstrap draws from, whole numbers only.

A cell is a place on the score axis: a gap between fixed thresholds, or one distinct score. An urn is a set
of trials drawn among themselves: all trials of the class, or those of one user. After this reduction no
kernel looks at a score or at a trial again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Ints

#: A cell with fewer trials than this is drawn trial by trial, one with more by a binomial: a binomial costs
#: about as much as this many draws.
LIGHT = 24


class Urns(NamedTuple):
    """The urns of one class, one after another.

    ``size[u]`` trials lie in urn u. Its heavy cells are ``cell[i]`` with ``number[i]`` trials, i from
    ``heavy[u]`` to ``heavy[u + 1]``, the fullest first; the trials of its light cells are written out,
    ``single[i]`` the cell of each, i from ``light[u]`` to ``light[u + 1]``. Where trials have two
    identities, ``partner[i]`` is the other identity of a heavy cell's trials (-1: none).
    """

    size: Ints
    heavy: Ints
    cell: NDArray[np.int32]
    number: Ints
    partner: NDArray[np.int32]
    light: Ints
    single: NDArray[np.int32]


def fill(
    cells: NDArray[Any],
    urn: NDArray[Any] | None = None,
    urns: int = 1,
    *,
    partner: NDArray[Any] | None = None,
    light: int = LIGHT,
    number: Ints | None = None,
) -> Urns:
    """Put trials into urns: ``cells[i]`` is the cell of trial i, ``urn[i]`` its urn (None: all in one).

    Entry i stands for ``number[i]`` trials (None: for one).

    Trials that nothing can tell apart (same urn, partner and cell) become one entry with their number.
    ``light=0`` writes no trial out: right where trials are weighted, not drawn.
    """
    span = int(cells.max(initial=0)) + 1
    key = cells.astype(np.int64)
    if partner is not None:
        key += (partner.astype(np.int64) + 1) * span
        span *= int(partner.max(initial=0)) + 2
    if urn is not None:
        key += urn.astype(np.int64) * span
    present, count = _distinct(key, urns * span, number)
    urn_of, rest = np.divmod(present, span)
    cell_span = int(cells.max(initial=0)) + 1
    cell = (rest % cell_span).astype(np.int32)
    other = (rest // cell_span - 1).astype(np.int32)
    heavy = np.flatnonzero(count >= light)
    heavy = heavy[np.lexsort((-count[heavy], urn_of[heavy]))]
    few = np.flatnonzero(count < light)
    return Urns(
        size=_per_urn(urn_of, urns, count),
        heavy=_starts(np.bincount(urn_of[heavy], minlength=urns)),
        cell=cell[heavy],
        number=count[heavy],
        partner=other[heavy],
        light=_starts(_per_urn(urn_of[few], urns, count[few])),
        single=np.repeat(cell[few], count[few]),
    )


def fill_counts(count: Ints) -> Urns:
    """Make one urn from the number of trials in each cell."""
    cell = np.flatnonzero(count).astype(np.int32)
    count = count[cell].astype(np.int64)
    heavy = np.flatnonzero(count >= LIGHT)
    heavy = heavy[np.argsort(-count[heavy], kind="stable")]
    single = np.repeat(cell[count < LIGHT], count[count < LIGHT])
    return Urns(
        size=np.array([count.sum()]),
        heavy=np.array([0, heavy.size]),
        cell=cell[heavy],
        number=count[heavy],
        partner=np.full(heavy.size, -1, dtype=np.int32),
        light=np.array([0, single.size]),
        single=single,
    )


def _distinct(key: Ints, size: int, number: Ints | None) -> tuple[Ints, Ints]:
    """Return the distinct keys, ascending, and how often each occurs."""
    if number is not None:
        present, place = np.unique(key, return_inverse=True)
        return present, np.bincount(place, weights=number, minlength=present.size).astype(np.int64)
    if size <= max(4 * key.size, 1 << 16):
        counts = np.bincount(key, minlength=size)
        present = np.flatnonzero(counts).astype(np.int64)
        return present, counts[present].astype(np.int64)
    present, counts = np.unique(key, return_counts=True)
    return present, counts.astype(np.int64)


def _per_urn(urn: Ints, urns: int, count: Ints) -> Ints:
    return np.bincount(urn, weights=count, minlength=urns).astype(np.int64)


def _starts(sizes: NDArray[Any]) -> Ints:
    starts = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
