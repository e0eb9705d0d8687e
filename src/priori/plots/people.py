"""People: the rates of groups with their intervals, and users by their mean scores (the zoo plot)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priori.base.types import Index
from priori.plots.style import axes, colours, note_cautions
from priori.uncertainty.rates.user_rates import KINDS, UserRates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.rates.group_rates import GroupRates

#: Of more users of a kind a sample is drawn: points hide each other, and a page holds each of them.
MOST_DRAWN = 2000


def plot_groups(found: GroupRates, *, ax: Axes | None = None) -> Axes:
    """Draw the rates of the groups, one row a group, with their simultaneous intervals."""
    rates = list(dict.fromkeys(found.rate.tolist()))
    names = list(dict.fromkeys(found.group[found.what == "rate"].tolist()))
    ax = axes(ax, figsize=(7.0, max(2.5, 0.35 * len(names) + 1.6)))
    for number, (rate, colour) in enumerate(zip(rates, colours(len(rates)), strict=True)):
        rows = found.rows(rate)
        place = [names.index(name) + 0.22 * (number - (len(rates) - 1) / 2) for name in rows["group"].tolist()]
        value, lower, upper = (100 * rows[name] for name in ("value", "lower", "upper"))
        reach = np.stack([value - lower, upper - value])
        ax.errorbar(value, place, xerr=reach, fmt="o", ms=4, lw=1.2, color=colour, label=rate.upper())
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    level = f"{100 * found.confidence_level:g} %"
    ax.set(
        xlabel=f"rate (%), {level} intervals for all groups at once",
        ylabel=found.by,
        title=f"Error rates by {found.by} at threshold {found.threshold:.6g}",
    )
    note_cautions(ax, found.warnings)
    return _finished(ax)


def plot_zoo(found: UserRates, *, ax: Axes | None = None) -> Axes:
    """Draw users by their mean genuine and impostor scores; goats, lambs and wolves are coloured, quarters marked."""
    genuine, impostor, names = found.means()
    ax = axes(ax, figsize=(6.5, 5.5))
    drawn = _some(np.arange(names.size))
    label = _labelled("sheep", drawn, names.size)
    ax.scatter(genuine[drawn], impostor[drawn], s=14, color="0.7", label=label, zorder=2)
    ax.margins(0.08)  # the names in the corners cover nobody
    place = {name: number for number, name in enumerate(names)}
    for kind, size, colour in zip(KINDS, (30, 70, 130), colours(3), strict=True):
        every = np.array([place[name] for name in found.user[found.found & (found.kind == kind)] if name in place], int)
        rows = _some(every)
        if rows.size:
            label = _labelled(KINDS[kind][2], rows, every.size)
            look = {"facecolors": "none", "edgecolors": colour, "lw": 1.4, "zorder": 3}
            ax.scatter(genuine[rows], impostor[rows], s=size, label=label, **look)
    for quarters, line in zip(found.quarters(), (ax.axvline, ax.axhline), strict=True):
        for quarter in quarters:
            line(quarter, color="0.8", lw=0.8, ls=":", zorder=1)
    corners = {"doves": (1, 0), "worms": (0, 1), "chameleons": (1, 1), "phantoms": (0, 0)}
    for name, (x, y) in corners.items():
        look = {"ha": "right" if x else "left", "va": "top" if y else "bottom", "color": "0.45", "fontsize": 8}
        inside = (-4 if x else 4, -4 if y else 4)
        ax.annotate(name, (x, y), inside, xycoords="axes fraction", textcoords="offset points", **look)
    ax.set(
        xlabel="mean genuine score of the user",
        ylabel="mean impostor score of the user",
        title=f"Who makes the errors, at threshold {found.threshold:.6g}",
    )
    note_cautions(ax, found.warnings)
    return _finished(ax)


def _some(users: Index) -> Index:
    """Return the users, or of too many to draw a sample, the same each time."""
    if users.size <= MOST_DRAWN:
        return users
    return np.sort(np.random.default_rng(0).choice(users, MOST_DRAWN, replace=False))


def _labelled(name: str, drawn: Index, users: int) -> str:
    """Return the label of users, which says so where only some of them are drawn."""
    return name if drawn.size == users else f"{name} ({drawn.size:,} of {users:,} users)"


def _finished(ax: Axes) -> Axes:
    """Add the grid, and the legend of several things beside the axes: points may be anywhere in them."""
    ax.grid(alpha=0.25)
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
