"""How the displays draw: scikit-learn's arguments and look, the user's matplotlib settings, colours safe for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from priori.base.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Style = Mapping[str, Any]

#: How several curves with one legend entry look.
MANY: Style = {"alpha": 0.5, "linestyle": "--"}


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes given, or new ones whose colours colour-blind readers can tell apart."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    from priori.plots.style import COLOURS, colours

    _, ax = pyplot.subplots()
    ax.set_prop_cycle(color=colours(len(COLOURS)))
    return ax


def styled(default: Style, given: Style | None) -> dict[str, Any]:
    """Return the default style overruled by the one given; ``c`` and ``color`` are the same, and so on."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**default, **normalize_kwargs(dict(given or {}), Line2D)}


def curve_styles(
    count: int,
    name: str | Sequence[str] | None,
    metrics: Sequence[float] | None,
    metric_name: str,
    curve_kwargs: Style | Sequence[Style] | None,
) -> list[dict[str, Any]]:
    """Return the style of each curve, with its label.

    One dictionary serves all curves, which then share one legend entry with the mean and the standard deviation of
    the metric; a list has one dictionary, and makes one legend entry, per curve.
    """
    each = isinstance(curve_kwargs, Sequence)
    if each and len(curve_kwargs or ()) != count:
        raise OptionError(f"curve_kwargs must be None, a dictionary, or a list of {count} of them")
    names: list[str | None] = [name] * count if name is None or isinstance(name, str) else list(name)
    if len(names) == 1:
        names *= count
    if len(names) != count:
        raise OptionError(f"name must be one text, or a list of {count}, not of {len(names)}")
    if count > 1 and len(set(names)) > 1 and not each:
        raise OptionError("curves with names of their own need looks of their own: give curve_kwargs as a list")
    if count == 1 or each:
        labels = [_label(names[place], metric_name, metrics and metrics[place]) for place in range(count)]
        default: Style = {}
    else:
        spread = f" +/- {np.std(metrics):.3f}" if metrics else ""
        labels = [_label(names[0], metric_name, np.mean(metrics) if metrics else None, spread)] + [None] * (count - 1)
        from priori.plots.style import colours

        default = {**MANY, "color": colours(1)[0]}
    styles: list[Any] = list(curve_kwargs or ()) if each else [curve_kwargs] * count
    return [styled({"label": label, **default}, style) for label, style in zip(labels, styles, strict=True)]


def _label(name: str | None, metric_name: str, metric: Any, spread: str = "") -> str | None:
    if metric is None:
        return name
    told = f"{metric_name} = {metric:.3f}{spread}"
    return told if name is None else f"{name} ({told})"


def despined(ax: Axes, bounded: Sequence[str]) -> None:
    """Take away the upper and the right border, and end the bounded ones at 0 and 1."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in bounded:
        ax.spines[side].set_bounds(0, 1)
