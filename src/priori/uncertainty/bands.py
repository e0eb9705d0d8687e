"""Bands: intervals around a curve, or around single numbers, from the bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from priori.base.layouts import NUMBER, TEXTS, Layout, of
from priori.base.results import Result
from priori.base.saved import Saved, partly_saved
from priori.base.types import Floats, Progress
from priori.curves.epc import DESCRIBED, EPC, curve_in_part, described_parts
from priori.decisions.measures import Measure
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores
from priori.uncertainty.bootstrap.calibration import Calibration, calibrate
from priori.uncertainty.bootstrap.plans import Plan, make_plan
from priori.uncertainty.bootstrap.run import System, replicate
from priori.uncertainty.bootstrap.standins import redrawable
from priori.uncertainty.intervals import CALIBRATED, Interval, bounds, check_interval, simultaneous_bounds
from priori.uncertainty.proportions import check_level
from priori.uncertainty.settings import RESAMPLED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Band", "band"]


#: From this many users on intervals that are not calibrated cover what they say, but for a point or two.
MANY_USERS = 20


@partly_saved
@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """An interval around each point of a curve. Made by `EPC.band`.

    Attributes
    ----------
    alpha, value : ndarray
        The curve.
    lower, upper : ndarray
        The bounds.
    mean : ndarray
        The mean of the replicates.
    settings : dict
        How the band was made, and what it promises.
    warnings : tuple of str
        What to mind about it.
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
    settings: dict[str, Any]
    curve: EPC
    warnings: tuple[str, ...] = ()
    replicates: Floats | None = None

    _layout = Layout(
        "A bootstrap band around an Expected Performance Curve: one row per alpha.",
        of("number", "alpha value lower upper mean"),
        {**DESCRIBED, **RESAMPLED, "expected_width": NUMBER, "warnings": TEXTS},
        optional=("custom",),
        settings=RESAMPLED,
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        curve = curve_in_part(saved, **described_parts(saved), **saved.columns("alpha", "value"))
        return super()._from_parts(saved, curve=curve, **known)

    @property
    def width(self) -> Floats:
        """The width of the interval at each alpha."""
        return self.upper - self.lower

    @property
    def expected_width(self) -> float:
        """The mean width over the alphas, E_beta[upper - lower] (2007, section 3.2)."""
        return float(self.width.mean())

    @property
    def backend(self) -> str | None:
        """The dataframe library the test scores came from, if any."""
        return self.curve.backend

    def covers(self, values: Floats) -> float:
        """Return the share of a curve, at the same alphas, that lies within the band: the 2007 paper's coverage."""
        return float(np.mean((self.lower <= values) & (values <= self.upper)))

    def summary(self) -> dict[str, Any]:
        """Return what it is around, how it was made and its expected width."""
        made = {**self.settings, "expected_width": self.expected_width, "warnings": list(self.warnings)}
        return {**self.curve.described(), **made}

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the curve and its band; returns the axes."""
        from priori.plots import plot_epc

        return plot_epc([self.curve], bands=[self], ax=ax, **options)


@dataclass(frozen=True)
class Bootstrap:
    """A plan with its interval: everything that is settled before the first replicate."""

    plan: Plan
    interval: Interval
    level: float
    simultaneous: bool
    options: dict[str, Any]

    @classmethod
    def of(
        cls,
        dev: Scores | None,
        test: Scores,
        *,
        confidence_level: float = 0.95,
        interval: str | None = None,
        simultaneous: bool = False,
        threads: int | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> Bootstrap:
        """Check the options of a band."""
        level = check_level(confidence_level)
        plan = make_plan(dev, test, **options)
        kind = check_interval(interval, plan.bootstrap)
        if plan.bootstrap in CALIBRATED and plan.by_user and kind != "calibrated":
            sets = [test, *([dev] if plan.resample == "both" and dev is not None else [])]
            users = min(scores.n_users for scores in sets)
            if users < MANY_USERS:
                doubt = (
                    f"a {kind} interval from {users} users covers up to ten points less than it says; choose calibrated"
                )
                plan = replace(plan, warnings=(*plan.warnings, doubt))
        return cls(plan, kind, level, simultaneous, {"threads": threads, "progress": progress})

    def calibration(self, curve: EPC) -> Calibration | None:
        """Return the corrections at a curve's thresholds, where there are any."""
        if self.interval == "calibrated" or self.plan.per_user != (1.0, 1.0):
            return calibrate(curve.test, curve.threshold, self.plan)
        return None

    def replicates(self, curve: EPC, reduce: Callable[[Floats], Floats] = lambda values: values) -> Floats:
        """Return the curve of every replicate, each reduced to what is wanted of it."""
        calibration = self.calibration(curve)

        def statistic(outcomes: list[Outcomes], first: int) -> Floats:
            (counted,) = outcomes
            if calibration is not None:
                counted = calibration.adjust(counted, self.plan, first)
            return reduce(value_of(curve.measure, counted, curve.alpha))

        return replicate([system_of(curve)], self.plan, statistic, **self.options)

    def bounds(self, values: Floats, curve: EPC) -> tuple[Floats, Floats]:
        """Return lower and upper bounds from replicates of a curve, within what its measure can be."""
        calibration = self.calibration(curve) if self.interval == "calibrated" else None
        return self.bounds_by(values, calibration, rate=curve.measure.rate)

    def bounds_by(self, values: Floats, calibration: Calibration | None, *, rate: bool) -> tuple[Floats, Floats]:
        """Return lower and upper bounds from replicates; of a rate, between 0 and 1."""
        if self.simultaneous:
            stretch = calibration.reach if calibration else float
            rates = bool(rate and values.min() >= 0 and values.max() <= 1)
            lower, upper = simultaneous_bounds(values, self.level, stretch=stretch, rates=rates)
        else:
            level = calibration.level(self.level) if calibration else self.level
            lower, upper = bounds(values, level, centred=self.interval == "centred")
        if values.min() >= 0:
            lower = np.maximum(lower, 0.0)
        if rate and values.max() <= 1:
            upper = np.minimum(upper, 1.0)
        return lower, upper

    def settings(self) -> dict[str, Any]:
        """Return everything that decides the numbers, for the record."""
        plan = self.plan
        return {
            "bootstrap": plan.bootstrap,
            "resample": plan.resample,
            "n_resamples": plan.n_resamples if plan.inner == 1 else [plan.outer, plan.inner],
            "confidence_level": self.level,
            "interval": self.interval,
            "simultaneous": self.simultaneous,
            "promise": "prediction" if any(plan.future) else "confidence",
            "future_users": plan.future[0] or None,
            "future_growth": list(plan.growth) if any(plan.future) else None,
            "shared_users": plan.shared_users,
            "seed": plan.seed,
        }


def system_of(curve: EPC) -> System:
    """Return what the bootstrap needs of a curve."""
    fractions = curve.fractions or tuple(Fraction(float(alpha)) for alpha in curve.alpha)
    return System(curve.test, curve.threshold, curve.dev, curve.criterion, fractions)


def value_of(measure: Measure, outcomes: Outcomes, alpha: Floats) -> Floats:
    """Return the measure of outcomes of shape (replicates, alphas), called with one row of outcomes as always."""
    shape = outcomes.fp.shape
    counts = (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn)
    flat = Outcomes(*(np.ravel(np.broadcast_to(count, shape)) for count in counts))
    return measure(flat, np.tile(alpha, shape[0])).reshape(shape)


def band(curve: EPC, *, keep: bool = False, **options: Any) -> Band:
    """Compute a bootstrap band around an Expected Performance Curve.

    Parameters
    ----------
    bootstrap : {"sample", "user", "user-constrained", "joint", "crossed"}, optional
        What is redrawn. By default identities where both of each trial's are known, else users where they are
        known, else trials.
    n_resamples : int or (int, int)
        The number of replicates, 10,000 by default; for the joint bootstrap also (U, S): U draws of users, S of
        their trials in each (2007, Eq. 13).
    resample : {"test", "both"}
        Redraw the test set and keep the thresholds (2005, section 5), or redraw the development set too and
        choose the thresholds anew in every replicate (2007, section 3).
    confidence_level : float
        0.95 by default.
    interval : {"calibrated", "percentile", "centred"}, optional
        How bounds come from replicates: ``percentile`` is the 2007 paper's (section 3.2), ``centred`` the 2005
        paper's, centred at the empirical mean; ``calibrated`` (the default but for joint and user-constrained)
        corrects the percentile interval for few users and few errors so that it covers what it says.
    simultaneous : bool
        Hold the whole curve, not each point, with the given confidence (studentised maximum).
    promise : {"confidence", "prediction"}
        Hold the curve the system has on the whole population, or the one a new test set will show.
    future_users, future_trials : int, optional
        The size of that new test set; by default as large as this one. Trials are those of both classes together,
        or a pair (negatives, positives).
    shared_users : bool, optional
        Whether one draw of users serves both sets; by default when both hold the same users.
    rng : int, numpy Generator or None
        The seed, 0 by default. The same seed gives the same band on any number of threads.
    threads : int, optional
        How many threads; by default as many as there are processors.
    progress : callable, optional
        Called with (done, total) now and then.
    keep : bool
        Keep the values of every replicate in the result.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200)) for _ in range(2))
    >>> found = priori.epc(dev, test, alpha=[0.5]).band(n_resamples=1000)
    >>> bool(found.lower[0] < found.value[0] < found.upper[0])
    True
    """
    redrawn, notes = redrawable(curve, options)
    bootstrap = Bootstrap.of(redrawn.dev, redrawn.test, **options)
    values = bootstrap.replicates(redrawn)
    lower, upper = bootstrap.bounds(values, redrawn)
    return Band(
        curve.alpha,
        curve.value,
        lower,
        upper,
        values.mean(axis=0),
        bootstrap.settings(),
        curve,
        (*bootstrap.plan.warnings, *notes),
        values if keep else None,
    )
