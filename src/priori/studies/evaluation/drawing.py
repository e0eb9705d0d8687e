"""What the drawings need: curves thinned without visible change, scores counted in bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats
from priori.curves.roc import AposterioriDET, AposterioriROC, roc
from priori.curves.thinning import thin
from priori.scores import Scores, ScoreSet, Trials


def probit_floor(test: ScoreSet) -> float:
    """Return where the axes of a set's DET curve begin: half the smallest rate it can show."""
    return max(0.5 / max(test.n_negatives, test.n_positives), 1e-6)


def thinned_curves(test: ScoreSet, name: str) -> tuple[AposterioriROC, AposterioriDET]:
    """Return the ROC and the DET curve of a set, each with the points that its own drawing needs."""
    full = roc(test, name=name)
    low = float(probit(np.array(probit_floor(test)))) - 0.5
    deviates = AposterioriDET(name, test, full.threshold, full.outcomes).probit
    on_roc, on_det = thin(full.fpr, full.tpr), thin(*(np.clip(axis, low, -low) / (-2 * low) for axis in deviates))
    return (
        AposterioriROC(name, test, full.threshold[on_roc], full.outcomes[on_roc]),
        AposterioriDET(name, test, full.threshold[on_det], full.outcomes[on_det]),
    )


def probit(rate: Floats) -> Floats:
    """Return rates on the normal-deviate scale; 0 and 1, infinite there, a little beyond where any axis ends."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(rate, 1e-7, 1 - 1e-7)))


@dataclass(frozen=True, eq=False)
class ScoreHistogram:
    """How many scores of each class lie in each bin, on both sets; scores beyond the edges are in the outer bins."""

    edges: Floats
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]
    dev_negatives: NDArray[np.int64]
    dev_positives: NDArray[np.int64]
    beyond: int

    def shares(self) -> dict[str, Floats]:
        """Return each class's counts as shares of that class."""
        names = ("negatives", "positives", "dev_negatives", "dev_positives")
        return {name: getattr(self, name) / getattr(self, name).sum() for name in names}


def bin_scores(dev: Scores, test: Scores, threshold: float) -> ScoreHistogram:
    """Count the scores of both sets in common bins: (a, b], so that a threshold on an edge parts them rightly.

    The bins span all finite scores unless a few lie far out; then those go to the outer bins. The threshold of
    interest is always inside.
    """
    sets = [trials for scores in (test, dev) for trials in (scores.negative, scores.positive)]
    finite = [each if (inside := np.isfinite(each.score)).all() else each.take(inside) for each in sets]
    finite = [trials for trials in finite if len(trials)] or [Trials(np.zeros(1))]
    least, most = min(trials.sorted[0] for trials in finite), max(trials.sorted[-1] for trials in finite)
    low = min(_at(trials, 0.0005 * (len(trials) - 1)) for trials in finite)
    high = max(_at(trials, np.ceil(0.9995 * (len(trials) - 1))) for trials in finite)
    if most / 9 - least / 9 <= high / 3 - low / 3:  # in parts, since a difference may overflow
        low, high = least, most
    if np.isfinite(threshold):
        low, high = min(low, threshold), max(high, threshold)
    if low == high:
        low, high = low - max(0.5, abs(low) / 1e6), high + max(0.5, abs(high) / 1e6)
    bins = int(np.clip(2 * min(test.n_negatives, test.n_positives) ** (1 / 3), 20, 80))
    share = np.linspace(0, 1, bins + 1)
    edges = low * (1 - share) + high * share  # does not overflow where high - low would
    ends = np.array([np.nextafter(low, -np.inf), high])
    beyond = sum(len(trials) - int(np.diff(trials.rejected(ends))[0]) for trials in sets[:2])
    inner = ([0, *trials.rejected(edges[1:-1]), len(trials)] for trials in sets)
    negatives, positives, dev_negatives, dev_positives = (np.diff(ends).astype(np.int64) for ends in inner)
    return ScoreHistogram(edges, negatives, positives, dev_negatives, dev_positives, beyond)


def _at(trials: Trials, rank: float) -> float:
    return float(trials.at_rank(np.array(int(rank))))


def median(trials: Trials) -> float:
    """Return the median score."""
    middle = trials.at_rank(np.array([(len(trials) - 1) // 2, len(trials) // 2]))
    return float(middle.mean())
