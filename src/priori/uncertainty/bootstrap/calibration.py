"""Calibration: what replicates lack of the promise, measured on the test set itself and put right.

A bootstrap from few users is too narrow, one with two identities per trial too wide, and one that saw no error
knows of none. Three corrections, each measured by simulation (see the documentation):

* *tails*: quantiles as far out as Student's t has them for that many users (Hesterberg 2015);
* *half an error*: each class gets a pseudo-trial that is always an error and one that never is, with random
  weights of mean 1/2 (Jeffreys' prior), each as heavy as the trials of one independent decision;
* *scale*: the deviations of each class's error rate are multiplied where the bootstrap's variance is known to
  differ from the one promised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from priori.base.types import Floats
from priori.decisions.measures import divide
from priori.decisions.outcomes import Outcomes, count
from priori.scores import Scores
from priori.uncertainty.bootstrap.clusters import clusters_of
from priori.uncertainty.bootstrap.counters import uniforms
from priori.uncertainty.bootstrap.plans import Plan, identities_in_use
from priori.uncertainty.clustered import Clusters

__all__ = ["Calibration", "calibrate", "half_missed"]


#: The purpose of the pseudo-trials' stream; those of the kernels are lower.
PSEUDO_TRIALS = 1_000_003


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

    def adjust(self, outcomes: Outcomes, plan: Plan, first: int) -> Outcomes:
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


def half_missed(tpr: Floats, positives: int, weight: Floats, plan: Plan, first: int) -> Floats:
    """Return the true positive rates of replicates with the pseudo-trials of their class: no miss is no certainty."""
    wrong, right = _half_trials(plan, first, len(tpr), (0.0, 0.0))[:, 2:, None].swapaxes(0, 1) * weight
    return np.asarray((tpr * positives + right) / (positives + wrong + right))


def _half_trials(plan: Plan, first: int, rows: int, growth: tuple[float, float]) -> Floats:
    """Return the weights of the pseudo-trials: wrong and right negatives, wrong and right positives.

    Gamma(1/2) variables, half the squares of normal ones; in a future set, that many times as often again.
    """
    from scipy.special import ndtri, pdtrik

    draws = uniforms(plan.seed, PSEUDO_TRIALS + plan.streams, first, rows, 8)
    weights = ndtri(draws[:, :4]) ** 2 / 2
    for c, times in enumerate(growth):
        if times:
            columns = slice(2 * c, 2 * c + 2)
            expected = np.maximum(weights[:, columns] * times, 1e-12)
            drawn = np.ceil(np.maximum(pdtrik(draws[:, 4:][:, columns], expected), 0.0))
            weights[:, columns] = np.where(draws[:, 4:][:, columns] <= np.exp(-expected), 0.0, drawn)
    return np.asarray(weights)


def calibrate(
    test: Scores, thresholds: Floats, plan: Plan, *, other: tuple[Scores, Floats] | None = None
) -> Calibration:
    """Measure what the replicates of a plan need at these thresholds of the test set.

    With ``other``, the same trials scored by another system at its own thresholds: what their difference needs,
    in which pseudo-trials cancel out. The cost grows with the trials only where they have users.
    """
    at = count(test, thresholds)
    rate = np.stack([at.fp / len(test.negative), at.fn / len(test.positive)])
    ones = np.ones_like(rate)
    if plan.bootstrap == "sample":
        return Calibration(rate, ones, ones if other is None else 0 * ones, 0, plan.growth)
    if plan.bootstrap == "user" and other is not None:
        return Calibration(rate, ones, 0 * ones, identities_in_use(test))
    clusters = clusters_of(test, thresholds, plan, other=other)
    scale = ones
    if plan.bootstrap == "crossed":
        scale = _crossed_scale(clusters, plan.future[0] / clusters.count if plan.future[0] else 0.0)
    elif plan.future[0]:
        scale = _future_scale(clusters, plan)
    weight = clusters.effect if other is None else 0 * ones
    # What is drawn grows with the future users; that each has other trials is the scale's affair.
    growth = (plan.growth[0] / plan.per_user[0], plan.growth[1] / plan.per_user[1])
    return Calibration(rate, scale, weight, clusters.count if plan.draws_users else 0, growth)


def _crossed_scale(clusters: Clusters, growth: float) -> Floats:
    """Return the factor for identities drawn once and trials weighted by both: their pairs' spread counts thrice.

    By whole numbers of draws c_i of mean and variance 1, trials that share one identity have the covariance of
    their errors times 1, those that share both times 3; it should be 1 both times (Owen 2007). For a future set
    ``growth`` times as large, drawn from the draw, the factors are 1 + 1/growth and its square less 1; they
    should be 1 + 1/growth and 1 + 1/growth^2.
    """
    inverse = 1 / growth if growth else 0.0
    one = 1 + inverse
    shared = np.maximum(clusters.by_identity - 2 * clusters.by_pair, 0.0)
    wanted = one * shared + (1 + inverse**2) * clusters.by_pair
    drawn = one * shared + ((1 + one) ** 2 - 1) * clusters.by_pair
    # Never below what independent trials, or the claimed identities alone, would have.
    wanted = np.maximum(wanted, one * clusters.floor)
    # Two people in a trial: more of the variance is lost to the mean than the share that the tails allow for.
    wanted = wanted * (1 - 1 / clusters.count) / (1 - clusters.lost)
    return np.sqrt(np.divide(wanted, drawn, out=np.ones_like(drawn), where=drawn > 0))


def _future_scale(clusters: Clusters, plan: Plan) -> Floats:
    """Return the factor for a future set whose users have another number of trials than now.

    The user bootstrap gives a future user as many trials as now. With another number the spread within users
    shrinks or grows, that between users stays.
    """
    share = clusters.count / plan.future[0]
    before = clusters.variance * (1 + share)
    within = clusters.within * share * (1 / np.array(plan.per_user)[:, None] - 1)
    after = np.maximum(before + within, clusters.variance)
    return np.sqrt(np.divide(after, before, out=np.ones_like(before), where=before > 0))
