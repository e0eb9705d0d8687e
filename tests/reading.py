"""What the tests of reading share: looking at scores in the order of the file, and a table of four trials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from priori import Scores

Write = Callable[..., Path]

SIMPLE = ([0.25, -1.5], [0.5, 2.0])

CSV = "score,label,user,probe_user,trial,dataset\n0.25,0,007,8,t1,a\n0.5,1,7,7,t2,b\n-1.5,0,8,007,t3,b\n2,1,8,8,t4,b\n"


def names(scores: Scores, column: str = "user") -> list[str]:
    """Return a column of names, negatives first."""
    listed = scores.users if column != "dataset" else scores.datasets
    assert listed is not None
    return [
        str(listed.values[code]) for trials in (scores.negative, scores.positive) for code in getattr(trials, column)
    ]


def trials(scores: Scores) -> list[str] | None:
    """Return the trial ids, negatives first."""
    if scores.negative.trial is None or scores.positive.trial is None:
        return None
    return [*scores.negative.trial.tolist(), *scores.positive.trial.tolist()]


def both(scores: Scores) -> tuple[list[float], list[float]]:
    """Return the scores in the order of the file, negatives first."""
    return scores.negative.score.tolist(), scores.positive.score.tolist()
