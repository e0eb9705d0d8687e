"""Two systems compared: their difference along alpha, and its replicates at one alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from priori.base.texts import alpha_text
from priori.plots.style import axes, colours, finished, name_shade, scaling, shade
from priori.words.numbers import level_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.comparing.comparison import Comparison


def plot_comparison(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the difference along alpha with its band, grey where it is significant (2005, Figure 8).

    With the claim "method" the solid line is the expected difference, the dotted line the observed one.
    """
    own = ax is None
    ax = axes(ax)
    scale, unit = scaling(comparison.settings["rate"])
    (colour,) = colours(1)
    for region in comparison.regions:
        ax.axvspan(region.start, region.end, color="0.85", zorder=0, lw=0.8)
    ax.axhline(0, color="0.4", lw=0.8)
    lower, upper = scale * comparison.lower, scale * comparison.upper
    level = level_text(comparison.settings["confidence_level"])
    kind = "simultaneous" if comparison.settings["simultaneous"] else "pointwise"
    method = comparison.settings["claim"] == "method"
    # With the claim "deployed" the difference belongs to the thresholds: it steps where one of them changes.
    step: Literal["mid"] | None = None if method else "mid"
    shade(ax, comparison.alpha, lower, upper, colour, step=step, label=f"{level} {kind} confidence band")
    marker = "o" if comparison.alpha.size == 1 else None
    name, style = ("expected", "default") if method else ("observed", "steps-mid")
    ax.plot(comparison.alpha, scale * comparison.expected, color=colour, marker=marker, drawstyle=style, label=name)
    if method:
        look: dict[str, Any] = {"color": "0.3", "ls": ":", "lw": 1, "marker": marker, "drawstyle": "steps-mid"}
        ax.plot(comparison.alpha, scale * comparison.difference, label="observed", **look)
    if comparison.regions:
        name_shade(ax, "significant", "0.85", None)
    ax.set(
        xlabel="alpha",
        ylabel=f"{comparison.settings['measure']} difference{unit}",
        title=f"{comparison.name_a} minus {comparison.name_b}",
    )
    if comparison.alpha.size > 1:
        ax.set_xlim(float(comparison.alpha[0]), float(comparison.alpha[-1]))
    return finished(ax, below=own)


def plot_histogram(comparison: Comparison, alpha: float, *, ax: Axes | None = None, bins: int = 50) -> Axes:
    """Draw the replicates of the difference at one alpha, its interval, and 0 (Figure 6 of the 2005 paper)."""
    own = ax is None
    ax = axes(ax)
    scale, unit = scaling(comparison.settings["rate"])
    counts, edges = comparison.histogram(alpha, bins)
    (colour,) = colours(1)
    column = comparison.nearest(alpha)
    bounds = [scale * bound[column] for bound in (comparison.pointwise.lower, comparison.pointwise.upper)]
    level = f"{level_text(comparison.settings['confidence_level'])} interval"
    ax.stairs(counts, scale * edges, fill=True, color=colour, alpha=0.5)
    for row, bound in enumerate(filter(np.isfinite, bounds)):
        ax.axvline(bound, color=colour, lw=2, label=None if row else level)
    ax.axvline(0, color="0.2", ls="--", lw=1, label="no difference")
    title = f"Replicates of the difference at alpha {alpha_text(comparison.alpha[column])}"
    difference = f"{comparison.settings['measure']} difference ({comparison.name_a} minus {comparison.name_b})"
    ax.set(xlabel=f"{difference}{unit}", ylabel="replicates", title=title)
    return finished(ax, below=own)
