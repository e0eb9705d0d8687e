"""The user bootstrap: users, each with all their trials (subset bootstrap)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from priori.base.types import Floats
from priori.decisions.measure import Measure
from priori.scores import ScoreSet
from priori.scores.influence import Spread
from priori.uncertainty.bootstrap.calibration import (
    Calibration,
    Other,
    calibrated,
    clusters_of,
    differences_of,
    drawn_growth,
)
from priori.uncertainty.bootstrap.designs.base import Bootstrap, Trials, future_sizes
from priori.uncertainty.bootstrap.plans import BootstrapPlan


class _User(Bootstrap):
    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        return all(scores.n_users >= 2 for scores in sets)

    def predict(self, plan: BootstrapPlan, test: ScoreSet, users: int | None, trials: Trials | None) -> BootstrapPlan:
        future = super().predict(plan, test, users, None)
        if trials is None:
            return future
        ratio = future.growth[0]
        _, growth = future_sizes(trials, test, ratio)
        return replace(future, growth=growth, per_user=(growth[0] / ratio, growth[1] / ratio))

    def calibrate(self, test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Calibration:
        if other is not None:
            return calibrated(test, thresholds, plan, differences_of(test, thresholds, plan, other))
        clusters = clusters_of(test, thresholds, plan)
        scale = _future_scale(clusters, plan) if plan.future[0] else None
        growth = drawn_growth(plan)
        return calibrated(test, thresholds, plan, clusters, scale=scale, weight=clusters.pseudo, growth=growth)


def _future_scale(clusters: Spread, plan: BootstrapPlan) -> Floats:
    """Return the factor for a future set whose users have another number of trials than now.

    The user bootstrap gives a future user as many trials as now. With another number the spread within users
    shrinks or grows, that between users stays.
    """
    share = clusters.people / plan.future[0]
    before = clusters.variance * (1 + share)
    within = clusters.within * share * (1 / np.array(plan.per_user)[:, None] - 1)
    after = np.maximum(before + within, clusters.variance)
    return np.asarray(np.sqrt(np.divide(after, before, out=np.ones_like(before), where=before > 0)))


USER = _User(
    name="user",
    resamples="users, with all their trials (subset bootstrap)",
    choice="users, with all their trials",
    draws_users=True,
    calibrated=True,
    preference=2,
)
