"""The compiled loops over replicates: how many trials come in each bin, and what is read of them.

Importing this module imports numba: `priori.uncertainty.bootstrap.draws` does so when a bootstrap runs. The loops know
units, bins and whole numbers, nothing of measures or intervals. Each reader, and `weigh`, stands in plain numpy in
`priori.uncertainty.bootstrap.plain`.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap.choosing import at_least_one, choose, compare, fill, total
from priori.uncertainty.bootstrap.streams import GAMMA, below, binomial, mix, picks, stream

#: How many bins are written together, so that writes are contiguous.
TOGETHER = np.int64(64)
#: Bits of a random word that choose one of the normal quantiles.
BITS = 12
_S16, _LOW, _INDEX = np.uint64(16), np.uint64(0xFFFF), np.uint64(16 - BITS)
#: The figures that are computed along the curve.
EER, MIN_DCF, AUC = range(3)


# -- draw --------------------------------------------------------------------------------------------------------


@compiled
def multiplicities(first, seed, inner, purpose, strata, drawn):  # type: ignore[no-untyped-def]
    """Draw units with replacement: ``drawn[u, r]`` becomes how often unit u comes in replicate ``first + r``."""
    times = np.empty(drawn.shape[0], np.int64)
    for i in range(drawn.shape[1]):
        draw_strata(stream(seed, purpose, (first + i) // inner), strata, times)
        for u in range(times.size):
            drawn[u, i] = times[u]


@compiled
def draw_strata(state, strata, times):  # type: ignore[no-untyped-def]
    """Draw the units from one of ``strata`` to the next among themselves; write how often each comes."""
    fill(times, 0)
    for k in range(strata.size - 1):
        size = strata[k + 1] - strata[k]
        for _ in range(size):
            times[strata[k] + below(state, size)] += 1


@compiled
def weigh(drawn, entries, counts):  # type: ignore[no-untyped-def]
    """Write how many trials bin b has in draw d into ``counts[d, b]``, where unit u comes ``drawn[u, d]`` times.

    The inner loops run over draws, so that they are vectorised.
    """
    start, unit, partner, number = entries.start, entries.unit, entries.partner, entries.number
    draws, bins = counts.shape
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
def _draw_trials(state, trials, times, draws, counts):  # type: ignore[no-untyped-def]
    """Fill the counts of one class.

    Unit u comes ``times[u]`` times, and each copy's trials are drawn among themselves: as many as there are, or
    ``draws`` of them if that is not negative (one unit only).
    """
    fill(counts, 0)
    for u in range(trials.size.size):
        if times[u] == 0:
            continue
        left = np.int64(times[u]) * trials.size[u] if draws < 0 else draws
        whole = trials.size[u]
        for i in range(trials.heavy[u], trials.heavy[u + 1]):
            hits = binomial(state, left, trials.number[i], whole)
            counts[trials.bin[i]] += hits
            left -= hits
            whole -= trials.number[i]
        if left > 0:
            picks(state, left, trials.single, trials.light[u], trials.light[u + 1] - trials.light[u], counts)


@compiled
def draw_within(first, seed, rows, times, purpose, negative, positive, counts, others):  # type: ignore[no-untyped-def]
    """Fill the counts of the negatives, ``counts[r, b]``, and those of the positives, for ``first``, ``first + 1``, ...

    Unit u comes ``times[u, r]`` times; trials are drawn within each. ``rows`` come with their labels, so that chance
    shares out among the classes what is drawn.
    """
    whole, positives = total(negative.size) + total(positive.size), total(positive.size)
    for i in range(counts.shape[0]):
        state, own = stream(seed, purpose, first + i), times[:, i]
        drawn = binomial(state, whole, positives, whole) if rows else np.int64(-1)
        _draw_trials(state, negative, own, whole - drawn if rows else drawn, counts[i])
        _draw_trials(state, positive, own, drawn, others[i])


@compiled
def spread(drawn, place, counts):  # type: ignore[no-untyped-def]
    """Add up counts ``drawn[r, x]`` in the bins of several systems to those of one: x lies in its bin ``place[x]``."""
    for i in range(counts.shape[0]):
        fill(counts[i], 0)
        for x in range(place.size):
            counts[i, place[x]] += drawn[i, x]


# -- read --------------------------------------------------------------------------------------------------------


@compiled
def count_rejected(counts, ranks, rejected, totals):  # type: ignore[no-untyped-def]
    """Write how many trials the first ``ranks[r, k]`` bins of row r hold into ``rejected[r, k]``, and all of them."""
    below = np.empty(counts.shape[1] + 1, counts.dtype)
    below[0] = 0
    for i in range(counts.shape[0]):
        for b in range(counts.shape[1]):
            below[b + 1] = below[b] + counts[i, b]
        for k in range(ranks.shape[1]):
            rejected[i, k] = below[ranks[i, k]]
        totals[i, 0] = below[counts.shape[1]]


@compiled
def choose_again(kind, negative, positive, values, lowest, p, q, others, ranks):  # type: ignore[no-untyped-def]
    """Choose the thresholds of every row of counts on bins with these ``values``, the first ``lowest`` of them -inf.

    ``ranks[r, k]`` becomes how many of the ``others``, the values of the set that is judged, the threshold at alpha
    k = p / q rejects; alphas ascend.
    """
    scratch, chosen = np.empty((3, values.size + 1), np.int64), np.empty(p.size, np.int64)
    totals = np.empty(2, np.int64)
    for i in range(negative.shape[0]):
        totals[0], totals[1] = total(negative[i]), total(positive[i])
        choose(kind, negative[i], positive[i], lowest, totals, p, q, scratch, chosen)
        for k in range(p.size):
            if k > 0 and chosen[k] == chosen[k - 1]:
                ranks[i, k] = ranks[i, k - 1]
            else:
                ranks[i, k] = rank_of(others, threshold_after(values, negative[i], positive[i], chosen[k]))


@compiled
def threshold_after(values, negative, positive, chosen):  # type: ignore[no-untyped-def]
    """Return the threshold between a bin and the next one drawn: -1 is below all bins."""
    following = chosen + 1
    while following < values.size and negative[following] == 0 and positive[following] == 0:
        following += 1
    low = values[chosen] if chosen >= 0 else -np.inf
    if following == values.size:  # reject all; where every score drawn is -inf, the lowest threshold does already
        return np.inf if low > -np.inf else -np.inf
    middle = 0.5 * low + 0.5 * values[following]
    return middle if low <= middle < values[following] else low


@compiled
def rank_of(values, threshold):  # type: ignore[no-untyped-def]
    """Return how many of ascending values are at most the threshold."""
    low, high = 0, values.size
    while low < high:
        middle = (low + high) >> 1
        if values[middle] <= threshold:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def climb(negative, positive, p, q, heights):  # type: ignore[no-untyped-def]
    """Write the height of the ROC curve of every row of counts at false positive rates p / q, which ascend.

    Where the curve runs straight up this is its upper point; inside a bin with both classes it is on the straight line
    between the ends.
    """
    for i in range(heights.shape[0]):
        negatives, positives = total(negative[i]), at_least_one(total(positive[i]))
        fp, tp, b = np.int64(0), np.int64(0), negative.shape[1] - 1
        for k in range(p.size):
            allowed = np.int64(np.float64(p[k]) * negatives / q[k])  # about the most false positives at the rate
            while compare(p[k], negatives, q[k], allowed + 1) >= 0:
                allowed += 1
            while compare(p[k], negatives, q[k], allowed) < 0:
                allowed -= 1
            while b >= 0 and fp + negative[i, b] <= allowed:
                fp += negative[i, b]
                tp += positive[i, b]
                b -= 1
            heights[i, k] = tp / positives
            if b >= 0:
                part = (np.float64(p[k]) * negatives / q[k] - fp) / negative[i, b]
                heights[i, k] = (tp + positive[i, b] * max(part, 0.0)) / positives


@compiled
def along_the_curve(negative, positive, figure, cost_fn, cost_fp, found):  # type: ignore[no-untyped-def]
    """Write the figure of every row of counts into ``found``; the costs are those of all misses and all false alarms.

    A class that was not drawn counts as rejected. The equal error rate is the mean of the error rates where they are
    nearest to one another, in whole numbers; of two such the smaller.
    """
    for i in range(found.size):
        negatives, positives = total(negative[i]), total(positive[i])
        far, frr = 1.0 if negatives else 0.0, 0.0 if positives else 1.0
        nearest = negatives * positives
        best = 1.0 if figure == AUC else cost_fn * frr + cost_fp * far if figure == MIN_DCF else 0.5
        tn, fn = np.int64(0), np.int64(0)
        for b in range(negative.shape[1]):
            if negative[i, b] == 0 and positive[i, b] == 0:
                continue
            tn += negative[i, b]
            fn += positive[i, b]
            alarms = 1 - tn / negatives if negatives else 0.0
            misses = fn / positives if positives else 1.0
            if figure == EER:
                apart = abs((negatives - tn) * at_least_one(positives) - fn * at_least_one(negatives))
                if apart < nearest or (apart == nearest and (alarms + misses) / 2 < best):
                    nearest, best = apart, (alarms + misses) / 2
            elif figure == MIN_DCF:
                best = min(best, cost_fn * misses + cost_fp * alarms)
            else:  # the area above the curve is subtracted
                best -= (frr + misses) / 2 * (far - alarms)
                far, frr = alarms, misses
        found[i] = best


# -- smoothed development sets: how often units come, and where their trials move to --------------------------------
#
# Scores are places on an axis of bins; bin 0 is for scores of -inf, the last one for +inf.


@compiled
def draw_units(first, seed, purpose, strata, starts, unit, partner, weights):  # type: ignore[no-untyped-def]
    """Fill ``weights[r, u]``, how often unit u comes in set ``first + r``: those of a stratum among themselves.

    Trials from one of ``starts`` to the next are of one class; a set that lacks a class is drawn again.
    """
    for r in range(weights.shape[0]):
        state, drawn = stream(seed, purpose, first + r), weights[r]
        complete = False
        while not complete:
            draw_strata(state, strata, drawn)
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
