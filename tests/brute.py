"""Bootstraps the slow way: draw with numpy, look at every candidate, count. No kernel, no hull, no urn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from priori import Scores


def weights(scores: Scores, bootstrap: str, rng: np.random.Generator, size: int, users=None, split: int = 1):
    """Return how often each trial was drawn, (replicates, trials) for each class."""
    drawn = []
    n_users = 0 if scores.users is None else len(scores.users)
    if users is None and bootstrap in ("user", "joint", "crossed"):
        users = draw_users(n_users, rng, size, split)
    if bootstrap == "rows":
        rows = rng.integers(0, len(scores), (size, len(scores)))
        weight = np.zeros((size, len(scores)), dtype=np.int64)
        add(weight, np.arange(size), rows)
        return [weight[:, : len(scores.negative)], weight[:, len(scores.negative) :]]
    for trials in (scores.negative, scores.positive):
        n = len(trials)
        weight = np.zeros((size, n), dtype=np.int64)
        if bootstrap == "sample":
            add(weight, np.arange(size), rng.integers(0, n, (size, n)))
        elif bootstrap == "user":
            weight = multiplicity(users, n_users)[:, trials.user]
        elif bootstrap == "crossed":
            count = multiplicity(users, n_users)
            weight = count[:, trials.user]
            if trials is scores.negative:
                weight = weight * np.where(trials.probe_user == trials.user, 1, count[:, trials.probe_user])
        else:
            copies = users if bootstrap == "joint" else np.tile(np.arange(n_users), (size, 1))
            for slot in copies.T:
                for user in range(n_users):
                    rows, own = np.flatnonzero(slot == user), np.flatnonzero(trials.user == user)
                    if own.size:
                        add(weight, rows, own[rng.integers(0, own.size, (rows.size, own.size))])
        drawn.append(weight)
    return drawn


def draw_users(n_users: int, rng: np.random.Generator, size: int, split: int = 1):
    return np.repeat(rng.integers(0, n_users, (size // split, n_users)), split, axis=0)


def multiplicity(users, n_users: int):
    return (users[:, :, None] == np.arange(n_users)).sum(axis=1)


def add(weight, rows, picked):
    for column in picked.T:
        np.add.at(weight, (rows, column), 1)


def choose(scores: Scores, drawn, criterion: str, alpha: Fraction):
    """Return the threshold of each replicate: the best of all candidates, costs in whole numbers."""
    negative, positive = drawn
    values = np.unique(np.concatenate([scores.negative.score, scores.positive.score]))
    lowest = np.concatenate([[-np.inf], values])
    fp = np.stack([negative[:, scores.negative.score > v].sum(axis=1) for v in lowest], axis=1)
    fn = np.stack([positive[:, scores.positive.score <= v].sum(axis=1) for v in lowest], axis=1)
    present = np.stack(
        [
            negative[:, scores.negative.score == v].sum(axis=1) + positive[:, scores.positive.score == v].sum(axis=1)
            > 0
            for v in values
        ],
        axis=1,
    )
    # A draw may leave a class empty: its rate is then 0/0 at every candidate, and decides nothing.
    negatives = np.maximum(negative.sum(axis=1, keepdims=True), 1)
    positives = np.maximum(positive.sum(axis=1, keepdims=True), 1)
    p, q = alpha.numerator, alpha.denominator
    errors = fp * positives + fn * negatives
    cost = {
        "wer": p * fp * positives + (q - p) * fn * negatives,
        "target-v1": np.abs(p * negatives - q * fp),
        "target-v2": np.abs(p * positives - q * fn),
    }[criterion]
    usable = np.concatenate([np.ones((len(present), 1), dtype=bool), present], axis=1)
    best = lexicographic(usable, cost, errors)
    following = np.where(present & (np.arange(values.size) >= best[:, None]), values, np.inf).min(axis=1)
    below = lowest[best]
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(below), below, (below + following) / 2)


def lexicographic(usable, *costs):
    """Return the index of the first smallest entry of each row by the first cost, then by the next."""
    for cost in costs:
        cost = np.where(usable, cost, np.iinfo(np.int64).max)
        usable = cost == cost.min(axis=1, keepdims=True)
    return usable.argmax(axis=1)


def hter(scores: Scores, drawn, threshold):
    negative, positive = drawn
    fp = (negative * (scores.negative.score > threshold[:, None])).sum(axis=1)
    fn = (positive * (scores.positive.score <= threshold[:, None])).sum(axis=1)
    return (rate(fp, negative.sum(axis=1)) + rate(fn, positive.sum(axis=1))) / 2


def rate(errors, trials):
    """Return the error rate; of no trials at all, the worst."""
    return np.where(trials > 0, errors / np.maximum(trials, 1), 1.0)
