"""The difference of two classifiers along alpha as a scikit-learn display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.curves.averaging import average_epc
from priori.curves.averaging.intervals import IntervalPlan
from priori.curves.epc import epc
from priori.scores import Scores
from priori.sklearn.responses import ResponseMethod, folds, from_cv_results, responses, scores
from priori.sklearn.style import Style, curve_styles, despined, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.comparison import Comparison

__all__ = ["DifferenceDisplay"]


class DifferenceDisplay:
    """Is A better than B, once thresholds are fixed in advance? Their difference along alpha, with an interval.

    Where the interval does not hold 0 the difference is significant there. Make one with `from_estimator`,
    `from_predictions` or `from_cv_results`.

    Parameters
    ----------
    alpha, difference : ndarray
        The trade-offs, and A's value less B's.
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
    """

    comparison_: Comparison | None = None

    def __init__(
        self,
        *,
        alpha: Floats,
        difference: Floats,
        lower: Floats,
        upper: Floats,
        name: str | None = None,
        measure: str = "value",
        criterion: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.difference = difference
        self.lower = lower
        self.upper = upper
        self.name = name
        self.measure = measure
        self.criterion = criterion

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        curve_kwargs: Style | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: Style | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the difference and its interval; the chance level is the line of no difference."""
        (style,) = curve_styles(1, self.name if name is None else name, None, "", curve_kwargs)
        self.ax_ = ax = new_axes(ax)
        self.figure_ = ax.figure
        marker = "o" if self.alpha.size == 1 else None
        (self.line_,) = ax.plot(self.alpha, self.difference, **{"marker": marker, **style})
        colour = self.line_.get_color()
        self.band_ = ax.fill_between(self.alpha, self.lower, self.upper, color=colour, alpha=0.18, lw=0)
        self.chance_level_ = None
        if plot_chance_level:
            line = styled({"label": "No difference", "color": "k", "linestyle": "--"}, chance_level_kw)
            (self.chance_level_,) = ax.plot((0, 1), (0, 0), **line)
        rule = "" if self.criterion is None else f" (criterion: {self.criterion})"
        ax.set(xlabel=f"alpha{rule}", ylabel=f"Difference in {self.measure}", xlim=(-0.01, 1.01))
        if despine:
            despined(ax)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="best")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator_a: Any,
        estimator_b: Any,
        X: Any,
        y: Any,
        *,
        X_dev: Any = None,
        y_dev: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Make the display of two fitted classifiers on the same data.

        Parameters
        ----------
        estimator_a, estimator_b : fitted binary classifiers
        X, y : test data
        X_dev, y_dev : development data, optional
            On which each one's thresholds are chosen. Without them X, y are taken apart into folds.
        **options
            As in `from_predictions`.
        """
        if (X_dev is None) != (y_dev is None):
            raise OptionError("development data need both X_dev and y_dev")
        both, dev = [], []
        for estimator in (estimator_a, estimator_b):
            score, positive = responses(estimator, X, response_method=response_method, pos_label=pos_label)
            both.append(score)
            if X_dev is not None:
                dev.append(responses(estimator, X_dev, response_method=response_method, pos_label=pos_label)[0])
        names = [type(estimator).__name__ for estimator in (estimator_a, estimator_b)]
        return cls.from_predictions(
            y,
            *both,
            y_true_dev=y_dev,
            y_score_dev_a=dev[0] if dev else None,
            y_score_dev_b=dev[1] if dev else None,
            sample_weight=sample_weight,
            pos_label=positive,
            name=" less ".join(names) if name is None else name,
            **options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score_a: ArrayLike,
        y_score_b: ArrayLike,
        *,
        y_true_dev: ArrayLike | None = None,
        y_score_dev_a: ArrayLike | None = None,
        y_score_dev_b: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        curve_kwargs: Style | None = None,
        plot_chance_level: bool = True,
        chance_level_kw: Style | None = None,
        despine: bool = False,
        confidence_level: float = 0.95,
        n_resamples: int = 2000,
        cv: int = 5,
        random_state: int = 0,
        **options: Any,
    ) -> Self:
        """Make the display of two sets of scores of the same samples.

        Parameters
        ----------
        y_true, y_score_a, y_score_b : array-like
            Labels, and the scores of A and of B.
        y_true_dev, y_score_dev_a, y_score_dev_b : array-like, optional
            The same of the development set. Without them thresholds are chosen fold by fold on the other folds, and
            the interval is Student's t over folds.
        confidence_level, n_resamples, random_state
            Of the paired bootstrap, `priori.compare`; ``cv`` and ``random_state`` make the folds.
        sample_weight, pos_label, name, ax, curve_kwargs, plot_chance_level, chance_level_kw, despine
            As in scikit-learn's displays; the chance level is the line of no difference.
        **options
            task, criterion, measure, alpha, points, bounds: as in `priori.epc`.

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
        given = [one is not None for one in (y_true_dev, y_score_dev_a, y_score_dev_b)]
        if any(given) and not all(given):
            raise OptionError("a development set needs y_true_dev, y_score_dev_a and y_score_dev_b")
        tests = [
            scores(y_true, score, pos_label=pos_label, sample_weight=sample_weight) for score in (y_score_a, y_score_b)
        ]
        called = "A less B" if name is None else name
        drawing = {"ax": ax, "curve_kwargs": curve_kwargs, "plot_chance_level": plot_chance_level,
                   "chance_level_kw": chance_level_kw, "despine": despine}  # fmt: skip
        if not all(given):
            parts = [folds(test, cv, random_state) for test in tests]
            return cls._over_folds(parts, confidence_level, called, options, drawing)
        from priori.uncertainty.comparison import compare

        devs = [scores(y_true_dev, one, pos_label=pos_label) for one in (y_score_dev_a, y_score_dev_b)]  # type: ignore[arg-type]
        curves = [epc(dev, test, name=one, **options) for dev, test, one in zip(devs, tests, "AB", strict=True)]
        found = compare(*curves, n_resamples=n_resamples, confidence_level=confidence_level, rng=random_state)
        display = cls(
            alpha=found.alpha,
            difference=found.difference,
            lower=found.lower,
            upper=found.upper,
            name=called,
            measure=curves[0].measure.title,
            criterion=curves[0].criterion.name,
        )
        display.comparison_ = found
        return display.plot(**drawing)  # type: ignore[arg-type]

    @classmethod
    def from_cv_results(
        cls,
        cv_results_a: Mapping[str, Any],
        cv_results_b: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        ax: Axes | None = None,
        name: str | None = None,
        curve_kwargs: Style | None = None,
        plot_chance_level: bool = True,
        chance_level_kwargs: Style | None = None,
        despine: bool = False,
        confidence_level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Make the display of two cross-validations over the same folds: their mean difference and its t interval.

        Folds share training samples, so that the interval describes how folds differ more than it promises coverage.
        """
        for one, other in zip(cv_results_a["indices"]["test"], cv_results_b["indices"]["test"], strict=True):
            if not np.array_equal(one, other):
                raise OptionError("the two cross-validations have different folds; give both the same cv")
        parts = [
            from_cv_results(
                found, X, y, response_method=response_method, pos_label=pos_label, sample_weight=sample_weight
            )[0]
            for found in (cv_results_a, cv_results_b)
        ]
        drawing = {"ax": ax, "curve_kwargs": curve_kwargs, "plot_chance_level": plot_chance_level,
                   "chance_level_kw": chance_level_kwargs, "despine": despine}  # fmt: skip
        return cls._over_folds(parts, confidence_level, "A less B" if name is None else name, options, drawing)

    @classmethod
    def _over_folds(
        cls,
        parts: list[dict[str, Scores]],
        confidence_level: float,
        name: str,
        options: Mapping[str, Any],
        drawing: Mapping[str, Any],
    ) -> Self:
        a, b = (average_epc(part, **options) for part in parts)
        each = a.each - b.each
        mean = each.mean(axis=0)
        plan = IntervalPlan.checked("t", confidence_level, 1, False, 0)
        lower, upper = plan.around(each, np.full(len(each), 1 / len(each)), mean)
        display = cls(
            alpha=a.alpha,
            difference=mean,
            lower=lower,
            upper=upper,
            name=name,
            measure=a.measure.title,
            criterion=a.criterion.name,
        )
        return display.plot(**drawing)
