"""Areas under an Expected Performance Curve (Eqs. 14-18), exactly: the curve is piecewise constant in alpha."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.alphas import check_bounds
from priori.base.layouts import TEXT, Layout, Schema, listed, of
from priori.base.results import Result
from priori.base.saved import Saved
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measure import Measure
from priori.decisions.outcomes import count
from priori.decisions.tasks import Task, get_task
from priori.scores import ScoreSet
from priori.scores.inputs import as_score_set

BOUNDS: Schema = listed({"type": "number", "minimum": 0, "maximum": 1}, 2)


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
    """Expected values of (V1 + V2)/2 over a range of operating points (Eqs. 15, 16, 18). Made by `areas`.

    ``post_`` fields have the thresholds chosen on the test set itself: G is then (AUC + 1/2)/2 in the limit
    (Eq. 18), for errors read as V1 against V2.
    """

    e_v1: float
    e_v2: float
    g: float
    post_e_v1: float
    post_e_v2: float
    post_g: float
    bounds: tuple[float, float]
    task: str

    _layout = Layout(
        "Expected values of (V1 + V2)/2 over a range of operating points.",
        {"area": "text", **of("number", "a_priori a_posteriori")},
        {"task": TEXT, "bounds": BOUNDS},
        descriptions={"area": "Which area."},
        rates=True,
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        for prefix, name in (("", "a_priori"), ("post_", "a_posteriori")):
            e_v1, e_v2, g = saved.table[name].tolist()
            known |= {f"{prefix}e_v1": e_v1, f"{prefix}e_v2": e_v2, f"{prefix}g": g}
        return super()._from_parts(saved, bounds=tuple(saved["bounds"]), **known)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per area: a priori, and a posteriori for comparison."""
        return {
            "area": np.array(["e_v1", "e_v2", "g"]),
            "a_priori": np.array([self.e_v1, self.e_v2, self.g]),
            "a_posteriori": np.array([self.post_e_v1, self.post_e_v2, self.post_g]),
        }

    def summary(self) -> dict[str, Any]:
        """Return the task and the bounds."""
        return {"task": self.task, "bounds": list(self.bounds)}


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
