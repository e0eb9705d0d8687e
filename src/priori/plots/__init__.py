"""Figures for papers and notebooks: results in, matplotlib axes out. Nothing is computed here."""

from priori.plots.average import plot_average, plot_average_epc, plot_coverage
from priori.plots.comparison import figure_ztest, plot_comparison, plot_confidence, plot_histogram
from priori.plots.curves import plot_det, plot_epc, plot_epsc, plot_roc
from priori.plots.style import save

__all__ = [
    "figure_ztest",
    "plot_average",
    "plot_average_epc",
    "plot_comparison",
    "plot_confidence",
    "plot_coverage",
    "plot_det",
    "plot_epc",
    "plot_epsc",
    "plot_histogram",
    "plot_roc",
    "save",
]
