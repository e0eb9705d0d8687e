"""What would settle it: how many users or trials would tell the best system from the runner-up."""

from __future__ import annotations

from typing import Any

from priori.base.errors import PrioriError
from priori.curves.epc import epc
from priori.report.tables import TextTable
from priori.studies.evaluation import Study
from priori.studies.evaluation.study import ranks_of
from priori.studies.planning import Plan, plan
from priori.words.numbers import gap, percent, short

#: The powers that are planned for.
POWERS = (0.8, 0.9)


def settling(study: Study) -> dict[str, Any] | None:
    """Return the plan of a study that finds the difference seen between the best two, where this one did not."""
    order = sorted(range(len(study.members)), key=ranks_of(study.curves, study.at).__getitem__)
    pair = next((pair for pair in study.pairs if {pair.a, pair.b} == set(order[:2])), None)
    if pair is None or pair.significant is None or pair.significant[study.at] or study.settings.unpaired:
        return None
    difference = float((pair.difference if pair.expected is None else pair.expected)[study.at])
    try:
        plans = [_plan(study, (pair.a, pair.b), difference, power) for power in POWERS]
    except PrioriError:  # a measure, or scores, that no plan is made for
        return None
    a, b = (short(study.members[system].name) for system in (pair.a, pair.b))
    return {
        "names": (a, b),
        "difference": gap(difference, study.settings.shown),
        "table": _table(study, plans),
        # The page draws users where it knows them.
        "warnings": [line for line in plans[0].warnings if getattr(line, "code", "") != "users-matter"],
    }


def _plan(study: Study, systems: tuple[int, int], difference: float, power: float) -> Plan:
    settings = study.settings
    pilots = [
        epc(curve.dev, curve.test, task=curve.task, criterion=curve.criterion, measure=curve.measure,
            alpha=[settings.alpha], name=curve.name)
        for curve in (study.curves[system] for system in systems)
    ]  # fmt: skip
    return plan(difference=difference, power=power, pilot=pilots[0], pilot_b=pilots[1], claim=settings.claim,
                measure=settings.shown, confidence_level=settings.confidence_level)  # fmt: skip


def _table(study: Study, plans: list[Plan]) -> TextTable:
    test = study.curves[0].test
    have = ("This study", "–" if not test.n_users else f"{test.n_users:,}", f"{test.n_negatives:,}",
            f"{test.n_positives:,}")  # fmt: skip
    rows = [
        (f"Finds it {percent(planned.power or 0)} of the time", "–" if not planned.users else f"{planned.users:,}",
         f"{planned.negatives:,}", f"{planned.positives:,}")
        for planned in plans
    ]  # fmt: skip
    header = ("Study", "Users", "Negatives", "Positives")
    return TextTable("settling", "How many it takes", header, (have, *rows))
