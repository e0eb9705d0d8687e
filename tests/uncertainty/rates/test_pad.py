"""Presentation attack detection: rates by hand, intervals by Wilson's formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import priori


def scores(seed: int, types: dict[str, float], number: int = 100) -> priori.Scores:
    rng = np.random.default_rng(seed)
    kind = np.repeat([*types, "-"], [number] * len(types) + [300])
    score = np.concatenate([rng.normal(mean, 1, number) for mean in types.values()] + [rng.normal(3, 1, 300)])
    return priori.Scores.from_predictions((kind == "-").astype(int), score, attack=kind)


def wilson(errors: int, trials: int, level: float) -> tuple[float, float]:
    """Wilson 1927, from the formula."""
    z, p = norm.ppf((1 + level) / 2), errors / trials
    middle = (p + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * np.sqrt(p * (1 - p) / trials + z**2 / (4 * trials**2))
    return middle - half, middle + half


def test_rates_and_intervals_are_those_of_their_definitions() -> None:
    dev = scores(0, {"mask": 0.5, "print": 0.0})
    test = scores(1, {"mask": 0.7, "print": 0.0, "video": 1.5})
    result = priori.pad(dev, test, apcer=[0.05, 0.2])
    assert list(dict.fromkeys(result.point.tolist())) == ["eer", "apcer<=0.05", "apcer<=0.2"]
    assert result.unseen == ("video",)
    assert "unseen-attacks" in [warning.code for warning in result.warnings]  # type: ignore[attr-defined]
    for point in dict.fromkeys(result.point.tolist()):
        rows = result.point == point
        threshold = result.threshold[rows][0]
        errors = {
            kind: int((test.negative.score[test.attacks == kind] > threshold).sum())
            for kind in ("mask", "print", "video")
        }
        table = dict(zip(result.measure[rows] + result.attack[rows], result.rate[rows], strict=True))
        bounds = dict(zip(result.measure[rows], zip(result.lower[rows], result.upper[rows], strict=True), strict=True))
        assert [table[f"apcer{kind}"] for kind in errors] == [number / 100 for number in errors.values()]
        of_types = result.measure[rows] == "apcer"
        expected = [wilson(number, 100, 0.95) for number in errors.values()]
        assert list(zip(result.lower[rows][of_types], result.upper[rows][of_types], strict=True)) == [
            pytest.approx(bound) for bound in expected
        ]
        worst = max(errors.values()) / 100
        bpcer = float((test.positive.score <= threshold).mean())
        assert (result.at("apcer-max", point), result.at("bpcer", point)) == (worst, pytest.approx(bpcer))
        lower = max(wilson(number, 100, 1 - 0.05 / 3)[0] for number in errors.values())
        upper = max(wilson(number, 100, 0.95)[1] for number in errors.values())
        assert bounds["apcer-max"] == pytest.approx((lower, upper))
        low, high = wilson(round(bpcer * 300), 300, 0.95)
        mean = (worst + bpcer) / 2
        mover = (lower + low) / 2, mean + np.hypot(upper - worst, high - bpcer) / 2
        assert (result.at("acer", point), *bounds["acer"]) == pytest.approx((mean, *mover))


def test_thresholds_keep_apcer_on_the_development_set() -> None:
    dev = scores(2, {"mask": 0.5, "print": 0.0, "video": 1.0})
    for target in (0.01, 0.05, 0.1, 0.2):
        result = priori.pad(dev, dev, apcer=target)
        point = f"apcer<={target:g}"
        threshold = result.threshold[result.point == point][0]
        assert result.at("apcer-max", point) <= target
        lower = dev.positive.score[dev.positive.score <= threshold].max(initial=-np.inf)
        below = np.concatenate([dev.negative.score, dev.positive.score])
        below = below[below <= threshold].max()  # one score lower, one type is above the target
        assert (
            max((dev.negative.score[dev.attacks == kind] >= below).mean() for kind in np.unique(dev.attacks)) > target
        )
        assert lower <= threshold
        row = (result.measure == "bpcer") & (result.point == point)
        assert result.best[row][0] == result.rate[row][0]  # chosen and judged on the same set


def test_the_first_threshold_and_the_best_are_those_of_brute_force() -> None:
    dev, test = (scores(seed, {"mask": 0.5, "print": 0.0}) for seed in (4, 5))
    result = priori.pad(dev, test, apcer=0.1)
    tried = np.sort(np.concatenate([dev.negative.score, dev.positive.score]))
    apart = [abs((dev.negative.score > t).mean() - (dev.positive.score <= t).mean()) for t in tried]
    threshold = result.threshold[0]
    found = abs((dev.negative.score > threshold).mean() - (dev.positive.score <= threshold).mean())
    assert found == pytest.approx(min(apart), abs=1e-12)
    own = np.sort(np.concatenate([test.negative.score, test.positive.score]))
    by_type = [test.negative.score[test.attacks == kind] for kind in ("mask", "print")]
    kept = [t for t in own if all((each > t).mean() <= 0.1 for each in by_type)]
    row = (result.measure == "bpcer") & (result.point == "apcer<=0.1")
    assert result.best[row][0] == pytest.approx((test.positive.score <= kept[0]).mean())
    assert result.best[row][0] != result.rate[row][0]


def test_impostors_are_left_out_and_types_need_not_be_known() -> None:
    rng = np.random.default_rng(3)
    impostors, genuine, attacks = rng.normal(5, 1, 50), rng.normal(3, 1, 60), rng.normal(0, 1, 70)
    with_impostors = priori.Scores.from_arrays(impostors, genuine, attacks=attacks)
    plain = priori.Scores.from_arrays(attacks, genuine)
    a, b = (priori.pad(each, each) for each in (with_impostors, plain))
    np.testing.assert_array_equal(a.rate, b.rate)
    assert set(b.attack.tolist()) == {"attack", ""}
    assert str(a).startswith("PAD 'system': Presentation attack detection")


def test_the_threshold_for_an_apcer_is_the_lowest_that_no_type_breaks() -> None:
    rng = np.random.default_rng(4)
    kind = rng.permutation(np.repeat([*"abcdefgh", "-"], [1, 2, 3, 5, 8, 13, 21, 34, 40]))
    score = np.where(kind == "-", 2.0, 0.0) + rng.integers(-9, 9, kind.size) / 4  # with ties
    both = priori.Scores.from_predictions((kind == "-").astype(int), score, attack=kind)
    wanted = ["0", "0.05", "0.2", "0.5", "1"]
    result = priori.pad(both, both, apcer=wanted)
    candidates = both.candidates()
    for target in wanted:
        allowed = [
            threshold
            for threshold in candidates.thresholds(*candidates.every())
            if all((score[kind == each] > threshold).mean() <= float(target) for each in "abcdefgh")
        ]
        assert result.threshold[result.point == f"apcer<={float(target):g}"][0] == min(allowed)
