"""The experiment of the joint bootstrap paper (2007, section 5) on simulated pools of the NIST 2005 subset's shape."""

from __future__ import annotations

import numpy as np
from tallies import Row

import priori
from priori.studies.coverage import standard_error
from priori.studies.simulation import systems

#: How much users differ, and whose thresholds the unseen curve has.
CASES = ((0.3, "kept"), (0.5, "kept"), (0.8, "kept"), (0.5, "new"))
EFFECTS = {0.3: "weak", 0.5: "medium", 0.8: "strong"}
PART = "the 2007 experiment"
#: Draws of trials in each of the joint bootstrap's 100 draws of users; as the paper found, few are enough.
SAMPLES = 10
SAMPLE, CONSTRAINED, USER = "sample, U = 1, S = 100", "user-constrained, U = 1, S = 100", "user, U = 100, S = 1"
JOINT, PREDICTION = f"joint, U = 100, S = {SAMPLES}", f"prediction, U = {100 * SAMPLES}, S = 1"


def title(effect: float) -> str:
    return f"24 systems, bands from 31 users, curves of 62 others, {EFFECTS[effect]} effect"


def measure_paper(effect: float, thresholds: str, pools: int, systems_each: int = 24) -> list[Row]:
    """Draw pools of systems, and make the paper's bands and ours from each."""
    found = [
        priori.coverage(
            systems(systems_each, 124, user_effect_sd=effect, rng=(2007, pool)),
            n_resamples=100,
            fixed=SAMPLES,
            points=41,
            thresholds=thresholds,
            rng=pool,
            threads=1,
        )
        for pool in range(pools)
    ]
    covered, widths = (np.concatenate([getattr(one, name) for one in found]) for name in ("covered", "widths"))
    error = standard_error(covered)
    rows = []
    for row, (bootstrap, (users, samples)) in enumerate(zip(found[0].bootstrap, found[0].draws.tolist(), strict=True)):
        method, promise = f"{bootstrap}, U = {users}, S = {samples}", f"thresholds {thresholds}"
        mean, width = float(covered[:, row].mean()), float(widths[:, row].mean())
        rows.append(Row(PART, title(effect), method, promise, 0.95, mean, float(error[row]), width, len(covered)))
    ordered = [one.conjecture for one in found]
    share = float(np.mean([one.share for one in ordered if one is not None]))
    rows.append(Row(PART, title(effect), "conjecture (14)", "share of bands", 1.0, share, 0.0, 0.0, len(covered)))
    return rows
