"""One ROC curve from many: averaging over data sets, folds, users or readers."""

from priori.averaging.epc import AverageEPC, average_epc
from priori.averaging.methods import METHODS, Method, Recommendation, recommend
from priori.averaging.result import AverageCurve, Estimate
from priori.averaging.sampling import average
from priori.averaging.scales import Commensurability, commensurability

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
