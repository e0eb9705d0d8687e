"""Candidates: the thresholds that can be chosen on a set of scores, one per gap between distinct scores.

A candidate is named by its two errors: ``fp`` negatives above it and ``fn`` positives at or below it. No two
candidates share both, since at least one score lies between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priori.scores import Scores

__all__ = ["all_candidates", "corners", "first_of_each", "lowest", "per_negative", "per_positive", "threshold_of"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def lowest(scores: Scores) -> tuple[int, int]:
    """Return (fp, fn) of the threshold -inf: accept all but the trials whose score is -inf."""
    fp = scores.negatives.size - int(np.searchsorted(scores.negatives, -np.inf, side="right"))
    return fp, int(np.searchsorted(scores.positives, -np.inf, side="right"))


def per_negative(scores: Scores) -> tuple[Counts, Counts]:
    """Return, for each fp that can be reached, the candidate with the fewest fn: the lowest threshold. fp falls."""
    negatives, positives = scores.negatives, scores.positives
    tn = np.append(first_of_each(negatives)[1:], negatives.size)
    fp = negatives.size - tn
    fn = np.searchsorted(positives, negatives[tn - 1], side="right")
    if negatives[0] != -np.inf:
        fp_all, fn_all = lowest(scores)
        fp, fn = np.insert(fp, 0, fp_all), np.insert(fn, 0, fn_all)
    return fp.astype(np.int64, copy=False), fn.astype(np.int64, copy=False)


def per_positive(scores: Scores) -> tuple[Counts, Counts]:
    """Return, for each fn that can be reached, the candidate with the fewest fp: the highest threshold. fn rises."""
    negatives, positives = scores.negatives, scores.positives
    infinite = int(np.searchsorted(positives, -np.inf, side="right"))
    fn = first_of_each(positives[infinite:]) + infinite
    fp = negatives.size - np.searchsorted(negatives, positives[fn], side="left")
    fp, fn = np.append(fp, 0), np.append(fn, positives.size)
    return fp.astype(np.int64, copy=False), fn.astype(np.int64, copy=False)


def corners(scores: Scores) -> tuple[Counts, Counts]:
    """Return the undominated candidates: fn strictly rising, fp strictly falling.

    Only these can be optimal for a criterion that dislikes both errors. The smaller class is looked up in the
    larger.
    """
    few_positives = scores.positives.size <= scores.negatives.size
    fp, fn = per_positive(scores) if few_positives else per_negative(scores)
    # Of equal fp keep the smallest fn (the first), of equal fn the smallest fp (the last).
    keep = np.append(True, fp[1:] < fp[:-1])
    fp, fn = fp[keep], fn[keep]
    keep = np.append(fn[:-1] < fn[1:], True)
    return fp[keep], fn[keep]


def all_candidates(scores: Scores) -> tuple[Counts, Counts]:
    """Return every candidate, from the lowest threshold to the highest."""
    values = np.concatenate([scores.negatives, scores.positives])
    values.sort(kind="stable")  # two ascending runs: this is a merge
    values = values[first_of_each(values)]
    if values[0] != -np.inf:
        values = np.insert(values, 0, -np.inf)
    fp = scores.negatives.size - np.searchsorted(scores.negatives, values, side="right")
    fn = np.searchsorted(scores.positives, values, side="right")
    return fp.astype(np.int64), fn.astype(np.int64)


def first_of_each(ordered: Floats) -> NDArray[np.intp]:
    """Return the index of the first of each run of equal values."""
    return np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)[: ordered.size]


def threshold_of(scores: Scores, fp: Counts, fn: Counts) -> Floats:
    """Return the threshold of each candidate: the midpoint of its gap (a, b), or a where rounding leaves [a, b).

    Accept-all is ``-inf``, reject-all ``+inf``.
    """
    negatives, positives = scores.negatives, scores.positives
    tn = negatives.size - fp
    below = np.maximum(_at(negatives, tn - 1, -np.inf), _at(positives, fn - 1, -np.inf))
    above = np.minimum(_at(negatives, tn, np.inf), _at(positives, fn, np.inf))
    with np.errstate(invalid="ignore"):
        middle = 0.5 * below + 0.5 * above
    threshold = np.where((below <= middle) & (middle < above), middle, below)
    # Where every score is -inf, the lowest threshold already rejects all of them.
    rejects_all = (fp == 0) & (fn == positives.size) & (below > -np.inf)
    return np.where(rejects_all, np.inf, threshold)


def _at(ordered: Floats, index: NDArray[np.int64], beyond: float) -> Floats:
    inside = (index >= 0) & (index < ordered.size)
    return np.where(inside, ordered[np.where(inside, index, 0)], beyond)
