"""Scores in one file and their labels in another, joined by id: Kaldi, VoxCeleb, ASVspoof 5, any two such tables.

Kaldi has scores ``enrol test score`` and trials ``enrol test target|nontarget``; VoxCeleb has ``1|0 enrol test``, with
the score in a fourth column or in a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, OptionError, about_trials_file, argument
from priori.base.types import Floats, Index
from priori.readers.formats import Sample
from priori.readers.layout import BLANKS, Columns, LineLayout
from priori.scores.ids import decoded, exact_keys
from priori.scores.labels import KNOWN_PAIRS, normal

#: How many faulty ids a message names.
SHOWN = 3


def _joined(sample: Sample, layout: LineLayout, key_sample: Sample, key_layout: LineLayout) -> Columns:
    """Give every row of the scores what the other file has for its id, above all the label.

    An id that is in one file only is an error, and so is one with two labels or two scores.
    """
    scores = sample.load(layout)
    with about_trials_file():
        key = key_sample.load(key_layout)
    assert scores.trial is not None
    assert key.trial is not None
    own, keyed = exact_keys(scores.trial, key.trial)
    distinct, first, again = np.unique(keyed, return_index=True, return_inverse=True)
    with about_trials_file():
        for column, held in key.codes.items():
            _complain(key_sample, key.trial[held != held[first][again]], f"have more than one {column}")
    _complain(sample, scores.trial[_scored_twice(own, scores.score)], "have more than one score")
    _complain(sample, scores.trial[~np.isin(own, distinct)], f"are not in {key_sample.source.name}")
    with about_trials_file():
        unscored = np.sort(first[~np.isin(distinct, own)])
        _complain(key_sample, key.trial[unscored], f"have no score in {sample.source.name}")
    rows = first[np.searchsorted(distinct, own)]
    codes = {**scores.codes, **{column: held[rows] for column, held in key.codes.items()}}
    trial = scores.trial if own.size == distinct.size else None  # a value that repeats is no id
    return replace(scores, codes=codes, names={**scores.names, **key.names}, trial=trial)


def _scored_twice(keys: NDArray[Any], score: Floats) -> Index:
    """Return the rows whose id came before with another score."""
    order = np.argsort(keys, kind="stable")
    keys, score = keys[order], score[order]
    same = (score[1:] == score[:-1]) | (np.isnan(score[1:]) & np.isnan(score[:-1]))
    return np.asarray(order[1:][(keys[1:] == keys[:-1]) & ~same])


def _complain(sample: Sample, ids: NDArray[Any], fault: str) -> None:
    if ids.size:
        named = ", ".join(map(str, decoded(ids[:SHOWN]))) + (", ..." if ids.size > SHOWN else "")
        raise InputError(f"{sample.source.name}: {ids.size} trials {fault}: {named}")


# -- pairs of enrol and test -------------------------------------------------------------------------------------------

SCORES = LineLayout(BLANKS, ("enrol", "test", "score"), {"user": 0, "score": 2}, trial=(0, 1))
KALDI_TRIALS = LineLayout(BLANKS, ("enrol", "test", "label"), {"label": 2}, trial=(0, 1))
VOXCELEB_TRIALS = LineLayout(BLANKS, ("label", "enrol", "test"), {"label": 0}, trial=(1, 2))
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
    if sample.width == 2:
        raise InputError(
            f"{sample.source.name}: scores by id and their key need header lines that share the id: put 'id score' "
            f"above these, and above {sample.trials.source.name} for example 'speaker id codec attack label'"
        )
    return _joined(sample, SCORES, sample.trials, KALDI_TRIALS)


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
    return _joined(sample, SCORES, sample.trials, VOXCELEB_TRIALS)


# -- a table and its key -----------------------------------------------------------------------------------------------


def matches_key(sample: Sample) -> bool:
    """Two tables with headers that share a column, and only the trials file has labels."""
    if sample.trials is None:
        return False
    header, key = sample.titles, sample.trials.titles
    return bool({*header} & {*key}) and bool(_title(sample, key, "label"))


def _title(sample: Sample, header: Sequence[str], column: str) -> str:
    """Return the file's name for a column of ours: as told, or the only one that ends so (cm-label, cm-score)."""
    if (told := sample.columns.get(column)) is not None:
        return told if told in header else ""
    ending = [name for name in header if name.lower() == column] or [
        name for name in header if re.fullmatch(rf".*[-_]{column}", name.lower())
    ]
    return ending[0] if len(ending) == 1 else ""


def read_key(sample: Sample) -> Columns:
    """Read scores and give each the label of its id in the key; the ids are the columns that both tables have."""
    assert sample.trials is not None
    header, key_header = sample.titles, sample.trials.titles
    shared = [title for title in header if title in key_header]
    score = _title(sample, header, "score")
    if not score:
        raise InputError(
            f"{sample.source.name}: which column is the score? There are "
            f"{', '.join(each for each in header if each not in shared)}; say {argument('columns', 'score=NAME')}"
        )
    roles = {each: title for each in ("user", "probe_user", "attack", "group") if (title := sample.columns.get(each))}
    roles["label"] = _title(sample, key_header, "label")
    with about_trials_file():
        key_layout = _layout(sample.trials, key_header, roles, shared)
    return _joined(sample, _layout(sample, header, {"score": score}, shared), sample.trials, key_layout)


def _layout(sample: Sample, header: Sequence[str], named: dict[str, str], shared: Sequence[str]) -> LineLayout:
    for title in named.values():
        if title not in header:
            raise InputError(f"{sample.source.name}: no column {title!r}; the columns are {', '.join(header)}")
    columns = {column: header.index(title) for column, title in named.items()}
    delimiter, (line, _) = sample.delimiter, sample.lines[0]
    ids = tuple(header.index(title) for title in shared)
    return LineLayout(delimiter, tuple(header), columns, ids, skip=line, quoted=delimiter != BLANKS)
