"""The test set under thresholds that vary: the value at each of them, and what every trial moves their mean by.

A threshold is how many cells of a score axis it rejects. A value is a function of the counts of the four outcomes; a
trial moves it by the slope of the function in the count that the trial is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.decisions.measures import Measure
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores
from priori.uncertainty.bootstrap.mixtures import above
from priori.uncertainty.cluster_variance import pair_codes
from priori.uncertainty.score_axis import ScoreAxis
from priori.uncertainty.units import Units, without_noise

#: Pairs of identities are added up in so many random sums, which is enough for the sum of their squares.
PAIR_SUMS = 1000


class Judged(NamedTuple):
    """One system on the test set.

    ``values`` (sets, alphas) at the thresholds of each set; ``cells[c]`` the cell of each trial of a class and
    ``moves[c]`` (cells, alphas) what a trial in a cell moves the mean of the values by.
    """

    values: Floats
    cells: tuple[Ints, Ints]
    moves: tuple[Floats, Floats]


def judge(test: Scores, axis: ScoreAxis, rejected: NDArray[np.intp], measure: Measure, alpha: Floats) -> Judged:
    """Judge a system at thresholds (sets, alphas), given as the number of cells that they reject."""
    cells = tuple(np.floor(axis.places(trials.score)).astype(np.int64) for trials in (test.negative, test.positive))
    tn, fn = (
        np.append(0.0, np.cumsum(np.bincount(cell, number, axis.cells)))
        for cell, number in zip(cells, (test.negative_weights, test.positive.number), strict=True)
    )
    visited, index = np.unique(rejected, return_inverse=True)
    index = index.reshape(rejected.shape)
    counts = [count[visited] for count in (fn[-1] - fn, tn[-1] - tn, tn, fn)]
    value = _at_alphas(measure, counts, alpha)
    share = np.stack([np.bincount(column, minlength=visited.size) for column in index.T], axis=1) / len(rejected)
    step = 1e-6 * float(tn[-1] + fn[-1])
    sums = []
    for k in range(4):
        moved = [count + step * (i == k) for i, count in enumerate(counts)]
        slope = np.zeros((axis.cells + 1, alpha.size))
        slope[visited] = share * (_at_alphas(measure, moved, alpha) - value) / step
        sums.append(np.cumsum(slope, axis=0))
    of_tp, of_fp, of_tn, of_fn = sums
    # A trial in cell j is accepted where at most j cells are rejected.
    moves = (of_fp + of_tn[-1] - of_tn)[:-1], (of_tp + of_fn[-1] - of_fn)[:-1]
    return Judged(value[index, np.arange(alpha.size)], (cells[0], cells[1]), moves)


def _at_alphas(measure: Measure, counts: Sequence[NDArray[Any]], alpha: Floats) -> Floats:
    """Return the measure of outcomes (rows), given as their four counts, at each alpha."""
    flat = Outcomes(*(np.repeat(count, alpha.size) for count in counts))
    return measure(flat, np.tile(alpha, counts[0].size)).reshape(-1, alpha.size)


def influence_of(
    tests: Sequence[Scores], judged: Sequence[Judged], each: Sequence[Units]
) -> tuple[Floats, Floats | float]:
    """Return what each unit of the test set moves each value by, (units, systems, alphas), and a share.

    Where trials are crossed, the sums of both roles have the variance of pairs of units twice; the share of the
    variance that is left without it, at each alpha, is the second value.
    """
    units = each[0]
    number = [(test.negative_weights, test.positive.number) for test in tests]
    of_negatives, of_positives = (
        _by_unit(judged, c, [codes.classes[c] for codes in each], [pair[c] for pair in number], units.count)
        for c in (0, 1)
    )
    if tests[0].mixture is not None:
        of_negatives = of_negatives - _of_shares(tests, judged, each)
    one_way = units.correction[:, :, None] * units.centre(of_negatives + of_positives)
    if units.partner is None:
        return one_way, 1.0
    many = len(tests)
    # Trials of one pair of units share both and are in two sums; they count once.
    crossing = units.partner != units.negative
    partner = np.where(crossing, units.partner, 0)
    of_partners = _by_unit(judged, 0, [partner] * many, [crossing.astype(np.float64)] * many, units.count)
    either = units.centre(of_negatives + of_positives + of_partners)
    pair, pairs = pair_codes(units.negative, units.partner, units.count)
    rng = np.random.default_rng(0)
    sums = np.arange(pairs) if pairs <= PAIR_SUMS else rng.integers(0, PAIR_SUMS, pairs)
    signs = rng.choice([-1.0, 1.0], pairs)[pair] * crossing
    by_pair = _by_unit(judged, 0, [sums[pair]] * many, [signs] * many, min(pairs, PAIR_SUMS))
    left = without_noise(either.reshape(units.count, -1), by_pair.reshape(len(by_pair), -1))
    two_way = units.correction[:, :, None] * left.reshape(either.shape)
    lowest, variance = (one_way**2).sum(axis=0), (two_way**2).sum(axis=0)
    # Never below what the claimed identities alone would have.
    ratio = np.divide(lowest, variance, out=np.ones_like(variance), where=variance > 0)
    influence = two_way * np.sqrt(np.maximum(ratio, 1.0))
    twice = ((units.correction[:, :, None] * either) ** 2).sum(axis=(0, 1))
    share = np.divide((influence**2).sum(axis=(0, 1)), twice, out=np.ones_like(twice), where=twice > 0)
    return influence, np.clip(share, 0.5, 1.0)


def _of_shares(tests: Sequence[Scores], judged: Sequence[Judged], each: Sequence[Units]) -> Floats:
    """Return what units would move values by that had more attacks, or impostors, than their share: these are fixed."""
    moved = []
    for test, system, units in zip(tests, judged, each, strict=True):
        cells, moves = system.cells[0], system.moves[0]
        weights = np.ones(cells.size) if test.negative_weights is None else test.negative_weights
        total = np.zeros((units.count, moves.shape[1]))
        for part in (above(test), ~above(test)):
            mean = np.bincount(cells[part], minlength=moves.shape[0]) @ moves / np.count_nonzero(part)
            total += np.multiply.outer(np.bincount(units.negative[part], weights[part], units.count), mean)
        moved.append(total)
    return np.stack(moved, axis=1)


def _by_unit(
    judged: Sequence[Judged], c: int, unit: Sequence[NDArray[Any]], number: Sequence[NDArray[Any] | None], units: int
) -> Floats:
    """Return what the trials of each unit move the values by, those of one class: (units, systems, alphas)."""
    each = []
    for system, codes, counts in zip(judged, unit, number, strict=True):
        cells, moves = system.cells[c], system.moves[c]
        size = moves.shape[0]
        if cells.size * moves.shape[1] < units * size:
            order = np.argsort(codes, kind="stable")
            present, start = np.unique(codes[order], return_index=True)
            moved = moves[cells[order]] if counts is None else moves[cells[order]] * counts[order, None]
            sums = np.zeros((units, moves.shape[1]))
            sums[present] = np.add.reduceat(moved, start, axis=0)
        else:
            counted = np.bincount(codes.astype(np.int64) * size + cells, counts, units * size)
            sums = counted.reshape(units, size) @ moves
        each.append(sums)
    return np.stack(each, axis=1)
