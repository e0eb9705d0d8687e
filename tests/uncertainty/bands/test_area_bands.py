"""Bands around areas."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori import Scores
from priori.base.options import ResamplingOptions
from priori.uncertainty.bands.bands import area_bands


@pytest.mark.parametrize("resample", ["test", "both"])
def test_areas_have_intervals_around_their_exact_values(resample):
    rng = np.random.default_rng(0)
    dev, test = (Scores.from_arrays(rng.normal(0, 1, 300), rng.normal(1.5, 1, 200)) for _ in range(2))
    found = area_bands(dev, test, ResamplingOptions(n_resamples=800, resample=resample, interval="percentile"))
    exact = priori.areas(dev, test)
    assert found.value.tolist() == [exact.e_v1, exact.e_v2, exact.g]
    drawn = []
    for _ in range(300):
        sets = [
            Scores.from_arrays(rng.choice(s.negatives, 300), rng.choice(s.positives, 200)) if redraw else s
            for s, redraw in ((dev, resample == "both"), (test, True))
        ]
        one = priori.areas(*sets)
        drawn.append([one.e_v1, one.e_v2, one.g])
    width = 2 * 1.96 * np.std(drawn, axis=0)
    np.testing.assert_allclose(found.upper - found.lower, width, rtol=0.2)


def test_areas_of_both_sets_are_expected_ones():
    rng = np.random.default_rng(0)
    dev, test = (Scores.from_arrays(rng.normal(0, 1, 300), rng.normal(1.5, 1, 200)) for _ in range(2))
    expected = area_bands(dev, test, ResamplingOptions(resample="both"))
    percentile = area_bands(dev, test, ResamplingOptions(n_resamples=800, resample="both", interval="percentile"))
    assert expected.value.tolist() == percentile.value.tolist()
    np.testing.assert_allclose(expected.upper - expected.lower, percentile.upper - percentile.lower, rtol=0.25)
    assert ((expected.lower < expected.value) & (expected.value < expected.upper)).all()
    wide = area_bands(dev, test, ResamplingOptions(n_resamples=800, resample="both", simultaneous=True))
    assert (wide.upper > expected.upper).all()
