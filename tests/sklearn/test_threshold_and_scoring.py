"""scikit-learn: the meta-estimator and the scorer against brute force, and in the tools that people put them in."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import priori
from priori.base.errors import InputError, OptionError
from priori.scores.derived import fold_of_trials
from priori.sklearn import AprioriScorer, AprioriThresholdClassifier
from priori.sklearn.responses import responses, scores

Data = tuple[NDArray[Any], NDArray[Any]]


@pytest.fixture(scope="module")
def data() -> Data:
    X, y = make_classification(n_samples=400, n_features=5, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=0)
    return X, y


@parametrize_with_checks([AprioriThresholdClassifier(GaussianNB()), AprioriThresholdClassifier(RidgeClassifier())])
def test_it_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


# -- the threshold -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": 0.2},
        {"criterion": "eer"},
        {"criterion": "target-v1", "alpha": 0.1},
        {"task": "retrieval"},
        {"task": "diagnosis", "criterion": "target-v2", "alpha": 0.9},
    ],
)
def test_the_threshold_is_the_one_of_cross_fitted_scores(data: Data, settings: dict[str, Any]) -> None:
    X, y = data
    found = AprioriThresholdClassifier(LogisticRegression(), **settings).fit(X, y)
    held_out = cross_val_predict(LogisticRegression(), X, y, method="predict_proba")[:, 1]
    expected = priori.choose_threshold(priori.Scores.from_predictions(y, held_out), **settings)
    assert found.threshold_ == expected
    final = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(found.predict(X), (final > expected).astype(int))
    np.testing.assert_array_equal(found.decision_function(X) > 0, found.predict(X) == 1)
    assert not hasattr(found, "predict_proba")


def test_no_other_threshold_is_better(data: Data) -> None:
    X, y = data
    found = AprioriThresholdClassifier(LogisticRegression(), alpha=0.3).fit(X, y)
    score = np.concatenate([found.dev_scores_.negative.score, found.dev_scores_.positive.score])
    label = np.repeat([0, 1], [len(found.dev_scores_.negative), len(found.dev_scores_.positive)])

    def cost(threshold: float) -> float:
        accepted = score > threshold
        return float(0.3 * accepted[label == 0].mean() + 0.7 * (~accepted[label == 1]).mean())

    assert cost(found.threshold_) <= min(cost(at) for at in [-np.inf, *score]) + 1e-12


def test_the_positive_class_may_be_the_first(data: Data) -> None:
    X, y = data
    names = np.where(y == 1, "ham", "spam")
    found = AprioriThresholdClassifier(RidgeClassifier(), pos_label="ham", criterion="target-v2", alpha=0.02).fit(
        X, names
    )
    score = -RidgeClassifier().fit(X, names).decision_function(X)
    np.testing.assert_array_equal(found.predict(X) == "ham", score > found.threshold_)
    np.testing.assert_array_equal(found.decision_function(X) > 0, found.predict(X) == found.classes_[1])
    with pytest.raises(OptionError, match=r"pos_label='eggs' is not one of the classes"):
        AprioriThresholdClassifier(RidgeClassifier(), pos_label="eggs").fit(X, names)


def test_the_sign_of_the_decision_at_the_threshold_itself() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]] * 10)
    y = np.array([0, 0, 1, 1] * 10)
    for pos_label in (0, 1):
        found = AprioriThresholdClassifier(RidgeClassifier(), pos_label=pos_label, cv=2).fit(X, y)
        for at in (responses(found.estimator_, X, pos_label=pos_label)[0][0], np.inf, -np.inf):
            found.threshold_ = float(at)
            np.testing.assert_array_equal(
                found.classes_[(found.decision_function(X) > 0).astype(int)], found.predict(X)
            )


def test_held_out_once_and_kept(data: Data) -> None:
    X, y = data
    found = AprioriThresholdClassifier(LogisticRegression(), cv=0.25, refit=False, random_state=3).fit(X, y)
    again = AprioriThresholdClassifier(LogisticRegression(), cv=0.25, refit=False, random_state=3).fit(X, y)
    assert found.threshold_ == again.threshold_
    assert len(found.dev_scores_) == 100
    refitted = AprioriThresholdClassifier(LogisticRegression(), cv=0.25, random_state=3).fit(X, y)
    assert refitted.threshold_ == found.threshold_
    np.testing.assert_array_equal(refitted.estimator_.coef_, LogisticRegression().fit(X, y).coef_)
    assert not np.array_equal(found.estimator_.coef_, refitted.estimator_.coef_)


def test_fitted_before(data: Data) -> None:
    X, y = data
    inner = LogisticRegression().fit(X[:200], y[:200])
    found = AprioriThresholdClassifier(inner, cv="prefit").fit(X[200:], y[200:])
    assert found.estimator_ is inner
    expected = priori.Scores.from_predictions(y[200:], inner.predict_proba(X[200:])[:, 1])
    assert found.threshold_ == priori.choose_threshold(expected)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        AprioriThresholdClassifier(LogisticRegression(), cv="prefit").fit(X, y)


def test_groups_and_weights(data: Data) -> None:
    X, y = data
    groups = np.arange(400) // 20
    found = AprioriThresholdClassifier(LogisticRegression(), cv=GroupKFold(4)).fit(X, y, groups=groups)
    expected = cross_val_predict(LogisticRegression(), X, y, groups=groups, cv=GroupKFold(4), method="predict_proba")[
        :, 1
    ]
    assert found.threshold_ == priori.choose_threshold(priori.Scores.from_predictions(y, expected))
    weight = np.where(y == 1, 3.0, 1.0)
    weighted = AprioriThresholdClassifier(LogisticRegression()).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.estimator_.coef_, LogisticRegression().fit(X, y, weight).coef_)
    weight[:100] = 0
    without = AprioriThresholdClassifier(LogisticRegression()).fit(X, y, sample_weight=weight)
    alone = AprioriThresholdClassifier(LogisticRegression()).fit(X[100:], y[100:], sample_weight=weight[100:])
    assert without.threshold_ == alone.threshold_


def test_metadata_routing(data: Data) -> None:
    X, y = data
    groups, weight = np.arange(400) // 20, np.linspace(1, 2, 400)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        routed = AprioriThresholdClassifier(inner, cv=GroupKFold(4)).fit(X, y, sample_weight=weight, groups=groups)
        AprioriThresholdClassifier(inner).fit(X, y, sample_weight=weight)
    plain = AprioriThresholdClassifier(LogisticRegression(), cv=GroupKFold(4))
    assert routed.threshold_ == plain.fit(X, y, groups=groups, sample_weight=weight).threshold_


def test_dataframes_pipelines_clones_and_pickles(data: Data) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    made = AprioriThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression()), n_jobs=2)
    with parallel_config(backend="threading"):  # processes would take seconds to start
        found = made.fit(frame, y)
    assert found.feature_names_in_.tolist() == list("abcde")
    assert found.n_features_in_ == 5
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(frame), found.predict(frame))
    assert clone(found).get_params()["alpha"] is None


def test_its_curve_shows_its_own_point(data: Data) -> None:
    X, y = data
    found = AprioriThresholdClassifier(LogisticRegression(), alpha=0.2).fit(X[:300], y[:300])
    curve = found.epc(X[300:], y[300:], alpha=[0.2])
    assert curve.threshold[0] == found.threshold_
    decided = found.predict(X[300:])
    assert curve.v1[0] == np.mean(decided[y[300:] == 0] == 1)
    assert curve.name == "LogisticRegression"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cv": 1.5}, "between 0 and 1"),
        ({"cv": "five"}, "give a number of folds"),
        ({"refit": False}, "5 splits"),
        ({"criterion": "best"}, "unknown criterion 'best'"),
        ({"response_method": "predict"}, "unknown response_method"),
        ({"response_method": "decision"}, "unknown"),
        ({"alpha": 2}, "alpha"),
    ],
)
def test_bad_settings(data: Data, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        AprioriThresholdClassifier(LogisticRegression(), **settings).fit(*data)


def test_bad_data(data: Data) -> None:
    X, _ = data
    with pytest.raises(ValueError, match="one class only"):
        AprioriThresholdClassifier(LogisticRegression()).fit(X, np.zeros(400))
    with pytest.raises(ValueError, match="The type of the target is multiclass"):
        AprioriThresholdClassifier(LogisticRegression()).fit(X, np.arange(400) % 3)
    with pytest.raises(OptionError, match="KMeans has no predict_proba and no decision_function"):
        responses(KMeans(2, n_init=1).fit(X), X)


# -- the scorer ----------------------------------------------------------------------------------------


def test_the_score_of_a_plain_classifier_is_that_of_thresholds_from_other_samples(data: Data) -> None:
    X, y = data
    fitted = LogisticRegression().fit(X[:200], y[:200])
    found = AprioriScorer("error", alpha=0.4, cv=4)(fitted, X[200:], y[200:])
    scored = priori.Scores.from_predictions(y[200:], fitted.predict_proba(X[200:])[:, 1])
    negative, positive = ([own == fold for fold in range(4)] for own in fold_of_trials(scored, 4))
    errors = 0
    for fold in range(4):
        others = [
            trials.score[~own[fold]] for trials, own in ((scored.negative, negative), (scored.positive, positive))
        ]
        threshold = priori.choose_threshold(priori.Scores.from_arrays(*others), alpha=0.4)
        errors += int((scored.negative.score[negative[fold]] > threshold).sum())
        errors += int((scored.positive.score[positive[fold]] <= threshold).sum())
    assert found == -errors / 200


def test_copies_of_a_sample_stay_in_one_fold(data: Data) -> None:
    X, y = data
    plain, scorer = LogisticRegression().fit(X[:200], y[:200]), AprioriScorer("hter", alpha=0.3)
    twice, thrice = (scorer(plain, X[200:], y[200:], sample_weight=np.full(200, times)) for times in (2, 3))
    assert twice == thrice < 0


def test_the_score_of_a_classifier_that_decides_is_that_of_its_decisions(data: Data) -> None:
    X, y = data
    scorer = AprioriScorer("accuracy", alpha=0.1)
    own = AprioriThresholdClassifier(LogisticRegression(), alpha=0.1).fit(X[:200], y[:200])
    assert scorer(own, X[200:], y[200:]) == own.score(X[200:], y[200:])
    for other in (FixedThresholdClassifier(LogisticRegression(), threshold=0.2), make_pipeline(StandardScaler(), own)):
        fitted = clone(other).fit(X[:200], y[:200])
        assert scorer(fitted, X[200:], y[200:]) == fitted.score(X[200:], y[200:])
    twice = np.full(200, 2)
    assert scorer(own, X[200:], y[200:], sample_weight=twice) == own.score(X[200:], y[200:])


def test_in_cross_validation_and_search(data: Data) -> None:
    X, y = data
    scorer = AprioriScorer("hter")
    found = cross_validate(
        AprioriThresholdClassifier(LogisticRegression()), X, y, scoring={"hter": scorer, "f1": AprioriScorer("f1")}
    )
    assert ((found["test_hter"] > -0.5) & (found["test_hter"] < 0)).all()
    assert (found["test_f1"] > 0.5).all()
    assert cross_val_score(RidgeClassifier(), X, y, scoring=pickle.loads(pickle.dumps(scorer))).shape == (5,)
    search = GridSearchCV(
        AprioriThresholdClassifier(LogisticRegression(), cv=StratifiedKFold(3)),
        {"estimator__C": [1e-4, 1.0], "alpha": [0.1, 0.5]},
        scoring=scorer,
        cv=3,
    ).fit(X, y)
    assert search.best_params_["alpha"] == 0.5
    assert scorer(search, X, y) == scorer(search.best_estimator_, X, y)


def test_a_threshold_that_peeks_looks_better(data: Data) -> None:
    """Noise: no threshold does better than chance on new samples, but the best one on the same samples seems to."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 1)), np.repeat([0, 1], 150)
    fitted = LogisticRegression().fit(X, y)
    honest = [AprioriScorer("hter", random_state=seed)(fitted, rng.normal(size=(300, 1)), y) for seed in range(20)]
    peeking = [
        -priori.epc(one, one, alpha=[0.5]).value[0]
        for one in (scores(y, responses(fitted, rng.normal(size=(300, 1)))[0]) for _ in range(20))
    ]
    assert abs(np.mean(honest) + 0.5) < 0.02
    assert np.mean(peeking) > -0.47


def test_the_score_of_groups_is_that_of_the_worst(data: Data) -> None:
    X, y = data
    sex = np.random.default_rng(0).choice(["f", "m"], y.size, p=[0.3, 0.7])
    scorer = AprioriScorer("hter")
    own = AprioriThresholdClassifier(LogisticRegression()).fit(X[:200], y[:200])
    accepted, true, late = own.predict(X[200:]) == 1, y[200:] == 1, sex[200:]
    worst = max((accepted[(late == g) & ~true].mean() + 1 - accepted[(late == g) & true].mean()) / 2 for g in "fm")
    assert scorer(own, X[200:], y[200:], sensitive_features=late) == pytest.approx(-worst)
    plain = LogisticRegression().fit(X[:200], y[:200])
    alike = np.full(200, "all")
    assert scorer(plain, X[200:], y[200:], sensitive_features=alike) == scorer(plain, X[200:], y[200:])
    with pytest.raises(priori.InputError, match="group 'x' has samples of one class only"):
        scorer(plain, X[200:], y[200:], sensitive_features=np.where(true, "x", "y"))
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(LogisticRegression(), X, y, cv=2, scoring=scorer, params={"sensitive_features": sex})
        whole = cross_validate(LogisticRegression(), X, y, cv=2, scoring=scorer, params={})
    assert (found["test_score"] <= whole["test_score"]).all()


def test_scorer_errors(data: Data) -> None:
    X, y = data
    fitted = LogisticRegression().fit(X, y)
    with pytest.raises(OptionError, match="unknown measure 'best'"):
        AprioriScorer("best")
    with pytest.raises(OptionError, match="folds must be a whole number from 2 to 4, not 5"):
        AprioriScorer()(fitted, X[:4], np.array([0, 0, 1, 1]))
    with pytest.raises(InputError, match="whole number from 0 up"):
        AprioriScorer()(fitted, X, y, sample_weight=np.full(400, 0.5))
    with pytest.raises(InputError, match="knows 3 classes"):
        responses(LogisticRegression().fit(X, np.arange(400) % 3), X)
