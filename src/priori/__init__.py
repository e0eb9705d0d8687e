"""Priori: how well will a scored two-class decision work once its threshold is fixed in advance?"""

from priori._version import __version__
from priori.averaging import AverageCurve, AverageEPC, average, average_epc, recommend
from priori.criteria import Criterion, choose_threshold
from priori.epc import EPC, Areas, areas, epc
from priori.errors import InputError, OptionError, PrioriError
from priori.measures import Measure, Task
from priori.outcomes import Outcomes, count
from priori.roc import (
    AposterioriDET,
    AposterioriROC,
    a_posteriori_auc,
    a_posteriori_break_even,
    a_posteriori_eer,
    a_posteriori_min_dcf,
    a_posteriori_partial_auc,
    average_precision,
    det,
    roc,
)
from priori.scores import Scores

__all__ = [
    "EPC",
    "AposterioriDET",
    "AposterioriROC",
    "Areas",
    "AverageCurve",
    "AverageEPC",
    "Criterion",
    "InputError",
    "Measure",
    "OptionError",
    "Outcomes",
    "PrioriError",
    "Scores",
    "Task",
    "__version__",
    "a_posteriori_auc",
    "a_posteriori_break_even",
    "a_posteriori_eer",
    "a_posteriori_min_dcf",
    "a_posteriori_partial_auc",
    "areas",
    "average",
    "average_epc",
    "average_precision",
    "choose_threshold",
    "count",
    "det",
    "epc",
    "recommend",
    "roc",
]
