"""A classifier whose threshold is fixed in advance, on scores that it was not fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from priori.base.errors import InputError, OptionError
from priori.curves.epc import EPC, choose_threshold, epc
from priori.decisions.tasks import Task
from priori.scores import Scores
from priori.sklearn.displays import CriterionOption, MeasureOption
from priori.sklearn.responses import ResponseMethod, check_binary, fitted_on, responses, take


class AprioriThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A binary classifier that fixes its threshold by a criterion, on scores of samples it was not fitted on.

    `fit` gets the scores of samples held out (``cv`` a fraction), or of every sample by a clone fitted on the other
    folds (``cv`` a number of folds or a splitter), chooses on them the threshold that minimises the criterion, and
    fits the estimator on all samples. `predict` accepts a sample if and only if its score is greater than the
    threshold.

    Unlike `sklearn.model_selection.TunedThresholdClassifierCV` it finds the exact minimiser of a cost
    ``alpha V1 + (1 - alpha) V2`` or of a target over *every* threshold, on the scores of all folds together; ties are
    broken by a written rule. Outcomes are whole-number counts: sample weights reach the fit of the estimator, not the
    choice (samples of weight 0 are left out of both). There is no `predict_proba` to contradict `predict`;
    probabilities are those of ``estimator_``.

    Parameters
    ----------
    estimator : binary classifier
        With `predict_proba` or `decision_function`.
    criterion : str, Criterion or callable, optional
        ``wer``, ``at-most-far``, ``max:f1``, ... (see `priori.epc`), or a function of outcomes and alpha; the task's
        own by default.
    alpha : number, optional
        The trade-off, 0.5 by default; or the limit or target, which has to be given.
    task : {"authentication", "detection", "retrieval", "diagnosis"} or Task
        Gives V1 and V2: FAR and FRR, precision and recall, sensitivity and specificity.
    cv : int, float, splitter, iterable or "prefit", optional
        Folds (5 by default, stratified); the fraction to hold out; any splitter of scikit-learn; or ``"prefit"``: the
        estimator is fitted already, and `fit` only chooses the threshold on the samples it gets.
    refit : bool
        Fit the estimator on all samples in the end. False, for one split only, keeps the one fitted on the rest, so
        that the threshold belongs to that very estimator.
    response_method : {"auto", "predict_proba", "decision_function"}
        Where scores come from.
    pos_label : int, float, bool or str, optional
        The positive class; ``classes_[1]`` by default.
    n_jobs : int, optional
        How many folds are fitted at the same time.
    random_state : int or RandomState, optional
        For the split when ``cv`` is a fraction.

    Attributes
    ----------
    threshold_ : float
        The threshold; ``-inf`` accepts all, ``inf`` rejects all.
    dev_scores_, warnings_ : Scores and tuple of str
        The scores it was chosen on, and warnings about them.
    estimator_ : classifier
        The fitted estimator.
    classes_, n_features_in_, feature_names_in_
        The two classes; the others as in the estimator, where it has them.

    Notes
    -----
    Folds are scored by estimators that differ a little from the final one, so their scores must be on one scale, as
    probabilities are. With ``groups`` (one person's samples, say) give a splitter that keeps groups together, such
    as `GroupKFold`, and pass ``groups`` to `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import train_test_split
    >>> from priori.sklearn import AprioriThresholdClassifier
    >>> X, y = make_classification(n_samples=2000, weights=[0.9], random_state=1)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=1)
    >>> classifier = AprioriThresholdClassifier(LogisticRegression(), criterion="target-v1", alpha=0.05).fit(X, y)
    >>> 0 < classifier.threshold_ < 1
    True
    >>> curve = classifier.epc(X_test, y_test, alpha=0.05)
    >>> curve.dev_v1.round(2).tolist(), bool(abs(curve.v1[0] - 0.05) < 0.03)
    ([0.05], True)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        criterion: CriterionOption = None,
        alpha: Any = None,
        task: str | Task = "authentication",
        cv: Any = None,
        refit: bool = True,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator, self.criterion, self.alpha, self.task = estimator, criterion, alpha, task
        self.cv, self.refit, self.response_method, self.pos_label = cv, refit, response_method, pos_label
        self.n_jobs, self.random_state = n_jobs, random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, **fit_params: Any) -> AprioriThresholdClassifier:
        """Choose the threshold, and fit the estimator.

        ``groups`` are for splitters that need them. ``fit_params`` are for the fit of the estimator; those with one
        value per sample are split like the samples.
        """
        X, y = indexable(X, check_binary(y))
        X, y, fit_params, groups = _without_weightless(X, y, fit_params, groups)
        params, split_params = self._routed(groups, fit_params)
        if isinstance(self.cv, str):
            if self.cv != "prefit":
                raise OptionError(f"cv={self.cv!r}: give a number of folds, a fraction, a splitter or 'prefit'")
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            labels, score = self._scored(self.estimator, X, y)
            self.warnings_ = fitted_on(self.estimator, X)
        else:
            self.warnings_ = ()
            fitted, labels, score = self._crossed(X, y, params, split_params)
            self.estimator_ = clone(self.estimator).fit(X, y, **params) if self.refit else fitted
        self.classes_ = self.estimator_.classes_
        self.dev_scores_ = Scores.from_predictions(labels, score, pos_label=True, source="cross-fitted scores")
        self.threshold_ = choose_threshold(self.dev_scores_, criterion=self.criterion, alpha=self.alpha, task=self.task)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _routed(self, groups: Any, fit_params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what goes to the estimator's fit and to the splitter."""
        if not sklearn.get_config()["enable_metadata_routing"]:
            return fit_params, {"groups": groups}
        routed = process_routing(self, "fit", **({} if groups is None else {"groups": groups}), **fit_params)
        return routed.estimator.fit, routed.splitter.split

    def _splits(self, X: Any, y: Any, split_params: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        if isinstance(self.cv, (float, np.floating)):
            if not 0 < self.cv < 1:
                raise OptionError(f"cv={self.cv}: the fraction held out must lie between 0 and 1")
            splitter = StratifiedShuffleSplit(n_splits=1, test_size=float(self.cv), random_state=self.random_state)
            return splitter.split(X, y)  # type: ignore[no-any-return]
        return check_cv(self.cv, y, classifier=True).split(X, y, **split_params)  # type: ignore[no-any-return]

    def _crossed(
        self, X: Any, y: Any, params: dict[str, Any], split_params: dict[str, Any]
    ) -> tuple[Any, NDArray[np.bool_], NDArray[np.float64]]:
        """Return the last estimator fitted, and the labels and scores of the samples that each has not seen."""
        splits = list(self._splits(X, y, split_params))
        if not self.refit and len(splits) != 1:
            raise OptionError(f"refit=False keeps the estimator of one split, and cv gives {len(splits)} splits")

        def fit_and_score(train: Any, held: Any) -> tuple[Any, NDArray[np.bool_], NDArray[np.float64]]:
            train_params = {name: _rows(value, train, len(y)) for name, value in params.items()}
            fitted = clone(self.estimator).fit(take(X, train), take(y, train), **train_params)
            return fitted, *self._scored(fitted, take(X, held), take(y, held))

        folds = Parallel(n_jobs=self.n_jobs)(delayed(fit_and_score)(train, held) for train, held in splits)
        fitted, labels, score = zip(*folds, strict=True)
        return fitted[-1], np.concatenate(labels), np.concatenate(score)

    def _scored(self, fitted: Any, X: Any, y: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        score, positive = responses(fitted, X, response_method=self.response_method, pos_label=self.pos_label)
        return np.asarray(y) == positive, score

    def _responses(self, X: Any) -> tuple[NDArray[np.float64], Any]:
        check_is_fitted(self, "threshold_")
        return responses(self.estimator_, X, response_method=self.response_method, pos_label=self.pos_label)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive class where the score is greater than the threshold, else the other one."""
        score, positive = self._responses(X)
        second = bool(positive == self.classes_[1])
        return np.asarray(self.classes_[((score > self.threshold_) == second).astype(np.intp)])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return by how much each score passes the threshold: a sample is accepted where this is above 0.

        The sign is that of ``classes_[1]``, as everywhere in scikit-learn. The estimator's own scores and
        probabilities, which know nothing of the threshold, are those of ``estimator_``.
        """
        score, positive = self._responses(X)
        # A score at the threshold is not greater: just below 0. (inf minus inf would be NaN.)
        equal = score == self.threshold_
        passed = np.where(equal, -np.finfo(np.float64).tiny, np.where(equal, 0.0, score) - self.threshold_)
        return np.asarray(passed if positive == self.classes_[1] else -passed)

    def epc(
        self,
        X: Any,
        y: Any,
        *,
        task: str | Task | None = None,
        criterion: CriterionOption = None,
        measure: MeasureOption = None,
        points: int = 101,
        bounds: tuple[Any, Any] = (0, 1),
        alpha: Any = None,
        exact: bool = False,
        preset: str | None = None,
        name: str | None = None,
    ) -> EPC:
        """Return the Expected Performance Curve on other data, thresholds chosen on `dev_scores_`.

        Arguments as in `priori.epc`; task, criterion and name are the classifier's own by default.
        """
        check_is_fitted(self, "threshold_")
        labels, score = self._scored(self.estimator_, X, y)
        return epc(
            self.dev_scores_,
            Scores.from_predictions(labels, score, pos_label=True, source="test"),
            task=self.task if task is None else task,
            criterion=self.criterion if criterion is None else criterion,
            measure=measure,
            points=points,
            bounds=bounds,
            alpha=alpha,
            exact=exact,
            preset=preset,
            name=type(self.estimator_).__name__ if name is None else name,
        )

    def get_metadata_routing(self) -> Any:
        """Return how metadata given to `fit` reach the estimator and the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)
        splitter = self.cv if hasattr(self.cv, "split") else check_cv(3)
        return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _more_tags(self) -> dict[str, Any]:
        # What __sklearn_tags__ was called before scikit-learn 1.6.
        return {"binary_only": True}


def _without_weightless(
    X: Any, y: Any, fit_params: dict[str, Any], groups: Any
) -> tuple[Any, Any, dict[str, Any], Any]:
    """Leave out the samples whose weight is 0: the choice of the threshold must not see them either."""
    weight = fit_params.get("sample_weight")
    weighed = None if weight is None else np.flatnonzero(np.asarray(weight) != 0)
    if weighed is None or weighed.size == len(y):
        return X, y, fit_params, groups
    labels = np.asarray(take(y, weighed))
    if np.unique(labels).size < 2:
        raise InputError("sample_weight leaves one class only; the threshold between two needs both")
    params = {name: _rows(value, weighed, len(y)) for name, value in fit_params.items()}
    return take(X, weighed), labels, params, None if groups is None else take(groups, weighed)


def _rows(value: Any, index: Any, size: int) -> Any:
    """Return the rows of a parameter that has one value per sample; anything else as it is."""
    per_sample = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == size
    return take(value, index) if per_sample else value
