"""The difference of two classifiers along alpha as a scikit-learn display."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.curves.averaging.epc import average_epc
from priori.curves.averaging.intervals import IntervalPlan
from priori.curves.epc import epc
from priori.decisions.tasks import Task
from priori.scores import Scores
from priori.sklearn.displays import Contents, CriterionOption, Display, MeasureOption, Style, along_alpha, together
from priori.sklearn.responses import ResponseMethod, fitted_on, folds, from_cv_results, responses, scores
from priori.uncertainty.comparison import Comparison, compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class DifferenceDisplay(Display):
    """Is A better than B, once thresholds are fixed in advance? Their difference along alpha, with an interval.

    Where the interval does not hold 0 the difference is significant there. Make one with `from_estimator`,
    `from_predictions` or `from_cv_results`.

    Parameters
    ----------
    alpha, difference : ndarray
        The trade-offs, and A's value minus B's.
    lower, upper : ndarray
        The interval.
    name : str, optional
        For the legend.
    measure, criterion : str
        What is compared, and what the thresholds minimise.

    Attributes
    ----------
    comparison_ : Comparison or None
        The result behind the display; None for folds.
    line_, band_, chance_level_ : matplotlib Artists
        The difference, its interval, the line of no difference.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from priori.sklearn import DifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 1000)
    >>> good, poor = rng.normal(2 * y), rng.normal(y)
    >>> display = DifferenceDisplay.from_predictions(y, good, poor, points=11)
    >>> bool((display.upper < 0).all())
    True
    """

    alpha: Floats
    difference: Floats
    lower: Floats
    upper: Floats
    name: str | None = None
    measure: str = "value"
    criterion: str | None = None
    comparison_: Comparison | None = field(init=False, default=None)

    _chance_label = "No difference"
    _chance_shown = True

    def _contents(self) -> Contents:
        labels = along_alpha(self.criterion, f"Difference in {self.measure}")
        return Contents([(self.alpha, self.difference)], None, ((0, 1), (0, 0)), labels)

    def _draw_around(self, ax: Axes, colour: Any, behind: bool) -> None:
        self.band_ = ax.fill_between(self.alpha, self.lower, self.upper, color=colour, alpha=0.18, lw=0,
                                     label="Confidence interval")  # fmt: skip

    @classmethod
    def from_estimator(
        cls, estimator_a: Any, estimator_b: Any, X: Any, y: Any, *, X_dev: Any = None, y_dev: Any = None,
        sample_weight: ArrayLike | None = None, response_method: ResponseMethod = "auto", pos_label: Any = None,
        name: str | None = None, ax: Axes | None = None, curve_kwargs: Style | None = None,
        plot_chance_level: bool = True, chance_level_kw: Style | None = None, despine: bool = False,
        task: str | Task = "authentication", criterion: CriterionOption = None, measure: MeasureOption = None,
        points: int = 101, bounds: tuple[Any, Any] = (0, 1), alpha: Any = None,
        confidence_level: float = 0.95, n_resamples: int = 2000, cv: int = 5, random_state: int = 0,
        users: ArrayLike | None = None, users_dev: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Make the display of two fitted classifiers on the same data.

        Parameters
        ----------
        estimator_a, estimator_b : fitted binary classifiers
        X, y : test data
        X_dev, y_dev : development data, optional
            On which each one's thresholds are chosen. Without them X, y are taken apart into folds.
        sample_weight, response_method, pos_label, name, ax, curve_kwargs, plot_chance_level, chance_level_kw, despine
            As in `EPCDisplay.from_estimator`; the chance level is the line of no difference.
        task, criterion, measure, points, bounds, alpha, confidence_level, n_resamples, cv, random_state, users,
        users_dev
            As in `from_predictions`.
        """
        together("development data need both X_dev and y_dev", X_dev, y_dev)
        estimators = (estimator_a, estimator_b)
        respond = partial(responses, response_method=response_method, pos_label=pos_label)
        (score_a, _), (score_b, positive) = (respond(estimator, X) for estimator in estimators)
        dev_a, dev_b = (None if X_dev is None else respond(estimator, X_dev)[0] for estimator in estimators)
        names = [type(estimator).__name__ for estimator in estimators]
        if names[0] == names[1]:
            names = [f"{names[0]} A", f"{names[1]} B"]
        display = cls.from_predictions(
            y, score_a, score_b, y_true_dev=y_dev, y_score_dev_a=dev_a, y_score_dev_b=dev_b,
            sample_weight=sample_weight, pos_label=positive,
            name=" minus ".join(names) if name is None else name, ax=ax, curve_kwargs=curve_kwargs,
            plot_chance_level=plot_chance_level, chance_level_kw=chance_level_kw, despine=despine,
            task=task, criterion=criterion, measure=measure, points=points, bounds=bounds, alpha=alpha,
            confidence_level=confidence_level, n_resamples=n_resamples, cv=cv, random_state=random_state,
            users=users, users_dev=users_dev,
        )  # fmt: skip
        return display._warn(() if X_dev is None else [line for each in estimators for line in fitted_on(each, X_dev)])

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_score_a: ArrayLike, y_score_b: ArrayLike, *, y_true_dev: ArrayLike | None = None,
        y_score_dev_a: ArrayLike | None = None, y_score_dev_b: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None, pos_label: Any = None,
        name: str | None = None, ax: Axes | None = None, curve_kwargs: Style | None = None,
        plot_chance_level: bool = True, chance_level_kw: Style | None = None, despine: bool = False,
        task: str | Task = "authentication", criterion: CriterionOption = None, measure: MeasureOption = None,
        points: int = 101, bounds: tuple[Any, Any] = (0, 1), alpha: Any = None,
        confidence_level: float = 0.95, n_resamples: int = 2000, cv: int = 5, random_state: int = 0,
        users: ArrayLike | None = None, users_dev: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Make the display of two sets of scores of the same samples.

        Parameters
        ----------
        y_true, y_score_a, y_score_b : array-like
            Labels, and the scores of A and of B.
        y_true_dev, y_score_dev_a, y_score_dev_b : array-like, optional
            The same of the development set. Without them thresholds are chosen fold by fold on the other folds, and
            the interval is Student's t over folds.
        sample_weight, pos_label, name, ax, curve_kwargs, plot_chance_level, chance_level_kw, despine
            As in scikit-learn's displays; the chance level is the line of no difference.
        task, criterion, measure, points, bounds, alpha
            As in `priori.epc`.
        confidence_level, n_resamples, random_state
            Of the paired bootstrap, `priori.compare`; ``cv`` and ``random_state`` make the folds.
        users, users_dev : array-like, optional
            Whom each sample belongs to: users stay together in folds, and the bootstrap resamples users.
        """
        message = "a development set needs y_true_dev, y_score_dev_a and y_score_dev_b"
        together(message, y_true_dev, y_score_dev_a, y_score_dev_b)
        tests = [
            scores(y_true, score, pos_label=pos_label, sample_weight=sample_weight, users=users)
            for score in (y_score_a, y_score_b)
        ]
        legend_name = "A minus B" if name is None else name
        settings: dict[str, Any] = {"task": task, "criterion": criterion, "measure": measure, "points": points,
                                    "bounds": bounds, "alpha": alpha}  # fmt: skip
        if y_true_dev is None or y_score_dev_a is None or y_score_dev_b is None:
            parts = [folds(test, cv, random_state) for test in tests]
            display = cls._over_folds(parts, legend_name, confidence_level, settings)
        else:
            devs = [
                scores(y_true_dev, score, pos_label=pos_label, users=users_dev)
                for score in (y_score_dev_a, y_score_dev_b)
            ]
            a, b = (epc(dev, test, name=key, **settings) for dev, test, key in zip(devs, tests, "AB", strict=True))
            comparison = compare(a, b, n_resamples=n_resamples, confidence_level=confidence_level, rng=random_state)
            display = cls(alpha=comparison.alpha, difference=comparison.expected, lower=comparison.lower,
                          upper=comparison.upper, name=legend_name, measure=a.measure.title,
                          criterion=a.criterion.name)  # fmt: skip
            display.comparison_, display.warnings_ = comparison, comparison.warnings
        return display._draw(ax, None, curve_kwargs, plot_chance_level, chance_level_kw, despine)

    @classmethod
    def from_cv_results(
        cls, cv_results_a: Mapping[str, Any], cv_results_b: Mapping[str, Any], X: Any, y: Any, *,
        sample_weight: ArrayLike | None = None, response_method: ResponseMethod = "auto", pos_label: Any = None,
        ax: Axes | None = None, name: str | None = None, curve_kwargs: Style | None = None,
        plot_chance_level: bool = True, chance_level_kwargs: Style | None = None, despine: bool = False,
        task: str | Task = "authentication", criterion: CriterionOption = None, measure: MeasureOption = None,
        points: int = 101, bounds: tuple[Any, Any] = (0, 1), alpha: Any = None,
        confidence_level: float = 0.95,
    ) -> Self:  # fmt: skip
        """Make the display of two cross-validations over the same folds: their mean difference and its t interval.

        Folds share training samples, so that the interval describes how folds differ more than it promises coverage.
        Arguments as in `EPCDisplay.from_cv_results` and `from_predictions`.
        """
        for fold_a, fold_b in zip(cv_results_a["indices"]["test"], cv_results_b["indices"]["test"], strict=True):
            if not np.array_equal(fold_a, fold_b):
                raise OptionError("the two cross-validations have different folds; give both the same cv")
        options: dict[str, Any] = {"response_method": response_method, "pos_label": pos_label,
                                   "sample_weight": sample_weight}  # fmt: skip
        parts = [from_cv_results(results, X, y, **options)[0] for results in (cv_results_a, cv_results_b)]
        settings: dict[str, Any] = {"task": task, "criterion": criterion, "measure": measure, "points": points,
                                    "bounds": bounds, "alpha": alpha}  # fmt: skip
        display = cls._over_folds(parts, "A minus B" if name is None else name, confidence_level, settings)
        return display._draw(ax, None, curve_kwargs, plot_chance_level, chance_level_kwargs, despine)

    @classmethod
    def _over_folds(
        cls, parts: list[dict[str, Scores]], name: str, confidence_level: float, settings: Mapping[str, Any]
    ) -> Self:
        a, b = (average_epc(part, **settings) for part in parts)
        each = a.each - b.each
        mean = each.mean(axis=0)
        plan = IntervalPlan.checked("t", confidence_level, 2, False, 0)
        lower, upper = plan.around(each, np.full(len(each), 1 / len(each)), mean)
        return cls(alpha=a.alpha, difference=mean, lower=lower, upper=upper, name=name, measure=a.measure.title,
                   criterion=a.criterion.name)  # fmt: skip
