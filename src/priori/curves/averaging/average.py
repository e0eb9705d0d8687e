"""The average of several ROC curves: every curve sampled at the same positions, or at the same thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from priori.base.above import above
from priori.base.declarations import TEXT, Cautions, Column, Kept, Level, Summary, Unsaved
from priori.base.errors import OptionError
from priori.base.results import Result
from priori.base.types import Floats, Ints
from priori.curves.averaging.curves import breakpoints, height_limits, heights, rates
from priori.curves.averaging.datasets import (
    Commensurability,
    IntervalKind,
    OverSets,
    Parts,
    commensurability,
    data_sets,
    few_sets,
    is_size,
    shares_of,
    weighted_mean,
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


NamedMethod = Annotated[Method, Kept(TEXT, lambda method: method.name)]


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
    datasets, skipped : tuple of str
        The names of the data sets averaged, and of those left out.
    weights : array
        How much each data set counts, 1 in all.

    Notes
    -----
    At each position the upper point of a curve is taken, and points are joined by straight lines (section 3.2), also
    when the axes are turned. A number of positions gives a curve from (0, 0) to (1, 1); given positions
    are taken as they are, and no end is added.
    Thresholds are sampled evenly by rank: each class of each data set offers its scores, no more than ``positions``
    evenly spaced ones, and of all these ``positions`` are used. So the curve does not change when all scores go
    through the same increasing function.
    """

    fpr: Floats
    tpr: Floats
    fpr_lower: Floats
    fpr_upper: Floats
    tpr_lower: Floats
    tpr_upper: Floats
    threshold: Floats
    method: NamedMethod
    theta: float
    datasets: tuple[str, ...]
    skipped: tuple[str, ...]
    weights: Summary[Floats]
    interval: IntervalKind
    confidence_level: Level
    sets: Unsaved[tuple[Scores, ...]]

    @cached_property
    def _scales(self) -> Commensurability:
        return commensurability(self.sets, self.datasets)

    @cached_property
    def commensurability_ratio(self) -> Summary[float]:
        """How far the data sets lie apart on the score axis, in spreads of a class."""
        return self._scales.ratio

    @property
    def meaning(self) -> Summary[str]:
        """What the curve tells, in one sentence."""
        return self.method.meaning

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """Warnings: scores that are not commensurable where one threshold is meant for all; few data sets."""
        scales = self._scales.warnings if self.method.one_threshold else ()
        return (*scales, *few_sets(self.interval, self.weights))

    @property
    def lower(self) -> Column[Floats]:
        """Lower limit of the averaged coordinate: see `upper`."""
        return self._limit(self.fpr_upper, self.tpr_lower, self.fpr_lower)

    @property
    def upper(self) -> Column[Floats]:
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
        return self._estimate([a_posteriori_auc(each) for each in self.sets])

    @cached_property
    def eer(self) -> Summary[Estimate]:
        """The average of the data sets' equal error rates, each where its curve crosses fpr = 1 - tpr (a posteriori).

        The diagonal average crosses that line at this very rate.
        """
        return self._estimate([a_posteriori_eer(each, method="interpolated") for each in self.sets])

    def _estimate(self, each: Sequence[float]) -> Estimate:
        values = np.array(each)[:, None]
        mean = weighted_mean(values[None], self.weights[None])[0]
        lower, upper = np.clip(OverSets(self.interval, self.confidence_level).around(values, self.weights, mean), 0, 1)
        return Estimate(float(mean[0]), float(lower[0]), float(upper[0]), tuple(each))

    def singles(self, points: int = 501) -> list[tuple[Floats, Floats]]:
        """Return the single curves, (fpr, tpr) each, at points evenly spaced along the diagonal (for figures)."""
        axis = Axis(0.5, 0.5)
        positions = np.arange(points) / (points - 1)
        return [axis.back(positions, heights(part, positions, axis)) for part in self.sets]

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
    confidence_level, interval
        The pointwise interval over data sets: Student's t (right for few curves), or ``"normal"``, the paper's, which
        is the same for many.
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
    over = OverSets.checked(interval, confidence_level)
    named, skipped = data_sets(parts, by=by, skip_incomplete=skip_incomplete)
    names, sets = tuple(named), tuple(named.values())
    if chosen.name == "pooled":
        if weights is not None and not is_size(weights):
            raise OptionError("pooling weighs data sets by their size; use method='threshold' for other weights")
        weights = "size"
    sizes = np.array([[part.n_negatives for part in sets], [part.n_positives for part in sets]])
    shares = shares_of(weights, sizes.sum(axis=0), names)
    if axis is not None:
        points = _in_roc_space(sets, positions, shares, over, axis)
    elif is_size(weights):
        points = _at_thresholds(
            sets, positions, sizes / sizes.sum(axis=1, keepdims=True), over, partial(_pooled, sizes)
        )
    else:
        exact = partial(_mean_of_rates, sizes) if weights is None else None
        points = _at_thresholds(sets, positions, np.stack([shares, shares]), over, exact)
    return AverageCurve(
        **points,
        method=chosen,
        theta=np.nan if axis is None else axis.theta,
        datasets=names,
        skipped=skipped,
        weights=shares,
        interval=interval,
        confidence_level=confidence_level,
        sets=sets,
    )._came_from(sets[0])


# -- along an axis in ROC space ------------------------------------------------------------------------


def _in_roc_space(
    sets: Sequence[Scores], positions: int | ArrayLike | str, weights: Floats, over: OverSets, axis: Axis
) -> dict[str, Floats]:
    along, exact, closed = _axis_positions(sets, positions, axis)

    def averaged(*, upper: bool) -> Floats:
        """Return the mean height at each position, and the limits of its interval, as three rows."""
        return over.averages(
            lambda part, here: heights(part, here, axis, upper=upper)[None], sets, along, weights[None]
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


def _axis_positions(sets: Sequence[Scores], positions: int | ArrayLike | str, axis: Axis) -> tuple[Floats, bool, bool]:
    """Return the positions, whether they are every breakpoint, and whether the curve's ends are to be added."""
    asked = _asked(positions)
    if asked is None:
        return np.unique(np.concatenate([breakpoints(part, axis) for part in sets])), True, True
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


def _closed(points: dict[str, Floats], *, accepting: float = np.nan) -> dict[str, Floats]:
    """Add the ends (0, 0) and (1, 1) where the sampled positions leave them out; ``accepting``: the last's threshold.

    A vertical average begins at its upper point over fpr = 0, a horizontal one ends at its left point over tpr = 1. No
    threshold accepts scores of -inf, and yet accepting all is the end of every curve.
    """
    for value, index, threshold in ((0.0, 0, np.nan), (1.0, -1, accepting)):
        if points["fpr"][index] != value or points["tpr"][index] != value:
            limit = value if not np.isnan(points["tpr_lower"][index]) else np.nan
            end = {"fpr": value, "tpr": value, "threshold": threshold}
            position = 0 if index == 0 else points["fpr"].size
            points = {name: np.insert(column, position, end.get(name, limit)) for name, column in points.items()}
    return points


# -- at thresholds -------------------------------------------------------------------------------------


def _at_thresholds(
    sets: Sequence[Scores],
    positions: int | ArrayLike | str,
    weights: Floats,
    over: OverSets,
    exact: Callable[[Floats], Floats] | None,
) -> dict[str, Floats]:
    thresholds, closed = _thresholds(sets, positions)
    mean, *limits = over.averages(rates, sets, thresholds, weights, exact)
    points = {"fpr": mean[0], "tpr": mean[1], "threshold": thresholds}
    for side, limit in zip(("lower", "upper"), limits, strict=True):
        points[f"fpr_{side}"], points[f"tpr_{side}"] = np.clip(limit, 0, 1)
    return _closed(points, accepting=-np.inf) if closed else points


def _pooled(sizes: Ints, rates: Floats) -> Floats:
    """Return the rates of all data sets taken together: those of each, (classes, data sets, thresholds), by size."""
    return np.asarray(_counts(sizes, rates).sum(axis=1) / sizes.sum(axis=1, keepdims=True))


def _mean_of_rates(sizes: Ints, rates: Floats) -> Floats:
    """Return the mean of the data sets' rates, divided once from whole numbers where their sizes allow."""
    found = []
    for own, of_class, counts in zip(sizes.tolist(), rates, _counts(sizes, rates), strict=True):
        common = math.lcm(*own) * len(own)
        factors = [common // (size * len(own)) for size in own]
        exact = common < 2**53
        found.append(np.array(factors) @ counts / common if exact else np.full(len(own), 1 / len(own)) @ of_class)
    return np.stack(found)


def _counts(sizes: Ints, rates: Floats) -> Ints:
    """Return how many trials the rates of data sets stand for."""
    return np.rint(rates * sizes[:, :, None]).astype(np.int64)


def _thresholds(sets: Sequence[Scores], positions: int | ArrayLike | str) -> tuple[Floats, bool]:
    """Return thresholds, descending, and whether accepting all is to be added as the curve's end."""
    asked = _asked(positions)
    if isinstance(asked, np.ndarray):
        return np.sort(asked)[::-1], False
    number = None if asked is None else asked - 1
    offered = [_evenly(ordered, number) for part in sets for ordered in (part.negatives, part.positives)]
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
