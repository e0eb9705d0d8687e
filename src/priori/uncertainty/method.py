"""The expected value of a system as a method: tuned on a development set like this one, judged on the population.

The observed value depends on the luck of one threshold. Here the same expectation is estimated by the mean over
smoothed bootstrap development sets, each with thresholds of its own; its variance comes from the same sets by the
infinitesimal jackknife (Efron 2014), and from the test set by linearised residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints, Progress
from priori.curves.epc import EPC
from priori.scores import Scores, Trials
from priori.uncertainty.bootstrap.kernel_criteria import kernel_kind
from priori.uncertainty.bootstrap.plans import BootstrapPlan
from priori.uncertainty.bootstrap.run import Resampled, gather, system_of
from priori.uncertainty.estimates import Estimates, Part
from priori.uncertainty.judging import influence_of, judge
from priori.uncertainty.score_axis import ScoreAxis, bandwidth, score_axis, tied
from priori.uncertainty.units import Units, group_units, without_noise

#: The most units that development sets are drawn from, and that the test set's variance comes from.
DEV_UNITS, TEST_UNITS = 400, 1000
#: At least so many smoothed sets, and so many for each unit.
SETS, SETS_PER_UNIT = 1000, 5
#: The purpose of their stream.
BAGS = 3_000_017
#: Monte Carlo noise is kept as so many random sums of what is left in the sets.
NOISE_SUMS = 256


def expected_values(
    curves: Sequence[EPC], plan: BootstrapPlan, *, unpaired: bool = False, threads: int | None = None,
    progress: Progress | None = None,
) -> Estimates:  # fmt: skip
    """Return the expected value of each system, thresholds chosen on a new development set like the one given.

    The curves have the same alphas, measure and criterion, and the same trials in the same order, or ``unpaired``
    each its own. What is drawn (trials, users, identities), the seed and whether both sets share their users are the
    plan's; one set of draws serves all systems.
    """
    if unpaired and len(curves) > 1:
        return _side_by_side([
            expected_values([curve], replace(plan, seed=plan.seed + k), threads=threads, progress=progress)
            for k, curve in enumerate(curves)
        ])  # fmt: skip
    devs, tests = [curve.dev.load() for curve in curves], [curve.test.load() for curve in curves]
    axes = [score_axis(dev, test) for dev, test in zip(devs, tests, strict=True)]
    in_dev, in_test = None, None
    if plan.design.by_user:
        in_dev, in_test = plan.design.identities([devs[0], tests[0]], shared=plan.shared_users)
    dev_units = group_units(devs[0], in_dev, DEV_UNITS, plan.seed)
    test_units = group_units(tests[0], in_test, DEV_UNITS if plan.shared_users else TEST_UNITS, plan.seed)
    bags = _bag([system_of(curve) for curve in curves], devs, axes, dev_units, plan.seed, threads, progress)
    alpha, measure = curves[0].alpha, curves[0].measure
    judged = [
        judge(test, axis, bags.rejected[:, s], measure, alpha)
        for s, (test, axis) in enumerate(zip(tests, axes, strict=True))
    ]
    values = np.stack([each.values for each in judged], axis=1)
    shape = values.shape[1:]
    test = influence_of(tests, judged, test_units)
    dev, noise = _jackknife(bags.weights, values.reshape(len(values), -1), dev_units)
    if plan.shared_users:
        both = without_noise(dev + test.reshape(len(test), -1), noise).reshape(-1, *shape)
        sizes = dev_units.sizes / dev_units.sizes.sum() + test_units.sizes / test_units.sizes.sum()
        parts: tuple[Part, ...] = (Part(both, dev_units.degrees(both, sizes)),)
    else:
        dev = without_noise(dev, noise).reshape(-1, *shape)
        parts = (Part(test, test_units.degrees(test)), Part(dev, dev_units.degrees(dev)))
    return Estimates(values.mean(axis=0), parts)


def _side_by_side(each: Sequence[Estimates]) -> Estimates:
    """Return the estimates of systems that were drawn apart."""
    parts = []
    for s, estimates in enumerate(each):
        for part in estimates.parts:
            units, _, alphas = part.influence.shape
            influence = np.zeros((units, len(each), alphas))
            influence[:, s] = part.influence[:, 0]
            parts.append(Part(influence, part.degrees))
    warnings = dict.fromkeys(warning for estimates in each for warning in estimates.warnings)
    return Estimates(np.concatenate([estimates.value for estimates in each]), tuple(parts), tuple(warnings))


# -- smoothed development sets -----------------------------------------------------------------------------------


class SmoothTrials(NamedTuple):
    """The development trials of one class for the kernel, see `priori.uncertainty.bootstrap.bagging`.

    ``place[i, s]`` is where trial i of system s lies, in cells; where ``held`` it stays there. ``width`` is the
    bandwidth in standard deviations, ``shrink`` what keeps the spread as it is.
    """

    unit: NDArray[np.int32]
    partner: NDArray[np.int32]
    place: Floats
    held: NDArray[np.bool_]
    width: Floats
    shrink: Floats


class Bags(NamedTuple):
    """Smoothed sets: how often each unit came (sets, units), and the cells rejected (sets, systems, alphas)."""

    weights: Floats
    rejected: NDArray[np.intp]


def _bag(
    systems: Sequence[Resampled], devs: Sequence[Scores], axes: Sequence[ScoreAxis], units: Units, seed: int,
    threads: int | None, progress: Progress | None,
) -> Bags:  # fmt: skip
    """Draw smoothed development sets and choose the thresholds on each."""
    from scipy.special import ndtri

    from priori.uncertainty.bootstrap import bagging

    negatives, positives = [dev.negative for dev in devs], [dev.positive for dev in devs]
    classes = (
        _smooth_trials(negatives, axes, units.negative, units.partner),
        _smooth_trials(positives, axes, units.positive, None),
    )
    values = np.full((len(axes), max(axis.cells for axis in axes)), np.inf)
    for row, axis in zip(values, axes, strict=True):
        row[: axis.cells] = axis.value
    quantiles = ndtri((np.arange(1 << bagging.BITS) + 0.5) / (1 << bagging.BITS))
    drawn = (*classes, units.strata, quantiles)
    shape = len(devs), len(systems[0].fractions)
    # A trial of users drawn more than once, or of two, comes more than once.
    kind = kernel_kind(systems[0].criterion, systems[0].fractions, 16 * max(len(dev) for dev in devs))

    def by_kernel(first: int, rows: int) -> Floats:
        assert kind is not None
        weights, rejected = np.empty((rows, units.count)), np.empty((rows, *shape), dtype=np.int64)
        bagging.bag(first, seed, BAGS, *drawn, values, *kind, weights, rejected)
        return np.hstack([weights, rejected.reshape(rows, -1)])

    def by_criterion(first: int, rows: int) -> Floats:
        weights = np.empty((rows, units.count), dtype=np.int64)
        rejected = []
        for row in range(rows):
            counts = bagging.bag_counts(first + row, seed, BAGS, *drawn, values.shape[1], weights[row])
            rejected.append([_choose(system, counts[:, s], axes[s]) for s, system in enumerate(systems)])
        return np.hstack([weights, np.array(rejected, dtype=np.float64).reshape(rows, -1)])

    sets = max(SETS, SETS_PER_UNIT * units.count)
    work = by_criterion if kind is None else by_kernel
    both = gather(work, sets, 64, threads=threads, progress=progress)
    weights, rejected = np.split(both, [units.count], axis=1)
    return Bags(weights, rejected.astype(np.intp).reshape(sets, *shape))


def _choose(system: Resampled, counts: Ints, axis: ScoreAxis) -> NDArray[np.intp]:
    """Return how many cells each threshold rejects that a criterion of any kind chooses on counts in cells."""
    assert system.criterion is not None
    negative, positive = (Trials(np.repeat(axis.value, number[: axis.cells])) for number in counts)
    thresholds = system.criterion.choose(Scores(negative, positive), system.fractions).threshold
    return np.maximum(np.searchsorted(axis.value, thresholds, side="right"), 1)


def _smooth_trials(
    trials: Sequence[Trials], axes: Sequence[ScoreAxis], unit: NDArray[Any], partner: NDArray[Any] | None
) -> SmoothTrials:
    order = np.argsort(unit, kind="stable")
    place = np.stack([axis.places(each.score) for axis, each in zip(axes, trials, strict=True)], axis=1)
    held = np.stack([tied(each) | (not axis.smooth) for axis, each in zip(axes, trials, strict=True)], axis=1)
    width = np.full(len(axes), bandwidth(len(trials[0])))
    other = np.full(unit.size, -1, dtype=np.int32) if partner is None else partner
    return SmoothTrials(
        unit[order], other[order], np.ascontiguousarray(place[order]), np.ascontiguousarray(held[order]),
        width, 1 / np.sqrt(1 + width**2),
    )  # fmt: skip


def _jackknife(weights: Floats, values: Floats, units: Units) -> tuple[Floats, Floats]:
    """Return the influence of each unit on the mean of the values, and rows whose squares are its Monte Carlo noise.

    The infinitesimal jackknife, the covariance of weights and values over the sets, by least squares: what other units
    do to the values is no noise then.
    """
    sets = len(weights)
    drawn, deviations = weights - 1, values - values.mean(axis=0)
    gram = drawn.T @ drawn / sets
    for start, end in pairwise(units.strata):
        gram[start:end, start:end] += 1 / (end - start)  # weights of a stratum add up to 0: any number would do here
    inverse = np.linalg.inv(gram)
    influence = inverse @ (drawn.T @ deviations) / sets
    left = deviations - drawn @ influence
    strata = units.strata.size - 1
    free = units.count - strata
    noise = (np.trace(inverse) - strata) / sets / (sets - free) * units.count / max(free, 1)
    sums = min(NOISE_SUMS, sets)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(sums, sets))
    return units.correction * influence, np.sqrt(noise / sums) * (signs @ left)
