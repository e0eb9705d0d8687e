"""How sure a threshold is: where new development sets would put it, where the best one lies, which are as good.

Smoothed bootstrap sets (`smoothed_sets`) each choose a threshold. Their spread is that of thresholds of new sets; the
centre of this spread has an error of its own, which is that of the mean over the sets, by the infinitesimal jackknife
(Efron 2014). All of it is computed on the axis of these sets, on which classes are nearly normal, so that a rising map
of the scores changes nothing but the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from priori.base.above import Plotted
from priori.base.alphas import as_fractions
from priori.base.declarations import Cautions, Level, Size, Summary
from priori.base.errors import OptionError
from priori.base.quantiles import percentile_bounds
from priori.base.results import Result
from priori.base.types import Floats, Progress
from priori.curves.checks import set_cautions
from priori.decisions.constraints import Constraint
from priori.decisions.criteria import Best, get_criterion
from priori.decisions.criterion import Choice, Criterion
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.decisions.recipe import Custom, NamedCriterion, NamedTask, custom, price
from priori.decisions.tasks import Task, get_task
from priori.scores import ScoreSet
from priori.scores.score_set import as_score_set
from priori.uncertainty.bootstrap.calibration import error_cautions
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.readers import Resampled, value_of
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, Resampling
from priori.uncertainty.expected.influences import influence_of, without_noise
from priori.uncertainty.expected.method import Binned, DrawnSets, cautions, draw_sets, in_one_order, jackknife, judge
from priori.uncertainty.expected.smoothed_sets import ScoreAxis

#: The variance of the best threshold is that of the mean over smoothed sets, with this share of it replaced by the
#: variance of the sets' own thresholds: without it 92 % of the intervals of 95 % hold where errors are weighed
#: (measured, validation/thresholds/measure.py).
OWN_SHARE = 0.15
#: Lower and upper ends, of scores or of bins.
Ends = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdInterval(Result, Plotted):
    """How sure the threshold is that a development set chose. Made by `threshold_interval`.

    Attributes
    ----------
    alpha, threshold : ndarray
        The trade-offs, and the threshold chosen at each.
    new_lower, new_upper : ndarray
        Where thresholds lie that other development sets like this one would choose, with the confidence stated; NaN
        where the criterion adds a margin for a confidence, as each set adds its own.
    best_lower, best_upper : ndarray
        An interval for the threshold that is best in the population; of a limit with a confidence
        (``at-most-far:0.95``) that which keeps the limit there.
    good_lower, good_upper : ndarray
        The range of thresholds around the one chosen that are as good on this set: their cost is at most one standard
        error above the least, and they keep the limit where there is one. NaN where the criterion has no cost.
    units : int
        How many users, trials or groups of them the smoothed sets were drawn from.
    """

    task: NamedTask
    criterion: NamedCriterion
    alpha: Floats
    threshold: Floats
    new_lower: Floats
    new_upper: Floats
    best_lower: Floats
    best_upper: Floats
    good_lower: Floats
    good_upper: Floats
    bootstrap: str
    units: Size
    seed: Size
    confidence_level: Level
    warnings: Cautions = ()

    _ranges: ClassVar[tuple[str, ...]] = ("new", "best", "good")

    @property
    def custom(self) -> Summary[Custom]:
        """Which of task and criterion are the caller's own."""
        return custom(self.task, self.criterion)


def threshold_interval(
    dev: Any,
    *,
    criterion: str | Criterion | Measure | Callable[[Outcomes, float], Any] | None = None,
    alpha: Any = None,
    costs: Any = None,
    prior: Any = None,
    task: str | Task = "authentication",
    bootstrap: str | None = None,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ThresholdInterval:
    """Say how sure a threshold is: where new sets would put it, where the best one lies, and which are as good.

    Parameters
    ----------
    dev, criterion, alpha, costs, prior, task
        As in `priori.choose_threshold`; there may be several alphas.
    bootstrap : {"sample", "rows", "user", "crossed"}, optional
        What is drawn with replacement: as in `priori.EPC.band`, the data decide by default.
    confidence_level : float
        That of both intervals, 0.95 by default.
    rng : int, numpy Generator or None
        The seed, 0 by default.
    threads : int, optional
        How many threads; by default as many as there are processors.
    progress : callable, optional
        Called with (done, total) now and then.

    Notes
    -----
    The interval of new thresholds holds one such threshold with the confidence stated: the percentiles of smoothed
    sets, stretched for the error of their centre and by Student's quantile. That of the best threshold is around the
    mean of the smoothed sets, with the variance of this mean.

    Examples
    --------
    >>> import priori, priori.examples
    >>> dev, test = priori.examples.load("faces").systems["fisherfaces"]
    >>> found = priori.threshold_interval(dev, alpha=0.5)
    >>> [round(float(column[0]), 1) for column in (found.new_lower, found.threshold, found.new_upper)]
    [-13.7, -11.3, -9.9]
    """
    scores, rule, domain = as_score_set(dev), get_criterion(criterion, task), get_task(task)
    _, priced = price(domain, criterion, None, alpha, costs, prior)
    fractions = as_fractions(rule.alpha_or_half(priced))
    if not rule.reads_development:
        raise OptionError(f"{rule.name} sets thresholds by theory: they are the same on any development set")
    resampling = Resampling(bootstrap, confidence_level=confidence_level, rng=rng)
    drawn, ranges = _draw_ranges(scores, rule, fractions, resampling, threads, progress)
    choice, plan, units = drawn.choice, drawn.plan, drawn.sets.units[0]
    new, best, good = ranges.values()
    errors = np.asarray(choice.outcomes.fp + choice.outcomes.fn)
    alphas = np.array([float(fraction) for fraction in fractions])
    said = (
        *set_cautions(scores),
        *plan.warnings,
        *error_cautions(scores, choice.threshold, plan, None),
        *cautions(alphas, [errors], [units], by_user=plan.design.by_user),
    )
    return ThresholdInterval(
        domain,
        rule,
        alphas,
        choice.threshold,
        *new,
        *best,
        *good,
        bootstrap=plan.bootstrap,
        units=units.count,
        seed=plan.seed,
        confidence_level=plan.confidence_level,
        warnings=tuple(dict.fromkeys(said)),
    )._came_from(scores)


def threshold_ranges(
    dev: ScoreSet, rule: Criterion, fractions: Sequence[Fraction], resampling: Resampling
) -> dict[str, Ends]:
    """Return only the three ranges of `threshold_interval`, by their names: what a page shows."""
    return _draw_ranges(dev, rule, fractions, resampling)[1]


class _Drawn(NamedTuple):
    """Smoothed sets of one development set, and the thresholds that it chose itself."""

    choice: Choice
    system: Resampled
    plan: BootstrapPlan
    sets: DrawnSets


def _draw(
    scores: ScoreSet,
    rule: Criterion,
    fractions: Sequence[Fraction],
    resampling: Resampling,
    threads: int | None,
    progress: Progress | None,
) -> _Drawn:
    """Draw smoothed sets and choose a threshold on each at each alpha."""
    choice = rule.choose(scores, fractions)
    settled, limits = rule.settled(scores, fractions)
    measures = [rule.measure] if isinstance(rule, Best) else [rule.v1, rule.v2]
    plan = resampling.settle(None, scores, measures=measures, threads=threads, progress=progress)
    if not plan.design.one_level:
        names = ", ".join(name for name, other in BOOTSTRAPS.items() if other.one_level)
        raise OptionError(f"thresholds are drawn again by the bootstraps {names}, not by {plan.bootstrap}")
    whole = in_one_order([scores], by_user=plan.design.by_user)
    system = Resampled(scores, choice.threshold, scores, settled, tuple(limits))
    return _Drawn(choice, system, plan, draw_sets([system], whole, whole, plan))


def _draw_ranges(
    scores: ScoreSet,
    rule: Criterion,
    fractions: Sequence[Fraction],
    resampling: Resampling,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[_Drawn, dict[str, Ends]]:
    """Draw smoothed sets; return them, and the ranges that they give."""
    drawn = _draw(scores, rule, fractions, resampling, threads, progress)
    ranges = _ranges(drawn)
    if isinstance(rule, Constraint) and rule.level is not None:
        # The margin that a confidence adds is each set's own: how new ones vary is not known here (a range with this
        # set's margin held 68 % instead of 95). It shrinks as a set grows: the population's best keeps the plain limit.
        unknown = np.full(len(fractions), np.nan)
        best = _ranges(_draw(scores, rule.plain, fractions, resampling, threads, progress))["best"]
        ranges |= {"new": (unknown, unknown), "best": best}
    return drawn, ranges


def _ranges(drawn: _Drawn) -> dict[str, Ends]:
    """Return where new sets choose thresholds, where the best one lies, and which are as good."""
    good, share = _as_good(drawn)
    new, best = _intervals(drawn, share)
    return {name: _scores(drawn.sets.axes[0], ends) for name, ends in (("new", new), ("best", best), ("good", good))}


def _intervals(drawn: _Drawn, share: Floats) -> tuple[Ends, Ends]:
    """Return the interval of new thresholds and that of the best one, from those of smoothed sets (sets, alphas).

    Crossed units come in both roles, so that these sets vary too much: ``share`` of the variance is right.
    """
    from scipy.special import ndtri, stdtrit

    bins, units, level = drawn.sets.rejected[:, 0].astype(np.float64), drawn.sets.units[0], drawn.plan.confidence_level
    bins = bins.mean(axis=0) + np.sqrt(share) * (bins - bins.mean(axis=0))
    moved = without_noise(*jackknife(drawn.sets.weights, bins[:, None], units))
    of_mean, of_sets = (moved**2).sum(axis=(0, 1)), bins.var(axis=0, ddof=1)
    of_centre = np.divide(of_mean, of_sets, out=np.zeros_like(of_sets), where=of_sets > 0)
    quantile = stdtrit(np.maximum(units.degrees(moved), 1.0), (1 + level) / 2)
    lower, upper = percentile_bounds(bins, level)
    middle, stretch = np.median(bins, axis=0), np.sqrt(1 + of_centre) * quantile / ndtri((1 + level) / 2)
    mean, half = bins.mean(axis=0), quantile * np.sqrt((1 - OWN_SHARE) * of_mean + OWN_SHARE * of_sets)
    new = middle - stretch * (middle - lower), middle + stretch * (upper - middle)
    return new, (mean - half, mean + half)


def _as_good(drawn: _Drawn) -> tuple[Ends, Floats]:
    """Return the ranges around thresholds whose cost is within one standard error of theirs.

    Also return the share of the cost's variance that is left where crossed units are not counted twice.
    """
    (dev,), (axis,), units, *_ = drawn.sets
    rule, thresholds = drawn.system.criterion, drawn.system.thresholds
    lower, upper = np.full(thresholds.size, np.nan), np.full(thresholds.size, np.nan)
    share = np.ones(thresholds.size)
    if type(rule).cost is Criterion.cost:
        return (lower, upper), share
    every, binned = np.arange(1, axis.n_bins + 1, dtype=np.int32), Binned.of(dev, axis)
    for k, (alpha, threshold) in enumerate(zip(drawn.system.fractions, thresholds.tolist(), strict=True)):
        cost, loss = _measure(rule.cost, alpha), _measure(rule.loss, alpha)
        chosen = _rejected(axis, threshold)
        here = judge(dev, axis, np.array([[chosen]], dtype=np.int32), loss, np.zeros(1), binned)
        moved, share[k : k + 1] = influence_of([dev], [here], units)
        along = value_of(cost, binned.outcomes(every), np.zeros(1))[:, 0]
        least = along[chosen - 1]
        worse = np.flatnonzero(~(along <= least + np.sqrt((moved**2).sum()) + 1e-12)) + 1
        lower[k] = max(worse[worse < chosen], default=0) + 1
        upper[k] = min(worse[worse > chosen], default=axis.n_bins + 1) - 1
    return (lower, upper), share


def _measure(of: Callable[[Outcomes, Fraction], Floats], alpha: Fraction) -> Measure:
    return Measure("cost", "cost", lambda outcomes, _: of(outcomes, alpha))


def _rejected(axis: ScoreAxis, threshold: float) -> int:
    """Return how many bins a threshold rejects, at least 1: that of -inf."""
    return int(np.searchsorted(axis.thresholds(np.arange(1, axis.n_bins + 1)), threshold, side="left")) + 1


def _scores(axis: ScoreAxis, ends: Ends) -> Ends:
    """Return ends in bins as thresholds: from the lowest that rejects so many to the highest."""
    lower, upper = (np.clip(np.nan_to_num(end), 1, axis.n_bins) for end in ends)
    low, high = axis.thresholds(np.floor(lower) - 1), axis.thresholds(np.ceil(upper))
    unknown = np.isnan(ends[0])
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
