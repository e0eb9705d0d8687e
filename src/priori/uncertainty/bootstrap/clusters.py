"""Clusters: how the errors of a test set come together by user, or by both identities, at every threshold at once."""

from __future__ import annotations

import numpy as np

from priori.base.types import Floats
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.plans import Plan, identify
from priori.uncertainty.clustered import Clusters, Errors, measure_clusters


def clusters_of(
    test: ScoreSet, thresholds: Floats, plan: Plan, *, other: tuple[ScoreSet, Floats] | None = None
) -> Clusters:
    """Measure how errors, or differences of errors between two systems, come together at each threshold."""
    given = [(test, thresholds), *([other] if other is not None else [])]
    cuts = [thresholds_of for _, thresholds_of in given]
    sets = test.between([np.unique(cut) for cut in cuts], [scores for scores, _ in given[1:]], by_user=plan.by_user)
    ranks = [np.argsort(np.argsort(cut, kind="stable"), kind="stable") for cut in cuts]
    who = identify(sets[:1], crossed=plan.bootstrap == "crossed")[0] if plan.by_user else None
    people = 0 if who is None else who.count
    rows = []
    for name in ("negative", "positive"):
        trials = [getattr(scores, name) for scores in sets]
        gaps = [np.searchsorted(np.sort(c), t.score, side="left") for t, c in zip(trials, cuts, strict=True)]
        errors = Errors(gaps, ranks, name == "negative", trials[0].number)
        users = None if who is None else getattr(who, name)
        partner = who.negative_partner if who is not None and name == "negative" else None
        rows.append(measure_clusters(errors, users, partner, people))
    return Clusters(**{key: np.stack([row[key] for row in rows]) for key in rows[0]}, count=people)
