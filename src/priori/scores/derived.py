"""Sets made from others: pooled, restricted, weighed, or split into parts in which users keep their trials together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import InputError, OptionError, argument
from priori.base.limits import whole_number
from priori.base.types import Ints, Mask
from priori.scores.in_memory import Scores
from priori.scores.score_set import BOUND, BY_ATTACK, ScoreSet, condense
from priori.scores.trials import Trials, as_times, kind_of


def pool(parts: Sequence[Scores]) -> Scores:
    """Merge the trials of several sets into one, as if every trial came from the same set."""
    negative = _joined([part.negative for part in parts])
    return Scores(negative, _joined([part.positive for part in parts]), source="pooled", distances=parts[0].distances)


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


def weigh_attacks(scores: ScoreSet, omega: Fraction) -> Scores:
    """Give attacks the share ``omega`` among the negatives, whatever their number; see `priori.scores.trials.Mixture`.

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
    shares = {"no attack": (omega, known.n_attacks), "no zero-effort impostor": (1 - omega, impostors)}
    for missing in (kind for kind, (share, number) in shares.items() if share and not number):
        raise InputError(
            f"{known.source}: {missing} among the negatives, which is possible with omega {0 if impostors else 1} "
            f"only; say which they are ({argument('attack_label', 'VALUE')}, {argument('columns', 'attack=COLUMN')})"
        )
    if omega in (0, 1):
        if known.negative.attack is None:
            return known
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
    >>> from priori.scores import Scores
    >>> from priori.scores.derived import restrict
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


#: Said where the trials of one user may fall on both sides.
MIXED = argument("together", "False")


def split_at_random(
    scores: Scores, fraction: float = 0.5, *, rng: int | np.random.Generator = 0, together: bool = True
) -> tuple[Scores, Scores]:
    """Return a development and a test part: ``fraction`` of the users, or of the trials of each class, and the rest.

    Users are drawn within those that have both classes and those that have one, so that the parts are alike.

    Examples
    --------
    >>> scores = Scores.from_predictions([0, 1] * 4, range(8), user=[*"aabbccdd"])
    >>> split_at_random(scores)
    (Scores(2 negatives, 2 positives, 2 users), Scores(2 negatives, 2 positives, 2 users))
    """
    if not 0 < fraction < 1:
        raise OptionError(f"the share of the development part must lie between 0 and 1, not {fraction}")
    of_trials, kinds = _dealt(scores, rng, together)
    in_dev = np.zeros(sum(map(len, kinds)), dtype=np.bool_)
    for drawn in kinds:
        in_dev[drawn[: max(1, round(fraction * drawn.size))]] = True
    return _two_parts(scores, [in_dev[codes] for codes in of_trials])


def split_by_time(scores: Scores, before: str | datetime, *, together: bool = True) -> tuple[Scores, Scores]:
    """Return the trials before a time, for development, and those from then on, for the test.

    Later trials of users who have earlier ones are left out, unless ``together`` is false.
    """
    limit = as_times([before], "the time to split at")[0]
    times = scores.negative.time, scores.positive.time
    if times[0] is None or times[1] is None:
        raise InputError(
            f"{scores.source}: the times of the trials are not known; name their column "
            f"({argument('columns', 'time=NAME')})"
        )
    early = [np.asarray(column < limit) for column in times if column is not None]
    late = [~part for part in early]
    if together and scores.has_users:
        users = [trials.user for trials in (scores.negative, scores.positive)]
        seen = np.concatenate([codes[part] for codes, part in zip(users, early, strict=True) if codes is not None])
        late = [part & ~np.isin(codes, seen) for codes, part in zip(users, late, strict=True) if codes is not None]
        if not all(part.any() for part in late):
            raise InputError(
                f"{scores.source}: no user is new from {before} on, in both classes; split at random, or let users be "
                f"on both sides ({MIXED})"
            )
    return _two_parts(scores, early, late)


def split_by_users(scores: Scores, users: ArrayLike) -> tuple[Scores, Scores]:
    """Return the trials of these users, given by name, for development, and those of all others, for the test."""
    if scores.users is None or not scores.has_users:
        raise InputError(f"{scores.source}: the users of the trials are not known; read a user column")
    names = scores.users.values.astype(str)
    others = np.setdiff1d(names, np.asarray(users).astype(str))
    if not others.size:
        raise InputError(f"{scores.source}: these are all the users; leave some for the test")
    dev = restrict(scores, np.asarray(users).astype(str))
    return _named(dev, "development part"), _named(restrict(scores, others), "test part")


def fold_of_trials(
    scores: Scores, folds: int, *, rng: int | np.random.Generator = 0, together: bool = True
) -> tuple[Ints, Ints]:
    """Return the fold, 0, 1, ..., of each negative and of each positive trial.

    Examples
    --------
    >>> scores = Scores.from_predictions([0, 1] * 4, range(8), user=[*"aabbccdd"])
    >>> fold_of_trials(scores, 2)
    (array([1, 0, 0, 1]), array([1, 0, 0, 1]))
    """
    of_trials, kinds = _dealt(scores, rng, together)
    order, unit = np.concatenate(kinds), "user" if together and scores.has_users else "trial"
    whole_number(folds, "folds", 2, max(2, order.size), f"; there are {order.size} {unit}s to take apart")
    fold = np.empty(order.size, dtype=np.int64)
    fold[order] = np.arange(order.size) % folds
    negative, positive = (fold[codes] for codes in of_trials)
    for name, own in (("negative", negative), ("positive", positive)):
        lacking = np.flatnonzero(np.bincount(own, minlength=folds) == 0)
        if lacking.size:
            raise OptionError(
                f"{argument('folds')} {folds}: fold {lacking[0] + 1} has no {name} trial ({unit}s stay whole); choose "
                "fewer folds"
            )
    return negative, positive


def part_of(scores: Scores, negative: Mask, positive: Mask, name: str) -> Scores:
    """Return some of the trials, by a mask of each class, as a set of its own; each class needs one."""
    for kind, mask in (("negative", negative), ("positive", positive)):
        if not mask.any():
            raise InputError(f"{scores.source}: the {name} has no {kind} trial; split it in another way")
    classes = scores.negative.take(np.flatnonzero(negative)), scores.positive.take(np.flatnonzero(positive))
    return _named(replace(scores, negative=classes[0], positive=classes[1]), name)


# -- units ---------------------------------------------------------------------------------------------------


def _dealt(scores: Scores, rng: int | np.random.Generator, together: bool) -> tuple[list[Ints], list[Ints]]:
    """Return the unit of each negative and positive trial, and the units in random order, kind by kind.

    A unit stays whole: a user, or a single trial. Its kind is whether it has negatives, positives or both.
    """
    users = [trials.user for trials in (scores.negative, scores.positive) if together and trials.user is not None]
    sizes = scores.negative.score.size, scores.positive.score.size
    codes = np.unique(np.concatenate(users), return_inverse=True)[1] if users else np.arange(sum(sizes))
    of_trials = np.split(codes, sizes[:1])
    has = [np.bincount(own, minlength=codes.max() + 1) > 0 for own in of_trials]
    kind = has[0] + 2 * has[1]
    drawn = np.random.default_rng(rng).permutation(kind.size)
    return of_trials, [drawn[kind[drawn] == own] for own in np.unique(kind)]


def _two_parts(scores: Scores, dev: Sequence[Mask], test: Sequence[Mask] | None = None) -> tuple[Scores, Scores]:
    rest = [~mask for mask in dev] if test is None else test
    return part_of(scores, dev[0], dev[1], "development part"), part_of(scores, rest[0], rest[1], "test part")


def _named(scores: Scores, name: str) -> Scores:
    return replace(scores, source=f"{scores.source} ({name})")
