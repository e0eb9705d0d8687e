"""The three readers of counts in bins, compiled: at thresholds, with thresholds chosen again, along the ROC.

Importing this module imports numba. Each has its plain version in `priori.uncertainty.bootstrap.plain`.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap.choosing import at_least_one, choose, compare, total

#: What is looked for along the curve.
EER, MIN_DCF, AUC = range(3)


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
    for i in range(negative.shape[0]):
        choose_row(kind, negative[i], positive[i], values, lowest, p, q, others, scratch, chosen, ranks[i])


@compiled
def choose_row(  # type: ignore[no-untyped-def]
    kind, negative, positive, values, lowest, p, q, others, scratch, chosen, ranks
):
    """Do so for one row."""
    totals = np.empty(2, np.int64)
    totals[0], totals[1] = total(negative), total(positive)
    choose(kind, negative, positive, lowest, totals, p, q, scratch, chosen)
    for k in range(p.size):
        if k > 0 and chosen[k] == chosen[k - 1]:
            ranks[k] = ranks[k - 1]
        else:
            ranks[k] = rank_of(others, threshold_after(values, negative, positive, chosen[k]))


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
        fp, tp, k = np.int64(0), np.int64(0), 0
        for b in range(negative.shape[1] - 1, -1, -1):
            alarms, hits = negative[i, b], positive[i, b]
            while k < p.size and alarms > 0 and compare(p[k], negatives, q[k], fp + alarms) < 0:
                part = (np.float64(p[k]) * negatives / q[k] - fp) / alarms
                heights[i, k] = (tp + hits * max(part, 0.0)) / positives
                k += 1
            fp += alarms
            tp += hits
        while k < p.size:
            heights[i, k] = tp / positives
            k += 1


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
            else:  # what lies above the curve is taken away
                best -= (frr + misses) / 2 * (far - alarms)
                far, frr = alarms, misses
        found[i] = best
