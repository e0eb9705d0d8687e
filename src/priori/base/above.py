"""Methods of results that are implemented on higher floors: bands, figures, sentences; named here, imported on use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The function behind a method of a class, and of its subclasses that name none of their own.
ABOVE: dict[str, str] = {
    "EPC.band": "priori.uncertainty.bands.bands:make_band",
    "EPSC.band": "priori.uncertainty.bands.bands:surface_band",
    "AposterioriROC.band": "priori.uncertainty.bands.roc_bands:roc_band",
    "EPC.plot": "priori.plots.curves:plot_epc",
    "Band.plot": "priori.plots.curves:plot_epc",
    "AposterioriROC.plot": "priori.plots.curves:plot_roc",
    "AposterioriDET.plot": "priori.plots.curves:plot_det",
    "OverBoth.plot": "priori.plots.curves:plot_epsc",
    "AverageCurve.plot": "priori.plots.average:plot_average",
    "AverageEPC.plot": "priori.plots.average:plot_average_epc",
    "Comparison.plot": "priori.plots.comparison:plot_comparison",
    "Leaderboard.plot": "priori.plots.leaderboard:plot_slopes",
    "GroupRates.plot": "priori.plots.rates:plot_groups",
    "UserRates.plot": "priori.plots.rates:plot_users",
    "ThresholdInterval.plot": "priori.plots.rates:plot_thresholds",
    "Reliability.plot": "priori.plots.likelihood_ratios:plot_reliability",
    "Tippett.plot": "priori.plots.likelihood_ratios:plot_tippett",
    "ECE.plot": "priori.plots.likelihood_ratios:plot_ece",
    "Watch.plot": "priori.plots.rates:plot_watch",
    "ZTest.sentence": "priori.words.sentences:ztest_verdict",
}


class Plotted:
    """What has a figure without options."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the figure; returns the axes."""
        return above(self, "plot")(self, ax=ax)


@overload
def above(result: object, method: Literal["plot"]) -> Callable[..., Axes]: ...
@overload
def above(result: object, method: Literal["sentence"]) -> Callable[..., str]: ...
@overload
def above(result: object, method: Literal["band"]) -> Callable[..., Any]: ...
def above(result: object, method: str) -> Callable[..., Any]:
    """Return the function behind a method of a result."""
    names = (f"{kind.__name__}.{method}" for kind in type(result).__mro__)
    module, _, function = next(ABOVE[name] for name in names if name in ABOVE).partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
