"""Bands: intervals around an EPC, or around an EPSC, from the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from priori.base.above import above
from priori.base.alphas import AlphaAxis
from priori.base.cautions import Caution, joined
from priori.base.declarations import Cautions, Summary, Unsaved
from priori.base.options import ResamplingOptions
from priori.base.results import Result
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC, CurveInside
from priori.curves.epsc import EPSC, OverBoth
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.scores import BOUND, Scores, ScoreSet, condense, condense_all
from priori.scores.histogram import most_between
from priori.scores.score_set import TooManyEntries, narrow_caution
from priori.uncertainty.bootstrap.calibration import Calibration, error_cautions
from priori.uncertainty.bootstrap.designs import CROSSED
from priori.uncertainty.bootstrap.readers import replicate, system_of
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, ResampledSettings, Resampling
from priori.uncertainty.expected.expected_bands import Estimated, expected_curve
from priori.uncertainty.expected.method import ends
from priori.uncertainty.expected.score_axis import score_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Where pairs of people are too many for the memory given, only every so many cells of an axis are told apart.
COARSER = (1, 2, 4, 8)


@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """A bootstrap band around an Expected Performance Curve: one row per alpha. Made by `EPC.band`.

    Attributes
    ----------
    alpha, value : ndarray
        The curve.
    lower, upper : ndarray
        The bounds.
    mean : ndarray
        The mean of the replicates.
    settings : dict
        How the band was made, and what it covers.
    warnings : tuple of str
        Warnings about it, and about its curve.
    curve : EPC
        The curve it belongs to.
    replicates : ndarray or None
        The values of every replicate, one row each, where they were kept.
    """

    alpha: Floats
    value: Floats
    lower: Floats
    upper: Floats
    mean: Floats
    settings: ResampledSettings
    curve: CurveInside
    warnings: Cautions = ()
    replicates: Unsaved[Floats | None] = None

    @property
    def width(self) -> Floats:
        """The width of the interval at each alpha."""
        return self.upper - self.lower

    @property
    def expected_width(self) -> Summary[float]:
        """The mean width over the alphas, E_beta[upper - lower] (2007, section 3.2)."""
        return float(self.width.mean())

    @property
    def backend(self) -> str | None:
        """The dataframe library the test scores came from, if any."""
        return self.curve.backend

    def covers(self, values: Floats) -> float:
        """Return the share of a curve, at the same alphas, that lies within the band: the 2007 paper's coverage."""
        return float(np.mean((self.lower <= values) & (values <= self.upper)))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        regions: Sequence[tuple[float, float]] = (),
        best: bool = False,
        axis: AlphaAxis = "alpha",
    ) -> Axes:
        """Draw the curve and its band; options as in `priori.plots.plot_epc`; returns the axes."""
        return above(self, "plot")([self.curve], ax=ax, bands=[self], regions=regions, best=best, axis=axis)


@dataclass(frozen=True, eq=False, repr=False)
class SurfaceBand(Result, OverBoth):
    """A bootstrap band around an Expected Performance and Spoofability Curve: one row per omega and beta.

    Made by `EPSC.band`.

    Attributes
    ----------
    omega, beta, value, lower, upper, iapmr : ndarray
        The points of the curve, HTER_omega there and its bounds, and the IAPMR.
    bands : tuple of Band
        The band around the curve over beta at each omega.
    settings, warnings : dict, tuple of str
        How the bands were made, and warnings.
    """

    name: str
    omega: Floats
    beta: Floats
    value: Floats
    lower: Floats
    upper: Floats
    iapmr: Floats
    bands: Unsaved[tuple[Band, ...]]
    settings: ResampledSettings
    warnings: Cautions = ()


def resamplable(curve: EPC, resampling: Resampling, *, beside: Sequence[EPC] = ()) -> tuple[EPC, tuple[str, ...]]:
    """Return the curve with sets that can be resampled as asked, in narrow cells where they do not fit in memory.

    With it come notes on such cells. Where thresholds are fixed, counts are enough and the sets stay where they are; so
    they do where trials are paired with those of curves ``beside`` it and there are no users.
    """
    curve = curve.to_resample(resampling.resample)
    if resampling.by_both_identities and (curve.test.scanned or curve.dev.scanned):
        if beside and resampling.resample != "both" and not curve.test.fits:
            return curve, ()  # their trials are paired where they are
        return _by_both_identities(curve, resampling)
    if resampling.resample != "both":
        return curve, ()
    every = (curve, *beside)
    by_user = resampling.may_keep_users and all(each.test.has_users and each.dev.has_users for each in every)
    notes, sets = list[str](), list[ScoreSet]()
    for own, others in ((curve.dev, [each.dev for each in beside]), (curve.test, [each.test for each in beside])):
        if others and not by_user and not all(each.fits for each in (own, *others)):
            sets.append(own)  # users come with all their trials, whichever is which; trials are paired where they are
            continue
        entries, said = condense(own, ("user",) if by_user else (), narrow=BOUND, said="resampled")
        sets.append(entries)
        notes += said
    dev, test = sets
    if resampling.bootstrap is None and by_user:
        notes += CROSSED.left_out_of_bins([curve.dev, curve.test])
    return replace(curve, dev=dev, test=test), tuple(notes)


def _by_both_identities(curve: EPC, resampling: Resampling) -> tuple[EPC, tuple[str, ...]]:
    """Return the curve with sets in which trials are counted by both of their identities."""
    if resampling.resample == "both":
        wholes = [whole for whole, _ in condense_all([curve.dev, curve.test], narrow=BOUND)]
        axis = score_axis(wholes[0], wholes[1])
        cuts = [np.union1d(axis.thresholds(axis.every[::step]), curve.threshold) for step in COARSER]
        (dev, notes), (test, more) = (_by_people(each, cuts) for each in (curve.dev, curve.test))
        return replace(curve, dev=dev, test=test), (*notes, *more)
    test, notes = condense(curve.test, ("user", "probe_user"), cuts=curve.threshold)
    return replace(curve, test=test), notes


def _by_people(scores: ScoreSet, cuts: Sequence[Floats]) -> tuple[Scores, tuple[Caution, ...]]:
    """Return all the trials, or as many of each two people between cuts, the first that fit, and what to say."""
    if scores.fits:
        return scores.load(), ()

    def counted(between: Floats) -> tuple[Scores, tuple[Caution, ...]]:
        (entries,) = scores.count([between], ("user", "probe_user"), means=True)
        most = most_between(entries, between)
        return entries, (narrow_caution(scores.source, "resampled", between.size + 1, most),)

    *finer, coarsest = cuts
    for each in finer:
        with suppress(TooManyEntries):
            return counted(each)
    return counted(coarsest)


def value_of(measure: Measure, outcomes: Outcomes, alpha: Floats) -> Floats:
    """Return the measure of outcomes of shape (replicates, alphas), called with one row of outcomes as always."""
    shape = outcomes.fp.shape
    counts = (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn)
    flat = Outcomes(*(np.ravel(np.broadcast_to(count, shape)) for count in counts))
    return measure(flat, np.tile(alpha, shape[0])).reshape(shape)


#: The counts of outcomes, in order.
_COUNTS = ("tp", "fp", "tn", "fn")


def _side_by_side(outcomes: Sequence[Outcomes]) -> Outcomes:
    """Return the outcomes of systems, (replicates, alphas) each, as if they were those of one: system by system."""
    columns = ([np.broadcast_to(getattr(each, name), each.fp.shape) for each in outcomes] for name in _COUNTS)
    return outcomes[0] if len(outcomes) == 1 else Outcomes(*(np.concatenate(counts, axis=1) for counts in columns))


def replicates_of(
    curves: Sequence[EPC],
    plan: BootstrapPlan,
    calibration: Calibration | None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    reduce: Callable[[Floats], Floats] = lambda values: values,
) -> Floats:
    """Return the values of systems drawn together, one row a replicate; (replicates, alphas, systems) are reduced.

    The curves have the same alphas; the calibration is that of all systems side by side.
    """
    alpha = curves[0].alpha
    alike = all(curve.measure is curves[0].measure for curve in curves)

    def statistic(outcomes: list[Outcomes], first: int) -> Floats:
        counts = _side_by_side(outcomes)
        if calibration is not None:
            counts = calibration.adjust(counts, plan, first)
        if alike:
            values = value_of(curves[0].measure, counts, np.tile(alpha, len(curves)))
        else:
            parts = (np.split(getattr(counts, name), len(curves), axis=1) for name in _COUNTS)
            each = zip(curves, *parts, strict=True)
            values = np.hstack([value_of(curve.measure, Outcomes(*own), alpha) for curve, *own in each])
        by_system = values.reshape(len(values), len(curves), -1)
        return reduce(by_system.swapaxes(1, 2)).reshape(len(values), -1)

    return replicate([system_of(curve) for curve in curves], plan, statistic, threads=threads, progress=progress)


def make_band(
    curve: EPC,
    options: ResamplingOptions,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    keep: bool = False,
    estimated: Estimated | None = None,
) -> Band:
    """Compute the band around a curve.

    Of thresholds by theory there are no new ones to choose: both sets resampled is the test set resampled.
    ``estimated`` is what is expected of systems as methods, where that is known.
    """
    resampling = Resampling(**vars(options))
    if not curve.criterion.reads_development:
        resampling = replace(resampling, resample="test")
    resampled, notes = resamplable(curve, resampling)
    plan = resampling.settle(resampled.dev, resampled.test, resampled)
    if plan.of_method:
        expected = expected_curve(resampled, plan, estimated, threads=threads, progress=progress, keep=keep)
        mean, lower, upper, replicates, cautions = expected
    else:
        calibration = plan.calibration(resampled.test, resampled.threshold)
        values = replicates_of([resampled], plan, calibration, threads=threads, progress=progress)
        mean, replicates = values.mean(axis=0), values if keep else None
        lower, upper = plan.bounds(values, calibration, rate=curve.measure.rate)
        cautions = error_cautions(resampled.test, resampled.threshold, plan, calibration)
        cautions += ends(curve.alpha) if plan.resample == "both" else ()
    lower, upper = _of_what_was_seen(curve, plan, lower, upper)
    warnings = joined(dict.fromkeys((*plan.warnings, *notes)), cautions, curve.warnings)
    return Band(curve.alpha, curve.value, lower, upper, mean, plan.settings(), curve, warnings, replicates)


def _of_what_was_seen(curve: EPC, plan: BootstrapPlan, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return the bounds as stated: pseudo-trials say that there may be errors where none was seen, not must."""
    if not (curve.measure.rate and plan.interval == "calibrated"):
        return lower, upper
    return np.where(curve.value <= 0, 0.0, lower), np.where(curve.value >= 1, 1.0, upper)


def bounds_together(curves: Sequence[EPC], plan: BootstrapPlan, *, threads: int | None = None) -> tuple[Floats, Floats]:
    """Return the bounds of the bands of many curves at fixed thresholds, (systems, alphas), from one run of draws.

    They are those of each curve's own band where users come with all their trials: one draw of users serves all.
    """
    each = [plan.calibration(curve.test, curve.threshold) for curve in curves]
    known = [calibration for calibration in each if calibration is not None]
    together = Calibration.side_by_side(known) if known else None
    drawn = replicates_of(curves, plan, together, threads=threads).reshape(plan.n_resamples, -1, len(curves))
    found = []
    for system, (curve, calibration) in enumerate(zip(curves, each, strict=True)):
        bounds = plan.bounds(np.ascontiguousarray(drawn[:, :, system]), calibration, rate=curve.measure.rate)
        found.append(_of_what_was_seen(curve, plan, *bounds))
    lower, upper = (np.stack(side) for side in zip(*found, strict=True))
    return lower, upper


def surface_band(curve: EPSC, bands: Sequence[Band]) -> SurfaceBand:
    """Put the bands around the curves over beta together."""
    lower, upper = (np.concatenate([getattr(band, end) for band in bands]) for end in ("lower", "upper"))
    warnings = joined(bands[0].warnings, *(band.warnings for band in bands[1:]))
    return SurfaceBand(
        curve.name,
        curve.omega,
        curve.beta,
        curve.value,
        lower,
        upper,
        curve.iapmr,
        tuple(bands),
        bands[0].settings,
        warnings,
    )._came_from(curve)
