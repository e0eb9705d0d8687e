"""Tasks in words: what people call the two classes of a domain, and its two errors."""

from __future__ import annotations

from dataclasses import dataclass

from priori.decisions.tasks import Task


@dataclass(frozen=True)
class TaskWords:
    """How a domain speaks: its classes, what an error does to one of each, and what to avoid at either end of alpha."""

    positives: str
    negatives: str
    missed: str
    let_in: str
    missing: str
    letting_in: str

    def error(self, kind: str) -> tuple[str, str]:
        """Return what trials of a kind (positives, negatives, attacks) are called, and what their error is."""
        known = {"positives": (self.positives, self.missed), "negatives": (self.negatives, self.let_in)}
        return known.get(kind, (kind, self.let_in))


WORDS: dict[str, TaskWords] = {
    "authentication": TaskWords(
        "genuine users", "impostors", "are turned away", "get in", "turning genuine users away", "letting impostors in"
    ),
    "detection": TaskWords(
        "positives", "negatives", "are missed", "raise a false alarm", "missing positives", "false alarms"
    ),
    "retrieval": TaskWords(
        "wanted items",
        "unwanted items",
        "are missed",
        "are returned",
        "missing wanted items",
        "returning unwanted items",
    ),
    "diagnosis": TaskWords(
        "ill people", "healthy people", "are missed", "get a false alarm", "missing ill people", "false alarms"
    ),
}


def task_words(task: Task) -> TaskWords:
    """Return the words of a task; of one that has none, plain ones."""
    plain = TaskWords(
        "positives", "negatives", "are rejected", "are accepted", "rejecting positives", "accepting negatives"
    )
    return WORDS.get(task.name, plain)
