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

from priori.criteria import BreakEven, Criterion, Target, WeightedSum
from priori.envelope import NEAR, envelope_of_errors
from priori.outcomes import Outcomes

__all__ = ["promising"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Cells are first tried in blocks of this many.
BLOCK = 256


#: From the best and the worst corner of boxes, and alpha, to a lower bound of the cost.
Floor = Callable[[Outcomes, Outcomes, float], Floats]


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
    keep = np.zeros(cells, dtype=np.bool_)
    coarse = np.unique(np.append(np.arange(0, cells, BLOCK), cells))
    sets = _Sets(fp, fn, criterion, floor, negatives, positives)
    for alpha in dict.fromkeys(alphas):
        blocks = sets.survivors(coarse[:-1], coarse[1:], alpha)
        fine = np.concatenate([np.arange(coarse[b], coarse[b + 1]) for b in blocks])
        keep[fine[sets.survivors(fine, fine + 1, alpha)]] = True
    return keep


@dataclass(frozen=True)
class _Sets:
    fp: Counts
    fn: Counts
    criterion: Criterion
    floor: Floor
    negatives: int
    positives: int

    def survivors(self, start: NDArray[np.intp], end: NDArray[np.intp], alpha: Fraction) -> NDArray[np.intp]:
        """Return which of the boxes between edges ``start`` and ``end`` may hold a minimiser."""
        at = float(alpha)
        edges = np.unique(np.append(start, end))
        points = self._outcomes(self.fp[edges], self.fn[edges])
        reached, errors = self.floor(points, points, at), self._errors(points)
        best = reached.min()
        if np.isinf(best):  # nothing useful at any edge: look everywhere
            return np.arange(start.size)
        fewest = errors[reached == best].min()
        best_corner = self._outcomes(self.fp[end], self.fn[start])
        bound = self.floor(best_corner, self._outcomes(self.fp[start], self.fn[end]), at)
        possible = bound <= best + NEAR
        if self._tells_ties(alpha, best):
            possible &= (bound != best) | (self._errors(best_corner) <= fewest + NEAR)
        return np.flatnonzero(possible)

    def _tells_ties(self, alpha: Fraction, best: float) -> bool:
        """Say whether equal floats mean equal costs: costs that are not negative at 0, and rates of one class."""
        if best == 0:
            return True
        largest = alpha.denominator * max(self.negatives, self.positives)
        if isinstance(self.criterion, Target):
            return self.criterion.target.of_class is not None and largest < 10**13
        return isinstance(self.criterion, WeightedSum) and self.criterion.name == "wer" and alpha in (0, 1)

    def _outcomes(self, fp: Counts, fn: Counts) -> Outcomes:
        return Outcomes.from_errors(fp, fn, negatives=self.negatives, positives=self.positives)

    def _errors(self, outcomes: Outcomes) -> Floats:
        return self.criterion.v1.error(outcomes) + self.criterion.v2.error(outcomes)


def _floor(criterion: Criterion) -> Floor | None:
    """Return the function that bounds the cost from below, given the best and the worst corner of boxes."""
    v1, v2 = criterion.v1, criterion.v2
    if isinstance(criterion, WeightedSum):
        return lambda best, worst, alpha: alpha * v1.error(best) + (1 - alpha) * v2.error(best)
    if isinstance(criterion, Target):
        target = criterion.target

        def distance(best: Outcomes, worst: Outcomes, alpha: float) -> Floats:
            one, other = target(best), target(worst)
            return np.maximum(np.maximum(np.minimum(one, other) - alpha, alpha - np.maximum(one, other)), 0.0)

        return distance
    if isinstance(criterion, BreakEven):

        def gap(best: Outcomes, worst: Outcomes, alpha: float) -> Floats:
            ends = [np.sort([v(best), v(worst)], axis=0) for v in (v1, v2)]
            apart = np.maximum(np.maximum(ends[0][0] - ends[1][1], ends[1][0] - ends[0][1]), 0.0)
            # Where no positive is accepted precision and recall are both 0: no break-even point, as the criterion says.
            useless = (best.tp == 0) & (apart == 0) & (v1.of_class is None or v2.of_class is None)
            return np.where(useless, np.inf, apart)

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
