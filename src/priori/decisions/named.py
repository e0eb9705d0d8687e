"""Tasks, criteria and measures in files: a name tells ours; one of the caller's own is marked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from priori.base.declarations import TEXT, Kept
from priori.base.errors import PrioriError
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measure import Measure
from priori.decisions.measures import get_measure
from priori.decisions.tasks import Task, get_task

Own = Literal["task", "criterion", "measure"]


def custom(
    task: Task | None = None, criterion: Criterion | None = None, measure: Measure | None = None
) -> tuple[Own, ...]:
    """Return which of these are the caller's own, so that names do not tell what they are."""
    things: dict[Own, Any] = {"task": task, "criterion": criterion, "measure": measure}
    return tuple(kind for kind, thing in things.items() if thing is not None and not _is_ours(kind, thing, task))


def _is_ours(kind: Own, thing: Any, task: Task | None) -> bool:
    try:
        return bool(_named(kind, thing.name, task or "authentication") == thing)
    except PrioriError:
        return False


def _named(kind: str, thing: Any, task: str | Task) -> Any:
    if kind == "criterion":
        return get_criterion(thing, task)
    return get_task(thing) if kind == "task" else get_measure(thing)


def _name(thing: Any) -> str:
    return str(thing.name)


#: A task, a criterion and a measure of a result, which its file holds by name.
NamedTask = Annotated[Task, Kept(TEXT, _name)]
NamedCriterion = Annotated[Criterion, Kept(TEXT, _name)]
NamedMeasure = Annotated[Measure, Kept(TEXT, _name)]
#: Which of them are the caller's own.
Custom = tuple[Own, ...]
