"""Candidates: the thresholds that can be chosen on a set of scores, one per gap between distinct scores.

A candidate is named by its two errors: ``fp`` negatives above it and ``fn`` positives at or below it. No two
candidates share both, since at least one score lies between them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Counts, Floats
from priori.decisions.shortlist import Shortlist
from priori.scores import Scores

__all__ = [
    "all_candidates",
    "corners",
    "first_of_each",
    "lowest",
    "per_negative",
    "per_positive",
    "promising_ranks",
    "threshold_of",
]

Ranks = NDArray[np.intp]


def lowest(scores: Scores | Shortlist) -> tuple[int, int]:
    """Return (fp, fn) of the threshold -inf: accept all but the trials whose score is -inf."""
    if isinstance(scores, Shortlist):
        return int(scores.fp[0]), int(scores.fn[0])
    fp = scores.negatives.size - int(np.searchsorted(scores.negatives, -np.inf, side="right"))
    return fp, int(np.searchsorted(scores.positives, -np.inf, side="right"))


def per_negative(scores: Scores | Shortlist, ranks: Ranks | None = None) -> tuple[Counts, Counts]:
    """Return, for each fp that can be reached, the candidate with the fewest fn: the lowest threshold. fp falls.

    With ``ranks``, only the candidates just above the negatives of those ranks.
    """
    if isinstance(scores, Shortlist):
        found = scores.first_of_each_fp()
        return found.fp, found.fn
    negatives, positives = scores.negatives, scores.positives
    last = np.append(first_of_each(negatives)[1:], negatives.size) - 1 if ranks is None else _ends(negatives, ranks)
    fp = negatives.size - 1 - last
    fn = np.searchsorted(positives, negatives[last], side="right")
    if negatives[0] != -np.inf:
        fp_all, fn_all = lowest(scores)
        fp, fn = np.insert(fp, 0, fp_all), np.insert(fn, 0, fn_all)
    return fp.astype(np.int64, copy=False), fn.astype(np.int64, copy=False)


def per_positive(scores: Scores | Shortlist, ranks: Ranks | None = None) -> tuple[Counts, Counts]:
    """Return, for each fn that can be reached, the candidate with the fewest fp: the highest threshold. fn rises.

    With ``ranks``, only the candidates just below the positives of those ranks.
    """
    if isinstance(scores, Shortlist):
        found = scores.last_of_each_fn()
        return found.fp, found.fn
    negatives, positives = scores.negatives, scores.positives
    fn = first_of_each(positives) if ranks is None else ranks[_begins(positives, ranks)]
    if positives[0] == -np.inf:  # nothing lies below it
        fn = fn[positives[fn] > -np.inf]
    fp = negatives.size - np.searchsorted(negatives, positives[fn], side="left")
    fp, fn = np.append(fp, 0), np.append(fn, positives.size)
    return fp.astype(np.int64, copy=False), fn.astype(np.int64, copy=False)


def corners(scores: Scores | Shortlist, ranks: Ranks | None = None) -> tuple[Counts, Counts]:
    """Return the undominated candidates: fn strictly rising, fp strictly falling.

    Only these can be optimal for a criterion that dislikes both errors. The smaller class is looked up in the
    larger; with ``ranks``, only those ranks of it.
    """
    few_positives = len(scores.positive) <= len(scores.negative)
    fp, fn = per_positive(scores, ranks) if few_positives else per_negative(scores, ranks)
    # Of equal fp keep the smallest fn (the first), of equal fn the smallest fp (the last).
    keep = np.append(True, fp[1:] < fp[:-1])
    fp, fn = fp[keep], fn[keep]
    keep = np.append(fn[:-1] < fn[1:], True)
    return fp[keep], fn[keep]


def promising_ranks(scores: Scores, hull: Callable[[Counts, Counts], tuple[Counts, Counts]], step: int = 16) -> Ranks:
    """Return the ranks of the smaller class beside which a vertex of the lower hull of errors may lie.

    Every ``step``-th rank gives a coarse hull. Between two of them no candidate lies below the corner of their
    errors, so where that corner is above the coarse hull nothing in between need be looked at.
    """
    few_positives = scores.positives.size <= scores.negatives.size
    ordered, side = (scores.positives, "left") if few_positives else (scores.negatives, "right")
    look = np.zeros(ordered.size, dtype=np.bool_)
    look[::step] = look[-1] = True
    coarse = np.flatnonzero(look)
    fp = scores.negatives.size - np.searchsorted(scores.negatives, ordered[coarse], side=side)  # type: ignore[call-overload]
    fn = np.searchsorted(scores.positives, ordered[coarse], side=side)  # type: ignore[call-overload]
    hull_fp, hull_fn = hull(*corners(scores, coarse))
    height = np.interp(fn[:-1], hull_fn, hull_fp, left=np.inf)
    below = (fp[1:] < height + 0.5) & (fn[:-1] <= hull_fn[-1])
    look[:-1] |= np.repeat(below, np.diff(coarse))
    return np.flatnonzero(look)


def all_candidates(scores: Scores | Shortlist) -> tuple[Counts, Counts]:
    """Return every candidate, from the lowest threshold to the highest."""
    if isinstance(scores, Shortlist):
        return scores.fp, scores.fn
    values = np.concatenate([scores.negatives, scores.positives])
    values.sort(kind="stable")  # two ascending runs: this is a merge
    values = values[first_of_each(values)]
    if values[0] != -np.inf:
        values = np.insert(values, 0, -np.inf)
    fp = scores.negatives.size - np.searchsorted(scores.negatives, values, side="right")
    fn = np.searchsorted(scores.positives, values, side="right")
    return fp.astype(np.int64), fn.astype(np.int64)


def first_of_each(ordered: Floats) -> Ranks:
    """Return the index of the first of each run of equal values."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


def _begins(ordered: Floats, ranks: Ranks) -> NDArray[np.bool_]:
    """Return which ranks are the first of a run of equal values."""
    return np.asarray((ranks == 0) | (ordered[ranks] != ordered[ranks - 1]))


def _ends(ordered: Floats, ranks: Ranks) -> Ranks:
    """Return those ranks that are the last of a run of equal values."""
    following = np.minimum(ranks + 1, ordered.size - 1)
    ending: NDArray[np.bool_] = (ranks == ordered.size - 1) | (ordered[ranks] != ordered[following])
    return ranks[ending]


def threshold_of(scores: Scores | Shortlist, fp: Counts, fn: Counts) -> Floats:
    """Return the threshold of each candidate: the midpoint of its gap (a, b), or a where rounding leaves [a, b).

    Accept-all is ``-inf``, reject-all ``+inf``.
    """
    below, above = scores.neighbours(fp, fn) if isinstance(scores, Shortlist) else _neighbours(scores, fp, fn)
    with np.errstate(invalid="ignore"):
        middle = 0.5 * below + 0.5 * above
    threshold = np.where((below <= middle) & (middle < above), middle, below)
    # Where every score is -inf, the lowest threshold already rejects all of them.
    rejects_all = (fp == 0) & (fn == len(scores.positive)) & (below > -np.inf)
    return np.where(rejects_all, np.inf, threshold)


def _neighbours(scores: Scores, fp: Counts, fn: Counts) -> tuple[Floats, Floats]:
    """Return the distinct scores on either side of each candidate; -inf and +inf beyond the ends."""
    negatives, positives = scores.negatives, scores.positives
    tn = negatives.size - fp
    below = np.maximum(_at(negatives, tn - 1, -np.inf), _at(positives, fn - 1, -np.inf))
    return below, np.minimum(_at(negatives, tn, np.inf), _at(positives, fn, np.inf))


def _at(ordered: Floats, index: NDArray[np.int64], beyond: float) -> Floats:
    inside = (index >= 0) & (index < ordered.size)
    return np.where(inside, ordered[np.where(inside, index, 0)], beyond)
