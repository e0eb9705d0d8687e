"""Interactive figures for notebooks: results in, plotly figures out. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from priori.base.errors import OptionError
from priori.base.extras import require
from priori.base.results import Result
from priori.base.types import Floats
from priori.curves.thinning import thin
from priori.plots.average import outline_of
from priori.plots.curves import det_axes, steps
from priori.plots.style import COLOURS, epc_labels, scaling

DASHES = ("solid", "dash", "dashdot", "dot")


def figure(result: Result) -> Any:
    """Return the plotly figure of a result.

    Examples
    --------
    >>> import priori
    >>> scores = priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9])
    >>> figure(priori.roc(scores)).layout.title.text
    'ROC (a posteriori)'
    """
    name = type(result).__name__
    if name not in FIGURES:
        raise OptionError(f"a {name} has no plotly figure; those that have: {', '.join(FIGURES)}")
    return FIGURES[name](result)


def _figure(title: str, xlabel: str, ylabel: str, **layout: Any) -> Any:
    """Return an empty figure; colours are safe for colour-blind readers unless the user has a template of their own."""
    require("plotly")
    import plotly.graph_objects as go
    import plotly.io as pio

    drawing = go.Figure()
    drawing.update_layout(
        title=title, xaxis_title=xlabel, yaxis_title=ylabel, hovermode="closest", showlegend=True, **layout
    )
    if pio.templates.default == "plotly":
        drawing.update_layout(template="plotly_white", colorway=list(COLOURS))
    return drawing


def _colour(drawing: Any, index: int = 0) -> str:
    colourway = drawing.layout.colorway or drawing.layout.template.layout.colorway or COLOURS
    return str(colourway[index % len(colourway)])


def _text(name: str) -> str:
    """Return a name as it is: plotly takes some HTML for markup."""
    return escape(name, quote=False)


def _line(drawing: Any, index: int) -> dict[str, Any]:
    return {"color": _colour(drawing, index), "dash": DASHES[index // len(COLOURS) % len(DASHES)]}


def _area(drawing: Any, x: Floats, y: Floats, colour: str, name: str) -> None:
    """Fill an outline with a colour that lets what is behind it through."""
    clear = "rgba(128, 128, 128, 0.18)"
    if colour.startswith("#") and len(colour) == 7:
        clear = f"rgba({', '.join(str(part) for part in bytes.fromhex(colour[1:]))}, 0.18)"
    drawing.add_scatter(x=x, y=y, fill="toself", fillcolor=clear, line={"width": 0}, hoverinfo="skip",
                        showlegend=False, name=name)  # fmt: skip


def _band(drawing: Any, x: Floats, lower: Floats, upper: Floats, colour: str, name: str) -> None:
    _area(drawing, np.concatenate([x, x[::-1]]), np.concatenate([upper, lower[::-1]]), colour, name)


def _single(drawing: Any, x: Floats, y: Floats, name: str) -> None:
    """Draw one of the curves behind an average."""
    drawing.add_scatter(x=x, y=y, mode="lines", name=_text(name), showlegend=False, opacity=0.5,
                        line={"color": "grey", "width": 1})  # fmt: skip


def figure_epc(curves: Any, *, bands: Sequence[Any] | None = None, best: bool = False) -> Any:
    """Draw Expected Performance Curves, with bands around them; pointing shows thresholds and rates.

    Parameters
    ----------
    curves : EPC or sequence of EPC
    bands : sequence of Band, optional
        One per curve.
    best : bool
        Also draw what choosing the thresholds on the test set would have shown, dotted.
    """
    curves = list(curves) if isinstance(curves, Sequence) else [curves]
    measure = curves[0].measure
    scale, _ = scaling(measure.rate)
    drawing = _figure(**epc_labels(curves[0]))
    for index, curve in enumerate(curves):
        line, name = _line(drawing, index), _text(curve.name)
        if bands is not None:
            band = bands[index]
            _band(drawing, band.alpha, scale * band.lower, scale * band.upper, line["color"], f"{name}, band")
        line["shape"] = "hv" if curve.exact else "linear"
        mode = "markers" if curve.alpha.size == 1 else "lines"
        alpha, rows = steps(curve)
        hover_data, hover = _hover(curve, scale)
        drawing.add_scatter(x=alpha, y=scale * curve.value[rows], mode=mode, name=name, hovertemplate=hover,
                            customdata=None if hover_data is None else hover_data[rows], line=line)  # fmt: skip
        if best:
            drawing.add_scatter(x=alpha, y=scale * curve.best[rows], mode=mode, name=f"{name}, a posteriori",
                                line={**line, "dash": "dot", "width": 1})  # fmt: skip
    if measure.rate and not measure.greater_is_better:
        drawing.update_yaxes(rangemode="tozero")
    return drawing


def _hover(curve: Any, scale: int) -> tuple[Any, str]:
    """Return what pointing at a curve shows; the curve behind a band read from a file has no thresholds."""
    unit = " %" if scale == 100 else ""
    hover = f"alpha %{{x:.4g}}<br>{curve.measure.title} %{{y:.4g}}{unit}"
    try:
        data = np.column_stack([curve.threshold, 100 * curve.v1, 100 * curve.v2])
    except AttributeError:
        return None, hover
    v1, v2 = curve.task.v1.title, curve.task.v2.title
    more = f"threshold %{{customdata[0]:.6g}}<br>{v1} %{{customdata[1]:.4g}} %<br>{v2} %{{customdata[2]:.4g}} %"
    return data, f"{hover}<br>{more}"


def _figure_average_epc(curve: Any) -> Any:
    scale, _ = scaling(curve.measure.rate)
    drawing = _figure(**epc_labels(curve, "Average ", "test sets"))
    colour = _colour(drawing)
    for name, row in zip(curve.names, curve.each, strict=True):
        _single(drawing, curve.alpha, scale * row, name)
    _band(drawing, curve.alpha, scale * curve.lower, scale * curve.upper, colour, "interval")
    drawing.add_scatter(x=curve.alpha, y=scale * curve.value, mode="lines", line={"color": colour, "width": 3},
                        name=f"average, thresholds {curve.thresholds}")  # fmt: skip
    return drawing


def figure_comparison(comparison: Any) -> Any:
    """Draw the difference of two systems along alpha with its interval, grey where it is significant."""
    scale, unit = (100, " (points)") if comparison.settings["rate"] else (1, "")
    drawing = _figure(f"{_text(comparison.name_a)} minus {_text(comparison.name_b)}; grey: significant", "alpha",
                      f"difference in {comparison.settings['measure']}{unit}")  # fmt: skip
    colour = _colour(drawing)
    for region in comparison.regions:
        drawing.add_vrect(x0=region.start, x1=region.end, fillcolor="grey", opacity=0.2, line_width=0, layer="below")
    drawing.add_hline(y=0, line_width=1, line_color="grey")
    _band(drawing, comparison.alpha, scale * comparison.lower, scale * comparison.upper, colour, "interval")
    drawing.add_scatter(
        x=comparison.alpha, y=scale * comparison.expected, mode="markers" if comparison.alpha.size == 1 else "lines",
        line={"color": colour}, showlegend=False, name="difference", customdata=comparison.p_value,
        hovertemplate="alpha %{x:.4g}<br>difference %{y:.4g}<br>p %{customdata:.4g}",
    )  # fmt: skip
    return drawing


def _roc_figure(title: str) -> Any:
    drawing = _figure(title, "False positive rate (%)", "True positive rate (%)", width=560, height=560,
                      legend={"x": 0.98, "y": 0.03, "xanchor": "right", "yanchor": "bottom"})  # fmt: skip
    drawing.update_xaxes(range=[-1, 101], constrain="domain")
    drawing.update_yaxes(range=[-1, 101], scaleanchor="x")
    drawing.add_scatter(x=[0, 100], y=[0, 100], mode="lines", hoverinfo="skip", showlegend=False, name="chance",
                        line={"color": "grey", "dash": "dot", "width": 1})  # fmt: skip
    return drawing


def figure_roc(curves: Any) -> Any:
    """Draw ROC curves, a posteriori; pointing shows thresholds."""
    drawing = _roc_figure("ROC (a posteriori)")
    for index, curve in enumerate(curves if isinstance(curves, Sequence) else [curves]):
        points = thin(curve.fpr, curve.tpr)
        drawing.add_scatter(
            x=100 * curve.fpr[points], y=100 * curve.tpr[points], mode="lines", customdata=curve.threshold[points],
            name=f"{_text(curve.name)} (AUC {curve.auc:.3f})", line=_line(drawing, index),
            hovertemplate="FPR %{x:.4g} %<br>TPR %{y:.4g} %<br>threshold %{customdata:.6g}",
        )  # fmt: skip
    return drawing


def figure_det(curves: Any) -> Any:
    """Draw DET curves, a posteriori, on normal-deviate axes."""
    curves = list(curves) if isinstance(curves, Sequence) else [curves]
    low, high, ticks = det_axes(curves)
    drawing = _figure("DET (a posteriori)", "False acceptance rate (%)", "False rejection rate (%)", width=560,
                      height=560, legend={"x": 0.98, "y": 0.98, "xanchor": "right"})  # fmt: skip
    for index, curve in enumerate(curves):
        x, y = (np.clip(rate, low - 1, 1 - low) for rate in curve.probit)
        points = thin(x / (2 - 2 * low), y / (2 - 2 * low))
        rates = np.column_stack([curve.threshold, 100 * curve.fpr, 100 * curve.fnr])[points]
        drawing.add_scatter(
            x=x[points], y=y[points], mode="lines", customdata=rates, line=_line(drawing, index),
            name=f"{_text(curve.name)} (EER {100 * curve.eer:.2f} %)",
            hovertemplate="FAR %{customdata[1]:.4g} %<br>FRR %{customdata[2]:.4g} %<br>threshold %{customdata[0]:.6g}",
        )  # fmt: skip
    axis = {"tickvals": list(ticks.values()), "ticktext": list(ticks)}
    drawing.update_xaxes(range=[low, high], constrain="domain", zeroline=False, **axis)
    drawing.update_yaxes(range=[low, high], scaleanchor="x", zeroline=False, **axis)
    return drawing


def _figure_roc_band(band: Any) -> Any:
    drawing = _roc_figure("ROC with its band (a posteriori)")
    colour = _colour(drawing)
    _band(drawing, 100 * band.fpr, 100 * band.lower, 100 * band.upper, colour, "band")
    drawing.add_scatter(x=100 * band.fpr, y=100 * band.tpr, mode="lines", name="ROC", line={"color": colour})
    return drawing


def figure_average(curve: Any) -> Any:
    """Draw an average ROC curve, its interval, and behind it the single curves."""
    drawing = _roc_figure(f"Average of {len(curve.datasets)} ROC curves (a posteriori)")
    colour = _colour(drawing)
    for name, (fpr, tpr) in () if curve.from_file else zip(curve.datasets.names, curve.singles(), strict=True):
        _single(drawing, 100 * fpr, 100 * tpr, name)
    if len(curve.datasets) > 1:
        x, y = outline_of(curve)
        _area(drawing, 100 * x, 100 * y, colour, "interval")
    drawing.add_scatter(x=100 * curve.fpr, y=100 * curve.tpr, mode="lines", line={"color": colour, "width": 3},
                        name=f"{curve.method.name} (area {curve.area:.3f})")  # fmt: skip
    return drawing


#: The figure of each result that has one.
FIGURES: dict[str, Callable[..., Any]] = {
    "EPC": figure_epc,
    "Band": lambda band: figure_epc(band.curve, bands=[band]),
    "AverageEPC": _figure_average_epc,
    "Comparison": figure_comparison,
    "AposterioriROC": figure_roc,
    "AposterioriDET": figure_det,
    "RocBand": _figure_roc_band,
    "AverageCurve": figure_average,
}
