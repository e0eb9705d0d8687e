"""The compiled loop over smoothed development sets: draw units, move their trials a little, choose thresholds.

Importing this module imports numba: `priori.uncertainty.method` does so when it runs. Scores are places on an axis of
cells; cell 0 is for scores of -inf, the last one for +inf.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap.choosing import at_least_one, fill, stratum_weights
from priori.uncertainty.bootstrap.readers import choose_row
from priori.uncertainty.bootstrap.streams import GAMMA, below, mix, stream

#: Bits of a random word that choose one of the normal quantiles.
BITS = 12
_S16, _LOW, _INDEX = np.uint64(16), np.uint64(0xFFFF), np.uint64(16 - BITS)


@compiled
def draw_units(state, strata, drawn):  # type: ignore[no-untyped-def]
    """Draw the units of each stratum with replacement, as many as there are: ``drawn[u]`` is how often u came."""
    fill(drawn, 0)
    for k in range(strata.size - 1):
        size = strata[k + 1] - strata[k]
        for _ in range(size):
            drawn[strata[k] + below(state, size)] += 1


@compiled
def _copies(drawn, unit, partner):  # type: ignore[no-untyped-def]
    """Return how often a trial comes: as often as its unit, or as both of its identities together."""
    copies = drawn[unit]
    return copies * drawn[partner] if copies > 0 and partner >= 0 else copies


@compiled
def _moments(c, trials, drawn, counted, mean, spread):  # type: ignore[no-untyped-def]
    """Write mean and standard deviation of what was drawn of a class, by system; return how many trials that is."""
    unit, partner, place, held = trials.unit, trials.partner, trials.place, trials.held
    systems = mean.size
    fill(mean, 0.0)
    fill(spread, 0.0)
    fill(counted, 0)
    total = 0
    for i in range(trials.starts[c], trials.starts[c + 1]):
        copies = _copies(drawn, unit[i], partner[i])
        total += copies
        if copies > 0:
            for s in range(systems):
                if not held[i, s]:
                    moved = copies * place[i, s]
                    counted[s] += copies
                    mean[s] += moved
                    spread[s] += moved * place[i, s]
    for s in range(systems):
        number = at_least_one(counted[s])
        mean[s] /= number
        variance = spread[s] / number - mean[s] * mean[s]
        spread[s] = np.sqrt(variance if variance > 0.0 else 0.0)
    return total


@compiled
def _scatter(state, c, trials, drawn, quantiles, mean, spread, counts):  # type: ignore[no-untyped-def]
    """Count the drawn trials of a class in cells, each copy moved by its own normal number, the same for all systems.

    Mean and spread of what was drawn are kept, and become where a system's trials move to and how far.
    """
    unit, partner, place, held, shrink = trials.unit, trials.partner, trials.place, trials.held, trials.shrink[c]
    systems, last = counts.shape[0], counts.shape[1] - 2
    offset, reach = mean, spread
    for s in range(systems):
        offset[s] = mean[s] * (1 - shrink[s])
        reach[s] = trials.width[c, s] * spread[s] * shrink[s]
        for g in range(counts.shape[1]):
            counts[s, g] = 0
    bits, left, word = np.uint64(0), 0, state[0]
    for i in range(trials.starts[c], trials.starts[c + 1]):
        for _ in range(_copies(drawn, unit[i], partner[i])):
            if left == 0:
                word += GAMMA
                bits, left = mix(word), 4
            z = quantiles[(bits & _LOW) >> _INDEX]
            bits >>= _S16
            left -= 1
            for s in range(systems):
                if held[i, s]:
                    counts[s, np.int64(place[i, s])] += 1
                else:
                    moved = at_least_one(np.int64(offset[s] + place[i, s] * shrink[s] + reach[s] * z))
                    counts[s, moved if moved < last else last] += 1
    state[0] = word


@compiled
def draw_counts(state, trials, omega, strata, quantiles, drawn, counts, totals):  # type: ignore[no-untyped-def]
    """Draw a smoothed development set that has every class into ``counts[class, system, cell]``.

    The classes are the negatives, the positives and, where attacks have the share ``omega`` of the negatives (q not
    0), the attacks: these are then drawn apart, and join the other negatives with their share.
    """
    systems = counts.shape[1]
    counted, mean, spread = np.empty(systems, np.int64), np.empty(systems, np.float64), np.empty(systems, np.float64)
    c = np.int64(0)
    while c < counts.shape[0]:
        if c == 0:
            draw_units(state, strata, drawn)
        totals[c] = _moments(c, trials, drawn, counted, mean, spread)
        if totals[c] == 0:
            c = np.int64(0)  # not drawn: all over again
            continue
        _scatter(state, c, trials, drawn, quantiles, mean, spread, counts[c])
        c += 1
    if omega[1] > 0:
        own, other = stratum_weights(omega, totals[0], totals[2], totals[1])
        for s in range(systems):
            for g in range(counts.shape[2]):
                counts[0, s, g] = own * counts[0, s, g] + other * counts[2, s, g]
        totals[0] = own * totals[0] + other * totals[2]


@compiled
def bag(first, seed, purpose, trials, omega, strata, quantiles, axis, kind, p, q, weights, rejected):  # type: ignore[no-untyped-def]
    """Fill ``weights[b, unit]`` and ``rejected[b, system, alpha]`` for the sets ``first``, ``first + 1``, ..."""
    systems, cells = axis.shape
    counts = np.empty((3 if omega[1] > 0 else 2, systems, cells), np.int64)
    totals, drawn = np.empty(3, np.int64), np.empty(weights.shape[1], np.int64)
    scratch, chosen = np.empty((3, cells + 1), np.int64), np.empty(p.size, np.int64)
    for b in range(weights.shape[0]):
        state = stream(seed, purpose, first + b)
        draw_counts(state, trials, omega, strata, quantiles, drawn, counts, totals)
        for u in range(drawn.size):
            weights[b, u] = drawn[u]
        for s in range(systems):
            choose_row(kind, counts[0, s], counts[1, s], axis[s], 1, p, q, axis[s], scratch, chosen, rejected[b, s])


@compiled
def bag_counts(replicate, seed, purpose, trials, omega, strata, quantiles, cells, drawn):  # type: ignore[no-untyped-def]
    """Return the counts of one smoothed set, ``counts[class, system, cell]``, and fill ``drawn``."""
    counts = np.empty((2, trials.place.shape[1], cells), np.int64)
    state = stream(seed, purpose, replicate)
    draw_counts(state, trials, omega, strata, quantiles, drawn, counts, np.empty(3, np.int64))
    return counts


@compiled
def draw_weights(first, seed, purpose, strata, sizes, weights):  # type: ignore[no-untyped-def]
    """Fill ``weights[b, unit]`` for the sets ``first``, ``first + 1``, ...; each has both classes.

    ``sizes[class, unit]`` are the trials of the units.
    """
    drawn = np.empty(weights.shape[1], np.int64)
    for b in range(weights.shape[0]):
        state = stream(seed, purpose, first + b)
        negatives, positives = 0.0, 0.0
        while negatives == 0 or positives == 0:
            draw_units(state, strata, drawn)
            negatives, positives = 0.0, 0.0
            for u in range(drawn.size):
                weights[b, u] = drawn[u]
                negatives += drawn[u] * sizes[0, u]
                positives += drawn[u] * sizes[1, u]
