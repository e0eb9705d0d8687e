"""Quantiles: ranks counted in whole numbers, whatever floating point makes of (1 - 0.95)/2."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from priori import OptionError, Scores
from priori.base.quantiles import percentile_bounds, quantile, typed


@pytest.mark.parametrize(
    ("n", "level", "rank"),
    [
        (40, 0.95, 1),
        (80, 0.95, 2),
        (200, 0.95, 5),
        (1000, 0.95, 25),
        (10_000, 0.95, 250),
        (399, 0.95, 10),
        (41, 0.95, 2),
        (1000, 0.998, 1),
        (1000, 0.999, 1),
        (10, 0.8, 1),
        (1000, 0.9, 50),
        (2000, 0.99, 10),
    ],
)
def test_bounds_are_the_order_statistics_counted_by_hand(n, level, rank):
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    lower, upper = percentile_bounds(values, level)
    assert (lower, upper) == (rank, n + 1 - rank)
    # What is computed, not typed, is off in the last digits: 1 - 2 ndtr(-ndtri(0.975)).
    assert percentile_bounds(values, level * (1 + 4e-16)) == (rank, n + 1 - rank)


def test_quantiles_are_values_of_the_empirical_distribution():
    values = np.arange(1.0, 1001.0)
    assert [float(quantile(values, p)) for p in (0.95, 0.9501, 0.001, 0.0, 1.0)] == [950, 951, 1, 1, 1000]
    assert typed(0.95) * 20 == 19


def test_columns_have_their_own_levels_and_nan_stays():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(500, 3))
    lower, upper = percentile_bounds(values, np.array([0.9, 0.95, 0.8]))
    for column, level in enumerate((0.9, 0.95, 0.8)):
        assert (lower[column], upper[column]) == percentile_bounds(values[:, column], level)
    flipped = percentile_bounds(-values, 0.9)
    np.testing.assert_array_equal(flipped[0], -percentile_bounds(values, 0.9)[1])
    values[7, 1] = np.nan
    assert np.isnan(percentile_bounds(values, 0.9)[0]).tolist() == [False, True, False]


def test_few_replicates_are_said_and_one_is_refused():
    rng = np.random.default_rng(1)
    curve = priori.epc(*(Scores.from_arrays(rng.normal(0, 1, 50), rng.normal(2, 1, 50)) for _ in "dt"), alpha=[0.5])

    def codes(**options):
        return [caution.code for caution in curve.band(**options).warnings if caution not in curve.warnings]

    assert codes(n_resamples=200) == []
    assert codes(n_resamples=199) == ["few-replicates"]
    assert codes(n_resamples=1000, confidence_level=0.999) == ["few-replicates"]
    assert "use 10,000 or more" in curve.band(n_resamples=1000, confidence_level=0.999).warnings[0]
    with pytest.raises(OptionError, match="one replicate has no spread"):
        curve.band(n_resamples=1)


def test_the_ends_are_said_where_thresholds_are_chosen_anew():
    rng = np.random.default_rng(1)
    sets = [Scores.from_arrays(rng.normal(0, 1, 50), rng.normal(2, 1, 50)) for _ in "dt"]
    both = {"n_resamples": 200, "resample": "both"}
    curve, middle = priori.epc(*sets, points=5), priori.epc(*sets, alpha=[0.5])
    for interval in ("calibrated", "percentile"):
        (said,) = (caution for caution in curve.band(**both, interval=interval).warnings if caution.code == "ends")
        assert said[:13] == "alpha 0 and 1"
        assert "ends" not in {caution.code for caution in middle.band(**both, interval=interval).warnings}
    assert curve.band(n_resamples=200).warnings == curve.warnings
