"""Evidence: what draws, or the influences of users and trials, say about the differences of systems.

*Deployed* is about the thresholds as they are: only the test set is drawn, and replicates of the values are the
evidence (2005, section 5). *Method* is about tuning on other development sets like this one: the evidence is what each
system is expected to show then, and how much every user or trial of either set moves that (`estimates`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from priori.base.cautions import Caution
from priori.base.types import Counts, Floats, Index, Progress
from priori.scores.influence import satterthwaite, welch
from priori.scores.score_set import counted_apart
from priori.uncertainty.bands.bands import replicates_of, replicates_together
from priori.uncertainty.bootstrap.calibration import Calibration, error_rates
from priori.uncertainty.bootstrap.erring import error_cautions
from priori.uncertainty.bootstrap.intervals import Interval
from priori.uncertainty.bootstrap.plans import BootstrapPlan
from priori.uncertainty.comparing.claims import Compared
from priori.uncertainty.expected.estimates import Estimates
from priori.uncertainty.expected.expected_bands import Estimated
from priori.uncertainty.expected.method import ends, expected_values
from priori.uncertainty.rates.proportions import Alternative

#: The only pair of two systems, by their numbers.
PAIR = (np.array([0]), np.array([1]))
EVERY = slice(None)
TOO_FEW = Caution(
    "few-replicates",
    "the replicates are too few for this level with so few users: beyond them tails are taken as normal; use more",
)
#: Values of more systems than this are kept in single precision.
FEW_SYSTEMS = 2
#: Numbers that are drawn at a time: some ten megabytes.
NUMBERS_AT_A_TIME = 1 << 20
#: Draws that are counted at a time: a hundred systems fit a processor's cache.
DRAWS_AT_A_TIME = 1 << 10


def error_allowed(level: float) -> float:
    """Return 1 minus the level as it was typed: 0.05 for 0.95, not 0.050000000000000044."""
    return float(1 - Fraction(str(float(level))))


def exceeded(draws: int, error: float) -> int:
    """Return how many of the draws may lie beyond a bound so that (1 + these) / (1 + draws) is below the error."""
    return max(int(np.ceil((draws + 1) * error - 1e-9)) - 2, 0)


class Student(NamedTuple):
    """A difference at each point, its variance, the degrees of freedom of that, and how many units it rests on."""

    difference: Floats
    variance: Floats
    freedom: Floats
    units: Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of systems at some points: each alpha, and last the mean over the alphas.

    ``expected`` are the values in question, (points, systems); ``draws`` what they are in every draw, (draws, points,
    systems). Pairs of systems are given by the numbers ``first`` and ``second`` of their systems; what is returned of
    them has the shape (pairs, points).
    """

    expected: Floats
    draws: Floats
    level: float
    warnings: tuple[str, ...]

    def at(self, point: int) -> Self:
        """Return what is known at one alpha, which is then the mean over the alphas too."""
        return replace(self, expected=self.expected[[point, point]], draws=self.draws[:, [point, point]])

    def estimated(self, system: int) -> Estimated | None:
        """Return what is expected of a system as a method, where that is the claim."""
        return None

    def difference(self, first: Index, second: Index) -> Floats:
        """Return the differences in question."""
        return np.asarray((self.expected[:, first] - self.expected[:, second]).T)

    def drawn_difference(self) -> Floats:
        """Return the difference of two systems in every draw, (draws, points)."""
        return np.asarray(self.draws[:, :, 0] - self.draws[:, :, 1], dtype=np.float64)

    @cached_property
    def mean(self) -> Floats:
        """The mean of the draws, (points, systems)."""
        return np.asarray(self.draws.mean(axis=0, dtype=np.float64))

    @cached_property
    def _drawn_products(self) -> list[Floats]:
        """The covariances of the systems over the draws, at each point."""
        offs = (self.draws[:, point] - self.mean[point] for point in range(self.draws.shape[1]))
        return [off.T @ off / len(off) for off in offs]

    def covariance(self, point: int) -> Floats:
        """Return the covariances of the systems over the draws at one point."""
        return np.asarray(self._drawn_products[point], dtype=np.float64)

    def drawn_spread(self, first: Index, second: Index) -> Floats:
        """Return the standard deviations of differences over the draws."""
        return np.sqrt(np.stack([_of_pairs(at, first, second) for at in self._drawn_products], axis=1))

    def deviates(self, first: Index, second: Index, at: float = 0.0) -> Floats:
        """Return how many standard deviations of a normal variable each difference lies above ``at``."""
        raise NotImplementedError

    def reach(self, deviations: Any, first: Index, second: Index) -> Floats:
        """Return how far intervals reach that are worth so many standard deviations of a normal variable."""
        raise NotImplementedError

    def centre(self, first: Index, second: Index) -> Floats:
        """Return the middle of such intervals."""
        raise NotImplementedError

    def single_p_values(self, first: Index, second: Index, point: int, alternative: Alternative) -> Floats:
        """Return the p-values of differences at one point, each tested on its own; 0 where draws cannot tell."""
        raise NotImplementedError

    def tails(self, at: float) -> tuple[Floats, Floats]:
        """Return at each point the p-values of "not less" and of "not greater" than ``at`` for two systems."""
        raise NotImplementedError

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the pointwise interval of the difference of two systems."""
        raise NotImplementedError

    def student(self) -> Student:
        """Return what Student's t needs of the difference of two systems at each point."""
        raise NotImplementedError


def _count_turns(draws: Floats, plus: Index, minus: Index) -> Counts:
    """Return in how many draws each difference is not above 0."""
    from priori.uncertainty.bootstrap.maxima import count_turns

    counts = np.zeros(plus.size, dtype=np.int64)
    for start in range(0, len(draws), DRAWS_AT_A_TIME):
        block = np.ascontiguousarray(draws[start : start + DRAWS_AT_A_TIME].T)
        count_turns(block, plus, minus, counts)
    return counts


def _of_pairs(products: Floats, first: Index, second: Index) -> Floats:
    """Return the variances of differences from the products of systems; what is lost to rounding is none."""
    own = np.diagonal(products)
    total = own[first] + own[second]
    variance = total - 2 * products[first, second]
    return np.where(variance > 1e-9 * total, variance, 0.0)


def _fourths(squares: Floats, cubes: Floats, first: Index, second: Index) -> Floats:
    """Return the sums of the fourth powers of differences from products of squares, and of cubes with what they are."""
    own = np.diagonal(squares)
    mixed = 6 * squares[first, second] - 4 * (cubes[first, second] + cubes[second, first])
    return np.asarray(own[first] + own[second] + mixed)


def _ratio(difference: Floats, spread: Floats) -> Floats:
    """Return differences in standard errors; without any, a difference is infinitely many."""
    endless = np.where(difference == 0, 0.0, np.copysign(np.inf, difference))
    with np.errstate(over="ignore"):  # a margin may be as large as a float can be
        return np.divide(difference, spread, out=endless, where=spread > 0)


# -- the thresholds as they are ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DeployedEvidence(Evidence):
    """Replicates of the values on the test set; ``calibration`` widens their tails where it is asked for."""

    interval: Interval
    calibration: Calibration | None

    def at(self, point: int) -> Self:
        """Return what is known at one alpha; tails allow for the users there."""
        known = self.calibration
        calibration = (
            None
            if known is None
            else replace(known, freedom=known.freedom[[point, point]], units=known.units[[point, point]])
        )
        return replace(super().at(point), calibration=calibration)

    def centre(self, first: Index, second: Index) -> Floats:
        """Return the means of the replicates."""
        return np.asarray((self.mean[:, first] - self.mean[:, second]).T)

    def deviates(self, first: Index, second: Index, at: float = 0.0) -> Floats:
        """Return the means of the replicates in their standard deviations, as few users allow."""
        ratio = _ratio(self.centre(first, second) - at, self.drawn_spread(first, second))
        if self.calibration is None:
            return ratio
        return np.copysign(self.calibration.known(np.abs(ratio)), ratio)

    def reach(self, deviations: Any, first: Index, second: Index) -> Floats:
        """Return so many standard deviations of the replicates, more where users are few."""
        stretched = deviations if self.calibration is None else self.calibration.reach(deviations)
        return np.asarray(stretched * self.drawn_spread(first, second))

    def single_p_values(self, first: Index, second: Index, point: int, alternative: Alternative) -> Floats:
        """Count the replicates on the other side of 0; where there is none, they cannot tell."""
        difference = self.centre(first, second)[:, point]
        swapped = difference < 0 if alternative == "two-sided" else np.full(first.shape, alternative == "less")
        plus, minus = np.where(swapped, second, first), np.where(swapped, first, second)
        beyond = _count_turns(self.draws[:, point], plus, minus)
        tail = np.asarray((1 + beyond) / (1 + len(self.draws)))
        tail = tail if self.calibration is None else self.calibration.at(point).tail(tail)
        return np.where(beyond > 0, np.minimum(1.0, tail * (2 if alternative == "two-sided" else 1)), 0.0)

    def tails(self, at: float) -> tuple[Floats, Floats]:
        """Count the replicates beyond ``at``, one more than seen (Davison and Hinkley 1997)."""
        from scipy.special import log_ndtr

        difference = self.drawn_difference()
        n = len(difference) + 1
        if self.interval == "centred":
            mean = difference.mean(axis=0)
            half = (1 + (np.abs(difference - mean) >= np.abs(mean - at)).sum(axis=0)) / n / 2
            return np.where(mean < at, half, 1 - half), np.where(mean > at, half, 1 - half)
        beyond = np.stack([(difference >= at).sum(axis=0), (difference <= at).sum(axis=0)])
        tails = (1 + beyond) / n
        if self.calibration is not None:
            tails = self.calibration.tail(tails)
        if self.too_few:
            ratio = self.deviates(*PAIR, at)[0]
            tails = np.where(beyond > 0, tails, np.minimum(tails, np.exp(log_ndtr([ratio, -ratio]))))
        return tails[0], tails[1]

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the bounds that leave out 0 where, and only where, the p-value is below 1 minus the level."""
        from scipy.special import ndtri

        ordered = np.sort(self.drawn_difference(), axis=0)
        if self.interval == "centred":
            mean = ordered.mean(axis=0)
            rank = len(ordered) - 1 - exceeded(len(ordered), error_allowed(self.level))
            half = np.sort(np.abs(ordered - mean), axis=0)[rank]
            return mean - half, mean + half
        columns = np.arange(ordered.shape[1])
        ranks = np.array([exceeded(len(ordered), float(error) / 2) for error in self._errors])
        lower, upper = ordered[ranks, columns], ordered[len(ordered) - 1 - ranks, columns]
        if self.too_few:
            middle, half = self.centre(*PAIR)[0], self.reach(-ndtri(error_allowed(self.level) / 2), *PAIR)[0]
            lower, upper = np.minimum(lower, middle - half), np.maximum(upper, middle + half)
        return lower, upper

    def student(self) -> Student:
        """Return the mean and the variance of the replicates, and what the calibration knows of units."""
        centre, spread = self.centre(*PAIR)[0], self.drawn_spread(*PAIR)[0]
        if self.calibration is None:
            return Student(centre, spread**2, np.full(centre.shape, np.inf), np.full(centre.shape, np.inf))
        known = self.calibration
        return Student(centre, (spread * known.lost) ** 2, known.freedom, known.units + 1)

    @cached_property
    def _errors(self) -> Floats:
        """What the level allows to lie beyond the interval at each point, less where users are few."""
        allowed = np.full(self.draws.shape[1], error_allowed(self.level))
        return allowed if self.calibration is None else 1 - self.calibration.level(self.level)

    @property
    def too_few(self) -> bool:
        """Whether replicates do not reach as far out as few users need: beyond them tails are taken as normal."""
        return self.calibration is not None and bool(((len(self.draws) + 1) * self._errors / 2 <= 1).any())


def deployed_evidence(compared: Compared, *, threads: int | None, progress: Progress | None) -> DeployedEvidence:
    """Draw the test set, the same trials for all systems or each system's own."""
    run = _apart if compared.unpaired else _together
    draws, calibration, notes = run(compared, threads=threads, progress=progress)
    if calibration is not None:  # the last point is the mean over the alphas
        mean = calibration.overall
        freedom, units = np.append(calibration.freedom, mean.freedom), np.append(calibration.units, mean.units)
        calibration = replace(calibration, freedom=freedom, units=units)
    observed = _with_mean(np.stack([curve.value for curve in compared.curves], axis=1), compared.shares)
    plan = compared.plan
    evidence = DeployedEvidence(observed, draws, plan.level, notes, plan.interval, calibration)
    return replace(evidence, warnings=(*notes, TOO_FEW)) if evidence.too_few else evidence


def _with_mean(values: Floats, shares: Floats) -> Floats:
    """Add the mean over the alphas as the last point; the axes end with (alphas, systems)."""
    return np.concatenate([values, np.tensordot(values, shares, (-2, 0))[..., None, :]], axis=-2)


#: The values in every draw, (draws, points, systems), the correction of their tails, and warnings about errors.
Drawn = tuple[Floats, Calibration | None, tuple[str, ...]]


def _together(compared: Compared, *, threads: int | None, progress: Progress | None) -> Drawn:
    curves, plan, shares = compared.curves, compared.plan, compared.shares
    tests = [curve.test for curve in curves]
    if plan.design.whole_users:  # remembered by each: one scan of a panel for all that follows
        counted_apart(tests, [np.unique(curve.threshold) for curve in curves])
    calibration, notes = _calibration(compared) if plan.interval == "calibrated" else (None, ())
    every = None
    if calibration is not None:
        rates = [error_rates(curve.test, curve.threshold) for curve in curves]
        every = Calibration.side_by_side([replace(calibration, rate=rate) for rate in rates])
    kept = np.float64 if len(curves) <= FEW_SYSTEMS else np.float32

    def reduce(values: Floats) -> Floats:
        return _with_mean(values, shares).astype(kept, copy=False)

    draws = replicates_together(curves, plan, every, threads=threads, progress=progress, reduce=reduce)
    return draws.reshape(len(draws), -1, len(curves)), calibration, notes


def _calibration(compared: Compared) -> tuple[Calibration, tuple[str, ...]]:
    """Return what the differences need: of more than two systems, what that of any system and the next needs most."""
    curves, plan = compared.curves, compared.plan
    rings = zip(curves, (*curves[1:], curves[0]), strict=True) if len(curves) > 2 else [curves]
    found: list[Calibration] = []
    notes: dict[str, Caution] = {}
    for a, b in rings:
        found.append(plan.design.calibrate(a.test, a.threshold, plan, other=(b.test, b.threshold)))
        said = error_cautions(a.test, a.threshold, plan, found[-1], paired=True)
        notes |= {caution.code: caution for caution in said if caution.code not in notes}
    freedom, units = (np.min([getattr(each, name) for each in found], axis=0) for name in ("freedom", "units"))
    scale = np.max([calibration.scale for calibration in found], axis=0)
    return replace(found[0], freedom=freedom, units=units, scale=scale), tuple(notes.values())


def _apart(compared: Compared, *, threads: int | None, progress: Progress | None) -> Drawn:
    values, calibrations = [], []
    notes: dict[str, Caution] = {}
    for number, curve in enumerate(compared.curves):
        part = replace(compared.plan, streams=number)
        calibrations.append(part.calibration(curve.test, curve.threshold))
        said = error_cautions(curve.test, curve.threshold, part, calibrations[-1])
        notes |= {caution.code: caution for caution in said if caution.code not in notes}
        values.append(replicates_of(curve, part, calibrations[-1], threads=threads, progress=progress))
    known = [calibration for calibration in calibrations if calibration is not None]
    widest = None  # as sure as the least sure of them
    if known:
        freedom, units = (np.min([getattr(each, name) for each in known], axis=0) for name in ("freedom", "units"))
        widest = replace(known[0], freedom=freedom, units=units)
    kept = np.float64 if len(values) <= FEW_SYSTEMS else np.float32
    drawn = _with_mean(np.stack(values, axis=-1), compared.shares)
    return drawn.astype(kept, copy=False), widest, tuple(notes.values())


# -- systems as methods --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MethodEvidence(Evidence):
    """What systems are expected to show, and how much every unit of the data moves that."""

    estimates: Estimates
    shares: Floats
    plan: BootstrapPlan

    def at(self, point: int) -> Self:
        """Return what is known at one alpha."""
        here = replace(super().at(point), estimates=self.estimates.at(point), shares=np.ones(1))
        assert self.plan.alpha is not None
        elsewhere = tuple(line for line in self.warnings if getattr(line, "code", "") != "ends")
        return replace(here, warnings=(*elsewhere, *ends(self.plan.alpha[[point]])))

    def estimated(self, system: int) -> Estimated | None:
        """Return what is expected of a system."""
        return Estimated(self.estimates, system, self.plan)

    @cached_property
    def _products(self) -> list[tuple[Floats, Floats, Floats]]:
        """The products of the influences of all systems at each point, (points, systems, systems), by part.

        Of the influences, of their squares, and of their cubes with them; from the mean of the systems, for precision.
        """
        products = []
        for part in self.estimates.parts:
            influence = _with_mean(part.influence.swapaxes(1, 2), self.shares).swapaxes(0, 1)
            influence = influence - influence.mean(axis=2, keepdims=True)
            first = [at.T @ at for at in influence]
            second = [(at**2).T @ at**2 for at in influence]
            third = [(at**3).T @ at for at in influence]
            products.append((np.stack(first), np.stack(second), np.stack(third)))
        return products

    def _variance(self, first: Index, second: Index, points: slice = EVERY) -> tuple[Floats, Floats]:
        squares, degrees = [], []
        for part, (once, twice, thrice) in zip(self.estimates.parts, self._products, strict=True):
            pairs = zip(once[points], twice[points], thrice[points], strict=True)
            found = [(_of_pairs(a, first, second), _fourths(b, c, first, second)) for a, b, c in pairs]
            square, fourth = (np.stack(each, axis=1) for each in zip(*found, strict=True))
            most = np.append(part.degrees, part.degrees @ self.shares)[points]
            squares.append(square)
            degrees.append(satterthwaite(square, fourth, most, units=len(part.influence)))
        return np.sum(squares, axis=0), welch(squares, degrees)

    def centre(self, first: Index, second: Index) -> Floats:
        """Return the expected differences."""
        return self.difference(first, second)

    def deviates(self, first: Index, second: Index, at: float = 0.0, points: slice = EVERY) -> Floats:
        """Return what Student's t is worth of a normal variable."""
        from scipy.special import ndtri_exp, stdtr

        variance, degrees = self._variance(first, second, points)
        ratio = _ratio(self.centre(first, second)[:, points] - at, np.sqrt(variance))
        tail = np.maximum(stdtr(degrees, -np.abs(ratio)), 1e-300)
        return np.asarray(np.copysign(ndtri_exp(np.log(tail)), ratio))

    def reach(self, deviations: Any, first: Index, second: Index) -> Floats:
        """Return so many standard errors, more where Student's t has few degrees of freedom."""
        from scipy.special import ndtr, stdtrit

        variance, degrees = self._variance(first, second)
        return np.asarray(-stdtrit(degrees, ndtr(-np.asarray(deviations))) * np.sqrt(variance))

    def single_p_values(self, first: Index, second: Index, point: int, alternative: Alternative) -> Floats:
        """Return the p-values of Student's t."""
        from scipy.special import ndtr

        deviates = self.deviates(first, second, points=slice(point, point + 1))[:, 0]
        if alternative == "two-sided":
            return np.asarray(2 * ndtr(-np.abs(deviates)))
        return np.asarray(ndtr(deviates if alternative == "less" else -deviates))

    def tails(self, at: float) -> tuple[Floats, Floats]:
        """Return the tails of Student's t."""
        from scipy.special import stdtr

        variance, degrees = self._variance(*PAIR)
        ratio = _ratio(self.centre(*PAIR) - at, np.sqrt(variance))[0]
        return stdtr(degrees[0], ratio), stdtr(degrees[0], -ratio)

    def bounds(self) -> tuple[Floats, Floats]:
        """Return Student's interval."""
        from scipy.special import stdtrit

        variance, degrees = self._variance(*PAIR)
        middle = self.centre(*PAIR)[0]
        half = (-stdtrit(degrees, error_allowed(self.level) / 2) * np.sqrt(variance))[0]
        return middle - half, middle + half

    def student(self) -> Student:
        """Return the expected difference and its variance; the fewest units of a set are what it rests on."""
        variance, degrees = self._variance(*PAIR)
        by_user = self.plan.design.by_user
        units = min(len(part.influence) for part in self.estimates.parts) if by_user else np.inf
        return Student(self.centre(*PAIR)[0], variance[0], degrees[0], np.full(variance[0].shape, float(units)))


def method_evidence(compared: Compared, *, threads: int | None, progress: Progress | None) -> MethodEvidence:
    """Estimate what systems are expected to show, and draw how far the estimates may lie from that."""
    plan, shares = compared.plan, compared.shares
    curves, unpaired = compared.curves, compared.unpaired
    estimates = expected_values(curves, plan, unpaired=unpaired, threads=threads, progress=progress)
    expected = _with_mean(estimates.value.T, shares)
    systems, alphas = estimates.value.shape
    kept = np.float64 if systems <= FEW_SYSTEMS else np.float32
    draws = np.empty((plan.n_resamples, alphas + 1, systems), dtype=kept)
    step = max(1, NUMBERS_AT_A_TIME // (systems * alphas))
    for first in range(0, plan.n_resamples, step):
        rows = draws[first : first + step]
        rows[:] = _with_mean(estimates.draws(len(rows), plan.seed, first).swapaxes(1, 2), shares)
    draws += expected.astype(kept)
    return MethodEvidence(expected, draws, plan.level, estimates.warnings, estimates, shares, plan)


def gather_evidence(compared: Compared, *, threads: int | None = None, progress: Progress | None = None) -> Evidence:
    """Return the evidence for a claim about systems."""
    gather = method_evidence if compared.claim == "method" else deployed_evidence
    return gather(compared, threads=threads, progress=progress)
