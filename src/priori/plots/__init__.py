"""Figures for papers and notebooks: results in, matplotlib axes out. Nothing is computed here."""

from priori.plots.average import plot_average, plot_average_epc
from priori.plots.comparison import plot_comparison, plot_histogram
from priori.plots.curves import plot_det, plot_epc, plot_epsc, plot_roc
from priori.plots.likelihood_ratios import plot_ece, plot_reliability, plot_tippett
from priori.plots.style import save

__all__ = [
    "plot_average",
    "plot_average_epc",
    "plot_comparison",
    "plot_det",
    "plot_ece",
    "plot_epc",
    "plot_epsc",
    "plot_histogram",
    "plot_reliability",
    "plot_roc",
    "plot_tippett",
    "save",
]
