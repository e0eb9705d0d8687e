"""Figure 2 of the joint bootstrap paper: coverage against the number of draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.plots.style import LINES, axes, colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.studies.coverage import Coverage


def plot_coverage(found: Coverage, *, ax: Axes | None = None) -> Axes:
    """Draw the share covered against the number of draws, a line for each bootstrap; the level is dotted."""
    ax = axes(ax, figsize=(6, 4))
    lines = found.lines()
    for (name, rows), colour, place in zip(lines.items(), colours(len(lines)), range(len(lines)), strict=True):
        style: dict[str, Any] = {"color": colour, "label": name, "ls": LINES[place % len(LINES)]}
        if len(rows) == 1:
            ax.axhline(100 * found.coverage[rows[0]], **style)
            continue
        ax.plot(_varied(found.draws[rows]), 100 * found.coverage[rows], marker="o", ms=3, **style)
    ax.axhline(100 * found.settings["confidence_level"], color="0.5", lw=0.8, ls=":")
    ax.set(xlabel="number of draws", ylabel="coverage (%)", ylim=(None, 100))
    ax.set_title(
        f"The curve of {found.settings['test_users']} unseen users, bands from {found.settings['train_users']}"
    )
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return ax


def _varied(draws: NDArray[Any]) -> NDArray[Any]:
    """Return the number of draws, of users or of trials, that varies along a line."""
    return np.asarray(draws[:, int(np.argmax(np.ptp(draws, axis=0)))])
