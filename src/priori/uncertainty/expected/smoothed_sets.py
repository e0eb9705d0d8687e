"""Smoothed bootstrap development sets, with the thresholds chosen on each of them, and the axis they are smoothed on.

Units are drawn with replacement, and every trial that comes is moved a little along the score axis, its class keeping
mean and spread. With many trials, or counts, units are histograms that are smoothed once and added up.

Thresholds chosen by errors do not change when scores are mapped by a rising function, so smoothing must not depend on
the scale of the scores either. Where both classes can be made normal by one such map, the probits of their two
distribution functions are a line of one another (a straight DET curve); the scale of the axis is the mean of the two,
weighted by how well each is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.scores import Scores, Trials
from priori.uncertainty.bootstrap.draws import join_attacks, load_kernel
from priori.uncertainty.bootstrap.layout import attacks_of, share_of
from priori.uncertainty.bootstrap.readers import Resampled, chooser_of, gather
from priori.uncertainty.bootstrap.resampling import BootstrapPlan
from priori.uncertainty.expected.influences import Units

#: How many bins an axis has at most where scores are smoothed.
BINS = 2048
#: Where a class has more than twice as many scores, this many and the lowest and highest ones make the scale.
KNOTS = 4096
#: The bandwidth for N trials of a class is this times N^(-1/5), in standard deviations.
BANDWIDTH = 0.75
#: A score that more than this share of a bandwidth of its class's trials have is tied, and is not smoothed.
TIED = 0.1
#: The least number of smoothed sets, and how many there are for each unit.
SETS, SETS_PER_UNIT = 1000, 5
#: Normal numbers are among so many quantiles: those that `priori.uncertainty.bootstrap.kernels` indexes by its bits.
QUANTILES = 1 << 12
#: The purpose of their stream.
BAGS = 3_000_017
#: From this many trials on, units are histograms.
MANY = 1 << 17
#: What the larger class of a set adds up to in whole numbers, about, where units are histograms.
WHOLE = 1 << 26

#: Counts sets first, first + 1, ... in which units come as often as the rows say: class by class, by system.
_Count = Callable[[int, Floats], Iterator[tuple[Any, Any]]]


def smoothed_sets(
    systems: Sequence[Resampled],
    devs: Sequence[Scores],
    wholes: Sequence[Scores],
    axes: Sequence[ScoreAxis],
    units: Sequence[Units],
    plan: BootstrapPlan,
) -> tuple[Floats, NDArray[np.int32]]:
    """Draw smoothed sets of the development trials ``devs`` and choose each system's thresholds on them.

    Where these are counts in wide bins, ``wholes`` tell which scores are tied; else they are the same. Returned are how
    often each unit came (sets, units), and how many bins thresholds reject (sets, systems, alphas).
    """
    counted = any(dev.negative.number is not None for dev in devs)
    by_histogram = counted or (len(devs[0]) > MANY and units[0].partner is None)
    by_class, count, alphas = _ByClass.of(devs[0], units[0]), units[0].count, len(systems[0].fractions)
    choosers = [chooser_of(system) for system in systems]
    counts = (
        _histogram_counts(devs, wholes, axes, units) if by_histogram else _trial_counts(devs, axes, by_class, plan.seed)
    )
    draw = load_kernel("draw_units")

    def work(first: int, rows: int) -> Floats:
        weights = np.empty((rows, count))
        draw(first, plan.seed, BAGS, units[0].strata, by_class.starts, by_class.unit, by_class.partner, weights)
        each = zip(choosers, counts(first, weights), axes, strict=True)
        return np.hstack([weights, *(choose(pair, axis.value, axis.value) for choose, pair, axis in each)])

    sets = max(SETS, SETS_PER_UNIT * count)
    both = gather(work, sets, 64, plan)
    return both[:, :count].copy(), both[:, count:].astype(np.int32).reshape(sets, len(systems), alphas)


# -- trial by trial ----------------------------------------------------------------------------------------------


class SmoothTrials(NamedTuple):
    """The development trials for the kernel, one class after another, see `priori.uncertainty.bootstrap.kernels`.

    Those of class c are from ``starts[c]`` to ``starts[c + 1]``. ``place[i, s]`` is where trial i of system s lies, in
    bins; where ``held`` it stays there. ``width[c, s]`` is the bandwidth in standard deviations, ``shrink`` what keeps
    the spread as it is.
    """

    starts: Ints
    unit: NDArray[np.int32]
    partner: NDArray[np.int32]
    place: Floats
    held: NDArray[np.bool_]
    width: Floats
    shrink: Floats


class _ByClass(NamedTuple):
    """Trials by class (negatives, positives, attacks with a share) and unit; ``which`` of their set they are."""

    starts: Ints
    unit: NDArray[np.int32]
    partner: NDArray[np.int32]
    which: tuple[NDArray[np.intp], ...]

    @classmethod
    def of(cls, dev: Scores, units: Units) -> _ByClass:
        attack = attacks_of(dev)
        partner = np.full(attack.size, -1, dtype=np.int32) if units.partner is None else units.partner
        nobody = np.full(units.classes[1].unit.size, -1, dtype=np.int32)
        classes = [
            (np.flatnonzero(~attack), units.classes[0].unit, partner),
            (np.arange(units.classes[1].unit.size), units.classes[1].unit, nobody),
            (np.flatnonzero(attack), units.classes[0].unit, partner),
        ]
        which = tuple(each[np.argsort(unit[each], kind="stable")] for each, unit, _ in classes)
        unit = np.concatenate([own[each] for each, (_, own, _) in zip(which, classes, strict=True)])
        other = np.concatenate([own[each] for each, (_, _, own) in zip(which, classes, strict=True)])
        return cls(np.cumsum([0, *(each.size for each in which)]), unit, other, which)


def _smooth_trials(devs: Sequence[Scores], axes: Sequence[ScoreAxis], by_class: _ByClass) -> SmoothTrials:
    """Lay out the trials of every system, class by class."""
    place, held, width = list[Floats](), list[NDArray[np.bool_]](), []
    for dev, axis in zip(devs, axes, strict=True):
        sets = dev.negative, dev.positive, dev.negative
        classes = [trials.take(which) for trials, which in zip(sets, by_class.which, strict=True)]
        place.append(np.concatenate([axis.places(trials.score) for trials in classes]))
        held.append(np.concatenate([tied(trials) | (not axis.smooth) for trials in classes]))
        width.append([bandwidth(len(trials)) for trials in classes])
    widths = np.array(width).T.copy()
    shrink = 1 / np.sqrt(1 + widths**2)
    return SmoothTrials(*by_class[:3], np.stack(place, axis=1), np.stack(held, axis=1), widths, shrink)


def _trial_counts(devs: Sequence[Scores], axes: Sequence[ScoreAxis], by_class: _ByClass, seed: int) -> _Count:
    """Return what counts every trial that comes where it is moved to."""
    from scipy.special import ndtri

    trials = _smooth_trials(devs, axes, by_class)
    quantiles = ndtri((np.arange(QUANTILES) + 0.5) / QUANTILES)
    width, classes, omega = max(axis.n_bins for axis in axes), 2 + (devs[0].omega is not None), share_of(devs[0])
    smooth = load_kernel("smooth_trials")

    def counts(first: int, weights: Floats) -> Iterator[tuple[Any, Any]]:
        found = np.empty((classes, len(weights), len(devs), width), dtype=np.int64)
        for c in range(classes):
            smooth(first, seed, BAGS + 1, c, trials, quantiles, weights, found[c])
        for s, axis in enumerate(axes):
            negative, positive = found[0, :, s, : axis.n_bins], found[1, :, s, : axis.n_bins]
            if classes == 3:
                negative = np.hstack([negative, found[2, :, s, : axis.n_bins]])
            yield join_attacks(negative, positive, omega)

    return counts


# -- by histogram ------------------------------------------------------------------------------------------------


def _histogram_counts(
    devs: Sequence[Scores], wholes: Sequence[Scores], axes: Sequence[ScoreAxis], units: Sequence[Units]
) -> _Count:
    """Return what adds up the smoothed histograms of units."""
    histograms = []
    for dev, like, axis, codes in zip(devs, wholes, axes, units, strict=True):
        scale = np.float32(WHOLE / max(dev.n_negatives, dev.n_positives))
        claimed, genuine = (people.unit for people in codes.classes)
        strata = [(dev.negative, claimed, like.negative), (dev.positive, genuine, like.positive)]
        if dev.omega is not None:
            kinds = [np.flatnonzero(attacks_of(dev) == attack) for attack in (False, True)]
            parts = [dev.negative.take(which) for which in kinds]
            strata[:1] = [(trials, claimed[which], trials) for trials, which in zip(parts, kinds, strict=True)]
        histograms.append([scale * _smooth_histogram(each, axis, unit, codes.count, of) for each, unit, of in strata])

    def counts(first: int, weights: Floats) -> Iterator[tuple[Any, Any]]:
        drawn = weights.astype(np.float32)
        for dev, of_units in zip(devs, histograms, strict=True):
            *negative, positive = (drawn @ each for each in of_units)
            joined = negative[0] if dev.omega is None else _join(negative[0], negative[1], float(dev.omega))
            yield np.rint(joined).astype(np.int64), np.rint(positive).astype(np.int64)

    return counts


def _join(impostors: Floats, attacks: Floats, omega: float) -> Floats:
    """Return the negatives of each set (rows), attacks with their share; they add up to as many as there were."""
    sizes = [each.sum(axis=1, keepdims=True) for each in (impostors, attacks)]
    shares = [part / np.maximum(size, 1e-300) for part, size in zip((impostors, attacks), sizes, strict=True)]
    return np.asarray(((1 - omega) * shares[0] + omega * shares[1]) * (sizes[0] + sizes[1]))


def _smooth_histogram(
    trials: Trials, axis: ScoreAxis, unit: NDArray[Any], units: int, whole: Trials
) -> NDArray[np.float32]:
    """Return the trials of one class by unit (rows) and bin, smoothed as single trials are on the average.

    Bins stay as they are where most of the ``whole`` class is tied.
    """
    bins = axis.bins(trials.score)
    counted = np.bincount(unit.astype(np.int64) * axis.n_bins + bins, trials.number, units * axis.n_bins)
    histogram = counted.reshape(units, axis.n_bins).astype(np.float32)
    if not axis.smooth:
        return histogram
    held = tied(whole)
    number = histogram.sum(axis=0)
    at = axis.bins(whole.score)
    stays = np.bincount(at, held if whole.number is None else held * whole.number, axis.n_bins) > number / 2
    stays[[0, -1]] = True
    return np.asarray(histogram @ _smoothing(number, stays, bandwidth(len(trials))))


def _smoothing(number: Floats, stays: NDArray[np.bool_], width: float) -> NDArray[np.float32]:
    """Return where what lies in each bin (rows) goes."""
    from scipy.special import ndtr

    centre = np.arange(number.size) + 0.5
    weight = np.where(stays, 0.0, number)
    if not weight.any():
        return np.eye(number.size, dtype=np.float32)
    mean = np.average(centre, weights=weight)
    spread = max(np.sqrt(np.average((centre - mean) ** 2, weights=weight)), 1e-9)
    shrink = 1 / np.sqrt(1 + width**2)
    cuts = np.arange(1.0, number.size)  # what is beyond the first and the last of these comes into the bins there
    cuts[0], cuts[-1] = -np.inf, np.inf
    moved = ndtr((cuts - (mean + (centre[:, None] - mean) * shrink)) / (width * spread * shrink))
    smoothing = np.zeros((number.size, number.size), dtype=np.float32)
    smoothing[:, 1:-1] = np.diff(moved, axis=1)
    smoothing[stays] = np.eye(number.size, dtype=np.float32)[stays]
    return smoothing


# -- the axis ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScoreAxis:
    """Bins of scores: bin 0 holds -inf, the last one +inf; ``value`` are the places of the bins in rising order.

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
