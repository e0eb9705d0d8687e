"""A scorer for `cross_validate` and `GridSearchCV` whose threshold was not chosen on the samples it scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from priori.base.alphas import as_fractions
from priori.curves.cross import cross_epc
from priori.decisions.criteria import get_criterion
from priori.decisions.measures import Task, get_measure, get_task
from priori.decisions.outcomes import Outcomes
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

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the measure on these samples, negated where smaller is better."""
        domain = get_task(self.task)
        shown = get_measure(domain.aggregate if self.measure is None else self.measure)
        (alpha,) = as_fractions(self.alpha)
        if decides_itself(estimator):
            counted = self._decided(estimator, X, y, sample_weight)
        else:
            score, positive = responses(estimator, X, response_method=self.response_method, pos_label=self.pos_label)
            whole = scores(np.asarray(y) == positive, score, pos_label=True, sample_weight=sample_weight)
            counted = cross_epc(whole, folds=self.cv, rng=self.random_state, task=domain, criterion=self.criterion,
                                measure=shown, alpha=[alpha]).outcomes  # fmt: skip
        value = float(np.ravel(shown(counted, float(alpha)))[0])
        return value if shown.greater_is_better else -value

    def _decided(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Outcomes:
        classes = list(estimator.classes_)
        positive = self.pos_label if self.pos_label is not None else getattr(final(estimator), "pos_label", None)
        positive = classes[1] if positive is None else positive
        true, accepted = np.asarray(y) == positive, np.asarray(estimator.predict(X)) == positive
        times = whole_weights(np.ones(true.size) if sample_weight is None else sample_weight, "sample_weight")
        return Outcomes(
            *(np.array([times[mask].sum()]) for mask in (true & accepted, ~true & accepted, ~true & ~accepted,
                                                         true & ~accepted))
        )  # fmt: skip


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
    measure: MeasureOption = None, *, criterion: CriterionOption = None, alpha: Any = 0.5,
    task: str | Task = "authentication", cv: int = 5, response_method: ResponseMethod = "auto",
    pos_label: Any = None, random_state: int = 0,
) -> AprioriScorer:  # fmt: skip
    """Make a scorer for ``scoring=`` in `cross_validate`, `GridSearchCV` and friends, greater is better.

    scikit-learn hands a scorer a fitted estimator and the samples of the outer validation fold; it never shows it the
    training samples. So there are two honest ways to a threshold, and the estimator says which:

    - An estimator that fixed its own threshold when it was fitted, `AprioriThresholdClassifier` above all (also at
      the end of a pipeline), is judged with its own decisions. The threshold comes from an inner split of the
      training fold, the score from the outer fold: the setting of the papers, and the one to prefer.
    - Any other classifier has its threshold chosen inside the validation fold: the fold is taken apart into ``cv``
      parts, each is judged with the threshold chosen on the others, and the outcomes of all parts are counted
      together. No sample is judged with a threshold that it helped to choose, and nothing is fitted again.

    Parameters
    ----------
    measure : str, Measure or callable, optional
        What is scored, as in `priori.epc`; the task's aggregate by default. Errors and costs are negated.
    criterion, alpha, task
        What the threshold minimises, as in `priori.choose_threshold`.
    cv : int
        How many parts the validation fold is taken apart into.
    response_method, pos_label
        As in scikit-learn.
    random_state : int
        The seed of the parts.

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
    get_criterion(criterion, domain)
    as_fractions(alpha)
    return AprioriScorer(measure, criterion, alpha, task, cv, response_method, pos_label, random_state)
