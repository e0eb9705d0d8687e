"""Experiments over many data sets: average curves with their intervals and meaning, and what bands cover."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from priori.plots.style import axes, epc_labels, finished, name_shade, note, roc_axes, scaling, shade, with_looks
from priori.words.numbers import level_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.curves.averaging.average import AverageCurve
    from priori.curves.averaging.epc import AverageEPC

#: How many crosses show the two-dimensional interval of an average at thresholds.
CROSSES = 12
#: What the legend says of the choices of thresholds.
THRESHOLDS = {"per-dataset": "each data set's own thresholds", "common": "common thresholds"}


def plot_average(
    curves: AverageCurve | Sequence[AverageCurve],
    *,
    ax: Axes | None = None,
    singles: bool = True,
    interval: bool = True,
    text: bool = True,
) -> Axes:
    """Draw average ROC curves.

    Parameters
    ----------
    curves : AverageCurve or sequence of AverageCurve
        One line each; several are usually different averages of the same data sets.
    singles : bool
        Draw the single curves of the first average behind it.
    interval : bool
        Draw intervals: a band for averages in ROC space, crosses along both axes for averages at thresholds.
    text : bool
        Write below the axes what each average means, and any warning.
    """
    from priori.curves.averaging.average import AverageCurve

    averages = [curves] if isinstance(curves, AverageCurve) else list(curves)
    height = 5.0 + (1.0 + 0.7 * any(curve.warnings for curve in averages)) * text
    ax = axes(ax, figsize=(5, height))
    if singles:
        _singles(ax, averages[0])
    for curve, colour, _ in with_looks(averages):
        label = f"{curve.method.name} (area {curve.area:.3f})"
        ax.plot(100 * curve.fpr, 100 * curve.tpr, color=colour, lw=2, label=label)
        if interval and len(curve.datasets) > 1:
            _interval(ax, curve, colour)
            _name_interval(ax, curve is averages[-1], colour, curve.summary()["confidence_level"])
    roc_axes(ax, f"Average of {len(averages[0].datasets)} ROC curves (a posteriori)")
    if text:
        _text(ax, averages)
    return ax


def _singles(ax: Axes, curve: AverageCurve) -> None:
    from matplotlib.collections import LineCollection

    lines = [np.column_stack([100 * fpr, 100 * tpr]) for fpr, tpr in curve.singles()]
    faint = max(0.15, min(0.8, 6 / len(lines)))
    ax.add_collection(LineCollection(lines, colors="0.55", linewidths=0.6, alpha=faint, zorder=1))
    ax.plot([], [], color="0.55", lw=0.6, label=f"{len(lines)} single curves")


def _interval(ax: Axes, curve: AverageCurve, colour: str) -> None:
    if curve.method.one_threshold:
        rows = np.unique(np.linspace(0, curve.fpr.size - 1, CROSSES + 2).round().astype(int))[1:-1]
        across = 100 * np.stack([curve.fpr - curve.fpr_lower, curve.fpr_upper - curve.fpr])[:, rows]
        up = 100 * np.stack([curve.tpr - curve.tpr_lower, curve.tpr_upper - curve.tpr])[:, rows]
        reach: dict[str, Any] = {"xerr": np.maximum(across, 0), "yerr": np.maximum(up, 0)}
        look: dict[str, Any] = {"fmt": "none", "color": colour, "elinewidth": 1, "capsize": 2}
        ax.errorbar(100 * curve.fpr[rows], 100 * curve.tpr[rows], **reach, **look)
        return
    ax.fill(*(100 * side for side in curve.outline()), color=colour, alpha=0.25, lw=0)


def _name_interval(ax: Axes, last: bool, colour: str, level: float) -> None:
    """Say in the legend, once, what the bands around averages are."""
    if last:
        name_shade(ax, f"{level_text(level)} interval over data sets", colour, 0.25)


def _text(ax: Axes, curves: Sequence[AverageCurve]) -> None:
    lines = [fill(f"{curve.method.name}: {curve.meaning}", 75) for curve in curves]
    note(ax, "\n".join(lines), colour="0.25")
    if warnings := dict.fromkeys(line for curve in curves for line in curve.warnings):
        down = -42 - 10 * (1 + sum(line.count("\n") + 1 for line in lines))
        note(ax, fill("Warning: " + " ".join(warnings), 75), down)


def plot_average_epc(
    curves: AverageEPC | Sequence[AverageEPC], *, ax: Axes | None = None, singles: bool = True
) -> Axes:
    """Draw average Expected Performance Curves and their intervals over the curves of single data sets."""
    from priori.curves.averaging.epc import AverageEPC

    averages = [curves] if isinstance(curves, AverageEPC) else list(curves)
    first = averages[0]
    own = ax is None
    ax = axes(ax)
    scale, _ = scaling(first.measure.rate)
    if singles:
        faint = max(0.15, min(0.8, 6 / len(first.each)))
        for row in first.each:
            ax.plot(first.alpha, scale * row, color="0.55", lw=0.6, alpha=faint, drawstyle="steps-mid")
        ax.plot([], [], color="0.55", lw=0.6, label=f"{len(first.each)} single curves")
    for curve, colour, _ in with_looks(averages):
        label = f"average, {THRESHOLDS[curve.thresholds]}"
        ax.plot(curve.alpha, scale * curve.value, color=colour, lw=2, drawstyle="steps-mid", label=label)
        shade(ax, curve.alpha, scale * curve.lower, scale * curve.upper, colour, alpha=0.25, step="mid")
        _name_interval(ax, curve is averages[-1], colour, curve.summary()["confidence_level"])
    ax.set(**epc_labels(first, "Average ", "test sets"), xlim=(float(first.alpha[0]), float(first.alpha[-1])))
    return finished(ax, below=own)
