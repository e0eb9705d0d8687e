"""Numbers that are a mean over the negatives plus one over the positives, up to a constant, and how they vary.

An AUC is one to first order (DeLong), a cost of log-likelihood ratios is one as it stands. Where users are known, their
trials come together: N. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53, 1997.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, OptionError, argument
from priori.base.types import Floats
from priori.scores import Scores, Trials
from priori.scores.pairing import Pairing, pair
from priori.uncertainty.cluster_variance import GroupSums, pair_codes


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """What each trial of either class adds to the mean of its class; ``numbers``, where entries are several trials."""

    negative: Floats
    positive: Floats
    numbers: tuple[NDArray[Any] | None, NDArray[Any] | None] = (None, None)

    def minus(self, other: ClassMeans, pairing: Pairing | None = None) -> ClassMeans:
        """Return the same of the difference of two numbers: of the same trials, in one order unless paired."""
        if pairing is None:
            return ClassMeans(self.negative - other.negative, self.positive - other.positive, self.numbers)
        return ClassMeans(
            self.negative[pairing.negative_a] - other.negative[pairing.negative_b],
            self.positive[pairing.positive_a] - other.positive[pairing.positive_b],
        )

    @property
    def sum(self) -> float:
        """The mean over the negatives plus the mean over the positives."""
        return sum(self.means)

    @property
    def means(self) -> tuple[float, float]:
        """The mean of each class."""
        classes = zip((self.negative, self.positive), self.numbers, strict=True)
        negative, positive = (float(np.average(values, weights=number)) for values, number in classes)
        return negative, positive

    @property
    def variance(self) -> float:
        """The variance where trials are independent: of each class's values, over its size, added."""
        variance = 0.0
        classes = zip((self.positive, self.negative), self.numbers[::-1], self.means[::-1], strict=True)
        for values, number, mean in classes:
            size = values.size if number is None else number.sum()
            squares = np.var(values, ddof=1) if number is None else number @ (values - mean) ** 2 / (size - 1)
            variance += float(squares / size)
        return variance


def numbers_of(scores: Scores) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return how many trials each entry of either class stands for (None: one)."""
    return scores.negative.number, scores.positive.number


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
        classes, numbers = (means.negative, means.positive), means.numbers
        sizes = [values.size for values in classes]
        trials = [size if each is None else int(each.sum()) for size, each in zip(sizes, numbers, strict=True)]
        off = [(values - mean) / n for values, mean, n in zip(classes, means.means, trials, strict=True)]
        if dependence == "none":
            every = None if numbers[0] is None or numbers[1] is None else np.concatenate([numbers[0], numbers[1]])
            freedom = _freedom(np.concatenate(off), sum(trials) - 1, every)
            return cls(float(np.sqrt(means.variance)), 0, freedom, min(trials))
        assert negative.user is not None
        assert positive.user is not None
        partner = negative.partner if dependence == "crossed" else None
        crossed = np.empty(0, np.intp) if partner is None else np.flatnonzero(partner >= 0)
        columns = [negative.user, positive.user, *([] if partner is None else [partner[crossed]])]
        names, codes = np.unique(np.concatenate(columns), return_inverse=True)
        people = int(names.size)
        claimed, own, probe = np.split(codes, np.cumsum(sizes))
        by_user = [
            GroupSums.of(part, group, people, each)
            for part, group, each in zip(off, (claimed, own), numbers, strict=True)
        ]
        used = [sums.used for sums in by_user]
        if min(used) < 2:
            raise InputError(
                "an interval that allows for users needs at least two of them with trials of each class; "
                "dependence='none' takes trials for independent"
            )
        variance = sum(u / (u - 1) * float(sums.squares) for u, sums in zip(used, by_user, strict=True))
        variance += 2 * people / (people - 1) * float(by_user[0].deviation @ by_user[1].deviation)
        each, pairs = by_user[0].deviation + by_user[1].deviation, min(*used, max(people // 2, 1))
        if crossed.size:
            part = off[0][crossed], None if numbers[0] is None else numbers[0][crossed]
            each = each + GroupSums.of(part[0], probe, people, part[1]).deviation
            # Trials of one pair of people are in two people's sums; they count once.
            twice = GroupSums.of(part[0], *pair_codes(claimed[crossed], probe, people), part[1]).squares
            variance = max(variance, people / (people - 1) * float(each @ each - twice))
            pairs = min(pairs, max(people // 3, 1))
        return cls(float(np.sqrt(max(variance, 0.0))), people, _freedom(each, people - 1), pairs)

    @classmethod
    def of_difference(
        cls, a: tuple[ClassMeans, Scores], b: tuple[ClassMeans, Scores], dependence: str
    ) -> ClassMeanSpread:
        """Measure the spread of the difference of two numbers on the same trials, which are paired."""
        (means, first), (other, second) = a, b
        if first.negative.number is not None:
            return cls._of_sums(a, b, dependence)
        pairing = pair(first, second)
        negative, positive = first.negative.take(pairing.negative_a), first.positive.take(pairing.positive_a)
        return cls.of(means.minus(other, pairing), negative, positive, dependence)

    @classmethod
    def _of_sums(cls, a: tuple[ClassMeans, Scores], b: tuple[ClassMeans, Scores], dependence: str) -> ClassMeanSpread:
        """Measure the same from entries of several trials: what people add to both, whichever trial it was.

        The second system's entries are added with their sign changed, and with the mean that makes deviations theirs.
        """
        if dependence == "none":
            raise OptionError(
                f"{a[1].source}: trials that are counted where they are can be paired by their users only; give a user "
                f"column, or more memory ({argument('memory')})"
            )
        names = a[1].users
        assert names is not None
        assert b[1].users is not None
        place = np.searchsorted(names.values, b[1].users.values)

        def both(of_class: int, own: str) -> tuple[Floats, Trials]:
            (left, first), (right, second) = ((each, getattr(scores, own)) for each, scores in (a, b))
            values = getattr(left, own) - left.means[of_class], right.means[of_class] - getattr(right, own)
            probes = None
            if first.probe_user is not None and second.probe_user is not None:
                probes = np.concatenate([first.probe_user, place[second.probe_user]])
            user, number = np.append(first.user, place[second.user]), np.append(first.number, second.number)
            # Twice, as there are twice as many trials.
            return 2 * np.concatenate(values), Trials(np.append(first.score, second.score), user, probes, number=number)

        (negative, negatives), (positive, positives) = both(0, "negative"), both(1, "positive")
        means = ClassMeans(negative, positive, (negatives.number, positives.number))
        return cls.of(means, negatives, positives, dependence)


def _freedom(deviations: Floats, most: int, number: NDArray[Any] | None = None) -> float:
    """Return Satterthwaite's degrees of freedom of a variance that is the sum of these squares."""
    fourth = float((deviations**4 * (1 if number is None else number)).sum())
    squares = float(deviations @ (deviations if number is None else deviations * number))
    return float(np.clip(2 * squares**2 / fourth, 1, most)) if fourth else float(most)
