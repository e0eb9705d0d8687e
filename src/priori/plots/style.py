"""How figures look and how they are saved: colours safe for colour-blind readers, the user's settings first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from priori.base.errors import OptionError
from priori.base.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's palette, ordered so that neighbours differ in lightness too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
LINES = ("-", "--", "-.", ":")
FORMATS = ("svg", "png", "pdf")


def colours(count: int) -> list[str]:
    """Return ``count`` colours: the user's own cycle if they set one, otherwise the colour-blind-safe palette."""
    from matplotlib import rcParams, rcParamsDefault

    chosen = rcParams["axes.prop_cycle"]
    own = chosen.by_key().get("color", []) if chosen != rcParamsDefault["axes.prop_cycle"] else []
    palette = own or COLOURS
    return [palette[index % len(palette)] for index in range(count)]


def scaling(rate: bool) -> tuple[int, str]:
    """Return what values are multiplied with, and the unit their axis says: rates are drawn in per cent."""
    return (100, " (%)") if rate else (1, "")


def axes(ax: Axes | None, **size: Any) -> Axes:
    """Return the axes given, or those of a new figure: of this size, unless the user has set one of their own."""
    if ax is not None:
        return ax
    from matplotlib import pyplot, rcParams, rcParamsDefault

    if rcParams["figure.figsize"] != rcParamsDefault["figure.figsize"]:
        size.pop("figsize", None)
    figure = pyplot.figure(layout="constrained", **size)
    return figure.add_subplot()


def check_format(path: str | Path) -> str:
    """Return the format that a figure's file name asks for."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise OptionError(f"cannot draw {str(path)!r}; name the figure .{', .'.join(FORMATS)}")
    return suffix


def save(figure: Figure | Axes, path: str | Path, *, dpi: float = 150) -> Path:
    """Write a figure, or the one that these axes are in, whole or not at all; the same one gives the same bytes."""
    from matplotlib import rc_context

    target, kind = Path(path), check_format(path)
    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with whole_file(target) as temporary, rc_context({"svg.hashsalt": "priori", "svg.fonttype": "path"}):
        whole = figure.figure  # a figure is its own
        whole.savefig(temporary, format=kind, metadata=metadata, dpi=dpi)  # type: ignore[union-attr]
    return target
