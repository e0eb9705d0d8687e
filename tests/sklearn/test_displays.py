"""The displays: scikit-learn's arguments, its attributes, and the numbers of our own results."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB

import priori
from priori.base.errors import InputError, OptionError
from priori.sklearn import AverageROCDisplay, DifferenceDisplay, EPCDisplay, GroupRatesDisplay

mpl.use("agg")
Data = tuple[NDArray[Any], NDArray[Any]]
DISPLAYS = (EPCDisplay, DifferenceDisplay, AverageROCDisplay)


@pytest.fixture(scope="module")
def data() -> Data:
    X, y = make_classification(n_samples=450, n_features=5, n_redundant=0, flip_y=0.2, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def fitted(data: Data) -> LogisticRegression:
    return LogisticRegression().fit(data[0][:150], data[1][:150])


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def _parts(data: Data) -> tuple[NDArray[Any], ...]:
    X, y = data
    return X[150:300], y[150:300], X[300:], y[300:]


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("method", ["from_estimator", "from_predictions", "from_cv_results"])
def test_every_option_is_in_the_signature(display: Any, method: str) -> None:
    ours = inspect.signature(getattr(display, method)).parameters
    assert all(one.kind is not one.VAR_KEYWORD for one in ours.values())
    computed = priori.average if display is AverageROCDisplay else priori.epc
    known = set(inspect.signature(computed).parameters) - {"parts", "by", "dev", "test", "exact", "preset"}
    known -= {"weight", "name"}  # of users, whom predictions do not name; two systems have names
    known -= {"costs", "prior"}  # alpha="costs:100,1,0.01" says both
    assert known | {"sample_weight", "pos_label", "ax"} <= set(ours)  # scikit-learn's own names


def test_a_misspelt_option_is_named(data: Data) -> None:
    y = data[1]
    with pytest.raises(TypeError, match=r"from_predictions.*n_points"):
        EPCDisplay.from_predictions(y, y, n_points=5)  # type: ignore[call-arg]


def test_users_reach_the_bootstrap(data: Data) -> None:
    """The interval is that of `priori` itself with the same users."""
    X_dev, y_dev, X, y = _parts(data)
    users, users_dev = np.arange(len(y)) // 5, 1000 + np.arange(len(y_dev)) // 5
    options: dict[str, Any] = {"alpha": [0.5], "confidence_level": 0.9, "n_resamples": 200, "random_state": 3}
    display = EPCDisplay.from_predictions(
        y, X[:, 0], y_true_dev=y_dev, y_score_dev=X_dev[:, 0], users=users, users_dev=users_dev, **options
    )
    dev, test = (
        priori.Scores.from_predictions(label, score, user=user)
        for label, score, user in ((y_dev, X_dev[:, 0], users_dev), (y, X[:, 0], users))
    )
    curve = priori.epc(dev, test, alpha=[0.5])
    band = curve.band(confidence_level=0.9, n_resamples=200, rng=3)
    assert band.settings["bootstrap"] == "user"
    np.testing.assert_array_equal(display.result_.lower, band.lower)
    difference = DifferenceDisplay.from_predictions(
        y,
        X[:, 0],
        X[:, 1],
        y_true_dev=y_dev,
        y_score_dev_a=X_dev[:, 0],
        y_score_dev_b=X_dev[:, 1],
        users=users,
        users_dev=users_dev,
        **options,
    )
    assert difference.result_.settings["bootstrap"] == "user"


def test_options_reach_the_curve(data: Data, fitted: Any) -> None:
    X_dev, y_dev, X, y = _parts(data)
    other = GaussianNB().fit(data[0][:20], data[1][:20])
    options: dict[str, Any] = {
        "task": "diagnosis",
        "criterion": "target-v1",
        "measure": "sensitivity",
        "points": 4,
        "bounds": (0.2, 0.8),
    }
    dev: dict[str, Any] = {"X_dev": X_dev, "y_dev": y_dev}
    found = [
        cross_validate(model, *data, cv=3, return_estimator=True, return_indices=True) for model in (fitted, other)
    ]
    for display in (
        EPCDisplay.from_estimator(fitted, X, y, **dev, **options),
        EPCDisplay.from_estimator(fitted, X, y, cv=3, **options),
        EPCDisplay.from_cv_results(found[0], *data, **options),
        DifferenceDisplay.from_estimator(fitted, other, X, y, n_resamples=100, **dev, **options),
        DifferenceDisplay.from_estimator(fitted, other, X, y, cv=3, **options),
        DifferenceDisplay.from_cv_results(*found, *data, **options),
    ):
        np.testing.assert_allclose(display.result_.alpha, [0.2, 0.4, 0.6, 0.8])  # type: ignore[attr-defined]
        assert "Sensitivity" in display.ax_.get_ylabel()  # type: ignore[attr-defined]
    groups = np.arange(y.size) % 3
    average = {
        "method": "cost",
        "prior": 0.1,
        "cost_fp": 2.0,
        "cost_fn": 3.0,
        "weights": "size",
        "positions": 51,
        "confidence_level": 0.8,
        "interval": "normal",
    }
    drawn = AverageROCDisplay.from_estimator(fitted, X, y, groups=groups, **average)  # type: ignore[arg-type]
    parts = [
        priori.Scores.from_predictions(y[groups == group], fitted.predict_proba(X[groups == group])[:, 1])
        for group in range(3)
    ]
    expected = priori.average(parts, **average)  # type: ignore[arg-type]
    np.testing.assert_array_equal(drawn.result_.tpr_lower, expected.tpr_lower)
    np.testing.assert_array_equal(drawn.result_.tpr, expected.tpr)


# -- the Expected Performance Curve ------------------------------------------------------------------------


def test_from_estimator_is_the_curve_of_its_scores(data: Data, fitted: Any) -> None:
    X_dev, y_dev, X, y = _parts(data)
    display = EPCDisplay.from_estimator(fitted, X, y, X_dev=X_dev, y_dev=y_dev, points=11)
    dev, test = (
        priori.Scores.from_predictions(labels, fitted.predict_proba(samples)[:, 1])
        for labels, samples in ((y_dev, X_dev), (y, X))
    )
    expected = priori.epc(dev, test, points=11)
    np.testing.assert_array_equal(display.result_.value, expected.value)
    np.testing.assert_array_equal(display.result_.threshold, expected.threshold)
    (line,) = display.ax_.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), 100 * expected.value)
    assert line.get_label() == "LogisticRegression"
    assert display.figure_ is display.ax_.figure
    by_margin = EPCDisplay.from_estimator(
        fitted, X, y, X_dev=X_dev, y_dev=y_dev, points=11, response_method="decision_function"
    )
    np.testing.assert_array_equal(by_margin.result_.value, expected.value)


def test_without_development_data_folds_serve(data: Data, fitted: Any) -> None:
    _, _, X, y = _parts(data)
    score = fitted.predict_proba(X)[:, 1]
    display = EPCDisplay.from_estimator(fitted, X, y, points=5, cv=3, confidence_level=0.9, n_resamples=200)
    expected = priori.cross_epc(priori.Scores.from_predictions(y, score), folds=3, points=5)
    np.testing.assert_array_equal(display.result_.value, expected.value)
    np.testing.assert_array_equal(
        display.result_.lower, expected.band(confidence_level=0.9, n_resamples=200, rng=0).lower
    )
    other = EPCDisplay.from_predictions(y, score, points=5, cv=3, random_state=1)
    assert not np.array_equal(other.result_.value, display.result_.value)


def test_folds_of_a_cross_validation(data: Data) -> None:
    """Every fold is judged with thresholds chosen on the scores of the other folds, whichever estimator made them."""
    X, y = data
    found = cross_validate(LogisticRegression(), X, y, cv=3, return_estimator=True, return_indices=True)
    weight = np.arange(y.size) % 3
    score = np.empty(y.size)
    for estimator, index in zip(found["estimator"], found["indices"]["test"], strict=True):
        score[index] = estimator.predict_proba(X[index])[:, 1]
    for given in (None, weight):
        display = EPCDisplay.from_cv_results(found, X, y, alpha=[0.3, 0.5], name="folds", sample_weight=given)
        times = np.ones(y.size, int) if given is None else given
        errors = np.zeros((2, 2))
        for index in found["indices"]["test"]:
            rest = np.setdiff1d(np.arange(y.size), index)
            dev = priori.Scores.from_predictions(np.repeat(y[rest], times[rest]), np.repeat(score[rest], times[rest]))
            for column, alpha in enumerate((0.3, 0.5)):
                accepted = score[index] > priori.choose_threshold(dev, alpha=alpha)
                for label in (0, 1):
                    errors[label, column] += ((accepted != label) * times[index])[y[index] == label].sum()
        rates = errors / [[times[y == 0].sum()], [times[y == 1].sum()]]
        np.testing.assert_allclose(display.result_.value, rates.mean(axis=0))
    assert display.ax_.get_lines()[0].get_label() == "folds"


def test_bands_weights_and_axes(data: Data, fitted: Any) -> None:
    X_dev, y_dev, X, y = _parts(data)
    score, dev = fitted.predict_proba(X)[:, 1], fitted.predict_proba(X_dev)[:, 1]
    options: dict[str, Any] = {"y_true_dev": y_dev, "y_score_dev": dev, "points": 5}
    display = EPCDisplay.from_predictions(y, score, confidence_level=0.95, n_resamples=200, **options)
    assert (display.result_.lower <= display.result_.upper).all()
    weight = np.arange(y.size) % 3
    weighted = EPCDisplay.from_predictions(y, score, sample_weight=weight, **options)
    repeated = EPCDisplay.from_predictions(np.repeat(y, weight), np.repeat(score, weight), **options)
    np.testing.assert_array_equal(weighted.result_.value, repeated.result_.value)
    _, ax = pyplot.subplots()
    assert EPCDisplay.from_predictions(y, score, ax=ax, name="mine", **options).ax_ is ax
    EPCDisplay.from_predictions(y, dev, ax=ax, name="other", **options)
    mine, other = ax.get_lines()
    assert (mine.get_label(), other.get_label()) == ("mine", "other")
    assert mine.get_color() != other.get_color()
    again = EPCDisplay.from_predictions(y, score, **options)
    assert again.plot(ax).ax_ is ax


def test_words_and_other_labels(data: Data) -> None:
    y = np.where(data[1] == 1, "genuine", "impostor")
    score = data[1] + np.random.default_rng(0).normal(size=y.size)
    flipped = EPCDisplay.from_predictions(y, -score, points=3, pos_label="impostor")
    assert np.mean(flipped.result_.value) < 0.5


def test_mistakes(data: Data, fitted: Any) -> None:
    X, y = data
    score = fitted.predict_proba(X)[:, 1]
    with pytest.raises(OptionError, match="needs both y_true_dev and y_score_dev"):
        EPCDisplay.from_predictions(y, score, y_true_dev=y)
    with pytest.raises(OptionError, match="need both X_dev and y_dev"):
        EPCDisplay.from_estimator(fitted, X, y, X_dev=X)
    with pytest.raises(OptionError, match="return_estimator=True and return_indices=True"):
        EPCDisplay.from_cv_results(cross_validate(fitted, X, y), X, y)
    found = cross_validate(fitted, X, y, return_estimator=True, return_indices=True)
    with pytest.raises(InputError, match="made from more samples"):
        EPCDisplay.from_cv_results(found, X[:300], y[:300])
    with pytest.raises(ValueError, match="inconsistent"):
        EPCDisplay.from_predictions(y, score[:-1])


# -- differences and averages --------------------------------------------------------------------------------


def test_differences_are_those_of_compare(data: Data, fitted: Any) -> None:
    X_dev, y_dev, X, y = _parts(data)
    other = GaussianNB().fit(data[0][:20], data[1][:20])
    display = DifferenceDisplay.from_estimator(
        fitted, other, X, y, X_dev=X_dev, y_dev=y_dev, points=5, n_resamples=300, random_state=3
    )
    curves = [
        priori.epc(
            *(
                priori.Scores.from_predictions(labels, model.predict_proba(samples)[:, 1])
                for labels, samples in ((y_dev, X_dev), (y, X))
            ),
            points=5,
        )
        for model in (fitted, other)
    ]
    expected = priori.compare(*curves, n_resamples=300, rng=3)
    np.testing.assert_array_equal(display.result_.expected, expected.expected)
    np.testing.assert_array_equal(display.result_.lower, expected.lower)
    assert display.ax_.get_title() == "LogisticRegression minus GaussianNB"
    twice = DifferenceDisplay.from_estimator(fitted, fitted, X, y, X_dev=X_dev, y_dev=y_dev, alpha=0.5, n_resamples=50)
    assert twice.ax_.get_title() == "LogisticRegression A minus LogisticRegression B"
    with pytest.raises(OptionError, match="needs y_true_dev, y_score_dev_a and y_score_dev_b"):
        DifferenceDisplay.from_predictions(y, y, y, y_true_dev=y)
    with pytest.raises(OptionError, match="need both X_dev and y_dev"):
        DifferenceDisplay.from_estimator(fitted, other, X, y, y_dev=y)


def test_differences_over_folds(data: Data) -> None:
    X, y = data
    found = [
        cross_validate(model, X, y, cv=3, return_estimator=True, return_indices=True)
        for model in (LogisticRegression(), RidgeClassifier())
    ]
    display = DifferenceDisplay.from_cv_results(*found, X, y, points=5, n_resamples=200)
    curves = [EPCDisplay.from_cv_results(one, X, y, points=5).result_ for one in found]
    expected = priori.compare(*curves, claim="deployed", n_resamples=200)
    np.testing.assert_array_equal(display.result_.difference, curves[0].value - curves[1].value)
    np.testing.assert_array_equal(display.result_.lower, expected.lower)
    same = DifferenceDisplay.from_predictions(y, X[:, 0], X[:, 0], points=5, n_resamples=50)
    np.testing.assert_array_equal(same.result_.difference, 0)
    shuffled = cross_validate(LogisticRegression(), X, y, cv=KFold(3), return_estimator=True, return_indices=True)
    with pytest.raises(OptionError, match="different folds"):
        DifferenceDisplay.from_cv_results(found[0], shuffled, X, y)


@pytest.mark.parametrize("method", ["vertical", "horizontal", "threshold", "pooled"])
def test_averages_are_those_of_average(data: Data, method: str) -> None:
    X, y = data
    found = cross_validate(LogisticRegression(), X, y, cv=3, return_estimator=True, return_indices=True)
    display = AverageROCDisplay.from_cv_results(found, X, y, method=method)
    parts = [
        priori.Scores.from_predictions(y[index], estimator.predict_proba(X[index])[:, 1])
        for estimator, index in zip(found["estimator"], found["indices"]["test"], strict=True)
    ]
    expected = priori.average(parts, method=method)
    np.testing.assert_array_equal(display.result_.tpr, expected.tpr)
    np.testing.assert_array_equal(display.result_.tpr_lower, expected.tpr_lower)


def test_averages_over_groups(data: Data, fitted: Any) -> None:
    X, y = data
    groups = np.arange(y.size) % 4
    display = AverageROCDisplay.from_estimator(fitted, X, y, groups=groups)
    again = AverageROCDisplay.from_predictions(
        y, fitted.predict_proba(X)[:, 1], groups=groups, sample_weight=np.ones(y.size)
    )
    np.testing.assert_array_equal(display.result_.tpr, again.result_.tpr)
    assert len(display.result_.datasets) == 4
    with pytest.raises(OptionError, match="groups must name the data set of each of the 450 samples"):
        AverageROCDisplay.from_estimator(fitted, X, y, groups=[1, 2])
    one_class = np.where((groups == 0) & (y == 0), 9, groups)  # group 0 is positive only, group 9 negative only
    with pytest.raises(InputError, match=r"'0' \(no negative trial\), '9' \(no positive trial\)"):
        AverageROCDisplay.from_estimator(fitted, X, y, groups=one_class)
    rest = AverageROCDisplay.from_estimator(fitted, X, y, groups=one_class, skip_incomplete=True)
    assert list(rest.result_.datasets) == ["1", "2", "3"]


# -- what to mind ------------------------------------------------------------------------------------------------


def test_a_display_notes_its_warnings_below_the_axes(data: Data, fitted: LogisticRegression) -> None:
    _, _, X, y = _parts(data)
    display = EPCDisplay.from_estimator(fitted, X, y, X_dev=X, y_dev=y)
    assert [line.code for line in display.warnings_] == [line.code for line in display.result_.warnings]
    assert display.warnings_[0].code == "same-data"
    assert "Development and test set are the same [same-data]" in display.note_.get_text().replace("\n", " ")
    compared = DifferenceDisplay.from_estimator(fitted, fitted, X, y, X_dev=X, y_dev=y, n_resamples=100, points=3)
    assert "same-data" in [line.code for line in compared.warnings_]
    assert "same-data" not in [line.code for line in EPCDisplay.from_estimator(fitted, X, y).warnings_]


def test_development_scores_that_only_look_trained_on(data: Data) -> None:
    X_dev, y_dev, X, y = _parts(data)
    forest = RandomForestClassifier(30, random_state=0).fit(X_dev, y_dev)
    display = EPCDisplay.from_estimator(forest, X, y, X_dev=X_dev, y_dev=y_dev, points=3)
    assert "dev-looks-trained-on" in [line.code for line in display.warnings_]


def test_rates_by_sensitive_features_are_those_of_group_rates() -> None:
    rng = np.random.default_rng(1)
    X, sex = rng.normal(size=(1200, 3)), rng.choice(["f", "m"], 1200)
    y = (X[:, 0] + 0.5 * rng.normal(size=1200) > 0).astype(int)
    user = np.arange(1200) // 4
    model = LogisticRegression().fit(X[:400], y[:400])
    display = GroupRatesDisplay.from_estimator(
        model,
        X[800:],
        y[800:],
        sensitive_features=sex[800:],
        X_dev=X[400:800],
        y_dev=y[400:800],
        users=user[800:],
        name="sex",
        alpha=0.3,
    )
    score = model.predict_proba(X)[:, 1]
    threshold = priori.choose_threshold(priori.Scores.from_predictions(y[400:800], score[400:800]), alpha=0.3)
    assert display.result_.threshold == threshold
    test = priori.Scores.from_predictions(y[800:], score[800:], user=user[800:], group=sex[800:])
    assert display.result_.to_dict() == priori.group_rates(test, threshold, by="sex").to_dict()
    assert display.result_.dependence == "user"
    # The rates themselves, as fairlearn's MetricFrame counts them: by group, of the samples of one class.
    rates = display.result_.rows("frr")
    for group, rate in zip(rates["group"], rates["value"], strict=True):
        mine = (sex[800:] == group) & (y[800:] == 1)
        assert rate == pytest.approx((score[800:][mine] <= threshold).mean())
    assert display.ax_.get_ylabel() == "sex"
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GroupRatesDisplay.from_predictions(y, score, sensitive_features=sex[:5], y_true_dev=y, y_score_dev=score)
    trained = RandomForestClassifier(200, random_state=0).fit(X[400:800], y[400:800])
    told = GroupRatesDisplay.from_estimator(
        trained, X[800:], y[800:], sensitive_features=sex[800:], X_dev=X[400:800], y_dev=y[400:800]
    )
    assert "dev-looks-trained-on" in [line.code for line in told.warnings_]
