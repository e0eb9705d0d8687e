"""Sets laid out for the kernels: the trials of a set, of one system or of several paired ones, as whole numbers.

A cell is a place on the score axis: a gap between fixed thresholds, or one distinct score. An urn is a set
of trials drawn among themselves: all trials of the class, or those of one user. After this reduction no
kernel looks at a score or at a trial again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.decisions.outcomes import count
from priori.scores import Scores, ScoreSet
from priori.uncertainty.bootstrap.mixtures import above
from priori.uncertainty.bootstrap.plans import BootstrapPlan, Identities

#: A cell with fewer trials than this is drawn trial by trial, one with more by a binomial: a binomial costs
#: about as much as this many draws.
LIGHT = 24
#: From this many trials on it pays to count at ranks only.
MANY = 1 << 15
#: Entries in a block, or some more where scores are equal: smaller blocks are more to add up, larger ones to look into.
BLOCK = 64
#: By how many standard deviations the expected sum of Poisson numbers is short of the trials that are drawn.
SHORT = 5.0
#: The equal parts of the unit interval for which it is known where to begin in a table.
GUIDES = 256
#: The purposes of streams; systems that are drawn apart get their own set of four.
DEV_USERS, DEV_TRIALS, TEST_USERS, TEST_TRIALS = range(1, 5)


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


def _fill(
    cells: NDArray[Any], urn: NDArray[Any] | None = None, urns: int = 1, *,
    partner: NDArray[Any] | None = None, light: int = LIGHT, number: Ints | None = None,
) -> Urns:  # fmt: skip
    """Put trials into urns: ``cells[i]`` is the cell of trial i, ``urn[i]`` its urn (None: all in one).

    Entry i stands for ``number[i]`` trials (None: for one). Trials that nothing can tell apart (same urn, partner and
    cell) become one entry with their number. ``light=0`` writes no trial out: right where trials are weighted, not
    drawn.
    """
    cell_span = span = int(cells.max(initial=0)) + 1
    key = cells.astype(np.int64)
    if partner is not None:
        key += (partner.astype(np.int64) + 1) * span
        span *= int(partner.max(initial=0)) + 2
    if urn is not None:
        key += urn.astype(np.int64) * span
    present, trials = _distinct(key, urns * span, number)
    urn_of, rest = np.divmod(present, span)
    cell = (rest % cell_span).astype(np.int32)
    other = (rest // cell_span - 1).astype(np.int32)
    heavy = np.flatnonzero(trials >= light)
    heavy = heavy[np.lexsort((-trials[heavy], urn_of[heavy]))]
    few = np.flatnonzero(trials < light)
    return Urns(
        size=_per_urn(urn_of, urns, trials),
        heavy=_starts(np.bincount(urn_of[heavy], minlength=urns)),
        cell=cell[heavy],
        number=trials[heavy],
        partner=other[heavy],
        light=_starts(_per_urn(urn_of[few], urns, trials[few])),
        single=np.repeat(cell[few], trials[few]),
    )


def _fill_counts(trials: Ints) -> Urns:
    """Make one urn from the number of trials in each cell."""
    cells = np.flatnonzero(trials)
    return _fill(cells, number=trials[cells])


def _fill_classes(
    cells: Sequence[NDArray[Any]], numbers: Sequence[Ints | None], plan: BootstrapPlan, identities: Identities | None
) -> tuple[Urns, Urns]:
    """Put the trials of both classes into urns as a plan draws them, by their users where it asks for them."""
    negative, positive = (
        partial(_fill, cell, light=LIGHT if plan.design.draws_trials else 0, number=number)
        for cell, number in zip(cells, numbers, strict=True)
    )
    if identities is None:
        return negative(), positive()
    users = identities.count
    partner = identities.negative_partner
    return negative(identities.negative, users, partner=partner), positive(identities.positive, users)


def _distinct(key: Ints, size: int, number: Ints | None) -> tuple[Ints, Ints]:
    """Return the distinct keys, ascending, and how often each occurs."""
    if number is not None:
        present, index = np.unique(key, return_inverse=True)
        return present, np.bincount(index, weights=number, minlength=present.size).astype(np.int64)
    if size <= max(4 * key.size, 1 << 16):
        counts = np.bincount(key, minlength=size)
        present = np.flatnonzero(counts).astype(np.int64)
        return present, counts[present].astype(np.int64)
    present, counts = np.unique(key, return_counts=True)
    return present, counts.astype(np.int64)


def _per_urn(urn: Ints, urns: int, trials: Ints) -> Ints:
    return np.bincount(urn, weights=trials, minlength=urns).astype(np.int64)


def _starts(sizes: NDArray[Any]) -> Ints:
    starts = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


# -- thresholds fixed: only the gaps between them count ---------------------------------------------------------


def lay_out_counts(test: ScoreSet, edges: Floats) -> tuple[tuple[Urns, Urns], NDArray[np.int32]]:
    """Lay out one system without users: only counts between thresholds are needed, not the trials."""
    outcomes = count(test, edges)
    negative = np.diff(outcomes.tn, prepend=0, append=test.n_negatives)
    positive = np.diff(outcomes.fn, prepend=0, append=test.n_positives)
    gaps = np.arange(edges.size + 1, dtype=np.int32)
    return (_fill_counts(negative), _fill_counts(positive)), np.stack([gaps, gaps])[None]


def lay_out(
    tests: Sequence[Scores], edges: Sequence[Floats], plan: BootstrapPlan, identities: Identities | None
) -> tuple[tuple[Urns, Urns], NDArray[np.int32]]:
    """Lay out the trials of systems with fixed thresholds: urns, and the gap of each cell by system and class."""
    cells, gaps = zip(
        _fixed_cells([test.negative.score for test in tests], edges),
        _fixed_cells([test.positive.score for test in tests], edges),
        strict=True,
    )
    places = np.zeros((len(tests), 2, max(gap.shape[1] for gap in gaps)), dtype=np.int32)
    for c, gap in enumerate(gaps):
        places[:, c, : gap.shape[1]] = gap
    return _fill_classes(cells, (tests[0].negative.number, tests[0].positive.number), plan, identities), places


def _fixed_cells(scores: Sequence[Floats], edges: Sequence[Floats]) -> tuple[NDArray[Any], NDArray[np.int32]]:
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


# -- thresholds chosen again -------------------------------------------------------------------------------------


class Side(NamedTuple):
    """What `kernels.count_rechosen` needs of one set.

    ``users`` of them are drawn (0: none); ``values[s]`` are the distinct scores of system s, ascending, the
    first ``distinct[s]`` of them real, the first ``lowest[s]`` of those -inf; ``places[s, c, x]`` is the
    distinct score of cell x of class c. With one system a cell is its distinct score and ``direct`` is true.
    Where all trials of a class are drawn among themselves, once, ``at_ranks`` is true: counts at given ranks then
    need no more than ``below[c, g]``, how many of class c are among the first g distinct scores. ``omega`` is the
    share p / q of attacks among the negatives (q = 0: they have none); attacks then lie above all distinct scores.
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
    omega: Ints


def make_side(sets: Sequence[Scores], plan: BootstrapPlan, identities: Identities | None, *, dev: bool = False) -> Side:
    """Lay out the test set, or the development set, as a plan draws it: of one system or of several, paired."""
    first, direct = sets[0], len(sets) == 1
    grids = [np.unique(np.concatenate([scores.negative.score, scores.positive.score])) for scores in sets]
    width = max(grid.size for grid in grids)
    values = np.full((len(grids), width), np.inf)
    for row, grid in zip(values, grids, strict=True):
        row[: grid.size] = grid
    ranks = [
        [np.searchsorted(grid, trials.score).astype(np.int32) for trials in (scores.negative, scores.positive)]
        for grid, scores in zip(grids, sets, strict=True)
    ]
    mixed = first.omega is not None
    for pair, scores in zip(ranks, sets, strict=True):
        pair[0] += (above(scores) * width).astype(np.int32)
    sizes, numbers = [rank.size for rank in ranks[0]], (first.negative.number, first.positive.number)
    at_ranks = direct and identities is None and not any(plan.future) and not plan.whole and sum(sizes) >= MANY
    at_ranks = at_ranks and not mixed
    if direct:
        cells, places = ranks[0], np.zeros((1, 2, 1), dtype=np.int32)
    else:
        cells = [np.arange(size, dtype=np.int32) for size in sizes]
        places = np.zeros((len(grids), 2, max(sizes)), dtype=np.int32)
        for s, pair in enumerate(ranks):
            for c in range(2):
                places[s, c, : sizes[c]] = pair[c]
    future = np.array(plan.future, dtype=np.int64)
    if dev and not plan.shared_users:
        # A future development set is as large as the present one, whatever the future test set.
        now = (0 if identities is None else identities.count, first.n_negatives, first.n_positives)
        future = np.where(future > 0, now, 0)
    return Side(
        *_fill_classes(cells, numbers, plan, identities),
        cells=width * (1 + mixed) if direct else max(sizes),
        users=identities.count if identities is not None and plan.design.draws_users else 0,
        user_stream=(DEV_USERS if dev and not plan.shared_users else TEST_USERS) + 4 * plan.streams,
        trial_stream=(DEV_TRIALS if dev else TEST_TRIALS) + 4 * plan.streams,
        future=future,
        values=values,
        distinct=np.array([grid.size for grid in grids], dtype=np.int64),
        lowest=np.array([int(np.searchsorted(grid, -np.inf, side="right")) for grid in grids], dtype=np.int64),
        places=places,
        direct=direct,
        at_ranks=at_ranks,
        below=_below(ranks[0], numbers, width) if at_ranks else np.zeros((2, 1), dtype=np.int64),
        omega=share_of(first),
    )


class Line(NamedTuple):
    """The entries of one class along the axis; an entry is a trial, or those that nothing tells apart.

    In the order of scores, ``source[t]`` is where the weight of entry t is looked up and ``inside[t]`` its distinct
    score, counted from the first one of its block; ``below[g]`` entries are among the first g distinct scores.
    """

    source: NDArray[np.int32]
    inside: NDArray[np.int32]
    below: Ints


class LateDraws(NamedTuple):
    """What it takes to draw the number of trials in each block first.

    ``block`` and ``inside`` are those of entries in the order of urns, single ones first; ``singles[b]`` is where the
    single ones of block b begin. ``cumulated[row[b]]`` is the Poisson distribution of how many of these are drawn,
    ``guide`` tells where to begin in it.
    """

    block: NDArray[np.int32]
    inside: NDArray[np.int32]
    singles: Ints
    row: Ints
    cumulated: Floats
    guide: Ints


class Blocks(NamedTuple):
    """What `blocks.count_rechosen_in_blocks` needs of one set: a side of one system, its cells the entries themselves.

    ``edges`` cut the distinct scores into blocks; -inf is a block of its own. Where every entry weighs what its urn
    does, ``by_urn`` is true, and ``source`` is the urn. Where trials are drawn from one urn, ``late`` is true: first it
    is drawn how many of each block there are, later which.
    """

    side: Side
    lines: tuple[Line, Line]
    draws: tuple[LateDraws, LateDraws]
    edges: Ints
    by_urn: bool
    late: bool


def in_blocks(side: Side, plan: BootstrapPlan, *, late: bool = False) -> Blocks:
    """Lay out a side of one system along the axis of its scores, as far as its draws ask for it."""
    both, distinct = (side.negative, side.positive), int(side.distinct[0])
    by_urn = plan.design.whole_users and all((urns.number == 1).all() for urns in both)
    cells = [np.concatenate([urns.single, urns.cell]) for urns in both]
    below = [_starts(np.bincount(own, minlength=distinct)) for own in cells]
    entries = below[0] + below[1]
    edges = np.searchsorted(entries, np.arange(entries[side.lowest[0]], entries[-1], BLOCK))
    edges = np.unique(np.concatenate([[0], side.lowest, edges, [distinct]]))
    block = np.repeat(np.arange(edges.size - 1, dtype=np.int32), np.diff(edges))
    inside = np.arange(distinct, dtype=np.int32) - edges[block].astype(np.int32)
    lines, draws, relabelled = [], [], []
    for urns, own, starts in zip(both, cells, below, strict=True):
        looked_up = own[:0] if late or side.at_ranks else own
        order = np.argsort(looked_up, kind="stable").astype(np.int32)
        source = np.repeat(np.arange(urns.size.size, dtype=np.int32), np.diff(urns.heavy))[order] if by_urn else order
        lines.append(Line(source, inside[looked_up[order]], starts))
        singles = urns.single.size if late else 0
        drawn = own if late else own[:0]
        trials = np.bincount(block[own[:singles]], minlength=edges.size - 1)
        draws.append(LateDraws(block[drawn], inside[drawn], _starts(trials), *_poisson(trials)))
        entry = np.arange(own.size, dtype=np.int32)
        relabelled.append(urns._replace(single=entry[: urns.single.size], cell=entry[urns.single.size :]))
    side = side._replace(negative=relabelled[0], positive=relabelled[1])
    return Blocks(side, (lines[0], lines[1]), (draws[0], draws[1]), edges, by_urn, late)


def _poisson(trials: Ints) -> tuple[Ints, Floats, Ints]:
    """Return tables of Poisson distributions, one for each number of trials; all together come short of the trials."""
    from scipy.special import pdtr

    present, row = np.unique(trials, return_inverse=True)
    total = max(int(trials.sum()), 1)
    mean = present * max(1 - SHORT / np.sqrt(total), 0.0)
    most = float(mean.max())
    cumulated = pdtr(np.arange(int(most + 12 * np.sqrt(most) + 32)), mean[:, None])
    cumulated[:, -1] = 2.0  # above any number that is drawn
    guide = np.array([np.searchsorted(each, np.arange(GUIDES) / GUIDES) for each in cumulated])
    return row.astype(np.int64), cumulated, guide


def share_of(scores: Scores) -> Ints:
    """Return the share of attacks among the negatives as two whole numbers, (0, 0) where they have none."""
    omega = scores.omega
    pair = (0, 0) if omega is None else (omega.limit_denominator(10**6)).as_integer_ratio()
    return np.array(pair, dtype=np.int64)


def _below(ranks: Sequence[NDArray[np.int32]], numbers: Sequence[Ints | None], width: int) -> Ints:
    """Return how many trials of each class have a rank below 0, 1, ..., width."""
    below = np.zeros((2, width + 1), dtype=np.int64)
    for row, rank, number in zip(below, ranks, numbers, strict=True):
        np.cumsum(np.bincount(rank, number, minlength=width).astype(np.int64), out=row[1:])
    return below
