"""Overlaps: trials that a set holds more than once, and trials and users that two sets share."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Codes, Floats, Index
from priori.scores.ids import comparable, exact_keys, joined, repetitions
from priori.scores.in_memory import Scores

#: Fewer equal scores than this, or a smaller share of the smaller set, say nothing about shared trials.
FEWEST, SHARE = 10, 0.05
#: How many times as often scores must be equal between the sets as within them.
TIMES = 5
#: So many scores of a large set show whether it is worth looking at all of them.
SAMPLE = 1 << 14
#: How many trials pairs of sets share, as long as both are there.
_SHARED: WeakKeyDictionary[Scores, WeakKeyDictionary[Scores, int]] = WeakKeyDictionary()


def has_ids(scores: Scores) -> bool:
    """Tell whether every trial has an id."""
    return scores.negative.has_ids and scores.positive.has_ids


def ids_of(scores: Scores) -> NDArray[Any]:
    """Return the ids of all trials, the negatives first."""
    negative, positive = scores.negative.ids, scores.positive.ids
    assert negative is not None
    assert positive is not None
    return joined(negative, positive)


def repeated_ids(scores: Scores) -> int:
    """Return how many trials have the id of another of their class before them; 0 where ids are not known."""
    if not has_ids(scores):
        return 0
    ids, classes = ids_of(scores), np.repeat(np.arange(2, dtype=np.int32), [scores.n_negatives, scores.n_positives])
    (keys,) = exact_keys(comparable(ids, ids[:0])[0], within=(classes,))
    return repetitions(keys)


def times_repeated(scores: Scores) -> int:
    """Return the number of times of which every score occurs a multiple, class by class: 4 for a file pasted 4 times.

    Examples
    --------
    >>> negatives, positives = [0.1, 0.2, 0.3], [0.4, 0.5]
    >>> times_repeated(Scores.from_arrays(negatives * 4, positives * 4))
    4
    """
    rows = [trials.row for trials in (scores.negative, scores.positive) if trials.row is not None]
    if any((np.diff(each) <= 0).any() and np.unique(each).size < each.size for each in rows):  # most ascend
        return 1  # rows count as often as their weight says
    classes = scores.negatives, scores.positives
    if any(np.gcd.reduce(np.diff(_starts(ordered[:SAMPLE]))[:-1]) == 1 for ordered in classes):
        return 1  # the lowest scores say so, whatever the others do
    counts = np.concatenate([np.diff(_starts(ordered)) for ordered in classes])
    return int(np.gcd.reduce(counts)) if counts.size >= TIMES else 1


def same_scores(dev: Scores, test: Scores) -> bool:
    """Tell whether two sets hold the same scores, class by class, in whatever order."""
    classes = (dev.negatives, test.negatives), (dev.positives, test.positives)
    # Large sets nearly always differ in their lowest scores.
    return dev is test or (
        all(np.array_equal(one[:SAMPLE], other[:SAMPLE]) for one, other in classes)
        and all(np.array_equal(one, other) for one, other in classes)
    )


def shared_trials(dev: Scores, test: Scores) -> int:
    """Return how many trials of a test set are in the development set too.

    By their ids, where both sets have them and the scores are the same: ids may start again in each file, and in
    each data set, such as the folds of a cross-validation. Without ids by scores that are equal far more often between
    the sets than within them. Counted once for two sets: a page asks several times.
    """
    known = _SHARED.setdefault(dev, WeakKeyDictionary())
    if test not in known:
        known[test] = _count_shared(dev, test)
    return known[test]


def _count_shared(dev: Scores, test: Scores) -> int:
    if has_ids(dev) and has_ids(test):
        datasets: tuple[Codes, ...] = ()
        if dev.datasets is not None and test.datasets is not None:
            names = np.union1d(dev.datasets.values.astype(str), test.datasets.values.astype(str))
            datasets = _dataset_codes(dev, names), _dataset_codes(test, names)
        dev_keys, test_keys = exact_keys(*comparable(ids_of(dev), ids_of(test)), within=datasets)
        _, in_dev, in_test = np.intersect1d(dev_keys, test_keys, return_indices=True)
        same = _together(dev)[in_dev] == _together(test)[in_test]
        return int(np.count_nonzero(same & ((in_dev < dev.n_negatives) == (in_test < test.n_negatives))))
    enough = max(FEWEST, SHARE * min(len(dev), len(test)))
    classes = (dev.negatives, test.negatives), (dev.positives, test.positives)
    if sum(_found_about(second, first) for first, second in classes) < enough / 2:
        return 0
    common = within = 0
    for ordered in classes:
        first, second = (distinct[np.isfinite(distinct)] for distinct in map(_distinct, ordered))
        common += int(np.isin(second, first, assume_unique=True).sum())
        within += sum(each.size - distinct.size for each, distinct in zip(ordered, (first, second), strict=True))
    return common if common >= enough and common > TIMES * within else 0


def _found_about(scores: Floats, among: Floats) -> float:
    """Return about how many scores are among others, both in order: exactly, but for large sets."""
    sample = scores[:: max(1, scores.size // SAMPLE)]
    places = np.minimum(np.searchsorted(among, sample), among.size - 1)
    return float(np.count_nonzero(among[places] == sample)) * scores.size / sample.size


def shared_users(dev: Scores, test: Scores) -> int:
    """Return how many users of a test set are in the development set too; 0 where users are not known."""
    return len(_user_names(dev) & _user_names(test))


def _user_names(scores: Scores) -> set[str]:
    negative, positive = scores.negative.user, scores.positive.user
    if scores.users is None or negative is None or positive is None:
        return set()
    return set(scores.users.values[np.union1d(negative, positive)].astype(str).tolist())


def _together(scores: Scores) -> Floats:
    return np.concatenate([scores.negative.score, scores.positive.score])


def _dataset_codes(scores: Scores, names: NDArray[np.str_]) -> Codes:
    """Return the place of each trial's data set in a sorted list of names."""
    negative, positive = scores.negative.dataset, scores.positive.dataset
    assert scores.datasets is not None
    assert negative is not None
    assert positive is not None
    places = np.searchsorted(names, scores.datasets.values.astype(str)).astype(np.int32)
    return np.asarray(places[np.concatenate([negative, positive])])


def _starts(ordered: Floats) -> Index:
    """Return where each distinct score begins, and the end."""
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))


def _distinct(ordered: Floats) -> Floats:
    return ordered[_starts(ordered)[:-1]]
