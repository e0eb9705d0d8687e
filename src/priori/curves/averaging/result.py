"""The average of several ROC curves: a frozen result that knows its method, its meaning and its warnings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.above import above
from priori.base.layouts import CAUTIONS, FLAG, LEVEL, NUMBER, NUMBERS, TEXT, TEXTS, Layout, choice, of, record
from priori.base.results import Result
from priori.base.saved import Saved, column
from priori.base.types import Floats
from priori.curves.averaging.curves import heights
from priori.curves.averaging.datasets import DataSets
from priori.curves.averaging.intervals import INTERVALS, IntervalPlan, averages
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

    def to_dict(self) -> dict[str, Any]:
        """Return the average, its interval and each data set's number."""
        return {**vars(self), "each": list(self.each)}

    @classmethod
    def from_dict(cls, numbers: dict[str, Any]) -> Estimate:
        """Return the estimate that `to_dict` gave, as it stands in a file."""
        value, lower, upper = column(
            [numbers[name] for name in ("value", "lower", "upper")], "number", "value"
        ).tolist()
        return cls(value, lower, upper, tuple(numbers["each"]))


ESTIMATE = record({**of(NUMBER, "value lower upper"), "each": NUMBERS})


@dataclass(frozen=True, eq=False, repr=False)
class AverageCurve(Result):
    """One ROC curve from many, from (0, 0) to (1, 1), with the pointwise interval of each of its points.

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

    fpr: Floats
    tpr: Floats
    fpr_lower: Floats
    fpr_upper: Floats
    tpr_lower: Floats
    tpr_upper: Floats
    threshold: Floats
    method: Method
    theta: float
    datasets: DataSets
    weights: Floats
    plan: IntervalPlan

    _layout = Layout(
        "The average of several ROC curves, a posteriori: one row per point.",
        of("number", "threshold fpr tpr lower upper fpr_lower fpr_upper tpr_lower tpr_upper"),
        {
            **of(TEXT, "method meaning"),
            "warnings": CAUTIONS,
            "theta": NUMBER,
            **of(TEXTS, "datasets skipped"),
            "weights": NUMBERS,
            "interval": choice(*INTERVALS),
            "within": FLAG,
            "confidence_level": LEVEL,
            **of(NUMBER, "commensurability_ratio area"),
            **of(ESTIMATE, "auc eer"),
        },
        optional=("threshold", "lower", "upper", "warnings"),
        descriptions={
            "area": "The area under the average curve.",
            "threshold": "The threshold of each point; only where one threshold serves all data sets.",
        },
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        method = get_method(saved["method"])
        if not method.one_threshold:
            known["threshold"] = np.full_like(saved.table["fpr"], np.nan)
        return super()._from_parts(
            saved,
            method=method,
            datasets=saved.part(DataSets, names=saved.texts("datasets"), skipped=saved.texts("skipped")),
            plan=IntervalPlan.from_parts(saved),
            commensurability=saved.part(Commensurability, ratio=saved.number("commensurability_ratio")),
            auc=Estimate.from_dict(saved["auc"]),
            eer=Estimate.from_dict(saved["eer"]),
            **known,
        )

    @cached_property
    def commensurability(self) -> Commensurability:
        """How far the data sets lie apart on the score axis."""
        return commensurability(self.datasets.scores, self.datasets.names)

    @property
    def meaning(self) -> str:
        """What the curve tells, in one sentence."""
        return self.method.meaning

    @cached_property
    def warnings(self) -> tuple[str, ...]:
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
    def area(self) -> float:
        """The area under the average curve; in ROC space and with every breakpoint it is the average AUC."""
        return float(np.trapezoid(self.tpr, self.fpr))

    @cached_property
    def auc(self) -> Estimate:
        """The average of the data sets' areas under the curve."""
        return self._estimate(a_posteriori_auc)

    @cached_property
    def eer(self) -> Estimate:
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

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table: one row per point of the curve."""
        names = ["fpr", "tpr", "lower", "upper", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper", "threshold"]
        if self.method.name == "threshold":
            names = ["threshold", "fpr", "tpr", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper"]
        elif not self.method.one_threshold:
            names.remove("threshold")
        return {name: getattr(self, name) for name in names}

    def summary(self) -> dict[str, Any]:
        """Return the method, its meaning and warning, and the average AUC and EER."""
        return {
            "method": self.method.name,
            "meaning": self.meaning,
            "warnings": list(self.warnings),
            "theta": self.theta,
            "datasets": list(self.datasets.names),
            "skipped": list(self.datasets.skipped),
            "weights": self.weights,
            "interval": self.plan.kind,
            "within": self.plan.within,
            "confidence_level": self.plan.confidence_level,
            "commensurability_ratio": self.commensurability.ratio,
            "area": self.area,
            "auc": self.auc.to_dict(),
            "eer": self.eer.to_dict(),
        }

    def plot(self, ax: Axes | None = None, *, singles: bool = True, interval: bool = True, text: bool = True) -> Axes:
        """Draw the average, with its meaning; options as in `priori.plots.plot_average`; returns the axes."""
        return above(self, "plot")(self, ax=ax, singles=singles, interval=interval, text=text)
