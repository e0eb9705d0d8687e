"""Priori: how well will a scored two-class decision work once its threshold is fixed in advance?

Everything is imported when it is first used, so that the command line hears an interruption from the start.
"""

import importlib
from typing import TYPE_CHECKING, Any

from priori._version import __version__

if TYPE_CHECKING:
    from priori import examples as examples
    from priori.base.errors import InputError as InputError, OptionError as OptionError, PrioriError as PrioriError
    from priori.base.results import Result as Result
    from priori.curves.areas import Areas as Areas, areas as areas
    from priori.curves.averaging import (
        AverageCurve as AverageCurve,
        AverageEPC as AverageEPC,
        average as average,
        average_epc as average_epc,
        recommend as recommend,
    )
    from priori.curves.cross import CrossEPC as CrossEPC, cross_epc as cross_epc
    from priori.curves.epc import EPC as EPC, epc as epc, epc_all as epc_all
    from priori.curves.epc_by import GroupedEPC as GroupedEPC, epc_by as epc_by
    from priori.curves.epsc import EPSC as EPSC, adcf as adcf, epsc as epsc
    from priori.curves.roc import (
        AposterioriDET as AposterioriDET,
        AposterioriROC as AposterioriROC,
        a_posteriori_auc as a_posteriori_auc,
        a_posteriori_break_even as a_posteriori_break_even,
        a_posteriori_eer as a_posteriori_eer,
        a_posteriori_min_dcf as a_posteriori_min_dcf,
        a_posteriori_partial_auc as a_posteriori_partial_auc,
        average_precision as average_precision,
        det as det,
        roc as roc,
    )
    from priori.decisions.criteria import Criterion as Criterion
    from priori.decisions.likelihood_ratios import (
        a_posteriori_min_cllr as a_posteriori_min_cllr,
        calibrate as calibrate,
        cllr as cllr,
    )
    from priori.decisions.measure import Measure as Measure
    from priori.decisions.outcomes import Outcomes as Outcomes, count as count
    from priori.decisions.recipe import choose_threshold as choose_threshold
    from priori.decisions.tasks import Task as Task
    from priori.engines import Table as Table, scan as scan, scan_table as scan_table
    from priori.readers import read as read
    from priori.readers.trial_tables import read_table as read_table
    from priori.scores import Scores as Scores
    from priori.studies.limits import LimitPlan as LimitPlan, plan_limit as plan_limit
    from priori.studies.planning import plan as plan
    from priori.studies.watching import Watch as Watch
    from priori.uncertainty.amounts import (
        AmountCosts as AmountCosts,
        amounts as amounts,
        compare_amounts as compare_amounts,
    )
    from priori.uncertainty.bands.bands import Band as Band
    from priori.uncertainty.bands.roc_bands import PrecisionBand as PrecisionBand, precision_band as precision_band
    from priori.uncertainty.comparing.comparison import Comparison as Comparison, compare as compare
    from priori.uncertainty.comparing.ztests import ztest as ztest, ztest_scores as ztest_scores
    from priori.uncertainty.costs import (
        CostsTest as CostsTest,
        LLRCosts as LLRCosts,
        compare_llr_costs as compare_llr_costs,
        llr_costs as llr_costs,
    )
    from priori.uncertainty.expected.thresholds import (
        ThresholdInterval as ThresholdInterval,
        threshold_interval as threshold_interval,
    )
    from priori.uncertainty.llr_curves import (
        ECE as ECE,
        Reliability as Reliability,
        Tippett as Tippett,
        ece as ece,
        reliability as reliability,
        tippett as tippett,
    )
    from priori.uncertainty.ranking.leaderboard import Leaderboard as Leaderboard, rank as rank
    from priori.uncertainty.ranking.ranking import Ranking as Ranking, compare_all as compare_all
    from priori.uncertainty.rates.auc import (
        a_posteriori_auc_interval as a_posteriori_auc_interval,
        a_posteriori_auc_test as a_posteriori_auc_test,
    )
    from priori.uncertainty.rates.group_rates import (
        GroupRates as GroupRates,
        group_rates as group_rates,
        group_threshold as group_threshold,
    )
    from priori.uncertainty.rates.pad import PAD as PAD, pad as pad
    from priori.uncertainty.rates.proportions import (
        mcnemar_test as mcnemar_test,
        proportion_interval as proportion_interval,
        proportion_test as proportion_test,
    )
    from priori.uncertainty.rates.rate_intervals import rate_interval as rate_interval
    from priori.uncertainty.rates.user_rates import UserRates as UserRates, user_rates as user_rates


#: Names that are imported when first used, by the module they live in. None of them is also the name of a module.
_LATER = {
    name: module
    for module, names in {
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
        "priori.uncertainty.bands.roc_bands": "PrecisionBand precision_band",
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

__all__ = ["__version__", "examples", *_LATER]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if name == "examples":
        return importlib.import_module("priori.examples")
    raise AttributeError(f"module 'priori' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
