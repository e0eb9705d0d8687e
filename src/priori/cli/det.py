"""``priori det``: DET curves, a posteriori."""

from __future__ import annotations

from priori.cli.roc_and_det import curve_command
from priori.curves.roc import det
from priori.plots.curves import plot_det

command = curve_command("det", det, plot_det)
