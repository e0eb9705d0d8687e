"""Numbers that are a mean over the negatives plus one over the positives, up to a constant, and how they vary.

An AUC is one to first order (DeLong), a cost of log-likelihood ratios is one as it stands. Where users are known, their
trials come together: N. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53, 1997.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from priori.base.errors import InputError
from priori.base.types import Floats
from priori.scores import Scores, Trials
from priori.scores.pairing import Pairing, pair
from priori.uncertainty.cluster_variance import GroupSums, pair_codes


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """What each trial of either class adds to the mean of its class."""

    negative: Floats
    positive: Floats

    def minus(self, other: ClassMeans, pairing: Pairing | None = None) -> ClassMeans:
        """Return the same of the difference of two numbers: of the same trials, in one order unless paired."""
        if pairing is None:
            return ClassMeans(self.negative - other.negative, self.positive - other.positive)
        return ClassMeans(
            self.negative[pairing.negative_a] - other.negative[pairing.negative_b],
            self.positive[pairing.positive_a] - other.positive[pairing.positive_b],
        )

    @property
    def sum(self) -> float:
        """The mean over the negatives plus the mean over the positives."""
        return float(self.negative.mean() + self.positive.mean())

    @property
    def variance(self) -> float:
        """The variance where trials are independent: of each class's values, over its size, added."""
        positive, negative = (np.var(values, ddof=1) / values.size for values in (self.positive, self.negative))
        return float(positive + negative)


@dataclass(frozen=True)
class ClassMeanSpread:
    """How such a number, or a difference of two, varies: its deviation, what that rests on and how sure it is.

    ``people`` is 0 where trials are taken for independent; ``pairs`` is how many pairs of a negative and a positive
    share nobody; ``freedom`` are Satterthwaite's degrees of freedom: few, where few people make most of the spread.
    """

    sd: float
    people: int
    freedom: float
    pairs: int

    @classmethod
    def of(cls, means: ClassMeans, negative: Trials, positive: Trials, dependence: str) -> ClassMeanSpread:
        """Measure the spread; the trials are in the order of their values."""
        if not np.isfinite(means.sum):
            return cls(np.inf, 0, 1.0, 1)
        classes = means.negative, means.positive
        sizes = [values.size for values in classes]
        off = [(values - values.mean()) / values.size for values in classes]
        if dependence == "none":
            each = np.concatenate(off)
            return cls(float(np.sqrt(means.variance)), 0, _freedom(each, len(each) - 1), min(sizes))
        columns = [negative.user, positive.user, negative.probe_user if dependence == "crossed" else None]
        given = [column for column in columns if column is not None]
        names, codes = np.unique(np.concatenate(given), return_inverse=True)
        people = int(names.size)
        claimed, own, *probe = np.split(codes, np.cumsum(sizes)[: len(given) - 1])
        by_user = [GroupSums.of(part, group, people) for part, group in zip(off, (claimed, own), strict=True)]
        used = [sums.used for sums in by_user]
        if min(used) < 2:
            raise InputError(
                "an interval that allows for users needs at least two of them with trials of each class; "
                "dependence='none' takes trials for independent"
            )
        variance = sum(u / (u - 1) * float(sums.squares) for u, sums in zip(used, by_user, strict=True))
        variance += 2 * people / (people - 1) * float(by_user[0].deviation @ by_user[1].deviation)
        each, pairs = by_user[0].deviation + by_user[1].deviation, min(*used, max(people // 2, 1))
        if probe:
            each = each + GroupSums.of(off[0], probe[0], people).deviation
            # Trials of one pair of people are in two people's sums; they count once.
            twice = GroupSums.of(off[0], *pair_codes(claimed, probe[0], people)).squares
            variance = max(variance, people / (people - 1) * float(each @ each - twice))
            pairs = min(pairs, max(people // 3, 1))
        return cls(float(np.sqrt(max(variance, 0.0))), people, _freedom(each, people - 1), pairs)

    @classmethod
    def of_difference(
        cls, a: tuple[ClassMeans, Scores], b: tuple[ClassMeans, Scores], dependence: str
    ) -> ClassMeanSpread:
        """Measure the spread of the difference of two numbers on the same trials, which are paired."""
        (means, first), (other, second) = a, b
        pairing = pair(first, second)
        negative, positive = first.negative.take(pairing.negative_a), first.positive.take(pairing.positive_a)
        return cls.of(means.minus(other, pairing), negative, positive, dependence)


def _freedom(deviations: Floats, most: int) -> float:
    """Return Satterthwaite's degrees of freedom of a variance that is the sum of these squares."""
    fourth = float((deviations**4).sum())
    return float(np.clip(2 * float(deviations @ deviations) ** 2 / fourth, 1, most)) if fourth else float(most)
