"""The test set under thresholds that vary: the value at each of them, and what every trial moves their mean by.

A threshold is how many cells of a score axis it rejects. A value is a function of the counts of the four outcomes; a
trial moves it by the slope of the function in the count that the trial is part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores
from priori.uncertainty.bootstrap.draws import attacks_of
from priori.uncertainty.cluster_variance import pair_codes
from priori.uncertainty.score_axis import ScoreAxis
from priori.uncertainty.units import Units, without_noise

#: Pairs of identities are added up in so many random sums, which is enough for the sum of their squares.
PAIR_SUMS = 1000


class Judged(NamedTuple):
    """One system on the test set.

    ``values`` (sets, alphas) at the thresholds of each set; ``gaps[c]`` how many of the different thresholds accept
    each trial of a class, and ``moves[c]`` (gaps, alphas) what a trial of a gap moves the mean of the values by.
    """

    values: Floats
    gaps: tuple[Ints, Ints]
    moves: tuple[Floats, Floats]


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
    moves = of_fp + of_tn[-1] - of_tn, of_tp + of_fn[-1] - of_fn
    return Judged(value[index, np.arange(alpha.size)], (gaps[0], gaps[1]), moves)


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
    sums: list[list[Floats]] = [[] for _ in range(2 if units.partner is None else 4)]
    for test, system, own in zip(tests, judged, each, strict=True):
        weights = test.negative_weights, test.positive.number
        groups: list[_Group] = [
            (c, codes, number, units.count) for c, (codes, number) in enumerate(zip(own.classes, weights, strict=True))
        ]
        if own.partner is not None:
            groups += _crossed(own, own.partner, test.negative.number)
        for found, group in zip(sums, groups, strict=True):
            found.append(_by_unit(system, *group))
        if test.mixture is not None:
            sums[0][-1] -= _of_shares(test, system, own)
    of_negatives, of_positives, *of_crossed = (np.stack(found, axis=1) for found in sums)
    one_way = units.correction[:, :, None] * units.centre(of_negatives + of_positives)
    if units.partner is None:
        return one_way, 1.0
    of_partners, by_pair = of_crossed
    either = units.centre(of_negatives + of_positives + of_partners)
    left = without_noise(either.reshape(units.count, -1), by_pair.reshape(len(by_pair), -1))
    two_way = units.correction[:, :, None] * left.reshape(either.shape)
    lowest, variance = (one_way**2).sum(axis=0), (two_way**2).sum(axis=0)
    # Never below what the claimed identities alone would have.
    ratio = np.divide(lowest, variance, out=np.ones_like(variance), where=variance > 0)
    influence = two_way * np.sqrt(np.maximum(ratio, 1.0))
    twice = ((units.correction[:, :, None] * either) ** 2).sum(axis=(0, 1))
    share = np.divide((influence**2).sum(axis=(0, 1)), twice, out=np.ones_like(twice), where=twice > 0)
    return influence, np.clip(share, 0.5, 1.0)


def _of_shares(test: Scores, system: Judged, units: Units) -> Floats:
    """Return what units would move values by that had more attacks, or impostors, than their share: these are fixed."""
    gaps, moves = system.gaps[0], system.moves[0]
    weights = np.ones(gaps.size) if test.negative_weights is None else test.negative_weights
    total = np.zeros((units.count, moves.shape[1]))
    for part in (attacks_of(test), ~attacks_of(test)):
        mean = np.bincount(gaps[part], minlength=moves.shape[0]) @ moves / np.count_nonzero(part)
        total += np.multiply.outer(np.bincount(units.negative[part], weights[part], units.count), mean)
    return total


#: Trials of a class that are added up: the class, a code and a weight for each of them, and how many sums there are.
_Group = tuple[int, NDArray[Any], NDArray[Any] | None, int]


def _crossed(units: Units, partners: NDArray[np.int32], number: NDArray[Any] | None) -> list[_Group]:
    """Return the negatives by their partners, and in random sums of the pairs, the same for all systems."""
    # Trials of one pair of units share both and are in two sums; they count once.
    crossing = (partners >= 0) * (1.0 if number is None else number)
    pair, pairs = pair_codes(units.negative, partners, units.count)
    rng = np.random.default_rng(0)
    sums = np.arange(pairs) if pairs <= PAIR_SUMS else rng.integers(0, PAIR_SUMS, pairs)
    signs = rng.choice([-1.0, 1.0], pairs)[pair] * crossing
    by_partner: _Group = (0, np.where(crossing > 0, partners, 0), crossing, units.count)
    return [by_partner, (0, sums[pair], signs, min(pairs, PAIR_SUMS))]


def _by_unit(system: Judged, c: int, codes: NDArray[Any], counts: NDArray[Any] | None, units: int) -> Floats:
    """Return what the trials of each unit move the values by, those of one class: (units, alphas)."""
    gaps, moves = system.gaps[c], system.moves[c]
    size = moves.shape[0]
    if gaps.size * moves.shape[1] < units * size:
        order = np.argsort(codes, kind="stable")
        present, start = np.unique(codes[order], return_index=True)
        moved = moves[gaps[order]] if counts is None else moves[gaps[order]] * counts[order, None]
        sums = np.zeros((units, moves.shape[1]))
        sums[present] = np.add.reduceat(moved, start, axis=0)
        return sums
    counted = np.bincount(codes.astype(np.int64) * size + gaps, counts, units * size)
    return np.asarray(counted.reshape(units, size) @ moves)
