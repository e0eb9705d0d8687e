"""Weighted ROCs: what a test set shows a posteriori when every trial comes as often as a draw says, compiled.

Importing this module imports numba: `priori.uncertainty.both_rankings` does so when systems are ranked, and
`priori.uncertainty.roc_bands` for the curves of large sets.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap.choosing import at_least_one, compare


@compiled
def add_in_cells(weights, owner, partner, number, cell, sums):  # type: ignore[no-untyped-def]
    """Add to ``sums[c, d]`` how often the trials of cell c come in draw d, where owner o comes ``weights[o, d]`` times.

    Trials with a ``partner`` come as often as both (below 0, or an empty array: they have none); ``number`` is how many
    trials each entry stands for (an empty array: one).
    """
    for t in range(cell.size):
        to, own = sums[cell[t]], weights[owner[t]]
        times = number[t] if number.size else 1.0
        if partner.size and partner[t] >= 0:
            other = weights[partner[t]]
            for d in range(to.size):
                to[d] += own[d] * other[d] * times
        else:
            for d in range(to.size):
                to[d] += own[d] * times


@compiled
def climb_along(  # type: ignore[no-untyped-def]
    weights, owner, partner, number, positive, last, start, sums, p, q, heights
):
    """Do what `kernels.climb` does where users come with all their trials: most of them are counted in blocks.

    Trials descend by score; ``last`` marks the end of each run of equal scores, ``start`` where each block begins (and
    the end), ``sums[2 b, d]`` and ``sums[2 b + 1, d]`` are the negatives and the positives of block b in draw d. Only
    blocks in which the curve reaches one of the rates are looked into.
    """
    for d in range(heights.shape[0]):
        negatives, positives = 0.0, 0.0
        for b in range(start.size - 1):
            negatives += sums[2 * b, d]
            positives += sums[2 * b + 1, d]
        total, hits_of_all = np.int64(negatives), at_least_one(np.int64(positives))
        before_fp, before_tp, k = 0.0, 0.0, 0
        for b in range(start.size - 1):
            in_block = sums[2 * b, d]
            if k < p.size and in_block > 0 and compare(p[k], total, q[k], np.int64(before_fp + in_block)) < 0:
                fp, tp, alarms, hits = before_fp, before_tp, 0.0, 0.0
                for t in range(start[b], start[b + 1]):
                    times = weights[owner[t], d]
                    if partner.size and partner[t] >= 0:
                        times *= weights[partner[t], d]
                    if number.size:
                        times *= number[t]
                    if positive[t]:
                        hits += times
                    else:
                        alarms += times
                    if last[t]:
                        while k < p.size and alarms > 0 and compare(p[k], total, q[k], np.int64(fp + alarms)) < 0:
                            part = (np.float64(p[k]) * total / q[k] - fp) / alarms
                            heights[d, k] = (tp + hits * max(part, 0.0)) / hits_of_all
                            k += 1
                        fp += alarms
                        tp += hits
                        alarms, hits = 0.0, 0.0
            before_fp += in_block
            before_tp += sums[2 * b + 1, d]
        while k < p.size:
            heights[d, k] = before_tp / hits_of_all
            k += 1


#: What is looked for along the curve.
EER, MIN_DCF, AUC = range(3)


@compiled
def along_the_curve(weights, order, last, negatives, figure, cost_fn, cost_fp, found):  # type: ignore[no-untyped-def]
    """Write the figure of each draw into ``found``; ``weights[t, d]`` is how often trial t comes in draw d.

    Trials are negatives, then positives; ``order`` sorts them by score, ``last`` marks the end of each run of equal
    scores in that order. The costs are those of all misses and of all false alarms. A class that was not drawn counts
    as rejected. Loops over draws are the inner ones, so that processors take several at a time;
    written out, since expressions of arrays take seconds to compile.
    """
    draws = found.size
    reached, total, rates = (
        np.empty((2, draws), np.float64),
        np.empty((2, draws), np.float64),
        np.empty((3, draws), np.float64),
    )
    far, frr, nearest = rates[0], rates[1], rates[2]
    for c in range(2):
        for d in range(draws):
            reached[c, d] = 0.0
            total[c, d] = 0.0
    for t in range(order.size):
        c = 1 if t >= negatives else 0
        for d in range(draws):
            total[c, d] += weights[t, d]
    for d in range(draws):
        for c in range(2):
            if total[c, d] == 0:
                reached[c, d] = 1.0
                total[c, d] = 1.0
        far[d], frr[d] = 1 - reached[0, d] / total[0, d], reached[1, d] / total[1, d]
        nearest[d] = abs(far[d] - frr[d])
        found[d] = 1.0 if figure == AUC else cost_fn * frr[d] + cost_fp * far[d] if figure == MIN_DCF else 0.5
    for k in range(order.size):
        t = order[k]
        c = 1 if t >= negatives else 0
        for d in range(draws):
            reached[c, d] += weights[t, d]
        if not last[k]:
            continue
        if figure == EER:  # the mean of the error rates where they are nearest to one another
            for d in range(draws):
                alarms, misses = 1 - reached[0, d] / total[0, d], reached[1, d] / total[1, d]
                apart = abs(alarms - misses)
                nearer = apart < nearest[d]
                nearest[d] = apart if nearer else nearest[d]
                found[d] = (alarms + misses) / 2 if nearer else found[d]
        elif figure == MIN_DCF:
            for d in range(draws):
                alarms, misses = 1 - reached[0, d] / total[0, d], reached[1, d] / total[1, d]
                cost = cost_fn * misses + cost_fp * alarms
                found[d] = cost if cost < found[d] else found[d]
        else:  # what lies above the curve is taken away
            for d in range(draws):
                alarms, misses = 1 - reached[0, d] / total[0, d], reached[1, d] / total[1, d]
                found[d] -= (frr[d] + misses) / 2 * (far[d] - alarms)
                far[d], frr[d] = alarms, misses
