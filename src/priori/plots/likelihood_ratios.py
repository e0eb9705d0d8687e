"""Scores as log-likelihood ratios: reliability diagrams, Tippett plots and empirical cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from priori.plots.style import axes, finished, note_cautions, shade, with_looks
from priori.words.numbers import level_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.llr_curves import ECE, Reliability, Tippett

#: The axes are in common logarithms, as in the literature of forensics.
OF_TEN = np.log(10)
#: How far the axis of the cross-entropy goes, of which the neutral one is at most 1, and what lies far above it.
HIGHEST, FAR_ABOVE = 1.5, 1e6


def plot_reliability(found: Sequence[Reliability], *, ax: Axes | None = None) -> Axes:
    """Draw reliability diagrams: the share of positives against the probability stated, with intervals."""
    own = ax is None
    ax = axes(ax, figsize=(5.5, 5.5))
    ax.plot([0, 1], [0, 1], color="0.5", lw=0.8, label="perfectly calibrated")
    for one, colour, line in with_looks(found):
        reach = np.stack([one.share - one.lower, one.upper - one.share])
        ax.errorbar(one.probability, one.share, yerr=reach, marker="o", ms=4, ls=line, color=colour, label=one.name)
        note_cautions(ax, one.warnings)
    title = f"Reliability ({level_text(found[0].confidence_level)} intervals for all bins together)"
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability stated", ylabel="share of positives", title=title)
    return finished(ax, below=own)


def plot_tippett(found: Sequence[Tippett], *, ax: Axes | None = None) -> Axes:
    """Draw Tippett plots: the share of the trials of each class with a larger likelihood ratio, with intervals."""
    own = ax is None
    ax = axes(ax, figsize=(6.5, 4.5))
    for one, colour, _ in with_looks(found):
        for of_class, line in (("positives", "-"), ("negatives", "--")):
            share, lower, upper = (100 * getattr(one, f"{of_class}{end}") for end in ("", "_lower", "_upper"))
            ax.plot(one.llr / OF_TEN, share, color=colour, ls=line, label=f"{one.name}, {of_class}")
            shade(ax, one.llr / OF_TEN, lower, upper, colour)
        note_cautions(ax, one.warnings)
    ax.axvline(0, color="0.5", lw=0.8)
    ax.set(
        xlabel="log10 likelihood ratio",
        ylabel="share with a larger one (%)",
        title=f"Tippett plot ({level_text(found[0].confidence_level)} pointwise intervals)",
    )
    return finished(ax, below=own)


def plot_ece(found: Sequence[ECE], *, ax: Axes | None = None) -> Axes:
    """Draw the empirical cross-entropy of each system, its least one and that of knowing nothing."""
    own = ax is None
    ax = axes(ax, figsize=(6.5, 4.5))
    for one, colour, line in with_looks(found):
        place = one.log_odds / OF_TEN
        ax.plot(place, one.value, color=colour, ls=line, label=one.name)
        ax.plot(place, one.best, color=colour, ls=":", lw=1)
        # A shade has no infinite end.
        shade(ax, place, np.minimum(one.lower, FAR_ABOVE), np.minimum(one.upper, FAR_ABOVE), colour)
        note_cautions(ax, one.warnings)
    first = found[0]
    ax.plot(first.log_odds / OF_TEN, first.neutral, color="0.5", lw=0.8, ls="--", label="ratios of 1 (neutral)")
    ax.plot([], [], color="0.4", ls=":", lw=1, label="best increasing map, fitted to the test set (a posteriori)")
    ax.set(
        xlabel="log10 prior odds",
        ylabel="empirical cross-entropy (bits)",
        title=f"Empirical cross-entropy ({level_text(first.confidence_level)} pointwise intervals)",
        ylim=(0, HIGHEST),
    )
    return finished(ax, below=own)
