"""Bands as a person asks for them: defaults, warnings, intervals, promises, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import priori
from four_users import ALPHAS, small
from priori import InputError, OptionError, Scores
from priori.uncertainty.bootstrap.calibration import bounds, simultaneous_bounds
from priori.uncertainty.bootstrap.resampling import Resampling


def curve(seed: int = 1, **options) -> priori.EPC:
    return priori.epc(small(seed), small(seed + 1, names="efgh"), **{"points": 11, **options})


def without_probes(scores: Scores) -> Scores:
    label = np.repeat([0, 1], [len(scores.negative), len(scores.positive)])
    score = np.concatenate([scores.negative.score, scores.positive.score])
    return Scores.from_predictions(label, score, user=np.concatenate([scores.negative.user, scores.positive.user]))


# -- defaults --------------------------------------------------------------------------------------------------


def test_the_default_draws_whoever_is_known():
    both = curve()
    users = priori.epc(without_probes(small(1)), without_probes(small(2)), points=5)
    nobody = Scores.from_arrays(small(1).negatives, small(1).positives)
    assert both.band(n_resamples=50).settings["bootstrap"] == "crossed"
    assert users.band(n_resamples=50).settings["bootstrap"] == "user"
    assert priori.epc(nobody, nobody, points=5).band(n_resamples=50).settings["bootstrap"] == "sample"
    # Thresholds stay: the development set's users are not needed. Chosen anew: they are.
    mixed = priori.epc(nobody, small(2), points=5)
    assert mixed.band(n_resamples=50).settings["bootstrap"] == "crossed"
    assert mixed.band(n_resamples=50, resample="both").settings["bootstrap"] == "sample"


def test_users_known_and_not_used_give_a_warning():
    unused = curve().band(bootstrap="sample", n_resamples=50).warnings[0]
    assert (unused.code, "users are known but trials are resampled" in unused) == ("users-unused", True)
    (said,) = (line for line in curve().band(n_resamples=200).warnings if line.code == "few-units")
    assert "only 4 users" in said
    nobody = Scores.from_arrays([0.0, 1.0], [1.0, 2.0])
    alone = priori.epc(nobody, nobody, points=5)
    found = alone.band(n_resamples=200).warnings
    assert {warning.code for warning in found} == {"no-errors"} | {warning.code for warning in alone.warnings}


def test_users_in_both_sets_are_found_by_name():
    same = priori.epc(small(1), small(2), points=5)
    assert same.band(resample="both", n_resamples=50).settings["shared_users"] is True
    assert same.band(resample="both", n_resamples=50, shared_users=False).settings["shared_users"] is False
    assert curve().band(resample="both", n_resamples=50).settings["shared_users"] is False
    some = priori.epc(small(1), small(2, names="cdef"), points=5)
    found = some.band(resample="both", n_resamples=50)
    assert found.settings["shared_users"] is False
    assert any("2 users are in both sets" in warning for warning in found.warnings)
    assert some.band(resample="both", n_resamples=50, shared_users=True).settings["shared_users"] is True
    with pytest.raises(OptionError, match="no user of the development set"):
        curve().band(resample="both", n_resamples=50, shared_users=True)


# -- what is in it ---------------------------------------------------------------------------------------------


def test_a_band_can_be_kept_and_drawn(tmp_path):
    found = curve().band(n_resamples=200, keep=True)
    assert found.replicates.shape == (200, 11)
    assert found.expected_width == pytest.approx(np.mean(found.upper - found.lower))
    assert list(found.columns()) == ["alpha", "value", "lower", "upper", "mean"]
    found.to_json(tmp_path / "band.json")
    assert len(found.frame("pandas")) == 11
    assert found.covers(found.value) <= 1
    assert curve().band(n_resamples=20).replicates is None
    from matplotlib import pyplot

    assert found.plot().get_title().startswith("Expected")
    pyplot.close("all")


def test_any_measure_and_any_criterion_have_a_band():
    for criterion, task, measure in (
        ("wer", "authentication", "wer"),
        ("wer", "authentication", "dcf"),
        ("pr", "retrieval", "f1"),
        ("eer", "diagnosis", "accuracy"),
        ("target-v2", "diagnosis", "mcc"),
    ):
        one = priori.epc(small(1), small(2), task=task, criterion=criterion, measure=measure, alpha=ALPHAS)
        for resample in ("test", "both"):
            found = one.band(n_resamples=100, resample=resample)
            assert np.isfinite(found.lower).all()
            assert (found.lower <= found.upper).all()
            assert (found.upper <= 1).all() or measure == "dcf"
    exact = priori.epc(small(1), small(2), exact=True)
    assert exact.band(n_resamples=50, resample="both").lower.size == exact.alpha.size


def test_the_seed_decides_and_a_generator_is_one():
    one = curve(alpha=ALPHAS)
    first = one.band(n_resamples=100, rng=5)
    np.testing.assert_array_equal(one.band(n_resamples=100, rng=5).lower, first.lower)
    a, b = (one.band(n_resamples=100, rng=np.random.default_rng(1), keep=True).replicates for _ in range(2))
    np.testing.assert_array_equal(a, b)
    fresh = [one.band(n_resamples=100, rng=None).settings["seed"] for _ in range(2)]
    assert fresh[0] != fresh[1]


# -- intervals -------------------------------------------------------------------------------------------------


def test_percentiles_are_values_of_the_empirical_distribution():
    values = np.array([[5.0], [1.0], [4.0], [2.0], [3.0], [6.0], [7.0], [8.0], [9.0], [10.0]])
    low, high = bounds(values, 0.8)
    assert (low[0], high[0]) == (1.0, 10.0)  # the smallest v with P(V <= v) >= 0.1, the largest with P(V >= v) >= 0.1


def test_the_centred_interval_holds_its_share_around_the_mean():
    values = np.random.default_rng(0).exponential(size=(10_000, 2))
    low, high = bounds(values, 0.95, centred=True)
    np.testing.assert_allclose((low + high) / 2, values.mean(axis=0))
    inside = ((values >= low) & (values <= high)).mean(axis=0)
    np.testing.assert_allclose(inside, 0.95, atol=1e-3)


def test_bounds_of_a_rate_stay_between_0_and_1():
    rng = np.random.default_rng(0)
    few = np.clip(rng.normal(0.02, 0.02, (4000, 1)), 0, None)
    values = np.hstack([few, 0.5 + 0 * few, 1 - few])
    low, high = bounds(values, 0.95, centred=True)
    assert low[0] < 0  # as far below the mean as above
    assert high[2] > 1
    plan = Resampling(bootstrap="sample", interval="centred").settle(None, Scores.from_arrays([0.0, 1.0], [1.0, 2.0]))
    lower, upper = plan.bounds(values, None, rate=True)
    assert (lower[0], upper[2]) == (0.0, 1.0)
    assert (upper[0], lower[2]) == (high[0], low[2])
    assert plan.bounds(values, None, rate=False)[1][2] == high[2]
    assert plan.bounds(-values, None, rate=False)[0][0] < -0.04  # a difference may lie below 0


def test_the_simultaneous_band_holds_its_share_of_whole_curves():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=(5000, 20)).cumsum(axis=1), np.full((5000, 1), 0.25)])
    low, high = simultaneous_bounds(values, 0.9)
    inside = ((values >= low - 1e-12) & (values <= high + 1e-12)).all(axis=1).mean()
    assert inside == pytest.approx(0.9, abs=2e-3)
    assert low[-1] == high[-1] == 0.25  # no spread, no width
    flat = simultaneous_bounds(np.full((10, 3), 2.0), 0.9)
    np.testing.assert_array_equal(flat, np.full((2, 3), 2.0))


def test_a_simultaneous_band_is_wider_than_a_pointwise_one():
    one = curve()
    assert one.band(n_resamples=500, simultaneous=True).expected_width > one.band(n_resamples=500).expected_width


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap": "jackknife"}, "unknown bootstrap"),
        ({"resample": "dev"}, "unknown set to resample"),
        ({"interval": "bca"}, "unknown interval"),
        ({"n_resamples": 0}, "from 2 up"),
        ({"n_resamples": 2.5}, "from 2 up"),
        ({"n_resamples": (10, 10)}, "joint bootstrap"),
        ({"n_resamples": (10, 10, 10), "bootstrap": "joint"}, "pair"),
        ({"confidence_level": 95}, "between 0 and 1"),
        ({"rng": -1}, "rng must be"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        curve().band(**{"n_resamples": 50, **options})


def test_a_bootstrap_by_users_needs_users():
    nobody = Scores.from_arrays([0.0, 1.0], [1.0, 2.0])
    one = Scores.from_arrays([0.0, 1.0], [1.0, 2.0], negative_user=[1, 1], positive_user=[1, 1])
    with pytest.raises(OptionError, match="needs the user of each trial"):
        priori.epc(nobody, nobody, points=5).band(bootstrap="user")
    with pytest.raises(OptionError, match="both identities"):
        priori.epc(one, one, points=5).band(bootstrap="crossed")
    with pytest.raises(InputError, match="one user only"):
        priori.epc(one, one, points=5).band(bootstrap="joint")


def test_compiling_is_said_once(caplog, monkeypatch):
    from priori.uncertainty.bootstrap import draws

    class Kernel:
        class stats:
            cache_path = "/nowhere"

        signatures = ()

    from priori.uncertainty.bootstrap import kernels

    monkeypatch.setattr(kernels, "weigh", Kernel)
    monkeypatch.setattr(draws, "_warned", False)
    draws.load_kernel("weigh")
    draws.load_kernel("weigh")
    assert [record.message for record in caplog.records] == [
        "compiling the bootstrap kernels, once on this machine ..."
    ]


def test_numba_waits_until_a_bootstrap_runs():
    import subprocess
    import sys

    program = "import sys, priori.uncertainty.comparing.comparison; print('numba' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize("resample", ["test", "both"])
def test_memory_does_not_grow_with_replicates_times_trials(resample):
    import tracemalloc

    rng = np.random.default_rng(0)
    sets = [Scores.from_arrays(rng.normal(0, 1, 10_000), rng.normal(2, 1, 10_000)) for _ in range(2)]
    one = priori.epc(*sets, points=5)
    one.band(n_resamples=10, resample=resample)
    tracemalloc.start()
    one.band(n_resamples=400, resample=resample)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A table of every draw would take 400 x 20,000 x 8 bytes = 64 MB for each set; 2000 draws of 400 units take less.
    assert peak < (12e6 if resample == "test" else 40e6)


def test_where_no_error_was_seen_there_need_be_none():
    nobody = Scores.from_arrays(np.arange(50.0), 100 + np.arange(50.0))
    band = priori.epc(nobody, nobody, alpha=[0.5]).band(n_resamples=500)
    assert (band.value[0], band.lower[0]) == (0, 0)
    assert 0 < band.upper[0] < 0.1
    f1 = priori.epc(nobody, nobody, alpha=[0.5], task="retrieval").band(n_resamples=500)
    assert (f1.value[0], f1.upper[0]) == (1, 1)
    assert 0.9 < f1.lower[0] < 1
