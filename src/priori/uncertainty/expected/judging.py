"""The test set under thresholds that vary: the value at each of them, and what every trial moves their mean by.

A threshold is how many cells of a score axis it rejects. A value is a function of the counts of the four outcomes; a
trial moves it by the slope of the function in the count that the trial is part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores
from priori.scores.influence import Moves, People
from priori.uncertainty.bootstrap.layout import attacks_of
from priori.uncertainty.expected.score_axis import ScoreAxis
from priori.uncertainty.expected.units import Units, without_noise

#: Pairs of identities are added up in so many random sums, which is enough for the sum of their squares.
PAIR_SUMS = 1000
EVERY = slice(None)


class Judged(NamedTuple):
    """One system on the test set: ``values`` (sets, alphas) at the thresholds of each set, and what every trial of
    either class moves their mean by at each alpha.
    """

    values: Floats
    classes: tuple[Moves, Moves]


def judge(test: Scores, axis: ScoreAxis, rejected: NDArray[np.int32], measure: Measure, alpha: Floats) -> Judged:
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
        slope = share * (_at_alphas(measure, moved, alpha) - value) / step
        sums.append(np.concatenate([np.zeros((1, alpha.size)), np.cumsum(slope, axis=0)]))
    of_tp, of_fp, of_tn, of_fn = sums
    # A trial in cell j is accepted where at most j cells are rejected.
    gaps = [np.searchsorted(visited, cell, side="right") for cell in cells]
    moves = Moves(gaps[0], of_fp + of_tn[-1] - of_tn), Moves(gaps[1], of_tp + of_fn[-1] - of_fn)
    return Judged(value[index, np.arange(alpha.size)], moves)


def _at_alphas(measure: Measure, counts: Sequence[NDArray[Any]], alpha: Floats) -> Floats:
    """Return the measure of outcomes (rows), given as their four counts, at each alpha."""
    flat = Outcomes(*(np.repeat(count, alpha.size) for count in counts))
    return measure(flat, np.tile(alpha, counts[0].size)).reshape(-1, alpha.size)


def influence_of(
    tests: Sequence[Scores], judged: Iterable[Judged], each: Sequence[Units]
) -> tuple[Floats, Floats | float]:
    """Return what each unit of the test set moves each value by, (units, systems, alphas), and a share.

    Where trials are crossed, the sums of both roles have the variance of pairs of units twice; the share of the
    variance that is left without it, at each alpha, is the second value. Systems are gone through once.
    """
    units = each[0]
    sums: list[list[Floats]] = [[], [], []]
    for test, system, own in zip(tests, judged, each, strict=True):
        weights = test.negative_weights, test.positive.number
        found = zip(system.classes, own.classes, weights, strict=True)
        of_units = sum(moves.sums(people.unit, units.count, EVERY, number) for moves, people, number in found)
        if test.mixture is not None:
            of_units = of_units - _of_shares(test, system.classes[0], own)
        sums[0].append(np.asarray(of_units))
        for found_sums, more in zip(sums[1:], _crossed(system.classes[0], own.classes[0], weights[0]), strict=False):
            found_sums.append(more)
    of_claimed = np.stack(sums[0], axis=1)
    one_way = units.correction[:, :, None] * units.centre(of_claimed)
    if not sums[1]:
        return one_way, 1.0
    of_partners, by_pair = (np.stack(each_system, axis=1) for each_system in sums[1:])
    either = units.centre(of_claimed + of_partners)
    left = without_noise(either.reshape(units.count, -1), by_pair.reshape(len(by_pair), -1))
    two_way = units.correction[:, :, None] * left.reshape(either.shape)
    lowest, variance = (one_way**2).sum(axis=0), (two_way**2).sum(axis=0)
    # Never below what the claimed identities alone would have.
    ratio = np.divide(lowest, variance, out=np.ones_like(variance), where=variance > 0)
    influence = two_way * np.sqrt(np.maximum(ratio, 1.0))
    twice = ((units.correction[:, :, None] * either) ** 2).sum(axis=(0, 1))
    share = np.divide((influence**2).sum(axis=(0, 1)), twice, out=np.ones_like(twice), where=twice > 0)
    return influence, np.clip(share, 0.5, 1.0)


def _of_shares(test: Scores, negatives: Moves, units: Units) -> Floats:
    """Return what units would move values by that had more attacks, or impostors, than their share: these are fixed."""
    claimed = units.classes[0].unit
    weights = np.ones(claimed.size) if test.negative_weights is None else test.negative_weights
    total = np.zeros((units.count, negatives.moves.shape[1]))
    for part in (attacks_of(test), ~attacks_of(test)):
        mean = negatives.sums(np.zeros(claimed.size, np.intp)[part], 1, part, None)[0] / np.count_nonzero(part)
        total += np.multiply.outer(np.bincount(claimed[part], weights[part], units.count), mean)
    return total


def _crossed(negatives: Moves, people: People, weights: NDArray[Any] | None) -> list[Floats]:
    """Return what units move values by as partners, and random sums of what pairs do, the same for all systems."""
    if len(people.roles) < 2:
        return []
    partner, crossed = people.roles[1]
    number = np.ones(partner.size) if weights is None else weights[crossed]
    (pair, sizes, _), rng = people.pairs, np.random.default_rng(0)
    sums = np.arange(sizes.size) if sizes.size <= PAIR_SUMS else rng.integers(0, PAIR_SUMS, sizes.size)
    signs = rng.choice([-1.0, 1.0], sizes.size)
    by_pair = negatives.sums(sums[pair], min(sizes.size, PAIR_SUMS), crossed, signs[pair] * number)
    return [negatives.sums(partner, people.count, crossed, number), by_pair]
