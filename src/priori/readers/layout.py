"""What lies between a format and scores: a layout says which field is what, columns hold what was read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import argument
from priori.base.types import Codes, Floats, Mask
from priori.scores import Names, NanPolicy, Scores, Trials
from priori.scores.ids import BuiltIds
from priori.scores.labels import (
    attack_codes,
    attack_values,
    attackers,
    classes_of,
    is_missing_label,
    is_positive,
    missing_labels,
    normal,
    positive_value,
)
from priori.scores.trials import as_amounts, as_times, count_nan, nan_error, settle, whole_weights

#: The delimiter that stands for any run of spaces and tabs.
BLANKS = " "

#: The delimiter that stands for JSON lines: each line is an object, its keys the names of the columns.
JSON = "{"

#: Characters that no name may hold, so that it fits on one line and between tabs.
CONTROL = re.compile(r"[\x00\t\n\r]")

#: The columns read as names, and the list of names each belongs to; claimed and real users share one.
NAME_GROUP = {"label": "label", "user": "user", "probe_user": "user", "dataset": "dataset"}


#: The columns that scores can do without.
OPTIONAL = ("user", "probe_user", "trial", "dataset")


def or_ignored(column: str) -> str:
    """Return what else can be done about a column with empty fields."""
    return f", or ignore the column ({argument('columns', f'{column}=')})" if column in OPTIONAL else ""


@dataclass(frozen=True)
class LineLayout:
    """Where the columns are in a text file."""

    #: ``","``, ``";"``, a tab, `BLANKS` for any run of spaces and tabs, or `JSON` for an object in each line.
    delimiter: str
    #: What each field of a line is called; their number is the number every line must have.
    fields: tuple[str, ...]
    #: Our column (score, label, user, probe_user, dataset, test; score1, ... and extra0, ... of a table of many
    #: systems) to the index of its field.
    columns: Mapping[str, int]
    #: The fields that make up the trial id, joined by a space; empty: there is none.
    trial: tuple[int, ...] = ()
    #: Whether we made the id from other columns; if such ids repeat, they are no ids and are left out.
    trial_is_built: bool = False
    #: Lines before the first row: the header and what stands above it.
    skip: int = 0
    #: Whether a field may stand between quotes.
    quoted: bool = False
    #: What stands between whole and part in a number: a point, or a comma.
    decimal: str = "."
    #: Whether names may be missing: rows that are left out need none.
    strays: bool = False

    @property
    def names(self) -> dict[str, int]:
        """The columns that are read as names."""
        return {column: index for column, index in self.columns.items() if not column.startswith("score")}

    @property
    def scores(self) -> dict[str, int]:
        """The columns that are read as numbers."""
        return {column: index for column, index in self.columns.items() if column.startswith("score")}

    @property
    def groups(self) -> dict[str, list[str]]:
        """The columns that share a list of names, by the name of that list."""
        groups: dict[str, list[str]] = {}
        for column in self.names:
            groups.setdefault(NAME_GROUP.get(column, column), []).append(column)
        return groups


@dataclass(frozen=True)
class Columns:
    """The columns of a file: scores as numbers, names as codes.

    Without a label column, a trial is positive when user and probe_user are the same. ``scores`` has one array, or
    none in a file of trials, or one for each system where a table has a column for each.
    """

    scores: Mapping[str, Floats]
    codes: Mapping[str, Codes]
    names: Mapping[str, Names]
    trial: NDArray[Any] | None = None
    layout: LineLayout | None = field(default=None, repr=False)
    #: Whether we made the ids from other columns.
    built_trial: bool = False

    @property
    def score(self) -> Floats:
        """The scores of a file of one system."""
        return self.scores["score"]

    def __len__(self) -> int:
        return len(next(iter(self.scores.values())) if self.scores else next(iter(self.codes.values())))

    def refuse_missing_labels(self, source: str, place: Callable[[int], str]) -> None:
        """Raise an error where labels are missing; ``place`` says where a row is, counted from 0."""
        if "label" not in self.codes:
            return
        values = self.names["label"].values.tolist()
        missing = [code for code, value in enumerate(values) if is_missing_label(value)]
        if missing:
            rows = np.flatnonzero(np.isin(self.codes["label"], missing))
            raise missing_labels(source, rows.size, [values[code] for code in missing], place(int(rows[0])))


#: Positive labels that could not be mistaken for the negative one.
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
            amount=_held(table, "amount", lambda values: as_amounts(values, f"{source}: amount")),
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
    ).told(found.negative_labels)


def into_stream(
    table: Columns,
    labelled: bool,
    pos_label: Any,
    attack_label: Any,
    nan: NanPolicy,
    lower_is_better: bool,
    source: str,
) -> tuple[Mask | None, Floats]:
    """Return which trials are positive and their scores, in order of time if it is known; one class is enough."""
    positive = None
    if labelled and "label" in table.codes:
        words = {normal(value) for value in table.names["label"].values}
        if len(words) > 1:
            positive = _by_label(table, pos_label, attack_label, source).positive
        else:
            positive = np.full(len(table), is_positive(words.pop(), pos_label, where=source))
    elif labelled:
        positive = _by_identity(table, attack_label).positive
    time = _held(table, "time", lambda values: as_times(values, f"{source}: time"))
    order = np.arange(len(table)) if time is None else np.argsort(time, kind="stable")
    if (weights := _held(table, "weight", lambda values: whole_weights(values, f"{source}: weight"))) is not None:
        order = np.repeat(order, weights[order])
    if nan == "error" and (missing := count_nan(table.score)):
        raise nan_error(source, missing)
    trials = settle(Trials(table.score[order], row=order), nan, lower_is_better)
    return None if positive is None else positive[trials.row], trials.score


def said_positive(table: Columns, pos_label: Any, attack_label: Any) -> str:
    """Return what to say of labels that leave open which is positive: the one that was taken for it."""
    if pos_label is not None or "label" not in table.codes:
        return ""
    values = [str(value) for value in table.names["label"].values]
    chosen = positive_value(values, attacks=attack_values(values, attack_label))
    return "" if normal(chosen) in EVIDENT else f", positive label {chosen}"


def _held(table: Columns, column: str, convert: Callable[[NDArray[Any]], NDArray[Any]]) -> NDArray[Any] | None:
    """Return the names in a column themselves, where the file has it."""
    return convert(table.names[column].values)[table.codes[column]] if column in table.codes else None


class _Classes(NamedTuple):
    """Which trials are positive, the types of attacks and the code of each trial's, and the labels of negatives."""

    positive: Mask
    types: Names | None
    attack: Codes | None
    negative_labels: Sequence[Any] = ()


def _by_label(table: Columns, pos_label: Any, attack_label: Any, source: str) -> _Classes:
    values, codes = table.names["label"].values, table.codes["label"]
    positives, attacks = classes_of(values, pos_label, attack_label, where=source)
    positive = np.asarray(codes == positives.argmax() if positives.sum() == 1 else positives[codes])
    types, attack = None, None
    if attacks is not None or "attack" in table.codes:
        held = table.names["attack"].values[table.codes["attack"]] if "attack" in table.codes else None
        types, attack = attack_codes(held, None if attacks is None else attacks[codes], values[codes], positive)
    return _Classes(positive, types, attack, values[~positives].tolist())


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
