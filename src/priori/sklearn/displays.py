"""What the displays share: scikit-learn's arguments and attributes, and one way to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.decisions.criteria import Criterion
from priori.decisions.measures import Measure
from priori.decisions.outcomes import Outcomes
from priori.sklearn.style import Style, curve_styles, despined, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CriterionOption = str | Criterion | Callable[[Outcomes, float], Any] | None
MeasureOption = str | Measure | Callable[[Outcomes], Any] | None


class Display:
    """A display holds numbers and draws them with `plot`.

    A display says what its curves are (`_curves`), what lies around and behind them (`_draw_around`), where chance
    lies (`_chance`) and how its axes are labelled (`_axes`); all else is the same for all of them.
    """

    name: Any
    #: What the number in the legend is called.
    _metric_name: ClassVar[str] = ""
    #: The label of the chance level, and whether it is drawn when nothing is said.
    _chance_label: ClassVar[str] = "Chance level"
    _chance_shown: ClassVar[bool] = False
    _legend_place: ClassVar[Literal["best", "lower right"]] = "best"
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
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str or list of str, optional
            For the legend; the display's own name by default.
        curve_kwargs : dict or list of dict, optional
            Arguments of matplotlib's ``plot``: for all curves, or for each.
        plot_chance_level : bool, optional
            Also draw what a classifier gives whose scores are all the same; for a difference, the line of no
            difference, which is drawn unless this is False.
        chance_level_kw : dict, optional
            Arguments of matplotlib's ``plot`` for that line.
        despine : bool
            Take away the upper and the right border.

        Returns
        -------
        display : the display itself
        """
        return self._drawn(ax, name, curve_kwargs, plot_chance_level, chance_level_kw, despine)

    def _drawn(
        self, ax: Axes | None, name: Any, curve_kwargs: Style | Sequence[Style] | None,
        plot_chance_level: bool | None, chance_level_kw: Style | None, despine: bool, *, behind: bool = True,
    ) -> Self:  # fmt: skip
        curves, metrics = self._curves()
        called = self._called(self.name if name is None else name)
        styles = curve_styles(len(curves), called, metrics, self._metric_name, curve_kwargs)
        self.ax_ = ax = new_axes(ax)
        self.figure_ = ax.figure
        lines = [
            ax.plot(x, y, **{"marker": "o" if x.size == 1 else None, **style})[0]
            for (x, y), style in zip(curves, styles, strict=True)
        ]
        self.line_: Any = lines[0] if len(lines) == 1 else lines
        self.band_: Any = None
        self._draw_around(ax, lines[0].get_color(), behind)
        self.chance_level_: Any = None
        chance = self._chance()
        if chance is not None and (self._chance_shown if plot_chance_level is None else plot_chance_level):
            style = styled({"label": self._chance_label, "color": "k", "linestyle": "--"}, chance_level_kw)
            (self.chance_level_,) = ax.plot(*chance, **style)
        ax.set(**self._axes())
        if despine:
            despined(ax, self._bounded_spines)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc=self._legend_place)
        return self

    def _called(self, name: Any) -> Any:
        """Return what the legend calls the curves."""
        return name

    def _curves(self) -> tuple[list[tuple[Floats, Floats]], list[float] | None]:
        """Return x and y of each curve, and the number of each that the legend shows, if any."""
        raise NotImplementedError

    def _draw_around(self, ax: Axes, colour: Any, behind: bool) -> None:
        """Draw what lies around the curves, and if so wanted what lies behind them."""
        raise NotImplementedError

    def _chance(self) -> tuple[Any, Any] | None:
        """Return x and y of the chance level, if there is one."""
        raise NotImplementedError

    def _axes(self) -> dict[str, Any]:
        """Return the labels and the limits of the axes."""
        raise NotImplementedError


def along_alpha(criterion: str | None, label: str) -> dict[str, Any]:
    """Return the axes of a curve along alpha."""
    rule = "" if criterion is None else f" (criterion: {criterion})"
    return {"xlabel": f"alpha{rule}", "ylabel": label, "xlim": (-0.01, 1.01)}


def positive_label(pos_label: Any) -> str:
    """Return what an axis says about the positive class."""
    return "" if pos_label is None else f" (Positive label: {pos_label})"


def together(message: str, *values: Any) -> bool:
    """Tell whether all values were given; some without the others are a mistake."""
    given = [value is not None for value in values]
    if any(given) and not all(given):
        raise OptionError(message)
    return all(given)
