"""The experiment of the joint bootstrap paper (2007, section 5) on simulated pools of the NIST 2005 subset's shape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri
from simulation import generator, population
from tallies import Row, standard_error

import priori
from priori.scores.derived import restrict

#: How much users differ, and whose thresholds the unseen curve has: the band's own, or those of other users.
CASES = ((0.3, "kept"), (0.5, "kept"), (0.8, "kept"), (0.5, "new"))
EFFECTS = {0.3: "weak", 0.5: "medium", 0.8: "strong"}
PART = "the 2007 experiment"
#: Bands from so many users, curves of so many others.
SEEN, UNSEEN = 31, 62
#: Draws of trials in each of the joint bootstrap's 100 draws of users; as the paper found, few are enough.
SAMPLES = 10
SAMPLE, CONSTRAINED, USER = "sample, U = 1, S = 100", "user-constrained, U = 1, S = 100", "user, U = 100, S = 1"
JOINT = f"joint, U = 100, S = {SAMPLES}"
SWAPPED = f"joint, U = {SAMPLES}, S = 100"
METHODS = (SAMPLE, USER, CONSTRAINED, JOINT, SWAPPED)

Pair = tuple[priori.Scores, priori.Scores]


def title(effect: float) -> str:
    return f"24 systems, bands from 31 users, curves of 62 others, {EFFECTS[effect]} effect"


def systems(count: int, effect: float, pool: int) -> Iterator[Pair]:
    """Draw systems whose equal error rates are evenly spaced, a development and a test set of other users each."""
    for number, rate in enumerate(np.linspace(0.05, 0.25, count)):
        apart = float(-2 * ndtri(rate))
        dev, test = (
            population(124, separation=apart, user_effect_sd=effect, prefix=name, rng=(2007, pool, number, part))
            for part, name in enumerate("dt")
        )
        yield dev, test


def divided(pair: Pair, pool: int, *, new: bool) -> tuple[Pair, Pair]:
    """Draw the users of a band and, apart from them, those of a curve."""
    order, dev_order = (
        generator((pool, 0, part)).permutation(scores.users.values) for part, scores in enumerate(pair[::-1])
    )
    dev, curve_dev = (restrict(pair[0], dev_order[SEEN * part : SEEN * (part + 1)]) for part in (0, int(new)))
    return (dev, restrict(pair[1], order[:SEEN])), (curve_dev, restrict(pair[1], order[SEEN : SEEN + UNSEEN]))


def bands(curve: priori.EPC, seed: int) -> list[priori.Band]:
    """Make the paper's bands, in the order of METHODS."""
    drawn = {"sample": 100, "user": 100, "user-constrained": 100}
    asked = [*drawn.items(), ("joint", (100, SAMPLES)), ("joint", (SAMPLES, 100))]
    options = {"rng": seed, "threads": 1}
    return [
        curve.band(bootstrap=name, n_resamples=number, resample="both", interval="percentile", **options)
        for name, number in asked
    ]


def measure_paper(effect: float, thresholds: str, pools: int, systems_each: int = 24) -> list[Row]:
    """Draw pools of systems, and make the paper's bands from each."""
    new = thresholds == "new"
    shares, widths = [], []
    for pool in range(pools):
        for number, pair in enumerate(systems(systems_each, effect, pool)):
            seen, unseen = (priori.epc(*sets, points=41) for sets in divided(pair, pool, new=new))
            seed = int(generator((pool, 0, number)).integers(0, 2**62))
            made = bands(seen, seed)
            shares.append([np.mean((band.lower <= unseen.value) & (unseen.value <= band.upper)) for band in made])
            widths.append([np.mean(band.width) for band in made])
    covered, width = np.array(shares), np.array(widths)
    error, promise = standard_error(covered), f"thresholds {thresholds}"
    rows = [
        Row(
            PART,
            title(effect),
            method,
            promise,
            0.95,
            float(covered[:, row].mean()),
            float(error[row]),
            float(width[:, row].mean()),
            len(covered),
        )
        for row, method in enumerate(METHODS)
    ]
    # Conjecture (14) of the paper: width(S, 1) <= width(1, U) <= width(S, U).
    ordered = width[:, [METHODS.index(method) for method in (CONSTRAINED, USER, JOINT)]]
    share = float(np.mean((np.diff(ordered) >= 0).all(axis=1)))
    rows.append(Row(PART, title(effect), "conjecture (14)", "share of bands", 1.0, share, 0.0, 0.0, len(covered)))
    return rows
