"""The average of several ROC curves: a frozen result that knows its method, its meaning and its warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from priori.base.above import above
from priori.base.declarations import NUMBER, TEXT, Cautions, Column, Flat, Kept, Summary, Table, Unsaved, listed
from priori.base.results import Result
from priori.base.saved import Saved, in_part, number
from priori.base.types import Floats
from priori.curves.averaging.curves import heights
from priori.curves.averaging.datasets import DataSets
from priori.curves.averaging.intervals import PlanInside, averages
from priori.curves.averaging.methods import Axis, Method, get_method
from priori.curves.averaging.scales import Commensurability, commensurability
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
Points = Annotated[dict[str, Floats], Table({"number": POINTS}, optional="threshold lower upper")]
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
