"""Evidence: what draws, or the influences of users and trials, say about the differences of systems.

*Deployed* is about the thresholds as they are: only the test set is drawn, and replicates of the values are the
evidence (2005, section 5). *Method* is about tuning on other development sets like this one: the evidence is what each
system is expected to show then, and how much every user or trial of either set moves that (`estimates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from priori.base.cautions import Caution
from priori.base.quantiles import error_allowed
from priori.base.types import Floats, Index, Progress
from priori.curves.epc import EPC
from priori.scores.score_set import counted_apart
from priori.uncertainty.bands.bands import Estimated, replicates_of
from priori.uncertainty.bootstrap.calibration import Calibration, error_cautions, error_rates
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import Claim, Compared, prepare
from priori.uncertainty.comparing.max_t import Family, exceeded
from priori.uncertainty.expected.influences import Estimates
from priori.uncertainty.expected.method import expected_values
from priori.uncertainty.rates.proportions import normal_of, standardise, student_of

TOO_FEW = Caution("few-replicates", "too few replicates for this level: the tails are extrapolated as normal; use more")
#: Values of more systems than this are kept in single precision.
FEW_SYSTEMS = 2
#: Numbers drawn at once: some ten megabytes.
NUMBERS_AT_A_TIME = 1 << 20


class Student(NamedTuple):
    """Differences, their variances, the degrees of freedom of those, and how many units they rest on."""

    difference: Floats
    variance: Floats
    freedom: Floats
    units: Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of systems at some points: each alpha, and last the mean over the alphas, if there are several.

    ``expected`` are the values in question, (points, systems); ``draws`` what they are in every draw, (draws, points,
    systems). What belongs to pairs of systems has the shape (pairs, points). ``estimates`` are those of methods.
    """

    compared: Compared
    expected: Floats
    draws: Floats
    warnings: tuple[str, ...]
    estimates: Estimates | None

    @property
    def level(self) -> float:
        """The confidence level."""
        return self.compared.plan.confidence_level

    @property
    def several(self) -> bool:
        """Whether there are more than two systems: pairs to be tested together."""
        return bool(self.expected.shape[1] > 2)

    @cached_property
    def sides(self) -> tuple[Index, Index]:
        """The numbers of the first and of the second system of every pair: AB, AC, ..., BC, ..."""
        return np.triu_indices(self.expected.shape[1], 1)

    def estimated(self, system: int) -> Estimated | None:
        """Return what is expected of a system as a method, where that is the claim."""
        return None if self.estimates is None else Estimated(self.estimates, system, self.compared.plan)

    def difference(self) -> Floats:
        """Return the differences in question."""
        first, second = self.sides
        return np.asarray((self.expected[:, first] - self.expected[:, second]).T)

    def drawn_difference(self) -> Floats:
        """Return the difference of two systems in every draw, (draws, points)."""
        return np.asarray(self.draws[:, :, 0] - self.draws[:, :, 1], dtype=np.float64)

    @cached_property
    def mean(self) -> Floats:
        """The mean of the draws, (points, systems)."""
        return np.asarray(self.draws.mean(axis=0, dtype=np.float64))

    @cached_property
    def covariances(self) -> list[Floats]:
        """The covariances of the systems over the draws, at each point."""
        offs = (self.draws[:, point] - self.mean[point] for point in range(self.draws.shape[1]))
        return [off.T @ off / len(off) for off in offs]

    @cached_property
    def drawn_spread(self) -> Floats:
        """The standard deviations of differences over the draws."""
        return np.sqrt(np.stack([_of_pairs(at, *self.sides) for at in self.covariances], axis=1))

    @cached_property
    def families(self) -> list[Family]:
        """All pairs at each point, to be tested together; columns of the draws are systems."""
        return [Family(*self.sides, *at) for at in zip(self.drawn_spread.T, self.deviates().T, strict=True)]

    @cached_property
    def student(self) -> Student:
        """What Student's t needs of the differences."""
        raise NotImplementedError

    def deviates(self, at: float = 0.0) -> Floats:
        """Return how many standard deviations of a normal variable each difference lies above ``at``."""
        difference, variance, freedom, _ = self.student
        with np.errstate(over="ignore"):  # a margin may be as large as a float can be
            ratio = standardise(difference - at, np.sqrt(variance))
        return np.asarray(np.copysign(normal_of(np.abs(ratio), freedom), ratio))

    def tails(self, at: float = 0.0) -> tuple[Floats, Floats]:
        """Return the p-values of "not less" and of "not greater" than ``at``, each difference on its own."""
        from scipy.special import ndtr

        deviates = self.deviates(at)
        return ndtr(deviates), ndtr(-deviates)

    def around(self, deviations: Any) -> tuple[Floats, Floats]:
        """Return intervals of differences that correspond to so many standard deviations of a normal variable."""
        middle, variance, freedom, _ = self.student
        half = student_of(deviations, freedom) * np.sqrt(variance)
        return middle - half, middle + half

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the pointwise intervals of differences."""
        from scipy.special import ndtri

        return self.around(-ndtri(error_allowed(self.level) / 2))


def _of_pairs(products: Floats, first: Index, second: Index) -> Floats:
    """Return the variances of differences from the products of systems; rounding leaves none below 0."""
    own = np.diagonal(products)
    total = own[first] + own[second]
    variance = total - 2 * products[first, second]
    return np.where(variance > 1e-9 * total, variance, 0.0)


def _with_mean(values: Floats, shares: Floats) -> Floats:
    """Add the mean over several alphas as the last point; the axes end with (alphas, systems)."""
    if shares.size == 1:
        return values
    return np.concatenate([values, np.tensordot(values, shares, (-2, 0))[..., None, :]], axis=-2)


def _kept_as(systems: int) -> Any:
    return np.float64 if systems <= FEW_SYSTEMS else np.float32


# -- the thresholds as they are ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DeployedEvidence(Evidence):
    """Replicates of the values on the test set; ``calibration`` widens their tails where it is asked for."""

    calibration: Calibration | None

    @cached_property
    def student(self) -> Student:
        """The mean and the variance of the replicates, and what the calibration knows of units."""
        (first, second), variance, known = self.sides, self.drawn_spread**2, self.calibration
        centre, endless = (self.mean[:, first] - self.mean[:, second]).T, np.full_like(variance, np.inf)
        if known is None:
            return Student(centre, variance, endless, endless)
        freedom, units = np.broadcast_arrays(known.freedom, known.units + 1, variance)[:2]
        return Student(centre, variance * known.lost**2, freedom, units)

    def tails(self, at: float = 0.0) -> tuple[Floats, Floats]:
        """Count the replicates of each difference beyond ``at``, one more than seen (Davison and Hinkley 1997)."""
        n, (first, second) = len(self.draws) + 1, self.sides
        if self.compared.plan.interval == "centred" and not self.several:
            difference = self.drawn_difference()
            mean = difference.mean(axis=0)
            half = (1 + (np.abs(difference - mean) >= np.abs(mean - at)).sum(axis=0)) / n / 2
            return np.where(mean < at, half, 1 - half)[None], np.where(mean > at, half, 1 - half)[None]
        beyond = np.empty((2, first.size, self.draws.shape[1]))
        for point in range(self.draws.shape[1]):
            values = np.ascontiguousarray(self.draws[:, point].T)
            for pair, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
                difference = values[a] - values[b]
                beyond[:, pair, point] = np.count_nonzero(difference >= at), np.count_nonzero(difference <= at)
        tails = (1 + beyond) / n
        if self.calibration is not None:
            tails = self.calibration.tail(tails)
        if self.too_few:
            tails = np.where(beyond > 0, tails, np.minimum(tails, super().tails(at)))
        return tails[0], tails[1]

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the bounds that leave out 0 where, and only where, the p-value is below 1 minus the level."""
        ordered = np.sort(self.drawn_difference(), axis=0)
        if self.compared.plan.interval == "centred":
            mean = ordered.mean(axis=0)
            rank = len(ordered) - 1 - exceeded(len(ordered), error_allowed(self.level))
            half = np.sort(np.abs(ordered - mean), axis=0)[rank]
            return (mean - half)[None], (mean + half)[None]
        columns = np.arange(ordered.shape[1])
        ranks = np.array([exceeded(len(ordered), float(error) / 2) for error in self._errors])
        lower, upper = ordered[ranks, columns][None], ordered[len(ordered) - 1 - ranks, columns][None]
        if self.too_few:
            normal = super().bounds()
            lower, upper = np.minimum(lower, normal[0]), np.maximum(upper, normal[1])
        return lower, upper

    @cached_property
    def _errors(self) -> Floats:
        """What the level allows to lie beyond the interval at each point, less where users are few."""
        allowed = np.full(self.draws.shape[1], error_allowed(self.level))
        return allowed if self.calibration is None else 1 - self.calibration.level(self.level)

    @property
    def too_few(self) -> bool:
        """Whether replicates do not reach as far out as few users need: beyond them tails are taken as normal."""
        return self.calibration is not None and bool(((len(self.draws) + 1) * self._errors / 2 <= 1).any())


def _deployed(compared: Compared) -> DeployedEvidence:
    """Draw the test set, the same trials for all systems or each system's own."""
    curves, shares = compared.curves, compared.shares

    def reduced(found: Floats) -> Floats:
        return _with_mean(found, shares).astype(_kept_as(len(curves)), copy=False)

    values, known, notes = list[Floats](), list[Calibration](), dict[str, Caution]()
    for number, some in enumerate([[curve] for curve in curves] if compared.unpaired else [list(curves)]):
        plan = replace(compared.plan, streams=number)
        if plan.design.whole_users:  # each set remembers its counts: one scan of a panel serves all that follows
            counted_apart([curve.test for curve in some], [np.unique(curve.threshold) for curve in some])
        own = list[Calibration]()
        if plan.interval == "calibrated":
            for curve, beside in _neighbours(some):
                other = None if beside is None else (beside.test, beside.threshold)
                own.append(plan.design.calibrate(curve.test, curve.threshold, plan, other=other))
                said = error_cautions(curve.test, curve.threshold, plan, own[-1], paired=other is not None)
                notes = {caution.code: caution for caution in said} | notes
            widest = Calibration.least_sure(own)
            own = [replace(widest, rate=error_rates(curve.test, curve.threshold)) for curve in some]
        draws = replicates_of(some, plan, own or [None] * len(some), reduce=reduced)
        values.append(draws.reshape(len(draws), -1, len(some)))
        known += own
    observed = _with_mean(np.stack([curve.value for curve in curves], axis=1), shares)
    calibration = None
    if known:
        calibration = widest = Calibration.least_sure(known)
        if shares.size > 1:  # the last point is the mean over the alphas
            mean = widest.overall
            freedom, units = np.append(widest.freedom, mean.freedom), np.append(widest.units, mean.units)
            calibration = replace(widest, freedom=freedom, units=units)
    drawn = values[0] if len(values) == 1 else np.concatenate(values, axis=2)
    evidence = DeployedEvidence(compared, observed, drawn, tuple(notes.values()), None, calibration)
    return replace(evidence, warnings=(*evidence.warnings, TOO_FEW)) if evidence.too_few else evidence


def _neighbours(curves: Sequence[EPC]) -> list[tuple[EPC, EPC | None]]:
    """Return a system alone, a pair, or of more each system and the next: the difference that needs most counts."""
    if len(curves) == 1:
        return [(curves[0], None)]
    pairs: list[tuple[EPC, EPC | None]] = list(zip(curves, (*curves[1:], curves[0]), strict=True))
    return pairs[: 1 if len(curves) == 2 else None]


# -- systems as methods --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MethodEvidence(Evidence):
    """What systems are expected to show, and how much every unit of the data moves that: Student's t."""

    @cached_property
    def student(self) -> Student:
        """The expected differences and their variances; they rest on the units of the smallest set."""
        assert self.estimates is not None
        shares, found = self.compared.shares, list[Floats]()
        for first, second in zip(*self.sides, strict=True):
            weights = np.zeros(len(self.estimates.value))
            weights[first], weights[second] = 1.0, -1.0
            points = [self.estimates.contrast(weights, over) for over in (None, shares)[: 1 + (shares.size > 1)]]
            found.append(np.concatenate(points, axis=1))
        difference, variance, degrees = np.stack(found, axis=1)
        by_user = self.compared.plan.design.by_user
        units = min(len(part.influence) for part in self.estimates.parts) if by_user else np.inf
        return Student(difference, variance, degrees, np.full_like(variance, units))


def _method(compared: Compared) -> MethodEvidence:
    """Estimate what systems are expected to show, and draw how far the estimates may lie from that."""
    plan, shares = compared.plan, compared.shares
    estimates = expected_values(compared.curves, plan, unpaired=compared.unpaired)
    expected = _with_mean(estimates.value.T, shares)
    systems, alphas = estimates.value.shape
    draws = np.empty((plan.n_resamples, *expected.shape), dtype=_kept_as(systems))
    step = max(1, NUMBERS_AT_A_TIME // (systems * alphas))
    for first in range(0, plan.n_resamples, step):
        rows = draws[first : first + step]
        rows[:] = _with_mean(estimates.draws(len(rows), plan.seed, first).swapaxes(1, 2), shares)
    draws += expected.astype(draws.dtype)
    return MethodEvidence(compared, expected, draws, estimates.warnings, estimates)


def gather_evidence(
    curves: Sequence[EPC],
    resampling: Resampling,
    claim: Claim = "method",
    *,
    unpaired: bool = False,
    margin: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evidence:
    """Return the evidence for a claim about systems, drawn as a resampling describes."""
    compared = prepare(curves, resampling, claim, unpaired=unpaired, margin=margin, threads=threads, progress=progress)
    return _method(compared) if compared.claim == "method" else _deployed(compared)
