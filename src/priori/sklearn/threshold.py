"""A classifier whose threshold is fixed in advance, and a scorer whose threshold its samples had no part in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
    check_cv,
    cross_validate,
)
from sklearn.utils import check_consistent_length, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from priori.base.alphas import as_fractions
from priori.base.errors import InputError, OptionError
from priori.base.types import Ints, Mask
from priori.curves.cross import cross_epc
from priori.curves.epc import EPC, epc
from priori.decisions.criteria import get_criterion
from priori.decisions.measure import Measure
from priori.decisions.measures import get_measure
from priori.decisions.outcomes import Outcomes
from priori.decisions.recipe import AnyCriterion, AnyMeasure, choose_threshold
from priori.decisions.tasks import Task, get_task
from priori.scores import Scores
from priori.scores.trials import whole_weights
from priori.sklearn.responses import ResponseMethod, check_binary, of_folds, responses, scores, take, with_options_of


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
    task : {"authentication", "detection", "fraud", "texts", "retrieval", "spam", "diagnosis"} or Task
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
    dev_scores_ : Scores
        The scores it was chosen on.
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
        criterion: AnyCriterion = None,
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
        else:
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

        kept = {"return_estimator": True, "return_indices": True, "error_score": "raise", "n_jobs": self.n_jobs}
        found = cross_validate(self.estimator, X, y, cv=splits, params=params, scoring=_no_score, **kept)
        held = of_folds(found, X, y, response_method=self.response_method, pos_label=self.pos_label)
        return found["estimator"][-1], held.positive, held.score

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

    @with_options_of(epc)
    def epc(self, X: Any, y: Any, *, task: str | Task | None = None, name: str | None = None, **options: Any) -> EPC:
        """Return the Expected Performance Curve on other data, thresholds chosen on `dev_scores_`.

        Arguments as in `priori.epc`; task, criterion and name are the classifier's own by default.
        """
        check_is_fitted(self, "threshold_")
        labels, score = self._scored(self.estimator_, X, y)
        test = Scores.from_predictions(labels, score, pos_label=True, source="test")
        options["criterion"] = self.criterion if options["criterion"] is None else options["criterion"]
        named = type(self.estimator_).__name__ if name is None else name
        return epc(self.dev_scores_, test, task=self.task if task is None else task, name=named, **options)

    def get_metadata_routing(self) -> Any:
        """Return how metadata given to `fit` reach the estimator and the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add(estimator=self.estimator, method_mapping=mapping)
        splitter = self.cv if hasattr(self.cv, "split") else check_cv(3)
        return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def _no_score(*asked: Any) -> float:
    """Score nothing: what folds score is asked of their estimators afterwards."""
    return 0.0


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


# -- the scorer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AprioriScorer:
    """A scorer for ``scoring=`` in `cross_validate`, `GridSearchCV` and friends: greater is better.

    scikit-learn never shows a scorer the training samples, so there are two honest ways to a threshold:

    - An estimator that fixed its own threshold when it was fitted, `AprioriThresholdClassifier` above all (also at
      the end of a pipeline), is judged with its own decisions: the setting of the papers, and the one to prefer.
    - Any other classifier has its threshold chosen inside the validation fold: the fold is taken apart into ``cv``
      parts, each is judged with the threshold chosen on the others, and the outcomes of all parts are counted
      together. No sample is judged with a threshold that it helped to choose, and nothing is fitted again.

    With ``sensitive_features`` (fairlearn's name for the groups of samples) it is the score of the worst group, all at
    the same threshold: ``scorer(estimator, X, y, sensitive_features=sex)``, or, where scikit-learn hands metadata on
    (``set_config(enable_metadata_routing=True)``), ``cross_validate(..., params={"sensitive_features": sex})``.

    Parameters
    ----------
    measure : str, Measure or callable, optional
        What is scored, as in `priori.epc`; the task's aggregate by default. Errors and costs are negated.
    criterion, alpha, task
        What the threshold minimises, as in `priori.choose_threshold`.
    cv, random_state : int
        How many parts the validation fold is taken apart into, and the seed of the parts.
    response_method, pos_label
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from priori.sklearn import AprioriScorer, AprioriThresholdClassifier
    >>> X, y = make_classification(n_samples=600, random_state=0)
    >>> scorer = AprioriScorer("hter", alpha=0.5)
    >>> values = cross_val_score(LogisticRegression(), X, y, scoring=scorer)
    >>> bool(((-0.1 < values) & (values < 0)).all())
    True
    >>> values = cross_val_score(AprioriThresholdClassifier(LogisticRegression()), X, y, scoring=scorer)
    >>> bool(((-0.1 < values) & (values < 0)).all())
    True
    """

    measure: AnyMeasure = field(default=None, kw_only=False)
    criterion: AnyCriterion = None
    alpha: Any = None
    task: str | Task = "authentication"
    cv: int = 5
    response_method: ResponseMethod = "auto"
    pos_label: Any = None
    random_state: int = 0

    def __post_init__(self) -> None:
        self._shown()  # raises for what is not known
        (alpha,) = as_fractions(get_criterion(self.criterion, self.task).alpha_or_half(self.alpha))
        object.__setattr__(self, "alpha", alpha)

    def _shown(self) -> Measure:
        return get_measure(get_task(self.task).aggregate if self.measure is None else self.measure)

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None
    ) -> float:
        """Return the measure on these samples, negated where smaller is better; with groups, that of the worst one."""
        shown = self._shown()
        check_consistent_length(y, sample_weight, sensitive_features)
        times = whole_weights(np.ones(len(y)) if sample_weight is None else sample_weight, "sample_weight")
        true, accepted = self._decided(estimator, X, y, times)
        groups = np.zeros(true.size) if sensitive_features is None else np.asarray(sensitive_features)
        values = []
        for group in np.unique(groups):
            own = groups == group
            if sensitive_features is not None and np.unique(true[own]).size < 2:
                raise InputError(
                    f"the group {str(group)!r} has samples of one class only; merge groups, or take fewer folds"
                )
            value = float(np.ravel(shown(_outcomes(true[own], accepted[own], times[own]), float(self.alpha)))[0])
            values.append(value if shown.greater_is_better else -value)
        return min(values)

    def get_metadata_routing(self) -> Any:
        """Ask scikit-learn for the weights and the groups of samples, where it hands them on (metadata routing)."""
        request = MetadataRequest(owner=type(self).__name__)
        for name in ("sample_weight", "sensitive_features"):
            request.score.add_request(param=name, alias=True)
        return request

    def _decided(self, estimator: Any, X: Any, y: Any, times: Ints) -> tuple[Mask, Mask]:
        """Return which samples are positive, and which are accepted at a threshold that they had no part in."""
        if decides_itself(estimator):
            classes = list(estimator.classes_)
            positive = self.pos_label if self.pos_label is not None else getattr(final(estimator), "pos_label", None)
            positive = classes[1] if positive is None else positive
            return np.asarray(y) == positive, np.asarray(estimator.predict(X)) == positive
        score, positive = responses(estimator, X, response_method=self.response_method, pos_label=self.pos_label)
        true, score, copies = np.asarray(y) == positive, np.asarray(score), np.repeat(np.arange(len(y)), times)
        # Copies of a sample that counts several times stay in one fold.
        user = None if (times == 1).all() else copies
        curve = cross_epc(
            scores(true[copies], score[copies], pos_label=True, user=user),
            folds=self.cv,
            rng=self.random_state,
            task=self.task,
            criterion=self.criterion,
            alpha=[self.alpha],
        )
        thresholds = np.array([part.threshold[0] for part in curve.curves])
        accepted = np.zeros(true.size, dtype=np.bool_)
        for own, fold in zip((~true, true), curve.fold, strict=True):
            held = copies[own[copies]]
            accepted[held] = score[held] > thresholds[fold]
        return true, accepted


def _outcomes(true: Mask, accepted: Mask, times: Ints) -> Outcomes:
    kinds = (true & accepted, ~true & accepted, ~true & ~accepted, true & ~accepted)
    return Outcomes(*(np.array([times[kind].sum()]) for kind in kinds))


def final(estimator: Any) -> Any:
    """Return the estimator that decides, inside pipelines and searches."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def decides_itself(estimator: Any) -> bool:
    """Whether a classifier fixed its own threshold when it was fitted."""
    kinds = (AprioriThresholdClassifier, FixedThresholdClassifier, TunedThresholdClassifierCV)
    return isinstance(final(estimator), kinds)
