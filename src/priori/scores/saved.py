"""The scores behind a result that was read from a file: their source and sizes, where the file has them, no trials."""

from __future__ import annotations

from typing import Annotated, Any, Self

from priori.base.declarations import INTEGER, SIZE, TEXT, Kept, maybe, record
from priori.base.saved import NotSaved
from priori.scores.score_set import ScoreSet


class SavedScores(ScoreSet):
    """A set of scores that was not saved; whatever needs a trial of it raises `MissingScoresError`."""

    source: Any = NotSaved()
    backend = None
    format: Any = NotSaved()
    n_negatives: Any = NotSaved()
    n_positives: Any = NotSaved()
    nan_rejected: Any = NotSaved()
    has_users: Any = NotSaved()
    users: Any = NotSaved()
    n_users: Any = NotSaved()
    has_identities: Any = NotSaved()
    leaves_out_probes: Any = NotSaved()
    expect: Any = NotSaved()
    rejected: Any = NotSaved()
    count: Any = NotSaved()
    narrow_cuts: Any = NotSaved()
    candidates: Any = NotSaved()
    pairs_in_order: Any = NotSaved()
    load: Any = NotSaved()
    fits: Any = NotSaved()
    nobody: Any = NotSaved()
    refuse_attackers: Any = NotSaved()
    check_same_trials: Any = NotSaved()
    # What scores in memory have besides: people who saved a curve may look for it here.
    negative: Any = NotSaved()
    positive: Any = NotSaved()
    negatives: Any = NotSaved()
    positives: Any = NotSaved()
    datasets: Any = NotSaved()
    groups: Any = NotSaved()
    attacks: Any = NotSaved()
    attack_types: Any = NotSaved()
    n_attacks: Any = NotSaved()
    n_attack_types: Any = NotSaved()
    omega: Any = NotSaved()
    counted: Any = NotSaved()
    mixture: Any = NotSaved()
    negative_weights: Any = NotSaved()
    whole_negatives: Any = NotSaved()
    unmixed: Any = NotSaved()

    @classmethod
    def of(cls, sizes: dict[str, Any] | None = None) -> Self:
        """Return what a file knows of a set: any of its source and its numbers."""
        known = {name if name == "source" else f"n_{name}": value for name, value in (sizes or {}).items()}
        if "n_users" in known:
            known["n_users"] = known["n_users"] or 0
        scores = cls()
        vars(scores).update(known)
        return scores

    def __repr__(self) -> str:
        return "SavedScores(no trials: the result was read from a file)"


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
