"""The curves of many systems: of one table that is scanned, all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from priori.curves.epc import EPC, Weight, make_curves
from priori.decisions.criteria import Criterion
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.decisions.tasks import Task


def epc_all(
    sets: Mapping[str, tuple[Any, Any]],
    *,
    task: str | Task = "authentication",
    criterion: str | Criterion | Callable[[Outcomes, float], Any] | None = None,
    measure: str | Measure | Callable[[Outcomes], Any] | None = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    costs: Any = None,
    prior: Any = None,
    exact: bool = False,
    preset: str | None = None,
    weight: Weight = "trial",
) -> list[EPC]:
    """Compute the curve of each of several systems, given by name with development and test scores.

    Systems of one table (`priori.scan_table`) are counted together: each scan of the table serves all of them. The
    options are those of `priori.epc`.

    Examples
    --------
    >>> import priori
    >>> low = priori.Scores.from_arrays(negatives=[0.1, 0.2, 0.6], positives=[0.4, 0.7, 0.9])
    >>> high = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.5, 0.6, 0.8])
    >>> [(curve.name, curve.value.round(3).tolist()) for curve in priori.epc_all({"A": (low, low), "B": (high, high)},
    ...                                                                         alpha=[0.5])]
    [('A', [0.167]), ('B', [0.0])]
    """
    return make_curves(
        sets,
        task=task,
        criterion=criterion,
        measure=measure,
        points=points,
        bounds=bounds,
        alpha=alpha,
        costs=costs,
        prior=prior,
        exact=exact,
        preset=preset,
        weight=weight,
    )
