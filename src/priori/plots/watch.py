"""A watched threshold over time: the rates so far, with bounds that hold at every moment at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priori.plots.style import axes, finished, shade, with_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.studies.watching import Watch


def plot_watch(watch: Watch, *, ax: Axes | None = None) -> Axes:
    """Draw each rate against the trials of its class, with its bounds, its limit and its alarms."""
    own = ax is None
    ax = axes(ax, figsize=(7, 4))
    for name, colour, _ in with_looks([*watch.rates]):
        rate = watch.rates[name]
        ax.axhline(100 * rate.limit, color=colour, lw=0.8, ls=":")
        if not rate.history:
            continue
        trials, errors = np.array(rate.history).T
        lower, upper = watch.bounds_of(name)
        ax.plot(trials, 100 * errors / trials, color=colour, label=f"{name.upper()}, limit {100 * rate.limit:g} %")
        shade(ax, trials, 100 * lower, 100 * upper, colour)
        for when, marker in ((rate.broken, "X"), (rate.changed, "D")):
            if when is not None:
                ax.plot(when, 100 * np.interp(when, trials, errors / trials), marker, color=colour, ms=8)
    highest = max(max(rate.limit, rate.errors / max(rate.trials, 1)) for rate in watch.rates.values())
    title = "Rates so far, with bounds that hold at every moment\nlimit broken: cross; change: diamond"
    ax.set(xlabel="trials of the class", ylabel="rate so far (%)", ylim=(0, 200 * highest), title=title)
    return finished(ax, below=own)
