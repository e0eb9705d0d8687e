"""Interactive figures for notebooks: results in, plotly figures out. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from priori.base.errors import OptionError
from priori.base.results import Result
from priori.base.types import Floats
from priori.curves.thinning import thin
from priori.plots.average import outline_of
from priori.plots.curves import det_axes
from priori.plots.style import COLOURS, scaling

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


# -- what all figures share ----------------------------------------------------------------------------------


def _figure(title: str, x: str, y: str, **layout: Any) -> Any:
    """Return an empty figure; colours are safe for colour-blind readers unless the user has a template of their own."""
    import plotly.graph_objects as go
    import plotly.io as pio

    made = go.Figure()
    made.update_layout(title=title, xaxis_title=x, yaxis_title=y, hovermode="closest", showlegend=True, **layout)
    if pio.templates.default == "plotly":
        made.update_layout(template="plotly_white", colorway=list(COLOURS))
    return made


def _colour(made: Any, place: int) -> str:
    colourway = made.layout.colorway or made.layout.template.layout.colorway or COLOURS
    return str(colourway[place % len(colourway)])


def _clear(colour: str, opacity: float = 0.18) -> str:
    """Return a colour that lets what is behind it through."""
    if not (colour.startswith("#") and len(colour) == 7):
        return "rgba(128, 128, 128, 0.18)"
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _text(name: str) -> str:
    """Return a name as it is: plotly takes some HTML for markup."""
    return escape(name, quote=False)


def _line(place: int, colour: str) -> dict[str, Any]:
    return {"color": colour, "dash": DASHES[place // len(COLOURS) % len(DASHES)]}


def _area(made: Any, x: Floats, y: Floats, colour: str, name: str) -> None:
    made.add_scatter(x=x, y=y, fill="toself", fillcolor=_clear(colour), line={"width": 0}, hoverinfo="skip",
                     showlegend=False, name=name)  # fmt: skip


def _band(made: Any, x: Floats, lower: Floats, upper: Floats, colour: str, name: str) -> None:
    _area(made, np.concatenate([x, x[::-1]]), np.concatenate([upper, lower[::-1]]), colour, name)


# -- a priori ------------------------------------------------------------------------------------------------


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
    shown = list(curves) if isinstance(curves, Sequence) else [curves]
    first = shown[0]
    scale, unit = scaling(first.measure.rate)
    made = _figure("Expected Performance Curve (a priori)", f"alpha (criterion {first.criterion.name})",
                   f"{first.measure.title}{unit} on the test set")  # fmt: skip
    for place, curve in enumerate(shown):
        colour = _colour(made, place)
        if bands is not None:
            band = bands[place]
            _band(made, band.alpha, scale * band.lower, scale * band.upper, colour, f"{_text(curve.name)}, band")
        shape = "hv" if curve.exact else "linear"
        mode = "markers" if curve.alpha.size == 1 else "lines"
        told, hover = _told(curve, scale)
        alpha, last = curve.alpha, [*range(curve.alpha.size)]
        if curve.exact:  # constant up to the end
            alpha, last = np.append(alpha, float(curve.bounds[1])), [*last, -1]
            told = None if told is None else told[last]
        made.add_scatter(x=alpha, y=scale * curve.value[last], mode=mode, name=_text(curve.name), customdata=told,
                         hovertemplate=hover, line={**_line(place, colour), "shape": shape})  # fmt: skip
        if best:
            made.add_scatter(x=alpha, y=scale * curve.best[last], mode=mode, name=f"{_text(curve.name)}, a posteriori",
                             line={"color": colour, "dash": "dot", "width": 1, "shape": shape})  # fmt: skip
    if first.measure.rate and not first.measure.greater_is_better:
        made.update_yaxes(rangemode="tozero")
    return made


def _told(curve: Any, scale: int) -> tuple[Any, str]:
    """Return what pointing at a curve shows; the curve behind a band read from a file has no thresholds."""
    unit = " %" if scale == 100 else ""
    hover = f"alpha %{{x:.4g}}<br>{curve.measure.title} %{{y:.4g}}{unit}"
    try:
        told = np.column_stack([curve.threshold, 100 * curve.v1, 100 * curve.v2])
    except AttributeError:
        return None, hover
    v1, v2 = curve.task.v1.title, curve.task.v2.title
    more = f"threshold %{{customdata[0]:.6g}}<br>{v1} %{{customdata[1]:.4g}} %<br>{v2} %{{customdata[2]:.4g}} %"
    return told, f"{hover}<br>{more}"


def _figure_band(band: Any) -> Any:
    return figure_epc(band.curve, bands=[band])


def _figure_average_epc(curve: Any) -> Any:
    scale, unit = scaling(curve.measure.rate)
    made = _figure("Average Expected Performance Curve (a priori)", f"alpha (criterion {curve.criterion.name})",
                   f"{curve.measure.title}{unit} on the test sets")  # fmt: skip
    colour = _colour(made, 0)
    for name, row in zip(curve.names, curve.each, strict=True):
        made.add_scatter(x=curve.alpha, y=scale * row, mode="lines", name=_text(name), showlegend=False, opacity=0.5,
                         line={"color": "grey", "width": 1})  # fmt: skip
    _band(made, curve.alpha, scale * curve.lower, scale * curve.upper, colour, "interval")
    made.add_scatter(x=curve.alpha, y=scale * curve.value, mode="lines", line={"color": colour, "width": 3},
                     name=f"average, thresholds {curve.thresholds}")  # fmt: skip
    return made


def figure_comparison(found: Any) -> Any:
    """Draw the difference of two systems along alpha with its interval, grey where it is significant."""
    scale = 100 if found.settings["rate"] else 1
    unit = " (points)" if scale == 100 else ""
    made = _figure(f"{_text(found.name_a)} minus {_text(found.name_b)}; grey: significant", "alpha",
                   f"difference in {found.settings['measure']}{unit}")  # fmt: skip
    colour = _colour(made, 0)
    for region in found.regions:
        made.add_vrect(x0=region.start, x1=region.end, fillcolor="grey", opacity=0.2, line_width=0, layer="below")
    made.add_hline(y=0, line_width=1, line_color="grey")
    _band(made, found.alpha, scale * found.lower, scale * found.upper, colour, "interval")
    mode = "markers" if found.alpha.size == 1 else "lines"
    made.add_scatter(x=found.alpha, y=scale * found.difference, mode=mode, line={"color": colour}, showlegend=False,
                     name="difference", customdata=found.p_value,
                     hovertemplate="alpha %{x:.4g}<br>difference %{y:.4g}<br>p %{customdata:.4g}")  # fmt: skip
    return made


# -- a posteriori --------------------------------------------------------------------------------------------


def _plane(title: str, chance: bool = True) -> Any:
    made = _figure(title, "False positive rate (%)", "True positive rate (%)", width=560, height=560,
                   legend={"x": 0.98, "y": 0.03, "xanchor": "right", "yanchor": "bottom"})  # fmt: skip
    made.update_xaxes(range=[-1, 101], constrain="domain")
    made.update_yaxes(range=[-1, 101], scaleanchor="x")
    if chance:
        made.add_scatter(x=[0, 100], y=[0, 100], mode="lines", hoverinfo="skip", showlegend=False, name="chance",
                         line={"color": "grey", "dash": "dot", "width": 1})  # fmt: skip
    return made


def figure_roc(curves: Any) -> Any:
    """Draw ROC curves, a posteriori; pointing shows thresholds."""
    made = _plane("ROC (a posteriori)")
    for place, curve in enumerate(curves if isinstance(curves, Sequence) else [curves]):
        kept = thin(curve.fpr, curve.tpr)
        made.add_scatter(
            x=100 * curve.fpr[kept], y=100 * curve.tpr[kept], mode="lines", customdata=curve.threshold[kept],
            name=f"{_text(curve.name)} (AUC {curve.auc:.3f})", line=_line(place, _colour(made, place)),
            hovertemplate="FPR %{x:.4g} %<br>TPR %{y:.4g} %<br>threshold %{customdata:.6g}",
        )  # fmt: skip
    return made


def figure_det(curves: Any) -> Any:
    """Draw DET curves, a posteriori, on normal-deviate axes."""
    shown = list(curves) if isinstance(curves, Sequence) else [curves]
    low, high, ticks = det_axes(shown)
    made = _figure("DET (a posteriori)", "False acceptance rate (%)", "False rejection rate (%)", width=560,
                   height=560, legend={"x": 0.98, "y": 0.98, "xanchor": "right"})  # fmt: skip
    for place, curve in enumerate(shown):
        x, y = (np.clip(rate, low - 1, 1 - low) for rate in curve.probit)
        kept = thin(x / (2 - 2 * low), y / (2 - 2 * low))
        told = np.column_stack([curve.threshold, 100 * curve.fpr, 100 * curve.fnr])[kept]
        made.add_scatter(
            x=x[kept], y=y[kept], mode="lines", customdata=told,
            name=f"{_text(curve.name)} (EER {100 * curve.eer:.2f} %)",
            line=_line(place, _colour(made, place)),
            hovertemplate="FAR %{customdata[1]:.4g} %<br>FRR %{customdata[2]:.4g} %<br>"
            "threshold %{customdata[0]:.6g}",
        )  # fmt: skip
    axis = {"tickvals": list(ticks.values()), "ticktext": list(ticks)}
    made.update_xaxes(range=[low, high], constrain="domain", zeroline=False, **axis)
    made.update_yaxes(range=[low, high], scaleanchor="x", zeroline=False, **axis)
    return made


def _figure_roc_band(band: Any) -> Any:
    made = _plane("ROC with its band (a posteriori)")
    colour = _colour(made, 0)
    _band(made, 100 * band.fpr, 100 * band.lower, 100 * band.upper, colour, "band")
    made.add_scatter(x=100 * band.fpr, y=100 * band.tpr, mode="lines", name="ROC", line={"color": colour})
    return made


def figure_average(curve: Any) -> Any:
    """Draw an average ROC curve, its interval, and behind it the single curves."""
    made = _plane(f"Average of {len(curve.datasets)} ROC curves (a posteriori)")
    colour = _colour(made, 0)
    singles = () if curve.from_file else zip(curve.datasets.names, curve.singles(), strict=True)
    for name, (fpr, tpr) in singles:
        made.add_scatter(x=100 * fpr, y=100 * tpr, mode="lines", name=_text(name), showlegend=False, opacity=0.5,
                         line={"color": "grey", "width": 1})  # fmt: skip
    if len(curve.datasets) > 1:
        x, y = outline_of(curve)
        _area(made, 100 * x, 100 * y, colour, "interval")
    made.add_scatter(x=100 * curve.fpr, y=100 * curve.tpr, mode="lines", line={"color": colour, "width": 3},
                     name=f"{curve.method.name} (area {curve.area:.3f})")  # fmt: skip
    return made


#: The figure of each result that has one.
FIGURES: dict[str, Callable[..., Any]] = {
    "EPC": figure_epc,
    "Band": _figure_band,
    "AverageEPC": _figure_average_epc,
    "Comparison": figure_comparison,
    "AposterioriROC": figure_roc,
    "AposterioriDET": figure_det,
    "RocBand": _figure_roc_band,
    "AverageCurve": figure_average,
}
