"""Both rankings under resampling: systems at thresholds fixed in advance, and at the best their test sets allow.

One draw of users (or trials, or identities) serves both, so that what they have in common cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from priori.base.processors import processors
from priori.base.types import Floats, Ints, Mask
from priori.curves.epc import EPC
from priori.curves.roc import a_posteriori_auc, a_posteriori_eer, a_posteriori_min_dcf
from priori.decisions.measures import divide
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores, ScoreSet
from priori.uncertainty.bands import value_of
from priori.uncertainty.bootstrap.kernel_sets import TEST_USERS
from priori.uncertainty.bootstrap.plans import BootstrapPlan
from priori.uncertainty.bootstrap.run import load_kernel

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
#: The purpose of the streams that draw trials, class by class; those of the kernels are lower.
DRAWN = 3_000_001

#: How often each negative and each positive trial comes, draw by draw.
Weights = tuple[Floats, Floats]


def draw_both(
    curves: Sequence[EPC], plan: BootstrapPlan, against: Against, draws: int, *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Return the values of the systems in each draw, (draws, systems): at fixed thresholds, and a posteriori.

    The curves have one alpha, and hold the same trials in the same order.
    """
    tests = [curve.test.load() for curve in curves]
    before, after = np.empty((draws, len(curves))), np.empty((draws, len(curves)))
    step = max(1, AT_A_TIME // max(len(tests[0]), 1))
    with ThreadPoolExecutor(max(1, threads or processors())) as pool:
        for start in range(0, draws, step):
            rows = slice(start, min(start + step, draws))
            weights = _weights(tests[0], plan, start, rows.stop - start)

            def work(system: int, rows: slice = rows, weights: Weights = weights) -> None:
                before[rows, system] = _at_thresholds(curves[system], tests[system], *weights)
                after[rows, system] = _a_posteriori(tests[system], *weights, against)

            list(pool.map(work, range(len(curves))))
    return before, after


def _weights(test: Scores, plan: BootstrapPlan, first: int, draws: int) -> Weights:
    """Return, class by class, how often each trial comes in the draws ``first``, ``first + 1``, ..."""
    kernel = load_kernel("multiplicities")

    def drawn(number: int, stream: int) -> Floats:
        multiplicity = np.empty((draws, number))
        kernel(first, plan.seed, 1, number, 0, stream, multiplicity)
        return multiplicity

    if not plan.design.by_user:
        return drawn(len(test.negative), DRAWN), drawn(len(test.positive), DRAWN + 1)
    people = plan.design.identities([test])[0]
    users = drawn(people.count, TEST_USERS)
    negative = users[:, people.negative]
    if people.negative_partner is not None:
        negative = negative * users[:, people.negative_partner]
    return negative, users[:, people.positive]


def _at_thresholds(curve: EPC, test: Scores, negative: Floats, positive: Floats) -> Floats:
    """Return the measure at the curve's threshold, in each draw."""
    wrong = (test.negative.score > curve.threshold[0]), (test.positive.score <= curve.threshold[0])
    fp, fn = (
        np.rint(weights @ errors)[:, None].astype(np.int64)
        for weights, errors in zip((negative, positive), wrong, strict=True)
    )
    negatives, positives = (weights.sum(axis=1, keepdims=True).astype(np.int64) for weights in (negative, positive))
    outcomes = Outcomes(tp=positives - fn, fp=fp, tn=negatives - fp, fn=fn)
    return value_of(curve.measure, outcomes, curve.alpha)[:, 0]


def _a_posteriori(test: Scores, negative: Floats, positive: Floats, against: Against) -> Floats:
    """Return the equal error rate, the smallest detection cost or the area under the ROC of each draw."""
    scores = np.concatenate([test.negative.score, test.positive.score])
    order = np.argsort(scores, kind="stable")
    last = np.append(np.diff(scores[order]) > 0, True)  # of each run of equal scores
    rejected = []
    for weights, before in ((negative, 0), (positive, negative.shape[1])):
        every = np.zeros((len(weights), scores.size))
        every[:, before : before + weights.shape[1]] = weights
        reached = np.cumsum(every[:, order], axis=1)[:, last]
        total = weights.sum(axis=1, keepdims=True)
        rejected.append(divide(np.pad(reached, ((0, 0), (1, 0))), total, 1.0))
    far, frr = 1 - rejected[0], rejected[1]
    if against == "auc":
        return np.asarray(1 - ((frr[:, 1:] + frr[:, :-1]) / 2 * (far[:, :-1] - far[:, 1:])).sum(axis=1))
    if against == "min_dcf":
        cost_fn, cost_fp, prior = DCF
        return np.asarray((cost_fn * prior * frr + cost_fp * (1 - prior) * far).min(axis=1))
    nearest = np.abs(far - frr).argmin(axis=1)[:, None]
    return np.asarray((np.take_along_axis(far + frr, nearest, axis=1) / 2)[:, 0])


def ranks_of(badness: Floats) -> Ints:
    """Return the rank of each system along the last axis: one more than the number of those that are better.

    Rates that differ in the last digits of floating point only are equal.

    Examples
    --------
    >>> ranks_of(np.array([0.3, 0.1, 0.3])).tolist()
    [2, 1, 2]
    """
    rounded = np.round(badness, 12)
    return np.asarray(1 + (rounded[..., None, :] < rounded[..., :, None]).sum(axis=-1))


def kendall_tau(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of two sets of values along the last axis; 0 where one of them does not vary.

    Examples
    --------
    >>> kendall_tau(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 3])).round(4).item()
    0.6667
    """
    a, b = (np.sign(values[..., :, None] - values[..., None, :]) for values in (first, second))
    concordant = (a * b).sum(axis=(-2, -1))
    untied = np.sqrt((a != 0).sum(axis=(-2, -1)) * (b != 0).sum(axis=(-2, -1)).astype(np.float64))
    return np.asarray(np.divide(concordant, untied, out=np.zeros_like(untied), where=untied > 0))


def tau_interval(tau: float, drawn: Floats, level: float) -> tuple[float, float]:
    """Return the interval of Kendall's tau: a normal one with the spread of the draws, on Fisher's scale.

    Draws are noisier than the data and their tau is smaller; only their spread is used.
    """
    from scipy.special import ndtri

    limit, deviates = 1 - 1e-9, float(ndtri((1 + level) / 2))
    centre, spread = np.arctanh(np.clip(tau, -limit, limit)), np.arctanh(np.clip(drawn, -0.999, 0.999)).std()
    return float(np.tanh(centre - deviates * spread)), float(np.tanh(centre + deviates * spread))


def moved_ranks(shift: Ints, drawn: Ints, level: float) -> tuple[Floats, Floats, Mask]:
    """Return simultaneous intervals of how many ranks each system gains, and which of them exclude 0."""
    spread = np.maximum(drawn.std(axis=0), 1e-9)
    largest = np.sort((np.abs(drawn - drawn.mean(axis=0)) / spread).max(axis=1))
    half = largest[min(int(np.ceil(level * largest.size)), largest.size) - 1] * spread
    lower, upper = shift - half, shift + half
    return lower, upper, (lower > 0) | (upper < 0)
