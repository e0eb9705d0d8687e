"""The areas under the curve, by hand and against theory."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori import Scores


def test_areas_by_hand() -> None:
    # Two negatives 0 and 2, two positives 1 and 3, on both sets. FAR targets: values 0, 1/2, 1; breaks 1/4, 3/4.
    scores = Scores.from_arrays([0.0, 2.0], [1.0, 3.0])
    result = priori.areas(scores, scores)
    # FAR 0 at threshold 2.5 has FRR 1/2; FAR 1/2 at 0.5 has FRR 0; FAR 1 has FRR 0.
    assert result.e_v1 == pytest.approx((0.25 * 0.5 + 0.5 * 0.5 + 0.25 * 1.0) / 2)
    assert result.e_v2 == pytest.approx((0.25 * 0.5 + 0.5 * 0.5 + 0.25 * 1.0) / 2)
    assert result.g == result.post_g
    low = priori.areas(scores, scores, bounds=(0, 0.25))
    assert low.e_v1 == pytest.approx(0.25)


@pytest.mark.parametrize("size", [200, 2000, 20_000])
def test_g_post_tends_to_half_of_auc_plus_half(size: int) -> None:
    # Eq. 18, where the paper's ROC plots FRR against FAR: the area under it is 1 - AUC.
    rng = np.random.default_rng(size)
    scores = Scores.from_arrays(rng.normal(size=size), rng.normal(1, 1, size=size))
    expected = (1 - priori.a_posteriori_auc(scores) + 0.5) / 2
    assert priori.areas(scores, scores).post_g == pytest.approx(expected, abs=2 / size)
