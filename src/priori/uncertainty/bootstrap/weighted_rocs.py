"""Weighted ROCs: what a test set shows a posteriori when every trial comes as often as a draw says, compiled.

Importing this module imports numba: `priori.uncertainty.both_rankings` does so when systems are ranked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from priori.base.compiling import by_rule, inner

#: What is looked for along the curve.
EER, MIN_DCF, AUC = range(3)


@inner
def _to_eer(reached, total, far, frr, nearest, cost_fn, cost_fp, found):  # type: ignore[no-untyped-def]
    """Keep the mean of the error rates where they are nearest to one another."""
    for d in range(found.size):
        alarms, misses = 1 - reached[0, d] / total[0, d], reached[1, d] / total[1, d]
        apart = abs(alarms - misses)
        nearer = apart < nearest[d]
        nearest[d] = apart if nearer else nearest[d]
        found[d] = (alarms + misses) / 2 if nearer else found[d]


@inner
def _to_min_dcf(reached, total, far, frr, nearest, cost_fn, cost_fp, found):  # type: ignore[no-untyped-def]
    """Keep the smallest cost."""
    for d in range(found.size):
        alarms, misses = 1 - reached[0, d] / total[0, d], reached[1, d] / total[1, d]
        cost = cost_fn * misses + cost_fp * alarms
        found[d] = cost if cost < found[d] else found[d]


@inner
def _to_auc(reached, total, far, frr, nearest, cost_fn, cost_fp, found):  # type: ignore[no-untyped-def]
    """Take away what lies above the curve."""
    for d in range(found.size):
        alarms, misses = 1 - reached[0, d] / total[0, d], reached[1, d] / total[1, d]
        found[d] -= (frr[d] + misses) / 2 * (far[d] - alarms)
        far[d], frr[d] = alarms, misses


go_on: Any = None  # the rule's place


@by_rule("go_on", {EER: _to_eer, MIN_DCF: _to_min_dcf, AUC: _to_auc})
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
        if last[k]:
            go_on(reached, total, far, frr, nearest, cost_fn, cost_fp, found)
