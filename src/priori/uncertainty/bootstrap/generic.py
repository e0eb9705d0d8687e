"""Any criterion with development redrawn: each replicate is written out and given to the criterion itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.decisions.outcomes import Outcomes
from priori.scores import Scores, Trials
from priori.uncertainty.bootstrap.plans import Plan
from priori.uncertainty.bootstrap.sides import Side

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.run import Resampled


def generic_batch(
    systems: Sequence[Resampled], plan: Plan, dev: Side, test: Side
) -> Callable[[int, int], list[Outcomes]]:
    """Return a batch function that is slower than the kernels and knows no criterion by name."""
    from priori.uncertainty.bootstrap.kernels import weights_of

    def one(replicate: int) -> list[NDArray[np.int64]]:
        drawn = [weights_of(replicate, plan.seed, plan.inner, plan.draws_trials, side) for side in (dev, test)]
        return [_count(system, s, (dev, drawn[0]), (test, drawn[1])) for s, system in enumerate(systems)]

    def batch(first: int, rows: int) -> list[Outcomes]:
        counted = [one(first + row) for row in range(rows)]
        return [Outcomes(*(np.array([row[s][i] for row in counted]) for i in range(4))) for s in range(len(systems))]

    return batch


def _count(system: Resampled, s: int, dev: tuple[Side, Any], test: tuple[Side, Any]) -> NDArray[np.int64]:
    negative, positive = _on_values(*dev, s)
    values = dev[0].values[s]
    thresholds = system.thresholds  # where a draw left a class empty nothing can be chosen: keep what was
    if negative.any() and positive.any():
        drawn = Scores(Trials(np.repeat(values, negative)), Trials(np.repeat(values, positive)))
        assert system.criterion is not None
        thresholds = system.criterion.choose(drawn, system.fractions).threshold
    rank = np.searchsorted(test[0].values[s, : test[0].distinct[s]], thresholds, side="right")
    rejected = [np.concatenate([[0], np.cumsum(weights)]) for weights in _on_values(*test, s)]
    (tn, fn), (negatives, positives) = (column[rank] for column in rejected), (column[-1] for column in rejected)
    return np.array([positives - fn, negatives - tn, tn, fn], dtype=np.int64)


def _on_values(side: Side, drawn: Any, s: int) -> list[NDArray[np.int64]]:
    """Return the weights of both classes on the distinct scores of one system."""
    if side.direct:
        return list(drawn)
    size = side.values.shape[1]
    return [np.bincount(side.places[s, c], weights=drawn[c], minlength=size).astype(np.int64) for c in range(2)]
