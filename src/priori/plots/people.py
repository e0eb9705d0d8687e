"""People: the rates of groups, and of users, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priori.plots.style import axes, colours, finished, note_cautions, shade
from priori.uncertainty.rates.user_rates import ROLES, UserRates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.rates.group_rates import GroupRates

#: Of more users some are drawn: a page holds each of them.
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


def plot_users(found: UserRates, *, ax: Axes | None = None) -> Axes:
    """Draw the shrunken rates of the users with their intervals, role by role, the highest first."""
    ax = axes(ax, figsize=(6.5, 4.5))
    for about, colour in zip(found.roles, colours(len(ROLES)), strict=False):
        rate, rows, users = about["rate"], found.of_role(about["role"]), about["users"]
        drawn = np.unique(np.linspace(0, users - 1, min(users, MOST_DRAWN)).astype(int))
        shrunken, lower, upper = (100 * rows[name][drawn] for name in ("shrunken", "lower", "upper"))
        shade(ax, drawn + 1, lower, upper, colour, step="mid")
        ax.plot(drawn + 1, shrunken, color=colour, drawstyle="steps-mid", label=f"{rate.upper()}, {about['role']}")
        ax.axhline(100 * about["overall"], color=colour, lw=0.8, ls=":")
    level = f"{100 * found.confidence_level:g} %"
    ax.set(
        xlabel="users, the highest rate first",
        ylabel=f"shrunken rate (%) with {level} interval",
        title=f"Who makes the errors, at threshold {found.threshold:.6g}",
    )
    note_cautions(ax, found.warnings)
    return finished(ax, below=True)


def _finished(ax: Axes) -> Axes:
    """Add the grid, and the legend of several things beside the axes: points may be anywhere in them."""
    ax.grid(alpha=0.25)
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
