"""``priori roc``: ROC curves, a posteriori."""

from __future__ import annotations

from priori.cli.curve import curve_command
from priori.plots.curves import plot_roc
from priori.roc import roc

command = curve_command("roc", roc, plot_roc)
