"""Tasks: a domain's pair V1, V2 and its aggregate V."""

from __future__ import annotations

from dataclasses import dataclass

from priori.base.errors import unknown
from priori.decisions.measure import Measure, Ratio
from priori.decisions.measures import (
    ALIASES,
    BALANCED_ACCURACY,
    FAR,
    FRR,
    HTER,
    MEASURES,
    PRECISION,
    RECALL,
    SENSITIVITY,
    SPECIFICITY,
    TNR,
    TPR,
    f_beta,
)


@dataclass(frozen=True)
class Task:
    """A domain: its antagonist pair V1, V2, its aggregate V, and the criterion used when none is named."""

    name: str
    v1: Ratio
    v2: Ratio
    aggregate: Measure
    criterion: str = "wer"


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("authentication", FAR, FRR, HTER),
        Task("detection", FAR, FRR, HTER),
        Task("fraud", FAR, FRR, HTER),
        Task("texts", FAR, FRR, HTER),
        Task("retrieval", PRECISION, RECALL, f_beta(), "pr"),
        Task("spam", PRECISION, RECALL, f_beta(), "pr"),
        Task("diagnosis", SENSITIVITY, SPECIFICITY, BALANCED_ACCURACY),
    )
}


def get_task(task: str | Task) -> Task:
    """Return a task from its name, or as it is."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise unknown("task", task, TASKS)
    return TASKS[task]


#: The rate that is paired with each, where a task does not say.
_PARTNERS = {
    "far": FRR,
    "frr": FAR,
    "tpr": TNR,
    "tnr": TPR,
    "sensitivity": SPECIFICITY,
    "specificity": SENSITIVITY,
    "precision": RECALL,
    "recall": PRECISION,
}


def rate_pair(rate: str, task: Task) -> tuple[str, Ratio, Ratio, int]:
    """Return what a rate is called, the pair that it belongs to, and which of the two it is.

    The rate is the task's ``v1`` or ``v2``, or has a name that people type.
    """
    if rate in ("v1", "v2"):
        return rate, task.v1, task.v2, int(rate[-1])
    name = ALIASES.get(rate, rate)
    for which, of_task in enumerate((task.v1, task.v2), start=1):
        if of_task.name == name:
            return name, task.v1, task.v2, which
    named = MEASURES.get(name)
    if name not in _PARTNERS or not isinstance(named, Ratio):
        raise unknown("rate", rate, ["v1", "v2", *_PARTNERS])
    return name, named, _PARTNERS[name], 1
