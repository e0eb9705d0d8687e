"""Sizes: how error rates vary with users, and how many users (or trials) reach a width or a power."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from priori.base.errors import InputError, OptionError, argument
from priori.base.limits import check_level
from priori.base.types import Floats
from priori.decisions.outcomes import as_threshold
from priori.scores import Scores, ScoreSet, Trials, condense
from priori.scores.influence import Moves, People, SampleMean, size_follows, spread_of_means, welch
from priori.scores.pairing import paired
from priori.scores.score_set import as_score_set
from priori.uncertainty.comparing.ztests import Weights
from priori.uncertainty.rates.proportions import quantile

# -- how many units reach a goal -----------------------------------------------------------------------------------

#: A plan with more units than this is refused.
MOST = 10**12


@dataclass(frozen=True)
class Variability:
    """How the variance of a measure depends on the number of units (users, or trials), and how sure one is of it.

    ``unit`` is the variance from one unit. A study estimates its variance with ``degrees`` degrees of freedom for each
    unit, where units are users no more than one less than those that it rests on, the share ``counted``; the pilot did
    with ``pilot``, infinite where rates were given.
    """

    unit: float
    by_user: bool
    degrees: float = np.inf
    pilot: float = np.inf
    counted: float = 1.0

    def freedom(self, units: int) -> float:
        """Return the degrees of freedom with which a study of so many units knows its variance."""
        found = self.degrees * units
        return max(min(found, self._between(units)), 1.0) if self.by_user else found

    def _between(self, units: int) -> float:
        """Return the degrees of freedom between so many users."""
        return max(self.counted * units - 1, 1.0)

    def reach(self, units: int, level: float) -> float:
        """Return how many deviations bounds reach: Student's with users, as those of the bootstrap."""
        return quantile(level, freedom=self._between(units) if self.by_user else np.inf)

    def share(self, units: int, assurance: float | None) -> float:
        """Return what the variance of a study stays under with this assurance, as a multiple of the expected one.

        The ratio of two estimated variances: Fisher's F with the study's and the pilot's degrees of freedom.
        """
        from scipy.special import fdtri, gammaincinv

        if assurance is None:
            return 1.0
        study, pilot = self.freedom(units), self.pilot
        if not np.isfinite(pilot):
            return float(gammaincinv(study / 2, assurance) / (study / 2)) if np.isfinite(study) else 1.0
        return float(fdtri(min(study, 1e9), max(pilot, 1.0), assurance))


@dataclass(frozen=True)
class Goal:
    """What the plan must reach: a width (with an assurance), or the power to find a difference."""

    width: float | None
    difference: float | None
    power: float
    assurance: float | None
    confidence_level: float

    def __post_init__(self) -> None:
        if (self.width is None) == (self.difference is None):
            raise OptionError(f"give one of {argument('width')} and {argument('difference')}: what to plan for")
        check_level(self.confidence_level)
        if self.assurance is not None:
            check_level(self.assurance, "the assurance")
        for name, size in (("width", self.width), ("difference", self.difference)):
            if size is not None and not 1e-9 < (size if name == "width" else abs(size)) < 1:
                raise OptionError(f"the {name} must lie between 0 and 1 (at least 1e-9), not {size:g}")
        if self.difference is not None and not 0.5 <= self.power < 1:
            raise OptionError(f"the power must lie between 0.5 and 1, not {self.power:g}")

    def sd(self, known: Variability, units: int) -> float:
        """Return the largest deviation with which so many units reach the goal."""
        from scipy.special import ndtri, stdtrit

        reach = known.reach(units, self.confidence_level)
        if self.width is not None:
            return float(self.width / (2 * reach * np.sqrt(known.share(units, self.assurance))))
        assert self.difference is not None
        # Student's quantile: a small pilot may have shown too little variance, and power would be lost.
        beyond = float(stdtrit(known.pilot, self.power) if np.isfinite(known.pilot) else ndtri(self.power))
        return abs(self.difference) / (reach + beyond)

    def power_at(self, known: Variability, units: int) -> float | None:
        """Return how often so many units find the difference."""
        from scipy.special import ndtr

        if self.difference is None:
            return None
        reach = known.reach(units, self.confidence_level)
        return float(ndtr(abs(self.difference) / np.sqrt(known.unit / units) - reach))

    def units(self, known: Variability) -> int:
        """Return the smallest number of units that reaches the goal."""
        return smallest(lambda units: known.unit / units * (1 - 1e-12) <= self.sd(known, units) ** 2, known.by_user)


def smallest(enough: Callable[[int], bool], by_user: bool) -> int:
    """Return the first number from which on a size is enough."""
    low, high = (1 if by_user else 0), (2 if by_user else 1)
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            raise OptionError("the goal is out of reach: it would take more than 10^12 trials")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


# -- how error rates vary with users --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassSpread:
    """The spread of one class's error rate, or of the difference between two systems' rates.

    ``variance`` is that of one trial's error, p (1 - p) for one system; ``per_user`` the number of trials of a user, on
    average over all users, also those who have none of this class, and ``share`` the share of those who have some.
    ``design_effect`` is the variance of the rate over what it would be if trials were independent, ``intraclass`` the
    correlation of the errors of one user. ``freedom`` are the degrees of freedom of a variance estimated from one
    independent decision, times so many; ``measured`` the independent decisions that this was measured on, infinite
    where it is known. ``unseen``: no error was seen, and the rate is the highest that such luck allows. ``follows`` is
    T: how clearly the rates of users grow with their number of trials, in standard errors.
    """

    rate: float
    variance: float
    per_user: float
    design_effect: float
    intraclass: float
    freedom: float
    measured: float
    unseen: bool = False
    share: float = 1.0
    follows: float = 0.0

    @classmethod
    def binomial(cls, rate: float, intraclass: float) -> ClassSpread:
        """Return the spread of a rate that is known, not measured."""
        variance = rate * (1 - rate)
        return cls(rate, variance, 1.0, 1.0, intraclass, _freedom(rate, variance), np.inf)

    def with_per_user(self, per_user: float | None) -> ClassSpread:
        """Return the spread with another number of trials per user: 1 + (m - 1) intraclass correlation.

        Here m are those of a user who has any.
        """
        if per_user is None:
            return self
        effect = 1 + max(per_user / self.share - 1, 0) * self.intraclass
        return replace(self, per_user=per_user, design_effect=effect)

    def plus(self, other: ClassSpread) -> ClassSpread:
        """Return the spread of the difference to another system's rate on other trials."""
        total = self.variance + other.variance
        share = self.variance / total if total else 0.5

        effect = share * self.design_effect + (1 - share) * other.design_effect
        intraclass = share * self.intraclass + (1 - share) * other.intraclass
        freedom = float(welch([self.variance, other.variance], [self.freedom, other.freedom])) if total else np.inf
        measured = min(self.measured, other.measured)
        difference = self.rate - other.rate
        return ClassSpread(difference, total, self.per_user, effect, intraclass, freedom, measured, share=self.share)

    def allowing_for_none(self, assurance: float) -> ClassSpread:
        """Return the spread with the highest rate that leaves a chance of 1 - assurance to seeing no error."""
        if self.variance or not np.isfinite(self.measured):
            return self
        rate = 1 - (1 - assurance) ** (1 / self.measured)
        variance = rate * (1 - rate)
        return replace(self, rate=rate, variance=variance, freedom=_freedom(rate, variance), unseen=True)


@dataclass(frozen=True)
class DesignEffect:
    """What users do to the variance of FAR and FRR. Made by `design_effect`.

    ``covariance`` is that of the users' own FAR and FRR: people who are hard to recognise may also be easy to imitate.
    """

    users: int
    negatives: ClassSpread
    positives: ClassSpread
    covariance: float

    def with_per_user(self, negatives: float | None, positives: float | None) -> DesignEffect:
        """Return what other numbers of trials per user would do."""
        return replace(
            self, negatives=self.negatives.with_per_user(negatives), positives=self.positives.with_per_user(positives)
        )

    def allowing_for_none(self, assurance: float) -> DesignEffect:
        """Return the same with the highest rates that leave a chance of 1 - assurance to errors that were not seen."""
        negatives, positives = (each.allowing_for_none(assurance) for each in (self.negatives, self.positives))
        return replace(self, negatives=negatives, positives=positives)

    def plus(self, other: DesignEffect) -> DesignEffect:
        """Return the design effect on the difference to another system on other trials."""
        negatives, positives = self.negatives.plus(other.negatives), self.positives.plus(other.positives)
        return DesignEffect(min(self.users, other.users), negatives, positives, self.covariance + other.covariance)

    def variance(self, weights: Weights, users: float = 1) -> float:
        """Return the variance of an aggregate measured on so many users with as many trials each."""
        one_user = sum(part for part, _ in self._parts(weights))
        return (one_user + 2 * float(weights.far) * float(weights.frr) * self.covariance) / users

    def _parts(self, weights: Weights) -> list[tuple[float, ClassSpread]]:
        """Return what each class brings to the variance of an aggregate measured on one user."""
        classes = ((float(weights.far), self.negatives), (float(weights.frr), self.positives))
        return [(weight**2 * each.variance * each.design_effect / each.per_user, each) for weight, each in classes]

    def variability(self, weights: Weights, *, by_user: bool) -> Variability:
        """Return how the variance of an aggregate depends on the number of users (or trials)."""
        for name, weight, spread in (("FAR", weights.far, self.negatives), ("FRR", weights.frr, self.positives)):
            if weight and not spread.variance:
                raise InputError(f"no errors to plan with: the {name} has no variance; give the rate that you expect")
        parts = [(part, each) for part, each in self._parts(weights) if part]
        if not parts:
            raise InputError("nothing to plan for: neither the FAR nor the FRR counts in the measure")
        variances = [part for part, _ in parts]
        study, pilot, counted = (
            float(welch(variances, degrees, most))
            for degrees, most in (
                ([each.freedom * each.per_user / each.design_effect for _, each in parts], np.inf),
                ([each.freedom * each.measured for _, each in parts], np.inf),
                # All users where each has trials of both classes; where classes are people of their own, some.
                ([each.share for _, each in parts], 1.0),
            )
        )
        return Variability(self.variance(weights), by_user, study, pilot, counted)


def design_effect(scores: Any, threshold: float) -> DesignEffect:
    """Measure how much the users of pilot scores add to the variance of FAR and FRR at a threshold.

    The design effect is the linearised cluster variance, sum_u (sum of user u's errors minus their expectation)^2
    over n^2 - sum_u n_u^2, over the binomial p (1 - p) / n. Without users both design effects are 1.
    """
    threshold = as_threshold(threshold)
    trials, _ = condense(as_score_set(scores), ("user",), cuts=[threshold])
    accepted, rejected = trials.negative.score > threshold, trials.positive.score <= threshold
    return _measured(trials, accepted.astype(float), rejected.astype(float))


def paired_design_effect(a: ScoreSet, threshold_a: float, b: ScoreSet, threshold_b: float) -> DesignEffect:
    """Measure the same for the difference between two systems on the same trials, each at its threshold."""
    each = paired(a, b, [[float(threshold)] for threshold in (threshold_a, threshold_b)], ("user",))
    thresholds = threshold_a, threshold_b
    accepted = [(s.negative.score > t).astype(float) for s, t in zip(each, thresholds, strict=True)]
    rejected = [(s.positive.score <= t).astype(float) for s, t in zip(each, thresholds, strict=True)]
    return _measured(each[0], accepted[0] - accepted[1], rejected[0] - rejected[1])


def _measured(scores: Scores, negative: Floats, positive: Floats) -> DesignEffect:
    if not scores.has_users:
        negatives, positives = _alone(negative, scores.negative), _alone(positive, scores.positive)
        return DesignEffect(0, negatives, positives, 0.0)
    users, people = scores.n_users, People.of(scores.negative, scores.positive, crossed=False)
    samples = [SampleMean(Moves.of(errors), own) for errors, own in zip((negative, positive), people, strict=True)]
    negatives, positives = (_spread(sample, users) for sample in samples)
    covariance = users * float(np.vdot(samples[0].by_role[0], samples[1].by_role[0]))
    # Bounded by what the two intraclass correlations leave room for; the estimate alone may not be.
    room = np.sqrt(negatives.intraclass * negatives.variance * positives.intraclass * positives.variance)
    return DesignEffect(users, negatives, positives, float(np.clip(covariance, -room, room)))


def _alone(errors: Floats, trials: Trials) -> ClassSpread:
    """Return a class's spread where users are not known."""
    rate = float(np.average(errors, weights=trials.number))
    variance = float(np.average((errors - rate) ** 2, weights=trials.number))
    return ClassSpread(rate, variance, 1.0, 1.0, 0.0, _freedom(rate, variance), len(trials))


def _spread(sample: SampleMean, everyone: int) -> ClassSpread:
    """Return a class's spread; ``everyone``: users of any class."""
    people, found = sample.people, spread_of_means(sample).at(0)
    n, size = float(people.n[0, 0]), people.sizes[0]
    users = int(np.count_nonzero(size))
    if users < 2:
        raise InputError("a design effect needs at least two users with trials of each class")
    assert isinstance(sample.values, Moves)
    variance = float(sample.values.power_sums(2, people.number, sample.mean)[0]) / n
    # A trial picked at random shares its user with this many, itself included.
    company = float(size @ size) / n
    effect = found.variance * n / variance if variance else 1.0
    intraclass = float(np.clip((effect - 1) / (company - 1), 0.0, 1.0)) if company > 1 else 0.0
    # An estimate below 1 is noise: users do not make errors less alike than chance does.
    effect = max(effect, 1.0)
    # Where nobody errs nothing shows how errors cluster: each user counts as one decision.
    measured = n / effect if variance else float(users)
    return ClassSpread(
        found.value,
        variance,
        n / everyone,
        effect,
        intraclass,
        found.freedom / measured,
        measured,
        share=users / everyone,
        follows=float(size_follows(sample.totals[0], size)[1][0]),
    )


def _freedom(rate: float, variance: float) -> float:
    """Return the degrees of freedom of a variance p (1 - p), or of p - d^2 for differences of errors, for each trial.

    Two over the squared coefficient of variation of the estimate, from the fourth moment of one error.
    """
    if not variance:
        return np.inf
    mean_square = variance + rate**2  # of errors 0 and 1, or -1, 0 and 1: also their mean fourth power
    fourth = mean_square - 4 * rate * rate + 6 * rate**2 * mean_square - 3 * rate**4
    return 2 / max(fourth / variance**2 - 1, 1e-9)
