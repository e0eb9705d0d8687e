"""Layout: who the trials of a set belong to, and the bins that their scores lie in.

A bin lies between two cuts: fixed thresholds, neighbouring distinct scores, or narrow cuts of a set with many scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import OptionError, argument
from priori.base.types import Codes, Floats, Ints
from priori.scores import BOUND, Scores, ScoreSet
from priori.scores.histogram import distinct_of, narrow_ends
from priori.scores.influence import People
from priori.scores.sorting import bins_of

#: Who the negatives and who the positives of a set belong to: the same codes for the same people.
Owners = tuple[People, People]
#: Sets with more distinct scores are counted in narrow bins.
DISTINCT = 1 << 15


# -- who is who ----------------------------------------------------------------------------------------------


def identify(sets: Sequence[Scores], *, crossed: bool, shared: bool) -> list[Owners]:
    """Give the identities of each set their codes; with ``shared`` the same codes to the same names.

    An identity that only probes, never claims, counts only where trials are crossed.
    """
    if shared:
        sets = _in_common_codes(sets)
        people = People.of(*(trials for each in sets for trials in (each.negative, each.positive)), crossed=crossed)
    else:
        people = [own for each in sets for own in People.of(each.negative, each.positive, crossed=crossed)]
    return [
        (of_negatives, replace(own, partner=None)) for of_negatives, own in zip(people[::2], people[1::2], strict=True)
    ]


def _in_common_codes(sets: Sequence[Scores]) -> list[Scores]:
    names = [_names_of(scores) for scores in sets]
    _, codes = np.unique(np.concatenate(names), return_inverse=True)
    recoded = []
    for scores, table in zip(
        sets, np.split(codes.astype(np.int32), np.cumsum([own.size for own in names])[:-1]), strict=True
    ):
        negative, positive = (
            replace(each, user=table[each.user], probe_user=None if each.probe_user is None else table[each.probe_user])
            for each in (scores.negative, scores.positive)
        )
        recoded.append(replace(scores, negative=negative, positive=positive))
    return recoded


def same_users(dev: ScoreSet, test: ScoreSet, forced: bool | None) -> tuple[bool, list[str]]:
    """Decide whether one draw of users serves both sets: when they hold the same users by name."""
    if forced is False:
        return False, []
    known = [scores.load() for scores in (dev, test)]
    in_dev, in_test = (set(_names_of(scores)[scores.users_in_use].tolist()) for scores in known)
    common = len(in_dev & in_test)
    if forced and not common:
        raise OptionError("shared_users: no user of the development set is in the test set; leave the option out")
    if forced or in_dev == in_test:
        return True, []
    if not common:
        return False, []
    text = (
        f"{common} users are in both sets, which are resampled independently; "
        f"{argument('shared_users', 'True')} resamples them together"
    )
    return False, [Caution("users-partly-shared", text)]


def _names_of(scores: Scores) -> NDArray[np.str_]:
    assert scores.users is not None
    return np.asarray(scores.users.values, dtype=np.str_)


# -- where trials lie --------------------------------------------------------------------------------------------


class Bins(NamedTuple):
    """The bins of the trials of one system: class by class the bin of each trial, and how many bins there are.

    Attacks with the share ``omega`` = p / q of the negatives (q = 0: none) have bins of their own above all others.
    """

    negative: Codes
    positive: Codes
    number: int
    omega: Ints

    @property
    def of_negatives(self) -> int:
        """The bins that negatives may lie in, those of attacks with a share included."""
        return self.number * (1 + int(self.omega[1] > 0))


def bins_between(scores: Scores, cuts: Floats) -> Bins:
    """Return the bins that trials have between ascending cuts; a score at a cut lies below it."""
    negative, positive = (bins_of(cuts, trials.score).astype(np.int32) for trials in (scores.negative, scores.positive))
    negative = negative + (attacks_of(scores) * (cuts.size + 1)).astype(np.int32)
    return Bins(negative, positive, cuts.size + 1, share_of(scores))


def share_of(scores: Scores) -> Ints:
    """Return the share of attacks among the negatives as two whole numbers, (0, 0) where they have none."""
    omega = scores.omega
    pair = (0, 0) if omega is None else omega.limit_denominator(10**6).as_integer_ratio()
    return np.array(pair, dtype=np.int64)


def attacks_of(scores: Scores) -> NDArray[np.bool_]:
    """Return which negatives are attacks with a share of their own."""
    attack = scores.negative.attack
    return (
        np.zeros(scores.negative.score.size, dtype=np.bool_) if scores.omega is None or attack is None else attack > 0
    )


def distinct_scores(*scores: Scores) -> Floats:
    """Return the distinct scores of sets, ascending."""
    return np.unique(np.concatenate([trials.score for each in scores for trials in (each.negative, each.positive)]))


def many_scores(scores: Scores) -> bool:
    """Return whether a set has more distinct scores than are kept apart; a part of the scores often suffices."""
    score = np.concatenate([scores.negative.score, scores.positive.score])
    return score.size > DISTINCT and any(
        np.unique(score[::step]).size > DISTINCT for step in (max(score.size // (2 * DISTINCT), 1), 1)
    )


def narrow_cuts(scores: Scores) -> Floats | None:
    """Return cuts between which lie at most `BOUND` of either class, or one trial; None where scores are few.

    Scores that more of a class share are bins of their own.
    """
    if not many_scores(scores):
        return None
    known = distinct_of(scores)
    return known.value[narrow_ends(known, BOUND)]


def bins_caution(*sets: ScoreSet) -> list[Caution]:
    """Warn that a set in memory is resampled in narrow bins."""
    if not any(many_scores(scores.load()) for scores in sets if not scores.scanned):
        return []
    bound = f"no rate is off by more than {BOUND:.0e}, or one trial"
    return [Caution("resampled-in-bins", f"more than {DISTINCT} distinct scores, resampled in narrow bins: {bound}")]


def bin_ends(scores: Scores, cuts: Floats | None) -> Floats:
    """Return where bins end: at the distinct scores, or at the cuts given and beyond them."""
    if cuts is None:
        return distinct_scores(scores)
    above = any((trials.score > cuts[-1]).any() for trials in (scores.negative, scores.positive))
    return np.append(cuts, np.inf) if above else cuts
