"""Single rates from trials that are not independent: Wilson's interval with an effective number of trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.errors import InputError
from priori.proportions import check_level, proportion_interval
from priori.resampling.clusters import clusters_of
from priori.resampling.plans import Plan
from priori.results import Result
from priori.scores import Scores

__all__ = ["DependentRates", "dependent_rates"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DependentRates(Result):
    """FAR and FRR at thresholds with intervals that allow for dependent trials. Made by `dependent_rates`.

    ``effective_negatives`` and ``effective_positives`` are how many independent trials the dependent ones are
    worth.
    """

    threshold: Floats
    far: Floats
    far_lower: Floats
    far_upper: Floats
    frr: Floats
    frr_lower: Floats
    frr_upper: Floats
    effective_negatives: Floats
    effective_positives: Floats
    confidence_level: float
    identities: int
    two_way: bool

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per threshold."""
        names = (
            "threshold", "far", "far_lower", "far_upper", "frr", "frr_lower", "frr_upper",
            "effective_negatives", "effective_positives",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def summary(self) -> dict[str, Any]:
        """Return the level, the number of identities, and whether both of each trial's were used."""
        return {name: getattr(self, name) for name in ("confidence_level", "identities", "two_way")}


def dependent_rates(scores: Scores, thresholds: ArrayLike, *, confidence_level: float = 0.95) -> DependentRates:
    """Compute Wilson intervals of FAR and FRR that allow for trials sharing a user, or either of two identities.

    The variance of each rate sums the products of the deviations of all pairs of trials that share an identity,
    claimed or real; over the binomial one it says how many independent trials these are worth (Fogliato, Patil and
    Perona, IJCV 2024). Few identities widen the interval as Student's t does. No bootstrap, no random numbers.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(0)
    >>> claimed, real = (grid.ravel() for grid in np.meshgrid(np.arange(30), np.arange(30)))
    >>> effect = rng.normal(0, 0.5, 30)
    >>> score = rng.normal(3.0 * (claimed == real)) + effect[claimed] + effect[real]
    >>> scores = priori.Scores.from_predictions((claimed == real) * 1, score, user=claimed, probe_user=real)
    >>> found = dependent_rates(scores, [1.5])
    >>> bool(found.effective_negatives[0] < 870 / 3)
    True
    """
    from scipy.special import ndtr, stdtrit

    level = check_level(confidence_level)
    if not scores.has_users:
        raise InputError(
            f"{scores.source}: no user of each trial is known; use proportion_interval for independent ones"
        )
    at = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    plan = Plan("crossed" if scores.has_identities else "user", "test", 1, 1, False, 0)
    found = clusters_of(scores, at, plan)
    factor = found.count / max(found.count - 1, 1)
    reached = float(2 * ndtr(stdtrit(max(found.count - 1, 1), (1 + level) / 2)) - 1)
    sizes = np.array([[len(scores.negative)], [len(scores.positive)]])
    effective = np.maximum(sizes / np.maximum(found.effect * factor, 1.0), 1.0)
    intervals = [
        proportion_interval(rate * size, size, confidence_level=min(reached, 1 - 1e-12))
        for rate, size in zip(found.rate, effective, strict=True)
    ]
    far, frr = intervals
    return DependentRates(
        at, found.rate[0], far.lower, far.upper, found.rate[1], frr.lower, frr.upper, effective[0], effective[1],
        level, found.count, scores.has_identities,
    )  # fmt: skip
