"""The scores behind a result that was read from a file: their source and sizes, where the file has them, no trials."""

from __future__ import annotations

from typing import Annotated, Any, Self

from priori.base.declarations import INTEGER, SIZE, TEXT, Kept, maybe, record
from priori.base.saved import NotSaved
from priori.scores.score_set import ScoreSet


class SavedScores:
    """A set of scores that was not saved: it has what a file knows of it, all else is `NotSaved`."""

    backend = None
    scanned = distances = False

    @classmethod
    def of(cls, sizes: dict[str, Any] | None = None) -> Self:
        """Return what a file knows of a set: any of its source and its numbers."""
        known = {name if name == "source" else f"n_{name}": value for name, value in (sizes or {}).items()}
        if "n_users" in known:
            known["n_users"] = known["n_users"] or 0
        scores = cls()
        vars(scores).update(known)
        return scores

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks of any object
            raise AttributeError(name)
        return NotSaved(name)

    def __len__(self) -> int:
        return int(self.n_negatives) + int(self.n_positives)

    def __repr__(self) -> str:
        return "SavedScores(no trials: the result was read from a file)"


ScoreSet.register(SavedScores)


def _sizes(scores: ScoreSet) -> dict[str, Any]:
    sizes = {"negatives": scores.n_negatives, "positives": scores.n_positives, "users": scores.n_users or None}
    return {"source": scores.source, **sizes}


#: A set of scores of which a file says where it came from and how large it is.
SizedSet = Annotated[
    ScoreSet,
    Kept(
        record({"source": TEXT, "negatives": SIZE, "positives": SIZE, "users": maybe(INTEGER)}),
        _sizes,
        lambda sizes, _: SavedScores.of(sizes),
    ),
]
