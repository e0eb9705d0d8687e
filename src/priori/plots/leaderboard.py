"""Many systems: their values with intervals, and how their ranks change when thresholds are fixed in advance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priori.plots.style import axes, colours, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.ranking.leaderboard import Leaderboard

#: Beyond this many systems only those that move, or lead, are named.
NAMED = 30
#: The room that a line of text needs, in inches.
LINE = 0.19


def plot_slopes(board: Leaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw each system as a line from its rank a posteriori to its rank at thresholds fixed in advance.

    Coloured are the systems that gain or lose more than chance.
    """
    systems, named = board.system.size, named_rows(board)
    ax = axes(ax, figsize=(8.0, max(3.5, LINE * len(named) + 1.5)))
    gains, losses = colours(2)
    for row, move in enumerate(board.moves):
        colour = (gains if move["gain"] > 0 else losses) if move["significant"] else "0.65"
        width, front = (1.8, 3) if move["significant"] else (0.8, 2)
        ax.plot([0, 1], [board.post_rank[row], board.rank[row]], color=colour, lw=width, marker="o", ms=3, zorder=front)
    gap = LINE * systems / (ax.get_window_extent().height / ax.figure.dpi)
    for x, side, ranks in ((0, "right", board.post_rank), (1, "left", board.rank)):
        where = spread(ranks[named].astype(np.float64), gap)
        for row, y in zip(named, where.tolist(), strict=True):
            name = f"{board.system[row]}  {ranks[row]}" if side == "right" else f"{ranks[row]}  {board.system[row]}"
            text = -0.06 if side == "right" else 1.06
            ax.plot([x, text], [ranks[row], y], color="0.8", lw=0.6, zorder=1)
            ax.text(text, y, name, ha=side, va="center", fontsize=8)
    settings = board.settings
    ax.set_xticks([0, 1], [f"by {settings['against']},\na posteriori", f"by {settings['measure']},\nfixed in advance"])
    ax.set(xlim=(-1.1, 2.1), yticks=[])
    moved = any(move["significant"] for move in board.moves)
    ax.set_title(
        f"Kendall's tau {board.tau:.2f} ({board.tau_lower:.2f} to {board.tau_upper:.2f})"
        + "\ncoloured: ranks that change by more than chance" * moved
    )
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.invert_yaxis()
    return ax


def named_rows(board: Leaderboard) -> list[int]:
    """Return the systems that a slope chart names: all of a few, of more those that lead or move beyond chance."""
    return [
        row
        for row, move in enumerate(board.moves)
        if board.system.size <= NAMED or move["significant"] or min(board.rank[row], board.post_rank[row]) <= 3
    ]
