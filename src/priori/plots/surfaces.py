"""The Expected Performance and Spoofability Curve: over omega, over beta, or the surface over both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from priori.base.errors import OptionError
from priori.plots.style import UNNAMED, axes, finished, with_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.curves.epsc import OverBoth

TITLE = "Expected Performance and Spoofability Curve (a priori)"


def plot_epsc(results: Sequence[OverBoth], *, ax: Axes | None = None) -> Axes:
    """Draw curves over omega at one beta, or over beta at one omega; of several of both, the surface of one system.

    Lines are HTER_omega, with bands where the results are bands, and dashed the IAPMR. The surface is HTER_omega in
    colours with contours.
    """
    first = results[0]
    if first.omegas.size > 1 and first.betas.size > 1:
        if len(results) > 1:
            raise OptionError("a surface shows one system; draw several at one beta, or at one omega")
        return _surface(first, axes(ax))
    ax = axes(ax)
    along, fixed = ("beta", "omega") if first.betas.size > 1 else ("omega", "beta")
    for result, colour, line in with_looks(results):
        columns = result.columns()
        x, marker = columns[along], "o" if columns["value"].size == 1 else None
        ax.plot(x, 100 * columns["value"], color=colour, ls=line, marker=marker, label=result.name)
        ax.plot(x, 100 * columns["iapmr"], color=colour, ls="--", lw=1, marker=marker)
        if "lower" in columns:
            ax.fill_between(x, 100 * columns["lower"], 100 * columns["upper"], color=colour, alpha=0.18, lw=0)
    ax.plot([], [], color="0.4", ls="--", lw=1, label="IAPMR")
    meaning = {"omega": "omega, the share of attacks", "beta": "beta, the weight of false acceptances"}
    title = f"{TITLE}\n{fixed} = {getattr(first, fixed)[0]:.4g}"
    ax.set(title=title, xlabel=meaning[along], ylabel="HTER_omega, IAPMR (%) on the test set")
    ax.set_ylim(bottom=0)
    return finished(ax)


def _surface(curve: OverBoth, ax: Axes) -> Axes:
    values = 100 * curve.surface()
    colours = ax.pcolormesh(curve.omegas, curve.betas, values.T, shading="nearest", cmap="viridis")
    lines = ax.contour(curve.omegas, curve.betas, values.T, colors="white", linewidths=0.8)
    ax.clabel(lines, fmt="%g", fontsize=8)
    ax.figure.colorbar(colours, ax=ax, label="HTER_omega (%) on the test set")
    ax.set(
        title=TITLE if curve.name == UNNAMED else f"{TITLE}\n{curve.name}",
        xlabel="omega, the share of attacks",
        ylabel="beta, the weight of false acceptances",
    )
    return ax
