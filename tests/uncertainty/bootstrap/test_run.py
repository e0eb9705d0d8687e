"""Replicates: distributed as brute-force resampling has them, and the same on any number of threads."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import brute
import priori
from four_users import ALPHAS, small
from priori import Scores
from priori.scores import Trials
from priori.scores.histogram import most_between
from priori.uncertainty.bootstrap import draws, layout, readers
from priori.uncertainty.bootstrap.readers import replicate, system_of, value_of
from priori.uncertainty.bootstrap.resampling import Resampling

SIZE = 20_000


def values(curve, **options):
    plan = Resampling(**options).settle(curve.dev, curve.test)
    return replicate([system_of(curve)], plan, lambda o, first: value_of(curve.measure, o[0], curve.alpha))


def same_distribution(found, expected):
    for mine, other in zip(found.T, expected.T, strict=True):
        assert stats.ks_2samp(mine, other).pvalue > 1e-3
        # Kolmogorov-Smirnov sees little of a distribution with few values; a table sees it.
        cells = np.unique(np.round(np.concatenate([mine, other]), 9))
        table = np.array(
            [np.bincount(np.searchsorted(cells, np.round(x, 9)), minlength=cells.size) for x in (mine, other)]
        )
        common = table.sum(axis=0) >= 20
        table = np.column_stack([table[:, common], table[:, ~common].sum(axis=1)])
        table = table[:, table.sum(axis=0) > 0]
        if table.shape[1] > 1:
            assert stats.chi2_contingency(table).pvalue > 1e-4


@pytest.mark.parametrize("criterion", ["wer", "target-v1", "target-v2"])
@pytest.mark.parametrize("resample", ["test", "both"])
@pytest.mark.parametrize("bootstrap", ["sample", "rows", "user", "user-constrained", "joint", "crossed"])
def test_replicates_are_distributed_as_by_brute_force(bootstrap, resample, criterion):
    dev, test = small(1), small(2, names="efgh")
    curve = priori.epc(dev, test, criterion=criterion, alpha=ALPHAS)
    found = values(curve, bootstrap=bootstrap, resample=resample, n_resamples=SIZE, rng=7)
    rng = np.random.default_rng(0)
    drawn = brute.weights(test, bootstrap, rng, SIZE)
    drawn_dev = brute.weights(dev, bootstrap, rng, SIZE)
    expected = []
    for alpha, fixed in zip(ALPHAS, curve.threshold, strict=True):
        threshold = np.full(SIZE, fixed) if resample == "test" else brute.choose(dev, drawn_dev, criterion, alpha)
        expected.append(brute.hter(test, drawn, threshold))
    same_distribution(found, np.array(expected).T)


@pytest.mark.parametrize("bootstrap", ["user", "joint", "crossed"])
def test_one_draw_of_users_serves_both_sets_where_they_are_the_same(bootstrap):
    dev, test = small(1), small(2)
    curve = priori.epc(dev, test, alpha=ALPHAS)
    found = values(curve, bootstrap=bootstrap, resample="both", n_resamples=SIZE)
    rng = np.random.default_rng(0)
    users = brute.draw_users(4, rng, SIZE)
    drawn_dev, drawn = (brute.weights(scores, bootstrap, rng, SIZE, users) for scores in (dev, test))
    thresholds = [brute.choose(dev, drawn_dev, "wer", alpha) for alpha in ALPHAS]
    same_distribution(found, np.array([brute.hter(test, drawn, threshold) for threshold in thresholds]).T)
    apart = values(curve, bootstrap=bootstrap, resample="both", n_resamples=SIZE, shared_users=False)
    assert min(stats.ks_2samp(*pair).pvalue for pair in zip(found.T, apart.T, strict=True)) < 1e-6


@pytest.mark.parametrize("measure", ["f1", "precision", "accuracy"])
def test_rows_and_users_let_the_share_of_positives_vary(measure):
    """Against rows of the whole table redrawn with numpy."""
    rng = np.random.default_rng(1)
    test = small(2)
    curve = priori.epc(small(1), test, alpha=ALPHAS[1:2], measure=measure)
    label = np.repeat([0, 1], [len(test.negative), len(test.positive)])
    accepted = np.concatenate([test.negative.score, test.positive.score]) > curve.threshold[0]
    users = np.concatenate([test.negative.user, test.positive.user])
    drawn = {
        "rows": rng.integers(0, len(test), (SIZE, len(test))),
        "user": [np.concatenate([np.flatnonzero(users == u) for u in rng.integers(0, 4, 4)]) for _ in range(SIZE)],
    }
    for bootstrap, rows in drawn.items():
        counted = [(label[row] + 2 * accepted[row]) for row in rows]
        counts = np.array([np.bincount(each, minlength=4) for each in counted])
        tn, fn, fp, tp = counts.T
        expected = curve.measure(priori.Outcomes(tp=tp, fp=fp, tn=tn, fn=fn))
        found = values(curve, bootstrap=bootstrap, n_resamples=SIZE, rng=7)
        same_distribution(found, expected[:, None])


def test_rows_are_the_default_for_what_depends_on_the_share_of_positives():
    sets = [Scores.from_arrays(small(seed).negatives, small(seed).positives) for seed in (1, 2)]
    wanted = {
        "f1": "rows",
        "precision": "rows",
        "mcc": "rows",
        "error": "rows",
        "hter": "sample",
        "far": "sample",
        "dcf": "sample",
        "wer": "sample",
    }
    for measure, bootstrap in wanted.items():
        assert priori.epc(*sets, alpha=ALPHAS, measure=measure).band(n_resamples=20).settings["bootstrap"] == bootstrap
    cost = priori.Measure.custom(lambda o: o.fp + 5 * o.fn, name="cost")
    assert priori.epc(*sets, alpha=ALPHAS, measure=cost).band(n_resamples=20).settings["bootstrap"] == "rows"
    curves = [priori.epc(*sets, alpha=ALPHAS, measure="f1", name=name) for name in "ab"]
    assert priori.compare(*curves, n_resamples=20).settings["bootstrap"] == "rows"
    with_users = priori.epc(small(1), small(2), alpha=ALPHAS, measure="f1")
    assert with_users.band(n_resamples=20).settings["bootstrap"] == "crossed"


def test_users_are_drawn_anew_only_after_every_s_replicates():
    curve = priori.epc(small(1), small(2, names="efgh"), alpha=ALPHAS)
    found = values(curve, bootstrap="joint", n_resamples=(2000, 10))
    rng = np.random.default_rng(0)
    drawn = brute.weights(curve.test, "joint", rng, SIZE, split=10)
    expected = np.array([brute.hter(curve.test, drawn, np.full(SIZE, fixed)) for fixed in curve.threshold]).T
    for mine, other in zip(found.T, expected.T, strict=True):
        # The spread between users, and within users, each alone.
        between = [np.var(x.reshape(2000, 10).mean(axis=1)) for x in (mine, other)]
        within = [np.var(x.reshape(2000, 10), axis=1, ddof=1).mean() for x in (mine, other)]
        assert between[0] == pytest.approx(between[1], rel=0.12)
        assert within[0] == pytest.approx(within[1], rel=0.06)


def test_two_classes_of_one_system_are_drawn_apart():
    curve = priori.epc(small(1), small(2), alpha=[Fraction(1, 2)])
    plan = Resampling(bootstrap="sample", n_resamples=SIZE).settle(None, curve.test)
    rates = replicate(
        [system_of(curve)], plan, lambda o, first: np.column_stack([o[0].fp[:, 0], o[0].fn[:, 0]]).astype(float)
    )
    assert abs(np.corrcoef(rates.T)[0, 1]) < 4 / np.sqrt(SIZE)


@pytest.mark.parametrize("resample", ["test", "both"])
@pytest.mark.parametrize("bootstrap", ["sample", "rows", "user", "user-constrained", "joint", "crossed"])
def test_replicates_do_not_depend_on_threads_or_batches(bootstrap, resample, monkeypatch):
    curve = priori.epc(small(1), small(2), points=11)
    plan = Resampling(bootstrap=bootstrap, resample=resample, n_resamples=500, rng=3).settle(curve.dev, curve.test)

    def run(threads):
        here = replace(plan, threads=threads)
        return replicate([system_of(curve)], here, lambda o, first: value_of(curve.measure, o[0], curve.alpha))

    once = run(1)
    np.testing.assert_array_equal(run(2), once)
    for threads, rows in ((3, 7), (1, 1)):
        monkeypatch.setattr(readers, "rows_for", lambda *size, rows=rows: rows)
        np.testing.assert_array_equal(run(threads), once)
    other = Resampling(bootstrap=bootstrap, resample=resample, n_resamples=500, rng=4).settle(curve.dev, curve.test)
    again = replicate([system_of(curve)], other, lambda o, first: value_of(curve.measure, o[0], curve.alpha))
    assert (again != once).any()


@pytest.mark.parametrize("bootstrap", ["sample", "user", "user-constrained", "joint"])
@pytest.mark.parametrize(
    ("criterion", "task"), [("wer", "authentication"), ("target-v1", "authentication"), ("pr", "retrieval")]
)
def test_scores_of_minus_infinity_are_rejected_by_every_threshold_of_a_replicate(bootstrap, criterion, task):
    # Half of the positives can never be accepted; only a kernel that thinks otherwise lets all negatives in for them.
    user = np.tile(np.arange(20), 2)
    positives = np.where(np.arange(40) < 20, -np.inf, 1.0)
    dev = Scores.from_arrays(np.zeros(40), positives, negative_user=user, positive_user=user)
    test = Scores.from_arrays(np.zeros(40), np.ones(40), negative_user=user, positive_user=user)
    curve = priori.epc(
        dev, test, criterion=criterion, task=task, measure="hter", alpha=[Fraction(1, 10), Fraction(1, 4)]
    )
    assert curve.value.tolist() == [0, 0]
    assert not values(curve, bootstrap=bootstrap, resample="both", n_resamples=500).any()


@pytest.mark.parametrize("criterion", ["wer", "target-v1", "target-v2"])
def test_thresholds_among_scores_of_minus_infinity_are_those_of_brute_force(criterion):
    dev = Scores.from_arrays([-np.inf, -np.inf, -np.inf, 0.0, 2.0, 3.0], [-np.inf, -np.inf, 1.0, 2.0, 4.0, 4.0])
    test = Scores.from_arrays([-np.inf, 0.0, 1.5, 2.5, 5.0], [-np.inf, 0.7, 2.2, 3.3, 6.0])
    curve = priori.epc(dev, test, criterion=criterion, alpha=ALPHAS)
    found = values(curve, bootstrap="sample", resample="both", n_resamples=SIZE, rng=7)
    rng = np.random.default_rng(0)
    drawn, drawn_dev = (brute.weights(scores, "sample", rng, SIZE) for scores in (test, dev))
    thresholds = [brute.choose(dev, drawn_dev, criterion, alpha) for alpha in ALPHAS]
    same_distribution(found, np.array([brute.hter(test, drawn, threshold) for threshold in thresholds]).T)


def test_heavy_bins_are_drawn_as_light_ones_are():
    rng = np.random.default_rng(0)
    scores = Scores.from_arrays(rng.integers(0, 3, 6000).astype(float), 1.0 + rng.integers(0, 3, 4000))
    curve = priori.epc(scores, scores, alpha=ALPHAS)
    for resample in ("test", "both"):
        found = values(curve, bootstrap="sample", resample=resample, n_resamples=4000)
        expected = []
        for _ in range(400):
            dev, test = _drawn(scores, rng), _drawn(scores, rng)
            thresholds = curve.threshold if resample == "test" else priori.epc(dev, test, alpha=ALPHAS).threshold
            expected.append(curve.measure(priori.count(test, thresholds)))
        for mine, other in zip(found.T, np.array(expected).T, strict=True):
            assert stats.ks_2samp(mine, other).pvalue > 1e-3


@pytest.mark.parametrize("bootstrap", ["sample", "rows"])
@pytest.mark.parametrize("criterion", ["wer", "target-v1", "target-v2"])
def test_binomial_counts_are_those_drawn_trial_by_trial(criterion, bootstrap, monkeypatch):
    rng = np.random.default_rng(0)
    dev, test = (Scores.from_arrays(np.round(rng.normal(0, 1, 30_000), 3), rng.normal(2, 1, 5_000)) for _ in range(2))
    curve = priori.epc(dev, test, criterion=criterion, alpha=ALPHAS)
    plan = Resampling(bootstrap=bootstrap, resample="both", n_resamples=1500, rng=1).settle(dev, test)

    def run():
        def statistic(outcomes, first):
            values = value_of(curve.measure, outcomes[0], curve.alpha)
            return np.column_stack([values, (outcomes[0].fn + outcomes[0].tp)[:, 0]])

        return replicate([system_of(curve)], plan, statistic)

    monkeypatch.setattr(draws, "LIGHT", 1)
    found = run()
    monkeypatch.setattr(draws, "LIGHT", 10**9)
    one_by_one = run()
    assert (found != one_by_one).any()
    # The positives that are drawn: always as many, or by chance.
    assert (found[:, -1].std() > 0) == (bootstrap == "rows")
    np.testing.assert_array_equal(found[:, -1], one_by_one[:, -1])
    for mine, other in zip(found.T, one_by_one.T, strict=True):
        assert stats.ks_2samp(mine, other).pvalue > 1e-3


@pytest.mark.parametrize("bootstrap", ["sample", "rows", "user", "joint"])
@pytest.mark.parametrize("criterion", ["wer", "target-v1", "eer"])
def test_narrow_bins_give_the_band_of_all_scores(criterion, bootstrap, monkeypatch):
    """Rates at new thresholds differ by no more than what lies in a bin, here one trial in a hundred."""
    rng = np.random.default_rng(1)
    label, user = np.repeat([0, 1], [3000, 1500]), np.arange(4500) % 25
    dev, test = (Scores.from_predictions(label, rng.normal(1.5 * label), user=user) for _ in "dt")
    curve = priori.epc(dev, test, criterion=criterion, alpha=ALPHAS)
    exact = values(curve, bootstrap=bootstrap, resample="both", n_resamples=2000)
    monkeypatch.setattr(layout, "DISTINCT", 100)
    monkeypatch.setattr(layout, "BOUND", 0.01)
    said = curve.band(bootstrap=bootstrap, resample="both", n_resamples=50, interval="percentile").warnings
    assert [str(caution) for caution in said if caution.code == "resampled-in-bins"] == [
        "more than 100 distinct scores, resampled in narrow bins: no rate is off by more than 1e-02, or one trial"
    ]
    cuts = layout.narrow_cuts(dev)
    assert 100 < cuts.size < 300
    found = values(curve, bootstrap=bootstrap, resample="both", n_resamples=2000)
    levels = [0.025, 0.5, 0.975]
    np.testing.assert_allclose(np.quantile(found, levels, axis=0), np.quantile(exact, levels, axis=0), atol=0.01)
    few = values(curve, bootstrap=bootstrap, resample="both", n_resamples=70)
    np.testing.assert_array_equal(few, found[:70])


def test_criteria_that_read_the_scores_themselves_see_them_in_narrow_bins(monkeypatch):
    rng = np.random.default_rng(3)
    dev, test = (Scores.from_arrays(rng.normal(0, 1, 900), rng.normal(2, 1, 600)) for _ in "dt")
    curve = priori.epc(dev, test, criterion="bayes:logistic", alpha=ALPHAS)
    options = {"bootstrap": "sample", "resample": "both", "n_resamples": 150}
    exact = values(curve, **options)
    monkeypatch.setattr(layout, "DISTINCT", 100)
    monkeypatch.setattr(layout, "BOUND", 0.005)
    found = values(curve, **options)
    np.testing.assert_allclose(found.mean(axis=0), exact.mean(axis=0), atol=4 * exact.std(axis=0).max() / np.sqrt(150))


def test_a_narrow_bin_holds_little_of_either_class_or_equal_scores(monkeypatch):
    monkeypatch.setattr(layout, "DISTINCT", 10)
    rng = np.random.default_rng(2)
    for bound, places in itertools.product((0.1, 0.01, 0.001), (0, 1, 3, 9)):
        monkeypatch.setattr(layout, "BOUND", bound)
        scores = Scores.from_arrays(rng.normal(0, 1, 900).round(places), np.append(rng.normal(2, 1, 400), [np.inf] * 9))
        cuts = layout.narrow_cuts(scores)
        if cuts is not None:
            assert most_between(scores, cuts) <= max(bound, 1 / 400 + 1e-12) * (1 + 1e-12)
            assert np.isin(cuts, layout.distinct_scores(scores)).all()


def _drawn(scores, rng):
    return Scores.from_arrays(*(rng.choice(drawn, drawn.size) for drawn in (scores.negatives, scores.positives)))


def test_a_function_chooses_anew_as_the_kernel_does():
    def weighted(outcomes, alpha):  # wer in whole numbers, times 1600, at the class sizes a sample bootstrap keeps
        tenths = round(10 * alpha)
        return tenths * outcomes.fp * 10 + (10 - tenths) * outcomes.fn * 16

    options = {"bootstrap": "sample", "resample": "both", "n_resamples": 2000}
    slow = values(priori.epc(small(1), small(2), criterion=weighted, alpha=ALPHAS), **options)
    fast = values(priori.epc(small(1), small(2), alpha=ALPHAS), **options)
    np.testing.assert_array_equal(slow, fast)


def test_a_criterion_without_a_kernel_can_choose_anew():
    settings = {"task": "retrieval", "criterion": "target-v1", "measure": "hter", "alpha": ALPHAS}
    curve = priori.epc(small(1), small(2), **settings)
    found = values(curve, bootstrap="sample", resample="both", n_resamples=1000)
    rng = np.random.default_rng(0)
    redrawn = ((_drawn(curve.dev, rng), _drawn(curve.test, rng)) for _ in range(400))
    expected = np.array([priori.epc(*sets, **settings).value for sets in redrawn])
    for mine, other in zip(found.T, expected.T, strict=True):
        assert stats.ks_2samp(mine, other).pvalue > 1e-3


def test_counts_of_trials_are_drawn_like_the_trials_written_out():
    rng = np.random.default_rng(6)
    counted, written = [], []
    for _ in "dt":
        classes = [(np.sort(rng.normal(shift, 1, 20).round(1)), rng.integers(1, 60, 20)) for shift in (0, 1)]
        counted.append(Scores(*(Trials(score, number=number) for score, number in classes)))
        written.append(Scores(*(Trials(np.repeat(*pair)) for pair in classes)))
    options = {"bootstrap": "sample", "resample": "both", "n_resamples": 300}
    found, expected = (values(priori.epc(*sets, alpha=ALPHAS), **options) for sets in (counted, written))
    np.testing.assert_array_equal(found, expected)


def test_an_interrupt_ends_the_run_at_once():
    curve = priori.epc(small(1), small(2), points=11)
    plan = Resampling(n_resamples=10**7, bootstrap="sample").settle(curve.dev, curve.test)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replicate([system_of(curve)], replace(plan, progress=stop), lambda o, first: o[0].fp[:, :1] * 1.0)


def test_progress_reaches_the_end():
    curve = priori.epc(small(1), small(2), points=11)
    seen = []
    curve.band(n_resamples=1000, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1000, 1000)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
