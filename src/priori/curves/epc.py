"""The Expected Performance Curve: the aggregate on test data against alpha, each threshold chosen on development data.

It is piecewise constant in alpha, so all of it can be had exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np

from priori.base.above import above
from priori.base.alphas import AlphaAxis
from priori.base.declarations import INTEGER, SIZE, TEXT, Cautions, Flat, Kept, Summary, Unsaved, maybe, members, record
from priori.base.errors import OptionError, unknown
from priori.base.options import Interval, Resample, ResamplingOptions
from priori.base.options import Weight as Weight
from priori.base.results import Result
from priori.base.types import Floats, Progress
from priori.curves.checks import Facts, curve_cautions
from priori.decisions.criterion import FittedMap
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes, count, count_all
from priori.decisions.recipe import (
    AnyCriterion,
    AnyMeasure,
    Custom,
    NamedCriterion,
    NamedMeasure,
    NamedTask,
    Recipe,
    custom,
)
from priori.decisions.tasks import Task
from priori.scores import ScoreSet
from priori.scores.score_set import as_score_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.bands.bands import Band


def _sizes(scores: ScoreSet) -> dict[str, Any]:
    sizes = {"negatives": scores.n_negatives, "positives": scores.n_positives, "users": scores.n_users or None}
    return {"source": scores.source, **sizes}


#: A set of scores, of which a file says where it came from and how large it is.
SizedSet = Annotated[
    ScoreSet, Kept(record({"source": TEXT, "negatives": SIZE, "positives": SIZE, "users": maybe(INTEGER)}), _sizes)
]


@dataclass(frozen=True, eq=False, repr=False)
class EPC(Result):
    """An Expected Performance Curve. Made by `epc`.

    Attributes
    ----------
    alpha : ndarray
        The trade-offs; for an exact curve, where each constant piece begins.
    threshold : ndarray
        The threshold chosen on the development set at each alpha.
    dev_outcomes, outcomes : Outcomes
        Counts on the development and on the test set at those thresholds.
    dev_v1, dev_v2, v1, v2 : ndarray
        The task's pair on the development set and on the test set.
    value : ndarray
        The measure on the test set: the curve.
    best : ndarray
        The value that choosing the threshold by the same criterion on the test set itself would have shown; for
        ``bayes``, by ``wer``: the minimum, such as the minimum DCF.
    """

    name: str
    dev: SizedSet
    test: SizedSet
    task: NamedTask
    criterion: NamedCriterion
    measure: NamedMeasure
    fractions: Unsaved[tuple[Fraction, ...]]
    alpha: Floats
    threshold: Floats
    dev_outcomes: Outcomes
    outcomes: Outcomes
    dev_v1: Floats
    dev_v2: Floats
    v1: Floats
    v2: Floats
    value: Floats
    best: Floats
    exact: bool = False
    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))
    weight: Weight = "trial"
    omega: Fraction | None = None

    @property
    def measure_title(self) -> Summary[str]:
        """The measure, as figures call it."""
        return self.measure.title

    @property
    def rate(self) -> Summary[bool]:
        """Whether the measure is shown as a percentage."""
        return self.measure.rate

    @property
    def greater_is_better(self) -> Summary[bool]:
        """Whether a greater value of the measure is the better one."""
        return self.measure.greater_is_better

    @property
    def v1_name(self) -> Summary[str]:
        """The measure that V1 is."""
        return self.task.v1.name

    @property
    def v2_name(self) -> Summary[str]:
        """The measure that V2 is."""
        return self.task.v2.name

    @property
    def custom(self) -> Summary[Custom]:
        """Which of task, criterion and measure are the caller's own."""
        return custom(self.task, self.criterion, self.measure)

    @property
    def optimism(self) -> Floats:
        """How much better the a posteriori value looks than the a priori one (positive: it flatters)."""
        return self.best - self.value if self.measure.greater_is_better else self.value - self.best

    def at_extremes(self) -> tuple[Floats, Floats]:
        """Return the values at each alpha where every trial of the test set is accepted, and where none is."""
        negatives, positives = (int(each[0]) for each in (self.outcomes.negatives, self.outcomes.positives))
        made = (
            Outcomes.from_errors(*errors, negatives=negatives, positives=positives)
            for errors in ((negatives, 0), (0, positives))
        )
        accepted, rejected = (np.broadcast_to(self.measure(each, self.alpha), self.alpha.shape) for each in made)
        return accepted, rejected

    @property
    def judged(self) -> ScoreSet:
        """The test set as it is judged: its trials, or its users, weigh alike."""
        return judged(self.test, self.weight)

    def recipe_at(self, alpha: Any) -> Recipe:
        """Return how the curve was made, at other alphas: one, or a list."""
        return Recipe(self.task, self.criterion, self.measure, (), weight=self.weight).at(alpha)

    def showing(self, measure: Measure) -> EPC:
        """Return the same thresholds shown by another measure; ``best`` stays that of the first."""
        kept = self.to_resample("test")
        return replace(self, measure=measure, value=measure(count(kept.test, kept.threshold), self.alpha))

    def to_resample(self, resample: Resample) -> EPC:
        """Return the curve with the test set, and the thresholds on it, that a bootstrap resamples."""
        return replace(self, test=self.judged)

    @property
    def area(self) -> float:
        """The area under the curve over its range of alphas, integrated exactly."""
        from priori.curves.areas import area  # not above: who prints a curve does without

        return area(self.dev, self.judged, self.criterion, self.measure, self.bounds)

    @property
    def distances(self) -> bool:
        """Whether the scores were given as distances."""
        return super().distances or self.test.distances

    @property
    def backend(self) -> str | None:
        """The dataframe library the test scores came from, if any."""
        return self.test.backend

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """Warnings about the scores, and about the alpha nearest to 0.5; looked for when first asked for."""
        return curve_cautions(self, [int(np.argmin(np.abs(self.alpha - 0.5)))])[0]

    @cached_property
    def _facts(self) -> Facts:
        """What the checks of its scores look at, and find."""
        return Facts(self)

    @cached_property
    def calibration(self) -> Summary[FittedMap | None]:
        """The map to log-likelihood ratios that was fitted on the development set, where the criterion has one."""
        fitted = self.criterion.fitted(self.dev) if self.criterion.reads_development else None
        return None if fitted is None else fitted.to_dict()

    def at(self, alpha: Any) -> EPC:
        """Return the curve at other alphas: one, or a list."""
        return at_alphas([self], alpha)[0]

    def band(
        self,
        *,
        bootstrap: str | None = None,
        n_resamples: int | tuple[int, int] = 10_000,
        resample: Resample = "test",
        confidence_level: float = 0.95,
        interval: Interval | None = None,
        simultaneous: bool = False,
        rng: int | np.random.Generator | None = 0,
        shared_users: bool | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        keep: bool = False,
    ) -> Band:
        """Compute a bootstrap band around the curve.

        Parameters
        ----------
        bootstrap : {"sample", "rows", "user", "user-constrained", "joint", "crossed"}, optional
            What is resampled. By default identities where both of each trial's are known, else users where they are
            known, else trials: within each class, or as rows with their labels where the measure depends on the share
            of positives.
        n_resamples : int or (int, int)
            The number of replicates; for the joint bootstrap also (U, S): U draws of users, S of their trials in each
            (2007, Eq. 13).
        resample : {"test", "both"}
            Resample the test set and keep the thresholds (2005, section 5), or resample the development set too and
            choose new thresholds in every replicate (2007, section 3).
        interval : {"calibrated", "percentile", "centred"}, optional
            How bounds come from replicates: ``percentile`` is the 2007 paper's (section 3.2), ``centred`` the 2005
            paper's, centred at the empirical mean; ``calibrated`` (the default but for joint and user-constrained)
            corrects the percentile interval for few users and few errors so that it covers what it says.
        simultaneous : bool
            Cover the whole curve, not each point, with the given confidence (studentised maximum).
        shared_users : bool, optional
            Whether one draw of users serves both sets; by default when both hold the same users.
        rng : int, numpy Generator or None
            The seed. The same seed gives the same band on any number of ``threads``, by default one for each processor.
        progress : callable, optional
            Called with (done, total) now and then.
        keep : bool
            Keep the values of every replicate in the result.

        Examples
        --------
        >>> import numpy as np, priori
        >>> rng = np.random.default_rng(1)
        >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200)) for _ in range(2))
        >>> band = priori.epc(dev, test, alpha=[0.5]).band(n_resamples=1000)
        >>> bool(band.lower[0] < band.value[0] < band.upper[0])
        True
        """
        drawn = bootstrap, n_resamples, resample, confidence_level, interval, simultaneous, rng, shared_users
        options = ResamplingOptions(*drawn)
        band: Band = above(self, "band")(self, options, threads=threads, progress=progress, keep=keep)
        return band

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bands: Sequence[Band] | None = None,
        regions: Sequence[tuple[float, float]] = (),
        best: bool = False,
        axis: AlphaAxis = "alpha",
    ) -> Axes:
        """Draw the curve; options as in `priori.plots.plot_epc`; returns the axes."""
        return above(self, "plot")([self], ax=ax, bands=bands, regions=regions, best=best, axis=axis)


def rows_of(curve: EPC, rows: Sequence[int]) -> EPC:
    """Return a curve at some of its alphas."""
    names = ("alpha", "threshold", "dev_outcomes", "outcomes", "dev_v1", "dev_v2", "v1", "v2", "value", "best")
    parts: dict[str, Any] = {name: getattr(curve, name)[rows] for name in names}
    return replace(curve, fractions=tuple(curve.fractions[row] for row in rows), **parts)


#: What results that hold a curve say of it: what it shows, and how its thresholds were chosen.
INSIDE = (
    *("name", "task", "criterion", "measure", "measure_title", "rate", "greater_is_better", "v1_name", "v2_name"),
    *("exact", "bounds", "custom", "weight", "omega"),
)


CurveInside = Annotated[
    EPC,
    Flat(
        {name: members(EPC)[name].summary[name] for name in INSIDE},
        lambda curve: {name: members(EPC)[name].write(getattr(curve, name))[name] for name in INSIDE},
    ),
]


def epc(
    dev: Any,
    test: Any,
    *,
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    measure: AnyMeasure = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    costs: Any = None,
    prior: Any = None,
    exact: bool = False,
    preset: str | None = None,
    weight: Weight = "trial",
    name: str = "system",
) -> EPC:
    """Compute the Expected Performance Curve (Algorithm 1 of Bengio, Mariéthoz and Keller, 2005).

    For each alpha the threshold that minimises the criterion on ``dev`` is applied to ``test``.

    Parameters
    ----------
    dev, test : Scores, Table, or frame
        The development set, on which thresholds are chosen, and the test set, on which they are judged. A frame
        that narwhals knows, a duckdb relation or a Spark DataFrame is taken as it is.
    task : {"authentication", "detection", "fraud", "texts", "retrieval", "spam", "diagnosis"} or Task
        Gives V1, V2, and the criterion and measure used when none is named.
    criterion : str, Criterion or callable, optional
        ``wer``, ``pr``, ``target-far``, ``at-most-far``, ``at-most-far:0.95``, ``eer``, ``max:f1``, ``min:dcf:...``
        (any rate of a class, any measure; ``v1`` and ``v2`` are the task's), ``bayes`` (theory's threshold for scores
        that are log-likelihood ratios; ``bayes:logistic`` and ``bayes:isotonic`` calibrate them on ``dev`` first), a
        measure to optimise, or a function of outcomes and alpha.
    measure : str, Measure or callable, optional
        What is shown on the test set: a name such as ``hter``, ``f1``, ``wer:0.3``, or a function of outcomes.
    points, bounds : int, (a, b)
        A grid of alphas: ``points`` of them from a to b.
    alpha : number or list, optional
        These alphas instead of a grid; 0.1 means one tenth, "costs:100,1,0.01" what costs and a prior ask for.
    costs : str, mapping or pair, optional
        What a false negative and a false positive cost: ``"fn=100,fp=1"``, ``{"fn": 100, "fp": 1}`` or ``(100, 1)``.
        The curve is then the cost per decision, unless a measure is named, and the alpha is that of the costs, unless
        one is given.
    prior : number, optional
        The share of positives where the system will be used. Costs need it; without costs it shows a measure that
        depends on this share (precision, F1, NPV, accuracy) as it will be there.
    exact : bool
        Every piece of the curve between ``bounds`` instead of a grid.
    preset : {"sre05", "sre10", "sre16", "voxsrc", "asvspoof5", "frte", "banca"}, optional
        The criterion, measure and alphas of an evaluation campaign.
    weight : {"trial", "user"}
        What counts equally on the test set. With ``user`` a rate is the mean of the users' own rates, over the users
        who have trials of the class: how the system treats a person. Thresholds are chosen on trials either way.

    Examples
    --------
    >>> import priori
    >>> dev = priori.Scores.from_arrays(negatives=[0.1, 0.2, 0.6], positives=[0.4, 0.7, 0.9])
    >>> test = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.2, 0.5, 0.8])
    >>> curve = priori.epc(dev, test, alpha=[0.2, 0.5, 0.8])
    >>> curve.threshold.round(3).tolist(), curve.value.round(3).tolist()
    ([0.3, 0.3, 0.65], [0.333, 0.333, 0.333])
    """
    asked = Recipe.of(task, criterion, measure, points, bounds, alpha, costs, prior, exact, preset, weight)
    (curve,) = curves_of({name: (dev, test)}, asked)
    return curve


def epc_all(
    sets: Mapping[str, tuple[Any, Any]],
    *,
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    measure: AnyMeasure = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    costs: Any = None,
    prior: Any = None,
    exact: bool = False,
    preset: str | None = None,
    weight: Weight = "trial",
) -> list[EPC]:
    """Compute the curve of each of several systems, given by name with development and test scores.

    Each scan of one table (`priori.scan_table`) serves all of its systems. The options are those of `priori.epc`.

    Examples
    --------
    >>> import priori
    >>> low = priori.Scores.from_arrays(negatives=[0.1, 0.2, 0.6], positives=[0.4, 0.7, 0.9])
    >>> high = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.5, 0.6, 0.8])
    >>> [(curve.name, curve.value.round(3).tolist()) for curve in priori.epc_all({"A": (low, low), "B": (high, high)},
    ...                                                                         alpha=[0.5])]
    [('A', [0.167]), ('B', [0.0])]
    """
    asked = Recipe.of(task, criterion, measure, points, bounds, alpha, costs, prior, exact, preset, weight)
    return curves_of(sets, asked)


def curves_of(sets: Mapping[str, tuple[Any, Any]], recipe: Recipe) -> list[EPC]:
    """Return the curve of each system, given by name with development and test scores, made by one recipe."""
    devs, tests = ([as_score_set(pair[part]) for pair in sets.values()] for part in (0, 1))
    rule, task, measure, exact, weight = recipe.criterion, recipe.task, recipe.measure, recipe.exact, recipe.weight
    mixed = [_mixed(test, exact, weight) for test in tests]
    if exact:
        pieces = [rule.pieces(dev).between(recipe.bounds) for dev in devs]
        alphas, choices = [each.breaks[:-1] for each in pieces], [each.choice for each in pieces]
        hindsight = (rule.pieces(test).between(recipe.bounds) for test in tests)
        bests = [each.outcomes_after(own) for each, own in zip(hindsight, alphas, strict=True)]
    else:
        alphas = [np.array([float(fraction) for fraction in recipe.fractions])] * len(tests)
        choices = rule.choose_all(devs, recipe.fractions)
    counted = count_all([test.unmixed for test in tests], [choice.threshold for choice in choices])
    if not exact:
        after = rule.in_hindsight.choose_all(tests, recipe.fractions)
        bests = [
            choice.outcomes if weight == "trial" else count(judged(test, weight), choice.threshold)
            for test, choice in zip(tests, after, strict=True)
        ]
    curves = []
    for n, (name, dev, test, choice, outcomes) in enumerate(zip(sets, devs, tests, choices, counted, strict=True)):
        plain = weight == "trial" and not mixed[n]
        shown = outcomes if plain else count(judged(test, weight), choice.threshold)
        curves.append(
            EPC(
                name=name,
                dev=dev,
                test=test,
                task=task,
                criterion=rule,
                measure=measure,
                fractions=recipe.fractions,
                alpha=alphas[n],
                threshold=choice.threshold,
                outcomes=outcomes,
                dev_outcomes=count(dev.unmixed, choice.threshold) if mixed[n] else choice.outcomes,
                dev_v1=task.v1(choice.outcomes),
                dev_v2=task.v2(choice.outcomes),
                v1=task.v1(shown),
                v2=task.v2(shown),
                value=measure(shown, alphas[n]),
                best=measure(bests[n], alphas[n]),
                exact=exact,
                bounds=recipe.bounds,
                weight=weight,
                omega=getattr(test, "omega", None),
            )
        )
    return curves


def at_alphas(curves: Sequence[EPC], alpha: Any) -> list[EPC]:
    """Return curves, computed in one way, at other alphas; those that they have are read from them."""
    recipes = [curve.recipe_at(alpha) for curve in curves]
    if any(recipe != recipes[0] for recipe in recipes):
        return [curve.at(alpha) for curve in curves]
    fractions, bounds = recipes[0].fractions, recipes[0].bounds
    if all({*fractions} <= {*curve.fractions} for curve in curves):
        return [replace(rows_of(each, [*map(each.fractions.index, fractions)]), bounds=bounds) for each in curves]
    found = curves_of({str(number): (curve.dev, curve.test) for number, curve in enumerate(curves)}, recipes[0])
    return [replace(new, name=curve.name) for new, curve in zip(found, curves, strict=True)]


def _mixed(test: ScoreSet, exact: bool, weight: str) -> bool:
    """Tell whether attacks have a share of their own, and refuse what does not go with that."""
    mixed = test.unmixed is not test
    if mixed and (exact or weight != "trial"):
        raise OptionError("where attacks have a share of their own, curves are not exact and trials weigh alike")
    return mixed


def judged(test: ScoreSet, weight: str) -> ScoreSet:
    """Return a test set whose trials, or users, weigh alike."""
    if weight not in get_args(Weight):
        raise unknown("weight", weight, get_args(Weight))
    if weight == "trial":
        return test
    from priori.scores.derived import weigh_users  # seldom asked for

    return weigh_users(test)
