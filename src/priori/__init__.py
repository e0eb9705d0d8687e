"""Priori: how well will a scored two-class decision work once its threshold is fixed in advance?"""

from priori._version import __version__
from priori.criteria import Criterion, choose_threshold
from priori.delong import a_posteriori_auc_interval, a_posteriori_auc_test
from priori.designeffect import design_effect
from priori.epc import EPC, Areas, areas, epc
from priori.errors import InputError, OptionError, PrioriError
from priori.measures import Measure, Task
from priori.outcomes import Outcomes, count
from priori.planning import plan
from priori.proportions import mcnemar_test, proportion_interval, proportion_test
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
from priori.zcurves import ztest_epc
from priori.ztests import ztest, ztest_scores

__all__ = [
    "EPC",
    "AposterioriDET",
    "AposterioriROC",
    "Areas",
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
    "a_posteriori_auc_interval",
    "a_posteriori_auc_test",
    "a_posteriori_break_even",
    "a_posteriori_eer",
    "a_posteriori_min_dcf",
    "a_posteriori_partial_auc",
    "areas",
    "average_precision",
    "choose_threshold",
    "count",
    "design_effect",
    "det",
    "epc",
    "mcnemar_test",
    "plan",
    "proportion_interval",
    "proportion_test",
    "roc",
    "ztest",
    "ztest_epc",
    "ztest_scores",
]
