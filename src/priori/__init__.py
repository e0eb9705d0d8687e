"""Priori: how well will a scored two-class decision work once its threshold is fixed in advance?"""

from priori._version import __version__
from priori.errors import InputError, OptionError, PrioriError
from priori.measures import Measure, Task
from priori.outcomes import Outcomes
from priori.proportions import mcnemar_test, proportion_interval, proportion_test
from priori.scores import Scores
from priori.ztests import ztest, ztest_scores

__all__ = [
    "InputError",
    "Measure",
    "OptionError",
    "Outcomes",
    "PrioriError",
    "Scores",
    "Task",
    "__version__",
    "mcnemar_test",
    "proportion_interval",
    "proportion_test",
    "ztest",
    "ztest_scores",
]
