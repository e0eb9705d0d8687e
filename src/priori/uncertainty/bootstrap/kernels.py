"""The compiled loops over replicates: draw, count; or draw, choose new thresholds, draw, count.

Importing this module imports numba: `priori.uncertainty.bootstrap.run` does so when a bootstrap runs. The loops know
urns, cells and whole numbers, nothing of scores, measures or intervals.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap.choosing import at_least_one, choose, compare, fill, stratum_weights
from priori.uncertainty.bootstrap.streams import below, binomial, gamma, picks, stream

#: Trials drawn among themselves in one go: their cells and weights fit a processor's cache.
PART = np.int64(1 << 14)
#: How the trials of an urn come: along with it, drawn among themselves, or drawn as rows of both classes together.
ALONG, WITHIN, ROWS = range(3)


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
    """Write how often each user comes into ``drawn[r]``, for the replicates ``first``, ``first + 1``, ..."""
    mult = np.empty(drawn.shape[1], np.int64)
    for i in range(drawn.shape[0]):
        draw_users(seed, user_stream, (first + i) // inner, draws, future, mult)
        for u in range(mult.size):
            drawn[i, u] = mult[u]


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
def draw_trials(state, urns, mult, how, draws, future, weights):  # type: ignore[no-untyped-def]
    """Fill the weights of the cells and return their total.

    Every urn comes ``mult[u]`` times. Unless they come ``ALONG``, each copy's trials are drawn among themselves: as
    many as there are, or ``draws`` of them if that is not negative (one urn only). Else all of them come, weighted by
    the partner's count as well where there is one. With ``future`` not negative (one urn only) that many trials are
    drawn from what was drawn.
    """
    fill(weights, 0)
    total = np.int64(0)
    for u in range(urns.size.size):
        m = mult[u]
        if m == 0:
            continue
        if how != ALONG:
            left = m * urns.size[u] if draws < 0 else draws
            total += left
            if urns.heavy[u] < urns.heavy[u + 1]:
                left = draw_heavy(state, urns, u, left, weights)
            if left > 0:
                _pick_all(state, left, urns.single, urns.light[u], urns.light[u + 1], weights)
        else:
            for i in range(urns.heavy[u], urns.heavy[u + 1]):
                more = m * urns.number[i]
                if urns.partner[i] >= 0:
                    more *= mult[urns.partner[i]]
                weights[urns.cell[i]] += more
                total += more
            for i in range(urns.light[u], urns.light[u + 1]):
                weights[urns.single[i]] += m
                total += m
    if future >= 0:
        total = _draw_again(state, future, total, weights)
    return total


@compiled
def draw_heavy(state, urns, u, left, weights):  # type: ignore[no-untyped-def]
    """Add to the weights what of ``left`` draws falls on the heavy cells of an urn; return how many draws remain."""
    whole = urns.size[u]
    for i in range(urns.heavy[u], urns.heavy[u + 1]):
        hits = binomial(state, left, urns.number[i], whole)
        weights[urns.cell[i]] += hits
        left -= hits
        whole -= urns.number[i]
        if left == 0:
            break
    return left


@compiled
def _pick_all(state, left, cells, begin, end, weights):  # type: ignore[no-untyped-def]
    """Draw ``left`` of the trials from ``begin`` to ``end``: of many, first how many of each part that fits a cache."""
    while end - begin > 2 * PART:
        hits = binomial(state, left, PART, end - begin)
        picks(state, hits, cells, begin, PART, weights)
        left -= hits
        begin += PART
    if left > 0:
        picks(state, left, cells, begin, end - begin, weights)


@compiled
def _draw_again(state, draws, whole, weights):  # type: ignore[no-untyped-def]
    left = draws
    for cell in range(weights.size):
        count = weights[cell]
        if count > 0:
            weights[cell] = binomial(state, left, count, whole)
            left -= weights[cell]
            whole -= count
    return draws


@compiled
def count_fixed(  # type: ignore[no-untyped-def]
    first, seed, inner, users, how, future, user_stream, trial_stream, negative, positive, places, rejected, totals
):
    """Count the trials at or below each fixed edge, for the replicates ``first``, ``first + 1``, ...

    ``users`` of them are drawn (0: none), anew every ``inner`` replicates. ``places[s, c, x]`` is the gap of cell
    x of class c (0 negative, 1 positive) on the edges of system s. Results: ``rejected[r, s, c, e]``,
    ``totals[r, c]``.
    """
    systems, edges = rejected.shape[1], rejected.shape[3]
    mult = np.empty(negative.size.size, np.int64)
    fill(mult, 1)
    weights = np.empty(places.shape[2], np.int64)
    gap = np.empty(edges + 1, np.int64)
    sizes = np.empty((2, 2), np.int64)
    whole = _total(negative.size), _total(positive.size)
    for i in range(rejected.shape[0]):
        replicate = first + i
        if users > 0:
            draw_users(seed, user_stream, replicate // inner, users, future[0], mult)
        state = stream(seed, trial_stream, replicate)
        class_sizes(state, how, whole[0], whole[1], future, sizes)
        for c in range(2):
            urns = negative if c == 0 else positive
            totals[i, c] = draw_trials(state, urns, mult, how, sizes[0, c], sizes[1, c], weights)
            for s in range(systems):
                fill(gap, 0)
                for x in range(weights.size):
                    gap[places[s, c, x]] += weights[x]
                below_edge = 0
                for e in range(edges):
                    below_edge += gap[e]
                    rejected[i, s, c, e] = below_edge


@compiled
def _threshold(values, distinct, drawn_negative, drawn_positive, gap):  # type: ignore[no-untyped-def]
    """Return the threshold of the gap after the distinct score ``gap``: midway to the next one drawn."""
    return midway(values, gap, next_drawn(distinct, drawn_negative, drawn_positive, gap), distinct)


@compiled
def next_drawn(distinct, drawn_negative, drawn_positive, gap):  # type: ignore[no-untyped-def]
    """Return the distinct score above a gap that was drawn next, or how many there are."""
    g = gap + 1
    while g < distinct and drawn_negative[g] == 0 and drawn_positive[g] == 0:
        g += 1
    return g


@compiled
def midway(values, gap, following, distinct):  # type: ignore[no-untyped-def]
    """Return the threshold between two distinct scores, of which -1 is below all and ``distinct`` above all."""
    low = values[gap] if gap >= 0 else -np.inf
    if following == distinct:  # reject all; where every score drawn is -inf, the lowest threshold does already
        return np.inf if low > -np.inf else -np.inf
    middle = 0.5 * low + 0.5 * values[following]
    return middle if low <= middle < values[following] else low


@compiled
def rank_of(values, count, threshold):  # type: ignore[no-untyped-def]
    """Return how many of the first ``count`` ascending values are at most the threshold."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if values[middle] <= threshold:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _total(numbers):  # type: ignore[no-untyped-def]
    return _sum(numbers, np.int64(0), numbers.size)


@compiled
def _sum(numbers, begin, end):  # type: ignore[no-untyped-def]
    total = 0
    for g in range(np.uint64(begin), np.uint64(end)):  # unsigned: such a loop runs on whole vectors
        total += numbers[g]
    return total


@compiled
def _spread(weights, places, spread):  # type: ignore[no-untyped-def]
    """Move the weights of cells to the distinct scores of one system."""
    fill(spread, 0)
    for x in range(places.size):
        spread[places[x]] += weights[x]


@compiled
def _fold(counts, width, omega, totals):  # type: ignore[no-untyped-def]
    """Bring attacks, which lie above all scores, down to where they scored; impostors and attacks have their shares."""
    if omega[1] == 0:
        return
    impostors, attacks = _sum(counts, np.int64(0), width), _sum(counts, width, 2 * width)
    own, other = stratum_weights(omega, impostors, attacks, totals[1])
    for g in range(width):
        counts[g] = own * counts[g] + other * counts[g + width]
    totals[0] = own * impostors + other * attacks


@compiled
def count_rechosen(first, seed, inner, how, dev, test, kind, p, q, errors, totals):  # type: ignore[no-untyped-def]
    """Draw development and test sets, choose the thresholds on the one, count the errors on the other.

    ``dev`` and ``test`` are sides (see `priori.uncertainty.bootstrap.kernel_sets`), alphas ``p / q`` ascend. Results:
    ``errors[r, s, c, k]``: false positives (c = 0) and false negatives (c = 1) of system s at alpha k;
    ``totals[r, c]``: the test trials of each class.
    """
    systems, alphas = errors.shape[1], errors.shape[3]
    (dev_mult, dev_cells), (test_mult, test_cells) = _room(dev), _room(test)
    width = dev.values.shape[1]
    layers = 2 if dev.omega[1] > 0 else 1
    negative, positive = np.empty(layers * width, np.int64), np.empty(layers * width, np.int64)
    scratch = np.empty((3, width + 1), np.int64)
    counted = np.empty(layers * test.values.shape[1], np.int64)
    chosen, rank = np.empty(alphas, np.int64), np.empty(alphas, np.int64)
    dev_totals = np.empty(2, np.int64)
    for i in range(errors.shape[0]):
        replicate = first + i
        draw_side(dev, seed, replicate, inner, how, dev_mult, dev_cells, dev_totals)
        if not test.at_ranks:
            draw_side(test, seed, replicate, inner, how, test_mult, test_cells, totals[i])
        for s in range(systems):
            values = dev.values[s]
            if dev.direct:
                negative, positive = dev_cells
            else:
                _spread(dev_cells[0], dev.places[s, 0], negative)
                _spread(dev_cells[1], dev.places[s, 1], positive)
            _fold(negative, width, dev.omega, dev_totals)
            choose(kind, negative[:width], positive[:width], dev.lowest[s], dev_totals, p, q, scratch, chosen)
            for k in range(alphas):
                if k > 0 and chosen[k] == chosen[k - 1]:
                    rank[k] = rank[k - 1]
                else:
                    threshold = _threshold(values, dev.distinct[s], negative, positive, chosen[k])
                    rank[k] = rank_of(test.values[s], test.distinct[s], threshold)
            if test.at_ranks:
                draw_at_ranks(test, seed, replicate, how, rank, errors[i, 0], totals[i])
                continue
            order = ascending(rank)
            for c in range(2):
                if test.direct:
                    counted = test_cells[c]
                else:
                    _spread(test_cells[c], test.places[s, c], counted)
                if c == 0:
                    _fold(counted, test.values.shape[1], test.omega, totals[i])
                last, under = np.int64(0), 0
                for j in range(alphas):
                    k = order[j]
                    under += _sum(counted, last, rank[k])
                    last = rank[k]
                    errors[i, s, c, k] = totals[i, c] - under if c == 0 else under


@compiled
def ascending(rank):  # type: ignore[no-untyped-def]
    """Return the order that sorts ranks; they are few and nearly sorted, and numpy's own takes seconds to compile."""
    order = np.empty(rank.size, np.int64)
    for k in range(rank.size):
        j = k
        while j > 0 and rank[order[j - 1]] > rank[k]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    return order


@compiled
def draw_at_ranks(side, seed, replicate, how, rank, errors, totals):  # type: ignore[no-untyped-def]
    """Draw all trials of each class among themselves, only as far as errors at these ranks need it.

    From one rank to the next the trials drawn are binomial, so the cost is that of the ranks, not of the trials.
    """
    state = stream(seed, side.trial_stream, replicate)
    order = ascending(rank)
    size = side.below[:, side.below.shape[1] - 1]
    sizes = np.empty((2, 2), np.int64)
    class_sizes(state, how, size[0], size[1], side.future, sizes)
    for c in range(2):
        whole = size[c]
        totals[c] = whole if sizes[0, c] < 0 else sizes[0, c]
        left, last, under = totals[c], 0, 0
        for j in range(order.size):
            k = order[j]
            trials = side.below[c, rank[k]] - last
            if trials > 0:
                hits = binomial(state, left, trials, whole - last)
                under += hits
                left -= hits
                last += trials
            errors[c, k] = totals[c] - under if c == 0 else under


@compiled
def _room(side):  # type: ignore[no-untyped-def]
    """Return arrays for what a draw of a side makes: how often each urn comes, and the weights of the cells."""
    mult = np.empty(side.negative.size.size, np.int64)
    fill(mult, 1)
    return mult, (np.empty(side.cells, np.int64), np.empty(side.cells, np.int64))


@compiled
def draw_side(side, seed, replicate, inner, how, mult, cells, totals):  # type: ignore[no-untyped-def]
    if side.users > 0:
        draw_users(seed, side.user_stream, replicate // inner, side.users, side.future[0], mult)
    state = stream(seed, side.trial_stream, replicate)
    sizes = np.empty((2, 2), np.int64)
    class_sizes(state, how, _total(side.negative.size), _total(side.positive.size), side.future, sizes)
    totals[0] = draw_trials(state, side.negative, mult, how, sizes[0, 0], sizes[1, 0], cells[0])
    totals[1] = draw_trials(state, side.positive, mult, how, sizes[0, 1], sizes[1, 1], cells[1])


@compiled
def weights_of(replicate, seed, inner, how, side):  # type: ignore[no-untyped-def]
    """Return the weights of one replicate of one side: (class, cell)."""
    mult, cells = _room(side)
    draw_side(side, seed, replicate, inner, how, mult, cells, np.empty(2, np.int64))
    return cells


@compiled
def climb(first, seed, inner, how, side, p, q, heights):  # type: ignore[no-untyped-def]
    """Draw a set, and write the height of its ROC curve at false positive rates p / q, which ascend.

    Where the curve runs straight up this is its upper point; inside a score shared by both classes it is on the
    straight line between the ends.
    """
    mult, cells = _room(side)
    totals = np.empty(2, np.int64)
    for i in range(heights.shape[0]):
        draw_side(side, seed, first + i, inner, how, mult, cells, totals)
        negative, positive = cells
        fp, tp, k = 0, 0, 0
        positives = at_least_one(totals[1])
        for g in range(side.cells - 1, -1, -1):
            alarms, hits = negative[g], positive[g]
            while k < p.size and alarms > 0 and compare(p[k], totals[0], q[k], fp + alarms) < 0:
                part = (np.float64(p[k]) * totals[0] / q[k] - fp) / alarms
                heights[i, k] = (tp + hits * max(part, 0.0)) / positives
                k += 1
            fp += alarms
            tp += hits
        while k < p.size:
            heights[i, k] = tp / positives
            k += 1


@compiled
def climb_at_ranks(first, seed, trial_stream, rank, above, positives, heights):  # type: ignore[no-untyped-def]
    """Do what `climb` does where no score is shared by the classes and no users are drawn, at the cost of the ranks.

    ``rank[k]`` (ascending, from 1) is the rank from the top of the drawn negative that ends the stretch of the curve
    at rate k. Drawn positions are order statistics of uniform numbers: sums of gamma variables, over their total.
    ``above[j]`` is the number of positives above the j-th highest negative.
    """
    sums = np.empty(rank.size, np.float64)
    for i in range(heights.shape[0]):
        state = stream(seed, trial_stream, first + i)
        total, last = 0.0, 0
        for k in range(rank.size):
            total += gamma(state, rank[k] - last)
            last = rank[k]
            sums[k] = total
        total += gamma(state, above.size + 1 - last)
        left, passed = positives, 0
        for k in range(rank.size):
            reached = above[min(np.int64(sums[k] / total * above.size), above.size - 1)]
            if reached > passed:
                left -= binomial(state, left, reached - passed, positives - passed)
                passed = reached
            heights[i, k] = (positives - left) / positives
