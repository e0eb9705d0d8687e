"""Both rankings under resampling: systems at thresholds fixed in advance, and at the best their test sets allow.

One draw of users (or trials, or identities) serves both, so that what they have in common cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal

import numpy as np

from priori.base.errors import OptionError
from priori.base.processors import thread_count
from priori.base.types import Codes, Floats, Index, Ints, Mask
from priori.curves.epc import EPC
from priori.curves.roc import all_aucs, all_eers, all_min_dcfs
from priori.decisions.outcomes import Outcomes
from priori.engines import Table
from priori.scores import Scores, ScoreSet, counts_of
from priori.scores.score_set import Role
from priori.scores.sorting import counts_by, gaps_of
from priori.uncertainty.bands import value_of, values_of
from priori.uncertainty.bootstrap.designs import Bootstrap
from priori.uncertainty.bootstrap.kernel_sets import TEST_USERS
from priori.uncertainty.bootstrap.plans import BootstrapPlan, Identities
from priori.uncertainty.bootstrap.run import load_kernel
from priori.uncertainty.ranks import told_apart
from priori.uncertainty.units import part_units

#: What systems are ranked by on the test set itself.
Against = Literal["eer", "min_dcf", "auc"]
#: Each with its title, and how it is computed from test sets.
POSTERIORS: dict[Against, tuple[str, Callable[[Sequence[ScoreSet]], list[float]]]] = {
    "eer": ("EER", all_eers),
    "min_dcf": ("minDCF", all_min_dcfs),
    "auc": ("AUC", all_aucs),
}
#: The costs of a miss and a false alarm, and the prior, of minDCF.
DCF = (10.0, 1.0, 0.01)
#: Weights held at a time: some ten megabytes.
AT_A_TIME = 1 << 20
#: From so many trials on, cells stand for them in memory too; draws that are counted together there.
MANY, TOGETHER = 1 << 16, 64
#: Groups that trials of each class are drawn in where users are not, and there are many.
GROUPS = 1 << 12
#: Scanned tables whose cells are held at a time, and the share of themselves by which rates change within a cell.
TABLES_AT_A_TIME, RESOLUTION = 32, 1 / 16
#: The same in memory.
FINER = 1 / 64
#: Random parts of the trials of scanned tables, where these have no users.
PARTS = 500
#: The purpose of the streams that draw trials, class by class; those of the kernels are lower.
DRAWN = 3_000_001


def draw_both(
    curves: Sequence[EPC], plan: BootstrapPlan, against: Against, draws: int, *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Return the values of the systems in each draw, (draws, systems): at fixed thresholds, and a posteriori.

    The curves have one alpha, and hold the same trials in the same order. Of many trials, cells between which rates
    change little stand for them; of tables that are scanned, users (or random parts of their trials) are drawn.
    """
    if any(curve.test.scanned for curve in curves):
        return _draw_counted(curves, plan, against, draws)
    tests = [curve.test.load() for curve in curves]
    if len(tests[0]) > MANY:
        return _draw_many(curves, tests, plan, against, draws, threads)
    orders, errors = [_score_order(test) for test in tests], _errors_at_thresholds(curves, tests)
    before, after = np.empty((draws, len(curves))), np.empty((draws, len(curves)))
    step = max(1, AT_A_TIME // max(len(tests[0]), 1))
    with ThreadPoolExecutor(thread_count(threads)) as pool:
        for start in range(0, draws, step):
            rows = slice(start, min(start + step, draws))
            weights = _weights(tests[0], plan, start, rows.stop - start)
            before[rows] = _at_thresholds(curves, weights, errors)

            def work(system: int, rows: slice = rows, weights: Floats = weights) -> None:
                after[rows, system] = _a_posteriori(weights, *orders[system], len(tests[system].negative), against)

            list(pool.map(work, range(len(curves))))
    return before, after


def can_draw_tables(design: Bootstrap) -> bool:
    """Tell whether counts by user, or by random parts of the trials, are enough to draw scanned tables."""
    return design.whole_users or not design.by_user


def _draw_many(
    curves: Sequence[EPC], tests: Sequence[Scores], plan: BootstrapPlan, against: Against, draws: int,
    threads: int | None,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Do the same with cells in place of trials. Where users are not drawn, groups of trials are: they vary as much."""
    classes = _owners(tests[0], plan)
    cuts = [np.union1d(_relative_cuts(test, FINER), curve.threshold) for test, curve in zip(tests, curves, strict=True)]
    kernel = load_kernel("add_in_cells", "weighted_rocs")
    values, one_each = np.empty((2, draws, len(curves))), np.empty(0)

    def work(system: int) -> None:
        test, cut = tests[system], cuts[system]
        cells = [gaps_of(cut, trials.score).astype(np.int32) for trials in (test.negative, test.positive)]
        for start in range(0, draws, TOGETHER):
            rows, drawn = slice(start, min(start + TOGETHER, draws)), []
            for (owner, partner, count, purpose), cell in zip(classes, cells, strict=True):
                weights = np.ascontiguousarray(_drawn(plan, count, purpose, start, rows.stop - start).T)
                sums = np.zeros((cut.size + 1, rows.stop - start))
                kernel(weights, owner, partner, one_each, cell, sums)
                drawn.append(sums.T)
            values[:, rows, system] = _at_cuts(curves[system], cut, drawn, against)

    with ThreadPoolExecutor(thread_count(threads)) as pool:
        list(pool.map(work, range(len(curves))))
    return values[0], values[1]


def _owners(test: Scores, plan: BootstrapPlan) -> list[tuple[Codes, Codes, int, int]]:
    """Return who the trials of each class come with, and with whom besides, how many are drawn, and by which stream.

    That is their user; or a group, as large as others but for one, that nothing but chance has put together.
    """
    nobody = np.empty(0, dtype=np.int32)
    if plan.design.by_user:
        people = plan.design.identities([test])[0]
        partner = nobody if people.negative_partner is None else people.negative_partner
        return [
            (people.negative, partner, people.count, TEST_USERS), (people.positive, nobody, people.count, TEST_USERS)
        ]  # fmt: skip
    rng, found = np.random.default_rng(DRAWN), []
    for number, trials in enumerate((test.negative, test.positive)):
        groups = min(GROUPS, len(trials))
        group = rng.permutation(np.arange(len(trials), dtype=np.int32) % groups)
        found.append((group, nobody, groups, DRAWN + number))
    return found


def _relative_cuts(test: Scores, share: float) -> Floats:
    """Return scores between which FAR and FRR change by at most about a share of themselves, or by one trial."""
    steps = np.log(max(test.n_negatives, test.n_positives)) / np.log1p(share)
    number = np.unique(np.rint((1 + share) ** np.arange(steps)).astype(np.int64))
    negatives, positives = test.negatives, test.positives
    return np.union1d(
        negatives[negatives.size - number[number <= negatives.size]], positives[number[number <= positives.size] - 1]
    )


def _draw_counted(curves: Sequence[EPC], plan: BootstrapPlan, against: Against, draws: int) -> tuple[Floats, Floats]:
    tables = [curve.test for curve in curves if isinstance(curve.test, Table)]
    if not can_draw_tables(plan.design) or len(tables) < len(curves):
        raise OptionError(
            "a leaderboard of scanned tables draws their users, or trials: choose the bootstrap user or sample, or "
            "read the table into memory"
        )
    values = np.empty((2, draws, len(curves)))
    cuts = [np.union1d(tables[s].relative_cuts(RESOLUTION), curves[s].threshold) for s in range(len(curves))]
    if plan.design.by_user:
        weights = [_drawn(plan, tables[0].n_users, TEST_USERS, 0, draws)] * 2
    else:
        parts = min(table.parts_at_most(PARTS, cut.size) for table, cut in zip(tables, cuts, strict=True))
        weights = [_drawn(plan, parts, DRAWN + own_class, 0, draws) for own_class in range(2)]
    for start in range(0, len(curves), TABLES_AT_A_TIME):
        some = range(start, min(start + TABLES_AT_A_TIME, len(curves)))
        by: tuple[Role, ...] | int = ("user",) if plan.design.by_user else parts
        for s, cells in zip(some, counts_of([tables[s] for s in some], [cuts[s] for s in some], by), strict=True):
            people = plan.design.identities([cells])[0] if plan.design.by_user else part_units(cells)
            values[:, :, s] = _on_cells(curves[s], cells, people, cuts[s], weights, against)
    return values[0], values[1]


def _on_cells(
    curve: EPC, cells: Scores, people: Identities, cuts: Floats, weights: Sequence[Floats], against: Against
) -> tuple[Floats, Floats]:
    """Return the measure at the curve's threshold and the figure a posteriori, in each draw of people, by class."""
    classes = (cells.negative, people.negative, weights[0]), (cells.positive, people.positive, weights[1])
    drawn = [
        each @ counts_by(codes, each.shape[1], gaps_of(cuts, trials.score), cuts.size + 1, trials.number)
        for trials, codes, each in classes
    ]
    return _at_cuts(curve, cuts, drawn, against)


def _at_cuts(curve: EPC, cuts: Floats, drawn: Sequence[Floats], against: Against) -> tuple[Floats, Floats]:
    """Return the same from how many negatives, and positives, each draw (row) has between cuts."""
    gaps = cuts.size + 1
    rejected = int(np.searchsorted(cuts, curve.threshold[0])) + 1
    tn, fn = (np.rint(each[:, :rejected].sum(axis=1)).astype(np.int64)[:, None] for each in drawn)
    negative, positive = (np.rint(each.sum(axis=1)).astype(np.int64)[:, None] for each in drawn)
    outcomes = Outcomes(tp=positive - fn, fp=negative - tn, tn=tn, fn=fn)
    order = np.stack([np.arange(gaps), np.arange(gaps) + gaps], axis=1).ravel()  # of each gap both classes
    last = np.arange(2 * gaps) % 2 == 1
    figure = _a_posteriori(np.asfortranarray(np.hstack(drawn)), order, last, gaps, against)
    return value_of(curve.measure, outcomes, curve.alpha)[:, 0], figure


def as_methods(drawn: Floats, expected: Floats, covariance: Floats, seed: int) -> Floats:
    """Return draws at fixed thresholds as draws of what systems are expected to show, with new thresholds.

    They lie around the expected values, and what their covariances lack of those given is added as normal noise: the
    part of the development set, of which the ranking a posteriori knows nothing.
    """
    lacking = covariance - np.cov(drawn, rowvar=False, bias=True)
    values, vectors = np.linalg.eigh(lacking)
    normal = np.random.default_rng((seed, DRAWN)).standard_normal(drawn.shape)
    added = (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(drawn - drawn.mean(axis=0) + expected + added)


def _weights(test: Scores, plan: BootstrapPlan, first: int, draws: int) -> Floats:
    """Return how often each trial, the negatives first, comes in the draws ``first``, ``first + 1``, ..."""
    drawn = partial(_drawn, plan, first=first, draws=draws)
    if not plan.design.by_user:
        return np.asfortranarray(np.hstack([drawn(len(test.negative), DRAWN), drawn(len(test.positive), DRAWN + 1)]))
    people = plan.design.identities([test])[0]
    users = drawn(people.count, TEST_USERS)
    negative = users[:, people.negative]
    if people.negative_partner is not None:
        crossed = people.negative_partner >= 0
        negative[:, crossed] *= users[:, people.negative_partner[crossed]]
    return np.asfortranarray(np.hstack([negative, users[:, people.positive]]))


def _drawn(plan: BootstrapPlan, number: int, stream: int, first: int, draws: int) -> Floats:
    """Return how often each of so many comes in the draws."""
    multiplicity = np.empty((draws, number))
    load_kernel("multiplicities")(first, plan.seed, 1, number, 0, stream, multiplicity)
    return multiplicity


def _errors_at_thresholds(curves: Sequence[EPC], tests: Sequence[Scores]) -> tuple[Mask, Mask]:
    """Return which negatives, and which positives (rows), are errors at the threshold of each system (columns)."""
    pairs = list(zip(curves, tests, strict=True))
    negative = np.stack([test.negative.score > curve.threshold[0] for curve, test in pairs], axis=1)
    return negative, np.stack([test.positive.score <= curve.threshold[0] for curve, test in pairs], axis=1)


def _at_thresholds(curves: Sequence[EPC], weights: Floats, errors: tuple[Mask, Mask]) -> Floats:
    """Return the measure at each curve's threshold, in each draw: products of matrices, for some systems at a time."""
    sides, values = np.split(weights, [len(errors[0])], axis=1), np.empty((len(weights), len(curves)))
    negative, positive = (np.rint(side.sum(axis=1)).astype(np.int64)[:, None] for side in sides)
    step = max(1, AT_A_TIME // max(weights.shape[1], 1))
    for start in range(0, len(curves), step):
        some = slice(start, start + step)
        fp, fn = (np.rint(side @ wrong[:, some]).astype(np.int64) for side, wrong in zip(sides, errors, strict=True))
        outcomes = Outcomes(tp=positive - fn, fp=fp, tn=negative - fp, fn=fn)
        values[:, some] = values_of(curves[some], outcomes)[:, 0]
    return values


def _score_order(test: Scores) -> tuple[Index, Mask]:
    """Return the order of the trials by score, and where in it each run of equal scores ends."""
    scores = np.concatenate([test.negative.score, test.positive.score])
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    return order, np.append(ordered[1:] != ordered[:-1], True)


def _a_posteriori(weights: Floats, order: Index, last: Mask, negatives: int, against: Against) -> Floats:
    """Return the equal error rate, the smallest detection cost or the area under the ROC of each draw."""
    from priori.uncertainty.bootstrap import weighted_rocs

    cost_fn, cost_fp, prior = DCF
    figure, found = getattr(weighted_rocs, against.upper()), np.empty(len(weights))
    kernel = load_kernel("along_the_curve", "weighted_rocs")
    kernel(weights.T, order, last, negatives, figure, cost_fn * prior, cost_fp * (1 - prior), found)
    return found


def kendall_tau(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of two sets of values along the last axis; 0 where one of them does not vary.

    Examples
    --------
    >>> kendall_tau(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 3])).round(4).item()
    0.6667
    """
    rounded = (told_apart(values) for values in (first, second))
    a, b = (np.sign(values[..., :, None] - values[..., None, :]) for values in rounded)
    concordant = (a * b).sum(axis=(-2, -1))
    untied = np.sqrt((a != 0).sum(axis=(-2, -1)) * (b != 0).sum(axis=(-2, -1)).astype(np.float64))
    return np.asarray(np.divide(concordant, untied, out=np.zeros_like(untied), where=untied > 0))


def tau_interval(rankings: Sequence[tuple[Floats, Floats]], level: float) -> tuple[float, float]:
    """Return the interval of Kendall's tau between two true rankings, of which values and draws of them are given.

    A pair of systems is in the order that both rankings show where its differences lie beyond a normal bound for all
    pairs of both together (Bonferroni); any other may be in the same order or not. Noise brings systems out of order,
    or into it, so that the tau observed and those of the draws tell little about the true one.
    """
    from scipy.special import ndtri

    order = np.ones(1)
    for values, drawn in rankings:
        first, second = np.triu_indices(values.size, 1)
        difference, covariance = (values[:, None] - values)[first, second], np.cov(drawn, rowvar=False)
        variance = (np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance)[first, second]
        far = -float(ndtri((1 - level) / (4 * first.size))) * np.sqrt(np.maximum(variance, 0.0))
        order = order * np.where(np.abs(told_apart(difference)) > far, np.sign(difference), 0)
    return float(np.mean(order - (order == 0))), float(np.mean(order + (order == 0)))


def moved_ranks(shift: Ints, drawn: Ints, level: float) -> tuple[Floats, Floats, Mask]:
    """Return simultaneous intervals of how many ranks each system gains, and which of them exclude 0."""
    spread = np.maximum(drawn.std(axis=0), 1e-9)
    largest = np.sort((np.abs(drawn - drawn.mean(axis=0)) / spread).max(axis=1))
    half = largest[min(int(np.ceil(level * largest.size)), largest.size) - 1] * spread
    lower, upper = shift - half, shift + half
    return lower, upper, (lower > 0) | (upper < 0)
