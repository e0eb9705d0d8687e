"""The curves: EPC, EPSC, ROC and DET. The last two say that they are a posteriori."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from priori.base.alphas import AlphaAxis
from priori.base.errors import OptionError, unknown
from priori.base.texts import alpha_text
from priori.base.types import Floats, Index
from priori.curves.roc import Axis, average_precision, finely, measures_of
from priori.decisions.measures import FAR, FRR, NET_BENEFIT, RECALL
from priori.plots.style import (
    COLOURS,
    UNNAMED,
    Legend,
    epc_labels,
    finished,
    label_ends,
    name_shade,
    roc_axes,
    scaling,
    shade,
    with_fact,
    with_looks,
)
from priori.plots.style import axes as new_axes
from priori.words.sentences import about_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.curves.epc import EPC
    from priori.curves.epsc import OverBoth
    from priori.curves.roc import AposterioriDET, AposterioriROC
    from priori.uncertainty.bands.bands import Band


#: What stands along the x axis of a ROC curve, and where its legend covers least.
ACROSS: dict[Axis, tuple[str, Legend]] = {
    "far-tpr": ("False positive rate", "lower right"),
    "far-frr": (FAR.title, "upper right"),
    "specificity-sensitivity": ("1 - specificity", "lower right"),
    "recall-precision": (RECALL.title, "lower left"),
}
#: The error rates marked on the axes of a DET curve.
DET_TICKS = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99)


def plot_epc(
    curves: Sequence[EPC],
    *,
    ax: Axes | None = None,
    bands: Sequence[Band] | None = None,
    regions: Sequence[tuple[float, float]] = (),
    best: bool = False,
    axis: AlphaAxis = "alpha",
) -> Axes:
    """Draw Expected Performance Curves.

    Parameters
    ----------
    curves : sequence of EPC
        One line each.
    bands : sequence of Band, optional
        A band around each curve (Figure 7 of the 2005 paper).
    regions : sequence of (from, to)
        Alphas where the difference is significant, in grey (Figure 8).
    best : bool
        Also draw what choosing the threshold on the test set would have shown, thin and dotted.
    axis : {"alpha", "log-odds"}
        Alphas themselves, or log(alpha / (1 - alpha)), which shows the ends; with thresholds by theory the curves are
        then those of an APE plot (``wer``) or of a normalised Bayes error plot (``nwer``).
    """
    if axis not in get_args(AlphaAxis):
        raise unknown("axis", axis, get_args(AlphaAxis))
    place = _log_odds if axis == "log-odds" else np.asarray
    own = ax is None
    ax = new_axes(ax)
    first = curves[0]
    # Names stand at the ends of the lines, where a new figure leaves room; in axes of somebody else's, in the legend.
    direct = own and 1 < len(curves) <= len(COLOURS) and first.alpha.size > 1
    single = first.alpha.size == 1 and not first.exact
    scale, _ = scaling(first.measure.rate)
    # As far as the steps of its alphas reach, so that a region of one alpha has a width.
    half = 0.0 if first.exact or single else float(np.diff(first.alpha).min()) / 2
    for start, stop in regions:
        ax.axvspan(*place(np.clip([start - half, stop + half], 0, 1)), color="0.85", zorder=0, lw=0.8)
    for index, (curve, colour, line) in enumerate(with_looks(curves)):
        alpha, rows = steps(curve)
        alpha = place(alpha)
        where: Literal["post", "mid"] = "post" if curve.exact else "mid"
        drawstyle, marker = f"steps-{where}", "o" if alpha.size == 1 else None
        label = "_" + curve.name if direct or (len(curves) == 1 and curve.name == UNNAMED) else curve.name
        ax.plot(
            alpha, scale * curve.value[rows], color=colour, ls=line, marker=marker, label=label, drawstyle=drawstyle
        )
        if best:
            look: dict[str, Any] = {"ls": ":", "lw": 1, "marker": marker, "mfc": "none"}
            ax.plot(alpha, scale * curve.best[rows], color=colour, drawstyle=drawstyle, **look)
        if bands is not None:
            band = bands[index]
            shade(ax, place(band.alpha), scale * band.lower, scale * band.upper, colour, step=where)
    if first.measure.name.startswith(NET_BENEFIT.name):
        for name, value, line in zip(("treat all", "treat none"), first.at_extremes(), ("--", "-"), strict=True):
            ax.plot(place(first.alpha), value, color="0.5", lw=0.8, ls=line, label=name)
        ax.set_ylim(-0.05 * max(first.value.max(), 0.01), 1.1 * max(float(first.at_extremes()[0].max()), 0.01))
    ax.set(**epc_labels(first))
    if axis == "log-odds":
        ax.set_xlabel(f"log(alpha / (1 - alpha)) (criterion {first.criterion.name})")
    elif first.bounds[0] < first.bounds[1]:
        ax.set_xlim(float(first.bounds[0]), float(first.bounds[1]))
    if first.measure.rate and not first.measure.greater_is_better:
        ax.set_ylim(bottom=0)
    if single:
        low, high = ax.get_ylim()
        ax.set_ylim(top=high + 0.1 * (high - low))  # a point on the border would be cut
        if axis == "alpha":
            ax.set_xticks(first.alpha, [alpha_text(first.alpha[0])])
    if best:
        look = {"ls": "", "marker": "o", "mfc": "none"} if single else {"ls": ":", "lw": 1}
        ax.plot([], [], color="0.4", label="threshold chosen on the test set (a posteriori)", **look)
    if bands:
        name_shade(ax, about_interval(bands[0].settings))
    if direct:
        ends = [(curve.name, scale * float(curve.value[-1]), colour) for curve, colour, _ in with_looks(curves)]
        label_ends(ax, ends)
    return finished(ax, below=own)


def _log_odds(alpha: Floats) -> Floats:
    """Return where alphas lie on the axis of log odds; 0 and 1, which lie nowhere, are not drawn."""
    inside = (alpha > 0) & (alpha < 1)
    return np.log(alpha, where=inside, out=np.full(alpha.shape, np.nan)) - np.log1p(
        -alpha, where=inside, out=np.zeros(alpha.shape)
    )


def steps(curve: EPC) -> tuple[Floats, Index]:
    """Return the alphas to draw and the row of each; an exact curve is constant up to its end."""
    rows = np.arange(curve.alpha.size)
    if not curve.exact:
        return curve.alpha, rows
    return np.append(curve.alpha, float(curve.bounds[1])), np.append(rows, -1)


def plot_roc(
    curves: Sequence[AposterioriROC],
    *,
    ax: Axes | None = None,
    operating_points: Sequence[EPC] = (),
    bands: Sequence[Mapping[str, Floats]] = (),
    chance: bool = True,
    axes: Axis = "far-tpr",
    log: bool = False,
    prior: Any = None,
) -> Axes:
    """Draw ROC curves, a posteriori.

    Parameters
    ----------
    operating_points : sequence of EPC
        Their a priori points are marked: thresholds chosen on development scores, rates of the test scores.
    bands : sequence of mapping
        The columns fpr (recall, of `priori.precision_band`), lower and upper of a band around each curve.
    chance : bool
        Draw the line of chance; for two errors, and for recall and precision, the break-even line where they are equal.
    axes : {"far-tpr", "far-frr", "specificity-sensitivity", "recall-precision"}
        The false acceptance rate against the true positive rate; against the false rejection rate, as in the papers;
        1 - specificity against sensitivity; or recall against precision.
    log : bool
        Axes of errors on a logarithmic scale.
    prior : number, optional
        Precision where the share of positives is this.
    """
    x, y = measures_of(axes, prior)
    if axes == "specificity-sensitivity":
        x = FAR  # its axis is 1 - specificity
    if axes == "recall-precision" and log:
        raise OptionError("recall and precision have no logarithmic axes; leave those out")
    own = ax is None
    ax = new_axes(ax, figsize=(5, 5.6))
    for band, colour, _ in with_looks(bands):
        flip = axes == "far-frr"
        lower, upper = (1 - band["upper"], 1 - band["lower"]) if flip else (band["lower"], band["upper"])
        across = band["recall" if axes == "recall-precision" else "fpr"]
        shade(ax, 100 * across, 100 * lower, 100 * upper, colour)
    if bands:
        name_shade(ax, "confidence band")
    for curve, colour, line in with_looks(curves):
        outcomes = curve.outcomes
        if axes == "recall-precision":
            label, outcomes = f"AP {average_precision(curve.scores):.3f}", finely(outcomes)
        else:
            label = f"EER {100 * curve.eer:.2f} %" if axes == "far-frr" else f"AUC {curve.auc:.3f}"
        ax.plot(100 * x(outcomes), 100 * y(outcomes), color=colour, ls=line, label=with_fact(curve.name, label))
    for point, colour, _ in with_looks(operating_points):
        ax.plot(100 * x(point.outcomes), 100 * y(point.outcomes), "o", color=colour, mec="white", zorder=3)
    _name_points(ax, operating_points)
    if log:
        sizes = [(curve.scores.n_negatives, curve.scores.n_positives) for curve in curves]
        least = [50 / max(size) for size in zip(*sizes, strict=True)]
        ax.set(xscale="log", xlim=(least[0], 100))
        if axes == "far-frr":
            ax.set(yscale="log", ylim=(least[1], 100))
    title = "Precision and recall" if axes == "recall-precision" else "ROC"
    along_x, legend = ACROSS[axes]
    return roc_axes(
        ax, f"{title} (a posteriori)", chance=chance, x=along_x, y=y.title, log=log, legend=legend, below=own
    )


def _name_points(ax: Axes, points: Sequence[EPC]) -> None:
    """Say in the legend what the points on the curves are."""
    if points:
        ax.plot([], [], "o", color="0.4", mec="white", label="threshold fixed in advance (a priori)")


def det_axes(curves: Sequence[AposterioriDET], end: float = 0.6) -> tuple[float, float, dict[str, float]]:
    """Return where the axes of DET curves begin and end, and where the error rates marked on them lie."""
    from scipy.special import ndtri

    # The smallest step that any curve can show sets where the axes begin.
    floor = min(0.5 / max(curve.scores.n_negatives, curve.scores.n_positives) for curve in curves)
    low, high = float(ndtri(max(floor, 1e-6))), float(ndtri(end))
    marked = {f"{100 * rate:g}": float(ndtri(rate)) for rate in DET_TICKS}
    return low, high, {name: tick for name, tick in marked.items() if low <= tick <= high}


def plot_det(
    curves: Sequence[AposterioriDET],
    *,
    ax: Axes | None = None,
    operating_points: Sequence[EPC] = (),
    bands: Sequence[Mapping[str, Floats]] = (),
) -> Axes:
    """Draw DET curves, a posteriori, on normal-deviate axes (Figure 3.1 of the thesis).

    ``bands`` are the columns fpr, lower and upper (of the FNR) of a band around each curve.
    """
    from scipy.special import ndtri

    own = ax is None
    ax = new_axes(ax, figsize=(5, 5.6))
    worst = max((float(rate(point.outcomes).max()) for point in operating_points for rate in (FAR, FRR)), default=0.0)
    low, high, ticks = det_axes(curves, 0.6 if worst < 0.55 else 0.99)  # no point of an error rate is left out
    for curve, colour, line in with_looks(curves):
        x, y = (np.clip(value, low - 1, -low + 1) for value in curve.probit)
        ax.plot(x, y, color=colour, ls=line, label=with_fact(curve.name, f"EER {100 * curve.eer:.2f} %"))
    for point, colour, _ in with_looks(operating_points):
        far, frr = (ndtri(rate(point.outcomes)) for rate in (FAR, FRR))
        ax.plot(far, frr, "o", color=colour, mec="white", zorder=3)
    _name_points(ax, operating_points)
    for band, colour, _ in with_looks(bands):
        x, lower, upper = (np.clip(ndtri(band[key]), low - 1, -low + 1) for key in ("fpr", "lower", "upper"))
        shade(ax, x, lower, upper, colour)
    if bands:
        name_shade(ax, "confidence band")
    ax.set_xticks(list(ticks.values()), list(ticks))
    ax.set_yticks(list(ticks.values()), list(ticks))
    ax.plot([low, high], [low, high], color="0.6", lw=0.8, ls=":")
    ax.set(
        xlabel="False acceptance rate (%)",
        ylabel="False rejection rate (%)",
        title="DET (a posteriori)",
        xlim=(low, high),
        ylim=(low, high),
        aspect="equal",
    )
    return finished(ax, below=own)


TITLE = "Expected Performance and Spoofability Curve (a priori)"


def plot_epsc(results: Sequence[OverBoth], *, ax: Axes | None = None) -> Axes:
    """Draw curves over omega at one beta, or over beta at one omega; of several of both, the surface of one system.

    Lines are HTER_omega, with bands where the results are bands, and dashed the IAPMR. The surface is HTER_omega in
    colours with contours.
    """
    first = results[0]
    if first.omegas.size > 1 and first.betas.size > 1:
        if len(results) > 1:
            raise OptionError("a surface shows one system; draw several at one beta, or at one omega")
        return _surface(first, new_axes(ax))
    ax = new_axes(ax)
    along, fixed = ("beta", "omega") if first.betas.size > 1 else ("omega", "beta")
    for result, colour, line in with_looks(results):
        columns = result.columns()
        x, marker = columns[along], "o" if columns["value"].size == 1 else None
        ax.plot(x, 100 * columns["value"], color=colour, ls=line, marker=marker, label=result.name)
        ax.plot(x, 100 * columns["iapmr"], color=colour, ls="--", lw=1, marker=marker)
        if "lower" in columns:
            shade(ax, x, 100 * columns["lower"], 100 * columns["upper"], colour)
    ax.plot([], [], color="0.4", ls="--", lw=1, label="IAPMR")
    meaning = {"omega": "omega, the share of attacks", "beta": "beta, the weight of false acceptances"}
    title = f"{TITLE}\n{fixed} = {getattr(first, fixed)[0]:.4g}"
    ax.set(title=title, xlabel=meaning[along], ylabel="HTER_omega, IAPMR (%) on the test set")
    ax.set_ylim(bottom=0)
    return finished(ax)


def _surface(curve: OverBoth, ax: Axes) -> Axes:
    values = 100 * curve.surface()
    colours = ax.pcolormesh(curve.omegas, curve.betas, values.T, shading="nearest", cmap="viridis")
    lines = ax.contour(curve.omegas, curve.betas, values.T, colors="white", linewidths=0.8)
    ax.clabel(lines, fmt="%g", fontsize=8)
    ax.figure.colorbar(colours, ax=ax, label="HTER_omega (%) on the test set")
    ax.set(
        title=TITLE if curve.name == UNNAMED else f"{TITLE}\n{curve.name}",
        xlabel="omega, the share of attacks",
        ylabel="beta, the weight of false acceptances",
    )
    return ax
