"""The scores behind a result that was read from a file: their source and sizes, where the file has them, no trials."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from priori.base.saved import Saved
from priori.scores.in_memory import Scores
from priori.scores.trials import Trials


class SavedScores(Scores):
    """A set of scores that was not saved; whatever needs a trial of it raises `MissingScoresError`."""

    @classmethod
    def of(cls, saved: Saved, sizes: dict[str, Any] | None = None) -> Self:
        """Return what a file knows of a set: any of its source, its negatives, its positives and its users."""
        known = dict(sizes or {})
        trials = {
            name: saved.part(Trials, **({"number": np.array([known[size]])} if size in known else {}))
            for name, size in (("negative", "negatives"), ("positive", "positives"))
        }
        more = {"source": known["source"]} if "source" in known else {}
        if "users" in known:
            more["n_users"] = known["users"] or 0
        return saved.part(cls, **trials, **more, backend=None)

    def __repr__(self) -> str:
        return "SavedScores(no trials: the result was read from a file)"
