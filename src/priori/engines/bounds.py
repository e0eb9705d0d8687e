"""Bounds: which cells may hold the candidate that a criterion chooses.

Within a cell no candidate has fewer false positives than at its upper edge nor fewer false negatives than at its
lower edge, so the two bound V1, V2 and any criterion. A cell whose bound is worse than what some edge reaches holds
no minimiser. Floats decide with a margin that only ever keeps more cells than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Counts, Floats, Mask
from priori.decisions.criteria import BreakEven, Criterion, Target, WeightedSum
from priori.decisions.hull import NEAR, envelope_of_errors
from priori.decisions.outcomes import Outcomes

__all__ = ["promising"]


#: Cells are first tried in blocks of this many.
BLOCK = 256


@dataclass(frozen=True)
class _Boxes:
    """What candidates can reach: V1 and V2 at the best and the worst corner, and V1 + V2 (as errors) at the best."""

    best: tuple[Floats, Floats]
    worst: tuple[Floats, Floats]
    errors: Floats
    no_positive: Mask

    def take(self, index: NDArray[np.intp]) -> _Boxes:
        return _Boxes(
            (self.best[0][index], self.best[1][index]),
            (self.worst[0][index], self.worst[1][index]),
            self.errors[index],
            self.no_positive[index],
        )


#: From boxes and alpha to a lower bound of the cost.
Floor = Callable[[_Boxes, float], Floats]


def promising(
    fp: Counts, fn: Counts, criterion: Criterion, alphas: Sequence[Fraction] | None, negatives: int, positives: int
) -> Mask | None:
    """Return, for each cell between neighbouring edges, whether it may hold a minimiser at one of the alphas.

    ``fp`` and ``fn`` are the errors at the edges, thresholds rising. None is returned where nothing is known of the
    criterion, or for all alphas at once of one that is no weighted sum: then every cell may.
    """
    if fp.size == 1:
        return np.zeros(0, dtype=np.bool_)
    if alphas is None:
        if isinstance(criterion, WeightedSum) and criterion.name == "wer":
            return _below_hull(fp, fn, negatives, positives)
        return None
    floor = _floor(criterion)
    if floor is None:
        return None
    cells = fp.size - 1
    coarse = np.append(np.arange(0, cells, BLOCK), cells)

    def boxes(start: NDArray[np.intp], end: NDArray[np.intp]) -> _Boxes:
        return _boxes(criterion, fp, fn, start, end, negatives, positives)

    edges, blocks = boxes(coarse, coarse), boxes(coarse[:-1], coarse[1:])
    within = {}
    for alpha in dict.fromkeys(alphas):
        ties = _tells_ties(criterion, alpha, max(negatives, positives))
        within[alpha] = _survivors(floor, edges, blocks, alpha, ties), ties
    # The blocks that are left for some alpha are laid end to end; alphas then look at their own among them.
    left = np.unique(np.concatenate([found for found, _ in within.values()]))
    tried = (left[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    tried = tried[tried < cells]
    lower, fine = boxes(tried, tried), boxes(tried, tried + 1)
    keep = np.zeros(cells, dtype=np.bool_)
    for alpha, (found, ties) in within.items():
        own = (np.searchsorted(left, found)[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        own = own[own < tried.size]
        keep[tried[own[_survivors(floor, lower.take(own), fine.take(own), alpha, ties)]]] = True
    return keep


def _boxes(
    criterion: Criterion,
    fp: Counts,
    fn: Counts,
    start: NDArray[np.intp],
    end: NDArray[np.intp],
    negatives: int,
    positives: int,
) -> _Boxes:
    """Return what the candidates from edge ``start`` to edge ``end`` can reach."""
    best, worst = (
        Outcomes.from_errors(fp[alarms], fn[misses], negatives=negatives, positives=positives)
        for alarms, misses in ((end, start), (start, end))
    )
    v1, v2 = criterion.v1, criterion.v2
    return _Boxes(
        (v1(best), v2(best)), (v1(worst), v2(worst)), v1.error(best) + v2.error(best), np.asarray(best.tp == 0)
    )


def _survivors(floor: Floor, edges: _Boxes, boxes: _Boxes, alpha: Fraction, ties: bool) -> NDArray[np.intp]:
    """Return which boxes may hold a candidate better than the best of these edges."""
    at = float(alpha)
    reached, bound = floor(edges, at), floor(boxes, at)
    best = reached.min()
    if np.isinf(best):  # nothing useful at any edge: look everywhere
        return np.arange(bound.size)
    possible = bound <= best + NEAR
    if ties or best == 0:  # costs are never below 0
        possible &= (bound != best) | (boxes.errors <= edges.errors[reached == best].min() + NEAR)
    return np.flatnonzero(possible)


def _tells_ties(criterion: Criterion, alpha: Fraction, largest: int) -> bool:
    """Say whether equal floats mean equal costs: so it is for the rates of one class, which lie far apart."""
    if isinstance(criterion, Target):
        return criterion.target.of_class is not None and alpha.denominator * largest < 10**13
    return isinstance(criterion, WeightedSum) and criterion.name == "wer" and alpha in (0, 1)


def _floor(criterion: Criterion) -> Floor | None:
    """Return the function that bounds the cost of a criterion from below."""
    v1, v2 = criterion.v1, criterion.v2
    if isinstance(criterion, WeightedSum):

        def weighted(boxes: _Boxes, alpha: float) -> Floats:
            one, two = (
                1.0 - value if v.greater_is_better else value for v, value in zip((v1, v2), boxes.best, strict=True)
            )
            return np.asarray(alpha * one + (1 - alpha) * two)

        return weighted
    if isinstance(criterion, Target):
        which = criterion.which - 1

        def distance(boxes: _Boxes, alpha: float) -> Floats:
            low, high = np.sort([boxes.best[which], boxes.worst[which]], axis=0)
            return np.asarray(np.maximum(np.maximum(low - alpha, alpha - high), 0.0))

        return distance
    if isinstance(criterion, BreakEven):

        def gap(boxes: _Boxes, alpha: float) -> Floats:
            one, two = (np.sort(pair, axis=0) for pair in zip(boxes.best, boxes.worst, strict=True))
            apart = np.maximum(np.maximum(one[0] - two[1], two[0] - one[1]), 0.0)
            # Where no positive is accepted precision and recall are both 0: no break-even point, the criterion says.
            by_class = v1.of_class is not None and v2.of_class is not None
            return np.where(boxes.no_positive & (apart == 0) & (not by_class), np.inf, apart)

        return gap
    return None


def _below_hull(fp: Counts, fn: Counts, negatives: int, positives: int) -> Mask:
    """Return which cells may hold a vertex of the lower hull of errors: those whose best corner is not above it."""
    first = np.append(True, fp[1:] < fp[:-1])
    corner_fp, corner_fn = fp[first], fn[first]
    last = np.append(corner_fn[1:] > corner_fn[:-1], True)
    hull = envelope_of_errors(corner_fp[last], corner_fn[last], negatives, positives)
    height = np.interp(fn[:-1], hull.fn, hull.fp, left=np.inf)
    return np.asarray((fp[1:] < height + 0.5) & (fn[:-1] <= hull.fn[-1]))
