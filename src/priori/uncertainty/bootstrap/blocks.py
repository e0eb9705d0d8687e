"""New thresholds of large sets: whole blocks of scores are added up, and only those that may matter are looked into.

Within a block no candidate has fewer false positives than at its upper edge nor fewer false negatives than at its
lower edge (as in `priori.decisions.bounds`). A block whose bound is worse than what some edge reaches holds no
minimiser, and becomes one cell; all that are as good stay, so `choose` decides among them as it would among all.
Importing this module imports numba.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled
from priori.uncertainty.bootstrap import kernel_criteria as kinds
from priori.uncertainty.bootstrap.choosing import NEAR, choose, fill
from priori.uncertainty.bootstrap.kernels import (
    ascending,
    class_sizes,
    draw_at_ranks,
    draw_heavy,
    draw_side,
    draw_users,
    midway,
    next_drawn,
    rank_of,
)
from priori.uncertainty.bootstrap.streams import GAMMA, below, branch, fraction, mix, picks, stream


@compiled
def count_rechosen_in_blocks(first, seed, inner, how, dev, test, kind, p, q, errors, totals):  # type: ignore[no-untyped-def]
    """Do what `kernels.count_rechosen` does for one system laid out by `kernel_sets.in_blocks`.

    Choices are the same to the last bit; draws too, unless they are made late.
    """
    blocks, alphas, lowest = dev.edges.size - 1, p.size, dev.side.lowest[0]
    (dev_mult, dev_tables), (test_mult, test_tables) = _tables(dev), _tables(test)
    sums, hits = np.empty((2, blocks), np.int64), np.empty((2, blocks), np.int64)
    start = np.empty(blocks + 1, np.int64)
    weights, scratch = np.empty((2, dev.edges[blocks]), np.int64), np.empty((3, dev.edges[blocks] + 1), np.int64)
    chosen, rank = np.empty(alphas, np.int64), np.empty(alphas, np.int64)
    key, dev_totals = np.uint64(0), np.empty(2, np.int64)
    for i in range(errors.shape[0]):
        replicate = first + i
        if dev.late:
            key = _draw_sums(dev, seed, replicate, how, dev_tables, hits, sums, dev_totals)
        else:
            _draw(dev, seed, replicate, inner, how, dev_mult, dev_tables, dev_totals)
            for c in range(2):
                _add_up(dev_tables[c], dev.lines[c], dev.edges, sums[c])
        choose(kind, sums[0], sums[1], lowest, dev_totals, p, q, scratch, chosen)
        size = _keep_blocks(kind, sums, lowest, dev_totals, p, q, chosen, dev.edges, start)
        for c in range(2):
            _lay_cells(start, sums[c], weights[c])
            if dev.late:
                _draw_inside(key, c, dev, start, dev_tables[c], hits[c], weights[c])
            else:
                _look_inside(dev_tables[c], dev.lines[c], dev.edges, start, weights[c])
        choose(kind, weights[0, :size], weights[1, :size], lowest, dev_totals, p, q, scratch, chosen)
        for k in range(alphas):
            if k > 0 and chosen[k] == chosen[k - 1]:
                rank[k] = rank[k - 1]
            else:
                following = next_drawn(size, weights[0], weights[1], chosen[k])
                score, other = _score_of(chosen[k], dev.edges, start), _score_of(following, dev.edges, start)
                threshold = midway(dev.side.values[0], score, other, dev.edges[blocks])
                rank[k] = rank_of(test.side.values[0], test.side.distinct[0], threshold)
        if test.side.at_ranks:
            draw_at_ranks(test.side, seed, replicate, how, rank, errors[i, 0], totals[i])
            continue
        _draw(test, seed, replicate, inner, how, test_mult, test_tables, totals[i])
        for c in range(2):
            _count_at(test_tables[c], test.lines[c], rank, errors[i, 0, c])
        for k in range(alphas):
            errors[i, 0, 0, k] = totals[i, 0] - errors[i, 0, 0, k]


@compiled
def _tables(blocks):  # type: ignore[no-untyped-def]
    """Return arrays for how often each urn comes, and for the weights that entries look up: by urn, or each its own.

    Weights have 32 bits, so that more of them are near the processor.
    """
    negative, positive = blocks.side.negative, blocks.side.positive
    mult = np.ones(negative.size.size, np.int64)
    if blocks.by_urn:
        table = np.empty(mult.size, np.int32)
        return mult, (table, table)
    sizes = negative.single.size + negative.cell.size, positive.single.size + positive.cell.size
    return mult, (np.empty(sizes[0], np.int32), np.empty(sizes[1], np.int32))


@compiled
def _draw(blocks, seed, replicate, inner, how, mult, tables, totals):  # type: ignore[no-untyped-def]
    """Draw a set: fill the tables, and the trials of each class."""
    side = blocks.side
    if not blocks.by_urn:
        draw_side(side, seed, replicate, inner, how, mult, tables, totals)
        return
    draw_users(seed, side.user_stream, replicate // inner, side.users, 0, mult)
    totals[0], totals[1] = 0, 0
    for u in range(mult.size):
        tables[0][u] = mult[u]
        totals[0] += mult[u] * side.negative.size[u]
        totals[1] += mult[u] * side.positive.size[u]


@compiled
def _add_up(table, line, edges, sums):  # type: ignore[no-untyped-def]
    """Write the weight of each block; loops over blocks call nothing, since a call costs as much as a block."""
    source, before = line.source, line.below
    for b in range(sums.size):
        total = 0
        for t in range(np.uint64(before[edges[b]]), np.uint64(before[edges[b + 1]])):
            total += table[np.uint64(source[t])]  # unsigned: nobody asks whether indices count from the end
        sums[b] = total


@compiled
def _count_at(table, line, rank, under):  # type: ignore[no-untyped-def]
    """Write the weight at or below each rank, one pass for all of them."""
    source, before = line.source, line.below
    last, total = 0, 0
    for k in ascending(rank):
        for t in range(np.uint64(last), np.uint64(before[rank[k]])):
            total += table[np.uint64(source[t])]
        last = before[rank[k]]
        under[k] = total


@compiled
def _lay_cells(start, sums, weights):  # type: ignore[no-untyped-def]
    """Write the weight of blocks that are one cell, and empty the cells of the others."""
    for b in range(sums.size):
        if start[b + 1] - start[b] == 1:
            weights[start[b]] = sums[b]
        else:
            for g in range(np.uint64(start[b]), np.uint64(start[b + 1])):
                weights[g] = 0


@compiled
def _look_inside(table, line, edges, start, weights):  # type: ignore[no-untyped-def]
    """Write the weights of the cells of blocks that are kept."""
    source, inside, before = line.source, line.inside, line.below
    for b in range(edges.size - 1):
        first = start[b]
        if start[b + 1] - first > 1:
            for t in range(np.uint64(before[edges[b]]), np.uint64(before[edges[b + 1]])):
                weights[np.uint64(first + inside[t])] += table[np.uint64(source[t])]


@compiled
def _score_of(cell, edges, start):  # type: ignore[no-untyped-def]
    """Return the distinct score of a cell: -1 below all, the number of scores above all; of a whole block its last."""
    if cell < 0:
        return cell
    b = rank_of(start, start.size, cell) - 1
    if b == start.size - 1:
        return edges[b]
    return edges[b] + cell - start[b] if start[b + 1] - start[b] > 1 else edges[b + 1] - 1


# -- trials of one urn: first how many of each block ------------------------------------------------------------


@compiled
def _draw_sums(blocks, seed, replicate, how, tables, hits, sums, totals):  # type: ignore[no-untyped-def]
    """Draw how many trials of each block come, and return the key to which of them.

    Writes the single ones into ``hits`` and all into ``sums``, by class and block, and the heavy entries' weights.
    """
    side = blocks.side
    state, sizes = stream(seed, side.trial_stream, replicate), np.empty((2, 2), np.int64)
    class_sizes(state, how, side.negative.size[0], side.positive.size[0], side.future, sizes)
    for c in range(2):
        draws, urns, table = blocks.draws[c], side.negative if c == 0 else side.positive, tables[c]
        totals[c] = urns.size[0] if sizes[0, c] < 0 else sizes[0, c]
        for i in range(urns.cell.size):
            table[urns.cell[i]] = 0
        left = draw_heavy(state, urns, 0, totals[c], table)
        _draw_hits(state, draws, left, hits[c])
        for b in range(hits.shape[1]):
            sums[c, b] = hits[c, b]
        for i in range(urns.cell.size):
            sums[c, draws.block[urns.cell[i]]] += table[urns.cell[i]]
    return state[0]


@compiled
def _draw_hits(state, draws, trials, hits):  # type: ignore[no-untyped-def]
    """Draw single trials, as far as which block each falls into.

    Poisson numbers, given their sum, are multinomial, as these counts are. So what the sum lacks is drawn trial by
    trial; in the rare case that it is too large all are drawn again, and in the end trial by trial.
    """
    block, rows, guide, cumulated = draws.block, draws.row, draws.guide, draws.cumulated
    singles, lacking = draws.singles[hits.size], -1
    for _ in range(4):
        z, lacking = state[0], trials
        for b in range(hits.size):
            z += GAMMA
            number, row = fraction(mix(z)), rows[b]
            k = guide[row, np.int64(number * guide.shape[1])]
            while number > cumulated[row, k]:
                k += 1
            hits[b] = k
            lacking -= k
        state[0] = z
        if lacking >= 0:
            break
    if lacking < 0:
        fill(hits, 0)
        lacking = trials
    for _ in range(lacking):
        hits[block[below(state, singles)]] += 1


@compiled
def _draw_inside(key, c, blocks, start, table, hits, weights):  # type: ignore[no-untyped-def]
    """Do what `_look_inside` does where it is not yet drawn which trials come: the same whichever blocks are kept."""
    draws, urns = blocks.draws[c], blocks.side.negative if c == 0 else blocks.side.positive
    singles, inside, block, heavy = draws.singles, draws.inside, draws.block, urns.cell
    state = np.empty(1, np.uint64)
    for b in range(hits.size):
        if start[b + 1] - start[b] > 1:
            state[0] = branch(key, 2 * b + c)
            picks(state, hits[b], inside, singles[b], singles[b + 1] - singles[b], weights[start[b] :])
    for entry in heavy:
        b = block[entry]
        if start[b + 1] - start[b] > 1:
            weights[start[b] + inside[entry]] += table[entry]


# -- which blocks may matter -----------------------------------------------------------------------------------


@compiled
def _keep_blocks(kind, sums, lowest, totals, p, q, chosen, edges, start):  # type: ignore[no-untyped-def]
    """Find the blocks that may hold a better candidate than ``chosen``, the best edges, or one as good.

    Those on both sides of a best edge are among them, and so are empty ones beside these: the scores that a threshold
    lies between are always looked at. Block b has the cells from ``start[b]`` on: as many as distinct scores, or one.
    Returns the number of cells.
    """
    blocks = start.size - 1
    keep = np.empty(blocks, np.bool_)
    far, frr = np.empty(blocks + 1, np.float64), np.empty(blocks + 1, np.float64)
    fp, fn = totals[0], 0
    for b in range(blocks + 1):
        far[b], frr[b] = fp / max(totals[0], 1), fn / max(totals[1], 1)
        if b < blocks:
            fp -= sums[0, b]
            fn += sums[1, b]
    fill(keep, kind == kinds.BREAK_EVEN)  # no bound is known: look everywhere
    if kind in (kinds.WEIGHTED, kinds.PRECISION_RECALL):
        prior = totals[1] / max(totals[0], 1) if kind == kinds.PRECISION_RECALL else -1.0
        _keep_below_lines(far, frr, prior, lowest, p, q, chosen, keep)
    elif kind != kinds.BREAK_EVEN:
        for k in range(p.size):
            e = chosen[k] + 1
            b = e
            while b < blocks and _possible(kind, far, frr, b, e, p[k] / q[k]):
                keep[b] = True
                b += 1
            b = e - 1
            while b >= 0 and _possible(kind, far, frr, b, e, p[k] / q[k]):
                keep[b] = True
                b -= 1
    start[0] = 0
    for b in range(blocks):
        start[b + 1] = start[b] + (edges[b + 1] - edges[b] if keep[b] else 1)
    return start[blocks]


@compiled
def _possible(kind, far, frr, b, e, alpha):  # type: ignore[no-untyped-def]
    """Tell whether block b may be as good as edge e; along the axis the answer is no, yes, no."""
    least_far, most_far, least_frr, most_frr = far[b + 1], far[b], frr[b], frr[b + 1]
    if kind == kinds.AT_MOST_NEGATIVE:
        return least_far <= max(alpha, far[e]) + NEAR and least_frr <= frr[e] + NEAR
    if kind == kinds.AT_MOST_POSITIVE:
        return least_frr <= max(alpha, frr[e]) + NEAR and least_far <= far[e] + NEAR
    if kind == kinds.EQUAL_ERROR:
        least, most, apart = least_far - most_frr, most_far - least_frr, abs(far[e] - frr[e])
    elif kind == kinds.TARGET_NEGATIVE:
        least, most, apart = least_far - alpha, most_far - alpha, abs(far[e] - alpha)
    else:
        least, most, apart = least_frr - alpha, most_frr - alpha, abs(frr[e] - alpha)
    return least <= apart + NEAR and most >= -apart - NEAR


@compiled
def _keep_below_lines(far, frr, prior, lowest, p, q, chosen, keep):  # type: ignore[no-untyped-def]
    """Mark the blocks whose best corner lies below the line of equal costs of some alpha through its best edge.

    By how much a corner lies above the lines is convex in alpha, and the lowest line moves slowly from block to block.
    """
    given, alpha, least = np.empty(p.size), np.empty(p.size), np.empty(p.size)
    for k in range(p.size):
        given[k] = p[k] / q[k]
    lines = 0
    for k in ascending(given):
        if lines == 0 or given[k] > alpha[lines - 1]:
            alpha[lines] = given[k]
            least[lines] = _cost(given[k], far[chosen[k] + 1], frr[chosen[k] + 1], prior)
            lines += 1
    j = 0
    for b in range(keep.size):
        above = _cost(alpha[j], far[b + 1], frr[b], prior) - least[j]
        step = 1
        for _ in range(2):
            while 0 <= j + step < lines:
                beside = _cost(alpha[j + step], far[b + 1], frr[b], prior) - least[j + step]
                if beside >= above:
                    break
                j, above = j + step, beside
            step = -1
        keep[b] = above <= NEAR or b < lowest


@compiled
def _cost(alpha, far, frr, prior):  # type: ignore[no-untyped-def]
    """Return the cost of FAR and FRR; or, with a ``prior`` (positives per negative), of precision and recall."""
    if prior >= 0:
        found = (1 - frr) * prior
        return alpha * (far / (found + far) if found > 0 else 1.0) + (1 - alpha) * frr
    return alpha * far + (1 - alpha) * frr
