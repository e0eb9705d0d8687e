"""The three readers of a draw: at thresholds, with thresholds chosen again, along the ROC; for all replicates.

A reader lays sets out as a plan draws them, and reads numbers off the counts in bins of some replicates at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from priori.base.errors import OptionError
from priori.base.limits import thread_count
from priori.base.types import Floats, Index, Ints
from priori.curves.epc import EPC
from priori.decisions.constraints import Constraint
from priori.decisions.criteria import BreakEven, Criterion, Target, WeightedSum
from priori.decisions.measure import Measure, divide, of_both_classes
from priori.decisions.outcomes import Outcomes, count
from priori.scores import Scores, ScoreSet
from priori.scores.score_set import counted_apart
from priori.uncertainty.bootstrap import plain
from priori.uncertainty.bootstrap.draws import Draws, Pair, lay_out, load_kernel, rows_for
from priori.uncertainty.bootstrap.layout import bin_ends, bins_between, narrow_cuts
from priori.uncertainty.bootstrap.resampling import BootstrapPlan

#: From the outcomes of each system, of shape (replicates, thresholds), and the number of the first replicate, to
#: an array of (replicates, numbers).
Statistic = Callable[[list[Outcomes], int], Floats]
#: Replicates first, first + 1, ...: as many as asked for.
Batch = Callable[[int, int], list[Outcomes]]
#: From counts of each class on bins with these values to how many of the other values each new threshold rejects.
Chooser = Callable[[Pair, Floats, Floats], Index]

CLASS_RATES = {"far", "frr", "tpr", "tnr", "recall", "sensitivity", "specificity"}


class Resampled(NamedTuple):
    """One system to resample: its sets, and how its thresholds come about.

    ``thresholds`` are used where they stay fixed, ``criterion`` and ``fractions`` where they are chosen again.
    Systems resampled together hold the same trials in the same order.
    """

    test: ScoreSet
    thresholds: Floats
    dev: ScoreSet
    criterion: Criterion
    fractions: tuple[Fraction, ...]


def system_of(curve: EPC) -> Resampled:
    """Return what the bootstrap needs of a curve."""
    fractions = curve.fractions or tuple(Fraction(float(alpha)) for alpha in curve.alpha)
    criterion, settled = curve.criterion.settled(curve.dev, fractions)
    return Resampled(curve.test, curve.threshold, curve.dev, criterion, tuple(settled))


def replicate(systems: Sequence[Resampled], plan: BootstrapPlan, statistic: Statistic) -> Floats:
    """Return the statistic of every replicate: an array of (replicates, numbers).

    Replicate r depends on the plan alone, not on its threads or on how many replicates a batch has.
    """
    batch, rows = (at_thresholds if plan.resample == "test" else chosen_again)(systems, plan)

    def work(first: int, size: int) -> Floats:
        return statistic(batch(first, size), first)

    return gather(work, plan.n_resamples, rows, plan)


def gather(work: Callable[[int, int], Floats], total: int, rows: int, plan: BootstrapPlan) -> Floats:
    """Do ``work(first, size)`` for all replicates on the plan's threads, at most ``rows`` of them at once.

    Each thread gets several parts, so that none waits long for the last.
    """
    workers, progress = thread_count(plan.threads), plan.progress
    step = max(1, min(rows, -(-total // (4 * workers))))
    finished = min(total, step, 8)  # the first few alone: this compiles the kernels and shows the size of the rest
    values = work(0, finished)
    gathered = np.empty((total, values.shape[1]), dtype=values.dtype)
    gathered[:finished] = values
    pool = ThreadPoolExecutor(workers)
    try:
        futures = {pool.submit(work, start, min(step, total - start)): start for start in range(finished, total, step)}
        if progress:
            progress(finished, total)
        for future in as_completed(futures):
            values, start = future.result(), futures.pop(future)  # whoever keeps a future keeps its numbers
            gathered[start : start + len(values)] = values
            finished += len(values)
            if progress:
                progress(finished, total)
    finally:
        pool.shutdown(cancel_futures=True)
    return gathered


# -- at thresholds -------------------------------------------------------------------------------------------


def at_thresholds(systems: Sequence[Resampled], plan: BootstrapPlan) -> tuple[Batch, int]:
    """Return the batch function for fixed thresholds, and how many replicates to take at once."""
    cuts = [np.unique(system.thresholds) for system in systems]
    ranks = [np.searchsorted(cut, system.thresholds) + 1 for cut, system in zip(cuts, systems, strict=True)]
    draws = _between(systems, cuts, plan)

    def batch(first: int, rows: int) -> list[Outcomes]:
        return [
            outcomes_at(*counts, rank, system.test)
            for counts, rank, system in zip(draws.counts(first, rows), ranks, systems, strict=True)
        ]

    return batch, rows_for(sum(rank.size for rank in ranks), draws.work, draws.held)


def _between(systems: Sequence[Resampled], cuts: Sequence[Floats], plan: BootstrapPlan) -> Draws:
    """Lay out test sets in the bins between thresholds: trials in memory, or counts of tables."""
    design = plan.design
    test, *others = (system.test for system in systems)
    if len(systems) == 1 and not design.by_user and test.unmixed is test:
        seen = count(test, cuts[0])
        sizes = (seen.tn, test.n_negatives), (seen.fn, test.n_positives)
        negative, positive = (np.diff(rejected, prepend=0, append=size) for rejected, size in sizes)
        counted = plain.counted(negative, positive, np.arange(cuts[0].size + 1.0))
        return lay_out([counted], [bins_between(counted, np.arange(float(cuts[0].size)))], plan, None)
    tests = counted_apart([test, *others], cuts) if design.whole_users else None
    people = None if tests is None else [design.identities([each])[0] for each in tests]
    if tests is None:
        tests = test.count(cuts, ("user",) if design.by_user else (), others)
        people = design.identities(tests[:1]) * len(tests) if design.by_user else None
    return lay_out(tests, [bins_between(each, cut) for each, cut in zip(tests, cuts, strict=True)], plan, people)


def outcomes_at(negative: Any, positive: Any, ranks: Index, test: ScoreSet) -> Outcomes:
    """Return the outcomes of counts in bins at thresholds that reject so many of them, in each replicate (row)."""
    rows, kernel, found = len(negative), load_kernel("count_rejected"), []
    for counts in (negative, positive):
        rejected, totals = np.empty((rows, ranks.shape[-1]), counts.dtype), np.empty((rows, 1), counts.dtype)
        kernel(counts, np.broadcast_to(ranks, rejected.shape), rejected, totals)
        found.append((rejected, totals))
    (tn, negatives), (fn, positives) = found
    outcomes = Outcomes(tp=positives - fn, fp=negatives - tn, tn=tn, fn=fn)
    return outcomes if test.unmixed is test else scaled(outcomes, test.n_negatives)


def scaled(outcomes: Outcomes, negatives: int) -> Outcomes:
    """Return outcomes whose negatives add up to so many; those of a mixture are counted in its own small units."""
    fp: Any = divide(outcomes.fp, outcomes.negatives, 1.0) * negatives
    return Outcomes(tp=outcomes.tp, fp=fp, tn=negatives - fp, fn=outcomes.fn)


def value_of(measure: Measure, outcomes: Outcomes, alpha: Floats) -> Floats:
    """Return the measure of outcomes of shape (rows, alphas or one), called with one row of outcomes as always."""
    shape = len(outcomes.fp), alpha.size
    counts = (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn)
    flat = Outcomes(*(np.ravel(np.broadcast_to(count, shape)) for count in counts))
    return measure(flat, np.tile(alpha, shape[0])).reshape(shape)


# -- thresholds chosen again ---------------------------------------------------------------------------------


def chosen_again(systems: Sequence[Resampled], plan: BootstrapPlan) -> tuple[Batch, int]:
    """Return the batch function for thresholds chosen again, and how many replicates to take at once."""
    (dev, test), axes = _both_sets(systems, plan)
    choosers = [chooser_of(system) for system in systems]

    def batch(first: int, rows: int) -> list[Outcomes]:
        both = zip(dev.counts(first, rows), test.counts(first, rows), strict=True)
        return [
            outcomes_at(*on_test, choosers[s](on_dev, *axes[s]), systems[s].test)
            for s, (on_dev, on_test) in enumerate(both)
        ]

    numbers = len(systems) * len(systems[0].fractions)
    return batch, rows_for(numbers, dev.work + test.work, dev.held + test.held)


def chooser_of(system: Resampled) -> Chooser:
    """Return how a system chooses its thresholds: compiled, or by the criterion."""
    known = kernel_kind(system.criterion, system.fractions)
    if known is None and system.test.unmixed is not system.test:
        raise OptionError("where attacks have a share of their own, new thresholds are chosen by wer only")

    def choose(counts: Pair, values: Floats, others: Floats) -> Index:
        if known is None:
            return plain.choose_again(system.criterion, system.fractions, counts, values, others, system.thresholds)
        kind, p, q = known
        ranks = np.empty((len(counts[0]), p.size), dtype=np.int64)
        lowest = int(np.searchsorted(values, -np.inf, side="right"))
        load_kernel("choose_again")(kind, *counts, values, lowest, p, q, others, ranks)
        return ranks

    return choose


def kernel_kind(criterion: Criterion, fractions: Sequence[Fraction]) -> tuple[int, Ints, Ints] | None:
    """Return the kind of a criterion with its alphas p / q, or None where only the criterion itself can choose.

    Denominators are whole numbers of 64 bits: of any other alpha it is the nearest such fraction.
    """
    kind, turned = _kind(criterion)
    if kind is None:
        return None
    alphas = [fraction.limit_denominator(2**61) for fraction in fractions]
    if turned:
        alphas = [1 - alpha for alpha in alphas]
    p = np.array([alpha.numerator for alpha in alphas], dtype=np.int64)
    q = np.array([alpha.denominator for alpha in alphas], dtype=np.int64)
    return kind, p, q


def _kind(criterion: Criterion) -> tuple[int | None, bool]:
    """Return the kind, and whether alpha is turned round: a target on 1 - FAR is one on FAR."""
    from priori.uncertainty.bootstrap import choosing as kinds

    v1, v2 = criterion.v1, criterion.v2
    if isinstance(criterion, WeightedSum) and criterion.name != "pr":
        return kinds.WEIGHTED, False
    if not of_both_classes(v1, v2) or not {v1.name, v2.name} <= CLASS_RATES:
        return None, False
    if isinstance(criterion, BreakEven) and v1.greater_is_better == v2.greater_is_better:
        return kinds.EQUAL_ERROR, False
    if isinstance(criterion, Constraint) and criterion.level is None:
        of_negatives, of_positives = kinds.AT_MOST_NEGATIVE, kinds.AT_MOST_POSITIVE
    elif isinstance(criterion, Target):
        of_negatives, of_positives = kinds.TARGET_NEGATIVE, kinds.TARGET_POSITIVE
    else:
        return None, False
    aimed_at = criterion.aimed_at
    return (of_negatives if aimed_at.of_class == "negative" else of_positives), aimed_at.greater_is_better


def _both_sets(systems: Sequence[Resampled], plan: BootstrapPlan) -> tuple[list[Draws], list[tuple[Floats, Floats]]]:
    """Lay out both sets by their distinct scores, or in narrow bins where these are many; return these scores too."""
    sets, axes = list[tuple[Scores, Scores]](), list[tuple[Floats, Floats]]()
    for system in systems:
        dev, test = system.dev.load(), system.test.load()
        cuts = narrow_cuts(dev)  # every new threshold then lies where a bin of either set ends
        sets.append((dev, test))
        axes.append((bin_ends(dev, cuts), bin_ends(test, narrow_cuts(test) if cuts is None else cuts)))
    people = plan.design.identities(sets[0], shared=plan.shared_users) if plan.design.by_user else None
    draws = []
    for of_test in range(2):
        laid_out = [each[of_test] for each in sets]
        bins = [bins_between(each, axis[of_test][:-1]) for each, axis in zip(laid_out, axes, strict=True)]
        owners = None if people is None else [people[of_test]] * len(sets)
        draws.append(lay_out(laid_out, bins, plan, owners, dev=not of_test))
    return draws, axes


# -- along the ROC -------------------------------------------------------------------------------------------


def along_the_roc(
    scores: Scores, rates: Sequence[Fraction], plan: BootstrapPlan
) -> tuple[Callable[[int, int], Floats], int]:
    """Return what gives the heights of the ROC curves of replicates at false positive rates, and how many at once."""
    bins = bins_between(scores, bin_ends(scores, narrow_cuts(scores))[:-1])
    draws = lay_out([scores], [bins], plan, plan.design.identities([scores]) if plan.design.by_user else None)
    p, q = (np.array([getattr(rate, part) for rate in rates]) for part in ("numerator", "denominator"))

    def batch(first: int, rows: int) -> Floats:
        heights = np.empty((rows, len(rates)))
        (counts,) = draws.counts(first, rows)
        load_kernel("climb")(*counts, p, q, heights)
        return heights

    return batch, rows_for(len(rates), draws.work, draws.held)
