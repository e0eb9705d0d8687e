"""Constraints: the least of one error, where the other rate keeps a limit; safely, with a stated confidence.

A rate keeps its limit alpha when it is at most alpha (an error), or at least alpha (what is better when greater). Of
the candidates that do, the one with the best other rate is chosen; if none does, the one that comes nearest to the
limit.

The safe form holds in the population: with the stated confidence the rate of later trials keeps the limit. Candidates
are tried from the strictest on, one binomial test each (fixed-sequence testing: no correction for their number;
Angelopoulos et al., "Learn then test", 2021). As the rates of a class are monotone in the threshold, this is one limit
for the errors on development data: the most whose upper confidence limit (Clopper and Pearson's) is at most alpha.
Where users are known the trials count for fewer, by the design effect and Student's quantile (Korn and Graubard, 1998),
and as if three more users had erred like those who did. If no number of errors will do, the trials of the class are all
decided rightly: no negative is accepted, or every positive.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from priori.base.errors import OptionError
from priori.base.types import Floats, Mask
from priori.decisions.criterion import Boxes, Criterion, OfRate, Pieces, Search, choice_of
from priori.decisions.hull import NEAR
from priori.decisions.measure import Ratio
from priori.decisions.outcomes import Outcomes
from priori.scores import ScoreSet
from priori.scores.candidates import Candidates, CutErrors, Errors

if TYPE_CHECKING:
    from priori.scores.influence import Spread


@dataclass(frozen=True)
class Constraint(OfRate, Search):
    """The best V2 where V1 is at most alpha, or at least alpha; ``which`` of the two keeps the limit.

    With a ``level`` the limit is kept in the population, with that confidence.
    """

    level: float | None = None

    @classmethod
    def named(cls, kind: str, label: str, v1: Ratio, v2: Ratio, which: int, level: str | None) -> Self:
        """Make a constraint from the parts of its name: ``at-most``, ``far``, the pair, and 0.95."""
        made = cls(f"{kind}-{label}", v1, v2, which=which)
        right = "at-least" if made.aimed_at.greater_is_better else "at-most"
        if kind != right:
            better = "greater" if made.aimed_at.greater_is_better else "smaller"
            raise OptionError(f"{made.aimed_at.name} is better when it is {better}; write {right}-{label}")
        if level is None:
            return made
        if not made._by_class:
            raise OptionError(f"{made.name} with a confidence needs rates of one class each, as at-most-far has")
        try:
            confidence = float(level)
        except ValueError:
            confidence = np.nan
        if not 0.5 <= confidence < 1:
            raise OptionError(f"the confidence of {made.name} must lie between 0.5 and 1, not {level}")
        return replace(made, name=f"{made.name}:{confidence:g}", level=confidence)

    @property
    def exact(self) -> bool:
        return self.level is None and self._by_class

    # -- the safe form -------------------------------------------------------------------------------------------

    @property
    def plain(self) -> Constraint:
        """The same limit without a confidence."""
        return replace(self, name=self.name.rpartition(":")[0], level=None)

    def settled(self, scores: ScoreSet, alphas: Sequence[Fraction]) -> tuple[Criterion, Sequence[Fraction]]:
        if self.level is None:
            return self, alphas
        trials, spread = self._size(scores), self.spread(scores, alphas)
        worth = [float(trials)] * len(alphas) if spread is None else _worth(trials, spread, self.level).tolist()
        limits = zip(map(self.aimed_at.as_error, alphas), worth, strict=True)
        errors = (_most_errors(limit, trials, size, self.level) for limit, size in limits)
        return self.plain, [self.from_errors(each, scores) for each in errors]

    def spread(self, scores: ScoreSet, alphas: Sequence[Fraction]) -> Spread | None:
        """Return how the limited rate varies with users where it just keeps the limits; None where there are none."""
        if self.level is None or not scores.has_users:
            return None
        from priori.scores.influence import rate_spreads

        thresholds, above = self.plain.choose(scores, alphas).threshold, self.aimed_at.of_class == "negative"
        (held,) = scores.count([np.unique(thresholds)], ("user",))
        trials, shared = (held.negative, "crossed") if above else (held.positive, "user")
        return rate_spreads(trials, thresholds, shared, above=above)

    def from_errors(self, errors: int, of: ScoreSet | CutErrors) -> Fraction:
        """Return the limit that allows so many errors; -1: not even where no trial could be one."""
        return Fraction(self.aimed_at.as_error(Fraction(errors, self._size(of)) if errors >= 0 else Fraction(-1)))

    def _allowed(self, alpha: Fraction, of: Candidates | CutErrors) -> int:
        """Return the most errors in the trials of the class that keep the limit; -1 where it is below 0."""
        limit = self.aimed_at.as_error(alpha)
        return int(max(limit.numerator * self._size(of) // limit.denominator, -1))

    def _size(self, of: ScoreSet | Candidates | CutErrors) -> int:
        return of.n_negatives if self.aimed_at.of_class == "negative" else of.n_positives

    # -- choosing ------------------------------------------------------------------------------------------------

    def select(self, candidates: Candidates, alphas: Sequence[Fraction]) -> Errors:
        if not self._by_class:
            return super().select(candidates, alphas)
        fp, fn = candidates.corners()
        rising = self.aimed_at.of_class == "positive"
        errors = fn if rising else fp[::-1]
        limits = [self._allowed(alpha, candidates) for alpha in alphas]
        chosen = np.maximum(np.searchsorted(errors, limits, side="right") - 1, 0)
        chosen = chosen if rising else errors.size - 1 - chosen
        fp, fn = fp[chosen], fn[chosen]
        strictest = np.array(limits) < 0
        if strictest.any():  # beyond every score, where no later trial can be an error
            last = -1 if not rising else 0
            every_fp, every_fn = candidates.every()
            fp, fn = np.where(strictest, every_fp[last], fp), np.where(strictest, every_fn[last], fn)
        return fp, fn

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        limit, limited = self.aimed_at.as_error(alpha), self.aimed_at.error(outcomes)
        kept = limited < float(limit)
        for near in np.flatnonzero(np.abs(limited - float(limit)) < NEAR).tolist():
            kept[near] = self.aimed_at.exact_error(outcomes[near]) <= limit
        return np.where(kept, self.other.error(outcomes), 2.0 + limited)

    def loss(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return self.other.error(outcomes)

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> Fraction:
        limited = self.aimed_at.exact_error(outcome)
        return self.other.exact_error(outcome) if limited <= self.aimed_at.as_error(alpha) else 2 + limited

    def pieces(self, scores: ScoreSet) -> Pieces:
        if not self.exact:
            return super().pieces(scores)
        candidates = scores.candidates(self, None)
        fp, fn = candidates.corners()
        if (self.aimed_at.of_class == "negative") != self.aimed_at.greater_is_better:
            fp, fn = fp[::-1], fn[::-1]
        choice = choice_of(candidates, (fp, fn))
        value = self.aimed_at(choice.outcomes)
        inner = value[:-1] if self.aimed_at.greater_is_better else value[1:]
        return Pieces(np.concatenate([[0.0], inner, [1.0]]), choice)

    # -- what a scan asks ----------------------------------------------------------------------------------------

    def promising(self, cuts: CutErrors, alphas: Sequence[Fraction] | None) -> Mask | None:
        if alphas is None:
            return None
        if self._by_class:  # limits as rates that can be reached, which floats tell apart
            alphas = [self.from_errors(self._allowed(alpha, cuts), cuts) for alpha in alphas]
        elif max(alpha.denominator for alpha in alphas) * max(cuts.n_negatives, cuts.n_positives) >= 10**13:
            return None
        return super().promising(cuts, alphas)

    def least_cost(self, boxes: Boxes, alpha: float) -> Floats:
        limited, other = boxes.best[self.which - 1], boxes.best[2 - self.which]
        beyond = alpha - limited if self.aimed_at.greater_is_better else limited - alpha
        return np.where(beyond <= 0, self.other.as_error(other), 2.0 + beyond)


def _most_errors(limit: Fraction, trials: int, effective: float, level: float) -> int:
    """Return the most errors whose upper confidence limit is at most ``limit``; -1 where any number is allowed.

    The trials are worth an ``effective`` number of independent ones.
    """
    from scipy.special import bdtr, betainc

    if limit >= 1:
        return trials
    scale, rate = effective / trials, float(limit)

    def unlikely(errors: int) -> bool:
        """Say whether so few errors are unlikely where the rate is at its limit."""
        if effective == trials:
            return bool(bdtr(errors, trials, rate) <= 1 - level)
        seen = errors * scale
        return bool(betainc(effective - seen, seen + 1, 1 - rate) <= 1 - level)

    return bisect_left(range(trials), True, key=lambda errors: not unlikely(errors)) - 1


def _worth(trials: int, spread: Spread, level: float) -> Floats:
    """Return how many independent trials those of one class are worth, at each threshold."""
    from scipy.special import ndtri, stdtrit

    # Three more users who err like those who do might have been sampled.
    unseen = 1 + 3 / np.maximum(spread.erring, 1)
    worth = trials / (spread.pseudo * unseen) * (ndtri(level) / stdtrit(spread.freedom, level)) ** 2
    return np.asarray(np.clip(worth, 1.0, trials))
