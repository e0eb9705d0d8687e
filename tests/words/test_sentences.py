"""The verdict in words: right, grammatical, and no surer than the data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import small_studies
from priori import compare, compare_all, count, ztest
from priori.decisions.criteria import get_criterion
from priori.decisions.tasks import get_task
from priori.studies.evaluation import Settings, Study, make_study
from priori.studies.evaluation.drawing import deployable
from priori.studies.evaluation.pairs import Pair, pairs_of, spans_of
from priori.words.numbers import weighing
from priori.words.sentences import (
    about_interval,
    about_letters,
    describe_settings,
    difference,
    heading,
    pointwise_regions,
    verdict,
    ztest_verdict,
)


@pytest.mark.parametrize(
    ("task", "criterion", "alpha", "said"),
    [
        ("authentication", "wer", "1/2", "At equal costs (alpha = 0.5)"),
        ("authentication", "wer", "4/5", "With FAR weighed 4 times FRR (alpha = 0.8)"),
        ("authentication", "wer", "1/5", "With FRR weighed 4 times FAR (alpha = 0.2)"),
        ("authentication", "wer", "0", "With only FRR counted (alpha = 0)"),
        ("authentication", "wer", "1", "With only FAR counted (alpha = 1)"),
        ("retrieval", "pr", "1/2", "With precision and recall weighed equally (alpha = 0.5)"),
        ("retrieval", "pr", "3/4", "With precision weighed 3 times recall (alpha = 0.75)"),
        ("authentication", "target-v1", "1/100", "Aiming at a FAR of 1.0 %"),
        ("diagnosis", "target-v2", "9/10", "Aiming at a specificity of 90.0 %"),
        ("authentication", "eer", "1/2", "With the threshold where FAR and FRR are nearest"),
    ],
)
def test_what_an_alpha_means(task: str, criterion: str, alpha: str, said: str) -> None:
    domain = get_task(task)
    rule = get_criterion(criterion, domain)
    assert weighing(rule, domain, Fraction(alpha), with_alpha=True) == said
    assert "alpha" not in weighing(rule, domain, Fraction(alpha))


@pytest.fixture(scope="module")
def plain() -> Study:
    return small_studies.study(2.5, 1.6, bootstrap=None, points=5)


def answer(study: Study, key: str, index: int = 2, **tests: Any) -> str:
    """Return an answer, with the tests of the only pair replaced."""
    pair = replace(study.pairs[0], **{name: np.asarray(values) for name, values in tests.items()})
    found = verdict(replace(study, pairs=(pair,)), index)
    return next(one.answer for one in found.answers if one.key == key)


YES, NO = [True] * 5, [False] * 5
P = {"p_value": [0.0004, 0.03, 0.012, 0.2, 0.5]}


def test_two_systems(plain: Study) -> None:
    a, b = (curve.value[2] for curve in plain.curves)
    assert a < b
    said = answer(plain, "performance")
    assert said == f"At equal costs (alpha = 0.5), A's HTER is {100 * a:.1f} %; B's is {100 * b:.1f} %."
    size = f"{100 * (b - a):.1f}"
    some = [False, True, True, False, False]
    assert answer(plain, "difference", **P, significant=some, throughout=some) == (
        f"At alpha = 0.5, the observed difference of {size} points is significant (p = 0.012): A is better. "
        "With all alphas tested together, A is significantly better for alpha between 0.25 and 0.5; elsewhere the data "
        "cannot tell."
    )
    assert answer(plain, "difference", **P, significant=NO, throughout=NO) == (
        f"At alpha = 0.5, the observed difference of {size} points is not significant (p = 0.012): the data cannot "
        "tell which is better. With all alphas tested together, the difference is significant at none."
    )
    assert "p < 0.001" in answer(plain, "difference", 0, **P, significant=YES, throughout=NO)
    assert "; elsewhere" not in answer(plain, "difference", **P, significant=YES, throughout=YES)


def test_each_system_better_somewhere(plain: Study) -> None:
    signs = np.array([-0.1, -0.1, 0.0, 0.1, 0.1])
    some = [True, True, False, False, True]
    assert answer(plain, "difference", **P, difference=signs, significant=some, throughout=some) == (
        "At alpha = 0.5, the two systems are equal. With all alphas tested together, A is significantly better for "
        "alpha between 0 and 0.25, B is significantly better at alpha = 1; elsewhere the data cannot tell."
    )


def test_names_that_are_cut_alike_are_still_two_systems() -> None:
    study = small_studies.study(2.5, 1.6, bootstrap=None, points=5, names=("w" * 100 + "1", "w" * 100 + "2"))
    signs, some = np.array([-0.1, -0.1, 0.0, 0.1, 0.1]), [True, True, False, False, True]
    said = answer(study, "difference", **P, difference=signs, significant=some, throughout=some)
    assert "for alpha between 0 and 0.25" in said
    assert "at alpha = 1;" in said


def test_many_ranges_are_abridged() -> None:
    alpha = np.linspace(0, 1, 21)
    chosen = np.zeros(21, dtype=bool)
    chosen[[0, 2, 3, 4, 6, 8, 9, 10, 11, 13]] = True
    study = small_studies.study(2.5, 1.6, bootstrap=None, points=21)
    pair = Pair(0, 1, False, alpha, np.full(21, -0.1), p_value=np.zeros(21), significant=chosen, throughout=chosen)
    found = verdict(replace(study, pairs=(pair,)), 5).answers[1].answer
    assert "for alpha between 0.1 and 0.2, for alpha between 0.4 and 0.55 and in 3 narrower ranges; elsewhere" in found


def test_without_a_bootstrap_nothing_is_claimed(plain: Study) -> None:
    said = verdict(plain).answers[1].answer
    assert "significant" not in said
    assert "No bootstrap was run; a z-test, which treats trials as independent, gives" in said
    several = small_studies.study(2.5, 1.6, 1.0, bootstrap=None, points=5)
    assert verdict(several).answers[1].answer == "No bootstrap was run, so there is no test of the differences."


def test_many_systems() -> None:
    study = small_studies.study(2.5, 2.4, 1.2, 0.8, sizes={"negatives": 600, "positives": 400}, n_resamples=2000)
    performance, difference = (one.answer for one in verdict(study).answers[:2])
    assert performance.startswith("At equal costs (alpha = 0.5), A has the lowest HTER of 4 systems: ")
    assert "Next comes B with" in performance
    assert "last D with" in performance
    assert difference == "At alpha = 0.5, A is significantly better than C and D; the data cannot separate A from B."


def test_five_systems_and_more_are_named_as_far_as_they_can_be() -> None:
    sizes = {"negatives": 600, "positives": 400}
    study = small_studies.study(2.5, 2.4, 0.9, 0.8, 0.7, 0.6, 0.5, sizes=sizes, n_resamples=2000)
    performance, difference = (one.answer for one in verdict(study).answers[:2])
    assert difference == (
        "At alpha = 0.5, A is significantly better than C, D, E and 2 others; the data cannot separate A from B."
    )
    index = len(study.curves[0].alpha) // 2
    values = [100 * curve.value[index] for curve in study.curves]
    assert f"A has the lowest HTER of 7 systems: {values[0]:.1f} % (95 %: " in performance
    assert f"Next comes B with {values[1]:.1f} %" in performance
    assert f"last F with {max(values):.1f} %" in performance
    assert max(values) == values[5]
    assert "None" not in verdict(study).text


def test_a_measure_to_maximise_and_equal_systems() -> None:
    systems = small_studies.systems(2.5, 2.5, 2.5, 2.5)
    same = [replace(systems[0], name=name) for name in "ABCD"]
    study = make_study(same, Settings(task="retrieval", n_resamples=100, points=3))
    assert "A, B, C and D share the highest F1 of 4 systems" in verdict(study).answers[0].answer
    assert verdict(study).answers[1].answer == (
        "At alpha = 0.5, the data cannot separate A from any of the other 3 systems."
    )


def test_where_the_method_expects_another_system_to_be_best_it_is_said_of_what() -> None:
    study = small_studies.study(2.5, 1.5, 0.5, sizes={"negatives": 200, "positives": 200}, n_resamples=100, points=3)
    turned = [replace(pair, expected=-pair.difference) for pair in study.pairs]
    tuned = "At alpha = 0.5, of systems tuned on similar development sets, C is expected to be best"
    assert difference(study.curves, turned, 1) == (
        f"{tuned}. It is significantly better than each of the other 2 systems."
    )
    unsure = [replace(pair, significant=np.zeros(3, dtype=np.bool_)) for pair in turned]
    assert difference(study.curves, unsure, 1) == (
        f"{tuned}, but the data cannot separate it from any of the other 2 systems."
    )


def test_the_threshold_has_the_digits_that_matter() -> None:
    study = small_studies.study(2.5, points=5, bootstrap=None)
    curve = study.curves[0]
    for index in range(5):
        text = deployable([curve])[0][index]
        for scores, wanted in ((curve.dev, curve.dev_outcomes), (curve.test, curve.outcomes)):
            found = count(scores, float(text))
            assert (found.fp, found.fn) == (wanted.fp[index], wanted.fn[index])
    # Scores so near to each other that six digits would not do, and a threshold that decides nothing.
    near = small_studies.Scores.from_arrays([1.000000012, 0.5], [1.000000018, 2.0])
    for threshold, text in ((1.000000015, "1.000000015"), (np.inf, "inf"), (-np.inf, "-inf")):
        at = np.full(5, threshold)
        outcomes = count(near, at)
        made = replace(curve, dev=near, test=near, threshold=at, dev_outcomes=outcomes, outcomes=outcomes)
        assert deployable([made])[0][0] == text


def test_what_the_threshold_does_is_said(plain: Study) -> None:
    said = answer(plain, "threshold")
    curve = plain.curves[0]
    assert said.startswith(f"With A, accept when the score is greater than {deployable([curve])[0][2]}. ")
    assert f"wrongly accepts {curve.dev_outcomes.fp[2]} of 240 negatives" in said
    assert f"on the test set, {curve.outcomes.fp[2]} of 240 and {curve.outcomes.fn[2]} of 120." in said
    one = small_studies.study(2.5, bootstrap=None, points=5)
    assert verdict(one).answers[1].answer.startswith("Accept when the score is greater than ")
    assert [found.key for found in verdict(one).answers] == ["performance", "threshold", "optimism"]


def test_optimism_is_said_both_ways(plain: Study) -> None:
    said = [verdict(plain, index).answers[-1].answer for index in range(5)]
    for curve, index, text in ((plain.curves[0], index, text) for index, text in enumerate(said) if "A's" in text):
        optimism = curve.optimism[index]
        if optimism > 0:
            assert text.endswith("of optimism.")
        elif optimism < 0:
            assert "since the criterion is not the measure shown" in text
        else:
            assert "no optimism here" in text


def test_spans_of() -> None:
    alpha = np.array([0.0, 0.5, 1.0])
    assert spans_of(alpha, np.array([True, True, True])) == ((0.0, 1.0),)
    assert spans_of(alpha, np.array([False, False, False])) == ()


def test_the_title_is_the_names() -> None:
    assert heading(small_studies.study(2.0, bootstrap=None, points=3)) == "A"
    assert (
        heading(small_studies.study(2.0, 1.0, bootstrap=None, points=3, title="Our spring test")) == "Our spring test"
    )
    names = ("one", "two", "three", "four", "five")
    study = small_studies.study(2, 2, 2, 2, 2, names=names, bootstrap=None, points=3)
    assert heading(study) == "one, two, three and 2 others"


# -- the same words for other results --------------------------------------------------------------------------


def test_a_comparison_says_what_the_study_says() -> None:
    study = small_studies.study(2.5, 1.6)
    found = compare(*study.curves, n_resamples=200, rng=0)
    for index in range(len(study.curves[0].alpha)):
        said = next(one.answer for one in verdict(study, index).answers if one.key == "difference")
        assert difference(study.curves, pairs_of(found), index) == said
    # One alpha has no others to be tested together with.
    alone = [curve.at([0.5]) for curve in study.curves]
    said = difference(alone, pairs_of(compare(*alone, n_resamples=200, rng=0)), 0)
    assert said.startswith("At alpha = 0.5, the observed difference is ")
    assert "together" not in said
    said = difference(alone, pairs_of(compare(*alone, n_resamples=200, rng=0, claim="deployed")), 0)
    assert said.startswith("At alpha = 0.5, the observed difference of ")


def test_a_ranking_says_what_the_study_says() -> None:
    study = small_studies.study(2.5, 1.6, 2.0)
    found = compare_all(study.curves, n_resamples=200, rng=0)
    assert difference(study.curves, pairs_of(found), study.at) == verdict(study).answers[1].answer


def test_a_criterion_without_alpha() -> None:
    study = small_studies.study(2.5, 1.6, criterion="eer", points=3)
    said = verdict(study).answers[1].answer
    assert said.startswith("At alpha = 0.5, the observed difference is ")
    assert said.endswith(" It is the same at every alpha, which this criterion does not use.")


def test_where_each_is_better_alpha_by_alpha() -> None:
    study = small_studies.study(2.5, 1.6, bootstrap=None, points=5)
    found = compare(*study.curves, n_resamples=200, rng=0)

    def said(p_value: list[float]) -> str:
        return pointwise_regions(replace(found, pointwise=replace(found.pointwise, p_value=np.array(p_value))))

    assert (found.difference[1:4] < 0).all()
    better = "With each alpha tested by itself, A is significantly better for alpha between 0.25 and 0.5."
    assert said([1, 0.01, 0.01, 1, 1]) == better
    assert said([1] * 5) == "With each alpha tested by itself, the difference is significant at none."


def test_ztests_in_words() -> None:
    one = ztest(0.0115, 0.025, 112_000, 400)
    assert ztest_verdict(one) == "HTER 0.01825, 95 % interval 0.01059 to 0.02591"
    two = ztest(0.0115, 0.025, 112_000, 400, far_b=0.0195, frr_b=0.0275)
    assert ztest_verdict(two) == "A and B do not differ significantly at 95 % (confidence: independent 64.7 %)"
    sure = ztest(0.01, 0.02, 10_000, 10_000, far_b=0.1, frr_b=0.2)
    assert ztest_verdict(sure) == "A and B differ significantly at 95 % (confidence: independent more than 99.9 %)"
    assert sure.sentence == ztest_verdict(sure)


def test_intervals_are_named_by_their_settings() -> None:
    study = small_studies.study(2.5, points=3, simultaneous=True, confidence_level=0.9)
    band = study.members[0].band
    assert band is not None
    assert about_interval(band.settings) == "90 % simultaneous confidence interval, sample bootstrap"
    assert "at the 90 % level" in about_letters(0.9)


def test_settings_in_words() -> None:
    study = small_studies.study(2.5, 1.6, points=3, resample="both", unpaired=True, seed=7)
    described = describe_settings(study)
    assert described["Resampled"] == "both sets, new thresholds"
    assert described["Intervals"] == "95 % pointwise confidence interval, sample bootstrap"
    assert (described["Systems compared"], described["Seed"], described["Resamples"]) == ("unpaired", "7", "200")
    assert describe_settings(small_studies.study(2.5, points=3, bootstrap=None))["Bootstrap"] == "none"
