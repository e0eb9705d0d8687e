"""Areas under an Expected Performance Curve (Eqs. 14-18), exactly: the curve is piecewise constant in alpha."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from priori.base.alphas import check_bounds
from priori.base.declarations import Column, Unsaved
from priori.base.results import Result
from priori.base.types import Floats, Texts
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measure import Measure
from priori.decisions.outcomes import count
from priori.decisions.tasks import Task, get_task
from priori.scores import ScoreSet
from priori.scores.score_set import as_score_set


def area(
    dev: ScoreSet, test: ScoreSet, criterion: Criterion, measure: Measure, bounds: tuple[Fraction, Fraction]
) -> float:
    """Return the mean height of an EPC between two alphas, each constant piece integrated exactly.

    A measure that is linear in alpha (WER with gamma = alpha) is exact too: each piece is taken at its middle.
    """
    if bounds[0] == bounds[1]:
        return float(measure(count(test, criterion.choose(dev, bounds[:1]).threshold), float(bounds[0]))[0])
    pieces = criterion.pieces(dev).between(bounds)
    middle = (pieces.breaks[1:] + pieces.breaks[:-1]) / 2
    value = measure(count(test, pieces.choice.threshold), middle)
    return float(np.dot(value, np.diff(pieces.breaks)) / float(bounds[1] - bounds[0]))


@dataclass(frozen=True, repr=False)
class Areas(Result):
    """Expected values of (V1 + V2)/2 over a range of operating points. Made by `areas` (Eqs. 15, 16, 18).

    ``post_`` fields have the thresholds chosen on the test set itself: G is then (AUC + 1/2)/2 in the limit
    (Eq. 18), for errors read as V1 against V2.
    """

    e_v1: Unsaved[float]
    e_v2: Unsaved[float]
    g: Unsaved[float]
    post_e_v1: Unsaved[float]
    post_e_v2: Unsaved[float]
    post_g: Unsaved[float]
    bounds: tuple[float, float]
    task: str

    _rates: ClassVar[bool] = True

    @property
    def area(self) -> Column[Texts]:
        """Which area."""
        return np.array(["e_v1", "e_v2", "g"])

    @property
    def a_priori(self) -> Column[Floats]:
        """The areas, thresholds chosen on the development set."""
        return np.array([self.e_v1, self.e_v2, self.g])

    @property
    def a_posteriori(self) -> Column[Floats]:
        """The areas, thresholds chosen on the test set itself."""
        return np.array([self.post_e_v1, self.post_e_v2, self.post_g])


def areas(dev: Any, test: Any, *, task: str | Task = "authentication", bounds: tuple[Any, Any] = (0, 1)) -> Areas:
    """Compute E_V1, E_V2 and G, integrated exactly over the operating points between ``bounds``.

    Each is an expected value: over bounds other than (0, 1) the integral is divided by their distance.

    Examples
    --------
    >>> import priori
    >>> dev = priori.Scores.from_arrays(negatives=[0.1, 0.2, 0.6], positives=[0.4, 0.7, 0.9])
    >>> test = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.2, 0.5, 0.8])
    >>> result = priori.areas(dev, test)
    >>> round(result.e_v1, 4), round(result.e_v2, 4), round(result.g, 4)
    (0.3611, 0.4167, 0.3889)
    """
    dev, test = as_score_set(dev), as_score_set(test)
    domain = get_task(task)
    limits = check_bounds(bounds)
    mean = Measure("mean", "(V1 + V2)/2", lambda outcomes, alpha: (domain.v1(outcomes) + domain.v2(outcomes)) / 2)
    v1, v2, post_v1, post_v2 = (
        area(chosen_on, test, get_criterion(target, domain), mean, limits)
        for chosen_on in (dev, test)
        for target in ("target-v1", "target-v2")
    )
    low, high = float(limits[0]), float(limits[1])
    g, post_g = (v1 + v2) / 2, (post_v1 + post_v2) / 2
    return Areas(v1, v2, g, post_v1, post_v2, post_g, (low, high), domain.name)._came_from(test, dev)
