"""Many systems: their values with intervals, and how their ranks change when thresholds are fixed in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priori.plots.style import axes, colours, scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.leaderboard import Leaderboard

#: Beyond this many systems only those that move, or lead, are named.
NAMED = 30


def plot_slopes(board: Leaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw each system as a line from its rank a posteriori to its rank at thresholds fixed in advance.

    Coloured are the systems that gain or lose more than chance.
    """
    ax = axes(ax)
    gains, losses = colours(2)
    few = board.system.size <= NAMED
    for row, move in enumerate(board.moves):
        before, after = int(board.post_rank[row]), int(board.rank[row])
        colour = (gains if move["gain"] > 0 else losses) if move["significant"] else "0.6"
        ax.plot([0, 1], [before, after], color=colour, lw=1.8 if move["significant"] else 0.8, marker="o", ms=3)
        if few or move["significant"] or min(before, after) <= 3:
            name = str(board.system[row])
            ax.annotate(f"{name} {before}", (0, before), (-6, 0), textcoords="offset points", ha="right", va="center")
            ax.annotate(f"{after} {name}", (1, after), (6, 0), textcoords="offset points", ha="left", va="center")
    ax.set_xticks(
        [0, 1], [f"by {board.settings['against']},\na posteriori", f"by {board.settings['measure']},\nfixed in advance"]
    )
    ax.set(
        xlim=(-0.9, 1.9),
        ylabel="rank",
        title=f"Kendall's tau {board.tau:.2f} ({board.tau_lower:.2f} to {board.tau_upper:.2f})",
    )
    ax.invert_yaxis()
    return ax


def plot_values(board: Leaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw each system's value with its interval, from best to worst; those that could be the best are coloured."""
    ax = axes(ax)
    scale, unit = scaling(bool(board.settings["rate"]))
    first, _ = colours(2)
    rows = np.arange(board.system.size)
    best = np.isin(board.system, board.could_be_best)
    for chosen, colour in ((best, first), (~best, "0.5")):
        value = scale * board.value[chosen]
        reach = np.abs(np.stack([scale * board.lower[chosen] - value, scale * board.upper[chosen] - value]))
        ax.errorbar(value, rows[chosen], xerr=reach, fmt="o", ms=4, lw=1, color=colour)
    ax.set_yticks(rows, [f"{name}  ({low}-{high})" for name, low, high in
                         zip(board.system, board.rank_lower, board.rank_upper, strict=True)])  # fmt: skip
    ax.set(xlabel=f"{board.settings['measure']}{unit}", title="Value, interval, and between which ranks")
    ax.invert_yaxis()
    return ax
