"""Averaging ROC curves: against a geometric oracle in exact fractions, and as the person sees it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given

import priori
from oracle import score_list
from priori import InputError, OptionError, Scores
from priori.curves.averaging import METHODS
from priori.curves.averaging.curves import heights, vertices
from priori.curves.averaging.datasets import OverSets, few_sets
from priori.curves.averaging.methods import Axis, find_axis, get_method
from priori.scores.derived import pool

Point = tuple[Fraction, Fraction]

ROC_SPACE = ("vertical", "horizontal", "diagonal", "cost", "angle")
#: Rational axes: (cosine, sine) over their sum, so that the oracle is exact.
AXES = {"vertical": Fraction(0), "horizontal": Fraction(1), "diagonal": Fraction(1, 2), "cost": Fraction(9, 10)}
OPTIONS = {"cost": {"prior": 0.1}, "angle": {"theta": 0.3}}

part = st.tuples(score_list, score_list)
parts = st.lists(part, min_size=1, max_size=4)


def scores_of(sets: list[tuple[list[float], list[float]]]) -> list[Scores]:
    return [Scores.from_arrays(negatives, positives) for negatives, positives in sets]


# -- the oracle ----------------------------------------------------------------------------------------


def polygon(negatives: list[float], positives: list[float]) -> list[Point]:
    """The points of a ROC curve: one per threshold just below each distinct score, after (0, 0)."""
    points = [(Fraction(0), Fraction(0))]
    for value in sorted({*negatives, *positives}, reverse=True):
        accepted = [sum(score >= value for score in scores) for scores in (negatives, positives)]
        points.append((Fraction(accepted[0], len(negatives)), Fraction(accepted[1], len(positives))))
    return points


def over(points: list[Point], sine: Fraction, position: Fraction) -> tuple[Fraction, Fraction]:
    """The lowest and highest height of the polygon over one position of the turned axis."""
    turned = [((1 - sine) * x + sine * y, (1 - sine) * y - sine * x) for x, y in points]
    found = []
    for (u0, v0), (u1, v1) in pairwise(turned):
        if u0 <= position <= u1:
            found += [v0, v1] if u0 == u1 else [v0 + (v1 - v0) * (position - u0) / (u1 - u0)]
    return min(found), max(found)


def back(sine: Fraction, position: Fraction, height: Fraction) -> Point:
    square = (1 - sine) ** 2 + sine**2
    return ((1 - sine) * position - sine * height) / square, (sine * position + (1 - sine) * height) / square


def area(points: list[Point]) -> Fraction:
    return sum(((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points)), Fraction(0))


def on_line(a: Point, b: Point, point: Point, near: Fraction = Fraction(1, 10**12)) -> bool:
    """Whether a point lies on the line from a to b, within rounding."""
    inside = all(low - near <= value <= high + near for low, value, high in zip(a, point, b, strict=True))
    return inside and abs((b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])) <= near


# -- against the oracle --------------------------------------------------------------------------------


@given(parts, st.sampled_from(sorted(AXES)), st.integers(2, 25))
def test_each_position_has_the_mean_of_the_upper_points(sets, method, number):
    curve = priori.average(scores_of(sets), method=method, positions=number, **OPTIONS.get(method, {}))
    sine, polygons = AXES[method], [polygon(*one) for one in sets]
    expected = []
    for index in range(number):
        position = Fraction(index, number - 1)
        mean = sum(over(points, sine, position)[1] for points in polygons) / len(sets)
        expected.append(back(sine, position, mean))
    if expected[0] != (0, 0):
        expected.insert(0, (Fraction(0), Fraction(0)))
    if expected[-1] != (1, 1):
        expected.append((Fraction(1), Fraction(1)))
    assert np.allclose(curve.fpr, [float(x) for x, _ in expected], atol=1e-12)
    assert np.allclose(curve.tpr, [float(y) for _, y in expected], atol=1e-12)


@given(part, st.integers(1, 60), st.integers(1, 60))
def test_a_typed_decimal_hits_the_vertex_it_names(one, top, bottom):
    # Any float nearest to a fraction is that fraction, so that the right end of a vertical line is taken.
    position = Fraction(min(top, bottom), bottom)
    (scores,) = scores_of([one])
    for axis, sine in ((Axis(1.0, 0.0), Fraction(0)), (Axis(0.0, 1.0), Fraction(1))):
        found = [heights(scores, np.array([float(position)]), axis, upper=upper)[0] for upper in (False, True)]
        assert found == pytest.approx([float(height) for height in over(polygon(*one), sine, position)], abs=1e-12)


@given(parts, st.sampled_from(sorted(AXES)))
def test_the_exact_curve_has_both_ends_at_every_breakpoint(sets, method):
    curve = priori.average(scores_of(sets), method=method, positions="exact", **OPTIONS.get(method, {}))
    sine, polygons = AXES[method], [polygon(*one) for one in sets]
    breaks = sorted({(1 - sine) * x + sine * y for points in polygons for x, y in points})
    expected = []
    for position in breaks:
        ends = [sum(over(points, sine, position)[end] for points in polygons) / len(sets) for end in (0, 1)]
        expected += [back(sine, position, end) for end in (ends[::-1] if method == "horizontal" else ends)]
    mine = [(Fraction(x), Fraction(y)) for x, y in zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True)]
    for x, y in expected:
        assert any(on_line(a, b, (x, y)) for a, b in pairwise(mine))
    # Nothing else bends: the area is that of the polygon through the expected points, and the mean of the areas.
    assert curve.area == pytest.approx(float(area(expected)), abs=1e-12)
    assert curve.area == pytest.approx(float(sum(map(area, polygons)) / len(sets)), abs=1e-12)
    assert curve.auc.value == pytest.approx(curve.area, abs=1e-12)


@given(parts, st.sampled_from(["equal", "size", "own"]))
def test_threshold_averages_are_the_mean_rates_at_each_score(sets, weighting):
    own = [3.0, 1.0, 2.0, 5.0][: len(sets)]
    weights = {"equal": None, "size": "size", "own": own}[weighting]
    curve = priori.average(scores_of(sets), method="threshold", weights=weights, positions="exact")
    values = sorted({float(score) + 0.0 for one in sets for scores in one for score in scores}, reverse=True)
    assert curve.threshold.tolist() == [*values, -math.inf]
    for row, threshold in enumerate(values):
        for index, rate in ((0, curve.fpr), (1, curve.tpr)):
            accepted = [sum(score > threshold for score in one[index]) for one in sets]
            sizes = [len(one[index]) for one in sets]
            shares = {"equal": [1] * len(sets), "size": sizes, "own": [int(weight) for weight in own]}[weighting]
            top = sum(Fraction(w * k, n) for w, k, n in zip(shares, accepted, sizes, strict=True))
            expected = float(top / sum(shares))
            if weighting == "own":
                assert rate[row] == pytest.approx(expected, abs=1e-12)
            else:  # divided once, from whole numbers
                assert rate[row] == expected
    assert (curve.fpr[-1], curve.tpr[-1]) == (1, 1)


@given(parts)
def test_weights_by_size_give_pooling_back(sets):
    scores = scores_of(sets)
    by_size = priori.average(scores, method="threshold", weights="size", positions="exact")
    pooled = priori.average(scores, method="pooled", positions="exact")
    together = priori.roc(pool(scores), points="all")
    for curve in (by_size, pooled):
        rows = np.unique(np.column_stack([curve.fpr, curve.tpr]), axis=0)
        # No threshold accepts a score of -inf, yet an average ends where all is accepted.
        whole = np.column_stack([np.append(together.fpr, 1), np.append(together.tpr, 1)])
        assert np.array_equal(rows, np.unique(whole, axis=0))


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.data())
def test_with_equal_class_sizes_the_threshold_average_is_the_pooled_curve(negatives, positives, number, data):
    value = st.integers(-3, 3)
    sets = [
        (
            data.draw(st.lists(value, min_size=negatives, max_size=negatives)),
            data.draw(st.lists(value, min_size=positives, max_size=positives)),
        )
        for _ in range(number)
    ]
    mean, pooled = (priori.average(scores_of(sets), method=method) for method in ("threshold", "pooled"))
    assert np.array_equal(mean.threshold, pooled.threshold)
    assert np.array_equal(mean.fpr, pooled.fpr)
    assert np.array_equal(mean.tpr, pooled.tpr)


@given(part, st.floats(0, math.pi / 2))
@example(([-math.inf, -math.inf, math.inf, 0.0], [-math.inf, math.inf, math.inf]), math.nextafter(math.pi / 2, 0))
def test_vertices_and_the_upper_point_agree_at_any_angle(one, theta):
    axis = find_axis(get_method("angle"), theta, None, None, None)
    (scores,) = scores_of([one])
    fpr, tpr = vertices(scores)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    position, height = axis.turn(fpr, tpr)
    upper = heights(scores, np.clip(position, 0, 1), axis)
    assert (upper >= height - 1e-6).all()


# -- what must always hold -----------------------------------------------------------------------------


@given(parts, st.sampled_from(sorted(METHODS)), st.one_of(st.integers(2, 40), st.just("exact")))
def test_an_average_of_proper_curves_is_a_proper_curve(sets, method, positions):
    curve = priori.average(scores_of(sets), method=method, positions=positions, **OPTIONS.get(method, {}))
    assert (curve.fpr[0], curve.tpr[0]) == (0, 0)
    assert (curve.fpr[-1], curve.tpr[-1]) == (1, 1)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    if len(sets) > 1:
        assert (curve.fpr_lower >= 0).all()
        assert (curve.fpr_upper <= 1).all()
        assert (curve.tpr_lower >= 0).all()
        assert (curve.tpr_upper <= 1).all()
        assert (curve.fpr_lower <= curve.fpr).all()
        assert (curve.fpr <= curve.fpr_upper).all()
        assert (curve.tpr_lower <= curve.tpr).all()
        assert (curve.tpr <= curve.tpr_upper).all()
    else:
        assert np.isnan(curve.tpr_lower).all()


@given(part, st.integers(1, 5), st.sampled_from(sorted(METHODS)))
def test_the_same_curve_many_times_averages_to_itself(one, times, method):
    options = {"method": method, **OPTIONS.get(method, {})}
    once, many = (priori.average(scores_of([one] * number), **options) for number in (1, times))
    assert np.allclose(once.fpr, many.fpr, atol=1e-15)
    assert np.allclose(once.tpr, many.tpr, atol=1e-15)
    if times > 1:
        assert np.allclose(many.tpr_upper - many.tpr_lower, 0, atol=1e-7)


@given(parts, st.sampled_from(sorted(METHODS)), st.randoms(use_true_random=False))
def test_the_order_of_data_sets_does_not_matter(sets, method, random):
    shuffled = random.sample(sets, len(sets))
    options = {"method": method, "positions": 17, **OPTIONS.get(method, {})}
    first, second = (priori.average(scores_of(given), **options) for given in (sets, shuffled))
    for name in ("fpr", "tpr", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper"):
        assert np.allclose(getattr(first, name), getattr(second, name), atol=1e-7, equal_nan=True)


@given(
    st.lists(st.tuples(*[st.lists(st.integers(-9, 9), min_size=1, max_size=9)] * 2), min_size=1, max_size=4),
    st.sampled_from(sorted(METHODS)),
)
def test_an_increasing_map_of_the_scores_changes_no_average(sets, method):
    options = {"method": method, "positions": 17, **OPTIONS.get(method, {})}
    mapped = [tuple([math.exp(score) + score for score in scores] for scores in one) for one in sets]
    first, second = (priori.average(scores_of(given), **options) for given in (sets, mapped))
    assert np.array_equal(first.fpr, second.fpr)
    assert np.array_equal(first.tpr, second.tpr)
    if method in ROC_SPACE:  # where every data set may even have a map of its own
        own = [tuple([(i + 1) * score + 7 * i for score in scores] for scores in one) for i, one in enumerate(sets)]
        assert np.array_equal(first.tpr, priori.average(scores_of(own), **options).tpr)


@given(parts)
def test_the_diagonal_average_crosses_the_equal_error_line_at_the_average_eer(sets):
    curve = priori.average(scores_of(sets), method="diagonal", positions=[0.5])
    assert curve.fpr[0] == pytest.approx(1 - curve.tpr[0], abs=1e-12)
    assert curve.eer.value == pytest.approx(curve.fpr[0], abs=1e-12)


@given(parts)
def test_the_height_over_a_cost_axis_is_the_average_cost(sets):
    prior, cost_fp, cost_fn = 0.2, 1.0, 3.0
    options = {"method": "cost", "prior": prior, "cost_fp": cost_fp, "cost_fn": cost_fn}
    at = np.linspace(0, 1, 7)
    curve = priori.average(scores_of(sets), positions=at, **options)
    singles = [priori.average(scores_of([one]), positions=at, **options) for one in sets]

    def cost(found):
        return (1 - prior) * cost_fp * found.fpr + prior * cost_fn * (1 - found.tpr)

    assert np.allclose(cost(curve), np.mean([cost(single) for single in singles], axis=0))
    assert curve.theta == pytest.approx(math.atan(((1 - prior) * cost_fp) / (prior * cost_fn)))


def test_angles_join_the_named_methods():
    sets = [Scores.from_arrays([1, 2, 3, 4], [3.5, 5, 6, 7]), Scores.from_arrays([1, 3, 4, 6], [2, 3.5, 5, 7])]
    for theta, name in ((0.0, "vertical"), (math.pi / 4, "diagonal"), (math.pi / 2, "horizontal")):
        turned = priori.average(sets, method="angle", theta=theta, positions=101)
        named = priori.average(sets, method=name, positions=101)
        assert np.allclose(turned.fpr, named.fpr, atol=1e-12)
        assert np.allclose(turned.tpr, named.tpr, atol=1e-12)
        assert np.allclose(turned.tpr_lower, named.tpr_lower, atol=1e-12)


# -- intervals -----------------------------------------------------------------------------------------


def test_intervals_by_hand():
    # Three data sets whose true positive rates at fpr = 0 are 0.2, 0.4 and 0.9: mean 0.5, standard deviation 0.3606.
    sets = [Scores.from_arrays([0], [1] * k + [-1] * (10 - k)) for k in (2, 4, 9)]
    error = np.std([0.2, 0.4, 0.9], ddof=1) / math.sqrt(3)
    for kind, factor in (("normal", 1.959964), ("t", 4.302653)):
        curve = priori.average(sets, interval=kind, positions=[0.0])
        assert curve.tpr[0] == pytest.approx(0.5)
        assert curve.lower[0] == pytest.approx(max(0.5 - factor * error, 0))
        assert curve.upper[0] == pytest.approx(min(0.5 + factor * error, 1))
        assert (curve.fpr_lower[0], curve.fpr_upper[0]) == (0, 0)


def test_the_interval_of_a_turned_average_lies_on_the_averaging_line():
    rng = np.random.default_rng(3)
    sets = [Scores.from_arrays(rng.normal(0, 1, 40), rng.normal(d, 1, 30)) for d in (0.5, 1.5, 2.0, 3.0)]
    curve = priori.average(sets, method="cost", prior=0.3, positions=51)
    worse, better = (curve.fpr_upper, curve.tpr_lower), (curve.fpr_lower, curve.tpr_upper)
    for fpr, tpr in (worse, better):
        along = math.cos(curve.theta) * fpr + math.sin(curve.theta) * tpr
        assert np.allclose(along, math.cos(curve.theta) * curve.fpr + math.sin(curve.theta) * curve.tpr)
    assert np.allclose(curve.lower, math.cos(curve.theta) * worse[1] - math.sin(curve.theta) * worse[0])
    assert (curve.lower <= curve.upper).all()
    level = priori.average(sets, method="horizontal", positions=51)
    assert np.array_equal(level.lower, level.fpr_lower)
    assert np.array_equal(level.tpr_lower, level.tpr)


def test_size_weights_and_their_standard_error():
    # One set's variance, from all pairs of sets by their weights, times the sum of w^2; equal weights: the usual one.
    rng = np.random.default_rng(8)
    sizes = rng.integers(10, 60, 12)
    sets = [Scores.from_arrays(rng.normal(0, 1, n), rng.normal(1, 1, 2 * n)) for n in sizes]
    curve = priori.average(sets, method="threshold", weights="size", interval="normal", positions=[0.5])
    rates = np.array([np.mean(one.positives > 0.5) for one in sets])
    weights = sizes / sizes.sum()
    mean = weights @ rates
    pairs = [(i, j) for i in range(12) for j in range(i)]
    chance = sum(weights[i] * weights[j] for i, j in pairs)
    one = sum(weights[i] * weights[j] * (rates[i] - rates[j]) ** 2 for i, j in pairs) / (2 * chance)
    half = 1.959964 * math.sqrt(one * sum(weights**2))
    assert curve.tpr[0] == pytest.approx(mean)
    assert curve.tpr_upper[0] == pytest.approx(mean + half)


def test_unequal_weights_cover_and_say_what_they_are_worth():
    # Five sets whose quality differs, of 20 to 2000 trials: a variance that follows the weights covers 70 %.
    rng = np.random.default_rng(9)
    weights = np.array([20, 63, 200, 632, 2000]) / 2915
    values = rng.normal(0, 1, (5, 4000))
    mean = weights @ values
    lower, upper = OverSets("t", 0.95).around(values, weights, mean)
    assert np.mean((lower <= 0) & (upper >= 0)) == pytest.approx(0.95, abs=0.02)
    (said,) = few_sets("t", weights)
    assert (said.code, "5 data sets with the weight of 1.9" in said) == ("few-sets", True)
    assert few_sets("t", np.full(8, 0.125)) == ()
    assert "only 7 data sets" in few_sets("t", np.full(7, 1 / 7))[0]
    assert "normal intervals over few data sets" in few_sets("normal", np.full(8, 0.125))[0]


def coverage(number: int, kind: str, repeats: int = 400) -> float:
    """How often the interval of a vertical average at fpr = 0.2 covers the average over all data sets there are."""
    rng = np.random.default_rng(11)
    truth = np.mean([_tpr_at(d) for d in np.linspace(0.5, 2.5, 401)])
    hits = 0
    for _ in range(repeats):
        sets = [Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(d, 1, 200)) for d in rng.uniform(0.5, 2.5, number)]
        curve = priori.average(sets, interval=kind, positions=[0.2])
        hits += curve.lower[0] <= truth <= curve.upper[0]
    return hits / repeats


def _tpr_at(distance: float) -> float:
    from scipy.special import ndtr, ndtri

    return float(ndtr(distance - ndtri(0.8)))


def test_student_covers_with_few_curves_where_normal_does_not():
    student, normal = coverage(5, "t"), coverage(5, "normal")
    assert student == pytest.approx(0.95, abs=0.04)
    assert normal < student - 0.03
    assert coverage(30, "t", 200) == pytest.approx(0.95, abs=0.04)


# -- which one, and may we -----------------------------------------------------------------------------


def test_two_questions_give_the_method():
    assert priori.recommend(True, "cost").name == "threshold"
    answers = {axis: priori.recommend(False, axis) for axis in ("fpr", "tpr", "ratio", "cost")}
    assert [answer.name for answer in answers.values()] == ["vertical", "horizontal", "diagonal", "cost"]
    with pytest.raises(OptionError, match="choose one of: fpr"):
        priori.recommend(False, "auc")


# -- input ---------------------------------------------------------------------------------------------


def test_data_sets_come_from_a_column_a_list_or_names():
    y, s, d = [0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8], ["a", "a", "b", "b"]
    scores = Scores.from_predictions(y, s, dataset=d, user=["u", "u", "v", "v"])
    assert priori.average(scores).datasets == ("a", "b")
    assert priori.average(scores, by="user").datasets == ("u", "v")
    assert priori.average(list(scores.by().values())).datasets == ("scores [a]", "scores [b]")
    assert priori.average([scores, scores]).datasets == ("1", "2")
    assert priori.average({"x": scores}).datasets == ("x",)
    with pytest.raises(InputError, match="no column 'user'"):
        priori.average(Scores.from_predictions(y, s, dataset=d), by="user")


def test_a_data_set_with_one_class_is_named_or_left_out():
    scores = Scores.from_predictions([0, 1, 1, 1], [0.1, 0.3, 0.4, 0.8], dataset=["a", "a", "lone", "lone"])
    with pytest.raises(InputError, match=r"'lone' \(no negative trial\)"):
        priori.average(scores)
    curve = priori.average(scores, skip_incomplete=True)
    assert curve.datasets == ("a",)
    assert curve.skipped == ("lone",)
    with pytest.raises(InputError, match="none of the 1 data sets"):
        priori.average({"lone": scores.by()["lone"]}, skip_incomplete=True)
    with pytest.raises(InputError, match="no data set"):
        priori.average([])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "sideways"}, "choose one of: pooled"),
        ({"method": "angle"}, "needs theta"),
        ({"method": "angle", "theta": 2.0}, "between 0"),
        ({"method": "vertical", "theta": 0.1}, "theta goes with"),
        ({"method": "vertical", "prior": 0.1}, "prior goes with"),
        ({"method": "cost"}, "needs the prior"),
        ({"method": "cost", "prior": 1.0}, "between 0 and 1"),
        ({"method": "pooled", "weights": [1.0, 1.0]}, "pooling weighs"),
        ({"weights": [1.0]}, "one weight per data set"),
        ({"weights": [0.0, 2.0]}, "finite and positive"),
        ({"weights": "large"}, "weights must be"),
        ({"positions": 1}, "at least 2"),
        ({"positions": "every"}, "'exact'"),
        ({"positions": [2.0]}, "between 0 and 1"),
        ({"positions": [math.nan]}, "NaN"),
        ({"method": "threshold", "positions": "every"}, "'exact'"),
        ({"interval": "bayes"}, "choose one of: t"),
        ({"confidence_level": 1.0}, "between 0 and 1"),
    ],
)
def test_bad_options_say_what_to_do(options, message):
    sets = [Scores.from_arrays([0, 1], [1, 2]), Scores.from_arrays([0, 2], [1, 3])]
    with pytest.raises(OptionError, match=message):
        priori.average(sets, **options)


def test_something_else_than_scores_is_refused():
    with pytest.raises(OptionError, match="must be a Scores"):
        priori.average([SimpleNamespace(source="x")])


def test_a_result_goes_everywhere():
    sets = {"a": Scores.from_arrays([0, 1], [1, 2]), "b": Scores.from_arrays([0, 2], [1, 3])}
    curve = priori.average(sets, positions=3)
    columns = ["fpr", "tpr", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper", "threshold", "lower", "upper"]
    assert list(curve.columns()) == columns
    content = curve.to_dict()
    assert content["method"] == "vertical"
    assert content["datasets"] == ["a", "b"]
    assert content["auc"]["each"] == [0.875, 0.75]
    assert [warning["code"] for warning in content["warnings"]] == ["few-sets"]
    at = priori.average(sets, method="threshold")
    assert list(at.columns()) == columns
    assert len(at.frame("pandas")) == at.fpr.size
    assert np.array_equal(at.lower, at.tpr_lower)
    assert "AverageCurve" in at._repr_html_()


@pytest.mark.parametrize("away", [1e-12, 0.9e-9])
def test_an_axis_so_near_to_another_is_that_one(away):
    method = get_method("cost")
    assert find_axis(method, None, 1 - away, None, None) == Axis(1.0, 0.0)
    assert find_axis(method, None, away, None, None) == Axis(0.0, 1.0)
    assert find_axis(method, None, 1 - 1e-6, None, None).cosine < 1


def test_points_have_thresholds_where_one_serves_all():
    sets = [Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9]), Scores.from_arrays([0.0, 0.3], [0.5, 0.8])]
    needing_nothing = [method for method in METHODS if method not in ("angle", "cost")]
    has = {method: np.isfinite(priori.average(sets, method=method).threshold[1]) for method in needing_nothing}
    assert {method for method, there in has.items() if there} == {"threshold", "pooled"}
