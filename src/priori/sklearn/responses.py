"""From what scikit-learn users have (estimators, predictions, cross-validation results) to `Scores`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from priori.base.cautions import Caution
from priori.base.errors import InputError, OptionError, unknown
from priori.scores import Scores
from priori.scores.derived import fold_of_trials, part_of
from priori.scores.trials import whole_weights

Method = TypeVar("Method", bound=Callable[..., Any])
ResponseMethod = Literal["auto", "predict_proba", "decision_function"]
_METHODS = get_args(ResponseMethod)
#: Where estimators keep samples that they were fitted on.
REMEMBERED = ("support_vectors_", "_fit_X", "X_train_")
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
    # First, so that an estimator that is not fitted says so itself.
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


def fitted_on(estimator: Any, X: Any) -> tuple[Caution, ...]:
    """Return a caution where X holds the samples that an estimator was fitted on, as far as it remembers any.

    Nearest neighbours, support vectors and Gaussian processes do; other estimators show it only in their scores.
    """
    inner = getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", estimator))
    try:
        if hasattr(inner, "steps"):
            X, inner = (inner[:-1].transform(X) if len(inner.steps) > 1 else X), inner.steps[-1][1]
        kept = next((getattr(inner, name) for name in REMEMBERED if hasattr(inner, name)), None)
        if kept is None:
            kept = getattr(getattr(inner, "base_estimator_", None), "X_train_", None)
        known, given = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (kept, X))
    except (TypeError, ValueError):  # nothing is kept, or no plain table of numbers
        return ()
    if known.ndim != 2 or known.shape[1:] != given.shape[1:] or not {*map(bytes, known)} <= {*map(bytes, given)}:
        return ()
    return (
        Caution(
            "dev-looks-trained-on",
            f"{type(inner).__name__} was fitted on the development data: thresholds chosen there are wrong; "
            "use unseen data",
        ),
    )


def together(beginning: str, given: Mapping[str, Any], *names: str) -> bool:
    """Tell whether all of these arguments were given; some without the others are a mistake."""
    missing = [given[name] is None for name in names]
    if any(missing) and not all(missing):
        raise OptionError(f"{beginning} {'both ' * (len(names) == 2)}{', '.join(names[:-1])} and {names[-1]}")
    return not any(missing)


def as_predictions(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Caution, ...]]:
    """Return what `from_estimator` was given as `from_predictions` takes it, and cautions about the development data.

    X gives ``y_score`` and X_dev ``y_score_dev``, of ``estimator_a`` with ``_a`` behind it. All else keeps its name.
    """
    given = {**given, **given["options"]}
    samples = {"y_score": given["X"]}
    used_here = ("cls", "options", "X", "y", "X_dev", "y_dev", "response_method")
    handed_on = {name: value for name, value in given.items() if name not in used_here}
    handed_on["y_true"] = given["y"]
    if "X_dev" in given and together("development data need", given, "X_dev", "y_dev"):
        samples["y_score_dev"], handed_on["y_true_dev"] = given["X_dev"], given["y_dev"]
    options = {name: given[name] for name in ("response_method", "pos_label")}
    estimators = {name: handed_on.pop(name) for name in given if name.startswith("estimator")}
    for name, estimator in estimators.items():
        for score, X in samples.items():
            handed_on[name.replace("estimator", score)], handed_on["pos_label"] = responses(estimator, X, **options)
    if given["name"] is None:
        names = [type(estimator).__name__ for estimator in estimators.values()]
        if len(set(names)) < len(names):
            names = [f"{name} {key}" for name, key in zip(names, "AB", strict=True)]
        handed_on["name"] = " minus ".join(names)
    dev = samples.get("y_score_dev")
    trained = () if dev is None else tuple(line for each in estimators.values() for line in fitted_on(each, dev))
    return handed_on, trained


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


def folds(whole: Scores, cv: int, random_state: int) -> dict[str, Scores]:
    """Take scores apart at random into folds with the same share of each class; users stay whole."""
    smaller = min(whole.n_negatives, whole.n_positives)
    if cv < 2 or smaller < cv:
        raise OptionError(
            f"cv={cv}: the smaller class has {smaller} samples; choose from 2 to {smaller} folds, "
            "or give a development set"
        )
    negative, positive = fold_of_trials(whole, cv, rng=random_state)
    parts = (part_of(whole, negative == fold, positive == fold, f"fold {fold + 1}") for fold in range(cv))
    return {f"fold {fold}": replace(part, source=f"fold {fold}") for fold, part in enumerate(parts, start=1)}


def of_folds(given: Mapping[str, Any], name: str = "cv_results") -> tuple[dict[str, Scores], Any]:
    """Return the scores of each fold by the estimator that has not seen it, and the positive class."""
    cv_results, X, y, sample_weight = (given[key] for key in (name, "X", "y", "sample_weight"))
    options = {key: given[key] for key in ("response_method", "pos_label")}
    if not {"estimator", "indices"} <= set(cv_results):
        raise OptionError(
            "cv_results lacks 'estimator' or 'indices'; call cross_validate with return_estimator=True and "
            "return_indices=True"
        )
    check_consistent_length(X, y, sample_weight)
    check_binary(y)
    size = len(np.asarray(y))
    tests = cv_results["indices"]["test"]
    if max((int(np.max(index)) for index in tests), default=0) >= size:
        raise InputError(f"cv_results was made from more samples than the {size} given here; give the same X and y")
    parts: dict[str, Scores] = {}
    for fold, (estimator, index) in enumerate(zip(cv_results["estimator"], tests, strict=True), start=1):
        score, positive = responses(estimator, take(X, index), **options)
        weight = None if sample_weight is None else np.asarray(sample_weight)[index]
        labels, name = np.asarray(take(y, index)) == positive, f"fold {fold}"
        parts[name] = scores(labels, score, pos_label=True, sample_weight=weight, name=name)
    return parts, positive
