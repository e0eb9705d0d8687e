"""Figures of reproductions: canvases that need no display, and the papers' own way to draw a ROC (FRR against FAR)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from priori.plots.style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from papers.crossing import Pair

__all__ = ["canvas", "draw_errors", "legend_below"]


def canvas(
    columns: int = 1, rows: int = 1, *, size: tuple[float, float] = (5.0, 3.8), **options: Any
) -> tuple[Figure, Any]:
    """Return a figure that no window owns, and its axes: one, or an array of them."""
    from matplotlib.figure import Figure as New

    figure = New(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def legend_below(ax: Axes, columns: int = 1) -> None:
    """Put the legend below the axes, where no line crosses it."""
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=columns)


def draw_errors(ax: Axes, pair: Pair, *, alpha: float | None = None, limit: float = 0.5) -> None:
    """Draw both ROCs as the papers do, FRR against FAR, with the break-even line and the a priori points.

    The points are those of the development break-even point, or of the criterion at ``alpha``.
    """
    for roc, curve, at_break_even, colour in (
        (pair.roc_a, pair.epc_a, pair.at_break_even_a, COLOURS[0]),
        (pair.roc_b, pair.epc_b, pair.at_break_even_b, COLOURS[1]),
    ):
        point = at_break_even if alpha is None else curve.at(alpha)
        ax.plot(100 * roc.fpr, 100 * (1 - roc.tpr), color=colour, label=f"{roc.name}, ROC (a posteriori)")
        far, frr, hter = 100 * point.v1[0], 100 * point.v2[0], 100 * (point.v1[0] + point.v2[0]) / 2
        label = f"{roc.name}, threshold from development: HTER {hter:.1f} %"
        ax.plot(far, frr, "o", ms=8, color=colour, mec="white", label=label, zorder=5, clip_on=False)
    ax.plot([0, 100 * limit], [0, 100 * limit], color="0.6", lw=0.8, ls=":", label="break-even line")
    ax.set(xlabel="FAR (%)", ylabel="FRR (%)", xlim=(0, 100 * limit), ylim=(0, 100 * limit))
    ax.grid(alpha=0.25)
    legend_below(ax)
