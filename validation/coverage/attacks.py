"""Attacks: bands of HTER_omega, and intervals of the largest APCER and of the ACER."""

from __future__ import annotations

import numpy as np
from populations import seeds
from scipy.special import ndtr
from tallies import Row, Tally

import priori

#: Populations: title, users (0: independent trials), impostors, attacks and genuine trials in all.
POPULATIONS = (
    ("1000 impostors, 200 attacks, 400 genuine", 0, 1000, 200, 400),
    ("2000 impostors, 40 attacks, 200 genuine", 0, 2000, 40, 200),
    ("40 users of 20 impostors, 1 to 9 attacks, 10 genuine", 40, 800, 200, 400),
)
#: Where impostors, attacks and genuine trials score, the spread of users, and of what share attacks are.
CENTRES, EFFECT, OMEGA = (0.0, 1.3, 2.6), 0.5, 0.4
#: Types of attacks and where each scores, and the trials of each.
TYPES = (
    ("5 types of 100, one stands out", (0.2, 0.4, 0.6, 0.8, 1.6), 100),
    ("5 types of 100, all alike", (1.0,) * 5, 100),
    ("10 types of 30, all alike", (1.0,) * 10, 30),
)


def _draw(users: int, sizes: tuple[int, ...], seed: int) -> priori.Scores:
    rng = np.random.default_rng(seed)
    label = np.repeat(["impostor", "attack", "genuine"], sizes)
    score = rng.normal(np.repeat(CENTRES, sizes), 1)
    if not users:
        return priori.Scores.from_predictions(label, score)
    share = np.arange(users) % 9 + 1.0
    user = np.concatenate(
        [np.arange(sizes[0]) % users, rng.choice(users, sizes[1], p=share / share.sum()), np.arange(sizes[2]) % users]
    )
    return priori.Scores.from_predictions(label, score + rng.normal(0, EFFECT, users)[user], user=user)


def _truth(threshold: float, users: int) -> float:
    spread = np.sqrt(1 + (EFFECT**2 if users else 0))
    far, iapmr, tpr = 1 - ndtr((threshold - np.array(CENTRES)) / spread)
    return float((OMEGA * iapmr + (1 - OMEGA) * far + 1 - tpr) / 2)


def surfaces(repeats: int, replicates: int) -> list[Row]:
    """HTER_omega at the thresholds as they are, and as expected of new development sets."""
    rows: list[Row] = []
    for number, (title, users, *sizes) in enumerate(POPULATIONS):
        tally = Tally("attacks", title)
        pairs = [
            [_draw(users, tuple(sizes), seeds(number, repeat, part)) for part in (20, 21)] for repeat in range(repeats)
        ]
        curves = [priori.epsc(*pair, omega=OMEGA).curves[0] for pair in pairs]
        expected = float(np.mean([_truth(curve.threshold[0], users) for curve in curves]))
        for repeat, curve in enumerate(curves):
            for resample, said, truth in (
                ("test", "thresholds kept", _truth(curve.threshold[0], users)),
                ("both", "new thresholds", expected),
            ):
                band = curve.band(n_resamples=replicates, rng=repeat, resample=resample)
                tally.cover((f"{band.settings['bootstrap']}, calibrated", said), band.lower[0], band.upper[0], truth)
        rows += tally.rows()
    return rows


def largest(repeats: int) -> list[Row]:
    """The largest APCER over types, and the ACER."""
    rows: list[Row] = []
    threshold = 2.0
    for number, (title, centres, trials) in enumerate(TYPES):
        tally = Tally("attacks", title)
        apcer, bpcer = 1 - ndtr(threshold - max(centres)), ndtr(threshold - 3.0)
        label = np.repeat([0, 1], [trials * len(centres), 300])
        kind = np.concatenate([np.repeat([f"type {i}" for i in range(len(centres))], trials), ["-"] * 300])
        dev = priori.Scores.from_arrays([threshold - 1], [threshold + 1])
        for repeat in range(repeats):
            rng = np.random.default_rng(seeds(number, repeat, 22))
            score = rng.normal(np.append(np.repeat(centres, trials), np.full(300, 3.0)), 1)
            test = priori.Scores.from_predictions(label, score, attack=kind)
            found = priori.pad(dev, test, apcer="0.5")
            for measure, truth in (("apcer-max", apcer), ("acer", (apcer + bpcer) / 2)):
                row = int(np.flatnonzero(found.measure == measure)[0])
                tally.cover((measure, "whole population"), found.lower[row], found.upper[row], float(truth))
        rows += tally.rows()
    return rows
