"""Scores and labels in two files, joined on the pair (enrol, test)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError
from priori.base.types import Floats
from priori.readers.layout import BLANKS, Columns, Layout
from priori.readers.sample import Sample, load
from priori.scores.trials import Names

#: How many of the pairs at fault are named in a message.
SHOWN = 3

Keys = NDArray[np.int64]


def pairs_layout(*fields: str) -> Layout:
    """Return the layout of three columns, two of which are enrol (our user) and test."""
    return Layout(BLANKS, fields, {"user" if name == "enrol" else name: place for place, name in enumerate(fields)})


SCORES = pairs_layout("enrol", "test", "score")


def join(sample: Sample, trials_layout: Layout) -> Columns:
    """Give every row of the scores file the label its pair has in the trials file.

    The trials are the rows of the scores file, in their order. A pair that is in one file only is an error, and so
    is a pair with two labels or two different scores.
    """
    assert sample.trials is not None
    scores, trials = load(sample.source, SCORES), load(sample.trials.source, trials_layout)
    assert scores.score is not None
    users, (user, trials_user) = _one_list(scores, trials, "user")
    tests, (test, trials_test) = _one_list(scores, trials, "test")
    width = np.int64(len(tests))
    key, trials_key = user * width + test, trials_user * width + trials_test

    def complain(where: str, keys: Keys, fault: str) -> None:
        if keys.size:
            shown = [f"{users.values[pair // width]} {tests.values[pair % width]}" for pair in keys[:SHOWN]]
            more = ", ..." if keys.size > SHOWN else ""
            raise InputError(f"{where}: {keys.size} pairs (enrol test) {fault}: {', '.join(shown)}{more}")

    scores_name, trials_name = sample.source.name, sample.trials.source.name
    distinct, first, again = np.unique(trials_key, return_index=True, return_inverse=True)
    label = trials.codes["label"]
    complain(trials_name, trials_key[label != label[first][again]], "have more than one label")
    complain(scores_name, _scored_twice(key, scores.score), "have more than one score")
    place = np.minimum(np.searchsorted(distinct, key), max(distinct.size - 1, 0))
    unknown = distinct[place] != key if distinct.size else np.ones(key.size, dtype=bool)
    complain(scores_name, key[unknown], f"are not in {trials_name}")
    unscored = np.ones(distinct.size, dtype=bool)
    unscored[place] = False
    complain(trials_name, trials_key[np.sort(first[unscored])], f"have no score in {scores_name}")
    trial = None
    if key.size == distinct.size:  # every pair once: the pair is an id
        trial = np.strings.add(np.strings.add(users.values[user], " "), tests.values[test])
    return Columns(
        scores.score,
        {"user": user.astype(np.int32), "label": label[first][place]},
        {"user": users, "label": trials.names["label"]},
        trial,
        scores.layout,
    )


def _one_list(first: Columns, second: Columns, group: str) -> tuple[Names, list[Keys]]:
    """Return one list of names for both tables, and the codes of each in it."""
    names, places = Names.encode(first.names[group].values, second.names[group].values)
    assert names is not None
    codes = []
    for table, place in zip((first, second), places, strict=True):
        assert place is not None
        codes.append(place.astype(np.int64)[table.codes[group]])
    return names, codes


def _scored_twice(key: Keys, score: Floats) -> Keys:
    """Return the pairs that come with two different scores."""
    order = np.argsort(key, kind="stable")
    key, score = key[order], score[order]
    same = (score[1:] == score[:-1]) | (np.isnan(score[1:]) & np.isnan(score[:-1]))
    return np.asarray(key[1:][(key[1:] == key[:-1]) & ~same])
