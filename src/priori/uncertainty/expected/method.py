"""The expected value of a system as a method: tuned on a development set like this one, judged on the population.

The observed value depends on the luck of one threshold. Here the same expectation is estimated by the mean over
smoothed bootstrap development sets, each with thresholds of its own; its variance comes from the same sets by the
infinitesimal jackknife (Efron 2014), and from the test set by linearised residuals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, argument
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC
from priori.engines import Table
from priori.scores import BOUND, Scores, ScoreSet, Trials, condense_all, counts_of
from priori.scores.histogram import most_between
from priori.scores.score_set import mixed_sets
from priori.uncertainty.bootstrap.layout import Owners
from priori.uncertainty.bootstrap.readers import system_of
from priori.uncertainty.bootstrap.resampling import BootstrapPlan
from priori.uncertainty.expected.estimates import Estimates, Part, side_by_side
from priori.uncertainty.expected.influences import (
    Judged,
    Units,
    group_units,
    influence_of,
    judge,
    part_units,
    row_units,
    without_noise,
)
from priori.uncertainty.expected.score_axis import ScoreAxis, score_axis
from priori.uncertainty.expected.smoothed_sets import smoothed_sets

#: The most units that development sets are drawn from, and that the test set's variance comes from.
DEV_UNITS, TEST_UNITS = 400, 1000
#: So many random parts of the trials of tables at least tell how much sets vary.
FEWEST_PARTS = 30
#: Of fewer development users, or trials where users are not known, and of fewer development errors: a caution.
FEW_USERS, FEW_TRIALS, FEW_ERRORS = 30, 100, 5
#: Units are unequal where, weighed by their trials, they count for less than this share of their number.
UNEQUAL = 0.6
#: Curves of more alphas are grids, whose ends nobody asked for.
GRID = 10
#: Monte Carlo noise is kept as so many random sums of what is left in the sets.
NOISE_SUMS = 256
#: Values of the sets that are taken at a time: some ten megabytes.
VALUES_AT_A_TIME = 1 << 20


def expected_values(
    curves: Sequence[EPC],
    plan: BootstrapPlan,
    *,
    unpaired: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Estimates:
    """Return the expected value of each system, thresholds chosen on a new development set like the one given.

    The curves have the same alphas, measure and criterion, and the same trials in the same order, or ``unpaired``
    each its own. What is drawn (trials, users, identities), the seed and whether both sets share their users are the
    plan's; one set of draws serves all systems.
    """
    if unpaired and len(curves) > 1:
        plans = [replace(plan, rng=plan.seed + k) for k in range(len(curves))]
        run = partial(expected_values, threads=threads, progress=progress)
        return side_by_side([run([curve], own) for curve, own in zip(curves, plans, strict=True)], apart=True)
    systems = [system_of(curve) for curve in curves]
    sets = [curve.dev for curve in curves], [curve.test for curve in curves]
    by_user = plan.design.by_user
    dev_wholes, test_wholes = (_in_one_order(each, by_user=by_user) for each in sets)
    axes = [score_axis(dev, test) for dev, test in zip(dev_wholes, test_wholes, strict=True)]
    of_units = 1 if plan.design.draws_rows else 2  # trials are drawn class by class
    devs = _in_parts(sets[0], dev_wholes, axes, [axis.every for axis in axes], DEV_UNITS // of_units)
    dev_units = _units(devs, dev_wholes, test_wholes, plan)
    weights, rejected = smoothed_sets(
        systems, devs, dev_wholes, axes, dev_units, plan.seed, threads=threads, progress=progress
    )
    tests = _in_parts(sets[1], test_wholes, axes, [*rejected.swapaxes(0, 1)], TEST_UNITS // of_units)
    test_units = _units(tests, dev_wholes, test_wholes, plan, of_test=True)
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
    dev, noise = _jackknife(weights, values, dev_units[0])
    parts = _parts(dev, noise, moved, dev_units[0], test_units[0], plan)
    notes = cautions(curves, dev_units[0], test_units[0], by_user=by_user)
    if not by_user and any(each.scanned for each in (*sets[0], *sets[1])):
        notes = (_bins_caution([dev_wholes, test_wholes], axes), *notes)
    return Estimates(expected, parts, notes)


def cautions(curves: Sequence[EPC], dev: Units, test: Units, *, by_user: bool) -> tuple[Caution, ...]:
    """Return where the expected value is not to be trusted: few or unequal units, few errors, alphas at the ends."""
    result = []
    fewest = int(np.count_nonzero(dev.sizes, axis=1).min())
    name, few = ("users", FEW_USERS) if by_user else ("trials", FEW_TRIALS)
    if fewest < few:
        text = (
            f"{fewest} development {name} in a class: fewer than {few} hardly show how thresholds vary, "
            "least near alpha 0 and 1"
        )
        result.append(Caution("few-dev-users", text) if by_user else Caution("few-dev-trials", text))
    if by_user and min(units.evenness for units in (dev, test)) < UNEQUAL:
        result.append(
            Caution(
                "few-units",
                "few users have most of the trials: a test of methods then rejects somewhat more often than it says",
            )
        )
    alpha = curves[0].alpha
    inside = (alpha > 0) & (alpha < 1)
    errors = [(curve.dev_outcomes.fp + curve.dev_outcomes.fn)[inside] for curve in curves]
    if inside.any() and min(int(each.min()) for each in errors) < FEW_ERRORS:
        result.append(
            Caution(
                "few-dev-errors",
                f"fewer than {FEW_ERRORS} development errors at some alphas: the expected value is unreliable there",
            )
        )
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


def _units(
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
        identities: Owners | None = None
        if design.by_user:
            identities = design.identities([dev, test], shared=plan.shared_users)[of_test]
        elif scores.negative.number is not None:
            identities = part_units(scores)
        elif design.draws_rows:
            identities = row_units(scores)
        by_class = not (design.by_user or design.draws_rows)
        units.append(group_units(scores, identities, most, plan.seed, by_class=by_class))
    if len({each.count for each in units}) > 1:
        raise InputError(f"the systems have other users: compare them unpaired ({argument('unpaired', 'True')})")
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


def _jackknife(weights: Floats, values: Floats, units: Units) -> tuple[Floats, Floats]:
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


def _in_one_order(sets: Sequence[ScoreSet], *, by_user: bool) -> list[Scores]:
    """Return the trials of each system in one order; of tables by trials all of it in narrow bins, in no order."""
    tables = [each for each in sets if isinstance(each, Table)]
    if not tables or by_user:
        return _in_order([_written_out(each.load(), by_user) for each in sets])
    if len(tables) < len(sets):
        raise mixed_sets()
    return [entries for entries, _ in condense_all(tables, narrow=BOUND, said="resampled")]


def _in_parts(
    sets: Sequence[ScoreSet],
    whole: Sequence[Scores],
    axes: Sequence[ScoreAxis],
    bins: Sequence[NDArray[Any]],
    number: int,
) -> list[Scores]:
    """Return the sets as they are, or tables counted by random parts of the trials, ``number`` of them if they fit.

    A trial is in the same part whichever system scored it; which is which does not matter within one. Counts are exact
    at the thresholds that reject these ``bins`` of each axis.
    """
    tables = [each for each in sets if isinstance(each, Table)]
    if whole[0].negative.number is None or not tables:
        return list(whole)
    cuts = [np.unique(axis.thresholds(own)) for axis, own in zip(axes, bins, strict=True)]
    parts = min(table.parts_at_most(number, cut.size) for table, cut in zip(tables, cuts, strict=True))
    if parts < FEWEST_PARTS:
        raise OptionError(
            f"{tables[0].source}: {parts} random parts of the trials are what the {tables[0].memory // 10**6} MB given "
            f"can count in, too few; raise {argument('memory')}"
        )
    return counts_of(tables, cuts, parts)


def _bins_caution(wholes: Sequence[Sequence[Scores]], axes: Sequence[ScoreAxis]) -> Caution:
    """Say in how many bins paired tables are counted, and what most of a class lies in a bin of several scores."""
    cuts = [axis.thresholds(axis.every) for axis in axes]
    most = max(most_between(scores, cut) for whole in wholes for scores, cut in zip(whole, cuts, strict=True))
    bins = max(axis.n_bins for axis in axes)
    return Caution(
        "resampled-in-bins",
        f"paired systems, resampled by random parts of their trials in {bins} bins: no rate is off by more than "
        f"{most:.1e}",
    )


def _written_out(scores: Scores, by_user: bool) -> Scores:
    """Return a set whose trials can be drawn: counts of trials written out, unless users come with all of theirs."""
    if by_user or scores.negative.number is None:
        return scores
    negative, positive = (
        Trials(np.repeat(trials.score, 1 if trials.number is None else trials.number))
        for trials in (scores.negative, scores.positive)
    )
    return Scores(negative, positive, source=scores.source)


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
