"""The figures of the page: one attack, its Expected Performance Curves with bands, and tau over all boards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from examples.evidence.judging import Judged
from priori.plots import plot_epc, save
from priori.plots.style import colours


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


def draw_taus(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw Kendall's tau between the two rankings for every board of the sources that have controls."""
    ax = Figure(figsize=(7.2, 2.6), layout="constrained").subplots()
    shift, control = colours(2)
    with_controls = sorted({row["source"] for row in rows if row["kind"] == "control"})
    kinds = [
        (source, kind, colour) for source in with_controls for kind, colour in (("control", control), ("shift", shift))
    ]
    names = {"control": "halves of one domain", "shift": "another domain"}
    for line, (source, kind, colour) in enumerate(kinds):
        taus = sorted(float(row["tau"]) for row in rows if (row["source"], row["kind"]) == (source, kind))
        # Boards of equal tau stand above each other.
        heights = line + np.linspace(-0.3, 0.3, len(taus))
        ax.plot(taus, heights, "o", ms=5, color=colour, mec="none", alpha=0.8)
        ax.plot([np.median(taus)] * 2, [line - 0.4, line + 0.4], color="0.2", lw=1.5)
    ax.set_yticks(range(len(kinds)), [f"{source}: {names[kind]}" for source, kind, _ in kinds])
    ax.set(xlabel="Kendall's tau between the ranking by EER and the one a priori", xlim=(0.4, 1.02))
    ax.grid(axis="x", alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
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
