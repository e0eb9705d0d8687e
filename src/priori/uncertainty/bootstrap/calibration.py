"""Calibration: what replicates lack of the stated coverage, measured on the test set itself and put right.

A bootstrap from few users is too narrow, one with two identities per trial too wide, and one that saw no error
knows of none. Each bootstrap says which of three corrections it needs (`designs`), all measured by simulation (see the
documentation):

* *tails*: quantiles as far out as Student's t has them for that many users (Hesterberg 2015);
* *half an error*: each class gets a pseudo-trial that is always an error and one that never is, with random
  weights of mean 1/2 (Jeffreys' prior), each as heavy as the trials of one independent decision;
* *scale*: the deviations of each class's error rate are multiplied where the bootstrap's variance is known to
  differ from the one stated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from priori.base.types import Floats
from priori.decisions.measures import divide
from priori.decisions.outcomes import Outcomes, count
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.plans import BootstrapPlan
from priori.uncertainty.cluster_variance import Clusters, Errors, measure_clusters

#: The purpose of the pseudo-trials' stream; those of the kernels are lower.
PSEUDO_TRIALS = 1_000_003

#: The scores of another system on the same trials and its thresholds, where two are compared.
Other = tuple[ScoreSet, Floats] | None


@dataclass(frozen=True)
class Calibration:
    """What is done to replicates; rows of the arrays are the classes, columns the thresholds.

    ``rate`` are the error rates observed, around which deviations are multiplied by ``scale``; ``weight`` is
    how many trials make one independent decision (0: no pseudo-trials); ``clusters`` how many users the tails
    are to allow for (0: any number); ``growth`` how many times as many trials replicates of a future set have,
    class by class (0: no such set).
    """

    rate: Floats
    scale: Floats
    weight: Floats
    clusters: int
    growth: tuple[float, float] = (0.0, 0.0)

    def reach(self, deviations: float) -> float:
        """Return how many standard deviations of few users' replicates are worth so many of a known one."""
        if self.clusters < 2:
            return deviations
        from scipy.special import log_ndtr, stdtrit

        tail = np.exp(log_ndtr(-deviations))
        return float(-np.sqrt(self.clusters / (self.clusters - 1)) * stdtrit(self.clusters - 1, tail))

    def level(self, level: float) -> float:
        """Return the level of the percentile interval whose coverage is ``level``."""
        from scipy.special import ndtr, ndtri

        return float(1 - 2 * ndtr(-self.reach(float(ndtri((1 + level) / 2)))))

    def known(self, deviations: Floats) -> Floats:
        """Return how many standard deviations of a known spread few users' are worth: the inverse of `reach`."""
        if self.clusters < 2:
            return deviations
        from scipy.special import ndtri_exp, stdtr

        tail = stdtr(self.clusters - 1, -deviations / np.sqrt(self.clusters / (self.clusters - 1)))
        return np.asarray(-ndtri_exp(np.log(np.maximum(tail, 1e-300))))

    def tail(self, p_value: Floats) -> Floats:
        """Return the one-sided p-value that belongs to a percentile one, as `level` does for intervals."""
        if self.clusters < 2:
            return p_value
        from scipy.special import ndtri, stdtr

        return np.asarray(stdtr(self.clusters - 1, ndtri(p_value) / np.sqrt(self.clusters / (self.clusters - 1))))

    def adjust(self, outcomes: Outcomes, plan: BootstrapPlan, first: int) -> Outcomes:
        """Return the outcomes of replicates ``first``, ``first + 1``, ..., scaled and with their pseudo-trials."""
        if not self.weight.any() and (self.scale == 1).all():
            return outcomes
        draws = _half_trials(plan, first, len(outcomes.fp), self.growth)
        pairs = []
        for c, (errors, rights) in enumerate(((outcomes.fp, outcomes.tn), (outcomes.fn, outcomes.tp))):
            total = errors + rights
            wrong = np.asarray(errors, dtype=np.float64)
            if (self.scale[c] != 1).any():
                rate = self.rate[c] + self.scale[c] * (divide(errors, total, 1.0) - self.rate[c])
                wrong = np.clip(rate, 0.0, 1.0) * total
            wrong = wrong + draws[:, 2 * c, None] * self.weight[c]
            pairs.append((wrong, total - wrong + draws[:, 2 * c : 2 * c + 2].sum(axis=1)[:, None] * self.weight[c]))
        (fp, tn), (fn, tp) = pairs
        # Weights are no whole numbers; measures divide once, as always.
        return Outcomes(tp=tp, fp=fp, tn=tn, fn=fn)


def half_missed(tpr: Floats, positives: int, weight: Floats, plan: BootstrapPlan, first: int) -> Floats:
    """Return the true positive rates of replicates with the pseudo-trials of their class: no miss is no certainty."""
    wrong, right = _half_trials(plan, first, len(tpr), (0.0, 0.0))[:, 2:, None].swapaxes(0, 1) * weight
    return np.asarray((tpr * positives + right) / (positives + wrong + right))


def _half_trials(plan: BootstrapPlan, first: int, rows: int, growth: tuple[float, float]) -> Floats:
    """Return the weights of the pseudo-trials: wrong and right negatives, wrong and right positives.

    Gamma(1/2) variables, half the squares of normal ones; in a future set, that many times as often again.
    """
    from scipy.special import ndtri, pdtrik

    from priori.uncertainty.bootstrap.streams import uniforms

    draws = np.empty((rows, 8))
    uniforms(plan.seed, PSEUDO_TRIALS + plan.streams, first, draws)
    weights = ndtri(draws[:, :4]) ** 2 / 2
    for c, times in enumerate(growth):
        if times:
            columns = slice(2 * c, 2 * c + 2)
            expected = np.maximum(weights[:, columns] * times, 1e-12)
            uniform = draws[:, 4:][:, columns]
            poisson = np.ceil(np.maximum(pdtrik(uniform, expected), 0.0))
            weights[:, columns] = np.where(uniform <= np.exp(-expected), 0.0, poisson)
    return np.asarray(weights)


def error_rates(test: ScoreSet, thresholds: Floats) -> Floats:
    """Return the error rates of the classes (rows) at thresholds (columns)."""
    outcomes = count(test, thresholds)
    return np.stack([outcomes.fp / test.n_negatives, outcomes.fn / test.n_positives])


def from_clusters(rate: Floats, scale: Floats, clusters: Clusters, plan: BootstrapPlan, *, paired: bool) -> Calibration:
    """Return the calibration of drawn users; in the difference of paired systems pseudo-trials cancel out."""
    weight = np.zeros_like(rate) if paired else clusters.effect
    # What is drawn grows with the future users; that each has other trials is the scale's affair.
    growth = (plan.growth[0] / plan.per_user[0], plan.growth[1] / plan.per_user[1])
    return Calibration(rate, scale, weight, clusters.count, growth)


def clusters_of(test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Clusters:
    """Measure how errors, or differences of errors between two systems, come together at each threshold."""
    cuts = [thresholds] if other is None else [thresholds, other[1]]
    others = [] if other is None else [other[0]]
    sets = test.between([np.unique(cut) for cut in cuts], others, by_user=plan.design.by_user)
    ranks = [np.argsort(np.argsort(cut, kind="stable"), kind="stable") for cut in cuts]
    identities = plan.design.identities(sets[:1])[0] if plan.design.by_user else None
    people = 0 if identities is None else identities.count
    rows = []
    for name in ("negative", "positive"):
        trials = [getattr(scores, name) for scores in sets]
        gaps = [np.searchsorted(np.sort(c), t.score, side="left") for t, c in zip(trials, cuts, strict=True)]
        errors = Errors(gaps, ranks, name == "negative", trials[0].number)
        users = None if identities is None else getattr(identities, name)
        partner = identities.negative_partner if identities is not None and name == "negative" else None
        rows.append(measure_clusters(errors, users, partner, people))
    return Clusters(**{key: np.stack([row[key] for row in rows]) for key in rows[0]}, count=people)
