"""Figure 2 of the joint bootstrap paper: coverage against the number of draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from priori.plots.style import LINES, axes, finished, with_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.studies.coverage import Coverage


def plot_coverage(coverage: Coverage, *, ax: Axes | None = None) -> Axes:
    """Draw the share covered against the number of draws, a line for each bootstrap; the level is dotted."""
    own = ax is None
    ax = axes(ax, figsize=(6, 4))
    settings = coverage.settings
    for index, ((name, rows), colour, _) in enumerate(with_looks(coverage.lines().items())):
        style: dict[str, Any] = {"color": colour, "label": name, "ls": LINES[index % len(LINES)]}
        if len(rows) == 1:
            ax.axhline(100 * coverage.coverage[rows[0]], **style)
            continue
        draws = coverage.draws[rows]
        varied = draws[:, int(np.argmax(np.ptp(draws, axis=0)))]  # the number of users, or of trials
        ax.plot(varied, 100 * coverage.coverage[rows], marker="o", ms=3, **style)
    ax.axhline(100 * settings["confidence_level"], color="0.5", lw=0.8, ls=":")
    title = f"The curve of {settings['test_users']} unseen users, bands from {settings['train_users']}"
    ax.set(xlabel="number of draws", ylabel="coverage (%)", ylim=(None, 100), title=title)
    return finished(ax, below=own)
