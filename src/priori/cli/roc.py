"""``priori roc``: ROC curves, a posteriori."""

from __future__ import annotations

from priori.cli.roc_and_det import curve_command
from priori.curves.roc import roc
from priori.plots.curves import plot_roc

command = curve_command("roc", roc, plot_roc)
