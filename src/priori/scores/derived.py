"""Sets made from others: pooled, restricted to some users, or with users or attacks that weigh as asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import InputError, OptionError, argument
from priori.scores.in_memory import Scores
from priori.scores.score_set import BOUND, Role, ScoreSet, condense
from priori.scores.trials import Trials, kind_of


def pool(parts: Sequence[Scores]) -> Scores:
    """Merge the trials of several sets into one, as if every trial came from the same set."""
    negative = _joined([part.negative for part in parts])
    return Scores(negative, _joined([part.positive for part in parts]), source="pooled")


def _joined(parts: Sequence[Trials]) -> Trials:
    """Return the scores of several sets of trials, and how many trials each stands for where some are several."""
    number = None
    if any(trials.number is not None for trials in parts):
        each = (np.ones(trials.score.size, np.int64) if trials.number is None else trials.number for trials in parts)
        number = np.concatenate(list(each))
    return Trials(np.concatenate([trials.score for trials in parts]), number=number)


def weigh_users(scores: ScoreSet) -> Scores:
    """Give all users of a class the same weight, however many trials they have; together they weigh as many as now.

    Examples
    --------
    >>> from priori.scores import Scores
    >>> scores = Scores.from_arrays([0.1, 0.2, 0.7], [0.9], negative_user=["a", "a", "b"], positive_user=["a"])
    >>> weigh_users(scores).negative.number.tolist()
    [0.75, 0.75, 1.5]
    """
    if not scores.has_users:
        raise InputError(f"{scores.source}: the users of the trials are not known; to weigh them, read a user column")
    known, _ = condense(scores, ("user",), narrow=BOUND)
    classes = []
    for trials in (known.negative, known.positive):
        assert trials.user is not None
        per_user = np.bincount(trials.user, trials.number)
        share = len(trials) / np.count_nonzero(per_user)
        own = 1.0 if trials.number is None else trials.number
        classes.append(replace(trials, number=np.asarray(own * share / per_user[trials.user])))
    return replace(known, negative=classes[0], positive=classes[1])


#: What tells trials apart where attacks have a share of their own.
BY_ATTACK: tuple[Role, ...] = ("user", "probe_user", "attack")


def weigh_attacks(scores: ScoreSet, omega: Fraction) -> Scores:
    """Give attacks the share ``omega`` among the negatives, whatever their number; see `priori.scores.attacks`.

    Examples
    --------
    >>> from priori.scores import Scores
    >>> scores = Scores.from_arrays([0.1, 0.2, 0.6], [0.9], attacks=[0.7])
    >>> weigh_attacks(scores, Fraction(1, 4)).rejected([0.3, 0.65])[0].tolist()  # of 4
    [2, 3]
    >>> weigh_attacks(scores, Fraction(1))
    Scores(1 negatives, 1 positives, 1 of the negatives attacks)
    """
    known, _ = condense(scores, BY_ATTACK, narrow=BOUND)
    impostors = known.n_negatives - known.n_attacks
    if not (known.n_attacks and impostors):
        missing = "no attack" if not known.n_attacks else "no zero-effort impostor"
        raise InputError(
            f"{known.source}: {missing} among the negatives, and a curve over omega needs both; say which they are "
            f"({argument('attack_label', 'VALUE')}, {argument('columns', 'attack=COLUMN')})"
        )
    if omega in (0, 1):
        assert known.negative.attack is not None
        kept = np.flatnonzero((known.negative.attack > 0) == bool(omega))
        return replace(known, negative=known.negative.take(kept), omega=None)
    mixed = replace(known, omega=omega)
    if mixed.whole_negatives * known.n_positives >= 2**100 or mixed.whole_negatives >= 2**62:
        raise OptionError(f"omega {float(omega):.17g} has too many digits for so many trials; write it with fewer")
    return mixed


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
    chosen, names = np.asarray(users), scores.users.values
    if kind_of(chosen) != kind_of(names):
        chosen, names = chosen.astype(str), names.astype(str)
    unheard = np.setdiff1d(chosen, names)
    if unheard.size:
        raise InputError(f"{scores.source}: no user is called {unheard[0]!r}")
    keep = np.isin(names, chosen)
    negative, positive = (t.take(np.flatnonzero(keep[t.user])) for t in (scores.negative, scores.positive))
    for name, trials in (("negative", negative), ("positive", positive)):
        if not len(trials):
            raise InputError(f"{scores.source}: these {chosen.size} users have no {name} trial; choose more users")
    return replace(scores, negative=negative, positive=positive)
