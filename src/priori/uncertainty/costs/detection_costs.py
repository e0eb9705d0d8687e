"""Detection costs alpha FAR + (1 - alpha) FRR at thresholds by theory, and their minima, with intervals.

An interval joins those of the two rates, so that errors that were not seen count: one from what trials add has no width
for the class without an error, and covers as often as there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from priori.base.cautions import joined
from priori.base.types import Floats
from priori.decisions.criteria import get_criterion
from priori.decisions.likelihood_ratios import LLRMap, log_odds
from priori.scores import Scores, Trials
from priori.scores.influence import People, correlation_of_means
from priori.uncertainty.rates.class_means import ClassMeans, numbers_of
from priori.uncertainty.rates.rate_intervals import (
    Dependence,
    Rate,
    around,
    both_classes,
    joint_interval,
    rate_interval,
    shared_by,
)

#: Parts of the test set that are held out, and how far from the minimum to the cost of these the truth lies. Set by
#: simulation too: 0.5 to 1 for normal scores two and four deviations apart and classes of 100 to 2000 trials.
FOLDS, HELD_OUT_SHARE = 10, 2 / 3
RATES: tuple[Rate, Rate] = ("far", "frr")


@dataclass(frozen=True, eq=False)
class DetectionCost:
    """alpha FAR + (1 - alpha) FRR of a set at two thresholds: that of theory, and the best one on the set itself."""

    test: Scores
    alpha: Any
    thresholds: tuple[float, float]

    @classmethod
    def of(cls, fitted: LLRMap, test: Scores, alpha: Any) -> DetectionCost:
        """Find the thresholds."""
        both = fitted.thresholds(log_odds([alpha])), get_criterion("wer").choose(test, [alpha]).threshold
        return cls(test, alpha, (float(both[0][0]), float(both[1][0])))

    @property
    def classes(self) -> tuple[Trials, Trials]:
        """The trials of both classes."""
        return self.test.negative, self.test.positive

    @property
    def weights(self) -> tuple[float, float]:
        """What the rate of each class counts."""
        return float(self.alpha), float(1 - self.alpha)

    @cached_property
    def means(self) -> tuple[ClassMeans, ClassMeans, ClassMeans]:
        """What trials add to the cost, to its minimum and to the loss."""
        (negative, positive), (of_far, of_frr) = self.classes, self.weights
        actual, minimum = (
            ClassMeans(
                np.where(negative.score > threshold, of_far, 0.0),
                np.where(positive.score <= threshold, of_frr, 0.0),
                numbers_of(self.test),
            )
            for threshold in self.thresholds
        )
        return actual, minimum, actual.minus(minimum)

    @cached_property
    def expected_rates(self) -> Floats:
        """FAR and FRR at the best threshold, without what choosing it on the same trials takes off the cost.

        A share of the distance to the rates with each part of the test set, by users where they are known, judged at
        the threshold of the rest: the one cost is too low, the other too high.
        """
        rng, wer, test = np.random.default_rng(0), get_criterion("wer"), self.test
        people = rng.permutation(len(test.users)) if test.has_users and test.users is not None else None
        classes, weights = self.classes, np.array(self.weights)
        folds = [
            (rng.permutation(each.score.size) if people is None else people[each.user]) % FOLDS for each in classes
        ]
        wrong = np.zeros(2)
        for fold in range(FOLDS):
            rest = [trials.take(np.flatnonzero(own != fold)) for trials, own in zip(classes, folds, strict=True)]
            threshold = np.inf if weights[0] >= 0.5 else -np.inf
            if min(map(len, rest)):
                (threshold,) = wer.choose(Scores(rest[0], rest[1]), [self.alpha]).threshold
            negative, positive = (trials.take(own == fold) for trials, own in zip(classes, folds, strict=True))
            wrong += len(negative) - int(negative.rejected(threshold)), int(positive.rejected(threshold))
        held_out = wrong / [test.n_negatives, test.n_positives]
        best = np.divide(self.means[1].means, weights, out=np.zeros(2), where=weights > 0)
        return np.asarray(best + HELD_OUT_SHARE * (held_out - best) if weights @ (held_out - best) > 0 else best)

    @property
    def taken_off(self) -> float:
        """What choosing the best threshold on the same trials takes off the cost."""
        return float(np.dot(self.weights, self.expected_rates)) - self.means[1].sum

    def limits(self, dependence: Dependence | None, level: float) -> tuple[list[tuple[float, float]], tuple[str, ...]]:
        """Return the intervals of the cost and of its minimum, and what is to be said about them."""
        found, said, shared = [], [], shared_by(self.test, dependence)
        for threshold, means, rates in zip(self.thresholds, self.means, (None, self.expected_rates), strict=False):
            known = [
                rate_interval(self.test, threshold, rate=rate, dependence=dependence, confidence_level=level)
                for rate in RATES
            ]
            if rates is not None:
                known = [around(each, float(rate)) for each, rate in zip(known, rates, strict=True)]
            rho = _class_correlation(means, self.test, shared)
            _, lower, upper = joint_interval(known, self.weights, below=rho, above=rho)
            found.append((lower, upper))
            said += [each.warnings for each in known]
        return found, joined(*said)


def _class_correlation(means: ClassMeans, test: Scores, shared: str) -> float:
    """Return the correlation of the two rates, which comes from users with trials of both classes."""
    if shared == "none":
        return 0.0
    values = means.negative, means.positive
    number = [np.ones(own.size) if each is None else each for own, each in zip(values, means.numbers, strict=True)]
    off = np.concatenate([k * (own - mean) for k, own, mean in zip(number, values, means.means, strict=True)])
    (people,) = People.of(both_classes(test), crossed=shared == "crossed")
    return float(correlation_of_means(off, np.repeat([0, 1], [each.size for each in number]), people).toarray()[0, 1])
