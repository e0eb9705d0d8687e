"""Smoothed bootstrap development sets, with the thresholds chosen on each of them.

Units are drawn with replacement, and every trial that comes is moved a little along the score axis, its class keeping
mean and spread. Of many trials, or of counts, units are histograms that are smoothed once and added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import OptionError
from priori.base.types import Floats, Ints, Progress
from priori.scores import Scores, Trials
from priori.uncertainty.bootstrap.draws import attacks_of, share_of
from priori.uncertainty.bootstrap.kernel_criteria import common_kind
from priori.uncertainty.bootstrap.kernel_loading import load_kernel
from priori.uncertainty.bootstrap.run import Resampled, gather
from priori.uncertainty.score_axis import ScoreAxis, bandwidth, tied
from priori.uncertainty.units import Units

#: At least so many smoothed sets, and so many for each unit.
SETS, SETS_PER_UNIT = 1000, 5
#: Normal numbers are among so many quantiles: those that `priori.uncertainty.bootstrap.bagging` indexes by its bits.
QUANTILES = 1 << 12
#: The purpose of their stream.
BAGS = 3_000_017
#: From so many trials on, units are histograms.
MANY = 1 << 17
#: What the larger class of a set adds up to in whole numbers, where units are histograms.
WHOLE, WHOLE_BY_CRITERION = 1 << 26, 1 << 14

#: Draws sets first, first + 1, ...: how often units came, and how many cells the thresholds of each system reject.
_Draw = Callable[[int, int], tuple[Floats, NDArray[Any]]]


class SmoothedSets(NamedTuple):
    """How often each unit came (sets, units), and how many cells thresholds reject (sets, systems, alphas)."""

    weights: Floats
    rejected: NDArray[np.int32]


def smoothed_sets(
    systems: Sequence[Resampled], devs: Sequence[Scores], wholes: Sequence[Scores], axes: Sequence[ScoreAxis],
    units: Sequence[Units], seed: int, *, threads: int | None = None, progress: Progress | None = None,
) -> SmoothedSets:  # fmt: skip
    """Draw smoothed sets of the development trials ``devs`` and choose each system's thresholds on them.

    Where these are counts in wide cells, ``wholes`` tell which scores are tied; else they are the same.
    """
    counted = any(dev.negative.number is not None for dev in devs)
    many = counted or sum(len(dev) for dev in devs[:1]) > MANY
    if counted or (many and units[0].partner is None):
        draw = _by_histogram(systems, devs, wholes, axes, units, seed)
    else:
        draw = _by_trial(systems, devs, axes, units, seed)

    def work(first: int, rows: int) -> Floats:
        weights, rejected = draw(first, rows)
        return np.hstack([weights, rejected.reshape(rows, -1)])

    sets, count = max(SETS, SETS_PER_UNIT * units[0].count), units[0].count
    both = gather(work, sets, 64, threads=threads, progress=progress)
    shape = sets, len(systems), len(systems[0].fractions)
    return SmoothedSets(both[:, :count].copy(), both[:, count:].astype(np.int32).reshape(shape))


def _choose(system: Resampled, counts: Sequence[Ints], axis: ScoreAxis) -> NDArray[np.intp]:
    """Return how many cells each threshold rejects that a criterion of any kind chooses on counts in cells."""
    assert system.criterion is not None
    negative, positive = (Trials(np.repeat(axis.value, number[: axis.cells])) for number in counts)
    thresholds = system.criterion.choose(Scores(negative, positive), system.fractions).threshold
    return np.maximum(np.searchsorted(axis.value, thresholds, side="right"), 1)


# -- trial by trial ----------------------------------------------------------------------------------------------


class SmoothTrials(NamedTuple):
    """The development trials for the kernel, one class after another, see `priori.uncertainty.bootstrap.bagging`.

    Those of class c are from ``starts[c]`` to ``starts[c + 1]``. ``place[i, s]`` is where trial i of system s lies, in
    cells; where ``held`` it stays there. ``width[c, s]`` is the bandwidth in standard deviations, ``shrink`` what keeps
    the spread as it is.
    """

    starts: Ints
    unit: NDArray[np.int32]
    partner: NDArray[np.int32]
    place: Floats
    held: NDArray[np.bool_]
    width: Floats
    shrink: Floats


def _by_trial(
    systems: Sequence[Resampled], devs: Sequence[Scores], axes: Sequence[ScoreAxis], each: Sequence[Units], seed: int
) -> _Draw:
    from scipy.special import ndtri

    units = each[0]
    attack = attacks_of(devs[0])
    impostors, attacks = (
        _smooth_trials([dev.negative.take(np.flatnonzero(part)) for dev in devs], axes, units.negative[part],
                       None if units.partner is None else units.partner[part])
        for part in (~attack, attack)
    )  # fmt: skip
    classes = impostors, _smooth_trials([dev.positive for dev in devs], axes, units.positive, None), attacks
    starts = np.cumsum([0, *(unit.size for unit, *_ in classes)])
    *columns, widths = zip(*classes, strict=True)
    width = np.stack(widths)
    unit, partner, place, held = (np.concatenate(column) for column in columns)
    trials = SmoothTrials(starts, unit, partner, place, held, width, 1 / np.sqrt(1 + width**2))
    values = np.full((len(axes), max(axis.cells for axis in axes)), np.inf)
    for row, axis in zip(values, axes, strict=True):
        row[: axis.cells] = axis.value
    quantiles = ndtri((np.arange(QUANTILES) + 0.5) / QUANTILES)
    drawn = (seed, BAGS, trials, share_of(devs[0]), units.strata, quantiles)
    fractions, most = systems[0].fractions, np.array([[axis.cells] for axis in axes])
    # A trial comes more than once where its users do.
    kind = common_kind(systems, 16 * max(len(dev) for dev in devs))
    if kind is None and devs[0].omega is not None:
        raise OptionError("where attacks have a share of their own, new thresholds are chosen by wer only")
    kernel = load_kernel("bag_counts" if kind is None else "bag", "bagging")

    def by_kernel(first: int, rows: int) -> tuple[Floats, NDArray[Any]]:
        assert kind is not None
        weights, rejected = np.empty((rows, units.count)), np.empty((rows, len(devs), len(fractions)), dtype=np.int64)
        kernel(first, *drawn, values, *kind, weights, rejected)
        return weights, np.minimum(rejected, most)  # rejecting everything includes what only the longest axis has

    def by_criterion(first: int, rows: int) -> tuple[Floats, NDArray[Any]]:
        weights, rejected = np.empty((rows, units.count), dtype=np.int64), []
        for row in range(rows):
            counts = kernel(first + row, *drawn, values.shape[1], weights[row])
            rejected.append([_choose(system, counts[:, s], axes[s]) for s, system in enumerate(systems)])
        return weights.astype(np.float64), np.array(rejected)

    return by_criterion if kind is None else by_kernel


def _smooth_trials(
    trials: Sequence[Trials], axes: Sequence[ScoreAxis], unit: NDArray[Any], partner: NDArray[Any] | None
) -> tuple[NDArray[Any], ...]:
    """Return unit, partner, place and held of the trials of one class, in the order of their units, and the widths."""
    order = np.argsort(unit, kind="stable")
    place = np.stack([axis.places(each.score) for axis, each in zip(axes, trials, strict=True)], axis=1)
    held = np.stack([tied(each) | (not axis.smooth) for axis, each in zip(axes, trials, strict=True)], axis=1)
    width = np.full(len(axes), bandwidth(len(trials[0])))
    other = np.full(unit.size, -1, dtype=np.int32) if partner is None else partner
    return unit[order], other[order], place[order], held[order], width


# -- by histogram ------------------------------------------------------------------------------------------------


def _by_histogram(
    systems: Sequence[Resampled], devs: Sequence[Scores], wholes: Sequence[Scores], axes: Sequence[ScoreAxis],
    units: Sequence[Units], seed: int,
) -> _Draw:  # fmt: skip
    draw_weights = load_kernel("draw_weights", "bagging")
    fractions = systems[0].fractions
    kind = common_kind(systems, 4 * WHOLE)
    choose = None if kind is None else load_kernel("choose_again", "readers")
    whole = WHOLE_BY_CRITERION if kind is None else WHOLE
    histograms = []
    pairs = []
    for dev, like, axis, codes in zip(devs, wholes, axes, units, strict=True):
        pairs.append(_Pairs.of(codes))
        rows = (pairs[-1].row, pairs[-1].rows), (codes.positive, codes.count)
        classes = zip((dev.negative, dev.positive), (like.negative, like.positive), rows, strict=True)
        scale = np.float32(whole / max(dev.n_negatives, dev.n_positives))
        histograms.append([scale * _smooth_histogram(trials, axis, *row, alike) for trials, alike, row in classes])
        if dev.omega is not None:
            attack = attacks_of(dev)
            strata = [(dev.negative.take(np.flatnonzero(part)), codes.negative[part]) for part in (~attack, attack)]
            parts = [scale * _smooth_histogram(trials, axis, code, codes.count, trials) for trials, code in strata]
            histograms[-1] = [parts[0], histograms[-1][1], parts[1]]
    drawn_from, count = (units[0].strata, units[0].sizes), units[0].count

    def draw(first: int, rows: int) -> tuple[Floats, NDArray[Any]]:
        weights = np.empty((rows, count))
        draw_weights(first, seed, BAGS, *drawn_from, weights)
        rejected = np.empty((rows, len(systems), len(fractions)), dtype=np.int64)
        drawn = weights.astype(np.float32)
        for s, (system, axis) in enumerate(zip(systems, axes, strict=True)):
            impostors, *others = histograms[s]
            sums = [pairs[s].weights(drawn) @ impostors, *(drawn @ histogram for histogram in others)]
            if (omega := devs[s].omega) is not None:
                sums[0] = _join(sums[0], sums.pop(), float(omega))
            negative, positive = (np.rint(each).astype(np.int64) for each in sums)
            if kind is None or choose is None:
                rejected[:, s] = [_choose(system, pair, axis) for pair in zip(negative, positive, strict=True)]
            else:
                code, p, q = kind
                choose(code, negative, positive, axis.value, 1, p, q, axis.value, rejected[:, s])
        return weights, rejected

    return draw


class _Pairs(NamedTuple):
    """The histograms that negatives lie in: of a unit, or of two where trials are crossed."""

    row: NDArray[np.int32]
    rows: int
    members: tuple[NDArray[Any], NDArray[Any]] | None

    @classmethod
    def of(cls, units: Units) -> _Pairs:
        if units.partner is None:
            return cls(units.negative, units.count, None)
        # The last column of the draws is one that always comes, for trials without a partner.
        second_of = np.where(units.partner < 0, units.count, units.partner)
        keys = units.negative.astype(np.int64) * (units.count + 1) + second_of
        present, row = np.unique(keys, return_inverse=True)
        first, second = np.divmod(present, units.count + 1)
        return cls(row.astype(np.int32), int(present.size), (first, second))

    def weights(self, drawn: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how often the trials of each histogram come, where units do so often."""
        if self.members is None:
            return drawn
        first, second = self.members
        one = np.ones((len(drawn), 1), dtype=drawn.dtype)
        return np.asarray(drawn[:, first] * np.hstack([drawn, one])[:, second])


def _join(impostors: Floats, attacks: Floats, omega: float) -> Floats:
    """Return the negatives of each set (rows), attacks with their share; they add up to as many as there were."""
    sizes = [each.sum(axis=1, keepdims=True) for each in (impostors, attacks)]
    shares = [part / np.maximum(size, 1e-300) for part, size in zip((impostors, attacks), sizes, strict=True)]
    return np.asarray(((1 - omega) * shares[0] + omega * shares[1]) * (sizes[0] + sizes[1]))


def _smooth_histogram(
    trials: Trials, axis: ScoreAxis, unit: NDArray[Any], units: int, whole: Trials
) -> NDArray[np.float32]:
    """Return the trials of one class by unit (rows) and cell, smoothed as single trials are on the average.

    Cells stay as they are where most of the ``whole`` class is tied.
    """
    cells = np.floor(axis.places(trials.score)).astype(np.int64)
    counted = np.bincount(unit.astype(np.int64) * axis.cells + cells, trials.number, units * axis.cells)
    histogram = counted.reshape(units, axis.cells).astype(np.float32)
    if not axis.smooth:
        return histogram
    held = tied(whole)
    number = histogram.sum(axis=0)
    at = np.floor(axis.places(whole.score)).astype(np.int64)
    stays = np.bincount(at, held if whole.number is None else held * whole.number, axis.cells) > number / 2
    stays[[0, -1]] = True
    return np.asarray(histogram @ _smoothing(number, stays, bandwidth(len(trials))))


def _smoothing(number: Floats, stays: NDArray[np.bool_], width: float) -> NDArray[np.float32]:
    """Return where what lies in each cell (rows) goes."""
    from scipy.special import ndtr

    centre = np.arange(number.size) + 0.5
    weight = np.where(stays, 0.0, number)
    if not weight.any():
        return np.eye(number.size, dtype=np.float32)
    mean = np.average(centre, weights=weight)
    spread = max(np.sqrt(np.average((centre - mean) ** 2, weights=weight)), 1e-9)
    shrink = 1 / np.sqrt(1 + width**2)
    edges = np.arange(1.0, number.size)  # what is beyond the first and the last of these comes into the cells there
    edges[0], edges[-1] = -np.inf, np.inf
    moved = ndtr((edges - (mean + (centre[:, None] - mean) * shrink)) / (width * spread * shrink))
    smoothing = np.zeros((number.size, number.size), dtype=np.float32)
    smoothing[:, 1:-1] = np.diff(moved, axis=1)
    smoothing[stays] = np.eye(number.size, dtype=np.float32)[stays]
    return smoothing
