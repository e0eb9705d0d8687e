"""Priori: how well will a scored two-class decision work once its threshold is fixed in advance?

Everything is imported when it is first used, so that the command line hears an interruption from the start.
"""

import importlib
from typing import TYPE_CHECKING, Any

from priori._version import __version__

if TYPE_CHECKING:
    from priori import examples
    from priori.base.cautions import silenced
    from priori.base.errors import InputError, OptionError, PrioriError
    from priori.base.results import Result
    from priori.curves.areas import Areas, areas
    from priori.curves.averaging import AverageCurve, AverageEPC, average, average_epc, recommend
    from priori.curves.cross import CrossEPC, cross_epc
    from priori.curves.epc import EPC, epc, epc_all
    from priori.curves.epc_by import GroupedEPC, epc_by
    from priori.curves.epsc import EPSC, adcf, epsc
    from priori.curves.roc import (
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
    from priori.decisions.criteria import Criterion
    from priori.decisions.likelihood_ratios import a_posteriori_min_cllr, calibrate, cllr
    from priori.decisions.measure import Measure
    from priori.decisions.outcomes import Outcomes, count
    from priori.decisions.recipe import choose_threshold
    from priori.decisions.tasks import Task
    from priori.engines import Table, scan, scan_table
    from priori.readers import read
    from priori.readers.trial_tables import read_table
    from priori.scores import Scores
    from priori.studies.limits import LimitPlan, plan_limit
    from priori.studies.planning import plan
    from priori.studies.watching import Watch
    from priori.uncertainty.amounts import AmountCosts, amounts, compare_amounts
    from priori.uncertainty.bands.bands import Band
    from priori.uncertainty.comparing.comparison import Comparison, compare
    from priori.uncertainty.comparing.ztests import ztest, ztest_scores
    from priori.uncertainty.costs import CostsTest, LLRCosts, compare_llr_costs, llr_costs
    from priori.uncertainty.expected.thresholds import ThresholdInterval, threshold_interval
    from priori.uncertainty.llr_curves import ECE, Reliability, Tippett, ece, reliability, tippett
    from priori.uncertainty.ranking.leaderboard import Leaderboard, rank
    from priori.uncertainty.ranking.ranking import Ranking, compare_all
    from priori.uncertainty.rates.auc import a_posteriori_auc_interval, a_posteriori_auc_test
    from priori.uncertainty.rates.group_rates import GroupRates, group_rates, group_threshold
    from priori.uncertainty.rates.pad import PAD, pad
    from priori.uncertainty.rates.proportions import mcnemar_test, proportion_interval, proportion_test
    from priori.uncertainty.rates.rate_intervals import rate_interval
    from priori.uncertainty.rates.user_rates import UserRates, user_rates

#: Names that are imported when first used, by the module they live in. None of them is also the name of a module.
_LATER = {
    name: module
    for module, names in {
        "priori.base.cautions": "silenced",
        "priori.base.errors": "InputError OptionError PrioriError",
        "priori.base.results": "Result",
        "priori.curves.areas": "Areas areas",
        "priori.curves.cross": "CrossEPC cross_epc",
        "priori.curves.epc": "EPC epc epc_all",
        "priori.curves.epc_by": "GroupedEPC epc_by",
        "priori.curves.epsc": "EPSC adcf epsc",
        "priori.curves.roc": "AposterioriDET AposterioriROC a_posteriori_auc a_posteriori_break_even a_posteriori_eer "
        "a_posteriori_min_dcf a_posteriori_partial_auc average_precision det roc",
        "priori.decisions.criteria": "Criterion",
        "priori.decisions.likelihood_ratios": "a_posteriori_min_cllr calibrate cllr",
        "priori.decisions.measure": "Measure",
        "priori.decisions.outcomes": "Outcomes count",
        "priori.decisions.recipe": "choose_threshold",
        "priori.decisions.tasks": "Task",
        "priori.scores": "Scores",
        "priori.curves.averaging": "AverageCurve AverageEPC average average_epc recommend",
        "priori.engines": "Table scan scan_table",
        "priori.readers": "read",
        "priori.readers.trial_tables": "read_table",
        "priori.studies.limits": "LimitPlan plan_limit",
        "priori.studies.planning": "plan",
        "priori.studies.watching": "Watch",
        "priori.uncertainty.amounts": "AmountCosts amounts compare_amounts",
        "priori.uncertainty.rates.auc": "a_posteriori_auc_interval a_posteriori_auc_test",
        "priori.uncertainty.bands.bands": "Band",
        "priori.uncertainty.comparing.comparison": "Comparison compare",
        "priori.uncertainty.expected.thresholds": "ThresholdInterval threshold_interval",
        "priori.uncertainty.rates.group_rates": "GroupRates group_rates group_threshold",
        "priori.uncertainty.ranking.leaderboard": "Leaderboard rank",
        "priori.uncertainty.rates.pad": "PAD pad",
        "priori.uncertainty.costs": "CostsTest LLRCosts compare_llr_costs llr_costs",
        "priori.uncertainty.llr_curves": "ECE Reliability Tippett ece reliability tippett",
        "priori.uncertainty.rates.proportions": "mcnemar_test proportion_interval proportion_test",
        "priori.uncertainty.ranking.ranking": "Ranking compare_all",
        "priori.uncertainty.rates.rate_intervals": "rate_interval",
        "priori.uncertainty.rates.user_rates": "UserRates user_rates",
        "priori.uncertainty.comparing.ztests": "ztest ztest_scores",
    }.items()
    for name in names.split()
}

__all__ = [
    "ECE",
    "EPC",
    "EPSC",
    "PAD",
    "AmountCosts",
    "AposterioriDET",
    "AposterioriROC",
    "Areas",
    "AverageCurve",
    "AverageEPC",
    "Band",
    "Comparison",
    "CostsTest",
    "Criterion",
    "CrossEPC",
    "GroupRates",
    "GroupedEPC",
    "InputError",
    "LLRCosts",
    "Leaderboard",
    "LimitPlan",
    "Measure",
    "OptionError",
    "Outcomes",
    "PrioriError",
    "Ranking",
    "Reliability",
    "Result",
    "Scores",
    "Table",
    "Task",
    "ThresholdInterval",
    "Tippett",
    "UserRates",
    "Watch",
    "__version__",
    "a_posteriori_auc",
    "a_posteriori_auc_interval",
    "a_posteriori_auc_test",
    "a_posteriori_break_even",
    "a_posteriori_eer",
    "a_posteriori_min_cllr",
    "a_posteriori_min_dcf",
    "a_posteriori_partial_auc",
    "adcf",
    "amounts",
    "areas",
    "average",
    "average_epc",
    "average_precision",
    "calibrate",
    "choose_threshold",
    "cllr",
    "compare",
    "compare_all",
    "compare_amounts",
    "compare_llr_costs",
    "count",
    "cross_epc",
    "det",
    "ece",
    "epc",
    "epc_all",
    "epc_by",
    "epsc",
    "examples",
    "group_rates",
    "group_threshold",
    "llr_costs",
    "mcnemar_test",
    "pad",
    "plan",
    "plan_limit",
    "proportion_interval",
    "proportion_test",
    "rank",
    "rate_interval",
    "read",
    "read_table",
    "recommend",
    "reliability",
    "roc",
    "scan",
    "scan_table",
    "silenced",
    "threshold_interval",
    "tippett",
    "user_rates",
    "ztest",
    "ztest_scores",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if name == "examples":
        return importlib.import_module("priori.examples")
    raise AttributeError(f"module 'priori' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
