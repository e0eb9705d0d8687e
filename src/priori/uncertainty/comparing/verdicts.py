"""Verdicts: intervals and p-values of the differences of systems, where they are significant, and against a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.declarations import Summary
from priori.base.limits import MOST_USERS
from priori.base.quantiles import error_allowed
from priori.base.types import Floats, Mask
from priori.uncertainty.comparing.evidence import Evidence, Student
from priori.uncertainty.comparing.max_t import Family, critical_value, step_down

#: So much of a user who loses a whole class is added to those seen where a margin is to be kept. By simulation a gate
#: then passed at most 1 % of systems that harm 3 to 12 % of 20 to 80 users (`validation/coverage/unlike.csv`).
PSEUDO_USER = 0.6
#: What can be shown against a margin.
Shown = Literal["equivalent", "a_no_worse", "b_no_worse"]


class Region(NamedTuple):
    """A range of alphas over which one system is significantly better."""

    start: float
    end: float
    better: str


class MarginRegion(NamedTuple):
    """A range of alphas over which something is shown against a margin: one of `Shown`."""

    start: float
    end: float
    shown: Shown


@dataclass(frozen=True, eq=False)
class Verdict:
    """Intervals and p-values of differences, at one alpha or at each of many.

    ``expected`` is the difference they are about: the one observed where thresholds are kept, else the one expected
    with thresholds chosen on other development sets.
    """

    expected: Floats
    lower: Floats
    upper: Floats
    p_value: Floats
    confidence_level: float

    @property
    def significant(self) -> Summary[Mask]:
        """Whether the difference is significant: p-value below 1 - confidence level."""
        return self.p_value < error_allowed(self.confidence_level)

    def part(self, chosen: Any) -> Verdict:
        """Return the verdict about some pairs, at some points."""
        expected, lower, upper = self.expected[chosen], self.lower[chosen], self.upper[chosen]
        return Verdict(expected, lower, upper, self.p_value[chosen], self.confidence_level)


@dataclass(frozen=True, eq=False)
class MarginVerdict:
    """Whether each of two systems is no worse than the other by more than a margin, at each alpha.

    ``a_no_worse`` and ``b_no_worse`` are one-sided p-values: of A being worse than B by the margin or more, and of B
    being worse than A; at the level 0.95 each must be below 0.025. They are stricter than the interval of the
    difference (and than two one-sided t-tests): `PSEUDO_USER` more users, who lose a whole class, may be missing.
    """

    margin: float
    a_no_worse: Floats
    b_no_worse: Floats
    confidence_level: float

    @property
    def equivalent(self) -> Summary[Floats]:
        """The p-value of equivalence: both systems no worse (two one-sided tests)."""
        return np.maximum(self.a_no_worse, self.b_no_worse)

    def regions(self, alpha: Floats) -> tuple[MarginRegion, ...]:
        """Return the ranges of alpha over which the systems are shown equivalent, or one no worse than the other."""
        allowed = error_allowed(self.confidence_level) / 2
        a, b = self.a_no_worse < allowed, self.b_no_worse < allowed
        shown = np.select([a & b, a, b], get_args(Shown), "")
        return tuple(MarginRegion(start, end, cast(Shown, text)) for start, end, text in runs(alpha, shown))


def runs(alpha: Floats, shown: NDArray[np.str_]) -> list[tuple[float, float, str]]:
    """Return the runs of neighbouring alphas with the same text, but for the empty one: (first, last, text).

    Examples
    --------
    >>> runs(np.array([0, 0.25, 0.5, 1]), np.array(["A", "A", "", "B"]))
    [(0.0, 0.25, 'A'), (1.0, 1.0, 'B')]
    """
    starts = np.flatnonzero(np.concatenate([[True], shown[1:] != shown[:-1]]))
    ends = np.append(starts[1:], shown.size) - 1
    pieces = zip(starts.tolist(), ends.tolist(), strict=True)
    return [(float(alpha[start]), float(alpha[end]), str(shown[start])) for start, end in pieces if shown[start]]


# -- systems judged --------------------------------------------------------------------------------------------------


def judge_points(evidence: Evidence) -> Verdict:
    """Judge each point of the evidence: a pair on its own, several together by stepping down."""
    single, level = np.minimum(1.0, 2 * np.minimum(*evidence.tails())), evidence.level
    if not evidence.several:
        return Verdict(evidence.difference(), *evidence.bounds(), single, level)
    tested = [step_down(evidence.draws[:, point], family, level) for point, family in enumerate(evidence.families)]
    bounds = evidence.around(np.array([found.critical for found in tested]))
    p_value = np.maximum(np.stack([found.p_value for found in tested], axis=1), single)
    return Verdict(evidence.difference(), *bounds, p_value, level)


def judge_together(evidence: Evidence, pointwise: Verdict) -> Verdict:
    """Judge all alphas, and all pairs, together, by the largest deviation in standard deviations.

    What holds for all alphas at once holds for each: no p-value is below the pointwise one, no interval inside it. Of
    two systems p-values are of a single step, as intervals are, so that both agree; of several they step down.
    """
    alphas, systems = evidence.compared.alpha.size, evidence.expected.shape[1]
    if evidence.several and alphas == 1:
        return pointwise
    if evidence.several:
        start = systems * np.arange(alphas)[:, None]
        plus, minus = ((start + side).ravel() for side in evidence.sides)
        spread, deviates = (
            np.concatenate([getattr(family, name) for family in evidence.families[:alphas]])
            for name in ("spread", "deviates")
        )
        columns = evidence.draws.reshape(len(evidence.draws), -1)  # the mean over the alphas is there, in no pair
        found = step_down(columns, Family(plus, minus, spread, deviates), evidence.level)
        p_value, critical = found.p_value.reshape(alphas, -1).T, found.critical
    else:
        largest = np.abs(_deviations(evidence)).max(axis=1)
        p_value, critical = (
            _p_of_largest(largest, np.abs(evidence.deviates()[:, :alphas])),
            critical_value(largest, evidence.level),
        )
    lower, upper = (bound[:, :alphas] for bound in evidence.around(critical))
    return Verdict(
        pointwise.expected,
        np.minimum(lower, pointwise.lower),
        np.maximum(upper, pointwise.upper),
        np.maximum(p_value, pointwise.p_value),
        evidence.level,
    )


def judge_margin(evidence: Evidence, margin: float) -> MarginVerdict:
    """Judge whether each of two systems is no worse than the other by more than the margin.

    Not to have seen harmed users is no evidence that there are none.
    """
    compared, harm, alphas = evidence.compared, evidence.compared.most_harm, evidence.compared.alpha.size
    known = Student(*(each[0, :alphas] for each in evidence.student))
    below = np.maximum(evidence.tails(margin)[0][0, :alphas], _harmed(known, margin, harm))
    opposite = known._replace(difference=-known.difference)
    above = np.maximum(evidence.tails(-margin)[1][0, :alphas], _harmed(opposite, margin, harm))
    if compared.plan.simultaneous:
        largest = np.abs(_deviations(evidence)).max(axis=1)
        for single, at, sign in ((below, margin, -1.0), (above, -margin, 1.0)):
            deviates = sign * evidence.deviates(at)[0, :alphas]
            half = _p_of_largest(largest, np.abs(deviates)) / 2
            np.maximum(single, np.where(deviates > 0, half, 1 - half), out=single)
    a_no_worse, b_no_worse = (above, below) if compared.measure.greater_is_better else (below, above)
    return MarginVerdict(margin, a_no_worse, b_no_worse, evidence.level)


def _harmed(known: Student, margin: Any, harm: Floats) -> Floats:
    """Return the p-values of a difference of the margin or more, with a pseudo-user who is harmed; 0 without users."""
    from scipy.special import stdtr

    units, weight = np.where(np.isfinite(known.units), known.units, 1.0), PSEUDO_USER
    mean = (units * known.difference + weight * harm) / (units + weight)
    squares = units * (units - 1) * known.variance + units * (known.difference - mean) ** 2
    variance = (squares + weight * (harm - mean) ** 2) / ((units + weight) * (units + weight - 1))
    with np.errstate(over="ignore"):  # by a margin of any size
        ratio = np.divide(mean - margin, np.sqrt(variance), out=np.full_like(mean, -np.inf), where=variance > 0)
    freedom = np.where(np.isfinite(known.units), known.freedom, 1.0)
    return np.where(np.isfinite(known.units), stdtr(freedom, ratio), 0.0)


def margin_caution(evidence: Evidence, against: MarginVerdict) -> tuple[Caution, ...]:
    """Warn where users are too few for a margin, whatever they show, or although the interval is within it.

    Also return how many would do.
    """
    margin, harm, allowed = against.margin, evidence.compared.most_harm, error_allowed(evidence.level) / 2
    known = Student(*(each[0] for each in evidence.student))
    lower, upper = (bound[0, : harm.size] for bound in evidence.bounds())
    within = (lower > -margin) & (upper < margin) & (against.equivalent >= allowed)
    worst = int(np.argmax(harm))
    units, variance = float(known.units[worst]), float(known.variance[worst])

    def passes(users: float, per_user: float) -> bool:
        alike = np.zeros(1), np.array([per_user / users]), np.array([users - 1.0]), np.array([users])
        return bool(_harmed(Student(*alike), margin, harm[[worst]])[0] < allowed)

    if not np.isfinite(units) or (passes(units, 0.0) and not within.any()):
        return ()
    enough = units
    while not passes(enough, units * variance) and enough < MOST_USERS:
        enough *= 1.1
    text = (
        f"{units:.0f} users are too few to show a margin of {margin:g}; {np.ceil(enough):.0f} would do, if the systems "
        "are alike"
    )
    return (Caution("margin-needs-users", text),)


def _deviations(evidence: Evidence) -> Floats:
    """Return how far the difference of two systems is from its mean in every draw, in standard deviations."""
    alphas = evidence.compared.alpha.size
    difference, spread = evidence.drawn_difference()[:, :alphas], evidence.drawn_spread[0, :alphas]
    off = difference - difference.mean(axis=0)
    return np.asarray(np.divide(off, spread, out=np.zeros_like(off), where=spread > 0))


def _p_of_largest(largest: Floats, reached: Floats) -> Floats:
    """Return how often the largest deviation is as large as what was reached, one more than seen."""
    beyond = largest.size - np.searchsorted(np.sort(largest), reached, side="left")
    return np.asarray((1 + beyond) / (1 + largest.size))
