"""How attributes that are not plain numbers or texts come back from a saved summary and table, class by class.

A class needs a function here only where its figures, or its properties, use such attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import MissingScoresError, PrioriError
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measures import TASKS, Measure, Task, get_measure
from priori.decisions.outcomes import Outcomes

Summary = Mapping[str, Any]
Table = Mapping[str, NDArray[Any]]


class Part(SimpleNamespace):
    """The part of a curve or of scores that figures use, and that was saved."""

    def __getattr__(self, name: str) -> NoReturn:
        raise MissingScoresError(f"{name!r} was not saved; compute the result again from the scores")


class PartOfSets(Part):
    """The names of data sets, without their scores."""

    def __len__(self) -> int:
        return len(self.names)


def nothing(summary: Summary, table: Table) -> dict[str, Any]:
    """Restore nothing beyond plain attributes."""
    return {}


def _task(summary: Summary) -> Task:
    return TASKS.get(summary.get("task", ""), TASKS["authentication"])


def _measure(summary: Summary) -> Measure:
    """Return the measure by its name; one of the user's own has everything but its function."""
    name = summary["measure"]
    try:
        return get_measure(name)
    except PrioriError:
        return Measure(
            name,
            summary.get("measure_title", name),
            _no_function,
            bool(summary.get("greater_is_better", False)),
            bool(summary.get("rate", False)),
        )


def _no_function(outcomes: Outcomes, alpha: Any) -> Any:
    raise PrioriError("the function of a measure or criterion of one's own is not saved; compute the result again")


def _criterion(summary: Summary) -> Criterion:
    task = _task(summary)
    try:
        return get_criterion(summary["criterion"], task)
    except PrioriError:
        return Criterion(summary["criterion"], task.v1, task.v2)


def _bounds(summary: Summary) -> tuple[Fraction, Fraction]:
    low, high = (Fraction(str(bound)) for bound in summary["bounds"])
    return low, high


def _outcomes(counts: Mapping[str, Any]) -> Outcomes:
    return Outcomes(**{name: np.asarray(counts[name], dtype=np.int64) for name in ("tp", "fp", "tn", "fn")})


def restore_EPC(summary: Summary, table: Table) -> dict[str, Any]:
    return {
        "task": _task(summary),
        "criterion": _criterion(summary),
        "measure": _measure(summary),
        "outcomes": _outcomes(summary["outcomes"]),
        "dev_outcomes": _outcomes(summary["dev_outcomes"]),
        "bounds": _bounds(summary),
    }


def restore_Areas(summary: Summary, table: Table) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for prefix, column in (("", "a_priori"), ("post_", "a_posteriori")):
        found |= {f"{prefix}{name}": float(value) for name, value in zip(table["area"], table[column], strict=True)}
    return found


def restore_Band(summary: Summary, table: Table) -> dict[str, Any]:
    curve = Part(
        name=summary["name"],
        alpha=table["alpha"],
        value=table["value"],
        best=np.full_like(table["value"], np.nan),
        exact=summary["exact"],
        bounds=_bounds(summary),
        task=_task(summary),
        criterion=_criterion(summary),
        measure=_measure(summary),
    )
    return {"curve": curve}


def restore_AposterioriROC(summary: Summary, table: Table) -> dict[str, Any]:
    return _rates(summary, table["fpr"], 1 - table["tpr"])


def restore_AposterioriDET(summary: Summary, table: Table) -> dict[str, Any]:
    return {**_rates(summary, table["fpr"], table["fnr"]), "probit": (table["probit_fpr"], table["probit_fnr"])}


def _rates(summary: Summary, fpr: NDArray[Any], fnr: NDArray[Any]) -> dict[str, Any]:
    """Return counts and sizes: rates times numbers of trials are whole numbers, but for rounding."""
    negatives, positives = summary["negatives"], summary["positives"]
    fp, fn = np.rint(fpr * negatives), np.rint(fnr * positives)
    return {
        "outcomes": Outcomes.from_errors(fp, fn, negatives=negatives, positives=positives),
        "scores": Part(n_negatives=negatives, n_positives=positives),
    }


def restore_AverageCurve(summary: Summary, table: Table) -> dict[str, Any]:
    from priori.curves.averaging.intervals import IntervalPlan
    from priori.curves.averaging.methods import get_method
    from priori.curves.averaging.result import Estimate

    def estimate(number: Mapping[str, Any]) -> Estimate:
        value, lower, upper = (np.nan if number[name] is None else number[name] for name in ("value", "lower", "upper"))
        return Estimate(value, lower, upper, tuple(number["each"]))

    return {
        "method": get_method(summary["method"]),
        "datasets": PartOfSets(names=tuple(summary["datasets"]), skipped=tuple(summary["skipped"])),
        "plan": IntervalPlan(summary["interval"], summary["confidence_level"], 0, summary["within"], 0),
        "auc": estimate(summary["auc"]),
        "eer": estimate(summary["eer"]),
    }


def restore_AverageEPC(summary: Summary, table: Table) -> dict[str, Any]:
    return {
        "task": _task(summary),
        "criterion": _criterion(summary),
        "measure": _measure(summary),
        "names": tuple(summary["datasets"]),
        "each": np.array(list(summary["datasets"].values()), dtype=np.float64),
    }


def restore_Comparison(summary: Summary, table: Table) -> dict[str, Any]:
    from priori.uncertainty.comparison import Region, Verdict

    area = {name: np.array(summary["area"][name]) for name in ("difference", "lower", "upper", "p_value")}
    return {
        "area": Verdict(**area, confidence_level=summary["confidence_level"]),
        "regions": tuple(Region(**region) for region in summary["regions"]),
    }


def restore_Ranking(summary: Summary, table: Table) -> dict[str, Any]:
    pairs = list(dict.fromkeys(zip(table["system_a"].tolist(), table["system_b"].tolist(), strict=True)))
    size = len(table["alpha"]) // len(pairs)
    return {
        "names": tuple(dict.fromkeys(name for pair in pairs for name in pair)),
        "alpha": table["alpha"][:size],
        "p_value": table["p_adjusted"].reshape(len(pairs), size),
    }


def restore_Coverage(summary: Summary, table: Table) -> dict[str, Any]:
    from priori.studies.coverage import Conjecture

    told = summary["conjecture"]
    first, second, third = told["widths"] if told else (0.0, 0.0, 0.0)
    return {
        "bootstrap": tuple(table["bootstrap"].tolist()),
        "draws": np.column_stack([table["U"], table["S"]]),
        "conjecture": Conjecture((first, second, third), told["share"]) if told else None,
    }


def restore_ZTestCurve(summary: Summary, table: Table) -> dict[str, Any]:
    tests = {
        name.removeprefix("confidence_"): Part(confidence=column)
        for name, column in table.items()
        if name.startswith("confidence_")
    }
    return {
        "measure": _measure(summary),
        "comparison": Part(tests=tests),
        "a": Part(name=summary["name_a"]),
        "b": Part(name=summary["name_b"]),
    }
