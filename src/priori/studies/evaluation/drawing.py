"""What the drawings need: curves thinned without visible change, thresholds in few digits, scores in bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Index
from priori.curves.epc import EPC
from priori.curves.roc import AposterioriDET, AposterioriROC, roc
from priori.decisions.outcomes import count_all
from priori.scores import Scores, ScoreSet, Trials

#: Curves drawn in grey have this many points, each within this share of the axes of its true place.
GREY_POINTS, COARSE = 100, 0.004
#: About as many deviates as the axes of DET curves span.
DEVIATES = 8
Posterior = TypeVar("Posterior", AposterioriROC, AposterioriDET)


def thinned_curves(test: ScoreSet, name: str) -> tuple[AposterioriROC, AposterioriDET]:
    """Return the ROC and the DET curve of a set, each with the points that its own drawing needs."""
    full = roc(test, name=name)
    # The axes of a DET curve begin at half the smallest rate that the set can show.
    low = float(probit(np.array(max(0.5 / max(test.n_negatives, test.n_positives), 1e-6)))) - 0.5
    deviates = AposterioriDET(name, test, full.threshold, full.outcomes).probit
    on_roc, on_det = thin(full.fpr, full.tpr), thin(*(np.clip(axis, low, -low) / (-2 * low) for axis in deviates))
    return (
        AposterioriROC(name, test, full.threshold[on_roc], full.outcomes[on_roc]),
        AposterioriDET(name, test, full.threshold[on_det], full.outcomes[on_det]),
    )


def few_digits(values: NDArray[Any], digits: int = 6) -> list[float]:
    """Return numbers with the digits that a drawing can show."""
    return [float(f"{number:.{digits}g}") for number in np.asarray(values, dtype=np.float64).tolist()]


def probit(rate: Floats) -> Floats:
    """Return rates on the normal-deviate scale; 0 and 1, infinite there, a little beyond where any axis ends."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(rate, 1e-7, 1 - 1e-7)))


def coarse(curve: Posterior) -> Posterior:
    """Return a curve with the points that a thin grey line needs."""
    if isinstance(curve, AposterioriDET):
        x, y = (probit(rate) / DEVIATES for rate in (curve.fpr, curve.fnr))
    else:
        x, y = curve.fpr, curve.tpr
    points = thin(x, y, tolerance=COARSE, most=GREY_POINTS)
    return replace(curve, threshold=curve.threshold[points], outcomes=curve.outcomes[points])


def deployable(curves: Sequence[EPC]) -> list[tuple[str, ...]]:
    """Return for each curve its thresholds with the fewest digits, six or more, that decide every trial as they do."""
    digits = range(6, 17)
    texts = [[[f"{threshold:.{n}g}" for n in digits] for threshold in curve.threshold.tolist()] for curve in curves]
    cuts = [[float(text) for row in rows for text in row] for rows in texts]
    counted = count_all([*(curve.dev for curve in curves), *(curve.test for curve in curves)], [*cuts, *cuts])
    found = []
    for curve, rows, on_dev, on_test in zip(curves, texts, counted, counted[len(curves) :], strict=False):
        alike = np.ones((len(rows), len(digits)), dtype=np.bool_)
        for counts, wanted in ((on_dev, curve.dev_outcomes), (on_test, curve.outcomes)):
            for name in ("fp", "fn"):
                alike &= getattr(counts, name).reshape(alike.shape) == getattr(wanted, name)[:, None]
        kept = [
            row[int(same.argmax())] if same.any() else repr(threshold)
            for row, same, threshold in zip(rows, alike, curve.threshold.tolist(), strict=True)
        ]
        # The infinite ones stand for accepting or rejecting all, whichever the scale.
        given = (f"-{text}".replace("--", "") if curve.distances and "inf" not in text else text for text in kept)
        found.append(tuple(given))
    return found


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """How many scores of each class lie in each bin, on both sets; scores beyond the edges are in the outer bins."""

    edges: Floats
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]
    dev_negatives: NDArray[np.int64]
    dev_positives: NDArray[np.int64]
    beyond: int

    def shares(self) -> dict[str, Floats]:
        """Return each class's counts as shares of that class."""
        names = ("negatives", "positives", "dev_negatives", "dev_positives")
        return {name: getattr(self, name) / getattr(self, name).sum() for name in names}


def bin_scores(dev: Scores, test: Scores, threshold: float) -> ScoreHistogram:
    """Count the scores of both sets in common bins: (a, b], so that a threshold on an edge parts them rightly.

    Distances are shown as given, in bins [a, b).

    The bins reach as far beyond the middle nine tenths of every class as those are wide: scores further out would
    flatten the others, and go to the outer bins. The threshold of interest is always inside.
    """
    sets = [trials for scores in (test, dev) for trials in (scores.negative, scores.positive)]
    finite = [each if (inside := np.isfinite(each.score)).all() else each.take(inside) for each in sets]
    finite = [trials for trials in finite if len(trials)] or [Trials(np.zeros(1))]
    least, most = min(trials.sorted[0] for trials in finite), max(trials.sorted[-1] for trials in finite)
    low = min(_at(trials, np.ceil(0.05 * (len(trials) - 1))) for trials in finite)
    high = max(_at(trials, 0.95 * (len(trials) - 1)) for trials in finite)
    reach = high - low if high > low else np.inf
    low, high = max(float(least), low - reach), min(float(most), high + reach)
    if np.isfinite(threshold):
        low, high = min(low, threshold), max(high, threshold)
    if low == high:
        low, high = low - max(0.5, abs(low) / 1e6), high + max(0.5, abs(high) / 1e6)
    bins = int(np.clip(2 * min(test.n_negatives, test.n_positives) ** (1 / 3), 20, 80))
    share = np.linspace(0, 1, bins + 1)
    edges = low * (1 - share) + high * share  # does not overflow where high - low would
    ends = np.array([np.nextafter(low, -np.inf), high])
    beyond = sum(len(trials) - int(np.diff(trials.rejected(ends))[0]) for trials in sets[:2])
    inner = ([0, *trials.rejected(edges[1:-1]), len(trials)] for trials in sets)
    negatives, positives, dev_negatives, dev_positives = (np.diff(ends).astype(np.int64) for ends in inner)
    if test.distances:
        edges, negatives, positives = 0.0 - edges[::-1], negatives[::-1], positives[::-1]
        dev_negatives, dev_positives = dev_negatives[::-1], dev_positives[::-1]
    return ScoreHistogram(edges, negatives, positives, dev_negatives, dev_positives, beyond)


def _at(trials: Trials, rank: float) -> float:
    return float(trials.at_rank(np.array(int(rank))))


def median(trials: Trials) -> float:
    """Return the median score."""
    middle = trials.at_rank(np.array([(len(trials) - 1) // 2, len(trials) // 2]))
    return float(middle.mean())


# -- points that a drawing needs -------------------------------------------------------------------------------------

#: A quarter of a pixel on axes of 500 pixels: a smaller move of a curve is invisible.
INVISIBLE = 1 / 2000
#: The most points of a thinned curve; the tolerance grows, a little, until they suffice.
MOST = 2000


def thin(x: Floats, y: Floats, *, tolerance: float = INVISIBLE, most: int = MOST) -> Index:
    """Return which points of a monotone curve to keep so that the drawing does not change.

    ``x`` and ``y`` are in units of their axes' lengths. Points of one tiny square are first reduced to its first and
    last; then those are dropped that lie within the tolerance of the line between the points kept around them
    (Douglas and Peucker, 1973).
    """
    if x.size < 3:
        return np.arange(x.size)
    while True:
        index = _reduce(x, y, _first_and_last(x, y, tolerance / 4), tolerance)
        if index.size <= most:
            return index
        tolerance *= 1.25


def _first_and_last(x: Floats, y: Floats, side: float) -> Index:
    column, row = np.floor(x / side), np.floor(y / side)
    starts = np.flatnonzero((column[1:] != column[:-1]) | (row[1:] != row[:-1])) + 1
    return np.unique(np.concatenate([[0], starts - 1, starts, [x.size - 1]]))


def _reduce(x: Floats, y: Floats, index: Index, tolerance: float) -> Index:
    x, y = x[index], y[index]
    keep = np.zeros(index.size, dtype=np.bool_)
    keep[[0, -1]] = True
    waiting = [(0, index.size - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        across, up = x[last] - x[first], y[last] - y[first]
        between = slice(first + 1, last)
        away = np.abs(across * (y[between] - y[first]) - up * (x[between] - x[first]))
        farthest = int(np.argmax(away))
        if away[farthest] > tolerance * max(float(np.hypot(across, up)), 1e-300):
            middle = first + 1 + farthest
            keep[middle] = True
            waiting += [(first, middle), (middle, last)]
    return np.asarray(index[keep])
