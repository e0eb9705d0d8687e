"""Two systems compared: their difference along alpha, and the histogram of its replicates at one alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING

from priori.plots.style import axes, colours, scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.comparison import Comparison


def plot_comparison(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the difference along alpha with its band, grey where it is significant (2005, Figure 8)."""
    ax = axes(ax)
    scale, unit = scaling(comparison.settings["rate"])
    (colour,) = colours(1)
    for region in comparison.regions:
        ax.axvspan(region.start, region.end, color="0.85", zorder=0, lw=0.8)
    ax.axhline(0, color="0.4", lw=0.8)
    lower, upper = scale * comparison.lower, scale * comparison.upper
    ax.fill_between(comparison.alpha, lower, upper, color=colour, alpha=0.18, lw=0)
    marker = "o" if comparison.alpha.size == 1 else None
    ax.plot(comparison.alpha, scale * comparison.difference, color=colour, marker=marker)
    kind = "simultaneous" if comparison.settings["simultaneous"] else "pointwise"
    ax.set_title(f"{comparison.settings['confidence_level']:.0%} band, {kind}; grey: significant")
    ax.set_xlabel("alpha")
    ax.set_ylabel(f"{comparison.settings['measure']} difference ({comparison.name_a} minus {comparison.name_b}){unit}")
    ax.grid(alpha=0.25)
    return ax


def plot_histogram(comparison: Comparison, alpha: float, *, ax: Axes | None = None, bins: int = 50) -> Axes:
    """Draw the replicates of the difference at one alpha, its interval, and 0 (2005, Figures 4 and 6)."""
    ax = axes(ax)
    scale, unit = scaling(comparison.settings["rate"])
    counts, edges = comparison.histogram(alpha, bins)
    (colour,) = colours(1)
    ax.stairs(counts, scale * edges, fill=True, color=colour, alpha=0.5)
    column = comparison.nearest(alpha)
    for bound in (comparison.pointwise.lower[column], comparison.pointwise.upper[column]):
        ax.axvline(scale * bound, color=colour, lw=2)
    ax.axvline(0, color="0.2", ls="--", lw=1)
    ax.set_xlabel(f"{comparison.settings['measure']} difference ({comparison.name_a} minus {comparison.name_b}){unit}")
    ax.set_ylabel("replicates")
    ax.set_title(f"alpha {comparison.alpha[column]:.4g}, {comparison.settings['confidence_level']:.0%} interval")
    return ax
