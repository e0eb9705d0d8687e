"""Single numbers: intervals of one rate, of the HTER, of the AUC, and of averages over data sets."""

from __future__ import annotations

import numpy as np
from populations import Population, seeds
from scipy.special import ndtr, ndtri
from scipy.stats import binom
from simulation import generator
from tallies import Row, Tally

import priori
from priori import Scores

#: Populations for one FAR at a threshold that everybody knows: title, the population, the rate.
SINGLE = (
    (Population("62 users of 20 trials, independent", 62, effect=0.0), 0.02),
    (Population("62 users of 20 trials, weak effect", 62, effect=0.3), 0.02),
    (Population("62 users of 20 trials, medium effect", 62), 0.02),
    (Population("62 users of 20 trials, strong effect", 62, effect=0.8), 0.02),
    (Population("62 users of 20 trials, medium effect", 62), 0.1),
    (Population("62 users of 20 trials, medium effect", 62), 0.002),
    (Population("10 users of 20 trials, medium effect", 10), 0.1),
    (Population("31 users of 96 trials, medium effect", 31, impostor=96), 0.02),
    (Population("500 users of 5 trials, medium effect", 500, impostor=5), 0.02),
)
CROSSED = (
    (Population("40 people of 39 trials, independent", 40, 2, 39, 0.0, probe=0.0), 0.02),
    (Population("40 people of 39 trials, weak effects", 40, 2, 39, 0.3, probe=0.3), 0.02),
    (Population("40 people of 39 trials, medium effects", 40, 2, 39, 0.5, probe=0.5), 0.02),
    (Population("40 people of 200 trials, weak effects", 40, 2, 200, 0.3, probe=0.3), 0.02),
    (Population("100 people of 99 trials, weak effects", 100, 2, 99, 0.3, probe=0.3), 0.02),
)
PROMISE = "whole population"
#: Intervals of an AUC: their name, what trials are taken to share, the scale.
AUC_INTERVALS = (
    ("DeLong, normal", "none", "normal"),
    ("DeLong, logit", "none", "logit"),
    ("Obuchowski, normal", "user", "normal"),
    ("Obuchowski, logit", "user", "logit"),
)
#: Data sets of an average: how many, the trials of each class of each, and how they count.
AVERAGED = (
    ("5 sets of 200 + 200 trials", (200,) * 5, None),
    ("10 sets of 200 + 200 trials", (200,) * 10, None),
    ("30 sets of 200 + 200 trials", (200,) * 30, None),
    ("5 sets of 20 to 2000 trials of each class, by size", (20, 63, 200, 632, 2000), "size"),
    ("15 sets of 20 to 2000 trials of each class, by size", (20, 63, 200, 632, 2000) * 3, "size"),
)


#: Populations on which a limit is to be kept.
LIMITED = (
    Population("62 users of 20 trials, independent", 62, effect=0.0),
    Population("62 users of 20 trials, medium effect", 62),
    Population("62 users of 20 trials, strong effect", 62, effect=0.8),
    Population("20 users of 20 trials, medium effect", 20),
    Population("31 users of 96 trials, medium effect", 31, impostor=96),
    Population("500 users of 5 trials, medium effect", 500, impostor=5),
)
LIMIT_PART, KEEPS, EMPTY = "limits", "the population's rate keeps the limit", "the threshold is infinite"


def _at(threshold: float) -> Scores:
    """Return a development set from which exactly this threshold is chosen."""
    return Scores.from_arrays([threshold - 1], [threshold + 1])


def binomial_rates() -> list[Row]:
    """Exactly, from the binomial distribution: trials that are independent."""
    rows = []
    for rate, trials in ((0.005, 400), (0.02, 400), (0.1, 400), (0.02, 4000)):
        errors = np.arange(trials + 1)
        weight = binom.pmf(errors, trials, rate)
        for method in ("normal", "wilson", "exact"):
            found = priori.proportion_interval(errors, trials, method=method)
            share = float(weight[(found.lower <= rate) & (rate <= found.upper)].sum())
            rows.append(
                Row(
                    "one rate, exactly",
                    f"{trials} independent trials, rate {rate:.1%}",
                    method,
                    PROMISE,
                    0.95,
                    share,
                    0.0,
                    float(weight @ found.width),
                    0,
                )
            )
    return rows


def single_rates(repeats: int, step=lambda: None) -> list[Row]:
    """One rate and the HTER at known thresholds, trials that come in users."""
    rows: list[Row] = []
    for population, rate in SINGLE:
        tally = Tally("one rate", f"{population.title}, FAR {rate:.1%}")
        threshold = float(-ndtri(rate))
        truth = float(population.value(threshold))
        for repeat in range(repeats):
            scores = population.draw(repeat, 10)
            found = priori.rate_interval(scores, threshold)
            tally.cover(("adjusted-wilson", PROMISE), found.lower, found.upper, rate)
            for method in ("normal", "wilson", "exact"):
                apart = priori.proportion_interval(found.errors, found.trials, method=method)
                tally.cover((method, PROMISE), float(apart.lower), float(apart.upper), rate)
            hter = priori.ztest_scores(scores, threshold).a.hter
            tally.cover(("z-test's HTER (3.30)", PROMISE), hter.lower, hter.upper, truth)
            step()
        rows += tally.rows()
    return rows


def limits(repeats: int, step=lambda: None) -> list[Row]:
    """How often the rate of the population keeps the limit of at-most-far and of at-most-frr."""
    rows: list[Row] = []
    for population in LIMITED:
        tally = Tally(LIMIT_PART, population.title)
        for repeat in range(repeats):
            scores = population.draw(repeat, 15)
            alone = Scores.from_arrays(scores.negative.score, scores.positive.score)
            for limit in (0.01, 0.05):
                for name, criterion, sample in (
                    ("at-most-far", "at-most-far", scores),
                    ("at-most-far:0.95, trials", "at-most-far:0.95", alone),
                    ("at-most-far:0.95, users", "at-most-far:0.95", scores),
                    ("at-most-frr:0.95, users", "at-most-frr:0.95", scores),
                ):
                    threshold = priori.choose_threshold(sample, criterion=criterion, alpha=limit)
                    far, frr = float(ndtr(-threshold)), float(ndtr(threshold - population.separation))
                    rate = far if "far" in name else frr
                    tally.cover((f"{name}, {100 * limit:g} %", KEEPS), 0.0, limit, rate)
                    # Kept only because everything is rejected, or accepted: a promise without a use.
                    tally.cover((f"{name}, {100 * limit:g} %", EMPTY), 0.0, 0.0, float(np.isfinite(threshold)))
            step()
        rows += tally.rows()
    return rows


def crossed_rates(repeats: int, replicates: int, step=lambda: None) -> list[Row]:
    """The FAR where every trial has two people in it: bootstraps and Wilson's intervals side by side."""
    rows: list[Row] = []
    for population, rate in CROSSED:
        tally = Tally("one rate, crossed", f"{population.title}, FAR {rate:.1%}")
        threshold = float(-ndtri(rate))
        for repeat in range(repeats):
            scores = population.draw(repeat, 11)
            curve = priori.epc(_at(threshold), scores, alpha=["0.5"], measure="far")
            for bootstrap, interval in (
                ("sample", "percentile"),
                ("user", "percentile"),
                ("joint", "percentile"),
                ("crossed", "percentile"),
                ("user", "calibrated"),
                ("crossed", "calibrated"),
            ):
                band = curve.band(
                    bootstrap=bootstrap, interval=interval, n_resamples=replicates, rng=seeds(repeat, 12), threads=1
                )
                tally.cover((f"{bootstrap}, {interval}", PROMISE), band.lower, band.upper, rate)
            for dependence in ("none", "user", "crossed"):
                found = priori.rate_interval(scores, threshold, dependence=dependence)
                name = "wilson" if dependence == "none" else f"adjusted-wilson, {dependence}"
                tally.cover((name, PROMISE), found.lower, found.upper, rate)
            step()
        rows += tally.rows()
    return rows


def areas(repeats: int, step=lambda: None) -> list[Row]:
    """DeLong's intervals of the AUC."""
    rows: list[Row] = []
    for population in (
        Population("100 + 50 independent trials, AUC 0.80", 50, 1, 2, 0.0, 1.19),
        Population("100 + 50 independent trials, AUC 0.98", 50, 1, 2, 0.0, 2.9),
        Population("100 + 50 independent trials, AUC 0.998", 50, 1, 2, 0.0, 4.07),
        Population("1000 + 100 independent trials, AUC 0.998", 100, 1, 10, 0.0, 4.07),
        Population("62 users, 9 + 20 trials, medium effect, AUC 0.96", 62),
        Population("62 users, 9 + 20 trials, strong effect, AUC 0.96", 62, effect=0.8),
        Population("20 users, 9 + 20 trials, medium effect, AUC 0.96", 20),
        Population("62 users, 9 + 96 trials, medium effect, AUC 0.998", 62, 9, 96, separation=4.07),
    ):
        tally = Tally("AUC, a posteriori", population.title)
        truth = float(ndtr(population.separation / np.sqrt(2)))
        for repeat in range(repeats):
            scores = population.draw(repeat, 13)
            for name, dependence, method in AUC_INTERVALS:
                found = priori.a_posteriori_auc_interval(scores, method=method, dependence=dependence)
                tally.cover((name, PROMISE), found.lower, found.upper, truth)
            step()
        rows += tally.rows()
    return rows


def averages(repeats: int, step=lambda: None) -> list[Row]:
    """Averages over data sets whose quality differs: the mean AUC, and the vertical average's TPR at FPR 0.2."""
    rows: list[Row] = []
    mean, spread = 1.5, 0.4
    truth = {
        "AUC": float(ndtr(mean / np.sqrt(2 + spread**2))),
        "TPR": float(ndtr((mean + ndtri(0.2)) / np.sqrt(1 + spread**2))),
    }
    for title, sizes, weights in AVERAGED:
        tally = Tally("average of data sets", title)
        for repeat in range(repeats):
            rng = generator((repeat, 14, len(sizes)))
            qualities = rng.normal(mean, spread, len(sizes))
            parts = [
                Scores.from_arrays(rng.normal(0, 1, size), rng.normal(quality, 1, size))
                for size, quality in zip(sizes, qualities, strict=True)
            ]
            for interval in ("t", "normal"):
                found = priori.average(parts, positions=[0.2], weights=weights, interval=interval)
                limits = {"TPR": (found.tpr_lower[0], found.tpr_upper[0]), "AUC": (found.auc.lower, found.auc.upper)}
                for name, (lower, upper) in limits.items():
                    tally.cover((f"{interval}, {name}", PROMISE), lower, upper, truth[name])
            step()
        rows += tally.rows()
    return rows
