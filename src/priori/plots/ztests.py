"""Figure 3.11 of the thesis: two curves with an interval, and below them the confidence that they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priori.plots.style import axes, colours, scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from priori.uncertainty.ztest_curves import ZTestCurve
    from priori.uncertainty.ztest_normals import ZSystem


def plot_confidence(found: ZTestCurve, *, ax: Axes | None = None) -> Axes:
    """Draw the confidence that two systems differ against alpha; above the level, the verdict needs both tests."""
    ax = axes(ax, figsize=(6, 2.5))
    names = [name for name in ("dependent", "independent") if name in found.comparison.tests]
    for name, colour, line in zip(names, ("0.1", "0.45"), ("-", "--"), strict=False):
        ax.plot(found.alpha, 100 * found.comparison.tests[name].confidence, color=colour, ls=line, label=name)
    level = 100 * found.confidence_level
    ax.axhline(level, color="0.6", lw=0.8, ls=":")
    ax.fill_between(found.alpha, 0, 100, where=found.significant.tolist(), color="0.85", lw=0, zorder=0)
    ax.set(xlabel="alpha", ylabel="confidence (%)", ylim=(0, 101))
    ax.set_title(f"Confidence that {found.a.name} and {found.b.name} differ; grey: significant at {level:g} %")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return ax


def better_system(found: ZTestCurve) -> ZSystem:
    """Return the system whose values are the better ones in the mean over the alphas."""
    mean_a, mean_b = (float(np.mean(system.hter.value)) for system in (found.a, found.b))
    b_is_better = mean_b > mean_a if found.measure.greater_is_better else mean_b < mean_a
    return found.b if b_is_better else found.a


def figure_ztest(found: ZTestCurve) -> Figure:
    """Draw the two curves, the better one's interval at each alpha, and below them the confidence (Figure 3.11)."""
    from matplotlib import pyplot

    figure, (upper, lower) = pyplot.subplots(
        2, 1, sharex=True, figsize=(6.5, 6), layout="constrained", gridspec_kw={"height_ratios": (3, 2)}
    )
    scale, unit = scaling(found.measure.rate)
    better = better_system(found)
    for system, colour in zip((found.a, found.b), colours(2), strict=True):
        upper.plot(found.alpha, scale * system.hter.value, color=colour, label=system.name)
        if system is better:
            low, high = scale * system.hter.lower, scale * system.hter.upper
            upper.fill_between(found.alpha, low, high, color=colour, alpha=0.18, lw=0)
    upper.set_ylabel(f"{found.measure.title}{unit} on the test set")
    upper.set_title("Expected Performance Curve (a priori)")
    upper.grid(alpha=0.25)
    upper.legend(frameon=False)
    plot_confidence(found, ax=lower)
    return figure
