"""The axis on which development scores are smoothed: bins of a scale on which both classes are nearly normal.

Thresholds chosen by errors do not change when scores are mapped by a rising function, so smoothing must not depend on
the scale of the scores either. Where both classes can be made normal by one such map, the probits of their two
distribution functions are a line of one another (a straight DET curve); the scale here is the mean of the two,
weighted by how well each is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.scores import Scores, Trials

#: How many bins an axis has at most where scores are smoothed.
BINS = 2048
#: Of a class with more than twice as many scores, so many make the scale, and the lowest and highest besides.
KNOTS = 4096
#: The bandwidth for N trials of a class is this times N^(-1/5), in standard deviations.
BANDWIDTH = 0.75
#: A score that more than this share of a bandwidth of its class's trials have is tied, and is not smoothed.
TIED = 0.1


@dataclass(frozen=True, eq=False)
class ScoreAxis:
    """Cells of scores: bin 0 holds -inf, the last one +inf; ``value`` are the places of the bins in rising order.

    ``knots`` are scores and ``place`` where they lie, in bins; a score between knots lies in the middle of theirs.
    ``smooth`` says whether scores may be moved along the axis.
    """

    knots: Floats
    place: Floats
    value: Floats
    smooth: bool

    @property
    def n_bins(self) -> int:
        """The number of bins."""
        return int(self.value.size)

    @property
    def every(self) -> NDArray[np.intp]:
        """How many bins can be rejected, but all."""
        return np.arange(1, self.n_bins)

    def places(self, score: Floats) -> Floats:
        """Return where scores lie, in bins."""
        after = np.searchsorted(self.knots, score, side="left")
        at = np.minimum(after, self.knots.size - 1)
        known = self.knots[at] == score
        between = 0.5 * self.place[np.maximum(after - 1, 0)] + 0.5 * self.place[at]
        places = np.where(known, self.place[at], between)
        return np.where(score == -np.inf, 0.0, np.where(score == np.inf, self.n_bins - 1.0, places))

    def bins(self, score: Floats) -> Ints:
        """Return the bins that scores lie in."""
        return np.floor(self.places(score)).astype(np.int64)

    def thresholds(self, rejected: NDArray[Any]) -> Floats:
        """Return the thresholds that reject so many bins, 1 or more: scores at or below them lie in these.

        Examples
        --------
        >>> axis = ScoreAxis(np.array([0.0, 1.0]), np.array([1.0, 2.0]), np.array([-np.inf, 0.0, 1.0, np.inf]), False)
        >>> axis.thresholds(np.array([1, 2, 4])).tolist()
        [-inf, 0.9999999999999999, inf]
        """
        # Places rise in steps: at each knot, and between two of them.
        place = np.empty(max(2 * self.knots.size - 1, 0))
        end = np.empty_like(place)
        place[::2], end[::2] = self.place, self.knots
        place[1::2], end[1::2] = 0.5 * self.place[:-1] + 0.5 * self.place[1:], np.nextafter(self.knots[1:], -np.inf)
        ends = np.concatenate([[-np.inf], end[:-1], [np.finfo(np.float64).max] if end.size else []])
        found = ends[np.searchsorted(np.floor(place), rejected, side="left")]
        return np.where(rejected >= self.n_bins, np.inf, found)


def bandwidth(trials: int) -> float:
    """Return the bandwidth for so many trials of a class, in standard deviations."""
    return float(BANDWIDTH * max(trials, 1) ** -0.2)


def score_axis(dev: Scores, test: Scores) -> ScoreAxis:
    """Return the axis of one system's scores, from both sets together."""
    classes = (dev.negative, test.negative), (dev.positive, test.positive)
    knots = np.unique(np.concatenate([_knots(trials) for pair in classes for trials in pair]))
    knots = knots[np.isfinite(knots)]
    if knots.size + 2 <= BINS and (_mostly_tied(dev.negative) or _mostly_tied(dev.positive)):
        value = np.concatenate([[-np.inf], knots, [np.inf]])
        return ScoreAxis(knots, np.arange(1.0, knots.size + 1), value, smooth=False)
    counts = [(_below(a, knots) + _below(b, knots), float(len(a) + len(b))) for a, b in classes]
    scale = _binormal(counts)
    low, high = (float(scale[0]), float(scale[-1])) if scale.size else (0.0, 0.0)
    width = max(high - low, 1e-300) / (BINS - 2)
    place = 1.0 + np.minimum((scale - low) / width, BINS - 2 - 1e-6)
    value = np.arange(BINS, dtype=np.float64)
    value[0], value[-1] = -np.inf, np.inf
    return ScoreAxis(knots, place, value, smooth=True)


def tied(trials: Trials) -> NDArray[np.bool_]:
    """Return which trials have a score that many of their class have, or an infinite one."""
    many = max(int(TIED * bandwidth(len(trials)) * len(trials)), 1)
    if trials.number is None:
        ascending = trials.sorted
        values = np.unique(ascending[many:][ascending[many:] == ascending[: ascending.size - many]])
    else:
        scores, index = np.unique(trials.score, return_inverse=True)
        values = scores[np.bincount(index, trials.number) > many]
    return np.asarray(np.isin(trials.score, values) | ~np.isfinite(trials.score))


def _mostly_tied(trials: Trials) -> bool:
    return bool(np.average(tied(trials), weights=trials.number) > 0.5)


def _knots(trials: Trials) -> Floats:
    """Return the scores, of many those at equal shares and the lowest and highest."""
    ascending = trials.sorted
    if ascending.size <= 2 * KNOTS:
        return ascending
    inside = ascending[np.linspace(0, ascending.size - 1, KNOTS).astype(np.intp)]
    return np.concatenate([ascending[: KNOTS // 2], inside, ascending[-KNOTS // 2 :]])


def _below(trials: Trials, knots: Floats) -> Floats:
    """Return how many trials lie below each knot, those at it counted half."""
    below, up_to = (np.searchsorted(trials.sorted, knots, side=side) for side in ("left", "right"))
    if trials.number is not None:
        total = np.append(0, np.cumsum(trials.number[trials.order]))
        below, up_to = total[below], total[up_to]
    return np.asarray((below + up_to) / 2)


def _binormal(counts: list[tuple[Floats, float]]) -> Floats:
    """Return the scale at each knot: the probit of the negatives' distribution, with what the positives' says of it."""
    from scipy.special import ndtri

    probits, weights = [], []
    for below, total in counts:
        share = (below + 0.5) / (total + 1)
        probit = ndtri(share)
        weight = np.exp(-(probit**2)) / (share * (1 - share)) * total
        inside = (below >= 0.75) & (below <= total - 0.75)
        probits.append(probit)
        weights.append(np.where(inside, weight, 1e-6 * weight))
    (negative, positive), (known, also) = probits, weights
    offset, slope = _det_line(negative, positive, 1 / (1 / known + 1 / also), known, also)
    also = also * slope**2
    scale = (known * negative + also * (positive - offset) / slope) / (known + also)
    return np.asarray(np.maximum.accumulate(scale))


def _det_line(negative: Floats, positive: Floats, weight: Floats, known: Floats, also: Floats) -> tuple[float, float]:
    """Return offset and slope of the positives' probit as a line of the negatives', where both are known."""
    both = (known > 1e-3) & (also > 1e-3)
    if np.count_nonzero(both) >= 3:
        weight = weight[both]
        centres = [float(np.average(probit[both], weights=weight)) for probit in (negative, positive)]
        spreads = [
            float(np.average((probit[both] - centre) ** 2, weights=weight))
            for probit, centre in zip((negative, positive), centres, strict=True)
        ]
        if min(spreads) > 0:
            slope = float(np.clip(np.sqrt(spreads[1] / spreads[0]), 0.25, 4.0))
            return centres[1] - slope * centres[0], slope
    # The classes do not overlap: the scales meet where they do.
    meet = int(np.argmin(np.abs(negative + positive)))
    return float(positive[meet] - negative[meet]), 1.0
