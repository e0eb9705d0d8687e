"""Z-tests along alpha: two expected performance curves and the confidence that they differ (thesis, Figure 3.11)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.above import above
from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column, Level, Summary, Table, Unsaved
from priori.base.errors import OptionError
from priori.base.results import Result
from priori.base.saved import Saved, in_part
from priori.base.types import Floats, Mask
from priori.curves.epc import EPC
from priori.decisions.measures import get_measure
from priori.decisions.named import Custom, NamedMeasure, custom
from priori.scores.pairing import disagreements
from priori.uncertainty.comparing.ztest_normals import (
    AnyMeasure,
    Rates,
    Setting,
    ZComparison,
    ZDifference,
    ZInterval,
    ZSystem,
)
from priori.uncertainty.comparing.ztests import users_unused
from priori.uncertainty.rates.proportions import NORMAL_RULE, Alternative

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Tests = Annotated[
    dict[str, NDArray[Any]],
    Table(
        {
            "number": "value_a lower_a upper_a value_b lower_b upper_b difference sd_dependent confidence_dependent "
            "sd_independent confidence_independent sd_naive confidence_naive sd_class confidence_class"
        },
        optional="sd_dependent confidence_dependent",
    ),
]


@dataclass(frozen=True, eq=False, repr=False)
class ZTestCurve(Result):
    """Two Expected Performance Curves and the confidence that they differ: one row per alpha. Made by `ztest_epc`."""

    measure: NamedMeasure
    confidence_level: Level
    alternative: Alternative
    alpha: Floats
    a: Unsaved[ZSystem]
    b: Unsaved[ZSystem]
    comparison: Unsaved[ZComparison]
    warnings: Cautions

    @classmethod
    def _restored(cls, saved: Saved, known: dict[str, Any]) -> Self:
        for side in ("a", "b"):
            hter = {name: saved.table[f"{name}_{side}"] for name in ("value", "lower", "upper")}
            known[side] = in_part(ZSystem, name=saved.summary[f"name_{side}"], hter=in_part(ZInterval, **hter))
        tests: dict[str, ZDifference | None] = {"dependent": None}
        for name in ("dependent", "independent", "naive", "class"):
            if f"sd_{name}" in saved.table:
                test = {field: saved.table[f"{field}_{name}"] for field in ("sd", "confidence")}
                # The difference of the classification errors is not saved; the others are about the measure's.
                value = {} if name == "class" else {"value": saved.table["difference"]}
                tests[name] = in_part(ZDifference, **test, **value)
        return in_part(cls, comparison=in_part(ZComparison, class_error=tests.pop("class"), **tests), **known)

    @property
    def name_a(self) -> Summary[str]:
        """The name of the first system."""
        return self.a.name

    @property
    def name_b(self) -> Summary[str]:
        """The name of the second system."""
        return self.b.name

    @property
    def custom(self) -> Summary[Custom]:
        """Whether the measure is the caller's own."""
        return custom(measure=self.measure)

    @property
    def tests(self) -> Column[Tests]:
        """The curves, and each test of their difference; ``confidence`` is the lower panel of Figure 3.11."""
        columns: dict[str, NDArray[Any]] = {}
        for name, system in (("a", self.a), ("b", self.b)):
            columns |= {f"{field}_{name}": getattr(system.hter, field) for field in ("value", "lower", "upper")}
        columns["difference"] = self.comparison.independent.value
        for name, test in self.comparison.tests.items():
            columns |= {f"sd_{name}": test.sd, f"confidence_{name}": test.confidence}
        return columns

    def better_system(self) -> ZSystem:
        """Return the system whose values are the better ones in the mean over the alphas."""
        mean_a, mean_b = (float(np.mean(system.hter.value)) for system in (self.a, self.b))
        b_is_better = mean_b > mean_a if self.measure.greater_is_better else mean_b < mean_a
        return self.b if b_is_better else self.a

    @cached_property
    def significant(self) -> Column[Mask]:
        """Where the dependent and the independent test both find a difference; at each alpha by itself."""
        return self.comparison.significant(self.confidence_level)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the confidence against alpha, the lower panel of Figure 3.11; returns the axes."""
        return above(self, "plot")(self, ax=ax)


def ztest_epc(
    a: EPC,
    b: EPC,
    *,
    unpaired: bool = False,
    measure: AnyMeasure | None = None,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> ZTestCurve:
    """Test two expected performance curves against each other at every alpha (thesis, Figure 3.11).

    Each alpha is tested by itself: read at a hundred alphas, some will pass a 5 % level by luck
    (`priori.compare` has simultaneous bands).

    Parameters
    ----------
    a, b : EPC
        The curves, over the same alphas.
    unpaired : bool
        The two test sets hold different trials: the independent test alone.
    measure : str or Measure, optional
        Another measure than the curves show.
    confidence_level, alternative
        As in `ztest`.

    Examples
    --------
    >>> import numpy as np
    >>> import priori
    >>> rng = np.random.default_rng(0)
    >>> label = np.repeat([0, 1], 400)
    >>> sets = [priori.Scores.from_predictions(label, rng.normal(shift * label)) for shift in (3, 3, 2.8, 2.8)]
    >>> test = priori.ztest_epc(priori.epc(*sets[:2], points=5), priori.epc(*sets[2:], points=5))
    >>> test.significant.tolist()
    [True, True, True, False, False]
    """
    if not np.array_equal(a.alpha, b.alpha):
        raise OptionError("the two curves have different alphas; compute both with the same points, bounds or alpha")
    if measure is None and a.measure.name != b.measure.name:
        raise OptionError(f"the curves show different measures ({a.measure.name}, {b.measure.name}); say which one")
    if "user" in (a.weight, b.weight):
        raise OptionError("a z-test takes trials for independent; users that weigh alike (weight 'user') need compare")
    chosen = get_measure(measure or a.measure)
    setting = Setting.of(chosen, a.alpha, confidence_level, alternative)
    first, second = (ZSystem.of(curve.name, Rates.from_outcomes(curve.outcomes), setting) for curve in (a, b))
    differing = None if unpaired else disagreements(a.test, b.test, a.threshold, b.threshold)
    comparison = ZComparison.of(first.rates, second.rates, setting, differing)
    warnings = (*users_unused(a.test, b.test), *_doubts_along(first), *_doubts_along(second))
    return ZTestCurve(chosen, confidence_level, alternative, a.alpha, first, second, comparison, warnings)._came_from(
        a, b
    )


def _doubts_along(system: ZSystem) -> list[Caution]:
    lines, rates = [], system.rates
    for name, rate, trials in (("FAR", rates.far, rates.negatives), ("FRR", rates.frr, rates.positives)):
        few = int(np.count_nonzero(trials * rate * (1 - rate) < NORMAL_RULE))
        if few:
            text = (
                f"{system.name}: the {name} has n p (1 - p) under {NORMAL_RULE:g} at {few} of {rate.size} alphas: "
                "the normal distribution fits badly there; a bootstrap does not rest on it"
            )
            lines.append(Caution("normal-fits-badly", text))
    return lines
