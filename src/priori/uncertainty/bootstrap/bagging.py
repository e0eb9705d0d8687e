"""The compiled loop over smoothed development sets: draw units, move their trials a little, choose thresholds.

Importing this module imports numba: `priori.uncertainty.method` does so when it runs. Scores are places on an axis of
cells; cell 0 is for scores of -inf, the last one for +inf.
"""

from __future__ import annotations

import numpy as np

from priori.uncertainty.bootstrap.choosing import choose, fill
from priori.uncertainty.bootstrap.streams import GAMMA, below, compiled, mix, stream

#: Bits of a random word that choose one of the normal quantiles.
BITS = 12
_S16, _SHIFT, _INDEX = np.uint64(16), np.uint64(64 - 16), np.uint64(16 - BITS)


@compiled
def draw_units(state, strata, drawn):  # type: ignore[no-untyped-def]
    """Draw the units of each stratum with replacement, as many as there are: ``drawn[u]`` is how often u came."""
    fill(drawn, 0)
    for k in range(strata.size - 1):
        size = strata[k + 1] - strata[k]
        for _ in range(size):
            drawn[strata[k] + below(state, size)] += 1


@compiled
def _copies(trials, i, drawn):  # type: ignore[no-untyped-def]
    """Return how often a trial comes: as often as its unit, or as both of its identities together."""
    copies = drawn[trials.unit[i]]
    return copies * drawn[trials.partner[i]] if copies > 0 and trials.partner[i] >= 0 else copies


@compiled
def _moments(trials, drawn, mean, spread):  # type: ignore[no-untyped-def]
    """Write mean and standard deviation of what was drawn, by system; return how many trials that is."""
    fill(mean, 0.0)
    fill(spread, 0.0)
    total = 0
    counted = np.zeros(mean.size, np.int64)
    for i in range(trials.unit.size):
        copies = _copies(trials, i, drawn)
        total += copies
        if copies > 0:
            for s in range(mean.size):
                if not trials.held[i, s]:
                    place = trials.place[i, s]
                    counted[s] += copies
                    mean[s] += copies * place
                    spread[s] += copies * place * place
    for s in range(mean.size):
        mean[s] /= max(counted[s], 1)
        spread[s] = np.sqrt(max(spread[s] / max(counted[s], 1) - mean[s] * mean[s], 0.0))
    return total


@compiled
def _scatter(state, trials, drawn, quantiles, mean, spread, counts):  # type: ignore[no-untyped-def]
    """Count the drawn trials in cells, each copy moved by its own normal number, the same for all systems.

    Mean and spread of what was drawn are kept.
    """
    systems, last = counts.shape[0], counts.shape[1] - 2
    bits, left = np.uint64(0), 0
    for i in range(trials.unit.size):
        for _ in range(_copies(trials, i, drawn)):
            if left == 0:
                state[0] += GAMMA
                bits, left = mix(state[0]), 4
            z = quantiles[(bits >> _SHIFT) >> _INDEX]
            bits <<= _S16
            left -= 1
            for s in range(systems):
                place = trials.place[i, s]
                if trials.held[i, s]:
                    counts[s, np.int64(place)] += 1
                else:
                    moved = mean[s] + (place - mean[s] + trials.width[s] * spread[s] * z) * trials.shrink[s]
                    counts[s, min(max(np.int64(moved), 1), last)] += 1


@compiled
def draw_counts(state, negative, positive, strata, quantiles, drawn, counts, totals):  # type: ignore[no-untyped-def]
    """Draw a smoothed development set that has both classes into ``counts[class, system, cell]``."""
    mean, spread = np.empty(counts.shape[1]), np.empty(counts.shape[1])
    while True:
        draw_units(state, strata, drawn)
        totals[0] = _moments(negative, drawn, mean, spread)
        if totals[0] == 0:
            continue
        counts[0] = 0
        _scatter(state, negative, drawn, quantiles, mean, spread, counts[0])
        totals[1] = _moments(positive, drawn, mean, spread)
        if totals[1] == 0:
            continue
        counts[1] = 0
        _scatter(state, positive, drawn, quantiles, mean, spread, counts[1])
        return


@compiled
def _cells_rejected(axis, gap, negative, positive):  # type: ignore[no-untyped-def]
    """Return how many cells lie at or below the threshold after cell ``gap``: midway to the next cell drawn."""
    if gap < 1:
        return 1
    for g in range(gap + 1, negative.size):
        if negative[g] > 0 or positive[g] > 0:
            middle = 0.5 * axis[gap] + 0.5 * axis[g]
            if middle >= axis[g]:
                return gap + 1
            low, high = gap + 1, g
            while low < high:
                between = (low + high) >> 1
                if axis[between] <= middle:
                    low = between + 1
                else:
                    high = between
            return low
    return negative.size


@compiled
def choose_cells(kind, negative, positive, totals, axis, p, q, scratch, gaps, rejected):  # type: ignore[no-untyped-def]
    """Write how many cells the threshold chosen at each alpha p / q rejects."""
    choose(kind, negative, positive, 1, totals, p, q, scratch, gaps)
    for k in range(p.size):
        if k > 0 and gaps[k] == gaps[k - 1]:
            rejected[k] = rejected[k - 1]
        else:
            rejected[k] = _cells_rejected(axis, gaps[k], negative, positive)


@compiled
def bag(first, seed, purpose, negative, positive, strata, quantiles, axis, kind, p, q, weights, rejected):  # type: ignore[no-untyped-def]
    """Fill ``weights[b, unit]`` and ``rejected[b, system, alpha]`` for the sets ``first``, ``first + 1``, ..."""
    systems, cells = axis.shape
    counts = np.empty((2, systems, cells), np.int64)
    totals, drawn = np.empty(2, np.int64), np.empty(weights.shape[1], np.int64)
    scratch, gaps = np.empty((3, cells + 1), np.int64), np.empty(p.size, np.int64)
    for b in range(weights.shape[0]):
        state = stream(seed, purpose, first + b)
        draw_counts(state, negative, positive, strata, quantiles, drawn, counts, totals)
        for u in range(drawn.size):
            weights[b, u] = drawn[u]
        for s in range(systems):
            choose_cells(kind, counts[0, s], counts[1, s], totals, axis[s], p, q, scratch, gaps, rejected[b, s])


@compiled
def bag_counts(replicate, seed, purpose, negative, positive, strata, quantiles, cells, drawn):  # type: ignore[no-untyped-def]
    """Return the counts of one smoothed set, ``counts[class, system, cell]``, and fill ``drawn``."""
    counts = np.empty((2, negative.place.shape[1], cells), np.int64)
    state = stream(seed, purpose, replicate)
    draw_counts(state, negative, positive, strata, quantiles, drawn, counts, np.empty(2, np.int64))
    return counts


@compiled
def draw_weights(first, seed, purpose, strata, weights):  # type: ignore[no-untyped-def]
    """Fill ``weights[b, unit]`` for the sets ``first``, ``first + 1``, ..."""
    drawn = np.empty(weights.shape[1], np.int64)
    for b in range(weights.shape[0]):
        draw_units(stream(seed, purpose, first + b), strata, drawn)
        for u in range(drawn.size):
            weights[b, u] = drawn[u]


@compiled
def choose_rows(kind, negative, positive, axis, p, q, rejected):  # type: ignore[no-untyped-def]
    """Choose thresholds on each row of whole-number counts in cells, those of one system."""
    totals = np.empty(2, np.int64)
    scratch, gaps = np.empty((3, axis.size + 1), np.int64), np.empty(p.size, np.int64)
    for b in range(negative.shape[0]):
        totals[0], totals[1] = negative[b].sum(), positive[b].sum()
        choose_cells(kind, negative[b], positive[b], totals, axis, p, q, scratch, gaps, rejected[b])
