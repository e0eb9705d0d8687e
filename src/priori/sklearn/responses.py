"""From what scikit-learn users have (estimators, predictions, cross-validation results) to `Scores`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from priori.base.errors import InputError, OptionError, unknown
from priori.scores import Scores
from priori.scores.trials import whole_weights

Method = TypeVar("Method", bound=Callable[..., Any])
ResponseMethod = Literal["auto", "predict_proba", "decision_function"]
_METHODS = get_args(ResponseMethod)
#: Returns rows of an array, a sparse matrix or a dataframe.
take = _safe_indexing


def with_options_of(*sources: Any, without: Sequence[str] = ()) -> Callable[[Method], Method]:
    """Give a method that takes ``**options`` those of others, with their defaults, in its signature and when called.

    A name that is none of them is an error.
    """

    def decorate(function: Method) -> Method:
        own = inspect.signature(function)
        parameters = {name: each for name, each in own.parameters.items() if each.kind is not each.VAR_KEYWORD}
        for source in sources:
            for name, each in inspect.signature(getattr(source, "__func__", source)).parameters.items():
                if each.default is not each.empty and name not in (*parameters, *without):
                    parameters[name] = each.replace(kind=each.KEYWORD_ONLY)
        signature = own.replace(parameters=[*parameters.values()])

        @functools.wraps(function)
        def with_defaults(*arguments: Any, **named: Any) -> Any:
            try:
                bound = signature.bind(*arguments, **named)
            except TypeError as error:
                raise TypeError(f"{function.__qualname__}() {error}") from None
            bound.apply_defaults()
            return function(**bound.arguments)

        with_defaults.__signature__ = signature  # type: ignore[attr-defined]
        return cast(Method, with_defaults)

    return decorate


def check_binary(y: Any) -> NDArray[Any]:
    """Return the labels as one column; anything but two classes is an error, in scikit-learn's words."""
    assert_all_finite(y, input_name="y")
    kind = type_of_target(y, input_name="y")
    if kind in ("unknown", "continuous"):
        raise InputError(f"Unknown label type: {kind}; y must hold two labels, whole numbers or texts")
    if kind != "binary":
        raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
    column = np.asarray(column_or_1d(y, warn=True))
    labels = np.unique(column)
    if labels.size < 2:
        raise InputError(f"y holds one class only, {labels.tolist()}; the threshold between two needs both")
    return column


def responses(
    estimator: Any, X: Any, *, response_method: ResponseMethod = "auto", pos_label: Any = None
) -> tuple[NDArray[np.float64], Any]:
    """Return the scores that a fitted binary classifier gives, higher for the positive class, and that class.

    ``auto`` is `predict_proba` where there is one, else `decision_function`; the positive class is
    ``estimator.classes_[1]`` unless ``pos_label`` says otherwise.
    """
    if response_method not in _METHODS:
        raise unknown("response_method", response_method, _METHODS)
    name = type(estimator).__name__
    methods = _METHODS[1:] if response_method == "auto" else (response_method,)
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        raise OptionError(f"{name} has no {' and no '.join(methods)}; a threshold needs a score of each sample")
    # First, so that an estimator that is not fitted raises its own error.
    score = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    classes = list(getattr(estimator, "classes_", ()))
    if len(classes) != 2:
        raise InputError(f"{name} knows {len(classes)} classes; a decision between two is needed")
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise OptionError(f"pos_label={pos_label!r} is not one of the classes {classes}")
    second = bool(positive == classes[1])
    if score.ndim == 2:
        return score[:, int(second)], positive
    return score if second else -score, positive


def together(beginning: str, **given: Any) -> bool:
    """Tell whether all of these arguments were given; only some of them is an error."""
    missing = [value is None for value in given.values()]
    if any(missing) and not all(missing):
        *names, last = given
        raise OptionError(f"{beginning} {'both ' * (len(given) == 2)}{', '.join(names)} and {last}")
    return not any(missing)


def as_predictions(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    X_dev: Any = None,
    y_dev: Any = None,
    response_method: ResponseMethod = "auto",
    pos_label: Any = None,
    **others: Any,
) -> dict[str, Any]:
    """Return the estimators' responses to data as `from_predictions` takes them, with its other options unchanged.

    X gives ``y_score`` and X_dev ``y_score_dev``, each with the end under which its estimator stands.
    """
    found, samples = {**others, "y_true": y}, {"y_score": X}
    if together("development data need", X_dev=X_dev, y_dev=y_dev):
        samples["y_score_dev"], found["y_true_dev"] = X_dev, y_dev
    for end, estimator in estimators.items():
        for name, rows in samples.items():
            score, positive = responses(estimator, rows, response_method=response_method, pos_label=pos_label)
            found |= {f"{name}{end}": score, "pos_label": positive}
    return found


def scores(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    name: str = "scores",
    **columns: Any,
) -> Scores:
    """Return predictions as `Scores`; a sample whose weight is a whole number counts so many times.

    ``columns`` are what else is known of each sample, as in `Scores.from_predictions`: its user, dataset or group.
    """
    check_consistent_length(y_true, y_score, sample_weight, *columns.values())
    weight = None if sample_weight is None else whole_weights(sample_weight, "sample_weight")
    labels, values = np.asarray(y_true), np.asarray(y_score)
    return Scores.from_predictions(labels, values, pos_label=pos_label, weight=weight, source=name, **columns)


class Folds(NamedTuple):
    """The samples of all folds: which are positive, their scores by estimators that have not seen them, their fold."""

    positive: NDArray[np.bool_]
    score: NDArray[np.float64]
    fold: NDArray[np.intp]
    weight: NDArray[Any] | None


def of_folds(
    cv_results: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    response_method: ResponseMethod = "auto",
    pos_label: Any = None,
) -> Folds:
    """Return the samples of a cross-validation that count, fold by fold."""
    if not {"estimator", "indices"} <= set(cv_results):
        raise OptionError(
            "cv_results lacks 'estimator' or 'indices'; call cross_validate with return_estimator=True and "
            "return_indices=True"
        )
    check_consistent_length(X, y, sample_weight)
    size, tests = len(check_binary(y)), cv_results["indices"]["test"]
    if max((int(np.max(index)) for index in tests), default=0) >= size:
        raise InputError(f"cv_results was made from more samples than the {size} given here; give the same X and y")
    weight = None if sample_weight is None else whole_weights(sample_weight, "sample_weight")
    if weight is not None:
        tests = [index[weight[index] > 0] for index in tests]
    found = []
    for estimator, index in zip(cv_results["estimator"], tests, strict=True):
        score, positive = responses(estimator, take(X, index), response_method=response_method, pos_label=pos_label)
        found.append((np.asarray(take(y, index)) == positive, score))
    positive, score = (np.concatenate(column) for column in zip(*found, strict=True))
    fold = np.repeat(np.arange(len(tests)), [len(index) for index in tests])
    return Folds(positive, score, fold, None if weight is None else weight[np.concatenate(tests)])
