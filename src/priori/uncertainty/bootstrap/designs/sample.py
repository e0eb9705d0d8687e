"""The sample bootstrap: trials, drawn within each class as if they were independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.scores import ScoreSet
from priori.scores.attacks import Mixture
from priori.scores.influence import Spread
from priori.uncertainty.bootstrap.calibration import Calibration, Other, calibrated, error_rates
from priori.uncertainty.bootstrap.designs.base import Bootstrap, Trials, future_sizes
from priori.uncertainty.bootstrap.plans import BootstrapPlan

#: The warning about trials with users; whoever says it in other words leaves out this one.
USERS_UNUSED = Caution(
    "users-unused",
    "the users of the trials are known but not used: trials of one user are alike, so a bootstrap of trials "
    "is too narrow; choose the user bootstrap",
)


class TrialBootstrap(Bootstrap):
    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        return True

    def check(self, scores: ScoreSet) -> None:
        """Any set will do."""

    def warnings(self, sets: Sequence[ScoreSet]) -> list[str]:
        # Not how many users: to ask a table for them is a scan.
        return [USERS_UNUSED] if any(scores.has_users for scores in sets) else []

    def predict(self, plan: BootstrapPlan, test: ScoreSet, users: int | None, trials: Trials | None) -> BootstrapPlan:
        if users is not None:
            raise OptionError("future_users needs a bootstrap by users; give future_trials, or choose user")
        sizes, growth = future_sizes(trials, test, 1.0)
        return replace(plan, future=(0, *sizes), growth=growth)

    def calibrate(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Calibration:
        spread = self.spread(test, thresholds, plan)
        weight = np.ones_like(spread.variance) if other is None else None
        if weight is not None and (mixture := _mixture(test)) is not None:
            weight[0] = mixture.heaviest  # half an error is that of the kind whose trials weigh most
        return calibrated(test, thresholds, plan, spread, weight=weight, growth=plan.growth)

    def spread(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan) -> Spread:
        """Return that of independent trials; nobody can be told from anybody else, so any error is enough of them."""
        rate = error_rates(test, thresholds)
        variance = rate * (1 - rate) / np.array([[test.n_negatives], [test.n_positives]])
        if (mixture := _mixture(test)) is not None:
            variance[0] = mixture.variance(thresholds)
        sure = np.full_like(rate, np.inf)
        return Spread(rate, variance, sure, sure, 0, erring=np.where(variance > 0, np.inf, 0.0))


def _mixture(test: ScoreSet) -> Mixture | None:
    return None if test.unmixed is test else test.load().mixture


SAMPLE = TrialBootstrap(
    name="sample",
    resamples="trials, within each class",
    choice="trials, within each class",
    draws_trials=True,
    by_user=False,
    calibrated=True,
)
