"""Tasks, criteria and measures in files: a name tells ours; one of the caller's own is marked, and handed in again."""

from __future__ import annotations

from typing import Any

from priori.base.errors import InputError, PrioriError
from priori.base.layouts import Schema, choice
from priori.base.saved import Saved
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measure import Measure
from priori.decisions.measures import get_measure
from priori.decisions.tasks import Task, get_task

#: How a summary names what is the caller's own.
CUSTOM: Schema = {"type": "array", "items": choice("task", "criterion", "measure"), "minItems": 1, "uniqueItems": True}


def custom(
    task: Task | None = None, criterion: Criterion | None = None, measure: Measure | None = None
) -> dict[str, Any]:
    """Return what a summary says about things of the caller's own: nothing, where names tell what all of them are.

    Examples
    --------
    >>> custom(measure=get_measure("f2")), custom(measure=Measure.custom(lambda outcomes: outcomes.fp, name="hter"))
    ({}, {'custom': ['measure']})
    """
    customs = []
    for kind, thing in {"task": task, "criterion": criterion, "measure": measure}.items():
        if thing is not None:
            try:
                named = _named(kind, thing.name, task or "authentication")
            except PrioriError:
                named = None
            customs += [] if named == thing else [kind]
    return {"custom": customs} if customs else {}


def _named(kind: str, thing: Any, task: str | Task) -> Any:
    if kind == "criterion":
        return get_criterion(thing, task)
    return get_task(thing) if kind == "task" else get_measure(thing)


def saved_things(saved: Saved) -> dict[str, Any]:
    """Return the task, the criterion and the measure of a saved result, by these names."""
    task: Task = _saved(saved, "task")
    return {"task": task, "criterion": _saved(saved, "criterion", task), "measure": saved_measure(saved)}


def saved_measure(saved: Saved) -> Measure:
    """Return the measure of a saved result; one handed in must be shown as the saved one was."""
    measure: Measure = _saved(saved, "measure")
    looks = {"measure_title": measure.title, "rate": measure.rate, "greater_is_better": measure.greater_is_better}
    for name, value in looks.items():
        if saved.summary.get(name, value) != value:
            raise InputError(f"{saved.where}: the measure saved has {name} {saved[name]!r}, the one given {value!r}")
    return measure


def _saved(saved: Saved, kind: str, task: str | Task = "authentication") -> Any:
    name = saved[kind]
    if kind in saved.supplied:
        thing = _named(kind, saved.supplied[kind], task)
        if thing.name != name:
            raise InputError(f"{saved.where}: the {kind} saved is {name!r}, the one given {thing.name!r}")
        return thing
    try:
        if kind not in saved.summary.get("custom", ()):
            return _named(kind, name, task)
    except PrioriError:
        pass
    raise InputError(
        f"{saved.where}: the {kind} {name!r} is not one of Priori's, and a {kind} of one's own is not saved; "
        f"give it again: from_json(..., {kind}=...)"
    )
