"""How figures look and how they are saved: colours safe for colour-blind readers, the user's settings first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from priori.base.cautions import Caution
from priori.base.errors import OptionError
from priori.base.extras import require
from priori.base.types import Floats
from priori.base.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

    from priori.curves.averaging.epc import AverageEPC
    from priori.curves.epc import EPC

#: Okabe and Ito's hues, the light ones darkened to a contrast of 3:1 on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B8558F", "#3A93CF", "#B07800", "#000000", "#7D7700")
LINES = ("-", "--", "-.", ":")
#: The name of a curve without one.
UNNAMED = "system"
FORMATS = ("svg", "png", "pdf")
Item = TypeVar("Item")


def colours(count: int) -> list[str]:
    """Return ``count`` colours: the user's own cycle if they set one, otherwise the colour-blind-safe palette."""
    require("matplotlib")
    from matplotlib import rcParams, rcParamsDefault

    cycle = rcParams["axes.prop_cycle"]
    users_colours = cycle.by_key().get("color", []) if cycle != rcParamsDefault["axes.prop_cycle"] else []
    palette = users_colours or COLOURS
    return [palette[index % len(palette)] for index in range(count)]


def with_looks(items: Collection[Item]) -> list[tuple[Item, str, str]]:
    """Return each thing to draw with its colour and its line."""
    lines = [LINES[index // 8 % len(LINES)] for index in range(len(items))]
    return list(zip(items, colours(len(items)), lines, strict=True))


def scaling(rate: bool) -> tuple[int, str]:
    """Return the factor of the values, and the unit on their axis: rates are drawn in per cent."""
    return (100, " (%)") if rate else (1, "")


def epc_labels(curve: EPC | AverageEPC, average: str = "", sets: str = "test set") -> dict[str, str]:
    """Return the title and the labels of the axes of an Expected Performance Curve."""
    return {
        "title": f"{average}Expected Performance Curve (a priori)",
        "xlabel": f"alpha (criterion {curve.criterion.name})",
        "ylabel": f"{curve.measure.title}{scaling(curve.measure.rate)[1]} on the {sets}",
    }


Legend = Literal["lower right", "lower left", "upper right"]


def roc_axes(
    ax: Axes,
    title: str,
    *,
    chance: bool = True,
    x: str = "False positive rate",
    y: str = "True positive rate",
    log: bool = False,
    legend: Legend | None = "lower right",
    below: bool = False,
) -> Axes:
    """Label the axes of ROC curves, in per cent, and draw the line of chance (or of break-even)."""
    if chance:
        line = [0.001, 0.01, 0.1, 1, 10, 100] if log else [0, 100]
        ax.plot(line, line, color="0.6", lw=0.8, ls=":", scalex=False, scaley=False)
    ax.set(xlabel=f"{x} (%)", ylabel=f"{y} (%)", title=title)
    if not log:
        ax.set(xlim=(-1, 101), ylim=(-1, 101), aspect="equal")
    return finished(ax, legend, below=below)


def finished(ax: Axes, legend: Legend | None = None, *, below: bool = False) -> Axes:
    """Add the grid and, where something has a name, the legend; ``below`` the axes it covers nothing."""
    ax.grid(alpha=0.25)
    if not ax.get_legend_handles_labels()[1]:
        return ax
    if below:
        from matplotlib.transforms import ScaledTranslation

        # Half an inch leaves room for the numbers and the label of the axis, however high the axes are.
        under = ax.transAxes + ScaledTranslation(0, -0.5, ax.figure.dpi_scale_trans)
        for columns in (2, 1):
            drawn = ax.legend(
                frameon=False,
                loc="upper left",
                bbox_to_anchor=(0, 0),
                bbox_transform=under,
                borderaxespad=0,
                ncols=columns,
                fontsize="small",
            )
            if drawn.get_window_extent().width < 0.9 * ax.figure.bbox.width:
                break
    else:
        ax.legend(frameon=False, loc=legend)
    return ax


def shade(ax: Axes, x: Any, lower: Any, upper: Any, colour: str, **look: Any) -> None:
    """Draw a band; at one point an upright line."""
    if np.size(x) == 1:
        ax.vlines(x, lower, upper, color=colour, lw=2, alpha=0.6, label=look.get("label", ""))
        return
    ax.fill_between(x, lower, upper, **{"color": colour, "alpha": 0.18, "lw": 0, **look})


def name_shade(ax: Axes, label: str, colour: str = "0.4", alpha: float | None = 0.18) -> None:
    """Say in the legend what a shade means."""
    ax.plot([], [], color=colour, alpha=alpha, lw=8, label=label)


def with_fact(name: str, fact: str) -> str:
    """Return a curve's label for the legend: its name, where it has one, and a fact."""
    return fact if name == UNNAMED else f"{name} ({fact})"


def label_ends(ax: Axes, ends: Sequence[tuple[str, float, str]], size: float | None = None) -> None:
    """Write names at the right ends of lines, (name, height, colour) each, apart from each other."""
    low, high = ax.get_ylim()
    heights = spread(np.array([height for _, height, _ in ends]), 0.06 * (high - low))
    where: Any = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "annotation_clip": False}
    for (name, _, colour), height in zip(ends, heights.tolist(), strict=True):
        ax.annotate(name, (1, height), (6, 0), va="center", color=colour, fontsize=size, **where)


def spread(wanted: Floats, gap: float) -> Floats:
    """Return places at least a gap apart and near the wanted ones: runs that are too close are spread about their mean.

    Examples
    --------
    >>> spread(np.array([1.0, 1.0, 5.0]), 2.0).tolist()
    [0.0, 2.0, 5.0]
    """
    order = np.argsort(wanted, kind="stable")
    runs: list[tuple[float, int]] = []  # the middle of each run, and its size
    for middle in wanted[order].tolist():
        size = 1
        while runs and middle - gap * (size - 1) / 2 < runs[-1][0] + gap * (runs[-1][1] - 1) / 2 + gap:
            before, count = runs.pop()
            middle, size = (before * count + middle * size) / (count + size), count + size
        runs.append((middle, size))
    places = np.empty(wanted.size)
    places[order] = np.concatenate([middle + gap * (np.arange(size) - (size - 1) / 2) for middle, size in runs])
    return places


def note(ax: Axes, text: str, down: float = -42, colour: str = "#A00000") -> Annotation:
    """Write a note below the axes."""
    where: Any = {"xycoords": "axes fraction", "textcoords": "offset points"}
    return ax.annotate(text, (0, 0), (0, down), va="top", fontsize=7.5, color=colour, **where)


def note_cautions(ax: Axes, warnings: Iterable[str], down: float = -42) -> Annotation | None:
    """Note below the axes warnings, by heading and code; ``warnings`` of the result have the words."""
    noted = [caution for caution in warnings if isinstance(caution, Caution) and caution.level == "warning"]
    headings = dict.fromkeys(f"{caution.heading} [{caution.code}]" for caution in noted)
    return note(ax, fill("Mind: " + "; ".join(headings), 75), down) if noted else None


def axes(ax: Axes | None, figsize: tuple[float, float] | None = None) -> Axes:
    """Return the axes given, or those of a new figure: of this size, unless the user has set one of their own."""
    if ax is not None:
        return ax
    require("matplotlib")
    from matplotlib import pyplot, rcParams, rcParamsDefault

    users_size = rcParams["figure.figsize"] != rcParamsDefault["figure.figsize"]
    return pyplot.figure(layout="constrained", figsize=None if users_size else figsize).add_subplot()


def check_format(path: str | Path) -> str:
    """Return the format that a figure's file name asks for."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise OptionError(f"cannot draw {str(path)!r}; name the figure .{', .'.join(FORMATS)}")
    require("matplotlib")
    return suffix


def save(figure: Figure | Axes, path: str | Path, *, dpi: float = 150) -> Path:
    """Write a figure, or the one that these axes are in, atomically; the same one gives the same bytes."""
    from matplotlib import rc_context

    target, kind = Path(path), check_format(path)
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with whole_file(target) as temporary, rc_context({"svg.hashsalt": "priori", "svg.fonttype": "path"}):
        # A figure is its own figure.
        figure.figure.savefig(temporary, format=kind, metadata=metadata, dpi=dpi)  # type: ignore[union-attr]
    return target
