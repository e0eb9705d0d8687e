"""Tasks, criteria and measures in files: a name tells ours; one of the caller's own is marked, and handed in again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from priori.base.errors import InputError, PrioriError
from priori.base.layouts import Schema, choice
from priori.base.saved import Saved
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.measures import Measure, Task, get_measure, get_task

__all__ = ["CUSTOM", "custom", "saved_criterion", "saved_measure", "saved_task"]

#: How a summary names what is the caller's own.
CUSTOM: Schema = {"type": "array", "items": choice("task", "criterion", "measure"), "minItems": 1, "uniqueItems": True}


class Named(Protocol):
    """A task, a criterion or a measure."""

    @property
    def name(self) -> str: ...


Thing = TypeVar("Thing", bound=Named)


def custom(
    task: Task | None = None, criterion: Criterion | None = None, measure: Measure | None = None
) -> dict[str, Any]:
    """Return what a summary says about things of the caller's own: nothing, where names tell what all of them are.

    Examples
    --------
    >>> custom(measure=get_measure("f2")), custom(measure=Measure.custom(lambda outcomes: outcomes.fp, name="hter"))
    ({}, {'custom': ['measure']})
    """
    given: list[tuple[str, Named | None, Callable[[str], Named]]] = [
        ("task", task, get_task),
        ("criterion", criterion, lambda name: get_criterion(name, task or "authentication")),
        ("measure", measure, get_measure),
    ]
    own = [kind for kind, thing, named in given if thing is not None and not _is_named(thing, named)]
    return {"custom": own} if own else {}


def _is_named(thing: Named, named: Callable[[str], Named]) -> bool:
    try:
        return named(thing.name) == thing
    except PrioriError:
        return False


def saved_task(saved: Saved) -> Task:
    """Return the task of a saved result."""
    return _saved(saved, "task", get_task)


def saved_criterion(saved: Saved, task: Task) -> Criterion:
    """Return the criterion of a saved result."""
    return _saved(saved, "criterion", lambda criterion: get_criterion(criterion, task))


def saved_measure(saved: Saved) -> Measure:
    """Return the measure of a saved result; one handed in must be shown as the saved one was."""
    measure = _saved(saved, "measure", get_measure)
    shown = {"measure_title": measure.title, "rate": measure.rate, "greater_is_better": measure.greater_is_better}
    for name, value in shown.items():
        if saved.summary.get(name, value) != value:
            raise InputError(f"{saved.where}: the measure saved has {name} {saved[name]!r}, the one given {value!r}")
    return measure


def _saved(saved: Saved, kind: str, named: Callable[[Any], Thing]) -> Thing:
    name = saved[kind]
    if kind in saved.given:
        thing = named(saved.given[kind])
        if thing.name != name:
            raise InputError(f"{saved.where}: the {kind} saved is {name!r}, the one given {thing.name!r}")
        return thing
    try:
        if kind not in saved.summary.get("custom", ()):
            return named(name)
    except PrioriError:
        pass
    raise InputError(
        f"{saved.where}: the {kind} {name!r} is not one of Priori's, and a {kind} of one's own is not saved; "
        f"give it again: from_json(..., {kind}=...)"
    )
