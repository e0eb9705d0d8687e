"""For scikit-learn: displays, a scorer and a meta-estimator that judge a classifier a priori.

Needs ``pip install scikit-learn``; nothing else in Priori imports this.
"""

try:
    import sklearn  # noqa: F401
except ImportError as error:  # pragma: no cover - tested where scikit-learn is absent
    raise ImportError("priori.sklearn needs scikit-learn: pip install scikit-learn") from error

from priori.sklearn.averages import AverageROCDisplay
from priori.sklearn.curves import DifferenceDisplay, EPCDisplay
from priori.sklearn.groups import GroupRatesDisplay
from priori.sklearn.threshold import AprioriScorer, AprioriThresholdClassifier, make_apriori_scorer

__all__ = [
    "AprioriScorer",
    "AprioriThresholdClassifier",
    "AverageROCDisplay",
    "DifferenceDisplay",
    "EPCDisplay",
    "GroupRatesDisplay",
    "make_apriori_scorer",
]
