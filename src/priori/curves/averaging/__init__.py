"""One ROC curve from many: averaging over data sets, folds, users or readers."""

from priori.curves.averaging.average import AverageCurve, Estimate, average
from priori.curves.averaging.datasets import Commensurability, commensurability
from priori.curves.averaging.epc import AverageEPC, average_epc
from priori.curves.averaging.methods import METHODS, Method, Recommendation, recommend

__all__ = [
    "METHODS",
    "AverageCurve",
    "AverageEPC",
    "Commensurability",
    "Estimate",
    "Method",
    "Recommendation",
    "average",
    "average_epc",
    "commensurability",
    "recommend",
]
