"""Any criterion with the development set resampled: each replicate is written out and given to the criterion itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from priori.base.types import Ints
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores, Trials
from priori.uncertainty.bootstrap.kernel_sets import Side
from priori.uncertainty.bootstrap.plans import Plan

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.run import Resampled


def batch_of_any(
    systems: Sequence[Resampled], plan: Plan, dev: Side, test: Side
) -> Callable[[int, int], list[Outcomes]]:
    """Return a batch function that is slower than the kernels and knows no criterion by name."""
    from priori.uncertainty.bootstrap.kernels import weights_of

    def count(replicate: int) -> list[Ints]:
        settings = (replicate, plan.seed, plan.inner, plan.design.draws_trials)
        on_dev, on_test = ((side, weights_of(*settings, side)) for side in (dev, test))
        return [_count(system, s, on_dev, on_test) for s, system in enumerate(systems)]

    def batch(first: int, rows: int) -> list[Outcomes]:
        counted = [count(first + row) for row in range(rows)]
        return [Outcomes(*(np.array([row[s][i] for row in counted]) for i in range(4))) for s in range(len(systems))]

    return batch


def _count(system: Resampled, s: int, dev: tuple[Side, Any], test: tuple[Side, Any]) -> Ints:
    negative, positive = _on_values(*dev, s)
    values = dev[0].values[s]
    thresholds = system.thresholds  # where a draw left a class empty nothing can be chosen: keep what was
    if negative.any() and positive.any():
        resampled = Scores(Trials(np.repeat(values, negative)), Trials(np.repeat(values, positive)))
        assert system.criterion is not None
        thresholds = system.criterion.choose(resampled, system.fractions).threshold
    rank = np.searchsorted(test[0].values[s, : test[0].distinct[s]], thresholds, side="right")
    rejected = [np.concatenate([[0], np.cumsum(weights)]) for weights in _on_values(*test, s)]
    (tn, fn), (negatives, positives) = (column[rank] for column in rejected), (column[-1] for column in rejected)
    return np.array([positives - fn, negatives - tn, tn, fn], dtype=np.int64)


def _on_values(side: Side, weights: Any, s: int) -> list[Ints]:
    """Return the weights of both classes on the distinct scores of one system."""
    if side.direct:
        return list(weights)
    size = side.values.shape[1]
    return [np.bincount(side.places[s, c], weights=weights[c], minlength=size).astype(np.int64) for c in range(2)]
