"""Running a plan: lay the sets out, go through the replicates in batches on all threads, gather a statistic."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.processors import processors
from priori.base.types import Floats, Progress
from priori.decisions.criteria import Criterion
from priori.decisions.outcomes import Outcomes, count
from priori.scores import Scores, ScoreSet
from priori.uncertainty.bootstrap.kinds import kernel_kind
from priori.uncertainty.bootstrap.plans import Identities, Plan
from priori.uncertainty.bootstrap.sides import Draw, Side, fixed_cells, make_side, make_urns
from priori.uncertainty.bootstrap.urns import LIGHT, Urns, fill_counts

#: From the outcomes of each system, of shape (replicates, thresholds), and the number of the first replicate, to
#: an array of (replicates, numbers).
Statistic = Callable[[list[Outcomes], int], Floats]
#: Replicates first, first + 1, ...: as many as asked for.
Batch = Callable[[int, int], list[Outcomes]]

_log = logging.getLogger("priori")
_said = False

#: The most numbers in the matrix of users and thresholds; larger ones are kept sparse.
DENSE = 1 << 25

#: The purposes of streams; systems that are drawn apart get their own set of four.
DEV_USERS, DEV_TRIALS, TEST_USERS, TEST_TRIALS = range(1, 5)


class Resampled(NamedTuple):
    """One system to resample: its sets, and how its thresholds come about.

    ``thresholds`` are used where they stay fixed, ``criterion`` and ``fractions`` where they are chosen anew.
    Systems resampled together hold the same trials in the same order.
    """

    test: ScoreSet
    thresholds: Floats
    dev: ScoreSet | None = None
    criterion: Criterion | None = None
    fractions: tuple[Fraction, ...] = ()


def replicate(
    systems: Sequence[Resampled],
    plan: Plan,
    statistic: Statistic,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    rows: int | None = None,
) -> Floats:
    """Return the statistic of every replicate: an array of (replicates, numbers).

    Replicate r depends on the plan alone, not on ``threads`` or on how many ``rows`` a batch has.
    """
    batch, fitting = _fixed(systems, plan) if plan.resample == "test" else _rechosen(systems, plan)

    def work(first: int, size: int) -> Floats:
        return statistic(batch(first, size), first)

    return gather(work, plan.n_resamples, rows or fitting, threads=threads, progress=progress, even=rows is None)


def gather(
    work: Callable[[int, int], Floats],
    total: int,
    rows: int,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    even: bool = True,
) -> Floats:
    """Do ``work(first, size)`` for all replicates on all threads, at most ``rows`` of them at a time.

    With ``even`` each thread gets several parts, so that none waits long for the last.
    """
    workers = max(1, threads or processors())
    step = max(1, min(rows, -(-total // (4 * workers)))) if even else rows
    done = min(total, step, 8)  # a few, alone: this compiles, and tells the size of the rest
    values = work(0, done)
    gathered = np.empty((total, values.shape[1]))
    gathered[:done] = values
    rest = [(start, min(step, total - start)) for start in range(done, total, step)]
    if progress:
        progress(done, total)
    for (start, size), values in _each(work, rest, workers):
        gathered[start : start + size] = values
        done += size
        if progress:
            progress(done, total)
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
            yield futures[finished], finished.result()
    finally:
        pool.shutdown(cancel_futures=True)


def load_kernel(name: str) -> Any:
    """Import the kernels; say so where one has to be compiled, which happens once on a machine."""
    global _said
    from priori.uncertainty.bootstrap import kernels

    kernel = getattr(kernels, name)
    cached = Path(kernel.stats.cache_path).glob(f"kernels.{name}-*.nbi")
    if not _said and not kernel.signatures and not any(cached):
        _said = True
        _log.warning("compiling the bootstrap kernels, once on this machine ...")
    return kernel


def _draws(plan: Plan, who: Identities | None) -> tuple[Draw, Draw]:
    """Say how the trials of the two classes go into urns."""
    light = LIGHT if plan.draws_trials else 0
    if who is None:
        return Draw(None, 1, None, light), Draw(None, 1, None, light)
    return (
        Draw(who.negative, who.count, who.negative_partner, light),
        Draw(who.positive, who.count, None, light),
    )


# -- thresholds fixed ----------------------------------------------------------------------------------------


def _fixed(systems: Sequence[Resampled], plan: Plan) -> tuple[Batch, int]:
    """Return the batch function for fixed thresholds, and how many replicates to take at once."""
    unique = [np.unique(system.thresholds, return_inverse=True) for system in systems]
    edges, at = [edge for edge, _ in unique], [place for _, place in unique]
    who: Identities | None = None
    if len(systems) == 1 and not plan.by_user:
        urns, places = _from_sorted(systems[0].test, edges[0])
    else:
        test, *others = (system.test for system in systems)
        gaps = 2 * sum(edge.size + 1 for edge in edges)
        if plan.design.whole_users and test.n_users * gaps <= DENSE:
            each = test.apart(edges, others)
            if each is not None:
                return _by_product(each, edges, at, [plan.design.identities([counted])[0] for counted in each], plan)
        tests = test.between(edges, others, by_user=plan.by_user)
        if plan.by_user:
            who = plan.design.identities(tests[:1])[0]
            entries = sum(trials.score.size for trials in (tests[0].negative, tests[0].positive))
            if plan.design.whole_users and who.count * gaps <= min(DENSE, 16 * entries):  # mostly filled, as it were
                return _by_product(tests, edges, at, [who] * len(tests), plan)
        urns, places = _from_trials(tests, edges, _draws(plan, who))
    width = max(edge.size for edge in edges)
    users = who.count if who is not None and plan.draws_users else 0
    future = np.array(plan.future, dtype=np.int64)
    kernel = load_kernel("count_fixed")
    purposes = (TEST_USERS + 4 * plan.streams, TEST_TRIALS + 4 * plan.streams)

    def batch(first: int, rows: int) -> list[Outcomes]:
        rejected = np.empty((rows, len(systems), 2, width), dtype=np.int64)
        totals = np.empty((rows, 2), dtype=np.int64)
        kernel(
            first, plan.seed, plan.inner, users, plan.draws_trials, future, *purposes, *urns, places, rejected, totals
        )
        negatives, positives = totals[:, :1], totals[:, 1:]
        result = []
        for s, place in enumerate(at):
            tn, fn = rejected[:, s, 0][:, place], rejected[:, s, 1][:, place]
            result.append(Outcomes(tp=positives - fn, fp=negatives - tn, tn=tn, fn=fn))
        return result

    entries = sum(urn.cell.size + urn.single.size for urn in urns)
    return batch, rows_for(len(systems) * max(place.size for place in at), entries)


def _by_product(
    tests: Sequence[Scores],
    edges: Sequence[Floats],
    at: Sequence[NDArray[np.intp]],
    who: Sequence[Identities],
    plan: Plan,
) -> tuple[Batch, int]:
    """Return the batch function for users that come with all their trials: one product of matrices.

    Of each user the rejected trials at every edge are added up once; a replicate is a row of multiplicities. Whole
    numbers below 2^53 are exact in floating point. ``who`` are the users of each system's trials, by the same codes.
    """
    blocks, number = [], who[0].count
    for test, edge, own in zip(tests, edges, who, strict=True):
        for trials, users in ((test.negative, own.negative), (test.positive, own.positive)):
            gap = np.searchsorted(edge, trials.score, side="left")
            size = edge.size + 1
            counted = np.bincount(users.astype(np.int64) * size + gap, trials.number, number * size)
            blocks.append(np.cumsum(counted.reshape(number, size), axis=1))
    rejected = np.hstack(blocks)
    starts = np.cumsum([0, *(block.shape[1] for block in blocks)])
    kernel = load_kernel("multiplicities")

    def batch(first: int, rows: int) -> list[Outcomes]:
        drawn = np.empty((rows, number))
        purpose = TEST_USERS + 4 * plan.streams
        kernel(first, plan.seed, plan.inner, number, plan.future[0], purpose, drawn)
        sums = np.rint(drawn @ rejected).astype(np.int64)
        result = []
        for s, place in enumerate(at):
            negative, positive = (sums[:, starts[2 * s + c] : starts[2 * s + c + 1]] for c in range(2))
            tn, fn = negative[:, place], positive[:, place]
            result.append(Outcomes(tp=positive[:, -1:] - fn, fp=negative[:, -1:] - tn, tn=tn, fn=fn))
        return result

    return batch, rows_for(rejected.shape[1], number)


def _from_sorted(test: ScoreSet, edges: Floats) -> tuple[tuple[Urns, Urns], NDArray[np.int32]]:
    """Lay out one system without users: only counts between thresholds are needed, not the trials."""
    at = count(test, edges)
    negative = np.diff(at.tn, prepend=0, append=test.n_negatives)
    positive = np.diff(at.fn, prepend=0, append=test.n_positives)
    place = np.arange(edges.size + 1, dtype=np.int32)
    return (fill_counts(negative), fill_counts(positive)), np.stack([place, place])[None]


def _from_trials(
    tests: Sequence[Scores], edges: Sequence[Floats], draws: tuple[Draw, Draw]
) -> tuple[tuple[Urns, Urns], NDArray[np.int32]]:
    laid_out = []
    for trials, draw in zip(zip(*((test.negative, test.positive) for test in tests), strict=True), draws, strict=True):
        cells, place = fixed_cells([one.score for one in trials], edges)
        laid_out.append((make_urns(cells, draw, trials[0].number), place))
    (negative, place_negative), (positive, place_positive) = laid_out
    cells_needed = max(place_negative.shape[1], place_positive.shape[1])
    places = np.zeros((len(tests), 2, cells_needed), dtype=np.int32)
    places[:, 0, : place_negative.shape[1]] = place_negative
    places[:, 1, : place_positive.shape[1]] = place_positive
    return (negative, positive), places


# -- thresholds chosen anew ----------------------------------------------------------------------------------


def _rechosen(systems: Sequence[Resampled], plan: Plan) -> tuple[Batch, int]:
    """Return the batch function for thresholds chosen anew, and how many replicates to take at once."""
    dev, test = _both_sides(systems, plan)
    fractions = systems[0].fractions
    kind = kernel_kind(systems[0].criterion, fractions, int(max(len(s.dev or ()) for s in systems)))
    if kind is None:
        from priori.uncertainty.bootstrap.generic import generic_batch

        return generic_batch(systems, plan, dev, test), 16
    kernel = load_kernel("count_rechosen")

    def batch(first: int, rows: int) -> list[Outcomes]:
        errors = np.empty((rows, len(systems), 2, len(fractions)), dtype=np.int64)
        totals = np.empty((rows, 2), dtype=np.int64)
        kernel(first, plan.seed, plan.inner, plan.draws_trials, dev, test, *kind, errors, totals)
        negatives, positives = totals[:, :1], totals[:, 1:]
        return [
            Outcomes(tp=positives - fn, fp=fp, tn=negatives - fp, fn=fn)
            for fp, fn in ((errors[:, s, 0], errors[:, s, 1]) for s in range(len(systems)))
        ]

    return batch, rows_for(len(systems) * len(fractions), len(systems) * (dev.cells + test.cells))


def _both_sides(systems: Sequence[Resampled], plan: Plan) -> tuple[Side, Side]:
    devs = [system.dev.load() for system in systems if system.dev is not None]
    tests = [system.test.load() for system in systems]
    who: Sequence[Identities | None] = (None, None)
    if plan.by_user:
        who = plan.design.identities([devs[0], tests[0]], shared=plan.shared_users)
    users = TEST_USERS if plan.shared_users else DEV_USERS
    dev_plan = plan if plan.shared_users else replace(plan, future=_as_large(plan, devs[0], who[0]))
    return side_of(devs, dev_plan, who[0], users, DEV_TRIALS), side_of(tests, plan, who[1])


def _as_large(plan: Plan, dev: Scores, who: Identities | None) -> tuple[int, int, int]:
    """Return the future development set of a prediction: as large as the present one, whatever the test set will be."""
    sizes = (0 if who is None else who.count, dev.n_negatives, dev.n_positives)
    now = [size if wanted else 0 for size, wanted in zip(sizes, plan.future, strict=True)]
    return now[0], now[1], now[2]


def side_of(
    sets: Sequence[Scores],
    plan: Plan,
    who: Identities | None,
    user_stream: int = TEST_USERS,
    trial_stream: int = TEST_TRIALS,
) -> Side:
    """Lay one set out, of one system or of several, as a plan draws it."""
    return make_side(
        [scores.negative for scores in sets],
        [scores.positive for scores in sets],
        _draws(plan, who),
        users=who.count if who is not None and plan.draws_users else 0,
        user_stream=user_stream + 4 * plan.streams,
        trial_stream=trial_stream + 4 * plan.streams,
        future=plan.future,
        whole=plan.whole,
    )


def rows_for(numbers: int, work: int) -> int:
    """Return how many replicates fit a batch: some megabytes, and a fraction of a second."""
    return max(1, min((1 << 19) // max(numbers, 1), (1 << 26) // max(work, 1)))
