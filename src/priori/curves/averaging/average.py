"""The average of several ROC curves: every curve sampled at the same positions, or at the same thresholds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.above import above
from priori.base.declarations import NUMBER, TEXT, Cautions, Column, DeclaredTable, Flat, Kept, Summary, Unsaved, listed
from priori.base.errors import OptionError
from priori.base.results import Result
from priori.base.saved import Saved, in_part, number
from priori.base.types import Floats
from priori.curves.averaging.curves import breakpoints, height_limits, heights, rates
from priori.curves.averaging.datasets import Commensurability, DataSets, Parts, commensurability
from priori.curves.averaging.intervals import (
    IntervalKind,
    IntervalPlan,
    PlanInside,
    averages,
    is_size,
    mean_of_counts,
    shares_of,
)
from priori.curves.averaging.methods import Axis, Method, find_axis, get_method
from priori.curves.roc import a_posteriori_auc, a_posteriori_eer
from priori.scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Estimate:
    """A number averaged over data sets, its interval, and the number of each data set."""

    value: float
    lower: float
    upper: float
    each: tuple[float, ...] = field(repr=False)


POINTS = "threshold fpr tpr lower upper fpr_lower fpr_upper tpr_lower tpr_upper"
Points = Annotated[dict[str, Floats], DeclaredTable({"number": POINTS}, optional="threshold lower upper")]
NamedMethod = Annotated[Method, Kept(TEXT, lambda method: method.name, lambda name, _: get_method(name))]
#: Data sets in a result: of a file, their names.
SetsInside = Annotated[
    DataSets,
    Flat(
        {"datasets": listed(TEXT), "skipped": listed(TEXT)},
        lambda sets: {"datasets": list(sets.names), "skipped": list(sets.skipped)},
        lambda saved: in_part(
            DataSets, names=tuple(saved.summary["datasets"]), skipped=tuple(saved.summary["skipped"])
        ),
    ),
]
#: How far they lie apart: of a file, one number.
ScalesInside = Annotated[
    Commensurability,
    Flat(
        {"commensurability_ratio": NUMBER},
        lambda scales: {"commensurability_ratio": scales.ratio},
        lambda saved: in_part(Commensurability, ratio=number(saved.summary["commensurability_ratio"])),
    ),
]


@dataclass(frozen=True, eq=False, repr=False)
class AverageCurve(Result):
    """The average of several ROC curves, a posteriori: one row per point. Made by `average`.

    It goes from (0, 0) to (1, 1), and each of its points has a pointwise interval.

    Attributes
    ----------
    fpr, tpr : array
        The average curve.
    fpr_lower, fpr_upper, tpr_lower, tpr_upper : array
        Limits of each coordinate. Methods that average in ROC space move a point along one direction only, so its
        interval is the line from (fpr_upper, tpr_lower) to (fpr_lower, tpr_upper): upright for the vertical
        average, level for the horizontal one. For ``threshold`` and ``pooled`` both rates vary on their own, and
        the interval is the box of the four limits. NaN when there is one data set only.
    threshold : array
        The threshold of each point, descending; NaN for averages in ROC space, which have no single threshold.
    method : Method
        How the curves were averaged; ``method.meaning`` says in one sentence what the curve tells.
    theta : float
        The angle of the averaging axis in radians (0 vertical, pi/2 horizontal); NaN for thresholds.
    datasets : DataSets
        The data sets averaged, and the names of those left out.
    commensurability : Commensurability
        How far the data sets lie apart on the score axis; see `warnings`.

    Notes
    -----
    At each position the upper point of a curve is taken, and points are joined by straight lines (section 3.2), also
    when the axes are turned. A number of positions gives a curve from (0, 0) to (1, 1); given positions
    are taken as they are, and no end is added.
    Thresholds are sampled evenly by rank: each class of each data set offers its scores, no more than ``positions``
    evenly spaced ones, and of all these ``positions`` are used. So the curve does not change when all scores go
    through the same increasing function.
    """

    threshold: Unsaved[Floats]
    fpr: Unsaved[Floats]
    tpr: Unsaved[Floats]
    fpr_lower: Unsaved[Floats]
    fpr_upper: Unsaved[Floats]
    tpr_lower: Unsaved[Floats]
    tpr_upper: Unsaved[Floats]
    method: NamedMethod
    theta: float
    datasets: SetsInside
    weights: Summary[Floats]
    plan: PlanInside

    @classmethod
    def _restored(cls, saved: Saved, known: dict[str, Any]) -> Self:
        none = np.full_like(saved.table["fpr"], np.nan)
        points = {
            field.name: saved.table.get(field.name, none) for field in fields(cls) if field.name in POINTS.split()
        }
        return in_part(cls, **points, **known)

    @property
    def points(self) -> Column[Points]:
        """The points of the curve with their limits, and their thresholds where one serves all data sets."""
        names = ["fpr", "tpr", "lower", "upper", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper", "threshold"]
        if self.method.name == "threshold":
            names = ["threshold", "fpr", "tpr", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper"]
        elif not self.method.one_threshold:
            names.remove("threshold")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def commensurability(self) -> Summary[ScalesInside]:
        """How far the data sets lie apart on the score axis."""
        return commensurability(self.datasets.scores, self.datasets.names)

    @property
    def meaning(self) -> Summary[str]:
        """What the curve tells, in one sentence."""
        return self.method.meaning

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """Warnings: scores that are not commensurable where one threshold is meant for all; few data sets."""
        scales = self.commensurability.warnings if self.method.one_threshold else ()
        return (*scales, *self.plan.warnings(self.weights))

    @property
    def lower(self) -> Floats:
        """Lower limit of the averaged coordinate: see `upper`."""
        return self._limit(self.fpr_upper, self.tpr_lower, self.fpr_lower)

    @property
    def upper(self) -> Floats:
        """Upper limit of the averaged coordinate.

        That is the true positive rate for ``vertical``, the false positive rate for ``horizontal``, and
        tp' = cos(theta) tpr - sin(theta) fpr (section 4.1) for other angles. ``threshold`` and ``pooled`` average
        two coordinates: theirs is the true positive rate's; ``fpr_lower`` and ``fpr_upper`` have the other.
        """
        return self._limit(self.fpr_lower, self.tpr_upper, self.fpr_upper)

    def _limit(self, fpr: Floats, tpr: Floats, level: Floats) -> Floats:
        if self.method.name == "horizontal":
            return level
        if self.method.one_threshold or self.theta == 0:
            return tpr
        return np.asarray(np.cos(self.theta) * tpr - np.sin(self.theta) * fpr)

    @property
    def area(self) -> Summary[float]:
        """The area under the average curve; in ROC space and with every breakpoint it is the average AUC."""
        return float(np.trapezoid(self.tpr, self.fpr))

    @cached_property
    def auc(self) -> Summary[Estimate]:
        """The average of the data sets' areas under the curve."""
        return self._estimate(a_posteriori_auc)

    @cached_property
    def eer(self) -> Summary[Estimate]:
        """The average of the data sets' equal error rates, each where its curve crosses fpr = 1 - tpr (a posteriori).

        The diagonal average crosses that line at this very rate.
        """
        return self._estimate(lambda scores: a_posteriori_eer(scores, method="interpolated"))

    def _estimate(self, number: Callable[[Scores], float]) -> Estimate:
        each = {id(part): number(part) for part in self.datasets.scores}

        def evaluate(part: Scores, _: Floats) -> Floats:  # of a data set, or of one drawn from its trials
            return np.array([[each[id(part)] if id(part) in each else number(part)]])

        means = averages(evaluate, self.datasets.scores, np.zeros(1), self.weights[None], self.plan)
        value, lower, upper = np.ravel(means).tolist()
        lower, upper = np.clip([lower, upper], 0, 1).tolist()
        return Estimate(value, lower, upper, tuple(each[id(part)] for part in self.datasets.scores))

    def singles(self, points: int = 501) -> list[tuple[Floats, Floats]]:
        """Return the single curves, (fpr, tpr) each, at points evenly spaced along the diagonal (for figures)."""
        axis = Axis(0.5, 0.5)
        positions = np.arange(points) / (points - 1)
        return [axis.back(positions, heights(part, positions, axis)) for part in self.datasets.scores]

    def outline(self) -> tuple[Floats, Floats]:
        """Return the outline of the interval, x and y: from upper to lower limits and back (for figures)."""
        x = np.concatenate([self.fpr_lower, self.fpr_upper[::-1]])
        return x, np.concatenate([self.tpr_upper, self.tpr_lower[::-1]])

    def plot(self, ax: Axes | None = None, *, singles: bool = True, interval: bool = True, text: bool = True) -> Axes:
        """Draw the average, with its meaning; options as in `priori.plots.plot_average`; returns the axes."""
        return above(self, "plot")(self, ax=ax, singles=singles, interval=interval, text=text)


def average(
    parts: Parts,
    *,
    method: str | Method = "vertical",
    theta: float | None = None,
    prior: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    weights: Literal["size"] | ArrayLike | None = None,
    positions: int | ArrayLike | Literal["exact"] = 1001,
    confidence_level: float = 0.95,
    interval: IntervalKind = "t",
    n_resamples: int = 1000,
    within: bool = False,
    rng: int | np.random.Generator = 0,
    by: Literal["dataset", "user"] = "dataset",
    skip_incomplete: bool = False,
) -> AverageCurve:
    """Average the ROC curves of several data sets into one (sections 3 and 4 of the averaging paper).

    Which average is right depends on how the classifier will be used: see `recommend`.

    Parameters
    ----------
    parts : Scores, sequence of Scores, or mapping of names to Scores
        The data sets; one `Scores` is taken apart by its ``dataset`` column, or by user with ``by="user"``.
    method : {"vertical", "horizontal", "diagonal", "angle", "cost", "threshold", "pooled"}
        ``angle`` needs ``theta`` in radians; ``cost`` takes the ``prior`` of the positive class and the costs,
        theta = arctan((1 - prior) cost_fp / (prior cost_fn)).
    weights : None, "size" or array
        Equal by default. ``"size"``: by the number of trials; for the threshold method by the trials of each
        class for its own rate, which gives the pooled curve back.
    positions : int, array or "exact"
        How many positions to sample, evenly; or which (from 0 to 1 along the averaging axis, thresholds for
        ``threshold`` and ``pooled``); or ``"exact"``: every position where a single curve can turn, with both ends
        of the vertical lines, so that nothing is left to interpolation.
    confidence_level, interval, n_resamples, within, rng
        The pointwise interval over data sets: Student's t (right for few curves, and the same as ``"normal"``, the
        paper's, for many), or the percentiles of a bootstrap over data sets, with ``within=True`` also over the
        trials inside each.
    skip_incomplete : bool
        Leave out data sets with one class only, instead of raising an error that names them.

    Examples
    --------
    >>> import priori
    >>> from priori import Scores
    >>> easy = Scores.from_arrays(negatives=[1, 2, 3, 4], positives=[3.5, 5, 6, 7])
    >>> hard = Scores.from_arrays(negatives=[1, 3, 4, 6], positives=[2, 3.5, 5, 7])
    >>> curve = priori.average([easy, hard], method="vertical", positions=5)
    >>> curve.fpr.tolist(), curve.tpr.tolist()
    ([0.0, 0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.5, 0.75, 0.875, 1.0, 1.0])
    >>> float(curve.auc.value), float(priori.average([easy, hard], positions="exact").area)
    (0.78125, 0.78125)
    """
    chosen = get_method(method)
    axis = find_axis(chosen, theta, prior, cost_fp, cost_fn)
    plan = IntervalPlan.checked(interval, confidence_level, n_resamples, within, rng)
    sets = DataSets.of(parts, by=by, skip_incomplete=skip_incomplete)
    if chosen.name == "pooled":
        weights = _pooled(weights)
    sizes = np.array([sets.negatives, sets.positives], dtype=np.float64)
    shares = shares_of(weights, sizes.sum(axis=0), sets.names)
    if axis is None:
        by_class = sizes / sizes.sum(axis=1, keepdims=True) if is_size(weights) else np.stack([shares, shares])
        points = _at_thresholds(sets, positions, by_class, plan, is_size(weights), equal=weights is None)
    else:
        points = _in_roc_space(sets, positions, shares, plan, axis)
    angle = np.nan if axis is None else axis.theta
    curve = AverageCurve(**points, method=chosen, theta=angle, datasets=sets, weights=shares, plan=plan)
    return curve._came_from(sets.scores[0])


def _pooled(weights: object) -> Literal["size"]:
    if weights is not None and not is_size(weights):
        raise OptionError("pooling weighs data sets by their size; use method='threshold' for other weights")
    return "size"


# -- along an axis in ROC space ------------------------------------------------------------------------


def _in_roc_space(
    sets: DataSets, positions: int | ArrayLike | str, weights: Floats, plan: IntervalPlan, axis: Axis
) -> dict[str, Floats]:
    along, exact, closed = _axis_positions(sets, positions, axis)

    def averaged(*, upper: bool) -> Floats:
        """Return the mean height at each position, and the limits of its interval, as three rows."""
        return averages(
            lambda part, block: heights(part, block, axis, upper=upper)[None], sets.scores, along, weights[None], plan
        )[:, 0]

    height = averaged(upper=True)
    if exact and (axis.sine == 0 or axis.cosine == 0):
        along, height = _both_ends(along, averaged(upper=False), height, axis)
    (fpr, fpr_upper, fpr_lower), (tpr, tpr_lower, tpr_upper) = (
        np.clip(rates, 0, 1) for rates in axis.back(along, np.clip(height, *height_limits(along, axis)))
    )
    # All curves share their ends, and an average of proper curves is a proper curve: only rounding is undone here.
    if axis.sine > 0 and axis.cosine > 0:
        for end in (0.0, 1.0):
            fpr[along == end], tpr[along == end] = end, end
    order = np.argsort(along, kind="stable")
    fpr[order], tpr[order] = np.maximum.accumulate(fpr[order]), np.maximum.accumulate(tpr[order])
    points = {
        "fpr": fpr,
        "tpr": tpr,
        "fpr_lower": np.minimum(fpr_lower, fpr),
        "fpr_upper": np.maximum(fpr_upper, fpr),
        "tpr_lower": np.minimum(tpr_lower, tpr),
        "tpr_upper": np.maximum(tpr_upper, tpr),
        "threshold": np.full_like(fpr, np.nan),
    }
    return _closed(points) if closed else points


def _axis_positions(sets: DataSets, positions: int | ArrayLike | str, axis: Axis) -> tuple[Floats, bool, bool]:
    """Return the positions, whether they are every breakpoint, and whether the curve's ends are to be added."""
    asked = _asked(positions)
    if asked is None:
        return np.unique(np.concatenate([breakpoints(part, axis) for part in sets.scores])), True, True
    if isinstance(asked, int):
        return np.arange(asked) / (asked - 1), False, True
    if not ((asked >= 0) & (asked <= 1)).all():
        raise OptionError("positions must lie between 0 and 1 along the averaging axis")
    return asked, False, False


def _both_ends(along: Floats, low: Floats, high: Floats, axis: Axis) -> tuple[Floats, Floats]:
    """Put the lower and upper points over each position in the order in which the curve passes them."""
    first, second = (low, high) if axis.sine == 0 else (high, low)
    different = first[0] != second[0]
    keep = np.column_stack([np.ones_like(different), different]).ravel()
    return np.repeat(along, 2)[keep], np.stack([first, second], axis=2).reshape(3, -1)[:, keep]


def _closed(points: dict[str, Floats]) -> dict[str, Floats]:
    """Add the ends (0, 0) and (1, 1) where the sampled positions leave them out.

    A vertical average begins at its upper point over fpr = 0, a horizontal one ends at its left point over tpr = 1.
    """
    for value, index in ((0.0, 0), (1.0, -1)):
        if points["fpr"][index] != value or points["tpr"][index] != value:
            limit = value if not np.isnan(points["tpr_lower"][index]) else np.nan
            end = {"fpr": value, "tpr": value, "threshold": np.nan}
            position = 0 if index == 0 else points["fpr"].size
            points = {name: np.insert(column, position, end.get(name, limit)) for name, column in points.items()}
    return points


# -- at thresholds -------------------------------------------------------------------------------------


def _at_thresholds(
    sets: DataSets, positions: int | ArrayLike | str, weights: Floats, plan: IntervalPlan, by_size: bool, equal: bool
) -> dict[str, Floats]:
    thresholds, closed = _thresholds(sets, positions)
    sizes = (sets.negatives, sets.positives)

    def exact(values: Floats) -> Floats:
        return np.stack([_mean_rate(*channel, by_size) for channel in zip(values, weights, sizes, strict=True)])

    mean, *limits = averages(rates, sets.scores, thresholds, weights, plan, exact if by_size or equal else None)
    points = {"fpr": mean[0], "tpr": mean[1], "threshold": thresholds}
    for side, limit in zip(("lower", "upper"), limits, strict=True):
        points[f"fpr_{side}"], points[f"tpr_{side}"] = np.clip(limit, 0, 1)
    if closed:
        # Accepting all is the end of every curve, also where scores of -inf are below every threshold.
        limit = np.nan if len(sets) < 2 and not plan.within else 1.0
        end = {"fpr": 1.0, "tpr": 1.0, "threshold": -np.inf}
        points = {name: np.append(column, end.get(name, limit)) for name, column in points.items()}
    return points


def _mean_rate(values: Floats, weights: Floats, sizes: tuple[int, ...], by_size: bool) -> Floats:
    """Return the mean of rates, from the whole numbers behind them where these allow."""
    counts = np.rint(values * np.array(sizes)[:, None]).astype(np.int64)
    mean = mean_of_counts(counts, sizes, by_size=by_size)
    return np.asarray(weights @ values) if mean is None else mean


def _thresholds(sets: DataSets, positions: int | ArrayLike | str) -> tuple[Floats, bool]:
    """Return thresholds, descending, and whether accepting all is to be added as the curve's end."""
    asked = _asked(positions)
    if isinstance(asked, np.ndarray):
        return np.sort(asked)[::-1], False
    number = None if asked is None else asked - 1
    offered = [_evenly(ordered, number) for part in sets.scores for ordered in (part.negatives, part.positives)]
    return _evenly(np.unique(np.concatenate(offered)), number)[::-1], True


def _evenly(ordered: Floats, number: int | None) -> Floats:
    """Return ``number`` of the values, evenly spaced by rank, the ends included; all of them if there are no more."""
    if number is None or ordered.size <= number:
        return ordered
    if number == 1:
        return ordered[-1:]
    return ordered[np.arange(number) * (ordered.size - 1) // (number - 1)]


def _asked(positions: int | ArrayLike | str) -> int | Floats | None:
    """Return how many positions are asked for, or which ones; None: every one."""
    if isinstance(positions, str) and positions == "exact":
        return None
    if np.ndim(positions) == 0:
        number = int(positions) if isinstance(positions, (int, np.integer)) and not isinstance(positions, bool) else 0
        if number < 2:
            raise OptionError(
                f"positions must be a whole number of at least 2, an array, or 'exact', not {positions!r}"
            )
        return number
    try:
        numbers = np.asarray(positions, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError("positions must be numbers") from None
    if numbers.ndim != 1 or not numbers.size or np.isnan(numbers).any():
        raise OptionError("positions must be one list of numbers, not empty and without NaN")
    return numbers
