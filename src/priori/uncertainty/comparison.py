"""Comparison: is A better than B? The paired bootstrap test of their difference at every alpha (2005, section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import joined, of_systems
from priori.base.errors import OptionError
from priori.base.layouts import CAUTIONS, FLAG, NUMBERS, PLAIN_NUMBER, TEXT, Layout, Schema, listed, of, record
from priori.base.results import Result
from priori.base.saved import Saved, column, partly_saved
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC
from priori.decisions.outcomes import Outcomes
from priori.scores import ScoreSet
from priori.scores.pairing import pair
from priori.uncertainty.bands import replicates_of, resamplable, system_of, value_of
from priori.uncertainty.bootstrap.calibration import Calibration, error_rates
from priori.uncertainty.bootstrap.plans import BootstrapPlan, Resample
from priori.uncertainty.bootstrap.resampling import RESAMPLED, Resampling
from priori.uncertainty.bootstrap.run import replicate
from priori.uncertainty.intervals import Interval, bounds, simultaneous_bounds
from priori.uncertainty.proportions import ALTERNATIVE, Alternative, check_alternative

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Region(NamedTuple):
    """A range of alphas over which one system is significantly better."""

    start: float
    end: float
    better: str


@dataclass(frozen=True, eq=False)
class Verdict:
    """Interval and p-value of a difference, at one alpha or at each of many."""

    difference: Floats
    lower: Floats
    upper: Floats
    p_value: Floats
    confidence_level: float

    @classmethod
    def of_columns(cls, columns: Mapping[str, Floats], confidence_level: float) -> Verdict:
        """Return the verdict whose parts stand in columns, among others."""
        return cls(columns["difference"], columns["lower"], columns["upper"], columns["p_value"], confidence_level)

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Whether the difference is significant: p-value below 1 - confidence level."""
        return self.p_value < 1 - self.confidence_level

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict by name."""
        return {name: getattr(self, name) for name in ("difference", "lower", "upper", "p_value", "significant")}


#: Of a resampling's settings, what comparisons leave out: they are not about a future test set.
PREDICTED = ("promise", "future_users", "future_growth")
COMPARED: dict[str, Schema] = (
    {"measure": TEXT, "rate": FLAG, "criterion": TEXT}
    | {name: schema for name, schema in RESAMPLED.items() if name not in PREDICTED}
    | {"paired": FLAG, "alternative": ALTERNATIVE}
)
REGIONS = listed(record({**of(PLAIN_NUMBER, "start end"), "better": TEXT}))
AREA = record({**of(NUMBERS, "difference lower upper p_value"), "significant": listed(FLAG)})


@partly_saved
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Two systems compared along alpha. Made by `compare`.

    Attributes
    ----------
    alpha, value_a, value_b : ndarray
        The two curves.
    pointwise, simultaneous : Verdict
        Interval and p-value at each alpha on its own, and for all alphas at once.
    area : Verdict
        The same for the mean difference over the alphas (the area between the curves).
    replicates : ndarray
        The difference in every replicate, one row each: what Figures 4 and 6 of the 2005 paper show.
    settings, warnings : dict, tuple of str
        How it was done, and what to mind.
    """

    name_a: str
    name_b: str
    alpha: Floats
    value_a: Floats
    value_b: Floats
    greater_is_better: bool
    pointwise: Verdict
    simultaneous: Verdict
    area: Verdict
    replicates: Floats
    settings: dict[str, Any]
    warnings: tuple[str, ...] = ()

    _layout = Layout(
        "Two systems compared along alpha by the bootstrap: one row per alpha; the difference is A's value minus B's.",
        {**of("number", "alpha value_a value_b difference lower upper p_value"), "significant": "boolean"},
        {**of(TEXT, "name_a name_b"), "greater_is_better": FLAG, **COMPARED}
        | {**of(REGIONS, "regions simultaneous_regions"), "area": AREA, "warnings": CAUTIONS},
        settings=COMPARED,
        descriptions={"measure": "The measure, as figures call it.", "area": "The mean difference over the alphas."},
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        level, asked = saved["confidence_level"], "simultaneous" if saved["simultaneous"] else "pointwise"
        area = {name: column(values, "number", name) for name, values in saved["area"].items()}
        known[asked] = Verdict.of_columns(saved.table, level)
        known["_simultaneous_regions"] = tuple(Region(**region) for region in saved["simultaneous_regions"])
        return super()._from_parts(saved, area=Verdict.of_columns(area, level), **known)

    @property
    def verdict(self) -> Verdict:
        """The verdict asked for: simultaneous or pointwise."""
        return self.simultaneous if self.settings["simultaneous"] else self.pointwise

    @property
    def difference(self) -> Floats:
        """The signed difference, A's value minus B's."""
        return self.value_a - self.value_b

    @property
    def lower(self) -> Floats:
        """The lower bounds of the difference."""
        return self.verdict.lower

    @property
    def upper(self) -> Floats:
        """The upper bounds of the difference."""
        return self.verdict.upper

    @property
    def p_value(self) -> Floats:
        """The p-value at each alpha."""
        return self.verdict.p_value

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Whether the difference is significant, at each alpha."""
        return self.verdict.significant

    @property
    def regions(self) -> tuple[Region, ...]:
        """The ranges of alpha over which one system is significantly better (Figure 8)."""
        return self.regions_of(self.verdict)

    @cached_property
    def _simultaneous_regions(self) -> tuple[Region, ...]:
        return self.regions_of(self.simultaneous)

    def regions_of(self, verdict: Verdict) -> tuple[Region, ...]:
        """Return the ranges of alpha over which a verdict finds one system significantly better."""
        better = np.where((self.difference > 0) == self.greater_is_better, self.name_a, self.name_b)
        regions: list[Region] = []
        open_ = False
        for alpha, name, sure in zip(self.alpha.tolist(), better.tolist(), verdict.significant.tolist(), strict=True):
            if sure and open_ and regions[-1].better == name:
                regions[-1] = regions[-1]._replace(end=alpha)
            elif sure:
                regions.append(Region(alpha, alpha, name))
            open_ = sure
        return tuple(regions)

    def histogram(self, alpha: float, bins: int = 50) -> tuple[NDArray[np.int64], Floats]:
        """Return the histogram of the replicates' differences at the nearest alpha: counts and edges (Figure 6)."""
        return np.histogram(self.replicates[:, self.nearest(alpha)], bins=bins)

    def nearest(self, alpha: float) -> int:
        """Return the index of the alpha nearest to the one given."""
        return int(np.argmin(np.abs(self.alpha - float(alpha))))

    @property
    def shares(self) -> Floats:
        """The weight of each alpha in the mean over all of them."""
        return _shares(self.alpha)

    def summary(self) -> dict[str, Any]:
        """Return the names, the regions, the area and how it was done."""
        return {
            **{name: getattr(self, name) for name in ("name_a", "name_b", "greater_is_better")},
            **self.settings,
            "regions": [region._asdict() for region in self.regions],
            "simultaneous_regions": [region._asdict() for region in self._simultaneous_regions],
            "area": self.area.to_dict(),
            "warnings": list(self.warnings),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the difference, its band, and the regions where it is significant; returns the axes."""
        from priori.plots import plot_comparison

        return plot_comparison(self, ax=ax)

    def _shown(self) -> str:
        share = f"{int(self.significant.sum())} of {self.alpha.size} alphas"
        return f"Comparison({self.name_a!r} - {self.name_b!r}, significant at {share})"


def compare(
    curve_a: EPC, curve_b: EPC, *, unpaired: bool = False, alternative: Alternative = "two-sided",
    bootstrap: str | None = None, n_resamples: int | tuple[int, int] = 10_000, resample: Resample = "test",
    confidence_level: float = 0.95, interval: Interval | None = None, simultaneous: bool = False,
    rng: int | np.random.Generator | None = 0, shared_users: bool | None = None,
    threads: int | None = None, progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """Compare two systems: the paired bootstrap percentile test of their difference at every alpha.

    Both systems are resampled by the same trials or users, so that what makes a trial hard for both cancels out.

    Parameters
    ----------
    curve_a, curve_b : EPC
        Two curves at the same alphas, with the same measure.
    unpaired : bool
        The systems were tested on different trials: resample each on its own.
    alternative : {"two-sided", "less", "greater"}
        The alternative hypothesis: any difference, A's value less than B's, or greater.
    bootstrap, n_resamples, resample, confidence_level, interval, simultaneous, rng, shared_users, threads, progress
        As in `priori.uncertainty.bands.band`. The p-value counts replicates beyond 0, with one added to their number
        and to all (Davison and Hinkley 1997); simultaneous ones hold for all alphas at once.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], 500)
    >>> def scores(quality):
    ...     return priori.Scores.from_predictions(label, rng.normal(quality * label))
    >>> a, b = (priori.epc(scores(q), scores(q), alpha=[0.5], name=n) for q, n in ((2.5, "A"), (1.5, "B")))
    >>> priori.compare(a, b, n_resamples=1000).regions
    (Region(start=0.5, end=0.5, better='A'),)
    """
    resampling = Resampling(
        bootstrap, n_resamples, resample, confidence_level, interval, simultaneous, rng, shared_users
    )
    return make_comparison(
        curve_a, curve_b, resampling, unpaired=unpaired, alternative=alternative, threads=threads, progress=progress
    )


def make_comparison(
    curve_a: EPC, curve_b: EPC, resampling: Resampling, *, unpaired: bool = False,
    alternative: Alternative = "two-sided", threads: int | None = None, progress: Progress | None = None,
) -> Comparison:  # fmt: skip
    """Compare two systems as a resampling describes."""
    check_alternative(alternative)
    _check_comparable(curve_a, curve_b, resampling.resample)
    of_curves = of_systems([(curve.name, curve.warnings) for curve in (curve_a, curve_b)])
    if resampling.promise != "confidence":
        raise OptionError("a comparison is about the whole population; it has no prediction")
    curve_a, notes_a = resamplable(curve_a, resampling, paired=not unpaired)
    curve_b, notes_b = resamplable(curve_b, resampling, paired=not unpaired)
    if not unpaired:
        curve_a, curve_b = _paired(curve_a, curve_b, resampling.resample == "both")
    plan = resampling.settle(curve_a.dev, curve_a.test)
    run = _unpaired if unpaired else _together
    replicates, calibration = run(curve_a, curve_b, plan, threads=threads, progress=progress)
    judge = _Judge(plan, calibration, alternative)
    difference, shares = curve_a.value - curve_b.value, _shares(curve_a.alpha)[:, None]
    measure = curve_a.measure
    settings = {"measure": measure.title, "rate": measure.rate, "criterion": curve_a.criterion.name}
    settings |= {name: value for name, value in plan.settings().items() if name not in PREDICTED}
    settings |= {"paired": not unpaired, "alternative": alternative}
    return Comparison(
        curve_a.name, curve_b.name, curve_a.alpha, curve_a.value, curve_b.value, measure.greater_is_better,
        judge.pointwise(difference, replicates),
        judge.simultaneous(difference, replicates),
        judge.pointwise(difference @ shares, replicates @ shares),
        replicates, settings, joined((*plan.warnings, *notes_a, *notes_b), of_curves),
    )._came_from(curve_a, curve_b)  # fmt: skip


def _shares(alpha: Floats) -> Floats:
    """Return the weights that turn values into their mean over the range of alphas (trapezoids)."""
    if alpha.size == 1:
        return np.ones(1)
    order = np.argsort(alpha, kind="stable")
    gaps = np.diff(alpha[order])
    total = gaps.sum()
    shares = np.empty(alpha.size)
    shares[order] = (np.append(gaps, 0.0) + np.append(0.0, gaps)) / (2 * total) if total else 1 / alpha.size
    return shares


def _check_comparable(a: EPC, b: EPC, resample: str) -> None:
    if a.alpha.shape != b.alpha.shape or not np.array_equal(a.alpha, b.alpha):
        raise OptionError("the two curves have different alphas; compute both at the same ones (points=, alpha=)")
    if a.measure.name != b.measure.name:
        raise OptionError(f"the two curves show different measures: {a.measure.name} and {b.measure.name}")
    if resample == "both" and a.criterion.name != b.criterion.name:
        raise OptionError(
            f"thresholds were chosen by different criteria ({a.criterion.name}, {b.criterion.name}); "
            "choose both by one, or keep them fixed (resample='test')"
        )


def _paired(a: EPC, b: EPC, with_dev: bool) -> tuple[EPC, EPC]:
    """Return the curves with their trials in one order; identities are those of whichever system has them."""
    test_a, test_b = _in_one_order(a.test, b.test)
    dev_a, dev_b = _in_one_order(a.dev, b.dev) if with_dev else (a.dev, b.dev)
    return replace(a, test=test_a, dev=dev_a), replace(b, test=test_b, dev=dev_b)


def _in_one_order(set_a: ScoreSet, set_b: ScoreSet) -> tuple[ScoreSet, ScoreSet]:
    if set_a.scanned or set_b.scanned:
        return set_a, set_b  # counted in pairs where they are
    a, b = set_a.load(), set_b.load()
    pairing = pair(a, b)
    first = replace(a, negative=a.negative.take(pairing.negative_a), positive=a.positive.take(pairing.positive_a))
    second = replace(b, negative=b.negative.take(pairing.negative_b), positive=b.positive.take(pairing.positive_b))
    if (second.has_identities and not first.has_identities) or (second.has_users and not first.has_users):
        negative, positive = (
            replace(trials, user=known.user, probe_user=known.probe_user)
            for trials, known in ((first.negative, second.negative), (first.positive, second.positive))
        )
        first = replace(first, users=second.users, negative=negative, positive=positive)
    return first, second


# -- replicates --------------------------------------------------------------------------------------------------

#: The difference in every replicate, and the correction of its tails.
Replicates = tuple[Floats, Calibration | None]


def _together(a: EPC, b: EPC, plan: BootstrapPlan, *, threads: int | None, progress: Progress | None) -> Replicates:
    """Return the difference in every replicate, the same trials drawn for both systems."""
    calibration = None
    each: list[Calibration] = []
    if plan.interval == "calibrated":
        calibration = plan.design.calibrate(a.test, a.threshold, plan, other=(b.test, b.threshold))
        each = [replace(calibration, rate=error_rates(curve.test, curve.threshold)) for curve in (a, b)]

    def statistic(outcomes: list[Outcomes], first: int) -> Floats:
        if each:
            outcomes = [known.adjust(counts, plan, first) for known, counts in zip(each, outcomes, strict=True)]
        return value_of(a.measure, outcomes[0], a.alpha) - value_of(b.measure, outcomes[1], b.alpha)

    return replicate([system_of(a), system_of(b)], plan, statistic, threads=threads, progress=progress), calibration


def _unpaired(a: EPC, b: EPC, plan: BootstrapPlan, *, threads: int | None, progress: Progress | None) -> Replicates:
    """Return the difference in every replicate, each system drawn on its own."""
    values, calibrations = [], []
    for curve, part in ((a, plan), (b, replace(plan, streams=1))):
        calibrations.append(part.calibration(curve.test, curve.threshold))
        values.append(replicates_of(curve, part, calibrations[-1], threads=threads, progress=progress))
    known = [calibration for calibration in calibrations if calibration is not None]
    return values[0] - values[1], min(known, key=lambda calibration: calibration.clusters, default=None)


# -- from replicates to verdicts ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judge:
    """How replicates of a difference become an interval and a p-value."""

    plan: BootstrapPlan
    calibration: Calibration | None
    alternative: Alternative

    def pointwise(self, difference: Floats, replicates: Floats) -> Verdict:
        """Judge each alpha on its own."""
        level = self.plan.level
        centred = self.plan.interval == "centred"
        reached = self.calibration.level(level) if self.calibration else level
        lower, upper = bounds(replicates, reached, centred=centred)
        n = len(replicates) + 1
        below, above = ((1 + beyond.sum(axis=0)) / n for beyond in (replicates <= 0, replicates >= 0))
        if self.alternative == "two-sided" and centred:
            mean = replicates.mean(axis=0)
            p_value = (1 + (np.abs(replicates - mean) >= np.abs(mean)).sum(axis=0)) / n
        elif self.alternative == "two-sided":
            p_value = np.minimum(1.0, 2 * self._tail(np.minimum(below, above)))
        else:
            p_value = self._tail(above if self.alternative == "less" else below)
        return Verdict(difference, lower, upper, np.asarray(p_value), level)

    def simultaneous(self, difference: Floats, replicates: Floats) -> Verdict:
        """Judge all alphas at once, by the largest studentised deviation along the curve."""
        level = self.plan.level
        calibration = self.calibration
        lower, upper = simultaneous_bounds(replicates, level, stretch=calibration.reach if calibration else float)
        mean, spread = replicates.mean(axis=0), replicates.std(axis=0)
        moving = spread > 0
        side = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}[self.alternative]
        p_value = np.ones(mean.size)
        if moving.any():
            deviations = (replicates[:, moving] - mean[moving]) / spread[moving]
            largest = np.sort(side(deviations).max(axis=1))
            reached = side(mean[moving] / spread[moving])
            if calibration is not None:
                reached = np.sign(reached) * calibration.known(np.abs(reached))
            beyond = largest.size - np.searchsorted(largest, reached, side="left")
            p_value[moving] = (1 + beyond) / (1 + largest.size)
        return Verdict(difference, lower, upper, p_value, level)

    def _tail(self, p_value: Floats) -> Floats:
        return self.calibration.tail(p_value) if self.calibration else p_value
