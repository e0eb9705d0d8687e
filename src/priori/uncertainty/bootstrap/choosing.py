"""Choosing thresholds inside a replicate: the rules of `priori.decisions.criteria` on whole-number weights, compiled.

Candidates, ties and exactness are those of the design: one candidate between each two neighbouring distinct
scores that were drawn, ties to the smaller V1 + V2, then to the lower threshold, all compared in whole
numbers. A candidate is named by the bin that it ends: the index of the last distinct score it rejects (-1: none).
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled

#: The kinds of criteria that have a rule here; `priori.uncertainty.bootstrap.readers` tells which a criterion is.
WEIGHTED, TARGET_NEGATIVE, TARGET_POSITIVE, EQUAL_ERROR, AT_MOST_NEGATIVE, AT_MOST_POSITIVE = range(6)

_S32 = np.uint64(32)
_MASK = np.uint64(0xFFFFFFFF)


@compiled
def _product(a, b):  # type: ignore[no-untyped-def]
    """Return the 128 bits of a product as (high, low)."""
    a_high, a_low, b_high, b_low = a >> _S32, a & _MASK, b >> _S32, b & _MASK
    low = a_low * b_low
    cross = a_high * b_low + (low >> _S32)
    other = a_low * b_high + (cross & _MASK)
    return a_high * b_high + (cross >> _S32) + (other >> _S32), (other << _S32) | (low & _MASK)


@compiled
def compare(a, b, c, d):  # type: ignore[no-untyped-def]
    """Return the sign of a b - c d for whole numbers that are not negative, exactly."""
    left, right = np.float64(a) * np.float64(b), np.float64(c) * np.float64(d)
    if left > right * 1.000000000000002:
        return 1
    if right > left * 1.000000000000002:
        return -1
    left_high, left_low = _product(np.uint64(a), np.uint64(b))
    right_high, right_low = _product(np.uint64(c), np.uint64(d))
    if left_high != right_high:
        return 1 if left_high > right_high else -1
    if left_low != right_low:
        return 1 if left_low > right_low else -1
    return 0


@compiled
def at_least_one(number):  # type: ignore[no-untyped-def]
    """Return a whole number, or 1 if that is more; numba's ``max`` takes longer to compile."""
    return number if number > 1 else 1


# -- the rules, each for the kinds that it knows ---------------------------------------------------------------
#
# A rule writes the last bin rejected at each alpha p / q into ``chosen``. ``negative[g]``, ``positive[g]`` are the
# weights at distinct score g, ``totals`` their sums; the first ``lowest`` scores are -inf, which all thresholds reject.


@compiled
def choose(kind, negative, positive, lowest, totals, p, q, scratch, chosen):  # type: ignore[no-untyped-def]
    """Choose by the rule of a kind of criterion."""
    if kind == WEIGHTED:  # where the weighted sum of the error rates is least
        size = _corners(negative, positive, lowest, totals, True, scratch)
        _walk(size, totals, p, q, scratch, chosen)
        following, last = np.int64(-1), np.int64(-1)
        for k in range(p.size):
            if k == 0 or chosen[k] != following:
                following = chosen[k]
                last = _bin_before(following, negative, positive, lowest)
            chosen[k] = last
    elif kind == EQUAL_ERROR:
        fill(chosen, _equal_error(negative, positive, lowest, totals))
    elif kind >= AT_MOST_NEGATIVE:  # one rate at most alpha, the other least
        size = _corners(negative, positive, lowest, totals, False, scratch)
        for k in range(p.size):
            if p[k] < 0:  # beyond every score, where no later trial can be an error
                last = _bin_before(negative.size, negative, positive, lowest)
                chosen[k] = last if kind == AT_MOST_NEGATIVE else lowest - 1
            else:
                following = _within_limit(kind, size, totals, p[k], q[k], scratch)
                chosen[k] = _bin_before(following, negative, positive, lowest)
    else:  # where a rate is nearest to alpha
        size = _reachable(kind, negative, positive, lowest, totals, scratch)
        for k in range(p.size):
            chosen[k] = _nearest(kind, size, totals, p[k], q[k], scratch)


@compiled
def fill(numbers, value):  # type: ignore[no-untyped-def]
    """Write one value everywhere: a loop compiles much faster than a slice, and runs as fast."""
    for k in range(numbers.size):
        numbers[k] = value


@compiled
def total(numbers):  # type: ignore[no-untyped-def]
    """Return the sum of whole numbers."""
    added = np.int64(0)
    for k in range(np.uint64(0), np.uint64(numbers.size)):  # unsigned: such a loop runs on whole vectors
        added += numbers[k]
    return added


@compiled
def _rejecting_lowest(negative, positive, lowest, totals):  # type: ignore[no-untyped-def]
    """Return FP, FN and the last bin that the lowest threshold rejects: -inf only."""
    fp, fn = totals[0], 0
    for g in range(lowest):
        fp -= negative[g]
        fn += positive[g]
    return fp, fn, lowest - 1


@compiled
def _corners(negative, positive, lowest, totals, convex, scratch):  # type: ignore[no-untyped-def]
    """Write the undominated candidates as (fp, fn, next), thresholds rising; return their number.

    With ``convex`` only the vertices of the lower hull of (FN, FP). ``next`` is the distinct score above it: a corner
    is only known to be one when a positive follows, and then that is the next score drawn. No other check is needed for
    most scores, which makes the pass fast.
    """
    size = np.int64(0)
    fp, fn, _ = _rejecting_lowest(negative, positive, lowest, totals)
    corner = True
    for g in range(lowest if lowest > 0 else 0, negative.size):  # not below 0, so that no check is compiled
        misses = positive[g]
        if misses > 0:
            if corner:
                size = _push(size, fp, fn, g, convex, scratch)
                corner = False
            fn += misses
        fp -= negative[g]
        corner |= negative[g] > 0
    if corner:
        size = _push(size, fp, fn, negative.size, convex, scratch)
    return size


@compiled
def _bin_before(following, negative, positive, lowest):  # type: ignore[no-untyped-def]
    """Return the last score drawn before another one; -1 where there is none."""
    g = following - 1
    while g >= lowest and negative[g] == 0 and positive[g] == 0:
        g -= 1
    return g


@compiled
def _push(size, fp, fn, following, convex, scratch):  # type: ignore[no-untyped-def]
    while convex and size > 1:
        across, down = scratch[1, size - 1] - scratch[1, size - 2], scratch[0, size - 1] - scratch[0, size - 2]
        if across * (fp - scratch[0, size - 1]) > down * (fn - scratch[1, size - 1]):
            break
        size -= 1
    scratch[0, size], scratch[1, size], scratch[2, size] = fp, fn, following
    return size + 1


@compiled
def _walk(size, totals, p, q, scratch, chosen):  # type: ignore[no-untyped-def]
    """Choose the vertex for each alpha; rising alphas cost one walk along the hull."""
    negatives, positives = at_least_one(totals[0]), at_least_one(totals[1])
    j = 0
    for k in range(p.size):
        if k > 0 and np.float64(p[k]) * np.float64(q[k - 1]) < np.float64(p[k - 1]) * np.float64(q[k]):
            j = 0
        while j + 1 < size:
            fall = (scratch[0, j] - scratch[0, j + 1]) * positives
            rise = (scratch[1, j + 1] - scratch[1, j]) * negatives
            sign = compare(p[k], fall, q[k] - p[k], rise)
            if sign < 0 or (sign == 0 and fall <= rise):
                break
            j += 1
        chosen[k] = scratch[2, j]


@compiled
def _reachable(kind, negative, positive, lowest, totals, scratch):  # type: ignore[no-untyped-def]
    """Write the best candidate for each value of one class's errors, thresholds rising; return their number.

    Among candidates with equal FP the lowest threshold has the fewest FN; among those with equal FN the highest
    has the fewest FP.
    """
    on_negatives = kind == TARGET_NEGATIVE
    fp, fn, last = _rejecting_lowest(negative, positive, lowest, totals)
    scratch[0, 0], scratch[1, 0], scratch[2, 0] = fp, fn, last
    size = 1
    for g in range(lowest, negative.size):
        alarms, misses = negative[g], positive[g]
        if alarms == 0 and misses == 0:
            continue
        fp -= alarms
        fn += misses
        moved = alarms if on_negatives else misses
        if moved > 0:
            size += 1
        elif on_negatives:
            continue
        scratch[0, size - 1], scratch[1, size - 1], scratch[2, size - 1] = fp, fn, g
    return size


@compiled
def _nearest(kind, size, totals, p, q, scratch):  # type: ignore[no-untyped-def]
    """Return the last bin rejected where the error rate is nearest to p / q.

    The errors fall (FP) or rise (FN) along the list.
    """
    on_negatives = kind == TARGET_NEGATIVE
    row = 0 if on_negatives else 1
    whole = at_least_one(totals[row])
    low, high = 0, size  # the first candidate whose rate is at most (FP), at least (FN) p / q
    while low < high:
        middle = (low + high) >> 1
        sign = compare(q, scratch[row, middle], p, whole)
        if (sign <= 0) if on_negatives else (sign >= 0):
            high = middle
        else:
            low = middle + 1
    if low == 0 or low == size:
        return scratch[2, min(low, size - 1)]
    before, after = low - 1, low
    sign = compare(2 * p, whole, q, scratch[row, before] + scratch[row, after])
    fp, fn, next_fp, next_fn = scratch[0, before], scratch[1, before], scratch[0, after], scratch[1, after]
    if sign == 0:
        nearer_before = (fp - next_fp) * at_least_one(totals[1]) <= (next_fn - fn) * at_least_one(totals[0])
    else:
        nearer_before = sign > 0 if on_negatives else sign < 0
    return scratch[2, before] if nearer_before else scratch[2, after]


@compiled
def _within_limit(kind, size, totals, p, q, scratch):  # type: ignore[no-untyped-def]
    """Return the score above the threshold whose error rate is at most p / q and whose other errors are fewest.

    The errors fall (FP) or rise (FN) along the corners; where none keeps the limit the nearest is the first.
    """
    row = 0 if kind == AT_MOST_NEGATIVE else 1
    low, high = 0, size  # the first corner that keeps the limit (FP), that breaks it (FN)
    while low < high:
        middle = (low + high) >> 1
        kept = compare(q, scratch[row, middle], p, at_least_one(totals[row])) <= 0
        if kept == (row == 0):
            high = middle
        else:
            low = middle + 1
    return scratch[2, low if row == 0 else max(low - 1, 0)]


@compiled
def _equal_error(negative, positive, lowest, totals):  # type: ignore[no-untyped-def]
    """Return the last bin rejected where |FAR - FRR| is least: FAR - FRR falls, so it is beside the change of sign."""
    negatives, positives = at_least_one(totals[0]), at_least_one(totals[1])
    fp, fn, last = _rejecting_lowest(negative, positive, lowest, totals)
    for g in range(lowest, negative.size):
        alarms, misses = negative[g], positive[g]
        if alarms == 0 and misses == 0:
            continue
        excess = fp * positives - fn * negatives
        if excess <= 0:
            break
        after = (fp - alarms) * positives - (fn + misses) * negatives
        if after <= 0:
            nearer = -after < excess or (-after == excess and misses * negatives < alarms * positives)
            return g if nearer else last
        fp -= alarms
        fn += misses
        last = g
    return last
