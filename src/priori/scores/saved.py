"""What a result's file says of the sets behind it: their source and sizes, no trials."""

from __future__ import annotations

from typing import Annotated, Any

from priori.base.declarations import INTEGER, SIZE, TEXT, Kept, maybe, record
from priori.scores.score_set import ScoreSet


def _sizes(scores: ScoreSet) -> dict[str, Any]:
    sizes = {"negatives": scores.n_negatives, "positives": scores.n_positives, "users": scores.n_users or None}
    return {"source": scores.source, **sizes}


#: A set of scores of which a file says where it came from and how large it is.
SizedSet = Annotated[
    ScoreSet, Kept(record({"source": TEXT, "negatives": SIZE, "positives": SIZE, "users": maybe(INTEGER)}), _sizes)
]
