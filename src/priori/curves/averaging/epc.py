"""The average of Expected Performance Curves over data sets, or over the folds of a cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.above import above
from priori.base.declarations import Cautions, Summary, Unsaved
from priori.base.errors import InputError, OptionError, unknown
from priori.base.results import Result
from priori.base.saved import Saved, column, in_part
from priori.base.types import Floats
from priori.curves.averaging.datasets import Commensurability, DataSets, Parts, commensurability
from priori.curves.averaging.intervals import IntervalKind, IntervalPlan, PlanInside, shares_of
from priori.curves.checks import common_cautions
from priori.curves.epc import EPC, curve_in_part, epc
from priori.decisions.criteria import Criterion
from priori.decisions.measure import Measure
from priori.decisions.named import Custom, NamedCriterion, NamedMeasure, NamedTask
from priori.decisions.outcomes import Outcomes, count
from priori.decisions.tasks import Task
from priori.scores import Scores, pool
from priori.scores.candidates import Shortlist

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Thresholds = Literal["per-dataset", "common"]

#: What each choice of thresholds means, in one sentence.
MEANINGS = {
    "per-dataset": "The average among data sets when each uses the threshold chosen on its own development scores.",
    "common": "The average among data sets when all use the one threshold chosen on their pooled development scores.",
    "folds": "The average among folds when each is judged with the threshold chosen on the other folds together.",
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
    thresholds: Literal["per-dataset", "common", "folds"]
    weights: Summary[Floats]
    plan: PlanInside

    @classmethod
    def _restored(cls, saved: Saved, known: dict[str, Any]) -> Self:
        values = {name: column(value, "number", name) for name, value in saved.summary["datasets"].items()}
        curves = tuple(curve_in_part(saved, name=name, value=value) for name, value in values.items())
        return in_part(cls, each=np.array(list(values.values())), curves=curves, names=tuple(values), **known)

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
    def commensurability(self) -> Commensurability:
        """How far the test sets lie apart on the score axis."""
        return commensurability([curve.test.load() for curve in self.curves], self.names)

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """Warnings: scores that are not commensurable under one threshold, few data sets, what most warn of."""
        scales = () if self.thresholds == "per-dataset" else self.commensurability.warnings
        return (*scales, *self.plan.warnings(self.weights), *common_cautions(self.curves))

    def plot(self, ax: Axes | None = None, *, singles: bool = True) -> Axes:
        """Draw the average, over the single curves where ``singles``; returns the axes."""
        return above(self, "plot")(self, ax=ax, singles=singles)


def average_epc(
    devs: Parts,
    tests: Parts | None = None,
    *,
    thresholds: Thresholds = "per-dataset",
    task: str | Task = "authentication",
    criterion: str | Criterion | Callable[[Outcomes, float], Any] | None = None,
    measure: str | Measure | Callable[[Outcomes], Any] | None = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    weights: Literal["size"] | ArrayLike | None = None,
    confidence_level: float = 0.95,
    interval: IntervalKind = "t",
    n_resamples: int = 1000,
    rng: int | np.random.Generator = 0,
    by: Literal["dataset", "user"] = "dataset",
    skip_incomplete: bool = False,
) -> AverageEPC:
    """Average Expected Performance Curves over data sets, at each alpha.

    Parameters
    ----------
    devs, tests : Scores, sequence of Scores, or mapping of names to Scores
        The development and the test set of each data set: paired by name, or by order when given as sequences.
        Without ``tests``, ``devs`` are the folds of a cross-validation: each is a test set in turn, and its
        thresholds are chosen on the other folds together (the papers' answer to "no development set").
    thresholds : {"per-dataset", "common"}
        Each data set's own, chosen on its development scores; or one for all, chosen on the pooled development
        scores.
    weights : None, "size" or array
        Equal by default; ``"size"``: by the number of test trials.
    confidence_level, interval, n_resamples, rng
        The pointwise interval over data sets, as in `average`. Folds share their thresholds' data, so that theirs
        is a description of how folds differ more than a promise of coverage.

    Examples
    --------
    >>> import priori
    >>> folds = [priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9]),
    ...          priori.Scores.from_arrays([0.1, 0.3, 0.4], [0.2, 0.5, 0.8])]
    >>> curve = priori.average_epc(folds, alpha=[0.5])
    >>> curve.value.round(3).tolist(), curve.each.round(3).tolist()
    ([0.333], [[0.333], [0.333]])
    """
    plan = IntervalPlan.checked(interval, confidence_level, n_resamples, False, rng)
    pairs = _pairs(devs, tests, thresholds, by, skip_incomplete)
    settings: dict[str, Any] = {
        "task": task,
        "criterion": criterion,
        "measure": measure,
        "points": points,
        "bounds": bounds,
        "alpha": alpha,
    }
    curves = tuple(
        epc(dev, test, name=name, **settings)
        for name, dev, test in zip(pairs.names, pairs.devs, pairs.tests, strict=True)
    )
    shares = shares_of(weights, [len(test) for test in pairs.tests], pairs.names)
    single = {name: np.stack([getattr(curve, name) for curve in curves]) for name in ("value", "v1", "v2", "best")}
    if pairs.kind == "common":
        single["best"] = _best_in_common(curves, pairs.tests, shares)
    means = {name: np.asarray(shares @ values) for name, values in single.items()}
    lower, upper = plan.around(single["value"], shares, means["value"])
    if curves[0].measure.rate:
        lower, upper = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
    return AverageEPC(
        **means,
        alpha=curves[0].alpha,
        lower=lower,
        upper=upper,
        threshold=curves[0].threshold if pairs.kind == "common" else np.full_like(lower, np.nan),
        each=single["value"],
        curves=curves,
        names=pairs.names,
        skipped=pairs.skipped,
        thresholds=pairs.kind,
        weights=shares,
        plan=plan,
    )._came_from(curves[0])


@dataclass(frozen=True)
class _Pairs:
    """Test sets, and the set that the thresholds of each are chosen on."""

    kind: Literal["per-dataset", "common", "folds"]
    names: tuple[str, ...]
    devs: tuple[Scores, ...]
    tests: tuple[Scores, ...]
    skipped: tuple[str, ...]


def _pairs(
    devs: Parts, tests: Parts | None, thresholds: Thresholds, by: Literal["dataset", "user"], skip_incomplete: bool
) -> _Pairs:
    """Give every test set the development set that its thresholds are chosen on."""
    if thresholds not in ("per-dataset", "common"):
        raise unknown("choice of thresholds", thresholds, ("per-dataset", "common"))
    dev = DataSets.of(devs, by=by, skip_incomplete=skip_incomplete)
    if tests is None:
        return _folds(dev, thresholds)
    test = DataSets.of(tests, by=by, skip_incomplete=skip_incomplete)
    skipped = tuple(dict.fromkeys(dev.skipped + test.skipped))
    if any(isinstance(parts, (list, tuple)) for parts in (devs, tests)):
        if len(dev) != len(test) or skipped:
            raise InputError(
                f"{len(dev)} development sets and {len(test)} test sets cannot be paired by order; "
                "give as many of each, all with both classes, or name them"
            )
        chosen, judged, names = dev.scores, test.scores, test.names
    else:
        names = tuple(name for name in test.names if name in dev.names)
        lone = sorted({*dev.names, *test.names} - {*names, *skipped})
        if lone:
            raise InputError(f"data set {lone[0]!r} has no partner; each needs development and test scores of one name")
        chosen, judged = (tuple(sets.scores[sets.names.index(name)] for name in names) for sets in (dev, test))
    if not names:
        raise InputError("no data set has both classes in development and test scores")
    if thresholds == "common":
        chosen = (pool(chosen),) * len(judged)
    return _Pairs(thresholds, names, chosen, judged, skipped)


def _best_in_common(curves: Sequence[EPC], tests: Sequence[Scores], shares: Floats) -> Floats:
    """Return what each test set shows at the thresholds, one for all sets, that are best for their average rates."""
    rule, alphas = curves[0].criterion.in_hindsight.settled(pool(tests), curves[0].fractions)
    thresholds = rule.choose_among(_weighed_together(tests, shares), alphas).threshold
    return np.stack([curves[0].measure(count(test, thresholds), curves[0].alpha) for test in tests])


def _weighed_together(tests: Sequence[Scores], shares: Floats) -> Shortlist:
    """Return every candidate of sets that weigh their shares in either class; in whole numbers, so ties are exact."""
    sizes = np.array([(test.n_negatives, test.n_positives) for test in tests])
    whole = [Fraction(share).limit_denominator(10**9) for share in shares.tolist()]
    each = [
        [share * total / size for share, size in zip(whole, column, strict=True)]
        for column, total in zip(sizes.T.tolist(), sizes.sum(axis=0).tolist(), strict=True)
    ]
    common = math.lcm(*(weight.denominator for column in each for weight in column))
    if common * int(sizes.sum()) >= 2**62:
        common = 2**20  # nearly their shares
    weights = np.array([[max(1, round(weight * common)) for weight in column] for column in each])
    scores = (part for test in tests for part in (test.negatives, test.positives))
    values = np.unique(np.concatenate([[-np.inf], *scores]))
    tn = fn = np.zeros(values.size, dtype=np.int64)
    for test, of_negative, of_positive in zip(tests, *weights, strict=True):
        rejected = test.rejected(values)
        tn, fn = tn + of_negative * rejected[0], fn + of_positive * rejected[1]
    negatives, positives = (int(number) for number in (weights * sizes.T).sum(axis=1))
    return Shortlist(negatives - tn, fn, values, np.append(values[1:], np.inf), negatives, positives)


def _folds(folds: DataSets, thresholds: str) -> _Pairs:
    if thresholds == "common":
        raise OptionError("a common threshold of all folds would be chosen on its own test scores; give test sets")
    if len(folds) < 2:
        raise InputError("at least two folds are needed: the thresholds of each are chosen on the others")
    others = tuple(pool(folds.scores[:fold] + folds.scores[fold + 1 :]) for fold in range(len(folds)))
    return _Pairs("folds", folds.names, others, folds.scores, folds.skipped)
