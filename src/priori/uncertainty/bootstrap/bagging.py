"""The compiled loops over smoothed development sets: how often units come, and where their trials move to.

Importing this module imports numba: `uncertainty/expected/smoothed_sets.py` does so when it runs. Scores are places on
an axis of bins; bin 0 is for scores of -inf, the last one for +inf.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap.choosing import at_least_one, fill
from priori.uncertainty.bootstrap.streams import GAMMA, below, mix, stream

#: Bits of a random word that choose one of the normal quantiles.
BITS = 12
_S16, _LOW, _INDEX = np.uint64(16), np.uint64(0xFFFF), np.uint64(16 - BITS)


@compiled
def draw_units(first, seed, purpose, strata, starts, unit, partner, weights):  # type: ignore[no-untyped-def]
    """Fill ``weights[r, u]``, how often unit u comes in set ``first + r``: those of a stratum among themselves.

    Trials from one of ``starts`` to the next are of one class; a set that lacks a class is drawn again.
    """
    for r in range(weights.shape[0]):
        state, drawn = stream(seed, purpose, first + r), weights[r]
        complete = False
        while not complete:
            fill(drawn, 0.0)
            for k in range(strata.size - 1):
                size = strata[k + 1] - strata[k]
                for _ in range(size):
                    drawn[strata[k] + below(state, size)] += 1
            complete = True
            for c in range(starts.size - 1):
                some = starts[c] == starts[c + 1]
                for i in range(starts[c], starts[c + 1]):
                    if _copies(drawn, unit[i], partner[i]) > 0:
                        some = True
                        break
                complete = complete and some


@compiled
def _copies(drawn, unit, partner):  # type: ignore[no-untyped-def]
    """Return how often a trial comes: as often as its unit, or as both of its identities together."""
    return np.int64(drawn[unit] * (drawn[partner] if partner >= 0 else 1.0))


@compiled
def _moments(c, trials, drawn, counted, mean, spread):  # type: ignore[no-untyped-def]
    """Write mean and standard deviation of what was drawn of a class, by system."""
    place, held = trials.place, trials.held
    fill(mean, 0.0)
    fill(spread, 0.0)
    fill(counted, 0)
    for i in range(trials.starts[c], trials.starts[c + 1]):
        copies = _copies(drawn, trials.unit[i], trials.partner[i])
        if copies > 0:
            for s in range(mean.size):
                if not held[i, s]:
                    moved = copies * place[i, s]
                    counted[s] += copies
                    mean[s] += moved
                    spread[s] += moved * place[i, s]
    for s in range(mean.size):
        number = at_least_one(counted[s])
        mean[s] /= number
        variance = spread[s] / number - mean[s] * mean[s]
        spread[s] = np.sqrt(variance if variance > 0.0 else 0.0)


@compiled
def smooth_trials(first, seed, purpose, c, trials, quantiles, weights, counts):  # type: ignore[no-untyped-def]
    """Count the drawn trials of class c in bins, ``counts[r, s, b]``, each copy moved by a normal number.

    It is the same for all systems; mean and spread of what was drawn are kept.
    """
    unit, partner, place, held, shrink = trials.unit, trials.partner, trials.place, trials.held, trials.shrink[c]
    systems, last = counts.shape[1], counts.shape[2] - 2
    counted, offset, reach = np.empty(systems, np.int64), np.empty(systems, np.float64), np.empty(systems, np.float64)
    for r in range(counts.shape[0]):
        word, drawn = stream(seed, purpose + c, first + r)[0], weights[r]
        _moments(c, trials, drawn, counted, offset, reach)
        for s in range(systems):
            offset[s] *= 1 - shrink[s]
            reach[s] *= trials.width[c, s] * shrink[s]
            fill(counts[r, s], 0)
        bits, left = np.uint64(0), 0
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
                        counts[r, s, np.int64(place[i, s])] += 1
                    else:
                        moved = at_least_one(np.int64(offset[s] + place[i, s] * shrink[s] + reach[s] * z))
                        counts[r, s, moved if moved < last else last] += 1
