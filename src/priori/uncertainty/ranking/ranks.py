"""Ranks: what tests of all pairs say about each system's rank and about groups that do not differ; two rankings."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

import numpy as np

from priori.base.quantiles import quantile
from priori.base.types import Floats, Ints, Mask

#: Draws ranked at once: some ten megabytes for hundreds of systems.
DRAWS_AT_A_TIME = 1 << 10


def told_apart(values: Floats) -> Floats:
    """Return values that are equal where they differ in the last digits of floating point only."""
    return np.round(values, 12)


def ranks_of(badness: Floats) -> Ints:
    """Return the rank of each system along the last axis: one more than the number of those that are better.

    Examples
    --------
    >>> ranks_of(np.array([0.3, 0.1, 0.3])).tolist()
    [2, 1, 2]
    """
    return 1 + _runs_of_equals(told_apart(badness))[0]


def _runs_of_equals(values: Floats) -> tuple[Ints, Ints]:
    """Return how many values along the last axis are below each, and how many are below it or equal to it."""
    order, place = np.argsort(values, axis=-1), np.arange(values.shape[-1])
    ascending = np.take_along_axis(values, order, axis=-1)
    new = ascending[..., 1:] != ascending[..., :-1]  # else it equals the value before it
    ends = np.ones((*new.shape[:-1], 1), dtype=np.bool_)
    first = np.maximum.accumulate(np.where(np.concatenate([ends, new], axis=-1), place, 0), axis=-1)
    after = np.where(np.concatenate([new, ends], axis=-1), place + 1, place.size)[..., ::-1]
    below, until = np.empty_like(order), np.empty_like(order)
    np.put_along_axis(below, order, first, axis=-1)
    np.put_along_axis(until, order, np.minimum.accumulate(after, axis=-1)[..., ::-1], axis=-1)
    return below, until


def rank_bounds(better: Mask) -> tuple[Ints, Ints]:
    """Return the interval of every rank from which system (row) is significantly better than which (column).

    As many systems as are significantly better come before, as many as are worse after (Mogstad, Romano, Shaikh and
    Wilhelm 2024). The intervals hold together, as the tests do.

    Examples
    --------
    >>> lower, upper = rank_bounds(np.array([[False, False, True], [False, False, True], [False, False, False]]))
    >>> lower.tolist(), upper.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    return 1 + better.sum(axis=0), len(better) - better.sum(axis=1)


def rank_shares(values: Floats) -> Floats:
    """Return how often each system (row) has each rank (column), the least value being first; equals share theirs.

    Examples
    --------
    >>> rank_shares(np.array([[0.1, 0.2], [0.3, 0.2], [0.1, 0.3], [0.2, 0.2]])).tolist()
    [[0.625, 0.375], [0.375, 0.625]]
    """
    draws, systems = values.shape
    shares = np.zeros((systems, systems + 1))
    for start in range(0, draws, DRAWS_AT_A_TIME):
        below, until = _runs_of_equals(values[start : start + DRAWS_AT_A_TIME])
        row, share = np.arange(systems) * (systems + 1), (1 / (until - below)).ravel()
        for side, sign in ((below, 1), (until, -1)):
            added = np.bincount((row + side).ravel(), share, shares.size)
            shares += sign * added.reshape(shares.shape)
    return np.asarray(np.cumsum(shares, axis=1)[:, :-1] / draws)


def groups_alike(alike: Mask) -> list[list[int]]:
    """Return groups of systems that are all alike, so that two are in one together just where they are alike.

    Every two that are alike and in no group yet make one, together with all the others that are alike with everyone in
    it. That need not be the fewest groups, but takes no longer than the pairs.
    """
    systems = len(alike)
    together = np.zeros_like(alike)
    groups: list[list[int]] = []
    for system in range(systems):
        others = np.flatnonzero(alike[system]).tolist()
        for other in others:
            if together[system, other] or (system == other and len(others) > 1):
                continue
            group, possible = {system, other}, alike[system] & alike[other]
            for member in np.flatnonzero(possible).tolist():
                if possible[member]:
                    group.add(member)
                    possible &= alike[member]
            groups.append(sorted(group))
            together[np.ix_(groups[-1], groups[-1])] = True
    return sorted(groups)


def group_letters(alike: Mask) -> list[str]:
    """Return the letters of each system, given from best to worst; two share one just where they are alike.

    Examples
    --------
    >>> group_letters(np.array([[True, True, False], [True, True, True], [False, True, True]]))
    ['a', 'ab', 'b']
    """
    letters = [""] * len(alike)
    for number, group in enumerate(groups_alike(alike)):
        for system in group:
            letters[system] += ascii_letters[number % 52] * (1 + number // 52)
    return letters


# -- two rankings of the same systems ------------------------------------------------------------------------------


def kendall_tau(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of two sets of values along the last axis; 0 where one of them does not vary.

    Examples
    --------
    >>> kendall_tau(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 3])).round(4).item()
    0.6667
    """
    rounded = (told_apart(values) for values in (first, second))
    a, b = (np.sign(values[..., :, None] - values[..., None, :]) for values in rounded)
    concordant = (a * b).sum(axis=(-2, -1))
    untied = np.sqrt((a != 0).sum(axis=(-2, -1)) * (b != 0).sum(axis=(-2, -1)).astype(np.float64))
    return np.asarray(np.divide(concordant, untied, out=np.zeros_like(untied), where=untied > 0))


def tau_interval(rankings: Sequence[tuple[Floats, Floats]], level: float) -> tuple[float, float]:
    """Return the interval of Kendall's tau between two true rankings, of which values and draws of them are given.

    A pair of systems is in the order that both rankings show where its differences lie beyond a normal bound for all
    pairs of both together (Bonferroni); any other may be in the same order or not. Noise brings systems out of order,
    or into it, so that the tau observed and those of the draws tell little about the true one.
    """
    from scipy.special import ndtri

    order = np.ones(1)
    for values, drawn in rankings:
        first, second = np.triu_indices(values.size, 1)
        difference, covariance = (values[:, None] - values)[first, second], np.cov(drawn, rowvar=False)
        variance = (np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance)[first, second]
        far = -float(ndtri((1 - level) / (4 * first.size))) * np.sqrt(np.maximum(variance, 0.0))
        order = order * np.where(np.abs(told_apart(difference)) > far, np.sign(difference), 0)
    return float(np.mean(order - (order == 0))), float(np.mean(order + (order == 0)))


def moved_ranks(shift: Ints, drawn: Ints, level: float) -> tuple[Floats, Floats, Mask]:
    """Return simultaneous intervals of how many ranks each system gains, and which of them exclude 0."""
    spread = np.maximum(drawn.std(axis=0), 1e-9)
    half = quantile((np.abs(drawn - drawn.mean(axis=0)) / spread).max(axis=1), level) * spread
    lower, upper = shift - half, shift + half
    return lower, upper, (lower > 0) | (upper < 0)
