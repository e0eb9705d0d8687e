"""The sample bootstrap: trials, drawn within each class as if they were independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.calibration import Calibration, Other, error_rates
from priori.uncertainty.bootstrap.designs.base import Bootstrap, Trials, future_sizes
from priori.uncertainty.bootstrap.plans import BootstrapPlan

#: The warning about trials with users; whoever says it in other words leaves out this one.
USERS_UNUSED = Caution(
    "users-unused",
    "the users of the trials are known but not used: trials of one user are alike, so a sample bootstrap "
    "is too narrow; choose the user bootstrap",
)


class _Sample(Bootstrap):
    def suits(self, sets: Sequence[ScoreSet]) -> bool:
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
        rate = error_rates(test, thresholds)
        ones = np.ones_like(rate)
        return Calibration(rate, ones, ones if other is None else 0 * ones, 0, plan.growth)


SAMPLE = _Sample(
    name="sample",
    resamples="trials, within each class",
    choice="trials, within each class",
    draws_trials=True,
    by_user=False,
    calibrated=True,
)
