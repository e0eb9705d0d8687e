"""Intervals around what is expected of a system as a method: from its estimates, on the scale of logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from priori.base.quantiles import quantile
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.decisions.outcomes import Outcomes, count
from priori.scores.influence import welch
from priori.uncertainty.bootstrap.calibration import Calibration
from priori.uncertainty.bootstrap.readers import scaled
from priori.uncertainty.bootstrap.resampling import BootstrapPlan
from priori.uncertainty.expected.influences import Estimates
from priori.uncertainty.expected.method import expected_values


class Expected(NamedTuple):
    """What is expected, its bounds, draws around it where they were kept, and warnings."""

    value: Floats
    lower: Floats
    upper: Floats
    replicates: Floats | None
    warnings: tuple[str, ...]


class Estimated(NamedTuple):
    """One of some systems whose expected values were estimated together, and by what plan."""

    estimates: Estimates
    system: int
    plan: BootstrapPlan

    def serves(self, plan: BootstrapPlan) -> bool:
        """Return whether another plan draws the same units from the same streams."""
        drawn = ((each.design.name, each.shared_users, each.seed) for each in (plan, self.plan))
        return next(drawn) == next(drawn)


def expected_curve(curve: EPC, plan: BootstrapPlan, known: Estimated | None = None, *, keep: bool = False) -> Expected:
    """Return the expected value of one system at each alpha, with bounds; from what is ``known``, where it serves."""
    if known is None or not known.serves(plan):
        known = Estimated(expected_values([curve], plan), 0, plan)
    estimates, system, _ = known
    found = estimates.contrast(np.arange(len(estimates.value)) == system)
    draws = estimates.draws(plan.n_resamples, plan.seed)[:, system] if keep or plan.simultaneous else None
    more = half_errors(curve, plan.calibration(curve.test, curve.threshold))
    lower, upper = _bounds(found, more, estimates.fewest, range_of(curve), plan, draws)
    replicates = found[0] + draws if keep and draws is not None else None
    return Expected(found[0], lower, upper, replicates, estimates.warnings)


def expected_areas(curves: Sequence[EPC], plan: BootstrapPlan, offset: Floats) -> Expected:
    """Return the mean over alphas of each of two curves of one system, then of both, with bounds, moved by ``offset``.

    Their criteria may differ.
    """
    estimates = expected_values(curves, plan)
    shares = np.full(curves[0].alpha.size, 1 / curves[0].alpha.size)
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    value, variance, degrees = (
        np.concatenate(column) for column in zip(*(estimates.contrast(row, shares) for row in weights), strict=True)
    )
    halves = [half_errors(curve, plan.calibration(curve.test, curve.threshold)) for curve in curves]
    shift = weights @ [moved @ shares for moved, _ in halves]
    more = (weights @ [np.sqrt(spread) @ shares for _, spread in halves]) ** 2
    lowest, highest = (weights @ [[end @ shares for end in range_of(curve)] for curve in curves]).T
    draws = estimates.draws(plan.n_resamples, plan.seed) @ shares @ weights.T if plan.simultaneous else None
    value, fewest = value + offset, np.full(len(weights), estimates.fewest.min())
    lower, upper = _bounds((value, variance, degrees), (shift, more), fewest, (lowest, highest), plan, draws)
    return Expected(value, lower, upper, None, estimates.warnings)


def _bounds(
    found: tuple[Floats, Floats, Floats],
    half_errors: tuple[Floats, Floats],
    fewest: Floats,
    ends: tuple[Floats, Floats],
    plan: BootstrapPlan,
    draws: Floats | None,
) -> tuple[Floats, Floats]:
    """Return bounds of values with their variances and degrees of freedom, moved by half errors that no unit showed.

    What none showed has the ``fewest`` degrees. Half errors never move bounds so far that the value itself is outside.
    """
    from scipy.special import ndtr, stdtrit

    (value, variance, degrees), (shift, more) = found, half_errors
    degrees = welch([variance, more], [degrees, fewest])
    tail = np.full(degrees.size, (1 - plan.confidence_level) / 2)
    if plan.simultaneous and draws is not None:  # for all alphas together
        spread = np.sqrt((draws**2).mean(axis=0))
        if (moving := spread > 0).any():
            largest = np.abs(draws[:, moving] / spread[moving]).max(axis=1)
            tail = np.minimum(tail, ndtr(-float(quantile(largest, plan.confidence_level))))
    half = -stdtrit(degrees, tail) * np.sqrt(variance + more)
    lower, upper = bounds_of(value + shift, half, *ends)
    return np.minimum(lower, value), np.maximum(upper, value)


def half_errors(curve: EPC, calibration: Calibration | None) -> tuple[Floats, Floats]:
    """Return what half an error and half a right decision in each class move the value by, and the variance of that.

    Where no error was seen none is known of; see `priori.uncertainty.bootstrap.calibration`.
    """
    shift, variance = np.zeros(curve.alpha.size), np.zeros(curve.alpha.size)
    if calibration is None:
        return shift, variance
    test = curve.test
    seen = curve.outcomes if test.unmixed is test else scaled(count(test, curve.threshold), test.n_negatives)
    negative, positive = calibration.weight / 2
    for fp, fn in ((negative, 0.0), (0.0, positive)):
        more = Outcomes(tp=seen.tp + fn, fp=seen.fp + fp, tn=seen.tn + fp, fn=seen.fn + fn)
        moved = curve.measure(more, curve.alpha) - curve.value
        shift += moved
        variance += 2 * moved**2  # of a gamma variable of shape 1/2, whose mean is 1/2
    return shift, variance


def range_of(curve: EPC) -> tuple[Floats, Floats]:
    """Return the values without any error and with nothing but errors, the smaller first, at each alpha."""
    positives, negatives = curve.outcomes.positives, curve.outcomes.negatives
    right = Outcomes(tp=positives, fp=0 * negatives, tn=negatives, fn=0 * positives)
    wrong = Outcomes(tp=0 * positives, fp=negatives, tn=0 * negatives, fn=positives)
    ends = np.stack([np.broadcast_to(curve.measure(each, curve.alpha), curve.alpha.shape) for each in (right, wrong)])
    return ends.min(axis=0), ends.max(axis=0)


def bounds_of(value: Floats, half: Floats, lowest: Floats, highest: Floats) -> tuple[Floats, Floats]:
    """Return value minus and plus ``half``; inside a range, on the scale of logits of the share of it."""
    from scipy.special import expit, logit

    inside = (value > lowest) & (value < highest) & np.isfinite(highest - lowest)
    width = np.where(inside, highest - lowest, 1.0)
    share = np.where(inside, (value - lowest) / width, 0.5)
    reach = half / width / (share * (1 - share))
    lower, upper = (
        np.where(inside, lowest + width * expit(logit(share) + sign * reach), value + sign * half) for sign in (-1, 1)
    )
    return lower, upper
