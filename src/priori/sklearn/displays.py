"""What the displays share: scikit-learn's arguments, attributes and look, and one way to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from priori.base.cautions import joined
from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.decisions.criteria import Criterion
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.plots.style import note_cautions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Style = Mapping[str, Any]
CriterionOption = str | Criterion | Callable[[Outcomes, float], Any] | None
MeasureOption = str | Measure | Callable[[Outcomes], Any] | None


class Contents(NamedTuple):
    """What a display shows: x and y of each curve, and each one's number in the legend; the chance level; the axes."""

    curves: list[tuple[Floats, Floats]]
    metrics: list[float] | None
    chance: tuple[Any, Any] | None
    labels: dict[str, Any]


class Display:
    """A display holds numbers and draws them with `plot`.

    A display says what it shows (`_contents`) and draws what lies around and behind its curves (`_draw_around`); all
    else is the same for all of them.
    """

    name: Any
    #: Warnings about the result behind the display; noted below the axes.
    warnings_: tuple[str, ...] = ()
    #: What the number in the legend is called.
    _metric_name: ClassVar[str] = ""
    #: The label of the chance level, and whether it is drawn when nothing is said.
    _chance_label: ClassVar[str] = "Chance level"
    _chance_shown: ClassVar[bool] = False
    #: How lines run between points: an EPC is constant around each alpha.
    _drawstyle: ClassVar[Literal["default", "steps-mid"]] = "default"
    _band_label: ClassVar[str] = "Confidence interval"
    _legend_loc: ClassVar[Literal["best", "lower right"]] = "best"
    #: The borders that end at 0 and 1 where the others are taken away.
    _bounded_spines: ClassVar[tuple[str, ...]] = ("bottom",)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | list[str] | None = None,
        curve_kwargs: Style | Sequence[Style] | None = None,
        plot_chance_level: bool | None = None,
        chance_level_kw: Style | None = None,
        despine: bool = False,
    ) -> Self:
        """Draw the display and return it; arguments as in `sklearn.metrics.RocCurveDisplay.plot`.

        ``name`` and ``curve_kwargs`` (arguments of matplotlib's ``plot``) are for all curves, or lists with one for
        each. The chance level is what a classifier gives whose scores are all the same; for a difference, the line of
        no difference, which is drawn unless ``plot_chance_level`` is False.
        """
        return self._draw(locals())

    def _draw(self, given: Mapping[str, Any]) -> Self:
        """Draw the display as the arguments of a public method ask for, all of them by name."""
        curves, metrics, chance, labels = self._contents()
        legend_name = self._legend_name(self.name if given["name"] is None else given["name"])
        styles = _curve_styles(len(curves), legend_name, metrics, self._metric_name, given["curve_kwargs"])
        self.ax_ = ax = _new_axes() if given["ax"] is None else given["ax"]
        self.figure_ = ax.figure
        lines = [
            ax.plot(x, y, **{"marker": "o" if x.size == 1 else None, "drawstyle": self._drawstyle, **style})[0]
            for (x, y), style in zip(curves, styles, strict=True)
        ]
        self.line_: Any = lines[0] if len(lines) == 1 else lines
        self.band_: Any = None
        self._draw_around(ax, lines[0].get_color(), given.get("plot_singles", True))
        self.chance_level_: Any = None
        asked = given["plot_chance_level"]
        if chance is not None and (self._chance_shown if asked is None else asked):
            overrides = given.get("chance_level_kw", given.get("chance_level_kwargs"))
            style = _styled({"label": self._chance_label, "color": "k", "linestyle": "--"}, overrides)
            (self.chance_level_,) = ax.plot(*chance, **style)
        ax.set(**labels)
        if given["despine"]:
            ax.spines[["top", "right"]].set_visible(False)
            for side in self._bounded_spines:
                ax.spines[side].set_bounds(0, 1)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc=self._legend_loc)
        self.note_: Any = note_cautions(ax, self.warnings_)
        return self

    def _warn(self, warnings: tuple[str, ...]) -> Self:
        """Note further warnings below the axes."""
        self.warnings_ = joined(warnings, self.warnings_)
        if self.note_ is not None:
            self.note_.remove()
        self.note_ = note_cautions(self.ax_, self.warnings_)
        return self

    def _legend_name(self, name: Any) -> Any:
        """Return what the legend calls the curves."""
        return name

    def _contents(self) -> Contents:
        """Return what the display shows."""
        raise NotImplementedError

    def _draw_around(self, ax: Axes, colour: Any, behind: bool) -> None:
        """Draw what lies around the curves, and if asked for what lies behind them."""
        raise NotImplementedError


def positive_label(pos_label: Any) -> str:
    """Return what an axis says about the positive class."""
    return "" if pos_label is None else f" (Positive label: {pos_label})"


def _new_axes() -> Axes:
    """Return new axes whose colours colour-blind readers can tell apart."""
    from matplotlib import pyplot

    from priori.plots.style import COLOURS, colours

    _, ax = pyplot.subplots()
    ax.set_prop_cycle(color=colours(len(COLOURS)))
    return ax


def _styled(default: Style, overrides: Style | None) -> dict[str, Any]:
    """Return the default style with overrides; ``c`` and ``color`` are the same, and so on."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**default, **normalize_kwargs(dict(overrides or {}), Line2D)}


def _curve_styles(
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
    default: Style = {}
    if count == 1 or each:
        labels = [_label(names[index], metric_name, metrics and metrics[index]) for index in range(count)]
    else:
        from priori.plots.style import colours

        spread = f" +/- {np.std(metrics):.3f}" if metrics else ""
        labels = [_label(names[0], metric_name, np.mean(metrics) if metrics else None, spread)] + [None] * (count - 1)
        default = {"alpha": 0.5, "linestyle": "--", "color": colours(1)[0]}
    styles: list[Any] = list(curve_kwargs or ()) if each else [curve_kwargs] * count
    return [_styled({"label": label, **default}, style) for label, style in zip(labels, styles, strict=True)]


def _label(name: str | None, metric_name: str, metric: Any, spread: str = "") -> str | None:
    if metric is None:
        return name
    metric_text = f"{metric_name} = {metric:.3f}{spread}"
    return metric_text if name is None else f"{name} ({metric_text})"
