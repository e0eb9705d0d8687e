"""The expected value of a system as a method: tuned on a development set like this one, judged on the population.

The observed value depends on the luck of one threshold. Here the same expectation is estimated by the mean over
smoothed bootstrap development sets, each with thresholds of its own; its variance comes from the same sets by the
infinitesimal jackknife (Efron 2014), and from the test set by linearised residuals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, argument
from priori.base.types import Floats, Ints
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.engines import Table
from priori.scores import BOUND, Scores, ScoreSet, Trials, condense_all, counts_of
from priori.scores.histogram import most_between
from priori.scores.influence import Moves
from priori.scores.score_set import mixed_sets
from priori.uncertainty.bootstrap.readers import Resampled, system_of, value_of
from priori.uncertainty.bootstrap.resampling import BootstrapPlan
from priori.uncertainty.expected.influences import (
    Estimates,
    Judged,
    Part,
    Units,
    group_units,
    influence_of,
    side_by_side,
    without_noise,
)
from priori.uncertainty.expected.smoothed_sets import ScoreAxis, score_axis, smoothed_sets

#: The most units that development sets are drawn from, and that the test set's variance comes from.
DEV_UNITS, TEST_UNITS = 400, 1000
#: With at least this many random parts, the trials of tables show how much sets vary.
FEWEST_PARTS = 30
#: Of fewer development users, or trials where users are not known, and of fewer development errors: a caution.
FEW_DEV_USERS, FEW_DEV_TRIALS, FEW_DEV_ERRORS = 30, 100, 5
#: Users who, weighed by their trials, count for fewer than this are few, however many they are: with 12 to 25 of 62 (by
#: Zipf) the test of methods rejected 5 % of true nulls.
FEW_EFFECTIVE = 10
#: Curves of more alphas than this are grids, whose ends nobody asked for.
GRID = 10
#: Monte Carlo noise is kept as this many random sums of the residuals of the sets.
NOISE_SUMS = 256
#: Values of the sets taken at once: some ten megabytes.
VALUES_AT_A_TIME = 1 << 20


def expected_values(curves: Sequence[EPC], plan: BootstrapPlan, *, unpaired: bool = False) -> Estimates:
    """Return the expected value of each system, thresholds chosen on a new development set like the one given.

    The curves have the same alphas and measure, and the same trials in the same order, or ``unpaired``
    each its own. What is drawn (trials, users, identities), the seed and whether both sets share their users are the
    plan's; one set of draws serves all systems.
    """
    if unpaired and len(curves) > 1:
        plans = [replace(plan, rng=plan.seed + k) for k in range(len(curves))]
        each = [expected_values([curve], own) for curve, own in zip(curves, plans, strict=True)]
        return side_by_side(each)
    sets = [curve.dev for curve in curves], [curve.test for curve in curves]
    by_user = plan.design.by_user
    dev_wholes, test_wholes = (in_one_order(each, by_user=by_user) for each in sets)
    systems = [system_of(curve) for curve in curves]
    _, axes, dev_units, weights, rejected = draw_sets(systems, dev_wholes, test_wholes, plan)
    tests = in_parts(sets[1], test_wholes, axes, [*rejected.swapaxes(0, 1)], TEST_UNITS, plan)
    test_units = units_of(tests, dev_wholes, test_wholes, plan, of_test=True)
    alpha, measure = curves[0].alpha, curves[0].measure
    values = np.empty(rejected.shape)

    def judged() -> Iterator[Judged]:
        for s, (test, axis) in enumerate(zip(tests, axes, strict=True)):
            found = judge(test, axis, rejected[:, s], measure, alpha)
            values[:, s] = found.values
            yield found

    moved, share = influence_of(tests, judged(), test_units)
    # Crossed units are drawn in both roles on this side too; what that counts twice is known from the test set.
    expected, root = values.mean(axis=0), np.sqrt(share)
    values *= root
    dev, noise = jackknife(weights, values, dev_units[0])
    parts = _parts(dev, noise, moved, dev_units[0], test_units[0], plan)
    errors = [curve.dev_outcomes.fp + curve.dev_outcomes.fn for curve in curves]
    notes = cautions(curves[0].alpha, errors, [dev_units[0], test_units[0]], by_user=by_user)
    if not by_user and any(each.scanned for each in (*sets[0], *sets[1])):
        counted = zip((*dev_wholes, *test_wholes), (*axes, *axes), strict=True)
        most = max(most_between(whole, axis.thresholds(axis.every)) for whole, axis in counted)
        text = f"paired systems, resampled by random parts of their trials in {max(axis.n_bins for axis in axes)} bins"
        notes = (Caution("resampled-in-bins", f"{text}: no rate is off by more than {most:.1e}"), *notes)
    return Estimates(expected, parts, notes)


class DrawnSets(NamedTuple):
    """Smoothed development sets of some systems: what they were drawn from, and the thresholds chosen on them.

    ``weights`` is how often each unit came (sets, units), ``rejected`` how many bins of its axis the thresholds of each
    system reject (sets, systems, alphas).
    """

    devs: list[Scores]
    axes: list[ScoreAxis]
    units: list[Units]
    weights: Floats
    rejected: NDArray[np.int32]


def draw_sets(
    systems: Sequence[Resampled], dev_wholes: Sequence[Scores], test_wholes: Sequence[Scores], plan: BootstrapPlan
) -> DrawnSets:
    """Draw smoothed development sets and choose the thresholds of every system on each of them."""
    axes = [score_axis(dev, test) for dev, test in zip(dev_wholes, test_wholes, strict=True)]
    every = [axis.every for axis in axes]
    devs = in_parts([system.dev for system in systems], dev_wholes, axes, every, DEV_UNITS, plan)
    units = units_of(devs, dev_wholes, test_wholes, plan)
    return DrawnSets(devs, axes, units, *smoothed_sets(systems, devs, dev_wholes, axes, units, plan))


class Binned(NamedTuple):
    """The bins that the trials of either class lie in, and how many trials of each lie below every bin."""

    bins: tuple[Ints, Ints]
    below: tuple[Floats, Floats]

    @classmethod
    def of(cls, test: Scores, axis: ScoreAxis) -> Binned:
        """Put trials into the bins of an axis."""
        bins = axis.bins(test.negative.score), axis.bins(test.positive.score)
        weights = test.negative_weights, test.positive.number
        negatives, positives = (
            np.append(0.0, np.cumsum(np.bincount(own, number, axis.n_bins)))
            for own, number in zip(bins, weights, strict=True)
        )
        return cls(bins, (negatives, positives))

    def outcomes(self, rejected: NDArray[Any]) -> Outcomes:
        """Return the outcomes where so many bins are rejected (rows)."""
        tn, fn = (below[:, None] for below in self.below)
        return Outcomes(*(count[rejected] for count in (fn[-1] - fn, tn[-1] - tn, tn, fn)))


def judge(
    test: Scores,
    axis: ScoreAxis,
    rejected: NDArray[np.int32],
    measure: Measure,
    alpha: Floats,
    binned: Binned | None = None,
) -> Judged:
    """Judge a system at thresholds (sets, alphas), given as the number of bins that they reject."""
    bins, (tn, fn) = binned = binned or Binned.of(test, axis)
    visited, index = np.unique(rejected, return_inverse=True)
    index = index.reshape(rejected.shape)
    seen = binned.outcomes(visited)
    value = value_of(measure, seen, alpha)
    share = np.stack([np.bincount(column, minlength=visited.size) for column in index.T], axis=1) / len(rejected)
    step = 1e-6 * float(tn[-1] + fn[-1])
    sums = []
    for name in ("tp", "fp", "tn", "fn"):
        moved = replace(seen, **{name: getattr(seen, name) + step})
        slope = share * (value_of(measure, moved, alpha) - value) / step
        sums.append(np.concatenate([np.zeros((1, alpha.size)), np.cumsum(slope, axis=0)]))
    of_tp, of_fp, of_tn, of_fn = sums
    # A trial in bin j is accepted where at most j bins are rejected.
    rank = [np.searchsorted(visited, own, side="right") for own in bins]
    moves = Moves(rank[0], of_fp + of_tn[-1] - of_tn), Moves(rank[1], of_tp + of_fn[-1] - of_fn)
    return Judged(value[index, np.arange(alpha.size)], moves)


def cautions(
    alpha: Floats, errors: Sequence[NDArray[Any]], units: Sequence[Units], *, by_user: bool
) -> tuple[Caution, ...]:
    """Return where the expected value is not to be trusted: few or unequal units, few errors, alphas at the ends.

    ``errors`` are those on the development set, by system; the first of the ``units`` are its own.
    """
    result = []
    fewest = int(np.count_nonzero(units[0].sizes, axis=1).min())
    name, few = ("users", FEW_DEV_USERS) if by_user else ("trials", FEW_DEV_TRIALS)
    if fewest < few:
        text = f"{fewest} development {name} in a class: too few (under {few}) to show how thresholds vary"
        result.append(Caution("few-dev-users" if by_user else "small-development", text))
    if by_user and fewest >= FEW_EFFECTIVE > min(each.effective for each in units):
        result.append(
            Caution("few-units", f"users count for fewer than {FEW_EFFECTIVE}: a test of methods rejects too often")
        )
    inside = (alpha > 0) & (alpha < 1)
    if inside.any() and min(int(each[inside].min()) for each in errors) < FEW_DEV_ERRORS:
        text = f"fewer than {FEW_DEV_ERRORS} development errors at some alphas"
        result.append(Caution("small-development", f"{text}: the expected value is unreliable there"))
    return (*result, *ends(alpha))


def ends(alpha: Floats) -> tuple[Caution, ...]:
    """Return a caution where new thresholds are chosen at alpha 0 or 1: they are then the extreme scores of a set."""
    reached = [f"{end:g}" for end in (0.0, 1.0) if end in alpha]
    if not reached or alpha.size > GRID:
        return ()
    where = f"alpha {' and '.join(reached)}"
    return (
        Caution("ends", f"{where}: no bootstrap can resample beyond the extreme score; no coverage is claimed there"),
    )


def units_of(
    sets: Sequence[Scores],
    devs: Sequence[Scores],
    tests: Sequence[Scores],
    plan: BootstrapPlan,
    *,
    of_test: bool = False,
) -> list[Units]:
    """Return the units of each system's development set, or of its test set."""
    design, most = plan.design, TEST_UNITS if of_test and not plan.shared_users else DEV_UNITS
    units = []
    for scores, dev, test in zip(sets, devs, tests, strict=True):
        known = design.identities([dev, test], shared=plan.shared_users)[of_test] if design.by_user else None
        units.append(group_units(scores, plan, most, known))
    if len({each.count for each in units}) > 1:
        raise InputError(f"the systems have different users: use compare with {argument('unpaired', 'True')}")
    return units


def _parts(
    dev: Floats, noise: Floats, test: Floats, dev_units: Units, test_units: Units, plan: BootstrapPlan
) -> tuple[Part, ...]:
    """Return the sources of variation: two sets, or one set of users that are in both."""
    if plan.shared_users:
        both = without_noise(dev + test, noise)
        sizes = [units.sizes / units.sizes.sum(axis=1, keepdims=True) for units in (dev_units, test_units)]
        return (Part(both, dev_units.degrees(both, sizes[0] + sizes[1])),)
    moved = without_noise(dev, noise)
    return Part(test, test_units.degrees(test)), Part(moved, dev_units.degrees(moved))


def jackknife(weights: Floats, values: Floats, units: Units) -> tuple[Floats, Floats]:
    """Return the influence of each unit on the mean of the values, and rows whose squares are its Monte Carlo noise.

    The infinitesimal jackknife, the covariance of weights and values over the sets, by least squares: what other units
    do to the values is no noise then.
    """
    (sets, *shape), strata = values.shape, units.strata.size - 1
    values = values.reshape(sets, -1)
    drawn = weights - 1
    gram = drawn.T @ drawn / sets
    for start, end in pairwise(units.strata):
        gram[start:end, start:end] += 1 / (end - start)  # weights of a stratum add up to 0: any number would do here
    inverse = np.linalg.inv(gram)
    free = units.count - strata
    size = (np.trace(inverse) - strata) / sets / (sets - free) * units.count / max(free, 1)
    sums = min(NOISE_SUMS, sets)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(sums, sets))
    influence, noise = np.empty((units.count, values.shape[1])), np.empty((sums, values.shape[1]))
    step = max(1, VALUES_AT_A_TIME // sets)
    for first in range(0, values.shape[1], step):
        part = slice(first, first + step)
        deviations = values[:, part] - values[:, part].mean(axis=0)
        influence[:, part] = inverse @ (drawn.T @ deviations) / sets
        noise[:, part] = signs @ (deviations - drawn @ influence[:, part])
    influence, noise = units.correction * influence, np.sqrt(size / sums) * noise
    return influence.reshape(-1, *shape), noise.reshape(-1, *shape)


# -- what units are drawn from ---------------------------------------------------------------------------------------


def in_one_order(sets: Sequence[ScoreSet], *, by_user: bool) -> list[Scores]:
    """Return the trials of each system in one order; of tables by trials all of it in narrow bins, in no order."""
    tables = [each for each in sets if isinstance(each, Table)]
    if not tables or by_user:
        known = [each.load() for each in sets]
        # Counts of trials are written out to be drawn, unless users come with all of theirs.
        return _in_order([each if by_user or each.negative.number is None else _written_out(each) for each in known])
    if len(tables) < len(sets):
        raise mixed_sets()
    return [entries for entries, _ in condense_all(tables, narrow=BOUND, said="resampled")]


def in_parts(
    sets: Sequence[ScoreSet],
    whole: Sequence[Scores],
    axes: Sequence[ScoreAxis],
    bins: Sequence[NDArray[Any]],
    most: int,
    plan: BootstrapPlan,
) -> list[Scores]:
    """Return the sets as they are, or tables counted by random parts of the trials, as many units as fit.

    A trial is in the same part whichever system scored it; which is which does not matter within one. Counts are exact
    at the thresholds that reject these ``bins`` of each axis.
    """
    tables = [each for each in sets if isinstance(each, Table)]
    if whole[0].negative.number is None or not tables:
        return list(whole)
    cuts = [np.unique(axis.thresholds(own)) for axis, own in zip(axes, bins, strict=True)]
    number = most // (1 if plan.design.draws_rows else 2)  # trials are drawn class by class
    parts = min(table.parts_at_most(number, cut.size) for table, cut in zip(tables, cuts, strict=True))
    if parts < FEWEST_PARTS:
        raise OptionError(
            f"{tables[0].source}: only {parts} random parts of the trials fit in the {tables[0].memory // 10**6} MB "
            f"given, too few; raise {argument('memory')}"
        )
    return counts_of(tables, cuts, parts)


def _written_out(scores: Scores) -> Scores:
    classes = scores.negative, scores.positive
    written = [Trials(np.repeat(each.score, 1 if each.number is None else each.number)) for each in classes]
    return Scores(written[0], written[1], source=scores.source)


def _in_order(sets: Sequence[Scores]) -> list[Scores]:
    """Return the sets with their trials in one order, by user and scores: that in which they came changes nothing."""
    orders = []
    for classes in ([scores.negative for scores in sets], [scores.positive for scores in sets]):
        if any(trials.number is not None for trials in classes) or len({len(trials) for trials in classes}) > 1:
            return list(sets)
        first = classes[0]
        names = [codes for codes in (first.probe_user, first.user) if codes is not None]
        keys: list[NDArray[Any]] = [*(trials.score for trials in reversed(classes)), *names]
        orders.append(np.lexsort(keys))
    return [
        replace(scores, negative=scores.negative.take(orders[0]), positive=scores.positive.take(orders[1]))
        for scores in sets
    ]
