"""Running a plan: lay the sets out, go through the replicates in batches on all threads, gather a statistic."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from threading import local
from typing import Any, NamedTuple

import numpy as np

from priori.base.errors import OptionError
from priori.base.processors import thread_count
from priori.base.types import Floats, Ints, Progress
from priori.curves.epc import EPC
from priori.decisions.criteria import Criterion
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores, ScoreSet, Trials
from priori.scores.score_set import counted_apart
from priori.scores.sorting import counts_by, gaps_of
from priori.uncertainty.bootstrap.kernel_criteria import common_kind
from priori.uncertainty.bootstrap.kernel_sets import (
    BLOCK,
    TEST_TRIALS,
    TEST_USERS,
    Blocks,
    Side,
    in_blocks,
    lay_out,
    lay_out_counts,
    make_side,
)
from priori.uncertainty.bootstrap.mixtures import fold, scaled, stack_gaps
from priori.uncertainty.bootstrap.plans import BootstrapPlan, Identities

#: From the outcomes of each system, of shape (replicates, thresholds), and the number of the first replicate, to
#: an array of (replicates, numbers).
Statistic = Callable[[list[Outcomes], int], Floats]
#: Replicates first, first + 1, ...: as many as asked for.
Batch = Callable[[int, int], list[Outcomes]]

_log = logging.getLogger("priori")
_warned = False

#: From this many blocks of distinct development scores on it pays to choose among blocks first.
SEVERAL_BLOCKS = 1024
#: The most numbers in the matrix of users and thresholds; larger ones are kept sparse, and so are those that have more
#: than so many for each trial: a product takes that much less time for a number.
DENSE, SPARSE = 1 << 25, 64
#: Whole numbers below this are exact in single precision.
SINGLE = 1 << 24


class Resampled(NamedTuple):
    """One system to resample: its sets, and how its thresholds come about.

    ``thresholds`` are used where they stay fixed, ``criterion`` and ``fractions`` where they are chosen again.
    Systems resampled together hold the same trials in the same order.
    """

    test: ScoreSet
    thresholds: Floats
    dev: ScoreSet | None = None
    criterion: Criterion | None = None
    fractions: tuple[Fraction, ...] = ()


def system_of(curve: EPC) -> Resampled:
    """Return what the bootstrap needs of a curve."""
    fractions = curve.fractions or tuple(Fraction(float(alpha)) for alpha in curve.alpha)
    criterion, settled = curve.criterion.settled(curve.dev, fractions)
    return Resampled(curve.test, curve.threshold, curve.dev, criterion, tuple(settled))


def replicate(
    systems: Sequence[Resampled], plan: BootstrapPlan, statistic: Statistic, *,
    threads: int | None = None, progress: Progress | None = None, rows: int | None = None,
) -> Floats:  # fmt: skip
    """Return the statistic of every replicate: an array of (replicates, numbers).

    Replicate r depends on the plan alone, not on ``threads`` or on how many ``rows`` a batch has.
    """
    batch, fitting = _fixed(systems, plan) if plan.resample == "test" else _rechosen(systems, plan)

    def work(first: int, size: int) -> Floats:
        return statistic(batch(first, size), first)

    return gather(work, plan.n_resamples, rows or fitting, threads=threads, progress=progress, even=rows is None)


def gather(
    work: Callable[[int, int], Floats], total: int, rows: int, *,
    threads: int | None = None, progress: Progress | None = None, even: bool = True,
) -> Floats:  # fmt: skip
    """Do ``work(first, size)`` for all replicates on all threads, at most ``rows`` of them at a time.

    With ``even`` each thread gets several parts, so that none waits long for the last.
    """
    workers = thread_count(threads)
    step = max(1, min(rows, -(-total // (4 * workers)))) if even else rows
    finished = min(total, step, 8)  # a few, alone: this compiles, and tells the size of the rest
    values = work(0, finished)
    gathered = np.empty((total, values.shape[1]), dtype=values.dtype)
    gathered[:finished] = values
    parts = [(start, min(step, total - start)) for start in range(finished, total, step)]
    if progress:
        progress(finished, total)
    for (start, size), values in _each(work, parts, workers):
        gathered[start : start + size] = values
        finished += size
        if progress:
            progress(finished, total)
    return gathered


def _each(
    work: Callable[[int, int], Floats], parts: Sequence[tuple[int, int]], workers: int
) -> Iterator[tuple[tuple[int, int], Floats]]:
    """Yield the parts as they are done; one worker needs no thread of its own."""
    if workers == 1:
        for part in parts:
            yield part, work(*part)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        futures = {pool.submit(work, *part): part for part in parts}
        for finished in as_completed(futures):
            yield futures.pop(finished), finished.result()  # whoever keeps a future keeps its numbers
    finally:
        pool.shutdown(cancel_futures=True)


def load_kernel(name: str, module: str = "kernels") -> Any:
    """Import the kernels; say so where one has to be compiled, which happens once on a machine."""
    global _warned
    kernel = getattr(import_module(f"priori.uncertainty.bootstrap.{module}"), name)
    cached = Path(kernel.stats.cache_path or "/").glob(f"{module}.{kernel.__name__}-*.nbi")
    if not _warned and not kernel.signatures and not any(cached):
        _warned = True
        _log.warning("compiling the bootstrap kernels, once on this machine ...")
    return kernel


# -- thresholds fixed ----------------------------------------------------------------------------------------


def _fixed(systems: Sequence[Resampled], plan: BootstrapPlan) -> tuple[Batch, int]:
    """Return the batch function for fixed thresholds, and how many replicates to take at once."""
    if systems[0].test.unmixed is not systems[0].test:
        return _fixed_mixed(systems, plan)
    unique = [np.unique(system.thresholds, return_inverse=True) for system in systems]
    edges, columns = [edge for edge, _ in unique], [index for _, index in unique]
    design = plan.design
    identities: Identities | None = None
    if any(system.test.load().negative.weighted for system in systems if not system.test.scanned):
        tests = [system.test.load() for system in systems]
        return _by_product(tests, edges, columns, design.identities(tests[:1]) * len(tests), plan)
    if len(systems) == 1 and not design.by_user:
        urns, places = lay_out_counts(systems[0].test, edges[0])
    else:
        test, *others = (system.test for system in systems)
        gaps = 2 * sum(edge.size + 1 for edge in edges)
        if design.whole_users and test.n_users * gaps <= DENSE:
            apart = counted_apart([test, *others], edges)
            if apart is not None:
                return _by_product(apart, edges, columns, [design.identities([each])[0] for each in apart], plan)
        tests = test.count(edges, ("user",) if design.by_user else (), others)
        if design.by_user:
            identities = design.identities(tests[:1])[0]
            entries = tests[0].negative.score.size + tests[0].positive.score.size
            filled = SPARSE * entries * len(tests)
            if design.whole_users and identities.count * gaps <= min(DENSE, filled):
                return _by_product(tests, edges, columns, [identities] * len(tests), plan)
        urns, places = lay_out(tests, edges, plan, identities)
    width = max(edge.size for edge in edges)
    users = identities.count if identities is not None and design.draws_users else 0
    streams = (TEST_USERS + 4 * plan.streams, TEST_TRIALS + 4 * plan.streams)
    settings = (plan.seed, plan.inner, users, design.trial_draws, np.array(plan.future, dtype=np.int64), *streams)
    kernel = load_kernel("count_fixed")

    def batch(first: int, rows: int) -> list[Outcomes]:
        rejected = np.empty((rows, len(systems), 2, width), dtype=np.int64)
        totals = np.empty((rows, 2), dtype=np.int64)
        kernel(first, *settings, *urns, places, rejected, totals)
        sizes = totals[:, :1], totals[:, 1:]
        return [_outcomes(rejected[:, s, 0], rejected[:, s, 1], index, *sizes) for s, index in enumerate(columns)]

    entries = sum(urn.cell.size + urn.single.size for urn in urns)
    return batch, rows_for(len(systems) * max(index.size for index in columns), entries)


def _fixed_mixed(systems: Sequence[Resampled], plan: BootstrapPlan) -> tuple[Batch, int]:
    """Return the same where attacks have a share of their own: drawn on one axis, then brought together."""
    tests = [system.test.load() for system in systems]
    stacks = [stack_gaps(test, system.thresholds) for test, system in zip(tests, systems, strict=True)]
    drawn, rows = _fixed([Resampled(*stack) for stack in stacks], plan)

    def batch(first: int, rows: int) -> list[Outcomes]:
        each = zip(drawn(first, rows), tests, strict=True)
        return [fold(outcomes, test.omega) for outcomes, test in each if test.omega is not None]

    return batch, rows


def _outcomes(negative: Ints, positive: Ints, columns: Ints, negatives: Ints, positives: Ints) -> Outcomes:
    """Return the outcomes at some columns of the numbers rejected of each class."""
    tn, fn = negative[:, columns], positive[:, columns]
    return Outcomes(tp=positives - fn, fp=negatives - tn, tn=tn, fn=fn)


def _by_product(
    tests: Sequence[Scores], edges: Sequence[Floats], columns: Sequence[Ints], identities: Sequence[Identities],
    plan: BootstrapPlan,
) -> tuple[Batch, int]:  # fmt: skip
    """Return the batch function for users that come with all their trials: one product of matrices.

    Of each user the rejected trials at every edge are added up once; a replicate is a row of multiplicities. Whole
    numbers are exact in floating point, in single precision (half the time) where no replicate can have too many;
    users that weigh alike have others. ``identities`` are the users
    of each system's trials, by the same codes.
    """
    blocks, number = [], identities[0].count
    for test, edge, people in zip(tests, edges, identities, strict=True):
        for trials, users in ((test.negative, people.negative), (test.positive, people.positive)):
            by_user = counts_by(users, number, gaps_of(edge, trials.score), edge.size + 1, trials.number)
            blocks.append(np.cumsum(by_user, axis=1, dtype=np.float64))
    rejected = np.hstack(blocks)
    weighted, users_drawn = tests[0].negative.weighted, plan.future[0] or number
    if not weighted and rejected.max(initial=0) * users_drawn < SINGLE:
        rejected = rejected.astype(np.float32)
    starts = np.cumsum([block.shape[1] for block in blocks])[:-1]
    kernel, held = load_kernel("multiplicities"), local()

    def batch(first: int, rows: int) -> list[Outcomes]:
        if getattr(held, "rows", np.empty(0)).shape[:1] != (rows,):
            held.rows = np.empty((rows, number), rejected.dtype)  # kept by each thread: new memory takes as long
        kernel(first, plan.seed, plan.inner, number, plan.future[0], TEST_USERS + 4 * plan.streams, held.rows)
        added = held.rows @ rejected
        # Weights are rounded, so that what adds up to everything is everything.
        counts: Any = np.round(added, 9) if weighted else np.rint(added).astype(np.int64)
        sums = np.split(counts, starts, axis=1)
        return [
            _outcomes(negative, positive, index, negative[:, -1:], positive[:, -1:])
            for negative, positive, index in zip(sums[::2], sums[1::2], columns, strict=True)
        ]

    return batch, rows_for(rejected.shape[1], 8 * number)


# -- thresholds chosen again ---------------------------------------------------------------------------------


def _rechosen(systems: Sequence[Resampled], plan: BootstrapPlan) -> tuple[Batch, int]:
    """Return the batch function for thresholds chosen again, and how many replicates to take at once."""
    dev, test = _both_sides(systems, plan)
    fractions = systems[0].fractions
    kind = common_kind(systems, int(max(len(s.dev or ()) for s in systems)))
    mixed = dev.omega[1] > 0
    if kind is None:
        if mixed:
            raise OptionError("where attacks have a share of their own, new thresholds are chosen by wer only")
        return _by_criterion(systems, plan, dev, test), 16
    sides: tuple[Side, Side] | tuple[Blocks, Blocks] = dev, test
    kernel = load_kernel("count_rechosen")
    if _pays_in_blocks((dev, test)):
        sides = in_blocks(dev, plan, late=not plan.design.by_user), in_blocks(test, plan)
        kernel = load_kernel("count_rechosen_in_blocks", "blocks")

    def batch(first: int, rows: int) -> list[Outcomes]:
        errors = np.empty((rows, len(systems), 2, len(fractions)), dtype=np.int64)
        totals = np.empty((rows, 2), dtype=np.int64)
        kernel(first, plan.seed, plan.inner, plan.design.trial_draws, *sides, *kind, errors, totals)
        negatives, positives = totals[:, :1], totals[:, 1:]
        outcomes = [
            Outcomes(tp=positives - fn, fp=fp, tn=negatives - fp, fn=fn)
            for fp, fn in ((errors[:, s, 0], errors[:, s, 1]) for s in range(len(systems)))
        ]
        return [scaled(each, systems[0].test.n_negatives) for each in outcomes] if mixed else outcomes

    return batch, rows_for(len(systems) * len(fractions), len(systems) * (dev.cells + test.cells))


def _pays_in_blocks(sides: Sequence[Side]) -> bool:
    """Tell whether to choose among blocks of scores: of one system, many of them, and no future set is drawn."""
    for side in sides:
        heaviest = max(int(urns.size.max()) for urns in (side.negative, side.positive)) * max(side.users, 1)
        if any((urns.partner >= 0).any() for urns in (side.negative, side.positive)):
            heaviest *= side.users
        if not side.direct or side.omega[1] > 0 or side.future.any() or heaviest >= 2**31:
            return False
    return bool(sides[0].distinct[0] >= SEVERAL_BLOCKS * BLOCK)


def _by_criterion(systems: Sequence[Resampled], plan: BootstrapPlan, dev: Side, test: Side) -> Batch:
    """Return the batch function of any criterion: slow, as each replicate is written out and given to it."""
    kernel = load_kernel("weights_of")

    def count(replicate: int) -> list[Ints]:
        settings = (replicate, plan.seed, plan.inner, plan.design.trial_draws)
        on_dev, on_test = ((side, kernel(*settings, side)) for side in (dev, test))
        return [_count(system, s, on_dev, on_test) for s, system in enumerate(systems)]

    def batch(first: int, rows: int) -> list[Outcomes]:
        counted = [count(first + row) for row in range(rows)]
        return [Outcomes(*(np.array([row[s][i] for row in counted]) for i in range(4))) for s in range(len(systems))]

    return batch


def _count(system: Resampled, s: int, dev: tuple[Side, Any], test: tuple[Side, Any]) -> Ints:
    negative, positive = _on_values(*dev, s)
    values = dev[0].values[s]
    thresholds = system.thresholds  # where a draw left a class empty nothing can be chosen: keep what was
    if negative.any() and positive.any():
        resampled = Scores(Trials(np.repeat(values, negative)), Trials(np.repeat(values, positive)))
        assert system.criterion is not None
        thresholds = system.criterion.choose(resampled, system.fractions).threshold
    rank = np.searchsorted(test[0].values[s, : test[0].distinct[s]], thresholds, side="right")
    rejected = [np.concatenate([[0], np.cumsum(weights)]) for weights in _on_values(*test, s)]
    (tn, fn), (negatives, positives) = (column[rank] for column in rejected), (column[-1] for column in rejected)
    return np.array([positives - fn, negatives - tn, tn, fn], dtype=np.int64)


def _on_values(side: Side, weights: Any, s: int) -> list[Ints]:
    """Return the weights of both classes on the distinct scores of one system."""
    if side.direct:
        return list(weights)
    size = side.values.shape[1]
    return [np.bincount(side.places[s, c], weights=weights[c], minlength=size).astype(np.int64) for c in range(2)]


def _both_sides(systems: Sequence[Resampled], plan: BootstrapPlan) -> tuple[Side, Side]:
    devs = [system.dev.load() for system in systems if system.dev is not None]
    tests = [system.test.load() for system in systems]
    in_dev, in_test = None, None
    if plan.design.by_user:
        in_dev, in_test = plan.design.identities([devs[0], tests[0]], shared=plan.shared_users)
    return make_side(devs, plan, in_dev, dev=True), make_side(tests, plan, in_test)


def rows_for(numbers: int, work: int) -> int:
    """Return how many replicates fit a batch: some megabytes, and a fraction of a second."""
    return max(1, min((1 << 19) // max(numbers, 1), (1 << 26) // max(work, 1)))
