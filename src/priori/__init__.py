"""Priori: how well will a scored two-class decision work once its threshold is fixed in advance?

The curve itself is imported at once; everything around it (bands, tests, averages, readers) when first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from priori._version import __version__
from priori.criteria import Criterion, choose_threshold
from priori.epc import EPC, Areas, areas, epc
from priori.errors import InputError, OptionError, PrioriError
from priori.measures import Measure, Task
from priori.outcomes import Outcomes, count
from priori.results import Result
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

if TYPE_CHECKING:
    from priori import examples
    from priori.averaging import AverageCurve, AverageEPC, average, average_epc, recommend
    from priori.comparison import Comparison, compare
    from priori.delong import a_posteriori_auc_interval, a_posteriori_auc_test
    from priori.dependence import rate_interval
    from priori.designeffect import design_effect
    from priori.engines import Table, scan
    from priori.planning import plan
    from priori.promises import Coverage, coverage
    from priori.proportions import mcnemar_test, proportion_interval, proportion_test
    from priori.ranking import Ranking, compare_all
    from priori.readers import read
    from priori.resampling import Band
    from priori.zcurves import ztest_epc
    from priori.ztests import ztest, ztest_scores

#: Where the names that are imported when first used live. None of them is also the name of a module.
_LATER = {
    "AverageCurve": "priori.averaging",
    "AverageEPC": "priori.averaging",
    "Band": "priori.resampling",
    "Comparison": "priori.comparison",
    "Coverage": "priori.promises",
    "Ranking": "priori.ranking",
    "Table": "priori.engines",
    "a_posteriori_auc_interval": "priori.delong",
    "a_posteriori_auc_test": "priori.delong",
    "average": "priori.averaging",
    "average_epc": "priori.averaging",
    "compare": "priori.comparison",
    "compare_all": "priori.ranking",
    "coverage": "priori.promises",
    "design_effect": "priori.designeffect",
    "mcnemar_test": "priori.proportions",
    "plan": "priori.planning",
    "proportion_interval": "priori.proportions",
    "proportion_test": "priori.proportions",
    "recommend": "priori.averaging",
    "rate_interval": "priori.dependence",
    "read": "priori.readers",
    "scan": "priori.engines",
    "ztest": "priori.ztests",
    "ztest_epc": "priori.zcurves",
    "ztest_scores": "priori.ztests",
}

__all__ = [
    "EPC",
    "AposterioriDET",
    "AposterioriROC",
    "Areas",
    "AverageCurve",
    "AverageEPC",
    "Band",
    "Comparison",
    "Coverage",
    "Criterion",
    "InputError",
    "Measure",
    "OptionError",
    "Outcomes",
    "PrioriError",
    "Ranking",
    "Result",
    "Scores",
    "Table",
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
    "average",
    "average_epc",
    "average_precision",
    "choose_threshold",
    "compare",
    "compare_all",
    "count",
    "coverage",
    "design_effect",
    "det",
    "epc",
    "examples",
    "mcnemar_test",
    "plan",
    "proportion_interval",
    "proportion_test",
    "rate_interval",
    "read",
    "recommend",
    "roc",
    "scan",
    "ztest",
    "ztest_epc",
    "ztest_scores",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    if name == "examples":
        return importlib.import_module("priori.examples")
    raise AttributeError(f"module 'priori' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
