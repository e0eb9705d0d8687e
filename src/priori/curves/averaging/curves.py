"""Single empirical ROC curves, evaluated at positions along any axis without Python loops over their points.

A curve is straight lines between the points of its thresholds. A score shared by both classes gives a sloped line,
since no threshold separates its trials; every other line is vertical or horizontal.
"""

from __future__ import annotations

import numpy as np

from priori.base.types import Floats, Index
from priori.curves.averaging.methods import Axis
from priori.curves.roc import heights_at
from priori.decisions.outcomes import count
from priori.scores import Scores
from priori.scores.candidates import first_of_each


def vertices(scores: Scores) -> tuple[Floats, Floats]:
    """Return the points of the curve, (0, 0) first and (1, 1) last: false and true positive rates.

    Points inside a straight vertical or horizontal run may be left out.
    """
    if scores.negative.number is not None:
        fp, fn = scores.candidates().every()
        fp, fn = np.append(np.insert(fp, 0, scores.n_negatives), 0), np.append(np.insert(fn, 0, 0), scores.n_positives)
        return fp[::-1] / scores.n_negatives, 1 - fn[::-1] / scores.n_positives
    # Walk down the scores of the smaller class: each of its values is one step along its own axis, at a height that
    # the other class gives. Negated, so that the walk goes upwards.
    swap = scores.positives.size < scores.negatives.size
    few, many = (scores.positives, scores.negatives) if swap else (scores.negatives, scores.positives)
    walk, other = -few[::-1], -many[::-1]
    before = first_of_each(walk)
    value = walk[before]
    low = np.searchsorted(other, value, side="left")
    along = _interleave(before, np.append(before[1:], walk.size), walk.size)
    across = _interleave(low, _through(other, value, low), other.size)
    return (across, along) if swap else (along, across)


def heights(scores: Scores, positions: Floats, axis: Axis, *, upper: bool = True) -> Floats:
    """Return the height of the curve over positions in [0, 1] along the axis.

    Where the curve runs straight up over a position (vertical lines of a vertical average, horizontal ones of a
    horizontal average) this is its upper point, as the paper has it, or its lower one.
    """
    if scores.negative.number is not None:
        return heights_at(positions, *axis.turn(*vertices(scores)), upper=upper)
    negatives, positives = scores.negatives, scores.positives
    if axis.sine == 0:
        passed = _snap(positions, negatives.size)
        return _climb(-negatives[::-1], -positives[::-1], passed, upper) / positives.size
    if axis.cosine == 0:
        # From the other end: rejected positives first, and with them the most rejected negatives.
        passed = positives.size - _snap(positions, positives.size)
        return (_climb(positives, negatives, passed, upper) - negatives.size) / negatives.size
    return np.asarray(np.interp(positions, *axis.turn(*vertices(scores))))


def breakpoints(scores: Scores, axis: Axis) -> Floats:
    """Return the positions along the axis where the curve may turn."""
    if axis.sine == 0 and scores.negative.number is None:
        return np.arange(scores.negatives.size + 1) / scores.negatives.size
    if axis.cosine == 0 and scores.negative.number is None:
        return np.arange(scores.positives.size + 1) / scores.positives.size
    return np.asarray(axis.turn(*vertices(scores))[0])


def rates(scores: Scores, thresholds: Floats) -> Floats:
    """Return the false and the true positive rate at each threshold, as two rows."""
    outcomes = count(scores, thresholds)
    return np.stack([outcomes.fp / scores.n_negatives, outcomes.tp / scores.n_positives])


def height_limits(positions: Floats, axis: Axis) -> tuple[Floats, Floats]:
    """Return the lowest and the highest height that a point of ROC space can have at each position."""
    c, s = axis.cosine, axis.sine
    lowest_fpr = np.minimum(positions / c, 1.0) if c else np.ones_like(positions)
    lowest_tpr = (positions - c * lowest_fpr) / s if s else np.zeros_like(positions)
    highest_tpr = np.minimum(positions / s, 1.0) if s else np.ones_like(positions)
    highest_fpr = (positions - s * highest_tpr) / c if c else np.zeros_like(positions)
    return c * lowest_tpr - s * lowest_fpr, c * highest_tpr - s * highest_fpr


def _snap(positions: Floats, size: int) -> Floats:
    """Return how many of ``size`` trials are passed at each position; within rounding of a whole number, that number.

    0.29 of 100 trials is 29 trials, though 0.29 * 100 < 29 in floating point: one rounding error below a vertex
    would take the wrong end of a vertical line.
    """
    passed = positions * size
    whole = np.rint(passed)
    return np.where(np.abs(passed - whole) <= 8 * np.finfo(np.float64).eps * np.maximum(passed, 1.0), whole, passed)


def _climb(walk: Floats, other: Floats, passed: Floats, upper: bool) -> Floats:
    """Return how many of ``other`` come before the point where ``passed`` of ``walk`` have been passed.

    Both are ascending. Where that number of ``walk`` is passed over a range of values, ``upper`` takes all of
    ``other`` within the range, else none. Inside a value shared by both, both are passed in proportion.
    """
    step = np.floor(passed) if upper else np.ceil(passed) - 1
    value = walk[np.clip(step, 0, walk.size - 1).astype(np.intp)]
    low = np.searchsorted(other, value, side="left")
    through = _through(other, value, low)
    result = low.astype(np.float64)
    shared = np.flatnonzero(through > low)
    if shared.size:
        start = np.searchsorted(walk, value[shared], side="left")
        end = np.searchsorted(walk, value[shared], side="right")
        part = (passed[shared] - start) / (end - start)
        result[shared] += (through[shared] - low[shared]) * part
    if upper:
        result[passed >= walk.size] = other.size
    else:
        result[passed <= 0] = 0
    return result


def _through(ordered: Floats, value: Floats, low: Index) -> Index:
    """Return how many are up to ``value``, knowing how many are below: a second search only where values are shared."""
    shared = np.flatnonzero(ordered[np.minimum(low, ordered.size - 1)] == value)
    through = low.copy()
    through[shared] = np.searchsorted(ordered, value[shared], side="right")
    return through


def _interleave(before: Index, after: Index, size: int) -> Floats:
    """Return the rates 0, before[0], after[0], before[1], after[1], ..., 1 of counts out of ``size``."""
    steps = np.column_stack([before, after]).ravel()
    return np.concatenate([[0], steps, [size]]) / size
