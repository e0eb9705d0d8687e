"""Rates at one threshold, of groups, of users and watched over time; and how sure the threshold itself is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from priori.base.texts import alpha_text
from priori.plots.style import axes, colours, finished, note_cautions, shade, with_looks
from priori.uncertainty.rates.user_rates import ROLES, UserRates
from priori.words.numbers import level_text
from priori.words.vocabulary import RANGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.studies.watching import Watch
    from priori.uncertainty.expected.thresholds import ThresholdInterval
    from priori.uncertainty.rates.group_rates import GroupRates

#: With more users only some are drawn, since a page holds every one that is drawn.
MOST_DRAWN = 2000


def plot_groups(found: GroupRates, *, ax: Axes | None = None) -> Axes:
    """Draw the rates of the groups, one row a group, with their simultaneous intervals."""
    rates = list(dict.fromkeys(found.rate[found.what == "rate"].tolist()))
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
    ax.set(
        xlabel=f"rate (%), {level_text(found.confidence_level)} intervals for all groups at once",
        ylabel=found.by,
        title=f"Error rates by {found.by} at threshold {found.summary()['threshold']:.6g}",
    )
    note_cautions(ax, found.warnings)
    return _finished(ax)


def plot_users(found: UserRates, *, ax: Axes | None = None) -> Axes:
    """Draw the rates of the users with their intervals, role by role, highest lower bound first."""
    ax = axes(ax, figsize=(6.5, 4.5))
    for about, colour in zip(found.roles, colours(len(ROLES)), strict=False):
        rate, rows, users = about["rate"], found.of_role(about["role"]), about["users"]
        # Whose negatives they are needs a word only where users are impostors of others too.
        label = f"{rate.upper()}, {about['role']}" if len(found.roles) == len(ROLES) else rate.upper()
        drawn = np.unique(np.linspace(0, users - 1, min(users, MOST_DRAWN)).astype(int))
        own, lower, upper = (100 * rows[name][drawn] for name in ("rate", "lower", "upper"))
        shade(ax, drawn + 1, lower, upper, colour, step="mid")
        ax.plot(drawn + 1, own, color=colour, drawstyle="steps-mid", label=label)
        ax.axhline(100 * about["overall"], color=colour, lw=0.8, ls=":")
    ax.set(
        xlabel="users, highest lower bound first",
        ylabel=f"rate (%) with {level_text(found.confidence_level)} interval",
        title=f"Who makes the errors, at threshold {found.summary()['threshold']:.6g}",
    )
    note_cautions(ax, found.warnings)
    return finished(ax, below=True)


def _finished(ax: Axes) -> Axes:
    """Add the grid, and the legend of several things beside the axes: points may be anywhere in them."""
    ax.grid(alpha=0.25)
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_thresholds(found: ThresholdInterval, *, ax: Axes | None = None) -> Axes:
    """Draw a row for each alpha: the threshold, and its three ranges as bars."""
    rows = np.arange(found.alpha.size, dtype=float)
    ax = axes(ax, figsize=(7.0, max(2.2, 0.7 * rows.size + 1.6)))
    shown = found.columns()
    inside = np.concatenate([shown[name] for name in shown if name != "alpha"])
    inside = inside[np.isfinite(inside)]
    low, high = (inside.min(), inside.max()) if inside.size else (0.0, 1.0)
    reach = max(high - low, 1e-9)
    limits = low - 0.08 * reach, high + 0.08 * reach  # an infinite end goes to the edge of the axes
    for place, ((what, (_, label)), colour) in enumerate(zip(RANGES.items(), colours(len(RANGES)), strict=True)):
        lower, upper = (np.clip(shown[f"{what}_{end}"], *limits) for end in ("lower", "upper"))
        ax.hlines(rows + 0.22 * (place - 1), lower, upper, colors=colour, lw=6, alpha=0.6, label=label)
    ax.vlines(np.clip(shown["threshold"], *limits), rows - 0.4, rows + 0.4, colors="k", lw=2, label="chosen")
    ax.set_yticks(rows, [f"alpha {alpha_text(alpha)}" for alpha in found.alpha])
    ax.set_ylim(rows.size - 0.5, -0.5)
    title = f"How certain is the threshold? ({found.criterion.name}, {level_text(found.confidence_level)})"
    ax.set(xlim=limits, xlabel="distance" if found.distances else "score", title=title)
    note_cautions(ax, found.warnings)
    return finished(ax, below=True)


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
