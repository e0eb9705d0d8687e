"""Splitting one set of scores into parts: at random, by time, by users; the trials of a user stay together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import InputError, OptionError, argument
from priori.base.limits import whole_number
from priori.base.types import Ints, Mask
from priori.scores.in_memory import Scores
from priori.scores.trials import as_times

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
    units, order = _dealt(scores, rng, together)
    in_dev = np.zeros(order.size, dtype=np.bool_)
    for kind in np.unique(units.kind):
        drawn = order[units.kind[order] == kind]
        in_dev[drawn[: max(1, round(fraction * drawn.size))]] = True
    return _two_parts(scores, [in_dev[codes] for codes in units.codes])


def split_by_time(scores: Scores, before: str | datetime, *, together: bool = True) -> tuple[Scores, Scores]:
    """Return the trials before a time, for development, and those from then on, for the test.

    Of users with trials before it the later ones are left out, unless users need not stay ``together``.
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
    from priori.scores.derived import restrict

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
    units, order = _dealt(scores, rng, together)
    unit = "user" if units.by_user else "trial"
    whole_number(folds, "folds", 2, max(2, order.size), f"; there are {order.size} {unit}s to take apart")
    fold = np.empty(order.size, dtype=np.int64)
    fold[order] = np.arange(order.size) % folds
    negative, positive = (fold[codes] for codes in units.codes)
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


class _Units:
    """What stays whole: users, or single trials; the unit of each trial, class by class, and the kind of each unit."""

    def __init__(self, scores: Scores, together: bool) -> None:
        users = [trials.user for trials in (scores.negative, scores.positive) if trials.user is not None]
        self.by_user = together and len(users) == 2
        sizes = scores.negative.score.size, scores.positive.score.size
        if self.by_user:
            everyone, codes = np.unique(np.concatenate(users), return_inverse=True)
            self.codes, count = np.split(codes, [sizes[0]]), everyone.size
        else:
            self.codes, count = np.split(np.arange(sum(sizes)), [sizes[0]]), sum(sizes)
        has = [np.bincount(own, minlength=count) > 0 for own in self.codes]
        self.kind = has[0] + 2 * has[1]


def _dealt(scores: Scores, rng: int | np.random.Generator, together: bool) -> tuple[_Units, Ints]:
    """Return the units, and a random order of them in which those of one kind follow each other."""
    units = _Units(scores, together)
    drawn = np.random.default_rng(rng).permutation(units.kind.size)
    return units, drawn[np.argsort(units.kind[drawn], kind="stable")]


def _two_parts(scores: Scores, dev: Sequence[Mask], test: Sequence[Mask] | None = None) -> tuple[Scores, Scores]:
    rest = [~mask for mask in dev] if test is None else test
    return part_of(scores, dev[0], dev[1], "development part"), part_of(scores, rest[0], rest[1], "test part")


def _named(scores: Scores, name: str) -> Scores:
    return replace(scores, source=f"{scores.source} ({name})")
