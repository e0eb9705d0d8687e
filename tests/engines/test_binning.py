"""Where redrawn development data do not fit, bins stand in for trials, and no rate is off by more than said."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import oracle
from memory_engine import Memory
from priori import Scores, epc
from priori.engines import Table
from priori.engines.looks import narrow_cuts_of
from priori.scores import BOUND, condense


def scores_of(kind: str, size: int = 40_000) -> Scores:
    rng = np.random.default_rng(1)
    negative, positive = rng.normal(size=size), rng.normal(2, 1, size=size // 4)
    if kind == "tied":
        negative, positive = negative.round(1), positive.round(1)
    elif kind == "far apart":
        negative, positive = np.sinh(20 * negative), np.sinh(20 * positive)
    elif kind == "half of one score":
        negative[::2] = 0.5
    elif kind == "infinite":
        negative[::100], positive[::100] = -np.inf, np.inf
    return Scores.from_arrays(negative, positive)


def farthest(found: Scores, expected: Scores) -> float:
    """Return the largest difference of a rate at any threshold."""

    def apart(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
        at = np.union1d(one, other)
        shares = [np.searchsorted(np.sort(part), at, side="right") / part.size for part in (one, other)]
        return float(np.abs(shares[0] - shares[1]).max())

    def all_scores(scores: Scores, name: str) -> NDArray[np.float64]:
        trials = getattr(scores, name)
        return trials.score if trials.number is None else np.repeat(trials.score, trials.number)

    return max(apart(all_scores(found, name), all_scores(expected, name)) for name in ("negative", "positive"))


@pytest.mark.parametrize("kind", ["smooth", "tied", "far apart", "half of one score", "infinite"])
def test_no_rate_is_off_by_more_than_said(kind: str) -> None:
    scores = scores_of(kind)
    table = Table(Memory(scores), memory=6_000_000)
    found, said = condense(table, narrow=BOUND, said="resampled")
    promised = float(re.search(r"off by more than (\S+)$", *said)[1])  # type: ignore[index]
    assert promised <= BOUND == 1e-4
    # The number is shown with two digits.
    assert farthest(found, scores) <= promised * 1.06


@given(
    negatives=oracle.score_list, positives=oracle.score_list, bound=st.sampled_from([0.1, 0.3]), bins=st.integers(1, 9)
)
def test_awkward_scores_keep_any_bound(negatives: list[float], positives: list[float], bound: float, bins: int) -> None:
    scores = Scores.from_arrays(negatives, positives)
    table = Table(Memory(scores), bins=bins)
    ((cuts, error, means),) = narrow_cuts_of([table], [bound])
    assert (means <= cuts).all()
    assert (means[1:] > cuts[:-1]).all()
    (found,) = table.count([cuts])
    one_trial = 1 / min(scores.n_negatives, scores.n_positives)
    assert error <= max(bound, one_trial) * (1 + 1e-9)
    assert farthest(found, scores) <= error + 1e-12


def test_a_band_says_what_stands_in_and_is_nearly_the_exact_one() -> None:
    scores = scores_of("smooth")
    tables = [Table(Memory(scores), memory=memory) for memory in (6_000_000, 1 << 30)]
    options = {"bootstrap": "sample", "resample": "both", "n_resamples": 400, "rng": 1}
    bands = [epc(table, table, points=11).band(**options) for table in (*tables, scores)]  # type: ignore[arg-type]
    assert [any("resampled in" in text for text in band.warnings) for band in bands] == [True, False, False]
    np.testing.assert_array_equal(bands[1].lower, bands[2].lower)  # the memory holds it: exact
    # Other bins draw other replicates, which moves a bound by some tenths of a standard deviation (0.002 here).
    for column in ("lower", "upper"):
        np.testing.assert_allclose(getattr(bands[0], column), getattr(bands[2], column), atol=2e-3)
