"""The average of Expected Performance Curves over data sets, or over the folds of a cross-validation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from priori.base.above import above
from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Level, Summary, Unsaved
from priori.base.errors import InputError, unknown
from priori.base.results import Result
from priori.base.types import Floats
from priori.curves.averaging.datasets import (
    IntervalKind,
    OverSets,
    Parts,
    commensurability,
    data_sets,
    few_sets,
    shares_of,
)
from priori.curves.checks import common_cautions
from priori.curves.epc import EPC, curves_of
from priori.decisions.outcomes import count
from priori.decisions.recipe import AnyCriterion, AnyMeasure, Custom, NamedCriterion, NamedMeasure, NamedTask, Recipe
from priori.decisions.tasks import Task
from priori.scores import Scores
from priori.scores.derived import pool

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Thresholds = Literal["per-dataset", "common"]

#: What each choice of thresholds means, in one sentence.
MEANINGS = {
    "per-dataset": "The average among data sets when each uses the threshold chosen on its own development scores.",
    "common": "The average among data sets when all use the one threshold chosen on their pooled development scores.",
}


@dataclass(frozen=True, eq=False, repr=False)
class AverageEPC(Result):
    """An Expected Performance Curve averaged over data sets: one row per alpha. Made by `average_epc`.

    Attributes
    ----------
    alpha, value, lower, upper : array
        The trade-offs, the average of the measure over data sets, and its pointwise interval.
    v1, v2, best : array
        Averages of the task's pair, and of what choosing thresholds on the test sets themselves would have shown: each
        set's own, or one for all where they have one in common, chosen by the average rates of all of them.
    threshold : array
        The common threshold at each alpha; NaN when each data set has its own (then see ``curves``).
    each : array
        The measure of each data set, one row per data set.
    curves : tuple of EPC
        The single curves.
    """

    alpha: Floats
    threshold: Floats
    v1: Floats
    v2: Floats
    value: Floats
    lower: Floats
    upper: Floats
    best: Floats
    each: Unsaved[Floats]
    curves: Unsaved[tuple[EPC, ...]]
    names: Unsaved[tuple[str, ...]]
    skipped: tuple[str, ...]
    thresholds: Thresholds
    weights: Summary[Floats]
    interval: IntervalKind
    confidence_level: Level

    @property
    def task(self) -> Summary[NamedTask]:
        """The domain: its pair V1, V2 and its aggregate."""
        return self.curves[0].task

    @property
    def criterion(self) -> Summary[NamedCriterion]:
        """The criterion that chose the thresholds."""
        return self.curves[0].criterion

    @property
    def measure(self) -> Summary[NamedMeasure]:
        """The measure averaged."""
        return self.curves[0].measure

    @property
    def custom(self) -> Summary[Custom]:
        """Which of task, criterion and measure are the caller's own."""
        return self.curves[0].custom

    @property
    def datasets(self) -> Summary[dict[str, Floats]]:
        """The measure of each data set at every alpha."""
        return dict(zip(self.names, self.each, strict=True))

    @property
    def meaning(self) -> Summary[str]:
        """What the curve tells, in one sentence."""
        return MEANINGS[self.thresholds]

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """Warnings: scores that are not commensurable under one threshold, few data sets, what most warn of."""
        scales = tuple[Caution, ...]()
        if self.thresholds != "per-dataset":
            scales = commensurability([curve.test.load() for curve in self.curves], self.names).warnings
        return (*scales, *few_sets(self.interval, self.weights), *common_cautions(self.curves))

    def plot(self, ax: Axes | None = None, *, singles: bool = True) -> Axes:
        """Draw the average, over the single curves where ``singles``; returns the axes."""
        return above(self, "plot")(self, ax=ax, singles=singles)


def average_epc(
    devs: Parts,
    tests: Parts,
    *,
    thresholds: Thresholds = "per-dataset",
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    measure: AnyMeasure = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    weights: Literal["size"] | ArrayLike | None = None,
    confidence_level: float = 0.95,
    interval: IntervalKind = "t",
    by: Literal["dataset", "user"] = "dataset",
    skip_incomplete: bool = False,
) -> AverageEPC:
    """Average Expected Performance Curves over data sets, at each alpha.

    Parameters
    ----------
    devs, tests : Scores, sequence of Scores, or mapping of names to Scores
        The development and the test set of each data set: paired by name, or by order when given as sequences. The
        folds of one set are no data sets of their own: see `cross_epc`.
    thresholds : {"per-dataset", "common"}
        Each data set's own, chosen on its development scores; or one for all, chosen on the pooled development
        scores.
    weights : None, "size" or array
        Equal by default; ``"size"``: by the number of test trials.
    confidence_level, interval
        The pointwise interval over data sets, as in `average`.

    Examples
    --------
    >>> import priori
    >>> a = priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9])
    >>> b = priori.Scores.from_arrays([0.1, 0.3, 0.4], [0.2, 0.5, 0.8])
    >>> curve = priori.average_epc({"x": a, "y": b}, {"x": b, "y": a}, alpha=[0.5])
    >>> curve.value.round(3).tolist(), curve.each.round(3).tolist()
    ([0.333], [[0.333], [0.333]])
    """
    over = OverSets.checked(interval, confidence_level)
    if thresholds not in get_args(Thresholds):
        raise unknown("choice of thresholds", thresholds, get_args(Thresholds))
    pairs, skipped = _pairs(devs, tests, by, skip_incomplete)
    if thresholds == "common":
        whole = pool([dev for dev, _ in pairs.values()])
        pairs = {name: (whole, test) for name, (_, test) in pairs.items()}
    curves = tuple(curves_of(pairs, Recipe.of(task, criterion, measure, points, bounds, alpha)))
    judged = [test for _, test in pairs.values()]
    shares = shares_of(weights, [len(test) for test in judged], list(pairs))
    single = {name: np.stack([getattr(curve, name) for curve in curves]) for name in ("value", "v1", "v2", "best")}
    if thresholds == "common":
        single["best"] = _best_in_common(curves, judged, shares)
    means = {name: np.asarray(shares @ values) for name, values in single.items()}
    lower, upper = over.around(single["value"], shares, means["value"])
    if curves[0].measure.rate:
        lower, upper = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
    return AverageEPC(
        **means,
        alpha=curves[0].alpha,
        lower=lower,
        upper=upper,
        threshold=curves[0].threshold if thresholds == "common" else np.full_like(lower, np.nan),
        each=single["value"],
        curves=curves,
        names=tuple(pairs),
        skipped=skipped,
        thresholds=thresholds,
        weights=shares,
        interval=interval,
        confidence_level=confidence_level,
    )._came_from(curves[0])


def _pairs(
    devs: Parts, tests: Parts, by: Literal["dataset", "user"], skip_incomplete: bool
) -> tuple[dict[str, tuple[Scores, Scores]], tuple[str, ...]]:
    """Return the development and the test set of each data set by name, and the names of those left out."""
    (chosen, lacking), (judged, more) = (
        data_sets(each, by=by, skip_incomplete=skip_incomplete) for each in (devs, tests)
    )
    skipped = tuple(dict.fromkeys(lacking + more))
    if any(isinstance(parts, (list, tuple)) for parts in (devs, tests)):
        if len(chosen) != len(judged) or skipped:
            raise InputError(
                f"{len(chosen)} development sets and {len(judged)} test sets cannot be paired by order; "
                "give as many of each, all with both classes, or name them"
            )
        return dict(zip(judged, zip(chosen.values(), judged.values(), strict=True), strict=True)), ()
    if lone := sorted((chosen.keys() ^ judged.keys()) - {*skipped}):
        raise InputError(f"data set {lone[0]!r} has no partner; each needs development and test scores of one name")
    pairs = {name: (chosen[name], scores) for name, scores in judged.items() if name in chosen}
    if not pairs:
        raise InputError("no data set has both classes in development and test scores")
    return pairs, skipped


def _best_in_common(curves: Sequence[EPC], tests: Sequence[Scores], shares: Floats) -> Floats:
    """Return what each test set shows at the thresholds, one for all sets, that are best for their average rates."""
    rule, alphas = curves[0].criterion.in_hindsight.settled(pool(tests), curves[0].fractions)
    thresholds = rule.choose_among(_weighed_together(tests, shares).candidates(), alphas).threshold
    return np.stack([curves[0].measure(count(test, thresholds), curves[0].alpha) for test in tests])


def _weighed_together(tests: Sequence[Scores], shares: Floats) -> Scores:
    """Return sets as one, in which they weigh their shares in either class; in whole numbers, so ties are exact."""
    sizes = np.array([(test.n_negatives, test.n_positives) for test in tests])
    whole = [Fraction(share).limit_denominator(10**9) for share in shares.tolist()]
    each = [
        [share * total / size for share, size in zip(whole, column, strict=True)]
        for column, total in zip(sizes.T.tolist(), sizes.sum(axis=0).tolist(), strict=True)
    ]
    common = math.lcm(*(weight.denominator for column in each for weight in column))
    if common * int(sizes.sum()) >= 2**62:
        common = 2**20  # nearly their shares
    weights = ([max(1, round(weight * common)) for weight in column] for column in each)
    parts = []
    for test, of_negative, of_positive in zip(tests, *weights, strict=True):
        negative, positive = (
            replace(trials, number=np.full(trials.score.size, weight) * (1 if trials.number is None else trials.number))
            for trials, weight in ((test.negative, of_negative), (test.positive, of_positive))
        )
        parts.append(replace(test, negative=negative, positive=positive))
    return pool(parts)
