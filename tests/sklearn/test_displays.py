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
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

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


def _shape(method: Any) -> dict[str, Any]:
    return {name: (one.kind, one.default) for name, one in inspect.signature(method).parameters.items()}


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("method", ["plot", "from_estimator", "from_predictions", "from_cv_results"])
def test_arguments_are_those_of_scikit_learn(display: Any, method: str) -> None:
    ours = _shape(getattr(display, method))
    names = ["ax", "name", "curve_kwargs", "plot_chance_level", "despine"]
    if method == "plot":
        names += ["chance_level_kw"]
    else:
        names += ["sample_weight", "pos_label"]
    if method in ("from_estimator", "from_cv_results"):
        names += ["response_method"]
    newest = _shape(getattr(RocCurveDisplay, method, None) or RocCurveDisplay.from_predictions)
    for name in names:
        assert name in ours, name
        if name in newest and name != "plot_chance_level":
            assert ours[name] == newest[name], name


@pytest.mark.parametrize("display", DISPLAYS)
@pytest.mark.parametrize("method", ["plot", "from_estimator", "from_predictions", "from_cv_results"])
def test_every_option_is_in_the_signature(display: Any, method: str) -> None:
    ours = inspect.signature(getattr(display, method)).parameters
    assert all(one.kind is not one.VAR_KEYWORD for one in ours.values())
    computed = priori.average if display is AverageROCDisplay else priori.epc
    known = set(inspect.signature(computed).parameters) - {"parts", "by", "dev", "test", "exact", "preset"}
    known -= {"weight"}  # of users, whom arrays of predictions do not name
    known -= {"costs", "prior"}  # alpha="costs:100,1,0.01" says both
    assert method == "plot" or known <= set(ours)


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
    np.testing.assert_array_equal(display.lower, band.lower)
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
    assert difference.comparison_.settings["bootstrap"] == "user"


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
        np.testing.assert_allclose(display.alpha, [0.2, 0.4, 0.6, 0.8])  # type: ignore[attr-defined]
        assert (display.measure, display.criterion) == ("Sensitivity", "target-v1")  # type: ignore[attr-defined]
    groups = np.arange(y.size) % 3
    average = {
        "method": "cost",
        "prior": 0.1,
        "cost_fp": 2.0,
        "cost_fn": 3.0,
        "weights": "size",
        "positions": 51,
        "confidence_level": 0.8,
        "interval": "bootstrap",
        "n_resamples": 50,
        "rng": 3,
    }
    drawn = AverageROCDisplay.from_estimator(fitted, X, y, groups=groups, **average)  # type: ignore[arg-type]
    parts = [
        priori.Scores.from_predictions(y[groups == group], fitted.predict_proba(X[groups == group])[:, 1])
        for group in range(3)
    ]
    expected = priori.average(parts, **average)  # type: ignore[arg-type]
    np.testing.assert_array_equal(drawn.curve_.tpr_lower, expected.tpr_lower)
    np.testing.assert_array_equal(drawn.tpr, expected.tpr)


# -- the Expected Performance Curve ------------------------------------------------------------------------


def test_from_estimator_is_the_curve_of_its_scores(data: Data, fitted: Any) -> None:
    X_dev, y_dev, X, y = _parts(data)
    display = EPCDisplay.from_estimator(fitted, X, y, X_dev=X_dev, y_dev=y_dev, points=11)
    dev, test = (
        priori.Scores.from_predictions(labels, fitted.predict_proba(samples)[:, 1])
        for labels, samples in ((y_dev, X_dev), (y, X))
    )
    expected = priori.epc(dev, test, points=11)
    np.testing.assert_array_equal(display.value, expected.value)
    np.testing.assert_array_equal(display.line_.get_ydata(), expected.value)
    np.testing.assert_array_equal(display.curve_.threshold, expected.threshold)  # type: ignore[union-attr]
    assert display.line_.get_label() == f"LogisticRegression (area = {expected.value.mean():.3f})"
    assert display.ax_.get_xlabel() == "alpha (criterion: wer)"
    assert display.ax_.get_ylabel() == "HTER (Positive label: 1)"
    assert display.figure_ is display.ax_.figure
    assert display.chance_level_ is None
    assert display.band_ is None
    by_margin = EPCDisplay.from_estimator(
        fitted, X, y, X_dev=X_dev, y_dev=y_dev, points=11, response_method="decision_function"
    )
    np.testing.assert_array_equal(by_margin.value, expected.value)


def test_without_development_data_folds_serve(data: Data, fitted: Any) -> None:
    _, _, X, y = _parts(data)
    display = EPCDisplay.from_estimator(fitted, X, y, points=5, cv=3, confidence_level=0.9)
    again = EPCDisplay.from_predictions(y, fitted.predict_proba(X)[:, 1], points=5, cv=3, confidence_level=0.9)
    np.testing.assert_array_equal(display.value, again.value)
    assert len(display.curve_.curves) == 3  # type: ignore[union-attr]
    assert display.band_ is not None
    other = EPCDisplay.from_predictions(y, fitted.predict_proba(X)[:, 1], points=5, cv=3, random_state=1)
    assert not np.array_equal(other.value, display.value)


def test_folds_of_a_cross_validation(data: Data) -> None:
    X, y = data
    found = cross_validate(LogisticRegression(), X, y, cv=3, return_estimator=True, return_indices=True)
    display = EPCDisplay.from_cv_results(found, X, y, points=5, name="folds", plot_chance_level=True)
    parts = [
        priori.Scores.from_predictions(y[index], estimator.predict_proba(X[index])[:, 1])
        for estimator, index in zip(found["estimator"], found["indices"]["test"], strict=True)
    ]
    expected = priori.average_epc(parts, points=5)
    np.testing.assert_array_equal(np.stack(display.value), expected.each)
    assert len(display.line_) == 3
    label, others = display.line_[0].get_label(), [line.get_label() for line in display.line_[1:]]
    area = expected.each.mean(axis=1)
    assert label == f"folds (area = {area.mean():.3f} +/- {area.std():.3f})"
    assert all(other.startswith("_") for other in others)
    assert {line.get_linestyle() for line in display.line_} == {"--"}
    styles = [{"color": colour} for colour in "rgb"]
    each = display.plot(curve_kwargs=styles, name=["x", "y", "z"])
    assert [line.get_label().split()[0] for line in each.line_] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 0.5),
        ({"measure": "wer"}, np.minimum(np.linspace(0, 1, 5), 1 - np.linspace(0, 1, 5))),
        ({"task": "retrieval"}, None),
    ],
)
def test_chance_is_a_score_that_says_nothing(data: Data, options: dict[str, Any], expected: Any) -> None:
    y = data[1]
    score = np.random.default_rng(0).normal(size=y.size)
    display = EPCDisplay.from_predictions(
        y,
        score,
        y_true_dev=y,
        y_score_dev=score,
        points=5,
        plot_chance_level=True,
        chance_level_kw={"c": "r", "ls": ":"},
        **options,
    )
    share = y.mean()
    if expected is None:
        expected = 2 * share / (1 + share)
        np.testing.assert_allclose(display.chance[:-1], expected)  # type: ignore[index]
    else:
        np.testing.assert_allclose(display.chance, np.broadcast_to(expected, 5))  # type: ignore[arg-type]
    line = display.chance_level_
    assert line is not None
    assert (line.get_color(), line.get_linestyle(), line.get_label()) == ("r", ":", "Chance level")


def test_bands_weights_and_looks(data: Data, fitted: Any) -> None:
    X_dev, y_dev, X, y = _parts(data)
    score, dev = fitted.predict_proba(X)[:, 1], fitted.predict_proba(X_dev)[:, 1]
    options: dict[str, Any] = {"y_true_dev": y_dev, "y_score_dev": dev, "points": 5}
    display = EPCDisplay.from_predictions(y, score, confidence_level=0.95, n_resamples=200, **options)
    assert (display.lower <= display.upper).all()  # type: ignore[operator]
    weight = np.arange(y.size) % 3
    weighted = EPCDisplay.from_predictions(y, score, sample_weight=weight, **options)
    repeated = EPCDisplay.from_predictions(np.repeat(y, weight), np.repeat(score, weight), **options)
    np.testing.assert_array_equal(weighted.value, repeated.value)
    _, ax = pyplot.subplots()
    drawn = EPCDisplay.from_predictions(y, score, ax=ax, name="mine", curve_kwargs={"lw": 5}, despine=True, **options)
    assert drawn.ax_ is ax
    assert drawn.line_.get_linewidth() == 5
    assert not ax.spines["top"].get_visible()
    assert ax.spines["bottom"].get_bounds() == (0, 1)
    assert ax.spines["left"].get_bounds() is None
    both = EPCDisplay.from_predictions(y, dev, ax=ax, **options)
    assert both.line_.get_color() != drawn.line_.get_color()
    one = EPCDisplay.from_predictions(y, score, y_true_dev=y_dev, y_score_dev=dev, alpha=[0.5])
    assert one.line_.get_marker() == "o"


def test_colours_are_safe_unless_the_user_has_their_own(data: Data) -> None:
    y = data[1]
    score = y + np.random.default_rng(0).normal(size=y.size)
    from matplotlib.colors import to_hex

    from priori.plots.style import COLOURS

    assert to_hex(EPCDisplay.from_predictions(y, score, points=3).line_.get_color()).upper() == COLOURS[0]
    with mpl.rc_context({"axes.prop_cycle": mpl.cycler(color=["#123456"])}):
        assert EPCDisplay.from_predictions(y, score, points=3).line_.get_color() == "#123456"


def test_words_and_other_labels(data: Data) -> None:
    y = np.where(data[1] == 1, "genuine", "impostor")
    score = data[1] + np.random.default_rng(0).normal(size=y.size)
    assert EPCDisplay.from_predictions(y, score, points=3).ax_.get_ylabel() == "HTER"
    flipped = EPCDisplay.from_predictions(y, -score, points=3, pos_label="impostor")
    assert flipped.ax_.get_ylabel() == "HTER (Positive label: impostor)"
    assert np.mean(flipped.value) < 0.5


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
    display = EPCDisplay.from_cv_results(found, X, y, points=3)
    with pytest.raises(OptionError, match="a list of 5"):
        display.plot(curve_kwargs=[{}, {}])
    with pytest.raises(OptionError, match="looks of their own"):
        display.plot(name=list("abcde"))
    with pytest.raises(OptionError, match="a list of 5, not of 2"):
        display.plot(name=["a", "b"])
    with pytest.raises(TypeError, match="alias"):
        display.plot(curve_kwargs={"c": "r", "color": "b"})
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
    np.testing.assert_array_equal(display.difference, expected.expected)
    np.testing.assert_array_equal(display.lower, expected.lower)
    assert display.line_.get_label() == "LogisticRegression minus GaussianNB"
    assert display.comparison_ is not None
    assert display.chance_level_ is not None
    assert set(display.chance_level_.get_ydata()) == {0}
    assert display.plot(plot_chance_level=False, despine=True).chance_level_ is None
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
    display = DifferenceDisplay.from_cv_results(*found, X, y, points=5)
    a, b = (EPCDisplay.from_cv_results(one, X, y, points=5).curve_ for one in found)
    np.testing.assert_allclose(display.difference, (a.value - b.value), atol=1e-15)
    spread = (a.each - b.each).std(axis=0, ddof=1) / np.sqrt(3)  # type: ignore[union-attr]
    np.testing.assert_allclose(display.upper - display.difference, 4.302653 * spread, rtol=1e-6, atol=1e-12)
    assert set(display.warnings_) == {*a.warnings, *b.warnings} != set()
    same = DifferenceDisplay.from_predictions(y, X[:, 0], X[:, 0], points=5)
    np.testing.assert_array_equal(same.difference, 0)
    shuffled = cross_validate(LogisticRegression(), X, y, cv=KFold(3), return_estimator=True, return_indices=True)
    with pytest.raises(OptionError, match="different folds"):
        DifferenceDisplay.from_cv_results(found[0], shuffled, X, y)


@pytest.mark.parametrize("method", ["vertical", "horizontal", "threshold", "pooled"])
def test_averages_are_those_of_average(data: Data, method: str) -> None:
    X, y = data
    found = cross_validate(LogisticRegression(), X, y, cv=3, return_estimator=True, return_indices=True)
    display = AverageROCDisplay.from_cv_results(found, X, y, method=method, name="LR", plot_chance_level=True)
    parts = [
        priori.Scores.from_predictions(y[index], estimator.predict_proba(X[index])[:, 1])
        for estimator, index in zip(found["estimator"], found["indices"]["test"], strict=True)
    ]
    expected = priori.average(parts, method=method)
    np.testing.assert_array_equal(display.tpr, expected.tpr)
    assert display.line_.get_label() == f"LR {method} average (AUC = {expected.auc.value:.3f})"
    assert len(display.singles_) == 3
    for line, (fpr, tpr) in zip(display.singles_, display.singles, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([fpr, tpr]))
    assert display.band_ is not None
    assert display.ax_.get_xlabel() == "False Positive Rate (Positive label: 1)"
    assert display.chance_level_ is not None
    again = display.plot(plot_singles=False, despine=True)
    assert again.singles_ == []
    assert again.chance_level_ is None
    assert again.ax_.spines["left"].get_bounds() == (0, 1)


def test_averages_over_groups(data: Data, fitted: Any) -> None:
    X, y = data
    groups = np.arange(y.size) % 4
    display = AverageROCDisplay.from_estimator(fitted, X, y, groups=groups)
    again = AverageROCDisplay.from_predictions(
        y, fitted.predict_proba(X)[:, 1], groups=groups, sample_weight=np.ones(y.size)
    )
    np.testing.assert_array_equal(display.tpr, again.tpr)
    assert len(display.singles) == 4
    assert AverageROCDisplay.from_estimator(fitted, X, y, groups=np.zeros(y.size)).outline is None
    with pytest.raises(OptionError, match="groups must name the data set of each of the 450 samples"):
        AverageROCDisplay.from_estimator(fitted, X, y, groups=[1, 2])
    one_class = np.where((groups == 0) & (y == 0), 9, groups)  # group 0 is positive only, group 9 negative only
    with pytest.raises(InputError, match=r"'0' \(no negative trial\), '9' \(no positive trial\)"):
        AverageROCDisplay.from_estimator(fitted, X, y, groups=one_class)
    rest = AverageROCDisplay.from_estimator(fitted, X, y, groups=one_class, skip_incomplete=True)
    assert list(rest.curve_.datasets.names) == ["1", "2", "3"]


# -- what to mind ------------------------------------------------------------------------------------------------


def test_a_display_notes_its_warnings_below_the_axes(data: Data, fitted: LogisticRegression) -> None:
    _, _, X, y = _parts(data)
    display = EPCDisplay.from_estimator(fitted, X, y, X_dev=X, y_dev=y)
    assert [line.code for line in display.warnings_] == [line.code for line in display.curve_.warnings]
    assert display.warnings_[0].code == "same-data"
    assert "Development and test set are the same [same-data]" in display.note_.get_text().replace("\n", " ")
    with priori.silenced("same-data", "few-units"):
        assert EPCDisplay.from_estimator(fitted, X, y, X_dev=X, y_dev=y).note_ is None
    compared = DifferenceDisplay.from_estimator(fitted, fitted, X, y, X_dev=X, y_dev=y, n_resamples=100, points=3)
    assert "same-data" in [line.code for line in compared.warnings_]
    assert "same-data" not in [line.code for line in EPCDisplay.from_estimator(fitted, X, y).warnings_]


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(15),
        SVC(),
        make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
        GaussianProcessClassifier(),
    ],
)
def test_development_data_that_an_estimator_remembers(data: Data, estimator: Any) -> None:
    X_dev, y_dev, X, y = _parts(data)
    trained = estimator.fit(X_dev[:60], y_dev[:60])
    told = EPCDisplay.from_estimator(trained, X, y, X_dev=X_dev[:60], y_dev=y_dev[:60], points=3)
    assert "fitted on the development data" in next(
        line for line in told.warnings_ if line.code == "dev-looks-trained-on"
    )
    assert "dev-looks-trained-on" in "".join(told.note_.get_text().split())
    other = EPCDisplay.from_estimator(trained, X, y, X_dev=X_dev[60:], y_dev=y_dev[60:], points=3)
    assert "dev-looks-trained-on" not in [line.code for line in other.warnings_]


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
    assert display.rates_.threshold == threshold
    test = priori.Scores.from_predictions(y[800:], score[800:], user=user[800:], group=sex[800:])
    assert display.rates_.to_dict() == priori.group_rates(test, threshold, by="sex").to_dict()
    assert display.rates_.dependence == "user"
    # The rates themselves, as fairlearn's MetricFrame counts them: by group, of the samples of one class.
    rates = display.rates_.rows("frr")
    for group, rate in zip(rates["group"], rates["value"], strict=True):
        mine = (sex[800:] == group) & (y[800:] == 1)
        assert rate == pytest.approx((score[800:][mine] <= threshold).mean())
    assert display.ax_.get_ylabel() == "sex"
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GroupRatesDisplay.from_predictions(y, score, sensitive_features=sex[:5], y_true_dev=y, y_score_dev=score)
    remembers = KNeighborsClassifier(5).fit(X[400:800], y[400:800])
    for model in (remembers, RandomForestClassifier(200, random_state=0).fit(X[400:800], y[400:800])):
        told = GroupRatesDisplay.from_estimator(
            model, X[800:], y[800:], sensitive_features=sex[800:], X_dev=X[400:800], y_dev=y[400:800]
        )
        assert "dev-looks-trained-on" in [line.code for line in told.warnings_]
