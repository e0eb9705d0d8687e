"""The figures of the page: slope charts, Expected Performance Curves with bands, and tau over all boards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from examples.evidence.judging import Judged
from priori.plots import plot_epc, save
from priori.plots.leaderboard import plot_slopes
from priori.plots.style import colours


def draw_slopes(judged: Judged, path: Path) -> None:
    """Draw who gains and who loses ranks on one board."""
    few = judged.deployed.system.size <= 10
    ax = plot_slopes(judged.deployed, ax=Figure(figsize=(7, 3.2), layout="constrained").subplots() if few else None)
    ax.set_title(f"{judged.question.name}\n{ax.get_title()}")
    save(ax.figure, path)


def draw_curves(judged: Judged, names: Sequence[str], path: Path) -> None:
    """Draw the curves of some systems with their bands."""
    curves = [curve for name in names for curve in judged.curves if curve.name == name]
    ax = plot_epc(
        curves,
        ax=Figure(figsize=(7, 4), layout="constrained").subplots(),
        bands=[curve.band(rng=0, n_resamples=2000) for curve in curves],
    )
    ax.set_title(f"{judged.question.name}\nwhat to expect at thresholds fixed in advance")
    save(ax.figure, path)


def draw_taus(judged: Sequence[Judged], path: Path) -> None:
    """Draw Kendall's tau between the two rankings with its interval: shifts, then controls, each in order."""
    ax = Figure(figsize=(7, 0.16 * len(judged) + 1.2), layout="constrained").subplots()
    shift, control = colours(2)
    rows = sorted(judged, key=lambda one: (one.question.kind == "control", one.deployed.tau))
    for row, one in enumerate(rows):
        colour = control if one.question.kind == "control" else shift
        ax.plot([one.deployed.tau_lower, one.deployed.tau_upper], [row, row], color=colour, lw=1.5)
        ax.plot(one.deployed.tau, row, "o", ms=4, color=colour, mec="none")
    ax.set_yticks(np.arange(len(rows)), [one.question.name for one in rows], fontsize=6)
    lowest = min(0.0, *(one.deployed.tau_lower for one in rows))
    ax.set(
        xlabel="Kendall's tau: ranking by EER, ranking at thresholds fixed in advance",
        xlim=(lowest, 1.02),
        title="Another domain (blue), the same domain (orange)",
    )
    ax.grid(axis="x", alpha=0.25)
    ax.invert_yaxis()
    save(ax.figure, path)


def draw_attacks(judged: Judged, path: Path) -> None:
    """Draw what the EER promises beside what the threshold fixed in advance gives: the README's figure."""
    board = judged.deployed
    ax = Figure(figsize=(7.2, 3.0), layout="constrained").subplots()
    promised, given = "0.35", colours(2)[0]
    for row in range(board.system.size):
        ax.plot([100 * board.post_value[row], 100 * board.value[row]], [row, row], color="0.8", lw=1, zorder=1)
        ax.plot([100 * board.lower[row], 100 * board.upper[row]], [row, row], color=given, lw=4, alpha=0.35, zorder=2)
    ax.plot(
        100 * board.post_value,
        range(board.system.size),
        "o",
        mfc="white",
        mec=promised,
        ms=7,
        zorder=3,
        label="equal error rate, read on the test set",
    )
    ax.plot(
        100 * board.value,
        range(board.system.size),
        "o",
        color=given,
        ms=7,
        zorder=4,
        label="errors at the threshold fixed in advance, 95 % interval",
    )
    ax.set_yticks(range(board.system.size), [str(name) for name in board.system])
    ax.set(xlabel="errors (HTER, %)", xlim=(0, None), ylim=(-0.5, board.system.size - 0.5))
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, fontsize=9)
    save(ax.figure, path)
