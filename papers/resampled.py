"""Section 5 of the 2005 paper: the histogram of a difference, the band, the grey region (Figures 6, 7 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from papers.crossing import Pair
from papers.figures import canvas, legend_below
from papers.results import Conclusion, Figure
from priori.base.types import Floats
from priori.plots import plot_epc
from priori.plots.comparison import plot_histogram
from priori.uncertainty.bands.bands import Band
from priori.uncertainty.comparing.comparison import Comparison, compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["Resampled", "resampled", "resampled_figures"]

#: The alpha of the histogram: where A, the better ROC, is clearly the worse system a priori.
HISTOGRAM_ALPHA = 0.3


@dataclass(frozen=True)
class Resampled:
    """Replicates of a difference at one alpha and along alpha, and a band."""

    simulated: Pair
    faces: Pair
    at_one: Comparison
    band: Band
    along: Comparison

    @property
    def differences(self) -> Floats:
        """The replicates of V_A - V_B at one alpha."""
        return self.at_one.replicates[:, 0]

    @property
    def interval(self) -> tuple[float, float]:
        """The interval centred at their mean that holds 95 % of them."""
        return float(self.at_one.lower[0]), float(self.at_one.upper[0])

    @property
    def significant(self) -> NDArray[np.bool_]:
        """The alphas at which the two face systems differ: 0 is outside the interval."""
        return self.along.significant

    @property
    def regions(self) -> list[tuple[float, float]]:
        """The runs of alphas at which they differ."""
        return [(region.start, region.end) for region in self.along.regions]

    @property
    def conclusions(self) -> list[Conclusion]:
        """Return what the figures show."""
        low, high = self.interval
        width, inner = 100 * self.band.width, (self.band.alpha > 0) & (self.band.alpha < 1)
        held = (self.band.value >= self.band.lower - 1e-12) & (self.band.value <= self.band.upper + 1e-12)
        spans = ", ".join(f"{start:.2f} to {stop:.2f}" for start, stop in self.regions)
        share = float(np.mean(self.differences > 0))
        return [
            Conclusion(
                "Figure 6: 0 is outside the 95 % interval of V_A - V_B, so the two differ at this alpha",
                low > 0 or high < 0,
                f"at alpha = {HISTOGRAM_ALPHA:g} from {low:.2%} to {high:.2%} HTER; V_A is higher in {share:.1%} of "
                "replicates",
            ),
            Conclusion(
                "Figure 7: the curve has an interval at every alpha, whose width varies with alpha",
                bool(held.all() and width[inner].max() > 1.2 * width[inner].min()),
                f"on the faces (eigenfaces) from {width[inner].min():.1f} to {width[inner].max():.1f} HTER %",
            ),
            Conclusion(
                "Figure 8: the two systems differ significantly for some alphas and not for others",
                bool(self.significant[inner].any() and not self.significant[inner].all()),
                f"on the faces for alpha from {spans}" if spans else "on the faces nowhere",
            ),
        ]


def resampled(simulated: Pair, faces: Pair, *, n_resamples: int = 10_000) -> Resampled:
    """Resample the rows of the test table (section 5), the same rows for both systems, thresholds fixed."""
    settings: dict[str, Any] = {"bootstrap": "rows", "n_resamples": n_resamples, "interval": "centred"}
    at_one = compare(
        simulated.epc_a.at(HISTOGRAM_ALPHA), simulated.epc_b.at(HISTOGRAM_ALPHA), rng=6, claim="deployed", **settings
    )
    along = compare(faces.epc_a, faces.epc_b, rng=6, claim="deployed", **settings)
    return Resampled(simulated, faces, at_one, faces.epc_a.band(rng=7, **settings), along)


def resampled_figures(found: Resampled) -> tuple[Figure, ...]:
    """Return Figures 6, 7 and 8."""
    return (
        Figure(
            "epc-figure-6",
            f"Figure 6: histogram of V_A - V_B (simulated, alpha = {HISTOGRAM_ALPHA:g})",
            "The two thick lines hold 95 % of the replicates; the dashed line at 0 is outside: A errs more than B.",
            partial(_draw_histogram, found),
        ),
        Figure(
            "epc-figure-7",
            "Figure 7: an EPC and its 95 % interval (faces)",
            "The width of the interval varies with alpha.",
            partial(_draw_band, found),
        ),
        Figure(
            "epc-figure-8",
            "Figure 8: where two systems differ (faces)",
            "Grey: the alphas at which the difference is significant at 95 %, each alpha by itself.",
            partial(_draw_regions, found),
        ),
    )


def _draw_histogram(found: Resampled) -> Canvas:
    figure, ax = canvas()
    plot_histogram(found.at_one, HISTOGRAM_ALPHA, ax=ax, bins=40)
    ax.set(xlabel="$V_A - V_B$ (HTER %)", title="")
    return figure


def _draw_band(found: Resampled) -> Canvas:
    figure, ax = canvas()
    plot_epc([found.faces.epc_a], ax=ax, bands=[found.band])
    legend_below(ax)
    return figure


def _draw_regions(found: Resampled) -> Canvas:
    figure, ax = canvas()
    plot_epc([found.faces.epc_a, found.faces.epc_b], ax=ax, regions=found.regions)
    legend_below(ax, 2)
    return figure
