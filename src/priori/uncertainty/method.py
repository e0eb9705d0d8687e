"""The expected value of a system as a method: tuned on a development set like this one, judged on the population.

The observed value depends on the luck of one threshold. Here the same expectation is estimated by the mean over
smoothed bootstrap development sets, each with thresholds of its own; its variance comes from the same sets by the
infinitesimal jackknife (Efron 2014), and from the test set by linearised residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from priori.base.types import Floats, Progress
from priori.curves.epc import EPC
from priori.scores import Scores
from priori.uncertainty.bootstrap.plans import BootstrapPlan
from priori.uncertainty.bootstrap.run import system_of
from priori.uncertainty.estimates import Estimates, Part
from priori.uncertainty.judging import influence_of, judge
from priori.uncertainty.score_axis import score_axis
from priori.uncertainty.smoothed_sets import smoothed_sets
from priori.uncertainty.units import Units, group_units, without_noise

#: The most units that development sets are drawn from, and that the test set's variance comes from.
DEV_UNITS, TEST_UNITS = 400, 1000
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
    systems = [system_of(curve) for curve in curves]
    devs, tests = [curve.dev.load() for curve in curves], [curve.test.load() for curve in curves]
    axes = [score_axis(dev, test) for dev, test in zip(devs, tests, strict=True)]
    dev_units, test_units = _units(devs, tests, plan)
    sets = smoothed_sets(systems, devs, axes, dev_units, plan.seed, threads=threads, progress=progress)
    alpha, measure = curves[0].alpha, curves[0].measure
    judged = [
        judge(test, axis, sets.rejected[:, s], measure, alpha)
        for s, (test, axis) in enumerate(zip(tests, axes, strict=True))
    ]
    values = np.stack([each.values for each in judged], axis=1)
    test = influence_of(tests, judged, test_units)
    dev, noise = _jackknife(sets.weights, values.reshape(len(values), -1), dev_units[0])
    return Estimates(values.mean(axis=0), _parts(dev, noise, test, dev_units[0], test_units[0], plan))


def _units(devs: Sequence[Scores], tests: Sequence[Scores], plan: BootstrapPlan) -> tuple[list[Units], list[Units]]:
    """Return the units of each system's development set, and of its test set."""
    dev_units, test_units = [], []
    for dev, test in zip(devs, tests, strict=True):
        in_dev, in_test = None, None
        if plan.design.by_user:
            in_dev, in_test = plan.design.identities([dev, test], shared=plan.shared_users)
        dev_units.append(group_units(dev, in_dev, DEV_UNITS, plan.seed))
        test_units.append(group_units(test, in_test, DEV_UNITS if plan.shared_users else TEST_UNITS, plan.seed))
    return dev_units, test_units


def _parts(
    dev: Floats, noise: Floats, test: Floats, dev_units: Units, test_units: Units, plan: BootstrapPlan
) -> tuple[Part, ...]:
    """Return the sources of variation: two sets, or one set of users that are in both."""
    shape = test.shape[1:]
    if plan.shared_users:
        both = without_noise(dev + test.reshape(len(test), -1), noise).reshape(-1, *shape)
        sizes = [units.sizes / units.sizes.sum(axis=1, keepdims=True) for units in (dev_units, test_units)]
        return (Part(both, dev_units.degrees(both, sizes[0] + sizes[1])),)
    moved = without_noise(dev, noise).reshape(-1, *shape)
    return Part(test, test_units.degrees(test)), Part(moved, dev_units.degrees(moved))


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
