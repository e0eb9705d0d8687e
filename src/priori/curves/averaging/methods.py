"""The ways of averaging ROC curves: names, meanings, which one to use, and the axis along which each averages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from priori.base.errors import OptionError, argument, unknown

ReadAlong = Literal["fpr", "tpr", "ratio", "cost"]


@dataclass(frozen=True)
class Axis:
    """The axes turned by theta, scaled so that positions run from 0 to 1.

    The paper's rotation (section 4.1) is fp' = cos(theta) fp + sin(theta) tp, tp' = cos(theta) tp - sin(theta) fp.
    Both are divided here by cos(theta) + sin(theta). Then vertical, horizontal, diagonal and cost axes are exact
    in floating point, and every curve runs from position 0 to position 1 whatever the angle.
    """

    cosine: float
    sine: float

    @property
    def theta(self) -> float:
        """The angle in radians."""
        return math.atan2(self.sine, self.cosine)

    def turn(self, fpr: Any, tpr: Any) -> tuple[Any, Any]:
        """Return position and height of points in ROC space."""
        return self.cosine * fpr + self.sine * tpr, self.cosine * tpr - self.sine * fpr

    def back(self, position: Any, height: Any) -> tuple[Any, Any]:
        """Return the points in ROC space of positions and heights."""
        square = self.cosine**2 + self.sine**2
        fpr, tpr = self.cosine * position - self.sine * height, self.sine * position + self.cosine * height
        return fpr / square, tpr / square


@dataclass(frozen=True)
class Method:
    """A way of averaging: its name, and what its curve means, in one sentence.

    ``one_threshold`` tells whether the same threshold serves every data set (``pooled``, ``threshold``); the
    other methods average in ROC space, each data set at a threshold of its own, along an ``axis``.
    """

    name: str
    one_threshold: bool
    meaning: str
    axis: Axis | None = None


#: Every method by the name people type (sections 3 and 4 of the paper); the axis of two follows from what is asked.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "pooled",
            True,
            "The rates of all trials taken as one set, with one threshold for all; "
            "a data set counts by its number of trials.",
        ),
        Method(
            "vertical",
            False,
            "The average true positive rate among data sets at each fixed false positive rate, "
            "each data set using the threshold that gives it that rate.",
            Axis(1.0, 0.0),
        ),
        Method(
            "horizontal",
            False,
            "The average false positive rate among data sets at each fixed true positive rate, "
            "each data set using the threshold that gives it that rate.",
            Axis(0.0, 1.0),
        ),
        Method(
            "diagonal",
            False,
            "The average of both error rates among data sets at each fixed balance between them (at the centre the "
            "equal error rate), each data set using the threshold that gives it that balance.",
            Axis(0.5, 0.5),
        ),
        Method(
            "cost",
            False,
            "The average expected cost among data sets at each fixed position along the lines of equal cost, "
            "each data set using a threshold of its own.",
        ),
        Method(
            "angle",
            False,
            "The average among data sets along axes turned by the given angle, "
            "each data set using a threshold of its own.",
        ),
        Method(
            "threshold",
            True,
            "The average false positive and true positive rates among data sets "
            "when one and the same threshold is used on all of them.",
        ),
    )
}

#: Along which axis a curve is read, and the method that averages for that reading (section 4.1).
READINGS: dict[str, str] = {"fpr": "vertical", "tpr": "horizontal", "ratio": "diagonal", "cost": "cost"}


def get_method(method: str | Method) -> Method:
    """Return a method from its name, or as it is."""
    if isinstance(method, Method):
        return method
    if method not in METHODS:
        raise unknown("averaging method", method, METHODS)
    return METHODS[method]


def recommend(one_threshold: bool, read_along: ReadAlong = "fpr") -> Method:
    """Answer "which average should I use?" from the two questions of section 4 of the averaging paper.

    Parameters
    ----------
    one_threshold : bool
        Will one threshold serve all data sets in use? If so the threshold average is the answer, however the
        curve is read: the other averages assume thresholds that will not be used.
    read_along : {"fpr", "tpr", "ratio", "cost"}
        If not: along which axis will the curve be read? At a fixed false positive rate, a fixed true positive
        rate, a fixed balance of the two error rates (the equal error rate), or fixed costs.

    Examples
    --------
    >>> import priori
    >>> priori.recommend(one_threshold=True).name
    'threshold'
    >>> priori.recommend(one_threshold=False, read_along="tpr").name
    'horizontal'
    """
    if read_along not in READINGS:
        raise unknown("axis to read along", read_along, READINGS)
    return METHODS["threshold" if one_threshold else READINGS[read_along]]


def find_axis(
    method: Method, theta: float | None, prior: float | None, cost_fp: float | None, cost_fn: float | None
) -> Axis | None:
    """Return the axis that a method averages along; None when it averages at thresholds."""
    wanted = {"theta": "angle", "prior": "cost", "cost_fp": "cost", "cost_fn": "cost"}
    for (name, needed), value in zip(wanted.items(), (theta, prior, cost_fp, cost_fn), strict=True):
        if value is not None and method.name != needed:
            raise OptionError(f"{argument(name)} goes with {argument('method', needed)}, not with {method.name!r}")
    if method.name == "angle":
        return _angle_axis(theta)
    return _cost_axis(prior, cost_fp, cost_fn) if method.name == "cost" else method.axis


def _angle_axis(theta: float | None) -> Axis:
    if theta is None:
        needs = f"{argument('method', 'angle')} needs {argument('theta')}"
        raise OptionError(f"{needs}: 0 is vertical, pi/2 radians (90 degrees) horizontal")
    # Outside this range a turned curve may have two heights at one position, and no average is defined.
    if not 0 <= theta <= math.pi / 2:
        raise OptionError(
            f"theta must lie between 0 (vertical) and pi/2 (horizontal) radians, 0 to 90 degrees, not {theta:g} radians"
        )
    return _axis(math.cos(theta), math.sin(theta))


def _cost_axis(prior: float | None, cost_fp: float | None, cost_fn: float | None) -> Axis:
    """Return the axis with theta = arctan(pi_N c_N / (pi_P c_P)), where heights are expected costs."""
    if prior is None and cost_fp is None and cost_fn is None:
        raise OptionError(
            f"{argument('method', 'cost')} needs the prior of the positive class ({argument('prior')}), or what an "
            f"error costs ({argument('cost_fp')})"
        )
    prior, cost_fp, cost_fn = (
        default if value is None else value for value, default in ((prior, 0.5), (cost_fp, 1.0), (cost_fn, 1.0))
    )
    if not (0 < prior < 1 and 0 < cost_fp < math.inf and 0 < cost_fn < math.inf):
        raise OptionError(
            "the prior must lie between 0 and 1 and costs must be positive "
            f"(given prior={prior:g}, cost_fp={cost_fp:g}, cost_fn={cost_fn:g})"
        )
    return _axis(prior * cost_fn, (1 - prior) * cost_fp)


def _axis(cosine: float, sine: float) -> Axis:
    # One minus the other, not another quotient: then they sum to exactly 1, and the last position is exactly 1.
    share = cosine / (cosine + sine)
    # So near to an axis, the ends of a line across it could not be told apart by their positions.
    share = 0.0 if share < 1e-9 else 1.0 if share > 1 - 1e-9 else share
    return Axis(share, 1.0 - share)
