"""The user-constrained bootstrap: the trials of each user, every user kept."""

from __future__ import annotations

from priori.base.errors import OptionError
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.designs.base import Bootstrap, Trials
from priori.uncertainty.bootstrap.plans import BootstrapPlan


class _UserConstrained(Bootstrap):
    def predict(self, plan: BootstrapPlan, test: ScoreSet, users: int | None, trials: Trials | None) -> BootstrapPlan:
        raise OptionError(f"the {self.name} bootstrap keeps every user, so it predicts no future set; choose user")


USER_CONSTRAINED = _UserConstrained(
    name="user-constrained",
    resamples="the trials of each user, within each class",
    choice="the trials of each user",
    draws_trials=True,
)
