"""Two systems compared: their difference along alpha, its replicates at one alpha, the confidence of the z-tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from priori.plots.style import axes, colours, finished, name_shade, scaling, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from priori.uncertainty.comparing.comparison import Comparison
    from priori.uncertainty.comparing.ztests import ZTestCurve


def plot_comparison(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the difference along alpha with its band, grey where it is significant (2005, Figure 8).

    Of the claim "method" it is the expected one; the one observed is dotted.
    """
    own = ax is None
    ax = axes(ax)
    scale, unit = scaling(comparison.settings["rate"])
    (colour,) = colours(1)
    for region in comparison.regions:
        ax.axvspan(region.start, region.end, color="0.85", zorder=0, lw=0.8)
    ax.axhline(0, color="0.4", lw=0.8)
    lower, upper = scale * comparison.lower, scale * comparison.upper
    level = f"{100 * comparison.settings['confidence_level']:g} %"
    kind = "simultaneous" if comparison.settings["simultaneous"] else "pointwise"
    method = comparison.settings["claim"] == "method"
    # Of the claim "deployed" the difference is that of thresholds, and a step where one of them changes.
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


def _difference(comparison: Comparison) -> str:
    return f"{comparison.settings['measure']} difference ({comparison.name_a} minus {comparison.name_b})"


def plot_histogram(comparison: Comparison, alpha: float, *, ax: Axes | None = None, bins: int = 50) -> Axes:
    """Draw the replicates of the difference at one alpha, its interval, and 0 (2005, Figures 4 and 6)."""
    own = ax is None
    ax = axes(ax)
    scale, unit = scaling(comparison.settings["rate"])
    counts, edges = comparison.histogram(alpha, bins)
    (colour,) = colours(1)
    column = comparison.nearest(alpha)
    bounds = [scale * bound[column] for bound in (comparison.pointwise.lower, comparison.pointwise.upper)]
    level = f"{100 * comparison.settings['confidence_level']:g} % interval"
    draw_replicates(ax, counts, scale * edges, bounds, fill=colour, line=colour, label=level)
    title = f"Replicates of the difference at alpha {comparison.alpha[column]:.4g}"
    ax.set(xlabel=f"{_difference(comparison)}{unit}", ylabel="replicates", title=title)
    return finished(ax, below=own)


def draw_replicates(
    ax: Axes,
    heights: NDArray[Any],
    edges: NDArray[Any],
    bounds: Sequence[float],
    *,
    fill: str,
    line: str,
    zero: str = "0.2",
    label: str | None = None,
) -> None:
    """Draw how replicates of a difference spread, the bounds of its interval where there are, and 0."""
    ax.stairs(heights, edges, fill=True, color=fill, alpha=0.5)
    for bound in filter(np.isfinite, bounds):
        ax.axvline(bound, color=line, lw=2, label=label)
        label = None
    ax.axvline(0, color=zero, ls="--", lw=1, label="no difference")


def plot_confidence(curve: ZTestCurve, *, ax: Axes | None = None) -> Axes:
    """Draw the confidence that two systems differ against alpha; above the level, the verdict needs both tests."""
    ax = axes(ax, figsize=(6, 3.2))
    names = [name for name in ("dependent", "independent") if name in curve.comparison.tests]
    for name, colour, line in zip(names, ("0.1", "0.45"), ("-", "--"), strict=False):
        confidence = 100 * curve.comparison.tests[name].confidence
        ax.plot(curve.alpha, confidence, color=colour, ls=line, label=f"{name} test", drawstyle="steps-mid")
    level = 100 * curve.confidence_level
    ax.axhline(level, color="0.6", lw=0.8, ls=":")
    ax.fill_between(curve.alpha, 0, 101, where=curve.significant.tolist(), color="0.85", lw=0, zorder=0, step="mid")
    name_shade(ax, f"significant at {level:g} %", "0.85", None)
    ax.set(
        xlabel="alpha",
        ylabel="confidence (%)",
        ylim=(0, 101),
        xlim=(float(curve.alpha[0]), float(curve.alpha[-1])),
        title=f"Do {curve.a.name} and {curve.b.name} differ?",
    )
    return finished(ax, below=True)


def figure_ztest(curve: ZTestCurve) -> Figure:
    """Draw the two curves, the better one's interval at each alpha, and below them the confidence (Figure 3.11)."""
    from matplotlib import pyplot

    figure, (upper, lower) = pyplot.subplots(
        2, 1, sharex=True, figsize=(6.5, 6), layout="constrained", gridspec_kw={"height_ratios": (3, 2)}
    )
    scale, unit = scaling(curve.measure.rate)
    for system, colour in zip((curve.a, curve.b), colours(2), strict=True):
        upper.plot(curve.alpha, scale * system.hter.value, color=colour, label=system.name, drawstyle="steps-mid")
        if system is curve.better_system():
            low, high = scale * system.hter.lower, scale * system.hter.upper
            level = f"{100 * curve.confidence_level:g} % interval"
            shade(upper, curve.alpha, low, high, colour, step="mid", label=level)
    upper.set(ylabel=f"{curve.measure.title}{unit} on the test set", title="Expected Performance Curve (a priori)")
    finished(upper)
    plot_confidence(curve, ax=lower)
    return figure
