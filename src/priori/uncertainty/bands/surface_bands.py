"""Bands around an Expected Performance and Spoofability Curve: one around the curve over beta at each omega."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from priori.base.cautions import joined
from priori.base.declarations import Cautions, Unsaved
from priori.base.results import Result
from priori.base.types import Floats, Progress
from priori.curves.epsc import EPSC, OverBoth
from priori.uncertainty.bands.bands import Band, make_band
from priori.uncertainty.bootstrap.resampling import ResampledSettings, Resampling


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


def make_surface_band(
    curve: EPSC, resampling: Resampling, *, threads: int | None = None, progress: Progress | None = None
) -> SurfaceBand:
    """Compute the bands that a resampling describes; the same seed draws the same trials at every omega."""
    return surface_band(
        curve, [make_band(each, resampling, threads=threads, progress=progress) for each in curve.curves]
    )


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
