"""Splitting: several sets of scores as one, and the trials of some users as a set of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import InputError
from priori.scores.in_memory import Scores
from priori.scores.trials import Trials, kind_of


def pool(parts: Sequence[Scores]) -> Scores:
    """Merge the trials of several sets into one, as if every trial came from the same set."""
    return Scores(
        Trials(np.concatenate([part.negative.score for part in parts])),
        Trials(np.concatenate([part.positive.score for part in parts])),
        source="pooled",
    )


def restrict(scores: Scores, users: ArrayLike) -> Scores:
    """Keep the trials of some users: those whose claimed identity is one of ``users``, given by name.

    Examples
    --------
    >>> from priori.scores import Scores, restrict
    >>> scores = Scores.from_predictions([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8], user=["a", "a", "b", "b"])
    >>> restrict(scores, ["b"])
    Scores(1 negatives, 1 positives, 1 users)
    """
    if scores.users is None or not scores.has_users:
        raise InputError(f"{scores.source}: the users of the trials are not known; read a user column")
    wanted = np.asarray(users)
    names = scores.users.values
    if kind_of(wanted) != kind_of(names):
        wanted, names = wanted.astype(str), names.astype(str)
    unheard = np.setdiff1d(wanted, names)
    if unheard.size:
        raise InputError(f"{scores.source}: no user is called {unheard[0]!r}")
    keep = np.isin(names, wanted)
    negative, positive = (t.take(np.flatnonzero(keep[t.user])) for t in (scores.negative, scores.positive))
    for name, trials in (("negative", negative), ("positive", positive)):
        if not len(trials):
            raise InputError(f"{scores.source}: these {wanted.size} users have no {name} trial; choose more users")
    return replace(scores, negative=negative, positive=positive)
