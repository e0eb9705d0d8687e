"""Plans: how often a study of the planned size has the width, and finds the difference, that it was planned for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from populations import Population, seeds
from sizes import two_systems
from tallies import Row, Tally

import priori

PART, WIDTH, POWER = "plans", "width reached", "difference found"
#: Pilots with users, and the width that is planned for.
PILOTS = (
    (Population("pilot of 30 users, 9 + 20 trials, medium effect", 30), 0.05),
    (Population("pilot of 62 users, 9 + 20 trials, medium effect", 62), 0.03),
    (Population("pilot of 62 users, 9 + 20 trials, strong effect", 62, effect=0.8), 0.06),
)
ASSURED, EXPECTED = "assurance 80 %", "expected width only"
CLAIMS = {
    "compare, method, development grows": {"claim": "method"},
    "compare, method, development stays": {"claim": "method", "development": "stay"},
    "compare, deployed": {"claim": "deployed"},
}
PAIR = Population("two pilots of 62 users, 9 + 20 trials, EER 11.5 % and 15.6 %", 62, separation=2.4)
WORSE = 2.02


def _tally(title: str) -> Tally:
    return Tally(PART, title, nominal=0.8)


def rates(repeats: int) -> list[Row]:
    """Widths of the z formula, planned from rates alone."""
    rows: list[Row] = []
    for far, frr, width in ((0.05, 0.08, 0.02), (0.01, 0.02, 0.005), (0.02, 0.03, 0.02)):
        tally = _tally(f"rates given: FAR {100 * far:g} %, FRR {100 * frr:g} %, width {100 * width:g} %")
        rng = np.random.default_rng((repeats, int(1000 * far)))
        for name, assurance in ((ASSURED, 0.8), (EXPECTED, None)):
            planned = priori.plan(width=width, far=far, frr=frr, negatives_per_positive=5, assurance=assurance)
            for _ in range(repeats):
                seen = [rng.binomial(n, p) / n for n, p in ((planned.negatives, far), (planned.positives, frr))]
                found = priori.ztest(*seen, planned.negatives, planned.positives).a.hter.width
                tally.add((name, WIDTH), float(found) <= width, float(found))
        rows += tally.rows()
    return rows


def widths(repeats: int, replicates: int) -> list[Row]:
    """Widths of the band around the HTER in a new study, planned from a pilot; thresholds chosen anew in each."""
    rows: list[Row] = []
    for population, width in PILOTS:
        tally = _tally(f"{population.title}, width {100 * width:g} %")
        for repeat in range(repeats):
            pilot = _curve(population, population.users, repeat, 40)
            for name, assurance in ((ASSURED, 0.8), (EXPECTED, None)):
                planned = priori.plan(width=width, pilot=pilot, assurance=assurance)
                study = _curve(population, planned.users, repeat, 42)
                found = study.band(n_resamples=replicates, rng=seeds(repeat, 44), threads=1).width[0]
                tally.add((name, WIDTH), found <= width, found)
        rows += tally.rows()
    return rows


def _curve(population: Population, users: int, *seed: int) -> priori.EPC:
    repeat, which = seed
    dev = population.draw(repeat, which, users=users, prefix="d")
    return priori.epc(dev, population.draw(repeat, which + 1, users=users), alpha=["0.5"])


def powers(repeats: int, replicates: int, difference: float = 0.041) -> list[Row]:
    """How often `compare` finds the difference of two systems in a new study, planned from a pilot of both."""
    tally = _tally(PAIR.title)
    for repeat in range(repeats):
        pilots = _pair(repeat, 45, PAIR.users, PAIR.users)
        for name, claim in CLAIMS.items():
            planned = priori.plan(difference=difference, pilot=pilots[0], pilot_b=pilots[1], **claim)
            study = _pair(repeat, 47, planned.users, planned.dev_users or PAIR.users)
            found = priori.compare(*study, claim=claim["claim"], n_resamples=replicates, rng=repeat, threads=1)
            tally.add((name, POWER), found.pointwise.significant[0], planned.users / 100)
    return tally.rows()


def _pair(repeat: int, which: int, users: int, dev_users: int) -> list[priori.EPC]:
    curves = []
    sets = [
        two_systems(replace(PAIR, users=number), 0.5, repeat, which + k, prefix=prefix)
        for k, (number, prefix) in enumerate(((dev_users, "d"), (users, "u")))
    ]
    for system, (dev, test) in enumerate(zip(*sets, strict=True)):
        if system:  # the same scores with the classes closer together
            dev, test = (_closer(each, PAIR.separation - WORSE) for each in (dev, test))
        curves.append(priori.epc(dev, test, alpha=["0.5"], name="AB"[system]))
    return curves


def _closer(scores: priori.Scores, by: float) -> priori.Scores:
    return replace(scores, positive=replace(scores.positive, score=scores.positive.score - by))
