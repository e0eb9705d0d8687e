"""One ROC curve from many: averaging over data sets, folds, users or readers."""

from priori.curves.averaging.epc import AverageEPC, average_epc
from priori.curves.averaging.methods import METHODS, Method, Recommendation, recommend
from priori.curves.averaging.result import AverageCurve, Estimate
from priori.curves.averaging.sampling import average
from priori.curves.averaging.scales import Commensurability, commensurability

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
