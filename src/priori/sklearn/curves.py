"""The Expected Performance Curve as a scikit-learn display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.types import Floats
from priori.curves.averaging.epc import AverageEPC, average_epc
from priori.curves.epc import EPC, epc
from priori.decisions.tasks import Task
from priori.scores import Scores
from priori.sklearn.displays import Contents, CriterionOption, Display, MeasureOption, Style, along_alpha, together
from priori.sklearn.responses import ResponseMethod, fitted_on, folds, from_cv_results, responses, scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.bands import Band

Limits = tuple[Floats | None, Floats | None]


@dataclass(kw_only=True, eq=False, repr=False)
class EPCDisplay(Display):
    """Expected Performance Curve: a measure on test data against alpha, thresholds chosen on other data.

    A ROC curve shows every threshold, as if the right one were known. This curve shows what thresholds give that
    were fixed in advance: for each trade-off alpha, the one that is best on development data.

    Make one with `from_estimator`, `from_predictions` or `from_cv_results`.

    Parameters
    ----------
    alpha : ndarray
        The trade-offs.
    value : ndarray or list of ndarray
        The measure on the test set at each alpha, for one curve or for several.
    lower, upper : ndarray, optional
        An interval around a single curve.
    chance : ndarray, optional
        What a classifier gives whose scores are all the same.
    area : float or list of float, optional
        The mean of each curve, shown in the legend.
    name : str or list of str, optional
        For the legend.
    pos_label : int, float, bool or str, optional
        The positive class, shown on the axes.
    measure, criterion : str
        What the y-axis shows, and what the thresholds minimise.

    Attributes
    ----------
    curve_ : EPC or AverageEPC
        The result behind the display, with its thresholds, ``frame()`` and ``to_json()``.
    warnings_ : tuple of str
        Warnings about it; noted below the axes.
    line_, band_, chance_level_ : matplotlib Artists
        The curve or a list of curves, the interval, the chance level; the latter two may be None.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from priori.sklearn import EPCDisplay
    >>> X, y = make_classification(n_samples=600, random_state=0)
    >>> X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, random_state=0)
    >>> X_dev, X_test, y_dev, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
    >>> classifier = LogisticRegression().fit(X_fit, y_fit)
    >>> display = EPCDisplay.from_estimator(classifier, X_test, y_test, X_dev=X_dev, y_dev=y_dev)
    >>> display.ax_.get_ylabel()
    'HTER (Positive label: 1)'
    """

    alpha: Floats
    value: Floats | list[Floats]
    lower: Floats | None = None
    upper: Floats | None = None
    chance: Floats | None = None
    area: float | list[float] | None = None
    name: str | list[str] | None = None
    pos_label: Any = None
    measure: str = "value"
    criterion: str | None = None
    curve_: EPC | AverageEPC = field(init=False)

    _metric_name = "area"
    _drawstyle = "steps-mid"

    def _contents(self) -> Contents:
        values = self.value if isinstance(self.value, list) else [self.value]
        areas = self.area if isinstance(self.area, list) or self.area is None else [self.area]
        chance = None if self.chance is None else (self.alpha, self.chance)
        labels = along_alpha(self.criterion, self.measure, self.pos_label)
        return Contents([(self.alpha, value) for value in values], areas, chance, labels)

    def _draw_around(self, ax: Axes, colour: Any, behind: bool) -> None:
        if self.lower is not None and self.upper is not None:
            self.band_ = ax.fill_between(self.alpha, self.lower, self.upper, color=colour, alpha=0.18, lw=0, step="mid",
                                         label="Confidence interval")  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, X_dev: Any = None, y_dev: Any = None,
        sample_weight: ArrayLike | None = None, response_method: ResponseMethod = "auto", pos_label: Any = None,
        name: str | None = None, ax: Axes | None = None, curve_kwargs: Style | None = None,
        plot_chance_level: bool = False, chance_level_kw: Style | None = None, despine: bool = False,
        task: str | Task = "authentication", criterion: CriterionOption = None, measure: MeasureOption = None,
        points: int = 101, bounds: tuple[Any, Any] = (0, 1), alpha: Any = None,
        confidence_level: float | None = None, n_resamples: int = 2000, cv: int = 5, random_state: int = 0,
        users: ArrayLike | None = None, users_dev: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Make the display of a fitted classifier.

        Parameters
        ----------
        estimator : fitted binary classifier
            Also a `Pipeline` that ends in one. Neither X nor X_dev may have been used to fit it.
        X, y : test data
            On which the thresholds are judged.
        X_dev, y_dev : development data, optional
            On which the thresholds are chosen. Without them X, y are taken apart into folds; see `from_predictions`.
        sample_weight, response_method, pos_label, name, ax, curve_kwargs, plot_chance_level, chance_level_kw, despine
            As in `sklearn.metrics.RocCurveDisplay.from_estimator`; weights must be whole numbers.
        task, criterion, measure, points, bounds, alpha, confidence_level, n_resamples, cv, random_state, users,
        users_dev
            As in `from_predictions`.
        """
        together("development data need both X_dev and y_dev", X_dev, y_dev)
        y_score, positive = responses(estimator, X, response_method=response_method, pos_label=pos_label)
        y_score_dev = None
        if X_dev is not None:
            y_score_dev, _ = responses(estimator, X_dev, response_method=response_method, pos_label=pos_label)
        display = cls.from_predictions(
            y, y_score, y_true_dev=y_dev, y_score_dev=y_score_dev, sample_weight=sample_weight, pos_label=positive,
            name=type(estimator).__name__ if name is None else name, ax=ax, curve_kwargs=curve_kwargs,
            plot_chance_level=plot_chance_level, chance_level_kw=chance_level_kw, despine=despine,
            task=task, criterion=criterion, measure=measure, points=points, bounds=bounds, alpha=alpha,
            confidence_level=confidence_level, n_resamples=n_resamples, cv=cv, random_state=random_state,
            users=users, users_dev=users_dev,
        )  # fmt: skip
        return display._warn(() if X_dev is None else fitted_on(estimator, X_dev))

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_score: ArrayLike, *, y_true_dev: ArrayLike | None = None,
        y_score_dev: ArrayLike | None = None, sample_weight: ArrayLike | None = None, pos_label: Any = None,
        name: str | None = None, ax: Axes | None = None, curve_kwargs: Style | None = None,
        plot_chance_level: bool = False, chance_level_kw: Style | None = None, despine: bool = False,
        task: str | Task = "authentication", criterion: CriterionOption = None, measure: MeasureOption = None,
        points: int = 101, bounds: tuple[Any, Any] = (0, 1), alpha: Any = None,
        confidence_level: float | None = None, n_resamples: int = 2000, cv: int = 5, random_state: int = 0,
        users: ArrayLike | None = None, users_dev: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Make the display of labels and scores.

        Parameters
        ----------
        y_true, y_score : array-like
            Labels and scores of the test set.
        y_true_dev, y_score_dev : array-like, optional
            Labels and scores of the development set, on which thresholds are chosen. Without them the test set is
            taken apart into ``cv`` folds: the thresholds of each are chosen on the others, and the curve is their
            average (`priori.average_epc`).
        sample_weight, pos_label, name, ax, curve_kwargs, plot_chance_level, chance_level_kw, despine
            As in `sklearn.metrics.RocCurveDisplay.from_predictions`; weights must be whole numbers.
        task, criterion, measure, points, bounds, alpha
            As in `priori.epc`.
        confidence_level : float, optional
            Draw an interval: by the bootstrap, ``n_resamples`` times; with folds, Student's t over them.
        random_state : int
            The seed of the folds and of the bootstrap.
        users, users_dev : array-like, optional
            Whom each sample belongs to: users stay together in folds, and the bootstrap resamples users.
        """
        together("a development set needs both y_true_dev and y_score_dev", y_true_dev, y_score_dev)
        test = scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, users=users, name="test")
        legend_name = "Classifier" if name is None else name
        settings: dict[str, Any] = {"task": task, "criterion": criterion, "measure": measure, "points": points,
                                    "bounds": bounds, "alpha": alpha}  # fmt: skip
        curve: EPC | AverageEPC
        interval: AverageEPC | Band
        if y_true_dev is None or y_score_dev is None:
            level = 0.95 if confidence_level is None else confidence_level
            interval = curve = average_epc(folds(test, cv, random_state), confidence_level=level, **settings)
        else:
            dev = scores(y_true_dev, y_score_dev, pos_label=pos_label, users=users_dev, name="dev")
            curve = epc(dev, test, name=legend_name, **settings)
            if confidence_level is not None:
                interval = curve.band(n_resamples=n_resamples, confidence_level=confidence_level, rng=random_state)
        limits = (None, None) if confidence_level is None else (interval.lower, interval.upper)
        display = cls._of(curve, curve.value, legend_name, _axis_label(pos_label, y_true), limits)
        display.warnings_ = curve.warnings if confidence_level is None else interval.warnings
        return display._draw(ax, None, curve_kwargs, plot_chance_level, chance_level_kw, despine)

    @classmethod
    def from_cv_results(
        cls, cv_results: Mapping[str, Any], X: Any, y: Any, *, sample_weight: ArrayLike | None = None,
        response_method: ResponseMethod = "auto", pos_label: Any = None, ax: Axes | None = None,
        name: str | list[str] | None = None, curve_kwargs: Style | Sequence[Style] | None = None,
        plot_chance_level: bool = False, chance_level_kwargs: Style | None = None, despine: bool = False,
        task: str | Task = "authentication", criterion: CriterionOption = None, measure: MeasureOption = None,
        points: int = 101, bounds: tuple[Any, Any] = (0, 1), alpha: Any = None,
    ) -> Self:  # fmt: skip
        """Make the display of a cross-validation: one curve per fold.

        Each fold is judged with thresholds chosen on the other folds' out-of-sample scores, so no fold ever sees a
        threshold of its own. That asks the estimators of different folds for scores on one scale; probabilities are.

        Parameters
        ----------
        cv_results : dict
            What `sklearn.model_selection.cross_validate` returns with ``return_estimator=True`` and
            ``return_indices=True``.
        X, y : the data given to `cross_validate`
        sample_weight, response_method, pos_label, ax, name, curve_kwargs, plot_chance_level, despine
            As in `sklearn.metrics.RocCurveDisplay.from_cv_results`, as is ``chance_level_kwargs``; the rest as in
            `priori.epc`.
        """
        parts, positive = from_cv_results(
            cv_results, X, y, response_method=response_method, pos_label=pos_label, sample_weight=sample_weight
        )
        curve = average_epc(
            parts, task=task, criterion=criterion, measure=measure, points=points, bounds=bounds, alpha=alpha
        )
        display = cls._of(curve, list(curve.each), name, positive)
        display.warnings_ = curve.warnings
        return display._draw(ax, None, curve_kwargs, plot_chance_level, chance_level_kwargs, despine)

    @classmethod
    def _of(
        cls, curve: EPC | AverageEPC, value: Floats | list[Floats], name: str | list[str] | None, pos_label: Any,
        limits: Limits = (None, None),
    ) -> Self:  # fmt: skip
        area = [float(np.mean(fold)) for fold in value] if isinstance(value, list) else float(np.mean(value))
        chance = _chance_level(curve if isinstance(curve, EPC) else curve.curves[0])
        display = cls(alpha=curve.alpha, value=value, lower=limits[0], upper=limits[1], chance=chance, area=area,
                      name=name, pos_label=pos_label, measure=curve.measure.title,
                      criterion=curve.criterion.name)  # fmt: skip
        display.curve_ = curve
        return display


def _chance_level(curve: EPC) -> Floats:
    """Return the curve of a classifier that gives every sample the same score."""
    dev, test = (Scores.from_arrays(np.zeros(part.n_negatives), np.zeros(part.n_positives))
                 for part in (curve.dev, curve.test))  # fmt: skip
    alphas = curve.alpha.tolist()
    return epc(dev, test, task=curve.task, criterion=curve.criterion, measure=curve.measure, alpha=alphas).value


def _axis_label(pos_label: Any, y_true: ArrayLike) -> Any:
    """Return the positive class for the axes; None where it was recognised from words."""
    if pos_label is not None:
        return pos_label
    labels = set(np.unique(np.asarray(y_true)).tolist())
    return 1 if labels <= {0, 1} or labels <= {-1, 1} else None
