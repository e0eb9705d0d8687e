"""Single empirical ROC curves, evaluated at positions along any axis without Python loops over their points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from priori.averaging.methods import Axis
from priori.scores import Scores

__all__ = ["SingleCurve", "height_limits"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SingleCurve:
    """The empirical ROC curve of one data set: straight lines between the points of its thresholds.

    Both classes are ascending. A score shared by both classes gives a sloped line, since no threshold separates
    its trials; every other line is vertical or horizontal.
    """

    negatives: Floats
    positives: Floats

    @classmethod
    def of(cls, scores: Scores) -> SingleCurve:
        """Return the curve of a set of scores."""
        return cls(scores.negatives, scores.positives)

    def vertices(self) -> tuple[Floats, Floats]:
        """Return the points of the curve, (0, 0) first and (1, 1) last: false and true positive rates.

        Points inside a straight vertical or horizontal run may be left out.
        """
        swap = self.positives.size < self.negatives.size
        # Walk down the scores of the smaller class: each of its values is one step of its own class, at a height
        # that the other class gives. Negated, so that the walk is upwards.
        few, many = (self.positives, self.negatives) if swap else (self.negatives, self.positives)
        walk, other = -few[::-1], -many[::-1]
        first = np.flatnonzero(np.r_[True, walk[1:] != walk[:-1]])
        value = walk[first]
        before, after = first, np.r_[first[1:], walk.size]
        low = np.searchsorted(other, value, side="left")
        along = _interleave(before, after, walk.size)
        across = _interleave(low, _through(other, value, low), other.size)
        return (across, along) if swap else (along, across)

    def heights(self, positions: Floats, axis: Axis, *, upper: bool = True) -> Floats:
        """Return the height of the curve over positions in [0, 1] along the axis.

        Where the curve runs straight up over a position (vertical lines of a vertical average, horizontal ones
        of a horizontal average) this is its upper point, as the paper has it, or its lower one.
        """
        if axis.sine == 0:
            passed = _snap(positions, self.negatives.size)
            return _climb(-self.negatives[::-1], -self.positives[::-1], passed, upper) / self.positives.size
        if axis.cosine == 0:
            # From the other end: rejected positives first, and with them the most rejected negatives.
            passed = self.positives.size - _snap(positions, self.positives.size)
            rejected = _climb(self.positives, self.negatives, passed, upper)
            return (rejected - self.negatives.size) / self.negatives.size
        along, above = axis.turn(*self.vertices())
        return np.interp(positions, along, above)

    def breakpoints(self, axis: Axis) -> Floats:
        """Return the positions along the axis where the curve may turn."""
        if axis.sine == 0:
            return np.arange(self.negatives.size + 1) / self.negatives.size
        if axis.cosine == 0:
            return np.arange(self.positives.size + 1) / self.positives.size
        return np.asarray(axis.turn(*self.vertices())[0])

    def area(self) -> float:
        """Return the area under the curve: P(positive above negative) + P(equal) / 2, from whole numbers."""
        below = np.searchsorted(self.negatives, self.positives, side="left").sum(dtype=np.int64)
        up_to = np.searchsorted(self.negatives, self.positives, side="right").sum(dtype=np.int64)
        return int(below + up_to) / (2 * self.negatives.size * self.positives.size)

    def equal_error_rate(self) -> float:
        """Return the rate where the curve crosses the line of equal error rates, fpr = 1 - tpr."""
        axis = Axis(0.5, 0.5)
        fpr, _ = axis.back(0.5, self.heights(np.array([0.5]), axis)[0])
        return float(fpr)

    def resampled(self, rng: np.random.Generator) -> SingleCurve:
        """Return the curve of a bootstrap sample: trials of each class drawn with replacement."""
        return SingleCurve(_resample(self.negatives, rng), _resample(self.positives, rng))


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
    result = low.astype(np.float64)
    through = _through(other, value, low)
    shared = np.flatnonzero(through > low)
    if shared.size:
        start = np.searchsorted(walk, value[shared], side="left")
        end = np.searchsorted(walk, value[shared], side="right")
        part = (passed[shared] - start) / (end - start)
        result[shared] += (through[shared] - result[shared]) * part
    if upper:
        result[passed >= walk.size] = other.size
    else:
        result[passed <= 0] = 0
    return result


def _through(ordered: Floats, value: Floats, low: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many are up to ``value``, knowing how many are below: a second search only where values are shared."""
    shared = np.flatnonzero(ordered[np.minimum(low, ordered.size - 1)] == value)
    through = low.copy()
    through[shared] = np.searchsorted(ordered, value[shared], side="right")
    return through


def _interleave(before: NDArray[np.intp], after: NDArray[np.intp], size: int) -> Floats:
    """Return the rates 0, before[0], after[0], before[1], after[1], ..., 1 of counts out of ``size``."""
    rates = np.empty(2 * before.size + 2)
    rates[0], rates[-1] = 0, size
    rates[1:-1:2], rates[2:-1:2] = before, after
    rates /= size
    return rates


def _resample(ordered: Floats, rng: np.random.Generator) -> Floats:
    return ordered[np.sort(rng.integers(ordered.size, size=ordered.size))]
