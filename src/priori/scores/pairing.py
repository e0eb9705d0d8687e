"""Pairing: which trial of one set is which trial of another, what two sets share, and where two systems disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.errors import InputError, argument
from priori.base.types import Codes, Counts, Floats, Index
from priori.scores import Scores, ScoreSet, Trials
from priori.scores.ids import comparable, decoded, exact_keys, id_keys, joined, match, repetitions
from priori.scores.score_set import Role

Ids = NDArray[Any]
HINT = f"if the test sets hold different trials, use compare with {argument('unpaired', 'True')}"


@dataclass(frozen=True, eq=False)
class Pairing:
    """The same trials in two sets of scores: where, in the second, each negative and each positive of the first stands.

    The places are positions in ``Trials.score``. ``by`` says what the trials were matched by.
    """

    negative: Index
    positive: Index
    by: Literal["trial", "row"]


def pair(a: ScoreSet, b: ScoreSet) -> Pairing:
    """Find, for every trial of one system, the same trial of another.

    By trial id where both systems have them (compared as text), and by label too where an id names one trial of each
    class; by row where neither has, and the labels agree
    row for row. Anything else is an error that names the trials without a partner, and so are trials of which the two
    systems name different users. Systems that were read as columns of one table have the same trials in one order.
    Tables are loaded.

    Examples
    --------
    >>> from priori import Scores
    >>> a = Scores.from_predictions([0, 1, 1], [0.1, 0.7, 0.9], trial=["x", "y", "z"])
    >>> b = Scores.from_predictions([1, 0, 1], [0.6, 0.2, 0.8], trial=["z", "x", "y"])
    >>> pair(a, b).positive.tolist()
    [1, 0]
    """
    a, b = a.load(), b.load()
    if _same_rows(a, b):
        by: Literal["trial", "row"] = "trial" if has_ids(a) else "row"
        return Pairing(np.arange(a.negative.score.size), np.arange(a.positive.score.size), by)
    names = f"the first system ({a.source})", f"the second system ({b.source})"
    with_ids = [has_ids(scores) for scores in (a, b)]
    if all(with_ids):
        return _same_users(_by_trial(a, b, names), a, b, names)
    if any(with_ids):
        has, lacks = names if with_ids[0] else names[::-1]
        raise InputError(f"cannot pair the trials: {has} has trial ids and {lacks} has none; give both ids, or {HINT}")
    return _same_users(_by_row(a, b, names), a, b, names)


def _same_rows(a: Scores, b: Scores) -> bool:
    """Tell whether two sets are the same rows of one table (`Scores.scored_by`)."""
    classes = (a.negative, b.negative), (a.positive, b.positive)
    return all(one.row is not None and one.row is other.row for one, other in classes)


def in_one_order(sets: Sequence[ScoreSet]) -> list[ScoreSet]:
    """Return sets in memory with their trials in one order; identities are those of whichever system has them.

    Tables are counted together where they are, and entries stand for users with all their trials: these stay as they
    are.
    """
    if any(scores.scanned or scores.load().negative.number is not None for scores in sets):
        return list(sets)
    first, *others = (scores.load() for scores in sets)
    if all(_same_rows(first, other) for other in others):
        return [first, *others]
    ordered = [first]
    for other in others:
        pairing = pair(first, other)
        negative, positive = other.negative.in_order(pairing.negative), other.positive.in_order(pairing.positive)
        same = negative is other.negative and positive is other.positive  # with what is known of it
        ordered.append(other if same else replace(other, negative=negative, positive=positive))
    known = max(ordered, key=lambda scores: (scores.has_identities, scores.has_users))
    for number, scores in enumerate(ordered):
        if (known.has_identities, known.has_users) > (scores.has_identities, scores.has_users):
            negative, positive = (
                replace(trials, user=named.user, probe_user=named.probe_user)
                for trials, named in ((scores.negative, known.negative), (scores.positive, known.positive))
            )
            ordered[number] = replace(scores, users=known.users, negative=negative, positive=positive)
    return list(ordered)


def paired(a: ScoreSet, b: ScoreSet, cuts: Sequence[ArrayLike], by: Sequence[Role] = ()) -> tuple[Scores, Scores]:
    """Return the trials of two systems in one order, or, where they do not fit, counts of both between their cuts."""
    if not (a.fits and b.fits):
        a, b = a.count(cuts, by, [b])
    else:
        a, b = in_one_order([a.load(), b.load()])
    return a.load(), b.load()


# -- by id ---------------------------------------------------------------------------------------------------


def _by_trial(a: Scores, b: Scores, names: tuple[str, str]) -> Pairing:
    ids_a, ids_b = comparable(ids_of(a), ids_of(b))
    partner = match(id_keys(ids_a), id_keys(ids_b))
    if partner is None or not (ids_a == ids_b[partner]).all():
        # Unmatched ids, repeated ids, or two texts with one key: the ids themselves show which.
        ids_a, ids_b = _by_label(decoded(ids_a), decoded(ids_b), a.n_negatives, b.n_negatives)
        sorted_a, sorted_b = np.sort(ids_a), np.sort(ids_b)
        for name, ids in zip(names, (sorted_a, sorted_b), strict=True):
            _refuse_duplicates(ids, name)
        partner = match(ids_a, ids_b)
        if partner is None:
            _refuse_unmatched(sorted_a, sorted_b, names, "trial")
    negative, positive = partner[: a.n_negatives], partner[a.n_negatives :]
    differing = np.concatenate([negative >= b.n_negatives, positive < b.n_negatives])
    if differing.any():
        _refuse_labels(decoded(ids_a[differing]), names, "trial")
    return Pairing(negative, positive - b.n_negatives, by="trial")


def _by_label(ids_a: Ids, ids_b: Ids, n_negatives_a: int, n_negatives_b: int) -> tuple[Ids, Ids]:
    """Return ids with the class before them, where an id names one trial of each class: a prompt with two texts."""
    classes = [*np.split(ids_a, [n_negatives_a]), *np.split(ids_b, [n_negatives_b])]
    once = not any(repetitions(ids) for ids in classes)
    if not once or not (repetitions(ids_a) or repetitions(ids_b)):
        return ids_a, ids_b
    named = [
        [f"{name} {each}" for each in ids] for name, ids in zip(2 * ("negative", "positive"), classes, strict=True)
    ]
    return np.array(named[0] + named[1]), np.array(named[2] + named[3])


def _refuse_duplicates(ordered: NDArray[Any], name: str) -> None:
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if repeated.size:
        first = ordered[repeated[0]]
        raise InputError(
            f"cannot pair the trials: {name} has {np.unique(ordered[repeated]).size} trial ids more than once, "
            f"{str(first)!r} for one; an id must name one trial"
        )


# -- by row --------------------------------------------------------------------------------------------------


def _by_row(a: Scores, b: Scores, names: tuple[str, str]) -> Pairing:
    rows = [[_rows(scores.negative), _rows(scores.positive)] for scores in (a, b)]
    (negative_a, positive_a), (negative_b, positive_b) = rows
    negative, positive = _same_rows_of(negative_a, negative_b), _same_rows_of(positive_a, positive_b)
    if negative is None or positive is None:
        # Scores made from one array per class number each class from 0: there the classes share row numbers,
        # so a row without a partner in its class says nothing about labels.
        one_table = not any(np.intersect1d(negative, positive).size for negative, positive in rows)
        if one_table:
            all_a, all_b = np.union1d(negative_a, positive_a), np.union1d(negative_b, positive_b)
            if not np.array_equal(all_a, all_b):
                _refuse_unmatched(all_a + 1, all_b + 1, names, "row")
            _refuse_labels(np.setxor1d(negative_a, negative_b) + 1, names, "row")
        raise InputError(
            f"cannot pair the trials: without trial ids they are paired row by row, but {names[0]} has "
            f"{a.n_negatives} negatives and {a.n_positives} positives, {names[1]} {b.n_negatives} and "
            f"{b.n_positives}, in other rows; give trial ids, or {HINT}"
        )
    return Pairing(negative, positive, by="row")


def _same_rows_of(a: NDArray[np.int64], b: NDArray[np.int64]) -> Index | None:
    return np.arange(a.size) if np.array_equal(a, b) else match(a, b, unique=False)


def _rows(trials: Trials) -> NDArray[np.int64]:
    return np.arange(len(trials), dtype=np.int64) if trials.row is None else trials.row


# -- refusing ------------------------------------------------------------------------------------------------


def _refuse_unmatched(a: NDArray[Any], b: NDArray[Any], names: tuple[str, str], unit: str) -> NoReturn:
    lost = []
    for name, keys, other in ((names[0], a, b), (names[1], b, a)):
        alone = np.setdiff1d(keys, other, assume_unique=True)
        if alone.size:
            lost.append(f"{alone.size} of {keys.size} {unit}s of {name} ({_first(alone)})")
    ids = "" if unit == "trial" else "give trial ids, or "
    raise InputError(f"cannot pair the trials: no partner for {' and '.join(lost)}; {ids}{HINT}")


def _refuse_labels(differing: NDArray[Any], names: tuple[str, str], unit: str) -> NoReturn:
    raise InputError(
        f"cannot pair the trials: the labels of {differing.size} {unit}s differ between {names[0]} and {names[1]} "
        f"({_first(differing)}); check that both were scored on the same list, or {HINT}"
    )


def _same_users(pairing: Pairing, a: Scores, b: Scores, names: tuple[str, str]) -> Pairing:
    """Return the pairing; an error where both systems name the user, or the real one, and one pair has different ones.

    Rows in another order within each class have the same labels: only the users show it.
    """
    for column, noun in (("user", "users"), ("probe_user", "probe users")):
        differing: list[Any] = []
        for trials_a, trials_b, places in (
            (a.negative, b.negative, pairing.negative),
            (a.positive, b.positive, pairing.positive),
        ):
            codes_a, codes_b = getattr(trials_a, column), getattr(trials_b, column)
            if codes_a is None or codes_b is None or a.users is None or b.users is None:
                continue
            texts = np.concatenate([names.values.astype(str) for names in (a.users, b.users)])
            one, other = np.split(np.unique(texts, return_inverse=True)[1], [len(a.users)])
            apart = np.flatnonzero(one[codes_a] != other[codes_b[places]])
            if apart.size:
                labels = _rows(trials_a) + 1 if pairing.by == "row" or trials_a.ids is None else trials_a.ids
                differing.extend(decoded(labels[apart]).tolist())
        if differing:
            unit = f"{pairing.by}s"
            ids = "give trial ids, or " if pairing.by == "row" else "check the user columns, or "
            raise InputError(
                f"cannot pair the trials: the {noun} of {len(differing)} {unit} differ between {names[0]} and "
                f"{names[1]} ({_first(np.array(differing, dtype=object))}); {ids}{HINT}"
            )
    return pairing


def _first(values: NDArray[Any], most: int = 3) -> str:
    return ", ".join(map(str, values[:most])) + (", ..." if values.size > most else "")


# -- counting ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Disagreements:
    """Trials that exactly one of two systems gets wrong, one entry per pair of thresholds (thesis, Eq. 3.33).

    ``negatives_ab`` are the negatives correctly rejected by A and wrongly accepted by B (NN_AB), ``positives_ab``
    the positives correctly accepted by A and wrongly rejected by B; ``..._ba`` the other way round.
    """

    negatives_ab: Counts
    negatives_ba: Counts
    positives_ab: Counts
    positives_ba: Counts


def disagreements(a: ScoreSet, b: ScoreSet, threshold_a: ArrayLike, threshold_b: ArrayLike) -> Disagreements:
    """Count the trials that one system decides rightly and the other wrongly, at pairs of thresholds.

    Trials are paired as `pair` does; those of tables that do not fit in memory are paired and counted where they are.

    Examples
    --------
    >>> from priori import Scores
    >>> a = Scores.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9])
    >>> b = Scores.from_predictions([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.3])
    >>> counts = disagreements(a, b, 0.5, 0.5)
    >>> int(counts.negatives_ba), int(counts.positives_ab)
    (1, 1)
    """
    thresholds_a, thresholds_b = np.broadcast_arrays(
        np.asarray(threshold_a, dtype=np.float64), np.asarray(threshold_b, dtype=np.float64)
    )
    only: list[tuple[Counts, Counts]] = []
    sets = paired(a, b, [np.unique(thresholds_a), np.unique(thresholds_b)])
    for first, second in zip(*((each.negative, each.positive) for each in sets), strict=True):
        score_a, score_b, number = first.score, second.score, first.number
        by_a, by_b = (np.empty(thresholds_a.shape, dtype=np.int64) for _ in range(2))
        for index in np.ndindex(thresholds_a.shape):
            accepted_a, accepted_b = score_a > thresholds_a[index], score_b > thresholds_b[index]
            by_a[index], by_b[index] = (
                np.count_nonzero(alone) if number is None else number[alone].sum()
                for alone in (accepted_a & ~accepted_b, accepted_b & ~accepted_a)
            )
        only.append((by_a, by_b))
    (negatives_a, negatives_b), (positives_a, positives_b) = only
    # A negative that only B accepts is an error of B alone; a positive that only A accepts is too.
    return Disagreements(
        negatives_ab=negatives_b, negatives_ba=negatives_a, positives_ab=positives_a, positives_ba=positives_b
    )


# -- what sets share -----------------------------------------------------------------------------------------


def has_ids(scores: Scores) -> bool:
    """Tell whether every trial has an id."""
    return scores.negative.has_ids and scores.positive.has_ids


def ids_of(scores: Scores) -> Ids:
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
    return repetitions(*exact_keys(ids, within=(classes,)))


def same_scores(dev: Scores, test: Scores) -> bool:
    """Tell whether two sets hold the same scores, class by class, in whatever order."""
    classes = (dev.negatives, test.negatives), (dev.positives, test.positives)
    return dev is test or all(np.array_equal(one, other) for one, other in classes)


def shared_trials(dev: Scores, test: Scores) -> int:
    """Return how many trials of a test set are in the development set too, by their ids; 0 where one has none.

    The scores must be the same: ids may start again in each file, and in each data set, such as the folds of a
    cross-validation.
    """
    if not (has_ids(dev) and has_ids(test)):
        return 0
    datasets: tuple[Codes, ...] = ()
    if dev.datasets is not None and test.datasets is not None:
        names = np.union1d(dev.datasets.values.astype(str), test.datasets.values.astype(str))
        datasets = _dataset_codes(dev, names), _dataset_codes(test, names)
    dev_keys, test_keys = exact_keys(ids_of(dev), ids_of(test), within=datasets)
    _, in_dev, in_test = np.intersect1d(dev_keys, test_keys, return_indices=True)
    same = _together(dev)[in_dev] == _together(test)[in_test]
    return int(np.count_nonzero(same & ((in_dev < dev.n_negatives) == (in_test < test.n_negatives))))


def shared_users(dev: Scores, test: Scores) -> int:
    """Return how many users of a test set are in the development set too; 0 where users are not known."""
    return len(_user_names(dev) & _user_names(test))


def _user_names(scores: Scores) -> set[str]:
    return set() if scores.users is None else set(scores.users.values[scores.users_in_use].astype(str).tolist())


def _together(scores: Scores) -> Floats:
    return np.concatenate([scores.negative.score, scores.positive.score])


def _dataset_codes(scores: Scores, names: NDArray[np.str_]) -> Codes:
    """Return the number of each trial's data set in a sorted list of names."""
    negative, positive = scores.negative.dataset, scores.positive.dataset
    assert scores.datasets is not None
    assert negative is not None
    assert positive is not None
    codes = np.searchsorted(names, scores.datasets.values.astype(str)).astype(np.int32)
    return np.asarray(codes[np.concatenate([negative, positive])])
