"""Bounds: which cells may hold the candidate that a criterion chooses.

Within a cell no candidate has fewer false positives than at its upper edge nor fewer false negatives than at its
lower edge, so the two bound V1, V2 and any criterion. A cell whose bound is worse than what some edge reaches holds
no minimiser. Floats decide with a margin that only ever keeps more cells than needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from priori.base.types import Floats, Index, Mask
from priori.decisions.hull import NEAR, envelope_of_errors
from priori.decisions.outcomes import Outcomes
from priori.scores.candidates import Edges, undominated

if TYPE_CHECKING:
    from priori.decisions.criterion import Criterion

#: Cells are first tried in blocks of this many.
BLOCK = 256


@dataclass(frozen=True)
class Boxes:
    """What candidates can reach: V1 and V2 at the best and the worst corner, and V1 + V2 (as errors) at the best.

    ``corner`` are the outcomes at the best corner: no candidate has fewer errors of either kind.
    """

    best: tuple[Floats, Floats]
    worst: tuple[Floats, Floats]
    errors: Floats
    corner: Outcomes

    @property
    def ranges(self) -> list[tuple[Floats, Floats]]:
        """The least and the greatest V1, and V2."""
        pairs = zip(self.best, self.worst, strict=True)
        return [(np.minimum(best, worst), np.maximum(best, worst)) for best, worst in pairs]

    @property
    def no_positive(self) -> Mask:
        """Where no positive can be accepted."""
        return np.asarray(self.corner.tp == 0)

    def take(self, index: Index) -> Boxes:
        """Return the boxes at ``index``."""
        return Boxes(
            (self.best[0][index], self.best[1][index]),
            (self.worst[0][index], self.worst[1][index]),
            self.errors[index],
            self.corner[index],
        )


def promising_cells(edges: Edges, criterion: Criterion, alphas: Sequence[Fraction]) -> Mask:
    """Return, for each cell between neighbouring edges, whether it may hold a minimiser at one of the alphas."""
    cells = edges.fp.size - 1
    if not cells:
        return np.zeros(0, dtype=np.bool_)
    coarse = np.append(np.arange(0, cells, BLOCK), cells)
    boxes = partial(_boxes, edges, criterion)
    reached, blocks = boxes(coarse, coarse), boxes(coarse[:-1], coarse[1:])
    survivors: dict[Fraction, tuple[Index, bool]] = {}
    for alpha in dict.fromkeys(alphas if criterion.uses_alpha else alphas[:1]):
        ties = criterion.tells_ties(alpha, max(edges.n_negatives, edges.n_positives))
        survivors[alpha] = _survivors(criterion, reached, blocks, alpha, ties), ties
    # The blocks that survive for some alpha are laid end to end; alphas then look at their own among them.
    surviving = np.unique(np.concatenate([index for index, _ in survivors.values()]))
    tried = (surviving[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    tried = tried[tried < cells]
    lower, fine = boxes(tried, tried), boxes(tried, tried + 1)
    keep = np.zeros(cells, dtype=np.bool_)
    for alpha, (index, ties) in survivors.items():
        inside = (np.searchsorted(surviving, index)[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        inside = inside[inside < tried.size]
        keep[tried[inside[_survivors(criterion, lower.take(inside), fine.take(inside), alpha, ties)]]] = True
    return keep


def _boxes(edges: Edges, criterion: Criterion, start: Index, end: Index) -> Boxes:
    """Return what the candidates from edge ``start`` to edge ``end`` can reach."""
    best, worst = (
        Outcomes.from_errors(
            edges.fp[alarms], edges.fn[misses], negatives=edges.n_negatives, positives=edges.n_positives
        )
        for alarms, misses in ((end, start), (start, end))
    )
    v1, v2 = criterion.v1, criterion.v2
    return Boxes((v1(best), v2(best)), (v1(worst), v2(worst)), v1.error(best) + v2.error(best), best)


def _survivors(criterion: Criterion, edges: Boxes, boxes: Boxes, alpha: Fraction, ties: bool) -> Index:
    """Return which boxes may hold a candidate better than the best of these edges."""
    reached, bound = (criterion.least_cost(each, float(alpha)) for each in (edges, boxes))
    best = reached.min()
    if np.isinf(best):  # nothing useful at any edge: look everywhere
        return np.arange(bound.size)
    possible = bound <= best + NEAR
    if ties or best == 0:  # costs are never below 0
        possible &= (bound != best) | (boxes.errors <= edges.errors[reached == best].min() + NEAR)
    return np.flatnonzero(possible)


def below_hull(edges: Edges) -> Mask:
    """Return which cells may hold a vertex of the lower hull of errors: those whose best corner is not above it."""
    fp, fn, negatives, positives = edges
    hull = envelope_of_errors(*undominated(fp, fn), negatives, positives)
    height = np.interp(fn[:-1], hull.fn, hull.fp, left=np.inf)
    return np.asarray((fp[1:] < height + 0.5) & (fn[:-1] <= hull.fn[-1]))
