"""People: rates of groups and what is between them, each user's own rate, whether users differ."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from rates import PROMISE
from scipy.special import ndtr, ndtri
from simulation import generator, population
from tallies import Row, Tally

import priori
from priori import Scores
from priori.uncertainty.rates.combined import gini

GROUPS_PART, USERS_PART, DIFFER_PART = "groups", "users' own rates", "users differ"
#: Groups of users with 20 impostor trials each: how many users each group has, its FAR, whether trials are crossed.
GROUPED = (
    ("2 groups of 31 users, FAR 5 %", (31, 31), (0.05, 0.05), False),
    ("2 groups of 31 users, FAR 5 and 10 %", (31, 31), (0.05, 0.1), False),
    ("2 groups of 100 and 12 users, FAR 5 and 10 %", (100, 12), (0.05, 0.1), False),
    ("4 groups of 20 users, FAR 5 %", (20,) * 4, (0.05,) * 4, False),
    ("4 groups of 20 users, FAR 3 to 10 %", (20,) * 4, (0.03, 0.05, 0.05, 0.1), False),
    ("2 groups of 20 people, crossed, FAR 5 and 10 %", (20, 20), (0.05, 0.1), True),
)
#: Users' own rates: users, trials of each, the mean rate, the sd of their effects, the share of goats (who err half).
OWN = (
    ("62 users of 20 trials, FAR 10 %, medium effect", 62, 20, 0.1, 0.5, 0.0),
    ("62 users of 20 trials, FAR 2 %, medium effect", 62, 20, 0.02, 0.5, 0.0),
    ("62 users of 96 trials, FAR 2 %, strong effect", 62, 96, 0.02, 0.8, 0.0),
    ("15 users of 20 trials, FAR 10 %, medium effect", 15, 20, 0.1, 0.5, 0.0),
    ("500 users of 5 trials, FAR 10 %, medium effect", 500, 5, 0.1, 0.5, 0.0),
    ("62 users of 20 trials, FAR 5 %, all alike", 62, 20, 0.05, 0.0, 0.0),
    ("200 users of 20 trials, FAR 1 %, 3 % goats", 200, 20, 0.01, 0.0, 0.03),
)
#: Whether users differ: the sd of the effects of the claimed and of the real identity.
DIFFER = (("nobody differs", 0.0, 0.0), ("impostors differ", 0.0, 0.3), ("claimed users differ", 0.3, 0.0))


def measure_groups(repeats: int) -> list[Row]:
    """The FAR of groups at a known threshold, what is between them, and how fair FAR and FRR are together."""
    rows: list[Row] = []
    threshold = float(-ndtri(0.05))
    for title, sizes, rates, crossed in GROUPED:
        tally = Tally(GROUPS_PART, title)
        shifts = threshold + ndtri(rates)
        truth = np.array(rates)
        differentials = {
            "gap": truth.max() - truth.min(),
            "ratio": truth.max() / truth.min(),
            # Rounding must not make it less than 1.
            "ratio-to-mean": max(1.0, truth.max() / np.exp(np.log(truth).mean())),
            "worst": truth.max(),
        }
        # Genuine scores are shifted as those of impostors are.
        frr = ndtr(threshold - 2.5 - shifts)
        together = {"fdr": 1 - (np.ptp(truth) + np.ptp(frr)) / 2, "garbe": (gini(truth) + gini(frr)) / 2}
        for repeat in range(repeats):
            scores = _grouped(sizes, shifts, crossed, (crc32(title.encode()), repeat))
            found = priori.group_rates(scores, threshold)
            each = found.rows("far")
            tally.cover(("all groups", PROMISE), each["lower"], each["upper"], truth, whole=True)
            for rate, numbers in (("far", differentials), ("far+frr", together)):
                for name, true in numbers.items():
                    row = found.rows(rate, name)
                    tally.cover((name, PROMISE), row["lower"][0], min(row["upper"][0], 1e3), true)
        rows += tally.rows()
    return rows


def _grouped(sizes: tuple[int, ...], shifts: np.ndarray, crossed: bool, seed: tuple[int, ...]) -> Scores:
    """Draw users of several groups; the scores of a group's users are shifted."""
    people = sum(sizes)
    probe = 0.3 if crossed else 0.0
    scores = population(people, 2, 20, user_effect_sd=0.5, probe_effect_sd=probe, crossed=crossed, rng=seed)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    columns = []
    for trials in (scores.negative, scores.positive):
        group = owner[trials.user]
        columns.append((trials.score + shifts[group], trials.user, trials.probe_user, group))
    score, user, who, group = (None if part[0] is None else np.concatenate(part) for part in zip(*columns, strict=True))
    label = np.repeat([0, 1], [len(scores.negative), len(scores.positive)])
    return Scores.from_predictions(label, score, user=user, probe_user=who, group=group)


def measure_own(repeats: int) -> list[Row]:
    """Each user's own rate: Wilson's interval of his own trials."""
    rows: list[Row] = []
    for title, users, trials, rate, effect, goats in OWN:
        tally = Tally(USERS_PART, title)
        for repeat in range(repeats):
            rng = generator((crc32(title.encode()), repeat))
            own = ndtr((ndtri(rate) + effect * rng.standard_normal(users)) / np.sqrt(1 - effect**2))
            own = np.where(rng.random(users) < goats, 0.5, own)
            errors, size = rng.binomial(trials, own).astype(float), np.full(users, float(trials))
            found = priori.proportion_interval(errors, size)
            tally.cover(("wilson", PROMISE), found.lower, found.upper, own)
        rows += tally.rows()
    return rows


def measure_alike(repeats: int) -> list[Row]:
    """How often the test says that users differ who do not, and who do."""
    rows: list[Row] = []
    for title, effect, probe in DIFFER:
        tally = Tally(DIFFER_PART, title, 0.05)
        for repeat in range(repeats):
            seed = (crc32(title.encode()), repeat)
            scores = population(40, 9, 39, user_effect_sd=effect, probe_effect_sd=probe, crossed=True, rng=seed)
            for each in priori.user_rates(scores, 1.25).roles:
                tally.add((each["role"], PROMISE), each["p_value"] < 0.05, 0.0)
        rows += tally.rows()
    return rows
