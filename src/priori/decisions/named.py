"""Tasks, criteria and measures in files: a name tells ours; one of the caller's own is marked, and handed in again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from priori.base.declarations import TEXT, Kept
from priori.base.errors import InputError, PrioriError
from priori.base.saved import Saved
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


def _saved_criterion(saved: Saved) -> Criterion:
    criterion: Criterion = _saved(saved, "criterion", _saved(saved, "task"))
    return criterion


def _saved_measure(saved: Saved) -> Measure:
    """Return the measure of a saved result; one handed in must be shown as the saved one was."""
    measure: Measure = _saved(saved, "measure")
    looks = {"measure_title": measure.title, "rate": measure.rate, "greater_is_better": measure.greater_is_better}
    for name, value in looks.items():
        if saved.summary.get(name, value) != value:
            held = saved.summary[name]
            raise InputError(f"{saved.where}: the measure saved has {name} {held!r}, the one given {value!r}")
    return measure


def _saved(saved: Saved, kind: str, task: str | Task = "authentication") -> Any:
    name = saved.summary[kind]
    if kind in saved.supplied:
        thing = _named(kind, saved.supplied[kind], task)
        if thing.name != name:
            raise InputError(f"{saved.where}: the {kind} saved is {name!r}, the one given {thing.name!r}")
        return thing
    try:
        if kind not in saved.summary["custom"]:
            return _named(kind, name, task)
    except PrioriError:
        pass
    raise InputError(
        f"{saved.where}: the {kind} {name!r} is not one of Priori's, and a {kind} of one's own is not saved; "
        f"give it again: from_json(..., {kind}=...)"
    )


def _name(thing: Any) -> str:
    return str(thing.name)


#: A task, a criterion and a measure of a result, which its file holds by name.
NamedTask = Annotated[Task, Kept(TEXT, _name, lambda _, saved: _saved(saved, "task"))]
NamedCriterion = Annotated[Criterion, Kept(TEXT, _name, lambda _, saved: _saved_criterion(saved))]
NamedMeasure = Annotated[Measure, Kept(TEXT, _name, lambda _, saved: _saved_measure(saved))]
#: Which of them are the caller's own.
Custom = tuple[Own, ...]
