"""Board: all pairs of systems tested together, at each alpha and over all of them, and which could be the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from priori.base.types import Floats, Index, Mask
from priori.uncertainty.comparing.evidence import Evidence
from priori.uncertainty.comparing.max_t import Adjusted, Family, step_down
from priori.uncertainty.comparing.verdicts import Verdict
from priori.uncertainty.ranking.ranks import model_confidence_set, rank_shares
from priori.uncertainty.rates.proportions import Alternative


@dataclass(frozen=True, eq=False)
class AdjustedVerdict(Verdict):
    """Intervals and p-values of many differences tested together; some p-values come from a ``fitted`` tail."""

    fitted: Mask

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any], confidence_level: float) -> AdjustedVerdict:
        """Return the verdict whose parts stand in columns, among others."""
        expected, lower, upper = columns["expected"], columns["lower"], columns["upper"]
        return cls(expected, lower, upper, columns["p_adjusted"], confidence_level, columns["p_fitted"])

    def at(self, points: slice | int) -> AdjustedVerdict:
        """Return the verdict at some points (columns)."""
        lower, upper, p_value = self.lower[:, points], self.upper[:, points], self.p_value[:, points]
        fitted = self.fitted[:, points]
        return AdjustedVerdict(self.expected[:, points], lower, upper, p_value, self.confidence_level, fitted)


def pairs_of_systems(systems: int) -> tuple[Index, Index]:
    """Return the numbers of the first and of the second system of every pair: AB, AC, ..., BC, ..."""
    return np.triu_indices(systems, 1)


@dataclass(frozen=True, eq=False)
class Board:
    """What evidence says of all pairs of systems, point by point and for all alphas together."""

    evidence: Evidence
    greater_is_better: bool
    alternative: Alternative
    threads: int | None

    @cached_property
    def _sides(self) -> tuple[Index, Index]:
        return pairs_of_systems(self.evidence.expected.shape[1])

    @cached_property
    def _families(self) -> list[Family]:
        """All pairs at each point; columns of the draws are systems."""
        spread, deviates = self.evidence.drawn_spread(*self._sides), self.evidence.deviates(*self._sides)
        return [Family(*self._sides, *at) for at in zip(spread.T, deviates.T, strict=True)]

    def pairs(self) -> AdjustedVerdict:
        """Test all pairs at each point."""
        evidence = self.evidence
        tested = []
        for point, family in enumerate(self._families):
            draws = np.ascontiguousarray(evidence.draws[:, point])
            found = step_down(draws, family, evidence.level, self.alternative, threads=self.threads)
            single = evidence.single_p_values(*self._sides, point, self.alternative)
            tested.append(Adjusted(np.maximum(found.p_value, single), found.fitted, found.critical))
        critical = np.array([found.critical for found in tested])
        return AdjustedVerdict(
            evidence.difference(*self._sides),
            *self._bounds(critical),
            np.stack([found.p_value for found in tested], axis=1),
            evidence.level,
            np.stack([found.fitted for found in tested], axis=1),
        )

    def simultaneous(self, pointwise: AdjustedVerdict) -> AdjustedVerdict:
        """Test all pairs at all alphas together; what holds then holds at each alpha."""
        evidence = self.evidence
        draws, alphas, systems = len(evidence.draws), len(evidence.expected) - 1, evidence.expected.shape[1]
        start = systems * np.arange(alphas)[:, None]
        plus, minus = ((start + side).ravel() for side in self._sides)
        spread, deviates = (
            np.concatenate([getattr(family, name) for family in self._families[:-1]]) for name in ("spread", "deviates")
        )
        columns = evidence.draws.reshape(draws, -1)  # the mean over the alphas is there, in no pair
        family = Family(plus, minus, spread, deviates)
        found = step_down(columns, family, evidence.level, self.alternative, threads=self.threads)
        lower, upper = (bound[:, :-1] for bound in self._bounds(np.full(alphas + 1, found.critical)))
        p_value, fitted = found.p_value.reshape(alphas, -1).T, found.fitted.reshape(alphas, -1).T
        return AdjustedVerdict(
            pointwise.expected,
            np.minimum(lower, pointwise.lower),
            np.maximum(upper, pointwise.upper),
            np.maximum(p_value, pointwise.p_value),
            evidence.level,
            fitted,
        )

    def _bounds(self, critical: Floats) -> tuple[Floats, Floats]:
        middle, half = self.evidence.centre(*self._sides), self.evidence.reach(critical, *self._sides)
        return middle - half, middle + half

    def best_p_values(self) -> Floats:
        """Return for every system (row) at each point the p-value of its being the best."""
        sign = -1.0 if self.greater_is_better else 1.0
        found = []
        for point, family in enumerate(self._families):
            draws, badness = np.ascontiguousarray(self.evidence.draws[:, point]), sign * self.evidence.expected[point]
            worse = replace(family, deviates=sign * family.deviates)
            found.append(model_confidence_set(draws, worse, badness, threads=self.threads))
        return np.stack(found, axis=1)

    def against_best(self, pairs: AdjustedVerdict, best_p_value: Floats) -> AdjustedVerdict:
        """Keep the pairs of the best at each point, with the p-value of the other being the best; others are NaN."""
        badness = -self.evidence.expected if self.greater_is_better else self.evidence.expected
        best = badness.argmin(axis=1)
        first, second = (side[:, None] for side in self._sides)
        tested = (first == best) | (second == best)
        other = np.where(first == best, second, first)
        p_value = np.where(tested, np.take_along_axis(best_p_value, other, axis=0), np.nan)
        lower, upper = (np.where(tested, bound, np.nan) for bound in (pairs.lower, pairs.upper))
        return AdjustedVerdict(pairs.expected, lower, upper, p_value, pairs.confidence_level, np.zeros_like(tested))

    def rank_shares(self) -> Floats:
        """Return how often each system has each rank in the draws, for the mean over the alphas."""
        values = self.evidence.draws[:, -1]
        return rank_shares(-values if self.greater_is_better else values)
