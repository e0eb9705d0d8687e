"""The a posteriori curves, against scikit-learn and by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import priori
from priori import OptionError, Scores

side = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=15)


def _truth(negatives: list[float], positives: list[float]) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat([0, 1], [len(negatives), len(positives)]), np.array([*negatives, *positives])


@given(negatives=side, positives=side)
def test_same_auc_and_average_precision_as_scikit_learn(negatives: list[float], positives: list[float]) -> None:
    scores, (truth, values) = Scores.from_arrays(negatives, positives), _truth(negatives, positives)
    assert priori.a_posteriori_auc(scores) == pytest.approx(metrics.roc_auc_score(truth, values), abs=1e-12)
    assert priori.average_precision(scores) == pytest.approx(metrics.average_precision_score(truth, values), abs=1e-12)


@pytest.mark.parametrize(("points", "drop"), [("all", False), ("thin", True)])
@given(negatives=side, positives=side)
def test_same_points_as_scikit_learn(points: str, drop: bool, negatives: list[float], positives: list[float]) -> None:
    truth, values = _truth(negatives, positives)
    fpr, tpr, _ = metrics.roc_curve(truth, values, drop_intermediate=drop)
    curve = priori.roc(Scores.from_arrays(negatives, positives), points=points)  # type: ignore[arg-type]
    ours = list(zip(curve.fpr[::-1], curve.tpr[::-1], strict=True))
    theirs = list(zip(fpr, tpr, strict=True))
    if points == "all":
        assert ours == theirs
    else:  # scikit-learn keeps some collinear points; ours must be among theirs and draw the same line
        assert set(ours) <= set(theirs)
        assert ours[0] == (0, 0)
        assert ours[-1] == (1, 1)


@given(negatives=side, positives=side)
def test_thinning_changes_nothing_in_the_drawing(negatives: list[float], positives: list[float]) -> None:
    scores = Scores.from_arrays(negatives, positives)
    thin, whole = priori.roc(scores), priori.roc(scores, points="all")
    area = [float(np.trapezoid(curve.tpr[::-1], curve.fpr[::-1])) for curve in (thin, whole)]
    assert area[0] == pytest.approx(area[1], abs=1e-12)
    assert area[0] == pytest.approx(priori.a_posteriori_auc(scores), abs=1e-12)


@given(negatives=side, positives=side)
def test_the_hull_lies_above_the_curve(negatives: list[float], positives: list[float]) -> None:
    scores = Scores.from_arrays(negatives, positives)
    hull, curve = priori.roc(scores, points="hull"), priori.roc(scores, points="all")
    x, y = hull.fpr[::-1], hull.tpr[::-1]
    keep = np.append(x[1:] > x[:-1], True)  # of points above one another, the upper
    assert np.all(np.interp(curve.fpr, x[keep], y[keep]) >= curve.tpr - 1e-12)
    slopes = np.diff(y[keep]) / np.diff(x[keep]) if keep.sum() > 1 else np.zeros(1)
    assert np.all(np.diff(slopes) <= 1e-9)


@pytest.mark.parametrize("high", [0.1, 0.5, 1.0])
def test_partial_auc_as_scikit_learn_standardises_it(high: float) -> None:
    rng = np.random.default_rng(7)
    negatives, positives = rng.normal(size=300).round(1).tolist(), rng.normal(1, 1, size=200).round(1).tolist()
    truth, values = _truth(negatives, positives)
    ours = priori.a_posteriori_partial_auc(Scores.from_arrays(negatives, positives), (0, high), standardised=True)
    assert ours == pytest.approx(metrics.roc_auc_score(truth, values, max_fpr=high), abs=1e-9)


@pytest.mark.parametrize("bounds", [("0", "1/10"), ("1/20", "1/8"), ("1/4", "2/3"), ("1/10", "1"), ("3/10", "2/5")])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_partial_auc_is_the_area_in_fractions_where_it_begins_and_ends_on_slanted_segments(
    bounds: tuple[str, str], seed: int
) -> None:
    # Few different scores: most steps of the curve go up and to the right at once.
    rng = np.random.default_rng(seed)
    negatives, positives = rng.integers(0, 5, 30), rng.integers(1, 7, 20)
    points = [(Fraction(0), Fraction(0))]
    for score in range(6, -1, -1):
        points.append((Fraction(int((negatives >= score).sum()), 30), Fraction(int((positives >= score).sum()), 20)))
    low, high = Fraction(bounds[0]), Fraction(bounds[1])
    area = Fraction(0)
    for (x, y), (right, up) in pairwise(points):
        begin, end = max(x, low), min(right, high)
        if begin < end:
            middle = y + (up - y) * ((begin + end) / 2 - x) / (right - x)
            area += (end - begin) * middle
    scores = Scores.from_arrays(negatives.astype(float), positives.astype(float))
    assert priori.a_posteriori_partial_auc(scores, bounds) == pytest.approx(float(area), abs=1e-12)


def test_partial_areas_add_up() -> None:
    rng = np.random.default_rng(8)
    scores = Scores.from_arrays(rng.normal(size=100), rng.normal(1, 1, size=80))
    parts = [priori.a_posteriori_partial_auc(scores, bounds) for bounds in ((0, 0.2), (0.2, 0.7), (0.7, 1))]
    assert sum(parts) == pytest.approx(priori.a_posteriori_auc(scores), abs=1e-12)


def test_eer_three_ways() -> None:
    scores = Scores.from_arrays([0.0, 1.0, 2.0, 3.0], [2.5, 3.5, 4.5, 5.5, 6.5])
    # FAR 1/4 and FRR 1/5 at a threshold between 2.5 and 3.
    assert priori.a_posteriori_eer(scores) == pytest.approx(0.225)
    assert 0.2 <= priori.a_posteriori_eer(scores, method="interpolated") <= 0.25
    assert priori.a_posteriori_eer(scores, method="hull") <= priori.a_posteriori_eer(scores, method="interpolated")
    with pytest.raises(OptionError, match="unknown EER method"):
        priori.a_posteriori_eer(scores, method="nope")  # type: ignore[arg-type]


@given(negatives=side, positives=side)
def test_the_interpolated_eer_lies_on_the_drawn_curve(negatives: list[float], positives: list[float]) -> None:
    scores = Scores.from_arrays(negatives, positives)
    eer = priori.a_posteriori_eer(scores, method="interpolated")
    truth, values = _truth(negatives, positives)
    fpr, tpr, _ = metrics.roc_curve(truth, values, drop_intermediate=False)
    # The distance of the point (eer, 1 - eer) to the drawn polyline is zero.
    ends = np.stack([fpr, tpr], axis=1)
    point = np.array([eer, 1 - eer])
    first, step = ends[:-1], np.diff(ends, axis=0)
    along = np.clip(((point - first) * step).sum(1) / np.maximum((step**2).sum(1), 1e-300), 0, 1)
    assert np.linalg.norm(first + along[:, None] * step - point, axis=1).min() < 1e-9


def test_min_dcf_and_break_even_by_brute_force() -> None:
    rng = np.random.default_rng(9)
    scores = Scores.from_arrays(rng.normal(size=60).round(1), rng.normal(1, 1, size=40).round(1))
    curve = priori.roc(scores, points="all")
    costs = 0.1 * (1 - curve.tpr) + 0.99 * curve.fpr
    assert priori.a_posteriori_min_dcf(scores) == pytest.approx(costs.min(), abs=1e-15)
    precision = curve.outcomes.tp / np.maximum(curve.outcomes.tp + curve.outcomes.fp, 1)
    best = np.argmin(np.where(curve.tpr > 0, np.abs(precision - curve.tpr), np.inf))
    assert priori.a_posteriori_break_even(scores) == pytest.approx((precision[best] + curve.tpr[best]) / 2)


def test_everything_says_a_posteriori() -> None:
    from matplotlib import pyplot

    scores = Scores.from_arrays([0.0, 1.0], [0.5, 2.0])
    for function in (priori.roc, priori.det):
        curve = function(scores)
        assert "posteriori" in type(curve).__name__.lower()
        assert "a posteriori" in (function.__doc__ or "").replace("*", "")
        assert "a posteriori" in repr(curve)
        assert "a posteriori" in curve.plot().get_title()
    pyplot.close("all")


def test_det_is_the_roc_on_normal_deviate_axes() -> None:
    rng = np.random.default_rng(10)
    scores = Scores.from_arrays(rng.normal(size=20_000), rng.normal(2, 1, size=20_000))
    x, y = priori.det(scores).probit
    inside = np.isfinite(x) & np.isfinite(y) & (np.abs(x) < 2) & (np.abs(y) < 2)
    # Gaussian scores of equal spread: a line of slope -1 at distance d' = 2.
    assert np.abs(x[inside] + y[inside] + 2).max() < 0.1


def test_precision_and_recall_are_those_of_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score, precision_recall_curve

    rng = np.random.default_rng(4)
    scores = Scores.from_arrays(rng.normal(size=80).round(1), rng.normal(1, 1, size=30).round(1))
    labels, values = np.repeat([0, 1], [80, 30]), np.concatenate([scores.negatives, scores.positives])
    curve = priori.roc(scores, points="all").rates("recall-precision")
    precision, recall, _ = precision_recall_curve(labels, values)
    # Theirs ends in a point of precision 1 where nothing is accepted; ours has no such point.
    np.testing.assert_allclose(curve["recall"], recall[:-1], atol=1e-12)
    np.testing.assert_allclose(curve["precision"], precision[:-1], atol=1e-12)
    steps = -np.diff(np.append(curve["recall"], 0))
    assert steps @ curve["precision"] == pytest.approx(average_precision_score(labels, values))
    weights = np.where(labels == 1, 0.02 / 30, 0.98 / 80)
    shifted = priori.roc(scores, points="all").rates("recall-precision", prior=0.02)["precision"]
    expected, _, _ = precision_recall_curve(labels, values, sample_weight=weights)
    np.testing.assert_allclose(shifted, expected[:-1], atol=1e-12)


def test_the_papers_axes() -> None:
    scores = Scores.from_arrays([0.1, 0.3, 0.4], [0.2, 0.5, 0.8])
    rates = priori.roc(scores).rates("far-frr")
    assert rates["far"].round(2).tolist() == [1.0, 0.67, 0.67, 0.0, 0.0]
    assert rates["frr"].round(2).tolist() == [0.0, 0.0, 0.33, 0.33, 1.0]
    with pytest.raises(OptionError, match="unknown pair of axes 'tpr-far'"):
        priori.roc(scores).rates("tpr-far")  # type: ignore[arg-type]


@pytest.mark.parametrize("points", ["thin", "all", "hull", 5])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_row_says_what_its_threshold_does_with_scores_of_minus_infinity_too(
    tmp_path: Path, points: str | int, engine: str
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("label,score\n0,-inf\n0,-inf\n0,0.1\n0,0.4\n1,-inf\n1,0.3\n1,0.8\n")
    scores = priori.scan(path, engine=engine)  # type: ignore[arg-type]
    curve = priori.roc(scores, points=points)  # type: ignore[arg-type]
    assert curve.threshold[0] == -np.inf
    assert curve.outcomes.to_dict() == priori.count(scores, curve.threshold).to_dict()
    # Ties count half, those at -inf too, as in the AUC.
    assert priori.a_posteriori_partial_auc(scores) == priori.a_posteriori_auc(scores)
    assert priori.a_posteriori_eer(Scores.from_arrays([0.0, 1.0], [-np.inf] * 3), method="interpolated") == 1.0
