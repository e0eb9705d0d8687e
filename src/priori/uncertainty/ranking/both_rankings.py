"""Both rankings under resampling: systems at thresholds fixed in advance, and at the best their test sets allow.

One draw of users (or trials, or identities) serves both, so that what they have in common cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.curves.roc import all_aucs, all_eers, all_min_dcfs
from priori.engines import Table
from priori.scores import Scores, ScoreSet, counts_of
from priori.scores.influence import People
from priori.scores.score_set import Role
from priori.uncertainty.bands.bands import value_of
from priori.uncertainty.bootstrap.designs import Bootstrap
from priori.uncertainty.bootstrap.draws import TEST_USERS, load_kernel, rows_for, whole_units
from priori.uncertainty.bootstrap.layout import Owners, bins_between, distinct_scores
from priori.uncertainty.bootstrap.readers import gather, outcomes_at
from priori.uncertainty.bootstrap.resampling import BootstrapPlan
from priori.uncertainty.expected.influences import part_units

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
#: Of more trials, bins stand for them in memory too.
MANY = 1 << 16
#: Groups that trials of each class are drawn in where users are not, and there are many.
GROUPS = 1 << 12
#: Scanned tables whose bins are held at a time, and the share of themselves by which rates change within a bin.
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

    The curves have one alpha, and hold the same trials in the same order. Of many trials, bins between which rates
    change little stand for them; of tables that are scanned, users (or random parts of their trials) are drawn.
    """
    if any(curve.test.scanned for curve in curves):
        return _draw_counted(curves, plan, against, draws)
    tests = [curve.test.load() for curve in curves]
    ends = [_relative_cuts(each, FINER) if len(tests[0]) > MANY else distinct_scores(each) for each in tests]
    cuts = [np.union1d(end, curve.threshold) for end, curve in zip(ends, curves, strict=True)]
    units = [_owners(tests[0], plan)] * len(curves)
    return _draw(curves, tests, cuts, units, plan, against, draws, threads)


def _draw(
    curves: Sequence[EPC],
    tests: Sequence[Scores],
    cuts: Sequence[Floats],
    owners: Sequence[Owners],
    plan: BootstrapPlan,
    against: Against,
    draws: int,
    threads: int | None,
) -> tuple[Floats, Floats]:
    """Return both values of each system from its counts between cuts, its threshold among them."""
    bins = [bins_between(test.unmixed, cut) for test, cut in zip(tests, cuts, strict=True)]
    purposes = (TEST_USERS, TEST_USERS) if plan.design.by_user else (DRAWN, DRAWN + 1)
    laid_out = whole_units(tests, bins, owners, purposes, plan.seed)
    cost_fn, cost_fp, prior = DCF
    kernel, figure = load_kernel("along_the_curve"), list(POSTERIORS).index(against)

    def work(first: int, rows: int) -> Floats:
        values = np.empty((rows, 2, len(curves)))
        for s, counts in enumerate(laid_out.counts(first, rows)):
            outcomes = outcomes_at(*counts, np.searchsorted(cuts[s], curves[s].threshold) + 1, tests[s].unmixed)
            values[:, 0, s] = value_of(curves[s].measure, outcomes, curves[s].alpha)[:, 0]
            kernel(*counts, figure, cost_fn * prior, cost_fp * (1 - prior), values[:, 1, s])
        return values.reshape(rows, -1)

    rows = rows_for(2 * len(curves), laid_out.work, laid_out.held)
    values = gather(work, draws, rows, threads=threads).reshape(draws, 2, len(curves))
    return values[:, 0], values[:, 1]


def can_draw_tables(design: Bootstrap) -> bool:
    """Tell whether counts by user, or by random parts of the trials, are enough to draw scanned tables."""
    return design.whole_users or not design.by_user


def _owners(test: Scores, plan: BootstrapPlan) -> Owners:
    """Return the units that are drawn: users; or trials class by class, of many in groups.

    A group is as large as others but for one, and nothing but chance has put it together: groups vary as trials do.
    """
    if plan.design.by_user:
        return plan.design.identities([test])[0]
    rng, found = np.random.default_rng(DRAWN), []
    for trials in (test.negative, test.positive):
        groups = trials.score.size if len(test) <= MANY else min(GROUPS, trials.score.size)
        group = np.arange(trials.score.size, dtype=np.int32) % groups
        found.append(People(rng.permutation(group), groups))
    return found[0], found[1]


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
    cuts = [np.union1d(tables[s].relative_cuts(RESOLUTION), curves[s].threshold) for s in range(len(curves))]
    parts = 0
    if not plan.design.by_user:
        parts = min(table.parts_at_most(PARTS, cut.size) for table, cut in zip(tables, cuts, strict=True))
    found = []
    for start in range(0, len(curves), TABLES_AT_A_TIME):
        some = slice(start, start + TABLES_AT_A_TIME)
        by: tuple[Role, ...] | int = parts or ("user",)
        counted = counts_of(tables[some], cuts[some], by)
        units = [_parts_of(each, parts) if parts else _owners(each, plan) for each in counted]
        found.append(_draw(curves[some], counted, cuts[some], units, plan, against, draws, None))
    before, after = (np.hstack(columns) for columns in zip(*found, strict=True))
    return before, after


def _parts_of(counted: Scores, parts: int) -> Owners:
    """Return the random parts that trials were counted by as units, class by class."""
    negative, positive = part_units(counted)
    return replace(negative, count=parts), replace(positive, count=parts)


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
