"""For scikit-learn: displays, a scorer and a meta-estimator that judge a classifier a priori.

Needs ``pip install 'priori[sklearn]'``; nothing else in Priori imports this.
"""

from priori.base.extras import missing

try:
    import sklearn  # noqa: F401
except ImportError as error:  # pragma: no cover - tested where scikit-learn is absent
    raise missing("sklearn") from error

from priori.sklearn.displays import AverageROCDisplay, DifferenceDisplay, EPCDisplay, GroupRatesDisplay
from priori.sklearn.threshold import AprioriScorer, AprioriThresholdClassifier

__all__ = [
    "AprioriScorer",
    "AprioriThresholdClassifier",
    "AverageROCDisplay",
    "DifferenceDisplay",
    "EPCDisplay",
    "GroupRatesDisplay",
]
