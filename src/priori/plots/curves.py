"""The curves: EPC, ROC and DET. The last two say that they are a posteriori."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from priori.base.types import Floats
from priori.plots.style import LINES, axes, colours, scaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.curves.epc import EPC
    from priori.curves.roc import AposterioriDET, AposterioriROC
    from priori.uncertainty.bands import Band

#: The error rates marked on the axes of a DET curve.
DET_TICKS = (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99)


def plot_epc(
    curves: Sequence[EPC],
    *,
    ax: Axes | None = None,
    bands: Sequence[Band] | None = None,
    regions: Sequence[tuple[float, float]] = (),
    best: bool = False,
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
    """
    ax = axes(ax)
    first = curves[0]
    scale, unit = scaling(first.measure.rate)
    for start, stop in regions:
        ax.axvspan(start, stop, color="0.85", zorder=0, lw=0)
    for index, (curve, colour) in enumerate(zip(curves, colours(len(curves)), strict=True)):
        alpha, value = curve.alpha, curve.value
        if curve.exact:  # constant up to the next break
            alpha = np.append(alpha, float(curve.bounds[1]))
            value = np.append(value, value[-1])
        drawstyle = "steps-post" if curve.exact else "default"
        marker = "o" if alpha.size == 1 else None
        line = LINES[index // 8 % len(LINES)]
        ax.plot(alpha, scale * value, color=colour, ls=line, marker=marker, label=curve.name, drawstyle=drawstyle)
        if best:
            reference = np.append(curve.best, curve.best[-1]) if curve.exact else curve.best
            ax.plot(alpha, scale * reference, color=colour, ls=":", lw=1, drawstyle=drawstyle)
        if bands is not None:
            band = bands[index]
            ax.fill_between(band.alpha, scale * band.lower, scale * band.upper, color=colour, alpha=0.18, lw=0)
    _label_epc(ax, first, unit)
    if best:
        ax.plot([], [], color="0.4", ls=":", lw=1, label="threshold chosen on the test set (a posteriori)")
    ax.legend(frameon=False)
    return ax


def _label_epc(ax: Axes, curve: EPC, unit: str) -> None:
    ax.set_xlabel(f"alpha (criterion {curve.criterion.name})")
    ax.set_ylabel(f"{curve.measure.title}{unit} on the test set")
    ax.set_title("Expected Performance Curve (a priori)")
    ax.set_xlim(float(curve.bounds[0]), float(curve.bounds[1])) if curve.bounds[0] < curve.bounds[1] else None
    if curve.measure.rate and not curve.measure.greater_is_better:
        ax.set_ylim(bottom=0)
    ax.grid(alpha=0.25)


def plot_roc(
    curves: Sequence[AposterioriROC],
    *,
    ax: Axes | None = None,
    operating_points: Sequence[EPC] = (),
    bands: Sequence[Mapping[str, Floats]] = (),
    chance: bool = True,
) -> Axes:
    """Draw ROC curves, a posteriori.

    ``operating_points`` are EPCs whose a priori points are marked on them; ``bands`` the columns fpr, lower and
    upper of a band around each curve.
    """
    ax = axes(ax, figsize=(5, 5))
    for band, colour in zip(bands, colours(len(bands)), strict=True):
        ax.fill_between(100 * band["fpr"], 100 * band["lower"], 100 * band["upper"], color=colour, alpha=0.18, lw=0)
    for index, (curve, colour) in enumerate(zip(curves, colours(len(curves)), strict=True)):
        ax.plot(100 * curve.fpr, 100 * curve.tpr, color=colour, ls=LINES[index // 8 % len(LINES)],
                label=f"{curve.name} (AUC {curve.auc:.3f})")  # fmt: skip
    for point, colour in zip(operating_points, colours(len(operating_points)), strict=True):
        at = point.outcomes
        ax.plot(100 * at.fp / at.negatives, 100 * at.tp / at.positives, "o", color=colour, mec="white",
                label=f"{point.name}, a priori")  # fmt: skip
    if chance:
        ax.plot([0, 100], [0, 100], color="0.6", lw=0.8, ls=":")
    ax.set(xlabel="False positive rate (%)", ylabel="True positive rate (%)", title="ROC (a posteriori)",
           xlim=(-1, 101), ylim=(-1, 101), aspect="equal")  # fmt: skip
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, loc="lower right")
    return ax


def det_axes(curves: Sequence[AposterioriDET]) -> tuple[float, float, dict[str, float]]:
    """Return where the axes of DET curves begin and end, and the places of the error rates marked on them."""
    from scipy.special import ndtri

    # The smallest step that any curve can show sets where the axes begin.
    floor = min(0.5 / max(curve.scores.n_negatives, curve.scores.n_positives) for curve in curves)
    low, high = float(ndtri(max(floor, 1e-6))), float(ndtri(0.6))
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

    ax = axes(ax, figsize=(5, 5))
    low, high, ticks = det_axes(curves)
    for index, (curve, colour) in enumerate(zip(curves, colours(len(curves)), strict=True)):
        x, y = (np.clip(value, low - 1, -low + 1) for value in curve.probit)
        ax.plot(
            x, y, color=colour, ls=LINES[index // 8 % len(LINES)], label=f"{curve.name} (EER {100 * curve.eer:.2f} %)"
        )
    for point, colour in zip(operating_points, colours(len(operating_points)), strict=True):
        at = point.outcomes
        ax.plot(ndtri(at.fp / at.negatives), ndtri(at.fn / at.positives), "o", color=colour, mec="white",
                label=f"{point.name}, a priori")  # fmt: skip
    for band, colour in zip(bands, colours(len(bands)), strict=True):
        x, lower, upper = (np.clip(ndtri(band[key]), low - 1, -low + 1) for key in ("fpr", "lower", "upper"))
        ax.fill_between(x, lower, upper, color=colour, alpha=0.18, lw=0)
    ax.set_xticks(list(ticks.values()), list(ticks))
    ax.set_yticks(list(ticks.values()), list(ticks))
    ax.plot([low, high], [low, high], color="0.6", lw=0.8, ls=":")
    ax.set(xlabel="False acceptance rate (%)", ylabel="False rejection rate (%)", title="DET (a posteriori)",
           xlim=(low, high), ylim=(low, high), aspect="equal")  # fmt: skip
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    return ax
