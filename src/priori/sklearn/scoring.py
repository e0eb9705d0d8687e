"""A scorer for `cross_validate` and `GridSearchCV` whose threshold was not chosen on the samples it scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from priori.base.alphas import as_fractions
from priori.base.errors import InputError
from priori.base.types import Ints, Mask
from priori.curves.cross import cross_epc
from priori.decisions.criteria import get_criterion
from priori.decisions.measures import get_measure
from priori.decisions.outcomes import Outcomes
from priori.decisions.tasks import Task, get_task
from priori.scores.trials import whole_weights
from priori.sklearn.displays import CriterionOption, MeasureOption
from priori.sklearn.responses import ResponseMethod, responses, scores


@dataclass(frozen=True)
class AprioriScorer:
    """A scorer, ``scorer(estimator, X, y)``. Made by `make_apriori_scorer`."""

    measure: MeasureOption
    criterion: CriterionOption
    alpha: Any
    task: str | Task
    cv: int
    response_method: ResponseMethod
    pos_label: Any
    random_state: int

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None
    ) -> float:
        """Return the measure on these samples, negated where smaller is better; with groups, that of the worst one."""
        shown = get_measure(get_task(self.task).aggregate if self.measure is None else self.measure)
        (alpha,) = as_fractions(self.alpha)
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
            value = float(np.ravel(shown(_outcomes(true[own], accepted[own], times[own]), float(alpha)))[0])
            values.append(value if shown.greater_is_better else -value)
        return min(values)

    def get_metadata_routing(self) -> Any:
        """Ask scikit-learn for the weights and the groups of samples, where it hands them on (metadata routing)."""
        from sklearn.utils.metadata_routing import MetadataRequest

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
        true, score = np.asarray(y) == positive, np.asarray(score)
        curve = cross_epc(
            scores(true, score, pos_label=True, sample_weight=times),
            folds=self.cv,
            rng=self.random_state,
            task=self.task,
            criterion=self.criterion,
            alpha=[as_fractions(self.alpha)[0]],
        )
        thresholds = np.array([part.threshold[0] for part in curve.curves])
        accepted = np.zeros(true.size, dtype=np.bool_)
        for own, fold in zip((~true, true), curve.fold, strict=True):
            own &= times > 0  # others are not there
            accepted[own] = score[own] > thresholds[fold]
        return true, accepted


def _outcomes(true: Mask, accepted: Mask, times: Ints) -> Outcomes:
    kinds = (true & accepted, ~true & accepted, ~true & ~accepted, true & ~accepted)
    return Outcomes(*(np.array([times[kind].sum()]) for kind in kinds))


def final(estimator: Any) -> Any:
    """Return what decides inside pipelines and searches."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def decides_itself(estimator: Any) -> bool:
    """Whether a classifier fixed its own threshold when it was fitted."""
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

    from priori.sklearn.threshold import AprioriThresholdClassifier

    kinds = (AprioriThresholdClassifier, FixedThresholdClassifier, TunedThresholdClassifierCV)
    return isinstance(final(estimator), kinds)


def make_apriori_scorer(
    measure: MeasureOption = None,
    *,
    criterion: CriterionOption = None,
    alpha: Any = None,
    task: str | Task = "authentication",
    cv: int = 5,
    response_method: ResponseMethod = "auto",
    pos_label: Any = None,
    random_state: int = 0,
) -> AprioriScorer:
    """Make a scorer for ``scoring=`` in `cross_validate`, `GridSearchCV` and friends, greater is better.

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
    >>> from priori.sklearn import AprioriThresholdClassifier, make_apriori_scorer
    >>> X, y = make_classification(n_samples=600, random_state=0)
    >>> scorer = make_apriori_scorer("hter", alpha=0.5)
    >>> values = cross_val_score(LogisticRegression(), X, y, scoring=scorer)
    >>> bool(((-0.1 < values) & (values < 0)).all())
    True
    >>> values = cross_val_score(AprioriThresholdClassifier(LogisticRegression()), X, y, scoring=scorer)
    >>> bool(((-0.1 < values) & (values < 0)).all())
    True
    """
    domain = get_task(task)
    get_measure(domain.aggregate if measure is None else measure)
    alpha = get_criterion(criterion, domain).alpha_or_half(alpha)
    as_fractions(alpha)
    return AprioriScorer(measure, criterion, alpha, task, cv, response_method, pos_label, random_state)
