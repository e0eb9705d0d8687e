"""``priori det``: DET curves, a posteriori."""

from __future__ import annotations

from priori.cli.curve import curve_command
from priori.plots.curves import plot_det
from priori.roc import det

command = curve_command("det", det, plot_det)
