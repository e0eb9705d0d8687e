"""From the columns of a file to scores: which trials are positive, which are attacks, and where a score is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Codes, Mask
from priori.readers.layout import Columns
from priori.scores import Names, NanPolicy, Scores, Trials
from priori.scores.attacks import attack_codes
from priori.scores.ids import BuiltIds
from priori.scores.labels import attack_values, attackers, classes_of, normal, positive_value
from priori.scores.trials import as_times, whole_weights

#: Positive labels that nobody could take for the negative one.
EVIDENT = ("1", "true", "yes", "pos", "positive", "target", "genuine", "client", "bonafide")


def into_scores(
    table: Columns, pos_label: Any, nan: NanPolicy, lower_is_better: bool, source: str, attack_label: Any = None
) -> Scores:
    """Return the scores of one system on one set."""
    codes = table.codes
    found = _by_label(table, pos_label, attack_label, source) if "label" in codes else _by_identity(table, attack_label)
    return Scores.from_columns(
        Trials(
            table.score,
            codes.get("user"),
            codes.get("probe_user"),
            table.trial,
            codes.get("dataset"),
            group=codes.get("group"),
            attack=found.attack,
            time=_held(table, "time", lambda values: as_times(values, f"{source}: time")),
            built_ids=BuiltIds(table.trial) if table.built_trial and table.trial is not None else None,
        ),
        found.positive,
        users=table.names.get("user"),
        datasets=table.names.get("dataset"),
        groups=table.names.get("group"),
        attack_types=found.types,
        attack_label=attack_label,
        weights=_held(table, "weight", lambda values: whole_weights(values, f"{source}: weight")),
        nan=nan,
        lower_is_better=lower_is_better,
        source=source,
    )


def said_positive(table: Columns, pos_label: Any, attack_label: Any) -> str:
    """Return what to say of labels whose words leave it open: which is taken for the positive one."""
    if pos_label is not None or "label" not in table.codes:
        return ""
    values = [str(value) for value in table.names["label"].values]
    chosen = positive_value(values, attacks=attack_values(values, attack_label))
    return "" if normal(chosen) in EVIDENT else f", positive label {chosen}"


def _held(table: Columns, column: str, convert: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any] | None:
    """Return a column of names as what they say, where the file has it."""
    return convert(table.names[column].values)[table.codes[column]] if column in table.codes else None


class _Classes(NamedTuple):
    """Which trials are positive, and the types of attacks and the code of each trial's."""

    positive: Mask
    types: Names | None
    attack: Codes | None


def _by_label(table: Columns, pos_label: Any, attack_label: Any, source: str) -> _Classes:
    values, codes = table.names["label"].values, table.codes["label"]
    positives, attacks = classes_of(values, pos_label, attack_label, where=source)
    positive = np.asarray(codes == positives.argmax() if positives.sum() == 1 else positives[codes])
    types, attack = None, None
    if attacks is not None or "attack" in table.codes:
        held = table.names["attack"].values[table.codes["attack"]] if "attack" in table.codes else None
        types, attack = attack_codes(held, None if attacks is None else attacks[codes], values[codes], positive)
    return _Classes(positive, types, attack)


def _by_identity(table: Columns, attack_label: Any) -> _Classes:
    """Tell by who was really there: the user, somebody else, or an attack (``attack``, ``attack/mask``)."""
    user, probe = table.codes["user"], table.codes["probe_user"]
    names = table.names["user"].values
    attacks = np.isin(names, attackers(names.tolist(), attack_label))
    positive, marked = user == probe, attacks[probe] & (user != probe)
    told = table.names["attack"].values[table.codes["attack"]] if "attack" in table.codes else None
    if not marked.any():
        return _Classes(positive, *attack_codes(told, None, names[probe], positive))
    held = np.array([str(name).partition("/")[2] or str(name) for name in names])
    return _Classes(positive, *attack_codes(told, marked, held[probe], positive))
