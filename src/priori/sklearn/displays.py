"""Displays: results of Priori made from estimators, predictions or cross-validations, and drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from priori.base.cautions import joined
from priori.base.errors import OptionError
from priori.curves.averaging import average
from priori.curves.cross import CrossEPC, cross_epc, cross_fitted
from priori.curves.epc import EPC, epc
from priori.decisions.criteria import get_criterion
from priori.decisions.recipe import Recipe
from priori.plots.style import axes, colours, note_cautions
from priori.sklearn.responses import as_predictions, of_folds, scores, together, with_options_of
from priori.uncertainty.comparing.claims import Claim
from priori.uncertainty.comparing.comparison import compare
from priori.uncertainty.rates.group_rates import group_rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The options of `priori.epc` that predictions do not need: ``alpha="costs:100,1,0.01"`` gives costs and prior.
NOT_OF_ARRAYS = ("costs", "prior", "exact", "preset", "weight", "name")
#: What displays of predictions take and those of a cross-validation do not.
NOT_OF_FOLDS = ("y_true_dev", "y_score_dev", "y_score_dev_a", "y_score_dev_b", "users", "users_dev", "cv")
#: How the estimators of a cross-validation score the samples of their folds.
OF_FOLDS = ("sample_weight", "response_method", "pos_label")
#: The colours that displays on the same axes take in turn.
TURNS = 8


@dataclass(eq=False, repr=False)
class Display:
    """A result and its figure, drawn when it is made; `plot` draws it again.

    Attributes
    ----------
    result_ : Result
        The numbers, with ``frame()``, ``to_json()`` and a ``plot`` with more options.
    warnings_ : tuple of str
        Warnings about them; noted below the axes.
    ax_, figure_ : matplotlib Axes and Figure
    """

    result_: Any
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    #: Whether the figure of the result notes its warnings by itself.
    _notes: ClassVar[bool] = False

    @property
    def warnings_(self) -> tuple[str, ...]:
        """The warnings of the result."""
        return tuple(self.result_.warnings)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the result, in the next colour where there are lines on the axes."""
        from matplotlib import rc_context
        from matplotlib.rcsetup import cycler

        self.ax_ = axes(ax)
        taken, palette = len(self.ax_.get_lines()) % TURNS, colours(TURNS)
        with rc_context({"axes.prop_cycle": cycler(color=palette[taken:] + palette[:taken])}):
            self.result_.plot(self.ax_)
        self.figure_ = self.ax_.figure
        self.note_ = None if self._notes else note_cautions(self.ax_, self.warnings_)
        return self


class EPCDisplay(Display):
    """Expected Performance Curve: a measure on test data against alpha, thresholds chosen on other data.

    A ROC curve shows every threshold, as if the right one were known. This curve shows what thresholds give that
    were fixed in advance: for each trade-off alpha, the one that is best on development data. ``result_`` is an `EPC`,
    or a `Band` where a confidence level was given. Make one with `from_estimator`, `from_predictions` or
    `from_cv_results`.

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
    'HTER (%) on the test set'
    """

    @classmethod
    @with_options_of(epc, without=NOT_OF_ARRAYS)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        y_true_dev: ArrayLike | None = None,
        y_score_dev: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str = "Classifier",
        confidence_level: float | None = None,
        n_resamples: int = 2000,
        cv: int = 5,
        random_state: int = 0,
        users: ArrayLike | None = None,
        users_dev: ArrayLike | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Make the display of labels and scores.

        Parameters
        ----------
        y_true, y_score : array-like
            Labels and scores of the test set.
        y_true_dev, y_score_dev : array-like, optional
            Labels and scores of the development set, on which thresholds are chosen. Without them the test set is
            divided into ``cv`` folds: the thresholds of each are chosen on the others (`priori.cross_epc`).
        sample_weight, pos_label, name, ax
            As in `sklearn.metrics.RocCurveDisplay.from_predictions`; weights must be whole numbers.
        task, criterion, measure, points, bounds, alpha
            As in `priori.epc`.
        confidence_level : float, optional
            Draw a bootstrap band of ``n_resamples`` replicates.
        random_state : int
            The seed of the folds and of the bootstrap.
        users, users_dev : array-like, optional
            Whom each sample belongs to: users stay together in folds, and the bootstrap resamples users.
        """
        given = {**locals(), **options}
        return cls._drawn(_judged(given, {"": name}), given)

    @classmethod
    @with_options_of(as_predictions, from_predictions, without=("y_true_dev", "y_score_dev"))
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """Make the display of a fitted classifier, also of a `Pipeline` that ends in one.

        Thresholds are chosen on X_dev, y_dev and judged on X, y; neither may have been used to fit the classifier.
        Without X_dev, y_dev thresholds are chosen by folds of X, y. All other parameters are those of
        `from_predictions`.
        """
        predicted = as_predictions({"": estimator}, X, y, **options)
        return cls.from_predictions(**predicted, name=type(estimator).__name__ if name is None else name)

    @classmethod
    @with_options_of(of_folds, from_predictions, without=NOT_OF_FOLDS)
    def from_cv_results(cls, cv_results: Mapping[str, Any], X: Any, y: Any, **options: Any) -> Self:
        """Make the display of a cross-validation.

        Each fold is judged with thresholds chosen on the other folds' out-of-sample scores, so no fold ever sees a
        threshold of its own. That asks the estimators of different folds for scores on one scale; probabilities are.

        ``cv_results`` is what `sklearn.model_selection.cross_validate` returns of X, y with ``return_estimator=True``
        and ``return_indices=True``. All other parameters are those of `from_predictions`.
        """
        return cls._drawn([_of_folds(cv_results, X, y, options["name"], options)], options)

    @classmethod
    def _drawn(cls, curves: Sequence[EPC], given: Mapping[str, Any]) -> Self:
        (curve,), resampled = curves, _resampled(given)
        return cls(curve if given["confidence_level"] is None else curve.band(**resampled)).plot(given["ax"])


class DifferenceDisplay(Display):
    """Is A better than B, once thresholds are fixed in advance? Their difference along alpha, with an interval.

    Where the interval does not hold 0 the difference is significant there. ``result_`` is a `Comparison`. Make one with
    `from_estimator`, `from_predictions` or `from_cv_results`.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from priori.sklearn import DifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 1000)
    >>> good, poor = rng.normal(2 * y), rng.normal(y)
    >>> display = DifferenceDisplay.from_predictions(y, good, poor, points=11)
    >>> bool((display.result_.upper < 0).all())
    True
    """

    @classmethod
    @with_options_of(EPCDisplay.from_predictions, without=("y_score_dev", "name"))
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score_a: ArrayLike,
        y_score_b: ArrayLike,
        *,
        y_score_dev_a: ArrayLike | None = None,
        y_score_dev_b: ArrayLike | None = None,
        names: tuple[str, str] = ("A", "B"),
        confidence_level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Make the display of two sets of scores of the same samples, those of A and of B.

        With a development set the difference is that of methods, `priori.compare`; without one thresholds are chosen
        fold by fold on the other folds, and it is that of these thresholds (the claim ``deployed``). All other
        parameters are those of `EPCDisplay.from_predictions`.
        """
        given = {**locals(), **options}
        return cls._drawn(_judged(given, dict(zip(("_a", "_b"), names, strict=True))), given)

    @classmethod
    @with_options_of(as_predictions, from_predictions, without=("y_true_dev", "y_score_dev_a", "y_score_dev_b"))
    def from_estimator(
        cls, estimator_a: Any, estimator_b: Any, X: Any, y: Any, *, names: tuple[str, str] | None = None, **options: Any
    ) -> Self:
        """Make the display of two fitted classifiers on the same data, as `EPCDisplay.from_estimator` that of one."""
        predicted = as_predictions({"_a": estimator_a, "_b": estimator_b}, X, y, **options)
        kinds = [type(estimator).__name__ for estimator in (estimator_a, estimator_b)]
        if kinds[0] == kinds[1]:
            kinds = [f"{kind} {letter}" for kind, letter in zip(kinds, "AB", strict=True)]
        return cls.from_predictions(**predicted, names=names or (kinds[0], kinds[1]))

    @classmethod
    @with_options_of(of_folds, from_predictions, without=NOT_OF_FOLDS)
    def from_cv_results(
        cls, cv_results_a: Mapping[str, Any], cv_results_b: Mapping[str, Any], X: Any, y: Any, **options: Any
    ) -> Self:
        """Make the display of two cross-validations over the same folds; see `EPCDisplay.from_cv_results`."""
        for fold_a, fold_b in zip(cv_results_a["indices"]["test"], cv_results_b["indices"]["test"], strict=True):
            if not np.array_equal(fold_a, fold_b):
                raise OptionError("the two cross-validations have different folds; give both the same cv")
        each = zip((cv_results_a, cv_results_b), options["names"], strict=True)
        return cls._drawn([_of_folds(found, X, y, name, options) for found, name in each], options)

    @classmethod
    def _drawn(cls, curves: Sequence[EPC], given: Mapping[str, Any]) -> Self:
        claim: Claim = "deployed" if isinstance(curves[0], CrossEPC) else "method"
        return cls(compare(*curves, claim=claim, **_resampled(given))).plot(given["ax"])


class AverageROCDisplay(Display):
    """One ROC curve from many: folds, data sets, users, readers. *A posteriori*, as every ROC curve.

    Which average is right depends on how the classifier will be used (`priori.recommend`); ``method`` is any of
    `priori.average`. ``result_`` is an `AverageCurve`. Make one with `from_estimator`, `from_predictions` or
    `from_cv_results`.

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
    >>> len(display.result_.datasets)
    5
    """

    _notes = True

    @classmethod
    @with_options_of(average, without=("by",))
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        groups: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Make the display of labels and scores of several data sets: ``groups`` names the one of each sample.

        A data set is a fold, a user, a reader. Other parameters are those of `EPCDisplay.from_predictions` and of
        `priori.average`.
        """
        size = np.size(y_true)
        if np.shape(groups) != (size,):
            raise OptionError(f"groups must name the data set of each of the {size} samples")
        whole = scores(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, dataset=groups)
        return cls(average(whole, **options)).plot(ax)

    @classmethod
    @with_options_of(as_predictions, from_predictions, without=("X_dev", "y_dev"))
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, groups: ArrayLike, **options: Any) -> Self:
        """Make the display of a fitted classifier on several data sets; parameters as in `from_predictions`."""
        return cls.from_predictions(**as_predictions({"": estimator}, X, y, **options), groups=groups)

    @classmethod
    @with_options_of(of_folds, from_predictions)
    def from_cv_results(cls, cv_results: Mapping[str, Any], X: Any, y: Any, **options: Any) -> Self:
        """Make the display of a cross-validation, the average of its folds' curves; see `from_predictions`."""
        found = of_folds(cv_results, X, y, **{name: options.pop(name) for name in OF_FOLDS})
        groups = np.char.add("fold ", (found.fold + 1).astype(str))
        given = {"groups": groups, "sample_weight": found.weight, "pos_label": True, **options}
        return cls.from_predictions(found.positive, found.score, **given)


class GroupRatesDisplay(Display):
    """False positive and false negative rates of groups of people, thresholds chosen on other data.

    ``result_`` are `GroupRates`: the rates with simultaneous intervals, the largest gap and ratios between groups with
    theirs. Make one with `from_estimator` or `from_predictions`. ``sensitive_features`` is fairlearn's name for the
    groups.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from priori.sklearn import GroupRatesDisplay
    >>> rng = np.random.default_rng(0)
    >>> y, sex = rng.integers(0, 2, 2000), rng.choice(["f", "m"], 2000)
    >>> score = rng.normal(y - 0.5 * (sex == "m"))
    >>> display = GroupRatesDisplay.from_predictions(
    ...     y[1000:], score[1000:], sensitive_features=sex[1000:], y_true_dev=y[:1000], y_score_dev=score[:1000])
    >>> gap = display.result_.rows("frr", "gap")
    >>> f"FRR of {gap['group'][0]} minus {gap['other'][0]}: {gap['value'][0]:.2f}, at least {gap['lower'][0]:.2f}"
    'FRR of m minus f: 0.14, at least 0.08'
    """

    _notes = True

    @classmethod
    @with_options_of(epc, without=(*NOT_OF_ARRAYS, "measure", "points", "bounds"))
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        y_true_dev: ArrayLike,
        y_score_dev: ArrayLike,
        users: ArrayLike | None = None,
        pos_label: Any = None,
        name: str = "group",
        ax: Axes | None = None,
        confidence_level: float = 0.95,
        **options: Any,
    ) -> Self:
        """Make the display of labels and scores.

        Parameters
        ----------
        sensitive_features : array-like
            The group of each test sample.
        users : array-like, optional
            Whom each test sample is of, where people have several: intervals then allow for it.
        name : str
            What the groups are of, for the figure.
        confidence_level : float
            That of all groups' intervals of one rate together.
        y_true, y_score, y_true_dev, y_score_dev, pos_label, ax, task, criterion, alpha
            As in `EPCDisplay.from_predictions`.
        """
        rule = {"criterion": options["criterion"], "task": options["task"]}
        chosen = get_criterion(**rule).alpha_or_half(options["alpha"])
        dev = scores(y_true_dev, y_score_dev, pos_label=pos_label, name="dev")
        test = scores(y_true, y_score, pos_label=pos_label, name="test", user=users, group=sensitive_features)
        curve = epc(dev, test, alpha=chosen, **rule)
        rates = group_rates(test, float(curve.threshold[0]), by=name, confidence_level=confidence_level)
        looks = tuple(line for line in curve.warnings if getattr(line, "code", "") == "dev-looks-trained-on")
        return cls(replace(rates, warnings=joined(looks, rates.warnings))).plot(ax)

    @classmethod
    @with_options_of(as_predictions, from_predictions)
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sensitive_features: ArrayLike, X_dev: Any, y_dev: Any, **options: Any
    ) -> Self:
        """Make the display of a fitted classifier; parameters as in `from_predictions` and `EPCDisplay`."""
        predicted = as_predictions({"": estimator}, X, y, X_dev=X_dev, y_dev=y_dev, **options)
        return cls.from_predictions(**predicted, sensitive_features=sensitive_features)


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a curve is made, as in `priori.epc`."""
    return {name: given[name] for name in ("task", "criterion", "measure", "points", "bounds", "alpha")}


def _resampled(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return how intervals are made, as in `priori.EPC.band`."""
    return {**{name: given[name] for name in ("n_resamples", "confidence_level")}, "rng": given["random_state"]}


def _judged(given: Mapping[str, Any], names: Mapping[str, str]) -> list[EPC]:
    """Return the curve of each set of scores, by the ends of its arguments' names: ``_a`` of ``y_score_a``.

    Thresholds are chosen on the development set; without one, those of each fold on the other folds.
    """
    of_dev = ("y_true_dev", *(f"y_score_dev{end}" for end in names))
    developed = together("a development set needs", **{name: given[name] for name in of_dev})
    curves, label, users, settings = list[EPC](), given["pos_label"], given["users"], _settings(given)
    if users is None and not developed and given["sample_weight"] is not None:
        users = np.arange(np.size(given["y_true"]))  # a sample that counts twice stays in one fold
    how = {"pos_label": label, "user": users, "sample_weight": given["sample_weight"], "name": "test"}
    for end, name in names.items():
        test = scores(given["y_true"], given[f"y_score{end}"], **how)
        if developed:
            known = given["y_true_dev"], given[f"y_score_dev{end}"]
            dev = scores(*known, pos_label=label, user=given["users_dev"], name="dev")
            curves.append(epc(dev, test, name=name, **settings))
        else:
            curves.append(cross_epc(test, folds=given["cv"], rng=given["random_state"], name=name, **settings))
    return curves


def _of_folds(cv_results: Mapping[str, Any], X: Any, y: Any, name: str, options: Mapping[str, Any]) -> EPC:
    """Return the curve of a cross-validation, each fold judged with thresholds chosen on the others."""
    found = of_folds(cv_results, X, y, **{name: options[name] for name in OF_FOLDS})
    whole = scores(found.positive, found.score, pos_label=True, sample_weight=found.weight, name=name)
    times = 1 if found.weight is None else found.weight
    positive, of_samples = np.repeat(found.positive, times), np.repeat(found.fold, times)
    fold = of_samples[~positive], of_samples[positive]
    return cross_fitted(whole, fold, Recipe.of(**_settings(options)), name)
