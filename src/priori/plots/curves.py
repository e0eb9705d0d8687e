"""The curves: EPC, ROC and DET. The last two say that they are a posteriori."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from priori.base.alphas import AlphaAxis
from priori.base.errors import unknown
from priori.base.types import Floats, Index
from priori.plots.style import axes, epc_labels, finished, roc_axes, scaling, with_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.curves.epc import EPC
    from priori.curves.roc import AposterioriDET, AposterioriROC
    from priori.uncertainty.bands import Band

#: The error rates marked on the axes of a DET curve.
DET_TICKS = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99)


def plot_epc(
    curves: Sequence[EPC], *, ax: Axes | None = None, bands: Sequence[Band] | None = None,
    regions: Sequence[tuple[float, float]] = (), best: bool = False, axis: AlphaAxis = "alpha",
) -> Axes:  # fmt: skip
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
    ax = axes(ax)
    first = curves[0]
    scale, _ = scaling(first.measure.rate)
    for start, stop in regions:
        ax.axvspan(*place(np.array([start, stop])), color="0.85", zorder=0, lw=0)
    for index, (curve, colour, line) in enumerate(with_looks(curves)):
        alpha, rows = steps(curve)
        alpha = place(alpha)
        drawstyle = "steps-post" if curve.exact else "default"
        marker = "o" if alpha.size == 1 else None
        ax.plot(alpha, scale * curve.value[rows], color=colour, ls=line, marker=marker, label=curve.name,
                drawstyle=drawstyle)  # fmt: skip
        if best:
            ax.plot(alpha, scale * curve.best[rows], color=colour, ls=":", lw=1, drawstyle=drawstyle)
        if bands is not None:
            band = bands[index]
            ax.fill_between(place(band.alpha), scale * band.lower, scale * band.upper, color=colour, alpha=0.18, lw=0)
    ax.set(**epc_labels(first))
    if axis == "log-odds":
        ax.set_xlabel(f"log(alpha / (1 - alpha)) (criterion {first.criterion.name})")
    elif first.bounds[0] < first.bounds[1]:
        ax.set_xlim(float(first.bounds[0]), float(first.bounds[1]))
    if first.measure.rate and not first.measure.greater_is_better:
        ax.set_ylim(bottom=0)
    if best:
        ax.plot([], [], color="0.4", ls=":", lw=1, label="threshold chosen on the test set (a posteriori)")
    return finished(ax)


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
    curves: Sequence[AposterioriROC], *, ax: Axes | None = None, operating_points: Sequence[EPC] = (),
    bands: Sequence[Mapping[str, Floats]] = (), chance: bool = True,
) -> Axes:  # fmt: skip
    """Draw ROC curves, a posteriori.

    ``operating_points`` are EPCs whose a priori points are marked on them; ``bands`` the columns fpr, lower and
    upper of a band around each curve.
    """
    ax = axes(ax, figsize=(5, 5))
    for band, colour, _ in with_looks(bands):
        ax.fill_between(100 * band["fpr"], 100 * band["lower"], 100 * band["upper"], color=colour, alpha=0.18, lw=0)
    for curve, colour, line in with_looks(curves):
        label = f"{curve.name} (AUC {curve.auc:.3f})"
        ax.plot(100 * curve.fpr, 100 * curve.tpr, color=colour, ls=line, label=label)
    for point, colour, _ in with_looks(operating_points):
        counts = point.outcomes
        ax.plot(100 * counts.fp / counts.negatives, 100 * counts.tp / counts.positives, "o", color=colour,
                mec="white", label=f"{point.name}, a priori")  # fmt: skip
    return roc_axes(ax, "ROC (a posteriori)", chance=chance)


def det_axes(curves: Sequence[AposterioriDET], end: float = 0.6) -> tuple[float, float, dict[str, float]]:
    """Return where the axes of DET curves begin and end, and where the error rates marked on them lie."""
    from scipy.special import ndtri

    # The smallest step that any curve can show sets where the axes begin.
    floor = min(0.5 / max(curve.scores.n_negatives, curve.scores.n_positives) for curve in curves)
    low, high = float(ndtri(max(floor, 1e-6))), float(ndtri(end))
    marked = {f"{100 * rate:g}": float(ndtri(rate)) for rate in DET_TICKS}
    return low, high, {name: tick for name, tick in marked.items() if low <= tick <= high}


def plot_det(
    curves: Sequence[AposterioriDET], *, ax: Axes | None = None, operating_points: Sequence[EPC] = (),
    bands: Sequence[Mapping[str, Floats]] = (),
) -> Axes:  # fmt: skip
    """Draw DET curves, a posteriori, on normal-deviate axes (Figure 3.1 of the thesis).

    ``bands`` are the columns fpr, lower and upper (of the FNR) of a band around each curve.
    """
    from scipy.special import ndtri

    ax = axes(ax, figsize=(5, 5))
    low, high, ticks = det_axes(curves)
    for curve, colour, line in with_looks(curves):
        x, y = (np.clip(value, low - 1, -low + 1) for value in curve.probit)
        ax.plot(x, y, color=colour, ls=line, label=f"{curve.name} (EER {100 * curve.eer:.2f} %)")
    for point, colour, _ in with_looks(operating_points):
        counts = point.outcomes
        ax.plot(ndtri(counts.fp / counts.negatives), ndtri(counts.fn / counts.positives), "o", color=colour,
                mec="white", label=f"{point.name}, a priori")  # fmt: skip
    for band, colour, _ in with_looks(bands):
        x, lower, upper = (np.clip(ndtri(band[key]), low - 1, -low + 1) for key in ("fpr", "lower", "upper"))
        ax.fill_between(x, lower, upper, color=colour, alpha=0.18, lw=0)
    ax.set_xticks(list(ticks.values()), list(ticks))
    ax.set_yticks(list(ticks.values()), list(ticks))
    ax.plot([low, high], [low, high], color="0.6", lw=0.8, ls=":")
    ax.set(xlabel="False acceptance rate (%)", ylabel="False rejection rate (%)", title="DET (a posteriori)",
           xlim=(low, high), ylim=(low, high), aspect="equal")  # fmt: skip
    return finished(ax)
