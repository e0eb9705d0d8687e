"""Bands: intervals around an EPC, an EPSC, or the areas of an EPC, from the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from priori.base.above import above
from priori.base.alphas import AlphaAxis, check_bounds
from priori.base.cautions import joined
from priori.base.declarations import Cautions, Summary, Unsaved
from priori.base.options import ResamplingOptions
from priori.base.quantiles import quantile
from priori.base.results import Result
from priori.base.types import Floats, Progress, Texts
from priori.curves.areas import areas
from priori.curves.epc import EPC, CurveInside, epc
from priori.curves.epsc import EPSC, OverBoth
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes, count
from priori.decisions.tasks import Task, get_task
from priori.scores import BOUND, ScoreSet, condense
from priori.scores.influence import welch
from priori.uncertainty.bootstrap.calibration import Calibration, error_cautions
from priori.uncertainty.bootstrap.designs import CROSSED
from priori.uncertainty.bootstrap.readers import replicate, scaled, system_of, value_of
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, ResampledSettings, Resampling
from priori.uncertainty.expected.influences import Estimates
from priori.uncertainty.expected.method import ends, expected_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: In replicates an area is the mean over this many alphas, each in the middle of its share of the range.
POINTS = 256


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
    """Return the curve with sets that can be resampled as asked, in narrow bins where they do not fit in memory.

    Also return notes on such bins. Where thresholds are fixed, counts are enough and the sets stay where they are; so
    they do where trials are paired with those of curves ``beside`` it and there are no users.
    """
    curve = curve.to_resample(resampling.resample)
    if resampling.by_both_identities and (curve.test.scanned or curve.dev.scanned):
        if resampling.resample == "both":  # the bootstrap raises an error where they do not fit
            dev, test = (each.load() if each.fits else each for each in (curve.dev, curve.test))
            return replace(curve, dev=dev, test=test), ()
        if beside and not curve.test.fits:
            return curve, ()  # their trials are paired where they are
        counted, notes = condense(curve.test, ("user", "probe_user"), cuts=curve.threshold)
        return replace(curve, test=counted), notes
    if resampling.resample != "both":
        return curve, ()
    every = (curve, *beside)
    by_user = resampling.may_keep_users and all(each.test.has_users and each.dev.has_users for each in every)
    found, sets = list[str](), list[ScoreSet]()
    for own, others in ((curve.dev, [each.dev for each in beside]), (curve.test, [each.test for each in beside])):
        if others and not by_user and not all(each.fits for each in (own, *others)):
            sets.append(own)  # users come with all their trials, whichever is which; trials are paired where they are
            continue
        entries, said = condense(own, ("user",) if by_user else (), narrow=BOUND, said="resampled")
        sets.append(entries)
        found += said
    if resampling.bootstrap is None and by_user:
        found += CROSSED.left_out([each for each in (curve.dev, curve.test) if not each.fits])
    return replace(curve, dev=sets[0], test=sets[1]), tuple(found)


def replicates_of(
    curves: Sequence[EPC],
    plan: BootstrapPlan,
    calibrations: Sequence[Calibration | None],
    *,
    reduce: Callable[[Floats], Floats] = lambda values: values,
) -> Floats:
    """Return the values of systems drawn together, one row a replicate; (replicates, alphas, systems) are reduced.

    The curves have the same alphas; each has its calibration, or none.
    """

    def statistic(outcomes: list[Outcomes], first: int) -> Floats:
        each = [
            value_of(curve.measure, known.adjust(own, plan, first) if known else own, curve.alpha)
            for curve, known, own in zip(curves, calibrations, outcomes, strict=True)
        ]
        values = reduce(np.stack(each, axis=2))
        return values.reshape(len(values), -1)

    return replicate([system_of(curve) for curve in curves], plan, statistic)


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

    Thresholds set by theory do not change when the development set is resampled, so only the test set is.
    ``estimated`` is what is expected of systems as methods, where that is known.
    """
    resampling = Resampling(**vars(options))
    if not curve.criterion.reads_development:
        resampling = replace(resampling, resample="test")
    resampled, notes = resamplable(curve, resampling)
    plan = resampling.settle(resampled.dev, resampled.test, resampled, threads=threads, progress=progress)
    if plan.of_method:
        mean, lower, upper, replicates, cautions = expected_curve(resampled, plan, estimated, keep=keep)
    else:
        calibration = plan.calibration(resampled.test, resampled.threshold)
        values = replicates_of([resampled], plan, [calibration])
        mean, replicates = values.mean(axis=0), values if keep else None
        lower, upper = plan.bounds(values, calibration, rate=curve.measure.rate)
        cautions = error_cautions(resampled.test, resampled.threshold, plan, calibration)
        cautions += ends(curve.alpha) if plan.resample == "both" else ()
    of_curve: Sequence[str] = curve.warnings
    if plan.design.by_user and not plan.of_method:
        # The band judges who errs along all alphas, where it matters; the curve does so at one alpha, for both rates.
        of_curve = [line for line in of_curve if getattr(line, "code", "") != "few-units"]
    if curve.measure.rate:
        lower, upper = plan.as_seen(curve.value, lower, upper)
    warnings = joined(dict.fromkeys((*plan.warnings, *notes)), cautions, of_curve)
    return Band(curve.alpha, curve.value, lower, upper, mean, plan.settings(), curve, warnings, replicates)


def surface_band(
    curve: EPSC, options: ResamplingOptions, *, threads: int | None = None, progress: Progress | None = None
) -> SurfaceBand:
    """Compute the band around the curve over beta at each omega."""
    bands = [make_band(each, options, threads=threads, progress=progress) for each in curve.curves]
    lower, upper = (np.concatenate([getattr(band, end) for band in bands]) for end in ("lower", "upper"))
    warnings = joined(bands[0].warnings, *(band.warnings for band in bands[1:]))
    points = curve.name, curve.omega, curve.beta, curve.value, lower, upper, curve.iapmr
    return SurfaceBand(*points, tuple(bands), bands[0].settings, warnings)._came_from(curve)


# -- areas ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class AreaBands(Result):
    """The areas E_V1, E_V2 and G with a bootstrap interval each: one row per area. Made by `area_bands`."""

    area: Texts
    value: Floats
    lower: Floats
    upper: Floats
    settings: ResampledSettings
    warnings: Cautions = ()

    _rates: ClassVar[bool] = True


def area_bands(
    dev: ScoreSet,
    test: ScoreSet,
    options: ResamplingOptions,
    *,
    task: str | Task = "authentication",
    bounds: tuple[Any, Any] = (0, 1),
    threads: int | None = None,
    progress: Progress | None = None,
) -> AreaBands:
    """Compute the areas E_V1, E_V2 and G with a bootstrap interval each.

    The areas themselves are exact; in replicates they are means over 256 alphas.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200)) for _ in range(2))
    >>> bands = area_bands(dev, test, ResamplingOptions(n_resamples=500))
    >>> bands.area.tolist(), bool((bands.lower < bands.value).all() and (bands.value < bands.upper).all())
    (['e_v1', 'e_v2', 'g'], True)
    """
    domain = get_task(task)
    low, high = check_bounds(bounds)
    alphas = [low + (high - low) * Fraction(2 * k + 1, 2 * POINTS) for k in range(POINTS)]
    mean = Measure("mean", "(V1 + V2)/2", lambda outcomes, alpha: (domain.v1(outcomes) + domain.v2(outcomes)) / 2)
    run: dict[str, Any] = {"threads": threads, "progress": progress}
    plan = Resampling(**vars(options)).settle(dev, test, measures=(domain.v1, domain.v2), **run)
    curves = [epc(dev, test, task=domain, criterion=f"target-v{v}", measure=mean, alpha=alphas) for v in (1, 2)]
    exact = areas(dev, test, task=domain, bounds=bounds)
    value = np.array([exact.e_v1, exact.e_v2, exact.g])
    on_grid = np.array([curve.value.mean() for curve in curves])
    offset = value - np.append(on_grid, on_grid.mean())
    warnings = plan.warnings
    if plan.of_method:
        lower, upper, cautions = expected_areas(curves, plan, offset)
        warnings = (*warnings, *cautions)
    else:
        calibrations = [plan.calibration(curve.test, curve.threshold) for curve in curves]
        # One seed gives both criteria the same replicates, so that G is the mean of its two parts.
        each = [
            replicates_of([curve], plan, [own], reduce=lambda values: values.mean(axis=1))
            for curve, own in zip(curves, calibrations, strict=True)
        ]
        replicates = np.column_stack([*each, (each[0] + each[1]) / 2]) + offset
        overall = [calibration.overall for calibration in calibrations if calibration]
        least_sure = min(overall, key=lambda calibration: float(calibration.freedom[0]), default=None)
        lower, upper = plan.bounds(replicates, least_sure, rate=mean.rate)
    names = np.array(["e_v1", "e_v2", "g"])
    return AreaBands(names, value, lower, upper, plan.settings(), warnings)._came_from(test)


# -- systems as methods: intervals around what is expected of them, from estimates, on the scale of logits ----------


class Estimated(NamedTuple):
    """One of some systems whose expected values were estimated together, and by what plan."""

    estimates: Estimates
    system: int
    plan: BootstrapPlan

    def serves(self, plan: BootstrapPlan) -> bool:
        """Return whether another plan draws the same units from the same streams."""
        drawn = ((each.design.name, each.shared_users, each.seed) for each in (plan, self.plan))
        return next(drawn) == next(drawn)


def expected_curve(
    curve: EPC, plan: BootstrapPlan, known: Estimated | None = None, *, keep: bool = False
) -> tuple[Floats, Floats, Floats, Floats | None, tuple[str, ...]]:
    """Return the expected value of one system at each alpha, its bounds, draws where they are kept, and warnings.

    They come from what is ``known``, where that serves.
    """
    if known is None or not known.serves(plan):
        known = Estimated(expected_values([curve], plan), 0, plan)
    estimates, system, _ = known
    found = estimates.contrast(np.arange(len(estimates.value)) == system)
    draws = estimates.draws(plan.n_resamples, plan.seed)[:, system] if keep or plan.simultaneous else None
    more = half_errors(curve, plan.calibration(curve.test, curve.threshold))
    lower, upper = _bounds(found, more, estimates.fewest, range_of(curve), plan, draws)
    replicates = found[0] + draws if keep and draws is not None else None
    return found[0], lower, upper, replicates, estimates.warnings


def expected_areas(
    curves: Sequence[EPC], plan: BootstrapPlan, offset: Floats
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Return bounds of the mean over alphas of each of two curves of one system, then of both, moved by ``offset``.

    Their criteria may differ. Warnings come with them.
    """
    estimates = expected_values(curves, plan)
    shares = np.full(curves[0].alpha.size, 1 / curves[0].alpha.size)
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    value, variance, degrees = (
        np.concatenate(column) for column in zip(*(estimates.contrast(row, shares) for row in weights), strict=True)
    )
    halves = [half_errors(curve, plan.calibration(curve.test, curve.threshold)) for curve in curves]
    shift = weights @ [moved @ shares for moved, _ in halves]
    more = (weights @ [np.sqrt(spread) @ shares for _, spread in halves]) ** 2
    lowest, highest = (weights @ [[end @ shares for end in range_of(curve)] for curve in curves]).T
    draws = estimates.draws(plan.n_resamples, plan.seed) @ shares @ weights.T if plan.simultaneous else None
    value, fewest = value + offset, np.full(len(weights), estimates.fewest.min())
    lower, upper = _bounds((value, variance, degrees), (shift, more), fewest, (lowest, highest), plan, draws)
    return lower, upper, estimates.warnings


def _bounds(
    found: tuple[Floats, Floats, Floats],
    half_errors: tuple[Floats, Floats],
    fewest: Floats,
    ends: tuple[Floats, Floats],
    plan: BootstrapPlan,
    draws: Floats | None,
) -> tuple[Floats, Floats]:
    """Return bounds of values with their variances and degrees of freedom, moved by half errors that no unit showed.

    What none showed has the ``fewest`` degrees. Half errors never move bounds so far that the value itself is outside.
    """
    from scipy.special import ndtr, stdtrit

    (value, variance, degrees), (shift, more) = found, half_errors
    degrees = welch([variance, more], [degrees, fewest])
    tail = np.full(degrees.size, (1 - plan.confidence_level) / 2)
    if plan.simultaneous and draws is not None:  # for all alphas together
        spread = np.sqrt((draws**2).mean(axis=0))
        if (moving := spread > 0).any():
            largest = np.abs(draws[:, moving] / spread[moving]).max(axis=1)
            tail = np.minimum(tail, ndtr(-float(quantile(largest, plan.confidence_level))))
    half = -stdtrit(degrees, tail) * np.sqrt(variance + more)
    lower, upper = bounds_of(value + shift, half, *ends)
    return np.minimum(lower, value), np.maximum(upper, value)


def half_errors(curve: EPC, calibration: Calibration | None) -> tuple[Floats, Floats]:
    """Return what half an error and half a right decision in each class move the value by, and the variance of that.

    Where no error was seen, nothing is known of errors; see `priori.uncertainty.bootstrap.calibration`.
    """
    shift, variance = np.zeros(curve.alpha.size), np.zeros(curve.alpha.size)
    if calibration is None:
        return shift, variance
    test = curve.test
    seen = curve.outcomes if test.unmixed is test else scaled(count(test, curve.threshold), test.n_negatives)
    negative, positive = calibration.weight / 2
    for fp, fn in ((negative, 0.0), (0.0, positive)):
        more = Outcomes(tp=seen.tp + fn, fp=seen.fp + fp, tn=seen.tn + fp, fn=seen.fn + fn)
        moved = curve.measure(more, curve.alpha) - curve.value
        shift += moved
        variance += 2 * moved**2  # of a gamma variable of shape 1/2, whose mean is 1/2
    return shift, variance


def range_of(curve: EPC) -> tuple[Floats, Floats]:
    """Return the values without any error and with nothing but errors, the smaller first, at each alpha."""
    positives, negatives = curve.outcomes.positives, curve.outcomes.negatives
    right = Outcomes(tp=positives, fp=0 * negatives, tn=negatives, fn=0 * positives)
    wrong = Outcomes(tp=0 * positives, fp=negatives, tn=0 * negatives, fn=positives)
    ends = np.stack([np.broadcast_to(curve.measure(each, curve.alpha), curve.alpha.shape) for each in (right, wrong)])
    return ends.min(axis=0), ends.max(axis=0)


def bounds_of(value: Floats, half: Floats, lowest: Floats, highest: Floats) -> tuple[Floats, Floats]:
    """Return value minus and plus ``half``; inside a range, on the scale of logits of the share of it."""
    from scipy.special import expit, logit

    inside = (value > lowest) & (value < highest) & np.isfinite(highest - lowest)
    width = np.where(inside, highest - lowest, 1.0)
    share = np.where(inside, (value - lowest) / width, 0.5)
    reach = half / width / (share * (1 - share))
    lower, upper = (
        np.where(inside, lowest + width * expit(logit(share) + sign * reach), value + sign * half) for sign in (-1, 1)
    )
    return lower, upper
