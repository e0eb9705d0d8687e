"""The crossed bootstrap: identities, a trial weighted by both of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import OptionError, argument
from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.scores import ScoreSet
from priori.scores.influence import Spread
from priori.uncertainty.bootstrap.calibration import Calibration, Other, calibrated, clusters_of, drawn_growth
from priori.uncertainty.bootstrap.designs.base import Bootstrap
from priori.uncertainty.bootstrap.plans import BootstrapPlan

#: Why a scan has no crossed bootstrap unless it is asked for, and what to do.
CLAIMED_ONLY = "a scan keeps the claimed identity of each trial only"
ASK = f"to count by both, ask for the crossed bootstrap ({argument('bootstrap', 'crossed')})"
TO_MEMORY = f"for the crossed bootstrap read the trials into memory ({argument('engine', 'memory')})"


class _Crossed(Bootstrap):
    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        return all(scores.n_users >= 2 for scores in sets) and all(scores.has_identities for scores in sets)

    def left_out(self, sets: Sequence[ScoreSet]) -> list[str]:
        warning = f"{CLAIMED_ONLY}, so trials that share the other seem independent; {ASK}"
        left_out = [scores.source for scores in sets if scores.leaves_out_probes][:1]
        return [Caution("probes-left-out", f"{source}: {warning}") for source in left_out]

    def left_out_of_cells(self, sets: Sequence[ScoreSet]) -> list[str]:
        """Return the same where trials are counted in cells by user, because there is no room for all of them."""
        left_out = [scores.source for scores in sets if scores.leaves_out_probes and not scores.fits][:1]
        warning = "trials are told apart by user only, and those that share the other identity seem independent"
        return [Caution("probes-left-out", f"{source}: {warning}; {ASK}") for source in left_out]

    def check(self, scores: ScoreSet) -> None:
        if scores.leaves_out_probes:
            raise OptionError(f"{scores.source}: {CLAIMED_ONLY}; {TO_MEMORY}, or choose another bootstrap")
        if not scores.has_identities:
            raise OptionError(
                f"the crossed bootstrap needs both identities of each trial, and {scores.source} does not have them; "
                "read them as user (claimed) and probe_user (real), or choose another bootstrap"
            )
        super().check(scores)

    def growth(self, ratio: float) -> tuple[float, float]:
        """Every pair of identities makes negatives, each identity its positives."""
        return ratio**2, ratio

    def calibrate(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Calibration:
        clusters = clusters_of(test, thresholds, plan, other=other)
        weight = None if other is not None else clusters.pseudo
        made = calibrated(test, thresholds, plan, clusters, weight=weight, growth=drawn_growth(plan))
        growth = plan.future[0] / clusters.people if plan.future[0] else 0.0
        return replace(made, scale=_crossed_scale(clusters, growth, made.units))


def _crossed_scale(clusters: Spread, growth: float, units: Floats) -> Floats:
    """Return the factor for identities drawn once and trials weighted by both: their pairs' spread counts thrice.

    By whole numbers of draws c_i of mean and variance 1, trials that share one identity have the covariance of
    their errors times 1, those that share both times 3; it should be 1 both times (Owen 2007). For a future set
    ``growth`` times as large, drawn from the draw, the factors are 1 + 1/growth and its square minus 1; they
    should be 1 + 1/growth and 1 + 1/growth^2.
    """
    inverse = 1 / growth if growth else 0.0
    factor = 1 + inverse
    shared = np.maximum(clusters.by_person - 2 * clusters.by_pair, 0.0)
    variance = factor * shared + (1 + inverse**2) * clusters.by_pair
    resampled = factor * shared + ((1 + factor) ** 2 - 1) * clusters.by_pair
    # Never below what independent trials, or the claimed identities alone, would have.
    variance = np.maximum(variance, factor * clusters.floor)
    # Two people in a trial: more of the variance is lost to the mean than the share that the tails allow for.
    variance, resampled = variance * (1 - 1 / (units + 1)), resampled * (1 - clusters.lost)
    return np.asarray(np.sqrt(np.divide(variance, resampled, out=np.ones_like(resampled), where=resampled > 0)))


CROSSED = _Crossed(
    name="crossed",
    resamples="identities, a trial weighted by both of its own",
    choice="both identities of a trial",
    draws_users=True,
    crossed=True,
    calibrated=True,
    preference=3,
)
