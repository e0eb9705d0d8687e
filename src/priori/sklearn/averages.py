"""The average of ROC curves as a scikit-learn display."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.curves.averaging import AverageCurve, average
from priori.scores import Scores
from priori.sklearn.displays import Contents, Display, Style, positive_label
from priori.sklearn.responses import ResponseMethod, as_predictions, of_folds, scores, with_options_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What is no option of the average here: its data sets, and how one set is taken apart.
PARTS = ("parts", "by")


@dataclass(kw_only=True, eq=False, repr=False)
class AverageROCDisplay(Display):
    """One ROC curve from many: folds, data sets, users, readers. *A posteriori*, as every ROC curve.

    Which average is right depends on how the classifier will be used (`priori.recommend`); ``method`` is any of
    `priori.average`. Make one with `from_estimator`, `from_predictions` or `from_cv_results`.

    Parameters
    ----------
    fpr, tpr : ndarray
        The average curve.
    singles : list of (ndarray, ndarray)
        The single curves.
    outline : (ndarray, ndarray), optional
        The outline of the interval: x and y.
    roc_auc : float, optional
        The average area, shown in the legend.
    name, method, pos_label : optional
        For the legend and the axes.

    Attributes
    ----------
    curve_ : AverageCurve
        The result behind the display.
    line_, band_, singles_, chance_level_, ax_, figure_ : matplotlib Artists

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from priori.sklearn import AverageROCDisplay
    >>> X, y = make_classification(n_samples=600, random_state=0)
    >>> results = cross_validate(LogisticRegression(), X, y, return_estimator=True, return_indices=True)
    >>> display = AverageROCDisplay.from_cv_results(results, X, y, method="vertical")
    >>> len(display.singles)
    5
    """

    fpr: Floats
    tpr: Floats
    singles: list[tuple[Floats, Floats]]
    outline: tuple[Floats, Floats] | None = None
    roc_auc: float | None = None
    name: str | None = None
    method: str | None = None
    pos_label: Any = None
    curve_: AverageCurve = field(init=False)

    _metric_name = "AUC"
    _chance_label = "Chance level (AUC = 0.5)"
    _legend_loc = "lower right"
    _bounded_spines = ("bottom", "left")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | list[str] | None = None,
        curve_kwargs: Style | Sequence[Style] | None = None,
        plot_singles: bool = True,
        plot_chance_level: bool | None = None,
        chance_level_kw: Style | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the average, its interval, and behind it the single curves; arguments as in `RocCurveDisplay.plot`."""
        return self._draw(locals())

    def _legend_name(self, name: str | None) -> str | None:
        return " ".join(part for part in (name, self.method and f"{self.method} average") if part) or None

    def _contents(self) -> Contents:
        label, limits = positive_label(self.pos_label), (-0.01, 1.01)
        labels = {
            "xlabel": f"False Positive Rate{label}",
            "ylabel": f"True Positive Rate{label}",
            "xlim": limits,
            "ylim": limits,
            "aspect": "equal",
        }
        areas = None if self.roc_auc is None else [self.roc_auc]
        return Contents([(self.fpr, self.tpr)], areas, ((0, 1), (0, 1)), labels)

    def _draw_around(self, ax: Axes, colour: Any, behind: bool) -> None:
        self.singles_ = [
            line
            for fpr, tpr in (self.singles if behind else ())
            for line in ax.plot(fpr, tpr, color=colour, alpha=0.35, linestyle="--", linewidth=0.8, zorder=1)
        ]
        if self.outline is not None:
            (self.band_,) = ax.fill(*self.outline, color=colour, alpha=0.2, lw=0, label=self._band_label)

    @classmethod
    @with_options_of(Display.plot, average, without=PARTS)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        **options: Any,
    ) -> Self:
        """Make the display of labels and scores of several data sets: ``groups`` names the one of each sample.

        A data set is a fold, a user, a reader. Arguments as in `sklearn.metrics.RocCurveDisplay.from_predictions`
        (weights must be whole numbers) and in `priori.average`.
        """
        given = {**locals(), **options}
        size = np.size(y_true)
        if np.shape(groups) != (size,):
            raise OptionError(f"groups must name the data set of each of the {size} samples")
        parts = scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, dataset=groups).by("dataset")
        return cls._of(parts, pos_label, given)

    @classmethod
    @with_options_of(from_predictions)
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: ArrayLike,
        response_method: ResponseMethod = "auto",
        **options: Any,
    ) -> Self:
        """Make the display of a fitted classifier on several data sets; arguments as in `from_predictions`."""
        handed_on, _ = as_predictions(locals())
        return cls.from_predictions(**handed_on)

    @classmethod
    @with_options_of(from_predictions, without=("groups", "chance_level_kw"))
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        response_method: ResponseMethod = "auto",
        chance_level_kwargs: Style | None = None,
        **options: Any,
    ) -> Self:
        """Make the display of a cross-validation, the average of its folds' curves; see `from_predictions`."""
        given = {**locals(), **options}
        return cls._of(*of_folds(given), given)

    @classmethod
    def _of(cls, parts: Mapping[str, Scores], pos_label: Any, given: Mapping[str, Any]) -> Self:
        settings = [name for name in inspect.signature(average).parameters if name not in PARTS]
        curve = average(parts, **{name: given[name] for name in settings})
        outline = curve.outline() if len(curve.datasets) > 1 else None
        display = cls(
            fpr=curve.fpr,
            tpr=curve.tpr,
            singles=curve.singles(),
            outline=outline,
            roc_auc=curve.auc.value,
            name=given["name"],
            method=curve.method.name,
            pos_label=pos_label,
        )
        display.curve_, display.warnings_ = curve, curve.warnings
        return display._draw(given)
