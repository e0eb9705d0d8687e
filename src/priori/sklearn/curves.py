"""Curves along alpha as scikit-learn displays: the Expected Performance Curve, and the difference of two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.cautions import joined
from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.curves.averaging.epc import AverageEPC, average_epc
from priori.curves.averaging.intervals import IntervalPlan
from priori.curves.epc import EPC, epc
from priori.scores import Scores
from priori.sklearn.displays import Contents, Display, Style, positive_label
from priori.sklearn.responses import ResponseMethod, as_predictions, folds, of_folds, scores, together, with_options_of
from priori.uncertainty.comparing.comparison import Comparison, compare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.bands.bands import Band

#: What a curve is made with, as in `priori.epc`.
SETTINGS = ("task", "criterion", "measure", "points", "bounds", "alpha")
#: The options of `priori.epc` that predictions have no use for: ``alpha="costs:100,1,0.01"`` says costs and prior.
NOT_OF_ARRAYS = ("costs", "prior", "exact", "preset", "weight", "name")
#: What the displays of predictions take, and those of a cross-validation do not.
NOT_OF_FOLDS = (
    *("y_true_dev", "y_score_dev", "users", "users_dev", "cv", "random_state"),
    *("confidence_level", "n_resamples", "chance_level_kw"),
)


class _AlongAlpha(Display):
    """A display of curves along alpha, thresholds by a criterion."""

    alpha: Floats
    lower: Floats | None
    upper: Floats | None
    criterion: str | None

    def _labels(self, label: str) -> dict[str, Any]:
        rule = "" if self.criterion is None else f" (criterion: {self.criterion})"
        return {"xlabel": f"alpha{rule}", "ylabel": label, "xlim": (-0.01, 1.01)}

    def _draw_around(self, ax: Axes, colour: Any, behind: bool) -> None:
        if self.lower is not None and self.upper is not None:
            step: Any = "mid" if self._drawstyle == "steps-mid" else None
            self.band_ = ax.fill_between(
                self.alpha, self.lower, self.upper, color=colour, alpha=0.18, lw=0, step=step, label=self._band_label
            )


@dataclass(kw_only=True, eq=False, repr=False)
class EPCDisplay(_AlongAlpha):
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
    lower, upper, chance : ndarray, optional
        An interval around a single curve; what a classifier gives whose scores are all the same.
    area : float or list of float, optional
        The mean of each curve, shown in the legend.
    name, pos_label : optional
        For the legend and the axes.
    measure, criterion : str
        What the y-axis shows, and what the thresholds minimise.

    Attributes
    ----------
    curve_ : EPC or AverageEPC
        The result behind the display, with its thresholds, ``frame()`` and ``to_json()``.
    warnings_ : tuple of str
        Warnings about it; noted below the axes.
    line_, band_, chance_level_, ax_, figure_ : matplotlib Artists
        The curve or a list of curves, the interval, the chance level; both may be None.

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
        labels = self._labels(self.measure + positive_label(self.pos_label))
        return Contents([(self.alpha, value) for value in values], areas, chance, labels)

    @classmethod
    @with_options_of(Display.plot, epc, without=NOT_OF_ARRAYS)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        y_true_dev: ArrayLike | None = None,
        y_score_dev: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        confidence_level: float | None = None,
        n_resamples: int = 2000,
        cv: int = 5,
        random_state: int = 0,
        users: ArrayLike | None = None,
        users_dev: ArrayLike | None = None,
        **options: Any,
    ) -> Self:
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
        given = {**locals(), **options}
        legend_name = "Classifier" if name is None else name
        (curve,) = _curves(given, {"": legend_name})
        interval: EPC | AverageEPC | Band = curve
        if confidence_level is not None and isinstance(curve, EPC):
            interval = curve.band(n_resamples=n_resamples, confidence_level=confidence_level, rng=random_state)
        display = cls._of(curve, curve.value, legend_name, _axis_label(pos_label, y_true), interval.warnings)
        if confidence_level is not None and not isinstance(interval, EPC):
            display.lower, display.upper = interval.lower, interval.upper
        return display._draw(given)

    @classmethod
    @with_options_of(from_predictions, without=("y_true_dev", "y_score_dev"))
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        X_dev: Any = None,
        y_dev: Any = None,
        response_method: ResponseMethod = "auto",
        **options: Any,
    ) -> Self:
        """Make the display of a fitted classifier, also of a `Pipeline` that ends in one.

        Thresholds are chosen on X_dev, y_dev and judged on X, y; neither may have been used to fit the classifier.
        Without X_dev, y_dev thresholds are chosen by folds of X, y. All other parameters are those of
        `from_predictions`, and of `sklearn.metrics.RocCurveDisplay.from_estimator`.
        """
        handed_on, trained = as_predictions(locals())
        return cls.from_predictions(**handed_on)._warn(trained)

    @classmethod
    @with_options_of(from_predictions, without=NOT_OF_FOLDS)
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
        """Make the display of a cross-validation: one curve per fold.

        Each fold is judged with thresholds chosen on the other folds' out-of-sample scores, so no fold ever sees a
        threshold of its own. That asks the estimators of different folds for scores on one scale; probabilities are.

        ``cv_results`` is what `sklearn.model_selection.cross_validate` returns of X, y with ``return_estimator=True``
        and ``return_indices=True``. All other parameters are those of `from_predictions`; ``name`` and
        ``curve_kwargs`` may be lists, one for each fold.
        """
        given = {**locals(), **options}
        parts, positive = of_folds(given)
        curve = average_epc(parts, **{key: given[key] for key in SETTINGS})
        return cls._of(curve, list(curve.each), given["name"], positive, curve.warnings)._draw(given)

    @classmethod
    def _of(
        cls, curve: EPC | AverageEPC, value: Floats | list[Floats], name: Any, pos_label: Any, warnings: tuple[str, ...]
    ) -> Self:
        area = [float(np.mean(fold)) for fold in value] if isinstance(value, list) else float(np.mean(value))
        chance = _chance_level(curve if isinstance(curve, EPC) else curve.curves[0])
        display = cls(
            alpha=curve.alpha,
            value=value,
            chance=chance,
            area=area,
            name=name,
            pos_label=pos_label,
            measure=curve.measure.title,
            criterion=curve.criterion.name,
        )
        display.curve_, display.warnings_ = curve, warnings
        return display


@dataclass(kw_only=True, eq=False, repr=False)
class DifferenceDisplay(_AlongAlpha):
    """Is A better than B, once thresholds are fixed in advance? Their difference along alpha, with an interval.

    Where the interval does not hold 0 the difference is significant there. Make one with `from_estimator`,
    `from_predictions` or `from_cv_results`.

    Parameters
    ----------
    alpha, difference, lower, upper : ndarray
        The trade-offs, A's value minus B's, and its interval.
    name, measure, criterion : str
        For the legend; what is compared, and what the thresholds minimise.

    Attributes
    ----------
    comparison_ : Comparison or None
        The result behind the display; None for folds.
    line_, band_, chance_level_, ax_, figure_ : matplotlib Artists
        The difference, its interval, the line of no difference.

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
        labels = self._labels(f"Difference in {self.measure}")
        return Contents([(self.alpha, self.difference)], None, ((0, 1), (0, 0)), labels)

    @classmethod
    @with_options_of(EPCDisplay.from_predictions, without=("y_score_dev",))
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score_a: ArrayLike,
        y_score_b: ArrayLike,
        *,
        y_score_dev_a: ArrayLike | None = None,
        y_score_dev_b: ArrayLike | None = None,
        confidence_level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Make the display of two sets of scores of the same samples, those of A and of B.

        Without a development set thresholds are chosen fold by fold on the other folds, and the interval is Student's
        t over folds; with one it is that of the paired bootstrap, `priori.compare`. The chance level is the line of no
        difference. All other parameters are those of `EPCDisplay.from_predictions`.
        """
        given = {**locals(), **options}
        legend_name = "A minus B" if given["name"] is None else given["name"]
        a, b = _curves(given, {"_a": "A", "_b": "B"})
        if isinstance(a, AverageEPC) and isinstance(b, AverageEPC):
            return cls._over_folds(a, b, legend_name, confidence_level)._draw(given)
        assert isinstance(a, EPC)
        assert isinstance(b, EPC)
        drawn = {"n_resamples": given["n_resamples"], "rng": given["random_state"]}
        comparison = compare(a, b, confidence_level=confidence_level, **drawn)
        display = cls(
            alpha=comparison.alpha,
            difference=comparison.expected,
            lower=comparison.lower,
            upper=comparison.upper,
            name=legend_name,
            measure=a.measure.title,
            criterion=a.criterion.name,
        )
        display.comparison_, display.warnings_ = comparison, comparison.warnings
        return display._draw(given)

    @classmethod
    @with_options_of(from_predictions, without=("y_true_dev", "y_score_dev_a", "y_score_dev_b"))
    def from_estimator(
        cls,
        estimator_a: Any,
        estimator_b: Any,
        X: Any,
        y: Any,
        *,
        X_dev: Any = None,
        y_dev: Any = None,
        response_method: ResponseMethod = "auto",
        **options: Any,
    ) -> Self:
        """Make the display of two fitted classifiers on the same data, as `EPCDisplay.from_estimator` that of one."""
        handed_on, trained = as_predictions(locals())
        return cls.from_predictions(**handed_on)._warn(trained)

    @classmethod
    @with_options_of(from_predictions, without=(*NOT_OF_FOLDS, "y_score_dev_a", "y_score_dev_b"))
    def from_cv_results(
        cls,
        cv_results_a: Mapping[str, Any],
        cv_results_b: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        response_method: ResponseMethod = "auto",
        chance_level_kwargs: Style | None = None,
        confidence_level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Make the display of two cross-validations over the same folds: their mean difference and its t interval.

        Folds share training samples, so that the interval describes how folds differ more than it promises coverage.
        Arguments as in `EPCDisplay.from_cv_results` and `from_predictions`.
        """
        given = {**locals(), **options}
        for fold_a, fold_b in zip(cv_results_a["indices"]["test"], cv_results_b["indices"]["test"], strict=True):
            if not np.array_equal(fold_a, fold_b):
                raise OptionError("the two cross-validations have different folds; give both the same cv")
        settings = {key: given[key] for key in SETTINGS}
        a, b = (average_epc(of_folds(given, key)[0], **settings) for key in ("cv_results_a", "cv_results_b"))
        name = "A minus B" if given["name"] is None else given["name"]
        return cls._over_folds(a, b, name, confidence_level)._draw(given)

    @classmethod
    def _over_folds(cls, a: AverageEPC, b: AverageEPC, name: str, confidence_level: float) -> Self:
        each = a.each - b.each
        mean = each.mean(axis=0)
        plan = IntervalPlan.checked("t", confidence_level, 2, False, 0)
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
        display.warnings_ = joined(a.warnings, b.warnings)
        return display


def _curves(given: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[EPC | AverageEPC]:
    """Give the curve of each set of scores, by the ends of its arguments' names: ``_a`` of ``y_score_a``.

    Thresholds are chosen on the development set; without one, those of each fold on the other folds.
    """
    dev_names = ["y_true_dev", *(f"y_score_dev{end}" for end in names)]
    developed = together("a development set needs", given, *dev_names)
    settings = {key: given[key] for key in SETTINGS}
    level = 0.95 if given["confidence_level"] is None else given["confidence_level"]
    for end, name in names.items():
        test = scores(
            given["y_true"],
            given[f"y_score{end}"],
            pos_label=given["pos_label"],
            user=given["users"],
            sample_weight=given["sample_weight"],
            name="test",
        )
        if not developed:
            parts = folds(test, given["cv"], given["random_state"])
            yield average_epc(parts, confidence_level=level, **settings)
            continue
        dev = scores(
            given["y_true_dev"],
            given[f"y_score_dev{end}"],
            pos_label=given["pos_label"],
            user=given["users_dev"],
            name="dev",
        )
        yield epc(dev, test, name=name, **settings)


def _chance_level(curve: EPC) -> Floats:
    """Return the curve of a classifier that gives every sample the same score."""
    dev, test = (
        Scores.from_arrays(np.zeros(part.n_negatives), np.zeros(part.n_positives)) for part in (curve.dev, curve.test)
    )
    alphas = curve.alpha.tolist()
    return epc(dev, test, task=curve.task, criterion=curve.criterion, measure=curve.measure, alpha=alphas).value


def _axis_label(pos_label: Any, y_true: ArrayLike) -> Any:
    """Return the positive class for the axes; None where it was recognised from words."""
    if pos_label is not None:
        return pos_label
    labels = set(np.unique(np.asarray(y_true)).tolist())
    return 1 if labels <= {0, 1} or labels <= {-1, 1} else None
