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
from priori.scores.influence import Moves, People, SampleMean, Spread, spread_of_means, spread_of_trials
from priori.scores.pairing import Pairing, pair


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
            self.negative - other.negative[pairing.negative], self.positive - other.positive[pairing.positive]
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


def numbers_of(scores: Scores) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return how many trials each entry of either class stands for (None: one)."""
    return scores.negative.number, scores.positive.number


def spread_of(means: ClassMeans, negative: Trials, positive: Trials, dependence: str, *, right: bool = False) -> Spread:
    """Return the spread of such a number; the trials are in the order of their values: losses, or what is ``right``."""
    if not np.isfinite(means.sum):
        return Spread(means.sum, np.inf, 1.0, 1.0, 0)
    values = Moves.of(means.negative), Moves.of(means.positive)
    if dependence == "none":
        return spread_of_trials(*zip(values, means.numbers, strict=True)).at(0)
    people = People.of(negative, positive, crossed=dependence == "crossed")
    if min(np.count_nonzero(each.sizes[0]) for each in people) < 2:
        raise InputError(
            "an interval that allows for users needs at least two of them with trials of each class; "
            "dependence='none' treats trials as independent"
        )
    samples = [SampleMean(*each) for each in zip(values, people, strict=True)]
    return spread_of_means(*samples).of_losses(*samples, right=right).at(0)


def spread_of_difference(a: tuple[ClassMeans, Scores], b: tuple[ClassMeans, Scores], dependence: str) -> Spread:
    """Return the spread of the difference of two numbers on the same trials, which are paired.

    Entries of several trials are not: what people add to both counts, whichever trial it was.
    """
    (means, first), (other, second) = a, b
    if first.negative.number is None:
        return spread_of(means.minus(other, pair(first, second)), first.negative, first.positive, dependence)
    if dependence == "none":
        raise OptionError(
            f"{first.source}: trials that are counted where they are can be paired by their users only; give a user "
            f"column, or more memory ({argument('memory')})"
        )
    assert first.users is not None
    assert second.users is not None
    code = np.searchsorted(first.users.values, second.users.values).astype(np.int32)

    def both(of_class: int, name: str) -> tuple[Floats, Trials]:
        """Return the deviations of both systems' entries, the second's with their sign changed, as one class's.

        They are twice as large, as there are twice as many trials.
        """
        own, others = getattr(first, name), getattr(second, name)
        off = getattr(means, name) - means.means[of_class], other.means[of_class] - getattr(other, name)
        probes = None
        if own.probe_user is not None and others.probe_user is not None:
            probes = np.append(own.probe_user, code[others.probe_user])
        user, number = np.append(own.user, code[others.user]), np.append(own.number, others.number)
        return 2 * np.concatenate(off), Trials(np.append(own.score, others.score), user, probes, number=number)

    (of_negatives, negatives), (of_positives, positives) = both(0, "negative"), both(1, "positive")
    joined = ClassMeans(of_negatives, of_positives, (negatives.number, positives.number))
    return spread_of(joined, negatives, positives, dependence)
