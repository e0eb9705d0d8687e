"""Columns without a header: label and score, bob's four and five columns, and the pairs of Kaldi and VoxCeleb.

In bob's, a trial is positive when the claimed identity is the real one. Kaldi has scores ``enrol test score`` and
trials ``enrol test target|nontarget``; VoxCeleb has ``1|0 enrol test``, with the score in a fourth column or in a file
of its own. Two files are joined on the pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, OptionError, about_trials_file, argument
from priori.base.types import Floats
from priori.readers.formats import Sample
from priori.readers.layout import BLANKS, Columns, LineLayout
from priori.readers.text import is_number
from priori.scores.labels import KNOWN_PAIRS, normal
from priori.scores.trials import Names

LABEL_SCORE = LineLayout(BLANKS, ("label", "score"), {"label": 0, "score": 1})
BOB_FOUR = LineLayout(
    BLANKS, ("claimed", "real", "probe", "score"), {"user": 0, "probe_user": 1, "score": 3}, (0, 2), trial_is_built=True
)
BOB_FIVE = LineLayout(
    BLANKS,
    ("claimed", "model", "real", "probe", "score"),
    {"user": 0, "probe_user": 2, "score": 4},
    (0, 1, 3),
    trial_is_built=True,
)


def matches_label_score(sample: Sample) -> bool:
    """Two fields, the second a number."""
    return sample.ends_with_number(2) and not looks_swapped(sample)


def looks_swapped(sample: Sample) -> bool:
    """Tell whether the score seems to come first: numbers in front of what looks like labels."""
    first, second = sample.column(0), sample.column(1)
    if not all(map(is_number, first)) or sample.pos_label is not None:
        return False
    return (_like_labels(second) or (len(second) == 2 and not any(map(is_number, second)))) and not _like_labels(first)


def _like_labels(values: set[str]) -> bool:
    return any({normal(value) for value in values} <= set(pair) for pair in KNOWN_PAIRS)


def matches_bob_four(sample: Sample) -> bool:
    """Four fields, the last a number; VoxCeleb's four columns have been ruled out before."""
    if not sample.ends_with_number(4):
        return False
    claimed = sample.column(0)
    if claimed <= {"0", "1"} and sample.first_two_differ():
        raise InputError(
            f"{sample.source.name}: could be bob's four columns or VoxCeleb's, as every line begins with "
            f"{claimed.pop()}; say which with {argument('format', 'bob4')} or voxceleb"
        )
    return True


def matches_bob_five(sample: Sample) -> bool:
    """Five fields, the last a number."""
    return sample.ends_with_number(5)


#: How many of the pairs at fault are named in a message.
SHOWN = 3

Keys = NDArray[np.int64]


def _pairs_layout(*fields: str) -> LineLayout:
    """Return the layout of three columns, two of which are enrol (our user) and test."""
    return LineLayout(BLANKS, fields, {"user" if name == "enrol" else name: index for index, name in enumerate(fields)})


SCORES = _pairs_layout("enrol", "test", "score")
KALDI_TRIALS = _pairs_layout("enrol", "test", "label")
VOXCELEB_TRIALS = _pairs_layout("label", "enrol", "test")
VOXCELEB_SCORED = LineLayout(
    BLANKS, ("label", "enrol", "test", "score"), {"label": 0, "user": 1, "score": 3}, trial=(1, 2), trial_is_built=True
)


def matches_kaldi(sample: Sample) -> bool:
    """Any pair of files; VoxCeleb's trials have been ruled out before."""
    return sample.trials is not None


def read_kaldi(sample: Sample) -> Columns:
    """Read the scores, each with the label its pair has in the trials file."""
    if sample.trials is None:
        raise OptionError(f"{sample.source.name}: Kaldi scores need their trials file ({argument('trials', 'FILE')})")
    return _joined(sample, sample.trials, KALDI_TRIALS)


def is_voxceleb_trials(sample: Sample) -> bool:
    """Tell whether a trials file has its labels in front."""
    if sample.width != 3 or not sample.column(0) <= {"0", "1"}:
        return False
    known = {label for pair in KNOWN_PAIRS for label in pair}
    return not {normal(value) for value in sample.column(2)} <= known


def matches_voxceleb(sample: Sample) -> bool:
    """Four fields, 1 or 0 in front and a number last, where no line reads as a bob line; or a trials file."""
    if sample.trials is not None:
        return is_voxceleb_trials(sample.trials)
    return sample.ends_with_number(4) and sample.column(0) == {"0", "1"} and sample.first_two_differ()


def read_voxceleb(sample: Sample) -> Columns:
    """Read ``1|0 enrol test score``, or ``enrol test score`` with the labels from the trials file."""
    if sample.trials is None:
        return sample.load(VOXCELEB_SCORED)
    return _joined(sample, sample.trials, VOXCELEB_TRIALS)


def _joined(sample: Sample, trials_sample: Sample, trials_layout: LineLayout) -> Columns:
    """Give every row of the scores file the label its pair has in the trials file.

    The trials are the rows of the scores file, in their order. A pair that is in one file only is an error, and so
    is a pair with two labels or two different scores.
    """
    scores = sample.load(SCORES)
    with about_trials_file():
        trials = trials_sample.load(trials_layout)
    users, (user, trials_user) = _one_list(scores, trials, "user")
    tests, (test, trials_test) = _one_list(scores, trials, "test")
    width = np.int64(len(tests))
    key, trials_key = user * width + test, trials_user * width + trials_test

    def complain(where: str, keys: Keys, fault: str) -> None:
        if keys.size:
            named = [f"{users.values[pair // width]} {tests.values[pair % width]}" for pair in keys[:SHOWN]]
            more = ", ..." if keys.size > SHOWN else ""
            raise InputError(f"{where}: {keys.size} pairs (enrol test) {fault}: {', '.join(named)}{more}")

    scores_name, trials_name = sample.source.name, trials_sample.source.name
    distinct, first, again = np.unique(trials_key, return_index=True, return_inverse=True)
    label = trials.codes["label"]
    with about_trials_file():
        complain(trials_name, trials_key[label != label[first][again]], "have more than one label")
    complain(scores_name, _scored_twice(key, scores.score), "have more than one score")
    position = np.minimum(np.searchsorted(distinct, key), max(distinct.size - 1, 0))
    unknown = distinct[position] != key if distinct.size else np.ones(key.size, dtype=bool)
    complain(scores_name, key[unknown], f"are not in {trials_name}")
    unscored = np.ones(distinct.size, dtype=bool)
    unscored[position] = False
    with about_trials_file():
        complain(trials_name, trials_key[np.sort(first[unscored])], f"have no score in {scores_name}")
    trial = None
    if key.size == distinct.size:  # every pair once: the pair is an id
        trial = np.strings.add(np.strings.add(users.values[user], " "), tests.values[test])
    return Columns(
        scores.scores,
        {"user": user.astype(np.int32), "label": label[first][position]},
        {"user": users, "label": trials.names["label"]},
        trial,
        scores.layout,
    )


def _one_list(first: Columns, second: Columns, group: str) -> tuple[Names, list[Keys]]:
    """Return one list of names for both tables, and the codes of each in it."""
    lists = [table.names[group].values for table in (first, second)]
    values, positions = np.unique(np.concatenate(lists), return_inverse=True)
    codes = np.split(positions.astype(np.int64), [lists[0].size])
    return Names(values), [code[table.codes[group]] for code, table in zip(codes, (first, second), strict=True)]


def _scored_twice(key: Keys, score: Floats) -> Keys:
    """Return the pairs that come with two different scores."""
    order = np.argsort(key, kind="stable")
    key, score = key[order], score[order]
    same = (score[1:] == score[:-1]) | (np.isnan(score[1:]) & np.isnan(score[:-1]))
    return np.asarray(key[1:][(key[1:] == key[:-1]) & ~same])
