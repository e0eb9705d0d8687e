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
from priori.base.processors import processors
from priori.base.types import Floats, Index, Ints, Mask
from priori.curves.epc import EPC
from priori.curves.roc import a_posteriori_auc, a_posteriori_eer, a_posteriori_min_dcf
from priori.decisions.outcomes import Outcomes
from priori.engines import Table, ask_together
from priori.scores import Scores, ScoreSet
from priori.uncertainty.bands import value_of
from priori.uncertainty.bootstrap.designs import Bootstrap
from priori.uncertainty.bootstrap.kernel_sets import TEST_USERS
from priori.uncertainty.bootstrap.plans import BootstrapPlan, Identities
from priori.uncertainty.bootstrap.run import load_kernel
from priori.uncertainty.ranks import told_apart
from priori.uncertainty.units import part_units

#: What systems are ranked by on the test set itself.
Against = Literal["eer", "min_dcf", "auc"]
#: Each with its title, and how it is computed from a test set.
POSTERIORS: dict[Against, tuple[str, Callable[[ScoreSet], float]]] = {
    "eer": ("EER", a_posteriori_eer),
    "min_dcf": ("minDCF", a_posteriori_min_dcf),
    "auc": ("AUC", a_posteriori_auc),
}
#: The costs of a miss and a false alarm, and the prior, of minDCF.
DCF = (10.0, 1.0, 0.01)
#: Weights held at a time: some ten megabytes.
AT_A_TIME = 1 << 20
#: Scanned tables whose cells are held at a time, and the share of themselves by which rates change within a cell.
TABLES_AT_A_TIME, RESOLUTION = 32, 1 / 16
#: Random parts of the trials of scanned tables, where these have no users.
PARTS = 500
#: The purpose of the streams that draw trials, class by class; those of the kernels are lower.
DRAWN = 3_000_001


def draw_both(
    curves: Sequence[EPC], plan: BootstrapPlan, against: Against, draws: int, *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Return the values of the systems in each draw, (draws, systems): at fixed thresholds, and a posteriori.

    The curves have one alpha, and hold the same trials in the same order; of tables that are scanned, their users (or
    random parts of their trials) are drawn, and cells between which rates change little stand for trials.
    """
    if any(curve.test.scanned for curve in curves):
        return _draw_counted(curves, plan, against, draws)
    tests = [curve.test.load() for curve in curves]
    orders = [_score_order(test) for test in tests]
    before, after = np.empty((draws, len(curves))), np.empty((draws, len(curves)))
    step = max(1, AT_A_TIME // max(len(tests[0]), 1))
    with ThreadPoolExecutor(max(1, threads or processors())) as pool:
        for start in range(0, draws, step):
            rows = slice(start, min(start + step, draws))
            weights = _weights(tests[0], plan, start, rows.stop - start)

            def work(system: int, rows: slice = rows, weights: Floats = weights) -> None:
                before[rows, system] = _at_threshold(curves[system], tests[system], weights)
                after[rows, system] = _a_posteriori(weights, *orders[system], len(tests[system].negative), against)

            list(pool.map(work, range(len(curves))))
    return before, after


def can_draw_tables(design: Bootstrap) -> bool:
    """Tell whether counts by user, or by random parts of the trials, are enough to draw scanned tables."""
    return design.whole_users or not design.by_user


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
        users = plan.design.identities([tables[0].by_user(np.empty(0))])[0].count
        weights = [_drawn(plan, users, TEST_USERS, 0, draws)] * 2
    else:
        parts = min(table.parts_at_most(PARTS, cut.size) for table, cut in zip(tables, cuts, strict=True))
        weights = [_drawn(plan, parts, DRAWN + own_class, 0, draws) for own_class in range(2)]
    for start in range(0, len(curves), TABLES_AT_A_TIME):
        some = range(start, min(start + TABLES_AT_A_TIME, len(curves)))
        works = [
            partial(tables[s].by_user, cuts[s]) if plan.design.by_user else partial(tables[s].in_parts, cuts[s], parts)
            for s in some
        ]
        for s, cells in zip(some, ask_together(works, tables), strict=True):
            people = plan.design.identities([cells])[0] if plan.design.by_user else part_units(cells)
            values[:, :, s] = _on_cells(curves[s], cells, people, cuts[s], weights, against)
    return values[0], values[1]


def _on_cells(
    curve: EPC, cells: Scores, people: Identities, cuts: Floats, weights: Sequence[Floats], against: Against
) -> tuple[Floats, Floats]:
    """Return the measure at the curve's threshold and the figure a posteriori, in each draw of people, by class."""
    gaps, drawn = cuts.size + 1, []
    for trials, codes, drawn_people in zip(
        (cells.negative, cells.positive), (people.negative, people.positive), weights, strict=True
    ):
        gap, number = np.searchsorted(cuts, trials.score, side="left"), drawn_people.shape[1]
        counted = np.bincount(codes.astype(np.int64) * gaps + gap, trials.number, number * gaps)
        drawn.append(drawn_people @ counted.reshape(number, gaps))
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
        negative = negative * users[:, people.negative_partner]
    return np.asfortranarray(np.hstack([negative, users[:, people.positive]]))


def _drawn(plan: BootstrapPlan, number: int, stream: int, first: int, draws: int) -> Floats:
    """Return how often each of so many comes in the draws."""
    multiplicity = np.empty((draws, number))
    load_kernel("multiplicities")(first, plan.seed, 1, number, 0, stream, multiplicity)
    return multiplicity


def _at_threshold(curve: EPC, test: Scores, weights: Floats) -> Floats:
    """Return the measure at the curve's threshold, in each draw."""
    threshold, negatives = curve.threshold[0], len(test.negative)
    errors = np.zeros((negatives + len(test.positive), 4))  # false and all negatives, then positives
    errors[:negatives, 0], errors[:negatives, 1] = test.negative.score > threshold, 1
    errors[negatives:, 2], errors[negatives:, 3] = test.positive.score <= threshold, 1
    fp, negative, fn, positive = np.rint(weights @ errors).astype(np.int64).T[:, :, None]
    outcomes = Outcomes(tp=positive - fn, fp=fp, tn=negative - fp, fn=fn)
    return value_of(curve.measure, outcomes, curve.alpha)[:, 0]


def _score_order(test: Scores) -> tuple[Index, Mask]:
    """Return the order of the trials by score, and where in it each run of equal scores ends."""
    scores = np.concatenate([test.negative.score, test.positive.score])
    order = np.argsort(scores, kind="stable")
    return order, np.append(np.diff(scores[order]) > 0, True)


def _a_posteriori(weights: Floats, order: Index, last: Mask, negatives: int, against: Against) -> Floats:
    """Return the equal error rate, the smallest detection cost or the area under the ROC of each draw."""
    from priori.uncertainty.bootstrap import weighted_rocs

    cost_fn, cost_fp, prior = DCF
    figure, found = getattr(weighted_rocs, against.upper()), np.empty(len(weights))
    kernel = load_kernel("along_the_curve", "weighted_rocs", figure)
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


def tau_interval(tau: float, drawn: Floats, level: float, pairs: int) -> tuple[float, float]:
    """Return the interval of Kendall's tau between the true rankings of so many ``pairs`` of systems.

    A normal one on Fisher's scale, and a pair wider for what lies between two pairs. Noise brings systems out of order:
    the tau observed is nearer to 0 than the true one, and that of the draws nearer still, by about as much. The
    interval allows for that on the side where the true one is.
    """
    from scipy.special import ndtri

    limit, deviates = 1 - 1 / pairs, float(ndtri((1 + level) / 2))
    centre, draws = (np.arctanh(np.clip(found, -limit, limit)) for found in (tau, drawn))
    nearer, reach = centre - draws.mean(), deviates * draws.std()
    lower, upper = min(centre, centre + nearer) - reach, max(centre, centre + nearer) + reach
    return float(max(np.tanh(lower) - 1 / pairs, -1.0)), float(min(np.tanh(upper) + 1 / pairs, 1.0))


def moved_ranks(shift: Ints, drawn: Ints, level: float) -> tuple[Floats, Floats, Mask]:
    """Return simultaneous intervals of how many ranks each system gains, and which of them exclude 0."""
    spread = np.maximum(drawn.std(axis=0), 1e-9)
    largest = np.sort((np.abs(drawn - drawn.mean(axis=0)) / spread).max(axis=1))
    half = largest[min(int(np.ceil(level * largest.size)), largest.size) - 1] * spread
    lower, upper = shift - half, shift + half
    return lower, upper, (lower > 0) | (upper < 0)
