"""Amounts: what intervals of the cost per decision cover, and of the difference of two systems' costs."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from rates import PROMISE
from simulation import generator
from tallies import Row, Tally

import priori
from priori import Scores

PART, DIFFERENCE_PART = "costs by amounts", "differences of costs by amounts"
#: Users of 20 trials, one in ten of them positive, and the deviation of the logarithm of amounts within and between.
POPULATIONS = (
    ("400 users, amounts alike (0.5, 0.5)", 400, 0.5, 0.5),
    ("100 users, amounts alike (0.5, 0.5)", 100, 0.5, 0.5),
    ("100 users, heavy tails (1, 1)", 100, 1.0, 1.0),
    ("30 users, heavy tails (1, 1)", 30, 1.0, 1.0),
    ("100 users, very heavy tails (1.5, 1)", 100, 1.5, 1.0),
    ("400 users, very heavy tails (1.5, 1)", 400, 1.5, 1.0),
)
PRICE, EACH, POSITIVES = 5, 20, 0.1
#: Of how many users the truth is the mean.
TRUTH = 100_000


def draw(rng: np.random.Generator, users: int, within: float, between: float) -> tuple[np.ndarray, ...]:
    """Draw labels, the scores of two systems as good as each other, amounts and users."""
    user = np.repeat(np.arange(users), EACH)
    label = (rng.random(user.size) < POSITIVES).astype(int)
    label[:2] = 0, 1
    shift, size = rng.normal(0, 0.6, (2, users)), np.exp(rng.normal(0, between, users))
    shared = 2.0 * label + shift[label, user] + rng.normal(0, 0.8, user.size)
    scores = [shared + rng.normal(0, 0.6, user.size) for _ in range(2)]
    return label, *scores, np.round(100 * size[user] * np.exp(rng.normal(0, within, user.size)), 2), user


def measure_amounts(population: tuple[str, int, float, float], repeats: int) -> list[Row]:
    """Coverage at thresholds of a development set of each repeat; the truth is that of very many users."""
    title, users, within, between = population
    cost, apart = Tally(PART, title), Tally(DIFFERENCE_PART, title)
    label, *many, amount, _ = draw(generator((crc32(title.encode()), 0)), TRUTH, within, between)
    for repeat in range(repeats):
        sets = []
        for part in (0, 1):
            rng = generator((crc32(title.encode()), repeat + 1, part))
            known, *scores, worth, user = draw(rng, users, within, between)
            sets.append([Scores.from_predictions(known, each, amount=worth, user=user) for each in scores])
        found = [priori.amounts(dev, test, fp=PRICE) for dev, test in zip(*sets, strict=True)]
        errors = [
            np.where(label == 1, amount * (own <= each.threshold), PRICE * (own > each.threshold)).mean()
            for own, each in zip(many, found, strict=True)
        ]
        cost.cover(("by user", PROMISE), found[0].lower, found[0].upper, errors[0])
        cost.say(("by user", PROMISE), found[0].warnings)
        test = priori.compare_amounts(*found)
        apart.cover(("paired, by user", PROMISE), test.lower, test.upper, errors[0] - errors[1])
        apart.say(("paired, by user", PROMISE), set(test.warnings) - {*found[0].warnings, *found[1].warnings})
    return cost.rows() + apart.rows()
