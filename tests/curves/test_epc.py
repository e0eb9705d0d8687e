"""The curve and its exact form, against brute force and against theory."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import priori
from priori import Measure, OptionError, Scores
from priori.decisions.criteria import CRITERIA

finite = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=12)


def _set(rng: np.random.Generator, n: int, m: int, shift: float = 1.5, digits: int = 1) -> Scores:
    return Scores.from_arrays(np.round(rng.normal(size=n), digits), np.round(rng.normal(shift, 1, size=m), digits))


@pytest.mark.parametrize("criterion", list(CRITERIA))
@given(dev=st.tuples(finite, finite), test=st.tuples(finite, finite))
def test_algorithm_one(
    criterion: str, dev: tuple[list[float], list[float]], test: tuple[list[float], list[float]]
) -> None:
    curve = priori.epc(Scores.from_arrays(*dev), Scores.from_arrays(*test), criterion=criterion, points=7)
    for index, alpha in enumerate(curve.fractions):
        chosen = oracle.choose(*dev, criterion, alpha)
        judged = oracle.at(chosen.threshold, *test)
        hindsight = {"bayes": "wer", "probability": "max:net-benefit"}
        seen = oracle.choose(*test, hindsight.get(criterion, criterion), alpha)
        assert curve.threshold[index] == chosen.threshold
        assert curve.value[index] == float(judged.far) / 2 + float(judged.frr) / 2
        assert curve.best[index] == float(seen.far) / 2 + float(seen.frr) / 2
        assert (curve.dev_v1[index], curve.dev_v2[index]) == (float(chosen.far), float(chosen.frr))


def test_alphas_are_exact_fractions() -> None:
    scores = Scores.from_arrays([0.0, 1.0], [1.0, 2.0])
    assert priori.epc(scores, scores, points=11).fractions[1] == Fraction(1, 10)
    assert priori.epc(scores, scores, alpha=0.1).fractions == (Fraction(1, 10),)
    assert priori.epc(scores, scores, points=3, bounds=(0.2, "0.3")).fractions[1] == Fraction(1, 4)


@given(dev=st.tuples(finite, finite), test=st.tuples(finite, finite), alpha=st.fractions(0, 1, max_denominator=40))
def test_the_exact_curve_is_the_curve(
    dev: tuple[list[float], list[float]], test: tuple[list[float], list[float]], alpha: Fraction
) -> None:
    one, two = Scores.from_arrays(*dev), Scores.from_arrays(*test)
    whole = priori.epc(one, two, exact=True)
    if np.min(np.abs(whole.alpha - float(alpha))) < 1e-9 or alpha == 1:
        return
    piece = int(np.searchsorted(whole.alpha, float(alpha))) - 1
    point = priori.epc(one, two, alpha=alpha)
    assert whole.threshold[piece] == point.threshold[0]
    assert whole.value[piece] == point.value[0]


@pytest.mark.parametrize("criterion", ["wer", "pr", "target-v1", "target-v2"])
@given(
    dev=st.tuples(finite, finite),
    test=st.tuples(finite, finite),
    numbers=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
@settings(max_examples=60)
def test_a_bounded_exact_curve_is_the_whole_one_cut_off(
    criterion: str,
    dev: tuple[list[float], list[float]],
    test: tuple[list[float], list[float]],
    numbers: tuple[int, int],
) -> None:
    low, high = (Fraction(number, 12) for number in sorted(numbers))
    if low == high:
        return
    one, two = Scores.from_arrays(*dev), Scores.from_arrays(*test)
    part = priori.epc(one, two, criterion=criterion, exact=True, bounds=(low, high))
    breaks = np.append(part.alpha, float(high))
    assert breaks[0] == float(low)
    assert (np.diff(breaks) > 0).all()  # no piece without a width, also where a bound is a break
    area = Fraction(0)
    for begin, end, threshold, value in zip(breaks, breaks[1:], part.threshold, part.value, strict=False):
        if end - begin < 1e-12:  # a break that is a bound, but for the last bit of its float
            continue
        middle = Fraction(float(begin + end) / 2)
        chosen = oracle.choose(*dev, criterion, middle)
        assert threshold == chosen.threshold
        judged = oracle.at(chosen.threshold, *test)
        assert value == float(judged.far) / 2 + float(judged.frr) / 2
        area += Fraction(float(end - begin)) * (judged.far + judged.frr) / 2
    assert part.area == pytest.approx(float(area / (high - low)), abs=1e-12)


@pytest.mark.parametrize(
    ("criterion", "measure"), [("wer", "hter"), ("wer", "wer"), ("target-v1", "frr"), ("pr", "f1")]
)
def test_the_area_is_the_limit_of_ever_finer_grids(criterion: str, measure: str) -> None:
    rng = np.random.default_rng(3)
    curve = priori.epc(_set(rng, 80, 60), _set(rng, 90, 50), criterion=criterion, measure=measure, points=20_001)
    assert curve.area == pytest.approx(float(np.trapezoid(curve.value, curve.alpha)), abs=2e-4)


@pytest.mark.parametrize("criterion", ["wer", "at-most-far", "eer"])
def test_alphas_that_a_curve_has_are_read_from_it(criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    sets = _set(rng, 80, 60), _set(rng, 90, 50)
    curve = priori.epc(*sets, criterion=criterion, points=11)
    expected = priori.epc(*sets, criterion=criterion, alpha=[0.7, 0.1, 0.1])
    with monkeypatch.context() as only:
        only.setattr("priori.curves.epc.curves_of", None)
        found = curve.at([0.7, 0.1, 0.1])
    assert found.to_dict() == expected.to_dict()
    assert found.fractions == expected.fractions
    assert curve.at([0.7, 0.15]).to_dict() == priori.epc(*sets, criterion=criterion, alpha=[0.7, 0.15]).to_dict()


def test_presets() -> None:
    rng = np.random.default_rng(0)
    dev, test = _set(rng, 50, 40), _set(rng, 50, 40)
    nist = priori.epc(dev, test, preset="sre05")
    assert nist.fractions == (Fraction(99, 109),)
    assert nist.value[0] == pytest.approx(float(nist.alpha[0]) * nist.v1[0] + (1 - float(nist.alpha[0])) * nist.v2[0])
    banca = priori.epc(dev, test, preset="banca")
    assert banca.alpha.tolist() == [0.09, 0.5, 0.91]
    assert banca.measure.name == "hter"


@given(
    dev=st.tuples(finite, finite),
    test=st.tuples(finite, finite),
    shift=st.integers(-8, 8),
    scale=st.sampled_from([0.5, 2.0, 8.0]),
)
def test_an_increasing_map_changes_no_outcome(
    dev: tuple[list[float], list[float]], test: tuple[list[float], list[float]], shift: int, scale: float
) -> None:
    # The map must keep midpoints in their gaps: any affine one does, and dev and test share it.
    def mapped(both: tuple[list[float], list[float]]) -> Scores:
        return Scores.from_arrays(*([scale * score + shift for score in side] for side in both))

    plain = priori.epc(Scores.from_arrays(*dev), Scores.from_arrays(*test), points=9)
    moved = priori.epc(mapped(dev), mapped(test), points=9)
    assert plain.outcomes.to_dict() == moved.outcomes.to_dict()
    assert plain.dev_outcomes.to_dict() == moved.dev_outcomes.to_dict()


@given(dev=st.tuples(finite, finite))
def test_on_the_same_set_any_increasing_map_changes_no_outcome(dev: tuple[list[float], list[float]]) -> None:
    plain = Scores.from_arrays(*dev)
    bent = Scores.from_arrays(*([score**3 + score for score in side] for side in dev))
    assert priori.epc(plain, plain).outcomes.to_dict() == priori.epc(bent, bent).outcomes.to_dict()


@given(dev=st.tuples(finite, finite), test=st.tuples(finite, finite), data=st.data())
def test_permuting_trials_changes_nothing(
    dev: tuple[list[float], list[float]], test: tuple[list[float], list[float]], data: st.DataObject
) -> None:
    shuffled = [data.draw(st.permutations(side)) for side in (*dev, *test)]
    plain = priori.epc(Scores.from_arrays(*dev), Scores.from_arrays(*test), points=9)
    moved = priori.epc(Scores.from_arrays(*shuffled[:2]), Scores.from_arrays(*shuffled[2:]), points=9)
    assert plain.to_dict() == moved.to_dict()


@given(dev=st.tuples(finite, finite))
def test_swapping_classes_and_negating_swaps_the_errors(dev: tuple[list[float], list[float]]) -> None:
    # The costs are mirrored; the threshold rule "lower" is not, so compare the cost reached, not the point.
    negatives, positives = dev
    plain = priori.epc(Scores.from_arrays(*dev), Scores.from_arrays(*dev), points=9, measure="wer")
    mirror = Scores.from_arrays([-score for score in positives], [-score for score in negatives])
    swapped = priori.epc(mirror, mirror, points=9, measure="wer")
    assert plain.value.tolist() == pytest.approx(swapped.value[::-1].tolist())


def test_scaling_every_count_changes_no_rate() -> None:
    rng = np.random.default_rng(1)
    one = _set(rng, 30, 20)
    many = Scores.from_arrays(np.tile(one.negatives, 5), np.tile(one.positives, 5))
    assert priori.epc(one, one).value.tolist() == pytest.approx(priori.epc(many, many).value.tolist())


def test_optimism_is_not_negative_for_the_measure_that_is_minimised() -> None:
    rng = np.random.default_rng(2)
    curve = priori.epc(_set(rng, 200, 100, digits=3), _set(rng, 200, 100, digits=3), measure="wer")
    assert np.all(curve.optimism >= -1e-15)
    assert curve.optimism.max() > 0


def test_custom_measure_and_task() -> None:
    rng = np.random.default_rng(4)
    dev, test = _set(rng, 30, 20), _set(rng, 30, 20)
    curve = priori.epc(dev, test, measure=lambda outcomes: outcomes.fp + 2 * outcomes.fn)
    assert curve.value.tolist() == (curve.outcomes.fp + 2 * curve.outcomes.fn).tolist()
    named = Measure.custom(lambda outcomes: outcomes.fp, name="alarms")
    assert priori.epc(dev, test, measure=named).to_dict()["measure"] == "alarms"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "nope"}, "unknown task 'nope'"),
        ({"measure": "nope"}, "unknown measure 'nope'"),
        ({"preset": "nope"}, "unknown preset"),
        ({"points": 1}, "at least 2 points"),
        ({"alpha": 1.5}, "between 0 and 1"),
        ({"alpha": []}, "no alpha given"),
        ({"alpha": float("nan")}, "between 0 and 1"),
        ({"bounds": (0.5, 0.5)}, "from a lower to a higher"),
        ({"exact": True, "alpha": 0.5}, "leave out either"),
        ({"measure": "wer:2"}, "between 0 and 1"),
        ({"measure": "dcf:cost_fn=x"}, "cannot read the measure"),
        ({"exact": True, "criterion": lambda outcomes, alpha: outcomes.fp}, "no exact curve"),
    ],
)
def test_bad_options_say_what_is_allowed(options: dict[str, object], message: str) -> None:
    scores = Scores.from_arrays([0.0, 1.0], [1.0, 2.0])
    with pytest.raises(OptionError, match=message):
        priori.epc(scores, scores, **options)  # type: ignore[arg-type]


def test_a_plain_array_is_not_scores() -> None:
    with pytest.raises(OptionError, match="must be Scores"):
        priori.epc([1, 2], [3, 4])
