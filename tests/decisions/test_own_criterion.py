"""A criterion written as CONTRIBUTING says, with `select` alone, works wherever criteria do."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

import priori
from memory_engine import Memory
from priori import Scores
from priori.decisions.criteria import Criterion
from priori.decisions.measures import FAR, FRR
from priori.engines import Table
from priori.scores.candidates import Candidates, Errors


class Squares(Criterion):
    """``alpha FAR^2 + (1 - alpha) FRR^2``."""

    def select(self, candidates: Candidates, alphas: Sequence[Fraction]) -> Errors:
        fp, fn = candidates.every()
        chosen = [int(np.argmin(self.cost(fp, fn, candidates, float(alpha)))) for alpha in alphas]
        return fp[chosen], fn[chosen]

    @staticmethod
    def cost(fp: Errors, fn: Errors, candidates: Candidates, alpha: float) -> np.ndarray:
        far, frr = fp / candidates.n_negatives, fn / candidates.n_positives
        return np.asarray(alpha * far**2 + (1 - alpha) * frr**2)


RULE = Squares("squares", FAR, FRR)


def scores(seed: int, size: int = 3000) -> Scores:
    rng = np.random.default_rng(seed)
    user = np.arange(size) % 20
    return Scores.from_predictions(np.arange(size) % 2, rng.normal(np.arange(size) % 2), user=user)


@pytest.mark.parametrize("memory", [1 << 30, 40_000], ids=["all scores at once", "part by part"])
def test_a_scan_chooses_what_is_chosen_in_memory(memory: int) -> None:
    dev, test = scores(0), scores(1)
    expected = priori.epc(dev, test, criterion=RULE, points=9)
    scanned = [Table(Memory(each), memory=memory) for each in (dev, test)]
    found = priori.epc(*scanned, criterion=RULE, points=9)
    np.testing.assert_array_equal(found.threshold, expected.threshold)
    np.testing.assert_array_equal(found.value, expected.value)


def test_bands_and_comparisons_take_it() -> None:
    a, b = (priori.epc(scores(seed), scores(seed + 1), criterion=RULE, points=5, name=str(seed)) for seed in (0, 2))
    band = a.band(n_resamples=50, resample="test")
    assert (band.lower <= a.value).all()
    assert (a.value <= band.upper).all()
    assert priori.compare(a, b, n_resamples=50, claim="deployed").difference.size == 5
