"""One ROC curve from many: averaging over data sets, folds, users or readers."""

from priori.curves.averaging.average import AverageCurve, Estimate, average
from priori.curves.averaging.epc import AverageEPC, average_epc
from priori.curves.averaging.methods import METHODS, Method, recommend

__all__ = ["METHODS", "AverageCurve", "AverageEPC", "Estimate", "Method", "average", "average_epc", "recommend"]
