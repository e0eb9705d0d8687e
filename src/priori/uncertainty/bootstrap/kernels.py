"""The compiled loops over replicates: how often units come, and how many trials come in each bin.

Importing this module imports numba: `priori.uncertainty.bootstrap.draws` does so when a bootstrap runs. The loops know
units, bins and whole numbers, nothing of scores, measures or intervals.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap.choosing import fill, stratum_weights, total
from priori.uncertainty.bootstrap.streams import GAMMA, below, binomial, fraction, mix, picks, stream

#: Trials drawn among themselves in one go: their bins and counts fit a processor's cache.
PART = np.int64(1 << 14)
#: Bins that are written together, so that what is written lies together.
TOGETHER = np.int64(64)
#: How the trials of a unit come: drawn among themselves, or drawn as rows of both classes together.
WITHIN, ROWS = range(1, 3)


@compiled
def draw_users(seed, purpose, replicate, draws, future, mult):  # type: ignore[no-untyped-def]
    """Draw users with replacement: ``mult[u]`` becomes how often user u came.

    With ``future`` > 0 the draw stands for a population, and that many users are then drawn from it: what a
    future set will show varies by both.
    """
    state = stream(seed, purpose, replicate)
    size = mult.size
    fill(mult, 0)
    if future == 0:
        for _ in range(draws):
            mult[below(state, size)] += 1
        return
    population = np.empty(draws, np.int64)
    for i in range(draws):
        population[i] = below(state, size)
    for _ in range(future):
        mult[population[below(state, draws)]] += 1


@compiled
def multiplicities(first, seed, inner, draws, future, user_stream, drawn):  # type: ignore[no-untyped-def]
    """Write how often unit u comes into ``drawn[u, r]``, for the replicates ``first``, ``first + 1``, ..."""
    mult = np.empty(drawn.shape[0], np.int64)
    for i in range(drawn.shape[1]):
        draw_users(seed, user_stream, (first + i) // inner, draws, future, mult)
        for u in range(mult.size):
            drawn[u, i] = mult[u]


@compiled
def weigh(drawn, entries, counts):  # type: ignore[no-untyped-def]
    """Write how many trials bin b has in draw d into ``counts[d, b]``, where unit u comes ``drawn[u, d]`` times.

    Loops over draws are the inner ones, so that processors take several at a time. In numpy:
    `priori.uncertainty.bootstrap.plain.weigh`.
    """
    start, unit, partner, number = entries.start, entries.unit, entries.partner, entries.number
    draws, bins = counts.shape
    if unit.size < 4 * bins:  # hardly more than one in a bin: draw by draw is faster
        place = np.empty(unit.size, np.uint64)
        for b in range(bins):
            for t in range(start[b], start[b + 1]):
                place[t] = b
        for d in range(draws):
            row, times = counts[d], drawn[:, d].copy()
            fill(row, 0)
            for t in range(place.size):
                more = times[np.uint64(unit[t])] * number[t]
                if partner.size and partner[t] >= 0:
                    more *= times[np.uint64(partner[t])]
                row[place[t]] += more
        return
    some = np.empty((TOGETHER, draws), np.float64)
    for low in range(0, bins, TOGETHER):
        high = min(low + TOGETHER, bins)
        for b in range(low, high):
            sums = some[b - low]
            fill(sums, 0.0)
            for t in range(start[b], start[b + 1]):
                own, times = drawn[unit[t]], number[t]
                if partner.size and partner[t] >= 0:
                    other = drawn[partner[t]]
                    for d in range(draws):
                        sums[d] += own[d] * other[d] * times
                else:
                    for d in range(draws):
                        sums[d] += own[d] * times
        for d in range(draws):
            for b in range(low, high):
                counts[d, b] = some[b - low, d]


@compiled
def class_sizes(state, how, negatives, positives, future, sizes):  # type: ignore[no-untyped-def]
    """Fill how many trials of each class are drawn (-1: as many as there are), then those of a future set (-1: no set).

    Rows come with their labels, so chance shares out among the classes what is drawn.
    """
    later = future[1] + future[2] > 0
    for c in range(2):
        sizes[0, c] = -1
        sizes[1, c] = future[1 + c] if later else -1
    if how != ROWS:
        return
    whole = negatives + positives
    sizes[0, 1] = binomial(state, whole, positives, whole)
    sizes[0, 0] = whole - sizes[0, 1]
    if later:
        sizes[1, 1] = binomial(state, future[1] + future[2], sizes[0, 1], whole)
        sizes[1, 0] = future[1] + future[2] - sizes[1, 1]


@compiled
def _draw_trials(state, trials, mult, draws, future, counts):  # type: ignore[no-untyped-def]
    """Fill the counts of one class.

    Unit u comes ``mult[u]`` times, and each copy's trials are drawn among themselves: as many as there are, or
    ``draws`` of them if that is not negative (one unit only). With ``future`` not negative (one unit only) that many
    trials are drawn from what was drawn.
    """
    fill(counts, 0)
    whole_set = np.int64(0)
    for u in range(trials.size.size):
        if mult[u] == 0:
            continue
        left = mult[u] * trials.size[u] if draws < 0 else draws
        whole_set += left
        whole = trials.size[u]
        for i in range(trials.heavy[u], trials.heavy[u + 1]):
            hits = binomial(state, left, trials.number[i], whole)
            counts[trials.bin[i]] += hits
            left -= hits
            whole -= trials.number[i]
        if left > 0 and trials.tabled.size:
            left = _draw_by_table(state, left, trials, counts)
        if left > 0:
            _pick_all(state, left, trials.single, trials.light[u], trials.light[u + 1], counts)
    if future >= 0:
        _draw_again(state, future, whole_set, counts)


@compiled
def _draw_by_table(state, left, trials, counts):  # type: ignore[no-untyped-def]
    """Draw most of ``left`` trials of the light bins of one unit; return how many are still to be drawn.

    Poisson numbers, given their sum, are multinomial, as these counts are; what the sum lacks is drawn trial by trial.
    In the rare case that it is too large all are drawn again, and in the end trial by trial.
    """
    tabled, rows, guide, cumulated = trials.tabled, trials.row, trials.guide, trials.cumulated
    for _ in range(4):
        z, lacking = state[0], left
        for j in range(tabled.size):
            z += GAMMA
            number, row = fraction(mix(z)), rows[j]
            k = guide[row, np.int64(number * guide.shape[1])]
            while number > cumulated[row, k]:
                k += 1
            counts[tabled[j]] = k
            lacking -= k
        state[0] = z
        if lacking >= 0:
            return lacking
    for j in range(tabled.size):
        counts[tabled[j]] = 0
    return left


@compiled
def _pick_all(state, left, bins, begin, end, counts):  # type: ignore[no-untyped-def]
    """Draw ``left`` of the trials from ``begin`` to ``end``: of many, first how many of each part that fits a cache."""
    while end - begin > 2 * PART:
        hits = binomial(state, left, PART, end - begin)
        picks(state, hits, bins, begin, PART, counts)
        left -= hits
        begin += PART
    if left > 0:
        picks(state, left, bins, begin, end - begin, counts)


@compiled
def _draw_again(state, draws, whole, counts):  # type: ignore[no-untyped-def]
    left = draws
    for b in range(counts.size):
        drawn = counts[b]
        if drawn > 0:
            counts[b] = binomial(state, left, drawn, whole)
            left -= counts[b]
            whole -= drawn


@compiled
def draw_within(  # type: ignore[no-untyped-def]
    first, seed, inner, how, users, future, user_stream, trial_stream, negative, positive, counts, others
):
    """Fill the counts of the negatives, ``counts[r, b]``, and those of the positives, for ``first``, ``first + 1``, ...

    ``users`` of them are drawn (0: none), anew every ``inner`` replicates; then trials within each.
    """
    mult = np.empty(negative.size.size, np.int64)
    fill(mult, 1)
    sizes = np.empty((2, 2), np.int64)
    negatives, positives = total(negative.size), total(positive.size)
    for i in range(counts.shape[0]):
        if users > 0:
            draw_users(seed, user_stream, (first + i) // inner, users, future[0], mult)
        state = stream(seed, trial_stream, first + i)
        class_sizes(state, how, negatives, positives, future, sizes)
        _draw_trials(state, negative, mult, sizes[0, 0], sizes[1, 0], counts[i])
        _draw_trials(state, positive, mult, sizes[0, 1], sizes[1, 1], others[i])


@compiled
def spread(drawn, place, counts):  # type: ignore[no-untyped-def]
    """Add up counts ``drawn[r, x]`` in the bins of several systems to those of one: x lies in its bin ``place[x]``."""
    for i in range(counts.shape[0]):
        fill(counts[i], 0)
        for x in range(place.size):
            counts[i, place[x]] += drawn[i, x]


@compiled
def join_attacks(negative, omega, positive):  # type: ignore[no-untyped-def]
    """Bring attacks, which lie above all other bins, down to where they scored, with the share ``omega``."""
    width = positive.shape[1]
    for i in range(negative.shape[0]):
        row = negative[i]
        impostors, attacks = total(row[:width]), total(row[width:])
        own, other = stratum_weights(omega, impostors, attacks, total(positive[i]))
        for b in range(width):
            row[b] = own * row[b] + other * row[width + b]
