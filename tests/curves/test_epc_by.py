"""Many curves at once: the same numbers as one by one, ties and infinite scores included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import priori
from priori import Scores
from priori.base.errors import InputError, OptionError
from validation.coverage.simulation import population

ALPHAS = ["0", "1/3", "1/2", "2/3", "0.9", "1"]
COLUMNS = ("threshold", "v1", "v2", "value", "best")


def tied(rng: np.random.Generator, size: int, groups: int) -> Scores:
    """Few distinct scores, infinite ones among them; every group has both classes."""
    label, user = rng.integers(0, 2, size), rng.integers(0, groups, size)
    label[: 2 * groups], user[: 2 * groups] = np.tile([0, 1], groups), np.repeat(np.arange(groups), 2)
    score = rng.choice([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf], size)
    return Scores.from_predictions(label, score, user=user)


@given(st.integers(0, 100_000), st.integers(1, 5), st.sampled_from(["wer", "target-v1", "eer", "bayes"]))
def test_each_curve_is_the_one_that_epc_gives(seed: int, groups: int, criterion: str) -> None:
    rng = np.random.default_rng(seed)
    dev, test = tied(rng, 40, groups), tied(rng, 30, groups)
    together = priori.epc_by(dev, test, criterion=criterion, alpha=ALPHAS)
    devs, tests = dev.by("user"), test.by("user")
    assert together.names.tolist() == sorted(tests)
    for row, name in enumerate(together.names):
        alone = priori.epc(devs[name], tests[name], criterion=criterion, alpha=ALPHAS)
        for column in COLUMNS:
            assert np.array_equal(together.grid(column)[row], getattr(alone, column)), (name, column)
        assert np.array_equal(together.grid("fp")[row], alone.outcomes.fp)


def test_groups_that_lack_a_class_are_named() -> None:
    scores = Scores.from_predictions([0, 1, 0, 1, 0], [0.1, 0.9, 0.2, 0.8, 0.3], dataset=list("aabbc"))
    curves = priori.epc_by(scores, scores, by="dataset", alpha=[0.5])
    assert (curves.names.tolist(), curves.skipped) == (["a", "b"], ("c",))


def test_bad_options_are_said() -> None:
    scores = population(3, 3, 3, rng=1)
    with pytest.raises(InputError, match="no column 'dataset'"):
        priori.epc_by(scores, scores, by="dataset")
    with pytest.raises(OptionError, match="unknown kind of group 'sex'"):
        priori.epc_by(scores, scores, by="sex")  # type: ignore[arg-type]
    dev, test = population(20, 9, 20, prefix="d", rng=1), population(30, 9, 20, prefix="t", rng=2)
    with pytest.raises(InputError, match="no user has trials of both classes in both sets"):
        priori.epc_by(dev, test)


def test_alphas_that_floats_hardly_tell_apart_are_told_apart() -> None:
    """Two trials of either class: the first threshold is left at 1/2 exactly, not within rounding of it."""
    scores = Scores.from_predictions([0, 1, 0, 1], [0.0, 1.0, 2.0, 3.0], user=[0] * 4)
    alphas = [Fraction(1, 2) + Fraction(k, 10**13) for k in (-3, -2, -1, 0, 1, 2)]
    whole = Scores.from_predictions([0, 1, 0, 1], [0.0, 1.0, 2.0, 3.0])
    alone = priori.epc(whole, whole, alpha=alphas)
    assert np.array_equal(priori.epc_by(scores, scores, alpha=alphas).threshold, alone.threshold)
    assert alone.threshold.tolist() == [0.5] * 4 + [2.5] * 2
    backwards = priori.epc(whole, whole, alpha=[*alphas[::-1], alphas[2]])
    assert backwards.threshold.tolist() == [2.5] * 2 + [0.5] * 5
