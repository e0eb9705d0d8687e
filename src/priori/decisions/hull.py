"""Envelope: the candidates that minimise alpha V1 + (1 - alpha) V2 for some alpha, and which one for which alpha.

They are the vertices of the lower convex hull of the points (V1, V2), so one pass answers every alpha at once.
Everything is decided in whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Counts, Floats
from priori.scores.candidates import Candidates

#: Two floats closer than this are compared again as whole numbers.
NEAR = 1e-12


@dataclass(frozen=True)
class Envelope:
    """The vertices from alpha = 0 to alpha = 1 (thresholds rising), and the ties between neighbours.

    Vertex ``j`` and ``j + 1`` tie at ``alpha = rise[j] / (rise[j] + fall[j])``: ``rise`` is what V2 gains and
    ``fall`` what V1 loses on the way, on one common scale.
    """

    fp: Counts
    fn: Counts
    rise: Sequence[int]
    fall: Sequence[int]

    def breaks(self) -> NDArray[np.float64]:
        """Return the alphas at which the choice changes, each correctly rounded or nearly so."""
        rise = np.asarray(self.rise, dtype=np.float64)
        return np.asarray(rise / (rise + np.asarray(self.fall, dtype=np.float64)))

    def choose(self, alphas: Sequence[Fraction]) -> NDArray[np.intp]:
        """Return the vertex that minimises the criterion at each alpha."""
        ordered = Ascending.of(alphas)
        left = edges_left(self.rise, self.fall, ordered)
        vertices = np.searchsorted(left, np.arange(len(ordered.fractions)), side="right")
        return np.asarray(vertices[ordered.places])


class Ascending(NamedTuple):
    """Distinct alphas, ascending, as fractions and as floats; and the position among them of each alpha given."""

    fractions: Sequence[Fraction]
    floats: Floats
    places: Any

    @classmethod
    def of(cls, alphas: Sequence[Fraction]) -> Ascending:
        """Sort alphas."""
        floats = np.array([float(alpha) for alpha in alphas])
        if (floats[1:] > floats[:-1]).all():  # quicker than comparing fractions
            return cls(alphas, floats, slice(None))
        ordered = sorted(set(alphas))
        place = {alpha: number for number, alpha in enumerate(ordered)}
        return cls(ordered, np.array([float(alpha) for alpha in ordered]), [place[alpha] for alpha in alphas])


def edges_left(rise: Any, fall: Any, alphas: Ascending) -> NDArray[np.intp]:
    """Return from which of the alphas on the vertex behind each edge is chosen, not the one before it.

    A tie goes to the smaller V1 + V2, which is the vertex on the side of alpha = 1/2, then to the lower threshold.
    """
    up, down = np.asarray(rise, dtype=np.float64), np.asarray(fall, dtype=np.float64)
    breaks = up / (up + down)
    left, near = (np.searchsorted(alphas.floats, breaks + away) for away in (-NEAR, NEAR))
    for edge in np.flatnonzero(left != near).tolist():
        gain, loss = int(rise[edge]), int(fall[edge])
        while left[edge] < near[edge]:
            alpha = alphas.fractions[left[edge]]
            side = gain * alpha.denominator - alpha.numerator * (gain + loss)  # > 0: the tie lies above alpha
            if side < 0 or (side == 0 and gain < loss):
                break
            left[edge] += 1
    return left


def error_envelope(candidates: Candidates) -> Envelope:
    """Return the envelope for V1 = FAR, V2 = FRR (Eq. 10)."""
    return envelope_of_errors(*candidates.corners(), candidates.n_negatives, candidates.n_positives)


def envelope_of_errors(fp: Counts, fn: Counts, negatives: int, positives: int) -> Envelope:
    """Return the envelope of given corners (fn rising, fp falling)."""
    fp, fn = _hull_of_errors(*multipliable(fp, fn, negatives * positives))
    rise, fall = np.diff(fn) * negatives, -np.diff(fp) * positives
    return Envelope(fp.astype(np.int64), fn.astype(np.int64), rise, fall)  # type: ignore[arg-type]


def whole_hull(candidates: Candidates, pseudo: int = 0) -> tuple[Counts, Counts]:
    """Return the vertices of the lower hull of errors from accepting every trial to rejecting every trial.

    Its edges are the blocks of pooled adjacent violators (PAV): the ROC's convex hull. ``pseudo`` trials of each class
    stand below all scores, and as many above them; they count among the errors.
    """
    negatives, positives = candidates.n_negatives, candidates.n_positives
    fp, fn = candidates.corners()
    ends = np.array([negatives, 0]), np.array([0, positives])  # which corners need not reach
    fp, fn = (np.concatenate([end[:1], errors, end[1:]]) for end, errors in zip(ends, (fp, fn), strict=True))
    if pseudo:
        fp = np.concatenate([[negatives + 2 * pseudo], fp + pseudo, [0]])
        fn = np.concatenate([[0], fn + pseudo, [positives + 2 * pseudo]])
    fp, fn = multipliable(fp, fn, (negatives + 2 * pseudo) * (positives + 2 * pseudo))
    keep = np.append(True, (np.diff(fp) != 0) | (np.diff(fn) != 0))
    fp, fn = _hull_of_errors(fp[keep], fn[keep])
    return fp.astype(np.int64), fn.astype(np.int64)


def multipliable(fp: Counts, fn: Counts, largest: int) -> tuple[Counts, Counts]:
    """Return counts whose products may be as large as given; as Python integers where products exceed 64 bits."""
    return (fp, fn) if largest < 2**62 else (fp.astype(object), fn.astype(object))


def _hull_of_errors(fp: Counts, fn: Counts) -> tuple[Counts, Counts]:
    """Return the vertices of the lower hull of corners; slopes are compared as products of counts."""
    kept = _prune(fp, fn)
    index = kept[_chain(fp[kept].tolist(), fn[kept].tolist())]
    return fp[index], fn[index]


def _prune(
    y: Any, x: Any, group: Any = None, *, margin: float = 0.0, few: int = 256, share: float = 0.05
) -> NDArray[np.intp]:
    """Drop, pass after pass, the points that lie on or above the line between their neighbours; return who is left.

    Such a point is no vertex whatever happens to its neighbours, so all of them can go at once. Each pass costs one
    vectorised cross product; they end when a pass drops little, or few are left. Floats need a ``margin``; consecutive
    groups are kept apart.
    """
    kept = np.arange(x.size)
    while kept.size > few:
        across, down = np.diff(x[kept]), np.diff(y[kept])
        before, after = down[:-1] * across[1:], across[:-1] * down[1:]
        keep = np.ones(kept.size, dtype=np.bool_)
        keep[1:-1] = after > (before + margin * across[:-1] * down[:-1] if margin else before)
        if group is not None:
            keep[1:-1] |= group[kept[2:]] != group[kept[:-2]]
        if kept.size - np.count_nonzero(keep) <= share * kept.size:
            break
        kept = kept[keep]
    return kept


def hulls_of_errors(fp: Counts, fn: Counts, group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the vertices of the lower hull of each group of candidates, which stand one group after another."""
    kept = np.flatnonzero(np.append(True, (group[1:] != group[:-1]) | (fp[1:] < fp[:-1])))
    kept = kept[np.append((np.diff(group[kept]) != 0) | (np.diff(fn[kept]) > 0), True)]
    return np.asarray(kept[_prune(fp[kept], fn[kept], group[kept], few=2, share=0)])


def _chain(y: list[int], x: list[int]) -> list[int]:
    """Return the indices of the strict lower hull of points with rising x (a monotone chain)."""
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (x[b] - x[a]) * (y[i] - y[b]) > (y[b] - y[a]) * (x[i] - x[b]):
                break
            hull.pop()
        hull.append(i)
    return hull


def precision_recall_envelope(candidates: Candidates) -> Envelope:
    """Return the envelope for the errors of precision and recall (Eq. 11).

    Precision is a ratio whose denominator moves, so floats first drop what is clearly inside and exact
    fractions decide among the rest.
    """
    positives = candidates.n_positives
    fp, fn = candidates.corners()
    if fn[0] == positives:  # no positive can be accepted: all tie, the lowest threshold wins
        fp, fn = (np.array([number]) for number in candidates.lowest())
    tp = positives - fn
    accepted = tp + fp
    precision = np.divide(tp, accepted, out=np.zeros(tp.size), where=accepted != 0)
    # Recall falls along the corners; a point whose precision is no better than an earlier one is dominated.
    best = np.maximum.accumulate(precision)
    keep = np.append(True, precision[1:] > best[:-1])
    kept = np.flatnonzero(keep)
    kept = kept[_prune(-precision[kept], -tp[kept] / positives, margin=NEAR)]
    fp, fn = fp[kept], fn[kept]
    # In exact fractions: x = lost recall, y = lost precision, both errors.
    x = [Fraction(miss, positives) for miss in fn.tolist()]
    y = [
        1 - (Fraction(positives - miss, positives - miss + alarm) if positives - miss + alarm else Fraction(0))
        for alarm, miss in zip(fp.tolist(), fn.tolist(), strict=True)
    ]
    index = _chain(y, x)  # type: ignore[arg-type]
    rise, fall = [], []
    for a, b in pairwise(index):
        more, less = x[b] - x[a], y[a] - y[b]
        scale = more.denominator * less.denominator
        rise.append(int(more * scale))
        fall.append(int(less * scale))
    return Envelope(fp[index], fn[index], rise, fall)
