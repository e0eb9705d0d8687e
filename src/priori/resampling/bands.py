"""Bands: intervals around a curve from the bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.epc import EPC
from priori.measures import Measure
from priori.outcomes import Outcomes
from priori.resampling.intervals import bounds, check_level, simultaneous_bounds
from priori.resampling.plans import make_plan
from priori.resampling.run import Progress, System, replicate
from priori.results import Result

__all__ = ["Band", "band"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
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
        How the band was made.
    warnings : tuple of str
        What to mind about it.
    replicates : ndarray or None
        The values of every replicate, one row each, where they were kept.
    """

    alpha: Floats
    value: Floats
    lower: Floats
    upper: Floats
    mean: Floats
    settings: dict[str, Any]
    warnings: tuple[str, ...] = ()
    replicates: Floats | None = None

    @property
    def width(self) -> Floats:
        """The width of the interval at each alpha."""
        return self.upper - self.lower

    @property
    def expected_width(self) -> float:
        """The mean width over the alphas, E_beta[upper - lower] (2007, section 3.2)."""
        return float(self.width.mean())

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per alpha."""
        return {
            "alpha": self.alpha,
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "mean": self.mean,
        }

    def summary(self) -> dict[str, Any]:
        """Return how the band was made and its expected width."""
        return {**self.settings, "expected_width": self.expected_width, "warnings": list(self.warnings)}


def system_of(curve: EPC) -> System:
    """Return what the bootstrap needs of a curve."""
    fractions = curve.fractions or tuple(Fraction(float(alpha)) for alpha in curve.alpha)
    return System(curve.test, curve.threshold, curve.dev, curve.criterion, fractions)


def value_of(measure: Measure, outcomes: Outcomes, alpha: Floats) -> Floats:
    """Return the measure of outcomes of shape (replicates, alphas), called with one row of outcomes as always."""
    shape = outcomes.fp.shape
    flat = Outcomes(
        *(np.ravel(np.broadcast_to(c, shape)) for c in (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn))
    )
    return measure(flat, np.tile(alpha, shape[0])).reshape(shape)


def band(
    curve: EPC,
    *,
    bootstrap: str | None = None,
    n_resamples: int | tuple[int, int] = 10_000,
    resample: str = "test",
    confidence_level: float = 0.95,
    interval: str = "percentile",
    simultaneous: bool = False,
    shared_users: bool | None = None,
    rng: Any = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    keep: bool = False,
) -> Band:
    """Compute a bootstrap band around an Expected Performance Curve.

    Parameters
    ----------
    bootstrap : {"sample", "user", "user-constrained", "joint", "crossed"}, optional
        What is redrawn; by default users where they are known, else trials.
    n_resamples : int or (int, int)
        The number of replicates; for the joint bootstrap also (U, S): U draws of users, S of their trials in each
        (2007, Eq. 13).
    resample : {"test", "both"}
        Redraw the test set and keep the thresholds (2005, section 5), or redraw the development set too and
        choose the thresholds anew in every replicate (2007, section 3).
    interval : {"percentile", "centred", "basic"}
        How bounds come from replicates; see `priori.resampling.intervals.bounds`.
    simultaneous : bool
        Hold the whole curve, not each point, with the given confidence.
    shared_users : bool, optional
        Whether one draw of users serves both sets; by default when both hold the same users.
    rng : int, numpy Generator or None
        The seed. The same seed gives the same band on any number of threads.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200)) for _ in range(2))
    >>> found = priori.epc(dev, test, alpha=[0.5]).band(n_resamples=1000)
    >>> bool(found.lower[0] < found.value[0] < found.upper[0])
    True
    """
    level = check_level(confidence_level)
    plan = make_plan(
        curve.dev,
        curve.test,
        bootstrap=bootstrap,
        resample=resample,
        n_resamples=n_resamples,
        shared_users=shared_users,
        rng=rng,
    )

    def statistic(outcomes: list[Outcomes]) -> Floats:
        return value_of(curve.measure, outcomes[0], curve.alpha)

    values = replicate([system_of(curve)], plan, statistic, threads=threads, progress=progress)
    mean = values.mean(axis=0)
    if simultaneous:
        lower, upper = simultaneous_bounds(values, mean, level)
    else:
        lower, upper = bounds(values, curve.value, level, interval)
    if curve.measure.rate:
        lower, upper = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
    settings = {
        "bootstrap": plan.bootstrap,
        "resample": plan.resample,
        "n_resamples": [plan.outer, plan.inner] if isinstance(n_resamples, (tuple, list)) else plan.n_resamples,
        "confidence_level": level,
        "interval": "studentised maximum" if simultaneous else interval,
        "simultaneous": simultaneous,
        "shared_users": plan.shared_users,
        "seed": plan.seed,
    }
    return Band(curve.alpha, curve.value, lower, upper, mean, settings, plan.warnings, values if keep else None)
