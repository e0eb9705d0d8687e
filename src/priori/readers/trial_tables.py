"""One table of many systems, split into development and test sets.

A long table has a row for each trial of each system, and a column that names the system; a wide one has a row for each
trial, and a column of scores for each system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import name_list
from priori.base.errors import InputError, NoSuchValueError, OptionError
from priori.base.types import Codes, Mask
from priori.readers.formats import Sample, recognise
from priori.readers.input_file import PathOrFile, open_source
from priori.readers.layout import NAME_GROUP, Columns, into_scores, or_ignored
from priori.scores import NanPolicy, Scores, nan_error
from priori.scores.labels import is_missing_label
from priori.scores.trials import Names

#: Columns of which every value has a meaning: those of rows that are left out must not be read.
READ_WHOLE = {"label", "time", "amount", "weight"}
#: A value of a column, or several.
Values = str | Sequence[str]


def read_table(
    path: PathOrFile,
    *,
    systems: Values,
    split: tuple[str, Values, Values] | None,
    where: Mapping[str, Values] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    pos_label: Any = None,
    attack_label: Any = None,
    nan: NanPolicy = "error",
    lower_is_better: bool = False,
    announce: Callable[[str], None] | None = None,
    source: str | None = None,
) -> dict[str, tuple[Scores, Scores]]:
    """Read the development and test scores of many systems from one table: CSV, TSV or Parquet, plain or gzip.

    Parameters
    ----------
    path : path, "-" or binary file
        The table.
    systems : str or sequence of str
        In a long table the column that names the system of each row; in a wide one the columns of scores, one a
        system.
    split : (str, str or sequence, str or sequence)
        A column, its value in rows of the development set, and its value in rows of the test set; each may be
        several. None: the rows are not divided, and both sets of a system are all of its rows.
    where : mapping, optional
        Columns and the values that rows must have; others are left out. A set in which one of the values never
        occurs is kept as it is in that respect: an attack that is new in the test set does not empty the development
        set, whose threshold is what is to be judged. ``announce`` says so.
    format, columns, pos_label, attack_label, nan, lower_is_better, announce, source
        As in `priori.read`.

    Returns
    -------
    dict
        The name of each system, in the order of the table, with its development and test scores.

    Examples
    --------
    >>> import io, priori
    >>> file = io.BytesIO(b"system,set,label,score\\n" + b"".join(
    ...     f"{system},{part},{label},{score}\\n".encode()
    ...     for system in "AB" for part in ("dev", "eval", "old") for label, score in ((0, 0.1), (1, 0.7), (1, 0.9))))
    >>> sets = priori.read_table(file, systems="system", split=("set", "dev", "eval"), source="all.csv")
    >>> sets["A"]
    (Scores(1 negatives, 2 positives), Scores(1 negatives, 2 positives))
    >>> [priori.epc(*sets[name], alpha=[0.5], name=name).value.item() for name in sets]
    [0.0, 0.0]
    """
    filters = {column: several(values) for column, values in (where or {}).items()}
    columns, more = needed_columns(systems, [*(split or ())[:1], *filters], dict(columns or {}))
    with open_source(path, source) as opened:
        sample = Sample(opened, columns, pos_label, None, more, strays=bool(split or filters))
        chosen = recognise(sample, format)
        if chosen.family != "table":
            raise InputError(f"{opened.name} ({chosen.title}): columns can be told only in a table with a header line")
        table = TrialTable(chosen.read(sample), {title: column for column, title in more.items()}, opened.name)
    names, parts, notes = table.split(split, filters)
    notes += table.without_strays(np.logical_or.reduce(parts))
    sizes = about_sizes(names, [part.sum() for part in parts])
    notes = [*notes, *table.left_out(systems, parts, names)]
    read: dict[str, tuple[Scores, Scores]] = {}
    first: dict[str, Scores] = {}
    for system, column, own in table.systems(systems, parts):
        sets = []
        for part, name in zip(parts, names, strict=True):
            called = f"{opened.name} ({', '.join(filter(None, (system, name)))})"
            trials = table.take(part & own, column, called, nan)
            if name in first and not isinstance(systems, str) and nan != "drop":  # a column beside it: the same trials
                scores = first[name].scored_by(trials.score, nan=nan, lower_is_better=lower_is_better, source=called)
            else:
                scores = into_scores(trials, pos_label, nan, lower_is_better, called, attack_label)
                scores = scores.told([columns.get("user")])
            first.setdefault(name, scores)
            sets.append(replace(scores, format=chosen.name))
        read[system] = (sets[0], sets[-1])
    if announce is not None:
        for note in notes:
            announce(note)
        announce(f"{opened.name}: {chosen.title}, {len(read)} system{'s' * (len(read) != 1)}, {sizes}")
    return read


def about_sizes(names: Sequence[str], sizes: Sequence[int]) -> str:
    """Say how many rows the sets have."""
    return " and ".join(
        f"{size} rows" + (f" of {name}" if name else "") for name, size in zip(names, sizes, strict=True)
    )


def several(values: Values) -> list[str]:
    """Return one value or several as a list."""
    return [values] if isinstance(values, str) else [str(value) for value in values]


def needed_columns(
    systems: Values, others: list[str], columns: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the file's names for our columns, and for further ones: extra0, ... for names, score1, ... for scores."""
    titles = several(systems)
    if not titles or len(set(titles)) < len(titles):
        raise OptionError(f"systems must name one column, or columns that differ, not {systems!r}")
    if isinstance(systems, str):
        others = [*others, systems]
    elif "score" in columns:
        raise OptionError("a wide table has a column of scores for each system: give systems or a score column")
    else:
        columns = {**columns, "score": titles[0]}
    more = {f"extra{number}": title for number, title in enumerate(dict.fromkeys(others))}
    if not isinstance(systems, str):
        more |= {f"score{number}": title for number, title in enumerate(titles) if number}
    return columns, more


@dataclass(frozen=True)
class TrialTable:
    """What was read, the columns beyond ours by the file's names for them, and what to call the file."""

    columns: Columns
    titles: Mapping[str, str]
    name: str

    def split(
        self, split: tuple[str, Values, Values] | None, filters: Mapping[str, list[str]]
    ) -> tuple[list[str], list[Mask], list[str]]:
        """Return what to call the two sets, the rows of each, and what to say where a filter did not apply.

        Without a split there is one set.
        """
        names, parts = [""], [np.ones(len(self.columns), dtype=np.bool_)]
        if split is not None:
            names = [f"{split[0]}={'|'.join(several(values))}" for values in split[1:]]
            parts = [self.rows_where(split[0], several(values)) for values in split[1:]]
        if len(parts) == 2 and (parts[0] & parts[1]).any():
            raise OptionError("split: the development and the test set share a value; give each its own")
        filtered = [self.filtered(part, filters) for part in parts]
        notes = [
            f"{self.name}: {name} {line}" for name, (_, lines) in zip(names, filtered, strict=True) for line in lines
        ]
        return names, [rows for rows, _ in filtered], notes

    def without_strays(self, kept: Mask) -> list[str]:
        """Say how many rows lack a name and are left out anyway; one that is kept is an error."""
        notes = []
        for column, codes in self.columns.codes.items():
            values = self.columns.names[NAME_GROUP.get(column, column)].values
            lacking = np.array([is_missing_label(value) if column == "label" else value == "" for value in values])
            rows = lacking[codes] if column != "attack" else np.zeros(codes.size, dtype=np.bool_)
            title = next((title for title, held in self.titles.items() if held == column), column)
            if (rows & kept).any():
                first = int(np.flatnonzero(rows & kept)[0]) + 1
                number = int((rows & kept).sum())
                raise InputError(
                    f"{self.name}: no {title} in {number} of the rows to be used (first: row {first}); complete or "
                    f"remove these rows{or_ignored(column)}"
                )
            if rows.any():
                notes.append(f"{self.name}: no {title} in {int(rows.sum())} of the rows that are left out")
        return notes

    def rows_where(self, title: str, values: list[str]) -> Mask:
        """Return which rows have one of the values in a column; a value that no row has is an error."""
        known, codes = self._column(title)
        if lacking := [value for value in values if value not in known]:
            listed = name_list(known.tolist())
            said = f"{self.name}: no row has {title} = {lacking[0]!r}; its values are {listed}"
            raise NoSuchValueError(said, title, lacking)
        return np.asarray(np.isin(known, values)[codes])

    def filtered(self, rows: Mask, filters: Mapping[str, list[str]]) -> tuple[Mask, list[str]]:
        """Return the rows that have the values, and what to say where a filter did not apply."""
        notes = []
        for title, values in filters.items():
            matching = self.rows_where(title, values)
            known, codes = self._column(title)
            unseen = set(values) - set(known[np.unique(codes[rows])].tolist())
            if unseen:
                notes.append(f"has no {title} = {', '.join(sorted(unseen))}; its rows are kept, whatever their {title}")
            else:
                rows = rows & matching
        return rows, notes

    def values_in(self, title: str, rows: Mask) -> list[str]:
        """Return the values that rows have in a column."""
        known, codes = self._column(title)
        return [str(value) for value in known[np.unique(codes[rows])]]

    def _column(self, title: str) -> tuple[NDArray[Any], Codes]:
        """Return the names in a column beyond ours, and the code of each row's."""
        column = self.titles[title]
        return self.columns.names[column].values, self.columns.codes[column]

    def systems(self, systems: Values, parts: Sequence[Mask]) -> Iterator[tuple[str, str, Mask]]:
        """Yield each system with rows in every set: name, column of scores, rows; in the order of the table.

        Where no system has rows in all sets, those with rows in any: the error says what the first lacks.
        """
        if not isinstance(systems, str):
            everything = np.ones(len(self.columns), dtype=np.bool_)
            yield from ((title, f"score{number or ''}", everything) for number, title in enumerate(systems))
            return
        names, codes = self._column(systems)
        present, first = np.unique(codes[np.logical_or.reduce(parts)], return_index=True)
        in_all = np.logical_and.reduce(self._in_each(systems, parts))
        for code in present[np.argsort(first)].tolist():
            if in_all[code] or not in_all.any():
                yield str(names[code]), "score", codes == code

    def left_out(self, systems: Values, parts: Sequence[Mask], names: Sequence[str]) -> Iterator[str]:
        """Say which systems of a long table have rows in one set and none in the other."""
        if not isinstance(systems, str):
            return
        in_each = self._in_each(systems, parts)
        for lacking, name in zip(np.logical_or.reduce(in_each) & ~in_each, names, strict=True):
            if lacking.any():
                listed = name_list(self._column(systems)[0][lacking].tolist())
                yield f"{self.name}: left out, no rows of {name}: {listed}"

    def _in_each(self, systems: str, parts: Sequence[Mask]) -> NDArray[np.bool_]:
        """Tell in which sets (rows) which systems (columns) have rows."""
        names, codes = self._column(systems)
        return np.stack([np.bincount(codes[part], minlength=len(names)) > 0 for part in parts])

    def take(self, rows: Mask, column: str, called: str, nan: NanPolicy) -> Columns:
        """Return some rows as the columns of one system on one set, without what other rows hold."""
        index = np.flatnonzero(rows)
        if not index.size:
            raise InputError(f"{called}: no rows; every system needs both sets")
        columns, score = self.columns, self.columns.scores[column][index]
        missing = np.isnan(score)
        if nan == "error" and missing.any():
            raise nan_error(called, int(missing.sum()), f"in row {index[missing.argmax()] + 1} of the table")
        codes = {name: code[index] for name, code in columns.codes.items()}
        names = dict(columns.names)
        for held in READ_WHOLE & codes.keys():
            used, inverse = np.unique(codes[held], return_inverse=True)
            codes[held] = inverse.astype(np.int32)
            names[held] = Names(names[held].values[used])
        trial = None if columns.trial is None else columns.trial[index]
        return Columns({"score": score}, codes, names, trial, built_trial=columns.built_trial)
