"""The average of ROC curves as a scikit-learn display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.curves.averaging import AverageCurve, average
from priori.scores import Scores
from priori.sklearn.responses import ResponseMethod, from_cv_results, responses, scores
from priori.sklearn.style import Style, curve_styles, despined, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AverageROCDisplay"]


class AverageROCDisplay:
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
    name, method : str, optional
        For the legend.
    pos_label : int, float, bool or str, optional
        The positive class, shown on the axes.

    Attributes
    ----------
    curve_ : AverageCurve
        The result behind the display.
    line_, band_, singles_, chance_level_ : matplotlib Artists
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from priori.sklearn import AverageROCDisplay
    >>> X, y = make_classification(n_samples=600, random_state=0)
    >>> found = cross_validate(LogisticRegression(), X, y, return_estimator=True, return_indices=True)
    >>> display = AverageROCDisplay.from_cv_results(found, X, y, method="vertical")
    >>> len(display.singles)
    5
    """

    curve_: AverageCurve

    def __init__(
        self,
        *,
        fpr: Floats,
        tpr: Floats,
        singles: list[tuple[Floats, Floats]],
        outline: tuple[Floats, Floats] | None = None,
        roc_auc: float | None = None,
        name: str | None = None,
        method: str | None = None,
        pos_label: Any = None,
    ) -> None:
        self.fpr = fpr
        self.tpr = tpr
        self.singles = singles
        self.outline = outline
        self.roc_auc = roc_auc
        self.name = name
        self.method = method
        self.pos_label = pos_label

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        curve_kwargs: Style | None = None,
        plot_singles: bool = True,
        plot_chance_level: bool = False,
        chance_level_kw: Style | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the average, its interval, and behind it the single curves; arguments as in `RocCurveDisplay.plot`."""
        told = self.name if name is None else name
        called = " ".join(part for part in (told, self.method and f"{self.method} average") if part) or None
        (style,) = curve_styles(1, called, None if self.roc_auc is None else [self.roc_auc], "AUC", curve_kwargs)
        self.ax_ = ax = new_axes(ax)
        self.figure_ = ax.figure
        (self.line_,) = ax.plot(self.fpr, self.tpr, **style)
        colour = self.line_.get_color()
        self.singles_ = [
            line
            for fpr, tpr in (self.singles if plot_singles else ())
            for line in ax.plot(fpr, tpr, color=colour, alpha=0.35, linestyle="--", linewidth=0.8, zorder=1)
        ]
        self.band_ = None
        if self.outline is not None:
            (self.band_,) = ax.fill(*self.outline, color=colour, alpha=0.2, lw=0)
        self.chance_level_ = None
        if plot_chance_level:
            line = styled({"label": "Chance level (AUC = 0.5)", "color": "k", "linestyle": "--"}, chance_level_kw)
            (self.chance_level_,) = ax.plot((0, 1), (0, 1), **line)
        label = "" if self.pos_label is None else f" (Positive label: {self.pos_label})"
        ax.set(xlabel=f"False Positive Rate{label}", ylabel=f"True Positive Rate{label}", xlim=(-0.01, 1.01),
               ylim=(-0.01, 1.01), aspect="equal")  # fmt: skip
        if despine:
            despined(ax)
            ax.spines["left"].set_bounds(0, 1)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="lower right")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: ArrayLike,
        sample_weight: ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Make the display of a fitted classifier on several data sets: ``groups`` names the one of each sample."""
        y_score, positive = responses(estimator, X, response_method=response_method, pos_label=pos_label)
        return cls.from_predictions(
            y,
            y_score,
            groups=groups,
            sample_weight=sample_weight,
            pos_label=positive,
            name=type(estimator).__name__ if name is None else name,
            **options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: Style | None = None,
        plot_chance_level: bool = False,
        chance_level_kw: Style | None = None,
        despine: bool = False,
        **options: Any,
    ) -> Self:
        """Make the display of labels and scores of several data sets.

        Parameters
        ----------
        y_true, y_score : array-like
            Labels and scores of all samples together.
        groups : array-like
            The data set (fold, user, reader) of each sample: one curve per value.
        sample_weight, pos_label, name, ax, curve_kwargs, plot_chance_level, chance_level_kw, despine
            As in `sklearn.metrics.RocCurveDisplay.from_predictions`; weights must be whole numbers.
        **options
            method, theta, prior, weights, interval, confidence_level, skip_incomplete, ...: as in `priori.average`.
        """
        labels, values, sets = np.asarray(y_true), np.asarray(y_score), np.asarray(groups)
        if sets.shape != labels.shape:
            raise OptionError(f"groups must name the data set of each of the {labels.size} samples")
        weight = None if sample_weight is None else np.asarray(sample_weight)
        parts = {
            str(one): scores(
                labels[sets == one],
                values[sets == one],
                pos_label=pos_label,
                sample_weight=None if weight is None else weight[sets == one],
                name=str(one),
            )
            for one in np.unique(sets)
        }
        return cls._made(
            parts,
            options,
            name=name,
            pos_label=pos_label,
            ax=ax,
            curve_kwargs=curve_kwargs,
            plot_chance_level=plot_chance_level,
            chance_level_kw=chance_level_kw,
            despine=despine,
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        ax: Axes | None = None,
        name: str | None = None,
        curve_kwargs: Style | None = None,
        plot_chance_level: bool = False,
        chance_level_kwargs: Style | None = None,
        despine: bool = False,
        **options: Any,
    ) -> Self:
        """Make the display of a cross-validation: the average of the folds' curves.

        Arguments as in `sklearn.metrics.RocCurveDisplay.from_cv_results`; ``**options`` as in `priori.average`
        (method, theta, weights, interval, confidence_level, ...).
        """
        parts, positive = from_cv_results(
            cv_results, X, y, response_method=response_method, pos_label=pos_label, sample_weight=sample_weight
        )
        return cls._made(
            parts,
            options,
            name=name,
            pos_label=positive,
            ax=ax,
            curve_kwargs=curve_kwargs,
            plot_chance_level=plot_chance_level,
            chance_level_kw=chance_level_kwargs,
            despine=despine,
        )

    @classmethod
    def _made(
        cls,
        parts: Mapping[str, Scores],
        options: Mapping[str, Any],
        *,
        name: str | None,
        pos_label: Any,
        **drawing: Any,
    ) -> Self:
        curve = average(parts, **options)
        display = cls(
            fpr=curve.fpr,
            tpr=curve.tpr,
            singles=curve.singles(),
            outline=_outline(curve),
            roc_auc=curve.auc.value,
            name=name,
            method=curve.method.name,
            pos_label=pos_label,
        )
        display.curve_ = curve
        return display.plot(**drawing)


def _outline(curve: AverageCurve) -> tuple[Floats, Floats] | None:
    """Return the outline of the interval: from its lower to its upper limits and back."""
    if len(curve.datasets) < 2:
        return None
    x = np.concatenate([curve.fpr_lower, curve.fpr_upper[::-1]])
    y = np.concatenate([curve.tpr_upper, curve.tpr_lower[::-1]])
    return x, y
