"""Bands around single numbers: the areas E_V1, E_V2 and G."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from priori.base.alphas import check_bounds
from priori.base.declarations import Cautions
from priori.base.options import Interval, Promise, Resample
from priori.base.results import Result
from priori.base.types import Floats, Progress, Texts
from priori.curves.areas import areas
from priori.curves.epc import epc
from priori.decisions.measure import Measure
from priori.decisions.tasks import Task, get_task
from priori.scores import ScoreSet
from priori.uncertainty.bands.bands import replicates_of
from priori.uncertainty.bootstrap.calibration import Calibration
from priori.uncertainty.bootstrap.resampling import ResampledSettings, Resampling
from priori.uncertainty.expected.expected_bands import expected_areas

#: In replicates an area is the mean over this many alphas, each in the middle of its share of the range.
POINTS = 256


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
    *,
    task: str | Task = "authentication",
    bounds: tuple[Any, Any] = (0, 1),
    bootstrap: str | None = None,
    n_resamples: int | tuple[int, int] = 10_000,
    resample: Resample = "test",
    confidence_level: float = 0.95,
    interval: Interval | None = None,
    simultaneous: bool = False,
    rng: int | np.random.Generator | None = 0,
    shared_users: bool | None = None,
    promise: Promise = "confidence",
    future_users: int | None = None,
    future_trials: int | tuple[int, int] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> AreaBands:
    """Compute the areas E_V1, E_V2 and G with a bootstrap interval each.

    Options as in `priori.EPC.band`. The areas themselves are exact; in replicates they are means over 256 alphas.

    Examples
    --------
    >>> import numpy as np, priori
    >>> from priori.uncertainty.bands.area_bands import area_bands
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200)) for _ in range(2))
    >>> bands = area_bands(dev, test, n_resamples=500)
    >>> bands.area.tolist(), bool((bands.lower < bands.value).all() and (bands.value < bands.upper).all())
    (['e_v1', 'e_v2', 'g'], True)
    """
    resampling = Resampling(
        bootstrap,
        n_resamples,
        resample,
        confidence_level,
        interval,
        simultaneous,
        rng,
        shared_users,
        promise,
        future_users,
        future_trials,
    )
    domain = get_task(task)
    low, high = check_bounds(bounds)
    alphas = [low + (high - low) * Fraction(2 * k + 1, 2 * POINTS) for k in range(POINTS)]
    mean = Measure("mean", "(V1 + V2)/2", lambda outcomes, alpha: (domain.v1(outcomes) + domain.v2(outcomes)) / 2)
    plan = resampling.settle(dev, test, measures=(domain.v1, domain.v2))
    curves = [epc(dev, test, task=domain, criterion=f"target-v{v}", measure=mean, alpha=alphas) for v in (1, 2)]
    exact = areas(dev, test, task=domain, bounds=bounds)
    value = np.array([exact.e_v1, exact.e_v2, exact.g])
    on_grid = np.array([curve.value.mean() for curve in curves])
    offset = value - np.append(on_grid, on_grid.mean())
    warnings = plan.warnings
    if plan.of_method:
        expected = expected_areas(curves, plan, offset, threads=threads, progress=progress)
        lower, upper, warnings = expected.lower, expected.upper, (*warnings, *expected.warnings)
    else:
        calibrations = [plan.calibration(curve.test, curve.threshold) for curve in curves]
        # The same seed draws the same replicates for both criteria, so that G is the mean of its two parts.
        run = partial(
            replicates_of, plan=plan, threads=threads, progress=progress, reduce=lambda values: values.mean(axis=1)
        )
        each = [run([curve], calibration=known) for curve, known in zip(curves, calibrations, strict=True)]
        replicates = np.column_stack([*each, (each[0] + each[1]) / 2]) + offset
        lower, upper = plan.bounds(replicates, _overall(calibrations), rate=mean.rate)
    names = np.array(["e_v1", "e_v2", "g"])
    return AreaBands(names, value, lower, upper, plan.settings(), warnings)._came_from(test)


def _overall(calibrations: Sequence[Calibration | None]) -> Calibration | None:
    """Return the calibration of numbers made of all thresholds of several curves: that of the least sure one."""
    known = [calibration.overall for calibration in calibrations if calibration is not None]
    return min(known, key=lambda calibration: float(calibration.freedom[0]), default=None)
