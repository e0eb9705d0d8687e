"""Thresholds chosen among blocks of scores: the same as among all, to the last bit; late draws have the same law."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import priori
from priori import Scores
from priori.decisions.criteria import get_criterion
from priori.uncertainty.bands import value_of
from priori.uncertainty.bootstrap import blocks, choosing, kernel_sets, kernels, run
from priori.uncertainty.bootstrap.kernel_criteria import kernel_kind
from priori.uncertainty.bootstrap.kernel_sets import in_blocks, make_side
from priori.uncertainty.bootstrap.resampling import Resampling

CRITERIA = [
    ("wer", "authentication"), ("pr", "retrieval"), ("eer", "authentication"), ("eer", "retrieval"),
    ("target-v1", "authentication"), ("target-v2", "authentication"), ("target-v2", "retrieval"),
    ("at-most-v1", "authentication"), ("at-most-v2", "authentication"), ("at-least-v1", "diagnosis"),
]  # fmt: skip
ALPHAS = [
    [Fraction(k, 20) for k in range(21)], [Fraction(1, 2)], [Fraction(0), Fraction(1)],
    [Fraction(9, 10), Fraction(1, 10), Fraction(1, 10)], [Fraction(1, 1000), Fraction(998, 1000)],
]  # fmt: skip
REPLICATES = 6


def make_scores(rng: np.random.Generator, *, users: int = 12) -> Scores:
    """Return a set of any shape: few or many trials, ties of any number, infinite scores, users of unequal size."""
    sizes = rng.integers(1, rng.choice([4, 80, 900]), 2)
    label = np.repeat([0, 1], sizes)
    score = np.round(rng.normal(0, 1, label.size) + rng.choice([0.3, 2.0, 6.0]) * label, rng.choice([0, 1, 2, 9]))
    for end in (-np.inf, np.inf):
        score[rng.random(label.size) < rng.choice([0.0, 0.0, 0.1])] = end
    user = (users * rng.random(label.size) ** rng.choice([1.0, 3.0])).astype(int)
    return Scores.from_predictions(label, score, user=user, probe_user=rng.integers(0, users, label.size))


def make_sides(sets, bootstrap):
    plan = Resampling(bootstrap=bootstrap, resample="both", n_resamples=REPLICATES, rng=3).settle(*sets)
    people = plan.design.identities(list(sets)) if plan.design.by_user else (None, None)
    sides = [make_side([each], plan, who, dev=dev) for each, who, dev in zip(sets, people, (True, False), strict=True)]
    return plan, *sides


def counted(kernel, plan, sides, kind):
    errors = np.full((REPLICATES, 1, 2, kind[1].size), -1, np.int64)
    totals = np.full((REPLICATES, 2), -1, np.int64)
    kernel(0, plan.seed, plan.inner, plan.design.trial_draws, *sides, *kind, errors, totals)
    return errors, totals


def late_weights(plan, dev, replicate):
    """Return the weights of a set whose trials are drawn late, every block looked into."""
    number = dev.edges.size - 1
    hits, sums, totals = np.empty((2, number), np.int64), np.empty((2, number), np.int64), np.empty(2, np.int64)
    _, tables = blocks._tables(dev)
    key = blocks._draw_sums(dev, plan.seed, replicate, plan.design.trial_draws, tables, hits, sums, totals)
    weights = np.full((2, dev.edges[-1]), -1, np.int64)
    for c in range(2):
        blocks._lay_cells(dev.edges, sums[c], weights[c])
        blocks._draw_inside(np.uint64(key), c, dev, dev.edges, tables[c], hits[c], weights[c])
        assert weights[c].sum() == totals[c]
        np.testing.assert_array_equal(np.add.reduceat(weights[c], dev.edges[:-1]), sums[c])
    return weights


@pytest.mark.parametrize("bootstrap", ["sample", "rows", "user", "user-constrained", "joint", "crossed"])
@pytest.mark.parametrize("size", [1, 3, 16, 10**6])
def test_errors_are_those_of_the_plain_kernel_to_the_last_bit(bootstrap, size, monkeypatch):
    monkeypatch.setattr(kernel_sets, "BLOCK", size)
    rng = np.random.default_rng(size)
    for trial in range(12):
        dev, test = make_scores(rng), make_scores(rng)
        if min(dev.n_users, test.n_users) < 2:
            continue
        plan, *sides = make_sides((dev, test), bootstrap)
        laid_out = [in_blocks(side, plan) for side in sides]
        assert all(side.edges[0] == 0 and side.edges[-1] == side.side.distinct[0] for side in laid_out)
        for number, (criterion, task) in enumerate(CRITERIA):
            fractions = ALPHAS[(trial + number) % len(ALPHAS)]
            kind = kernel_kind(get_criterion(criterion, task), fractions, len(dev))
            expected = counted(kernels.count_rechosen, plan, sides, kind)
            found = counted(blocks.count_rechosen_in_blocks, plan, laid_out, kind)
            np.testing.assert_array_equal(found[0], expected[0], err_msg=f"{criterion} {task} {fractions}")
            np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("bootstrap", ["sample", "rows"])
@pytest.mark.parametrize(("criterion", "task"), CRITERIA)
def test_thresholds_are_the_criterions_own_where_trials_are_drawn_late(bootstrap, criterion, task, monkeypatch):
    """Against the criterion in exact arithmetic, on the whole draw written out."""
    monkeypatch.setattr(kernel_sets, "BLOCK", 4)
    rng = np.random.default_rng(1)
    rule = get_criterion(criterion, task)
    for trial in range(8):
        dev, test = make_scores(rng), make_scores(rng)
        plan, of_dev, of_test = make_sides((dev, test), bootstrap)
        sides = in_blocks(of_dev, plan, late=True), in_blocks(of_test, plan)
        fractions = ALPHAS[trial % len(ALPHAS)]
        kind = kernel_kind(rule, fractions, len(dev))
        errors, _ = counted(blocks.count_rechosen_in_blocks, plan, sides, kind)
        for replicate in range(REPLICATES):
            drawn = late_weights(plan, sides[0], replicate)
            if not drawn.any(axis=1).all():  # rows may leave a class out; then nothing is compared
                continue
            on_test = kernels.weights_of(replicate, plan.seed, plan.inner, plan.design.trial_draws, of_test)
            resampled = Scores.from_arrays(*(np.repeat(of_dev.values[0], own) for own in drawn))
            thresholds = rule.choose(resampled, fractions).threshold
            values = of_test.values[0]
            np.testing.assert_array_equal(errors[replicate, 0, 0], on_test[0] @ (values[:, None] > thresholds))
            np.testing.assert_array_equal(errors[replicate, 0, 1], on_test[1] @ (values[:, None] <= thresholds))


def test_late_draws_are_multinomial():
    """Means, variances and covariances of 4,000 draws within and between blocks, heavy scores among them; the laws."""
    rng = np.random.default_rng(5)
    score = np.concatenate([np.repeat([-1.0, 0.25, 3.0], [60, 30, 200]), rng.normal(0, 1, 3000).round(2)])
    dev = Scores.from_arrays(score, rng.normal(1, 1, 40).round(1))
    plan, side, _ = make_sides((dev, dev), "sample")
    sides = in_blocks(side, plan, late=True)
    assert sides.draws[0].singles[-1] < score.size  # some are heavy
    drawn = np.array([late_weights(plan, sides, replicate) for replicate in range(4000)]).astype(float)
    for c, own in enumerate((dev.negative.score, dev.positive.score)):
        weights = drawn[:, c]
        trials = np.bincount(np.searchsorted(side.values[0], own), minlength=weights.shape[1])
        share = trials / own.size
        error = (weights.mean(axis=0) - trials)[trials > 0] / np.sqrt(trials / 4000)[trials > 0]
        assert stats.kstest(error, "norm").pvalue > 1e-3
        ratio = weights.var(axis=0)[trials > 0] / (own.size * share * (1 - share))[trials > 0]
        assert np.mean(ratio) == pytest.approx(1, abs=0.01)
        # Sums of stretches of any length have the binomial's variance too: that is where covariances are seen.
        for start, end in ((0, 9), (5, 60), (40, 200), (100, 330)):
            inside = trials[start:end].sum()
            expected = inside * (1 - inside / own.size)
            assert weights[:, start:end].sum(axis=1).var() == pytest.approx(expected, rel=0.1)
        single = int(np.flatnonzero(trials == trials[trials > 0].min())[0])
        table = np.bincount(weights[:, single].astype(int), minlength=7)[:7]
        law = stats.binom.pmf(np.arange(7), own.size, share[single])
        enough = law * 4000 >= 5
        observed = np.append(table[enough], 4000 - table[enough].sum())
        wanted = 4000 * np.append(law[enough], 1 - law[enough].sum())
        assert stats.chisquare(observed, wanted).pvalue > 1e-3


def test_more_poisson_numbers_than_trials_are_drawn_again():
    """Where fewer trials are drawn than Poisson numbers add up to, every trial is drawn by itself in the end."""
    rng = np.random.default_rng(0)
    dev = Scores.from_arrays(rng.normal(0, 1, 4000), rng.normal(1, 1, 4000))
    plan, side, _ = make_sides((dev, dev), "sample")
    draws = in_blocks(side, plan, late=True).draws[0]
    hits = np.empty(draws.row.size, np.int64)
    for trials in (0, 7, 1000, 4000, 9000):
        blocks._draw_hits(np.array([trials], np.uint64), draws, trials, hits)
        assert hits.sum() == trials
        assert (hits >= 0).all()
    many = np.zeros(draws.row.size)
    for start in range(200):
        blocks._draw_hits(np.array([start], np.uint64), draws, 1000, hits)
        many += hits
    assert stats.chisquare(many, 200_000 * np.diff(draws.singles) / 4000).pvalue > 1e-3


def test_most_blocks_are_ruled_out():
    rng = np.random.default_rng(2)
    dev = Scores.from_arrays(rng.normal(0, 1, 150_000), rng.normal(2, 1, 50_000))
    plan, side, _ = make_sides((dev, dev), "sample")
    sides = in_blocks(side, plan, late=True)
    number = sides.edges.size - 1
    hits, sums, totals = np.empty((2, number), np.int64), np.empty((2, number), np.int64), np.empty(2, np.int64)
    blocks._draw_sums(sides, 0, 0, plan.design.trial_draws, blocks._tables(sides)[1], hits, sums, totals)
    start, scratch = np.empty(number + 1, np.int64), np.empty((3, number + 1), np.int64)
    for criterion, most in (("wer", 0.35), ("eer", 0.01), ("target-far", 0.1), ("at-most-far", 0.2)):
        kind = kernel_kind(get_criterion(criterion, "authentication"), [Fraction(k, 100) for k in range(1, 100)], 10**6)
        chosen = np.empty(99, np.int64)
        choosing.choose(kind[0], *sums, 0, totals, *kind[1:], scratch, chosen)
        cells = blocks._keep_blocks(kind[0], sums, 0, totals, *kind[1:], chosen, sides.edges, start)
        assert number < cells < number + most * 200_000


@pytest.mark.parametrize("bootstrap", ["sample", "user", "joint"])
def test_a_run_in_blocks_depends_on_neither_threads_nor_alphas(bootstrap, monkeypatch):
    rng = np.random.default_rng(4)
    label = np.repeat([0, 1], [2000, 600])
    sets = [Scores.from_predictions(label, rng.normal(0, 1, 2600) + 2 * label, user=np.arange(2600) % 20) for _ in "dt"]
    options = {"bootstrap": bootstrap, "resample": "both", "n_resamples": 60}

    def values(alpha, **how):
        curve = priori.epc(*sets, alpha=alpha)
        plan = Resampling(**options).settle(curve.dev, curve.test)
        system = run.system_of(curve)
        return run.replicate([system], plan, lambda o, first: value_of(curve.measure, o[0], curve.alpha), **how)

    plain = values([0.2, 0.5, 0.9])
    monkeypatch.setattr(run, "SEVERAL_BLOCKS", 1)
    found = values([0.2, 0.5, 0.9], threads=1)
    if bootstrap == "sample":
        assert all(stats.ks_2samp(*pair).pvalue > 1e-3 for pair in zip(found.T, plain.T, strict=True))
    else:
        np.testing.assert_array_equal(found, plain)
    np.testing.assert_array_equal(values([0.2, 0.5, 0.9], threads=2, rows=7), found)
    np.testing.assert_array_equal(values([0.5])[:, 0], found[:, 1])


def test_only_one_plain_set_of_many_scores_is_laid_out_in_blocks():
    def side(**changed):
        urns = SimpleNamespace(size=np.array([70_000]), partner=np.array([-1]))
        plain = {"negative": urns, "positive": urns, "users": 0, "direct": True, "omega": np.zeros(2, int)}
        return SimpleNamespace(**{**plain, "future": np.zeros(3, int), "distinct": np.array([70_000]), **changed})

    assert run._pays_in_blocks((side(), side()))
    crossed = SimpleNamespace(size=np.array([70_000]), partner=np.array([2]))
    for changed in (
        {"distinct": np.array([60_000])}, {"direct": False}, {"omega": np.array([1, 2])},
        {"future": np.array([0, 5, 5])}, {"users": 50_000}, {"users": 1000, "positive": crossed},
    ):  # fmt: skip
        assert not run._pays_in_blocks((side(**changed), side()))
