"""Results in files, JSON and Parquet, and back: one layout for all of them, published in ``priori/schemas``.

A result that is read back is of the class it was, with its table and its summary. Its attributes are found by the
names and the types that the class declares for them; what `restoring` cannot make without the scores raises
`MissingScoresError` when it is asked for, and never has a made-up value.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori._version import __version__
from priori.base.errors import InputError, MissingScoresError, unknown
from priori.base.results import Result, plain

__all__ = ["LAYOUT", "RESULTS", "document", "read_json", "read_parquet", "write_parquet"]

Found = TypeVar("Found", bound=Result)
Table = dict[str, NDArray[Any]]

#: The number of this layout; a file with a higher one was written by a newer Priori.
LAYOUT = 1

#: Every result by its name, and the module it lives in.
RESULTS: dict[str, str] = {
    "EPC": "priori.curves.epc",
    "Areas": "priori.curves.epc",
    "Band": "priori.uncertainty.bands",
    "AreaBands": "priori.uncertainty.area_bands",
    "AposterioriROC": "priori.curves.roc",
    "AposterioriDET": "priori.curves.roc",
    "RocBand": "priori.uncertainty.roc_bands",
    "RateBands": "priori.uncertainty.roc_bands",
    "AverageCurve": "priori.curves.averaging.result",
    "AverageEPC": "priori.curves.averaging.epc",
    "Comparison": "priori.uncertainty.comparison",
    "Ranking": "priori.uncertainty.ranking",
    "Coverage": "priori.studies.coverage",
    "ZTest": "priori.uncertainty.ztests",
    "ZTestCurve": "priori.uncertainty.ztest_curves",
    "ProportionInterval": "priori.uncertainty.proportions",
    "ProportionTest": "priori.uncertainty.proportions",
    "RateInterval": "priori.uncertainty.rates",
    "AposterioriAUCInterval": "priori.uncertainty.auc",
    "AposterioriAUCTest": "priori.uncertainty.auc",
    "DesignEffect": "priori.studies.design_effect",
    "Plan": "priori.studies.planning",
}

#: What stands beside the summary and the table in a document.
HEAD = ("priori", "result", "layout", "columns")

_ARRAYS = {"Floats", "Counts", "NDArray", "ndarray"}
_PLAIN = {"str", "int", "float", "bool", "None", "dict", "tuple", "Any", "np", "float64", "bool_", "int64"} | _ARRAYS


# -- one layout for every file -----------------------------------------------------------------------------------


def document(result: Result) -> dict[str, Any]:
    """Return a result as it is saved: what it is, the kind of each column, the summary, the table."""
    table = {name: np.asarray(column) for name, column in result.columns().items()}
    return {**_head(result, table), **plain(result.summary()), **plain(table)}


def _head(result: Result, table: Table) -> dict[str, Any]:
    kinds = {name: _kind(column) for name, column in table.items()}
    return {"priori": __version__, "result": type(result).__name__, "layout": LAYOUT, "columns": kinds}


def _kind(column: NDArray[Any]) -> str:
    values = column.tolist() if column.dtype.kind == "O" else []
    types = {type(value) for value in values if value is not None}
    if column.dtype.kind == "b" or types == {bool}:
        return "boolean"
    if column.dtype.kind in "iu" or types == {int}:
        return "integer"
    if column.dtype.kind == "f" or types <= {int, float}:
        return "text" if column.dtype.kind in "US" else "number"
    return "text"


def _column(values: Any, kind: str, name: str) -> NDArray[Any]:
    """Return a column as its kind says; a missing number is NaN."""
    if not isinstance(values, list):
        raise InputError(f"column {name!r} is not a list of values")
    try:
        if kind == "number":
            return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
        if kind in ("integer", "boolean"):
            missing = any(value is None for value in values)
            return np.array(values, dtype=object if missing else (np.int64 if kind == "integer" else np.bool_))
    except (TypeError, ValueError):
        raise InputError(f"column {name!r} holds something else than the {kind} it says") from None
    if kind == "text":
        return np.array([None if value is None else str(value) for value in values], dtype=None if values else str)
    raise InputError(f"column {name!r} is of an unknown kind {kind!r}")


# -- JSON --------------------------------------------------------------------------------------------------------


def read_json(source: str | Path, expected: type[Found]) -> Found:
    """Read a result from JSON text or from a file; it must be of the class expected, or of one below it."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        text, where = source, "the JSON text"
    else:
        where = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read {where}: {getattr(error, 'strerror', None) or error}") from None
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where} is not JSON: {error}") from None
    return _restored(content, where, expected)


def _restored(content: Any, where: str, expected: type[Found]) -> Found:
    if not isinstance(content, dict) or not set(HEAD) <= set(content) or not isinstance(content["columns"], dict):
        raise InputError(f"{where} is not a result that Priori saved (to_json, to_parquet)")
    if not isinstance(content["layout"], int) or content["layout"] > LAYOUT:
        raise InputError(
            f"{where} was written by Priori {content['priori']}, which is newer than this one ({__version__}); "
            "install that version or a later one"
        )
    kinds = content["columns"]
    absent = [name for name in kinds if name not in content]
    if absent:
        raise InputError(f"{where}: the column {absent[0]!r} is missing")
    table = {name: _column(content[name], kind, name) for name, kind in kinds.items()}
    if len({column.size for column in table.values()}) > 1:
        raise InputError(f"{where}: the columns have different lengths")
    summary = {name: value for name, value in content.items() if name not in kinds and name not in HEAD}
    found = restore(content["result"], summary, table)
    if not isinstance(found, expected):
        name = content["result"]
        raise InputError(f"{where} holds a result of class {name}, not {expected.__name__}; use {name}.from_json")
    return found


# -- Parquet -----------------------------------------------------------------------------------------------------


def write_parquet(result: Result, path: str | Path) -> None:
    """Write the table as Parquet; everything else is JSON under the key ``priori`` of the file's metadata."""
    import duckdb

    from priori.base.whole_files import whole_file

    table = {name: np.asarray(column) for name, column in result.columns().items()}
    # In ASCII, so that no reader of the metadata has to guess an encoding.
    told = json.dumps({**_head(result, table), **plain(result.summary())}, allow_nan=False)
    stored = {name: column.astype(object) if column.dtype.kind in "US" else column for name, column in table.items()}
    with whole_file(path) as temporary, duckdb.connect() as connection:
        connection.register("stored", stored)
        connection.execute(
            f"COPY (SELECT * FROM stored) TO {_quoted(str(temporary))} "
            f"(FORMAT parquet, KV_METADATA {{priori: {_quoted(told)}}})"
        )


def read_parquet(path: str | Path, expected: type[Found]) -> Found:
    """Read a result from a Parquet file that `write_parquet` wrote."""
    import duckdb

    where = str(path)
    try:
        with duckdb.connect() as connection:
            metadata = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({_quoted(where)})").fetchall()
            told = dict(metadata).get(b"priori")
            rows = connection.execute(f"SELECT * FROM read_parquet({_quoted(where)})")
            names = [column[0] for column in rows.description or []]
            columns = list(zip(*rows.fetchall(), strict=True)) or [()] * len(names)
    except duckdb.Error as error:
        raise InputError(f"cannot read {where}: {str(error).splitlines()[0]}") from None
    if told is None:
        raise InputError(f"{where} is not a result that Priori saved (to_json, to_parquet)")
    table = {name: list(column) for name, column in zip(names, columns, strict=True)}
    return _restored({**json.loads(told), **table}, where, expected)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# -- from a file to a result -------------------------------------------------------------------------------------


class Saved:
    """What a result read from a file puts before its class: the stored table, summary and attributes come first."""

    _attributes: dict[str, Any]
    _summary: dict[str, Any]
    _table: Table

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            stored = object.__getattribute__(self, "_attributes")
            if name in stored:
                return stored[name]
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> NoReturn:
        kind = type(self).__name__
        own: type = type(self)
        if name.startswith("_") or not _declared(own, name):
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        raise MissingScoresError(
            f"{name!r} needs the scores, and this {kind} was read from a file without them; "
            f"compute it again from the scores, or look into summary() and columns()"
        )

    def columns(self) -> Table:
        """Return the table of this result."""
        return dict(self._table)

    def summary(self) -> dict[str, Any]:
        """Return the settings and single numbers of this result, as they were saved."""
        return dict(self._summary)

    @property
    def backend(self) -> None:
        """Nothing: which dataframe library the scores came from is not saved."""
        return

    @property
    def from_file(self) -> bool:
        """Whether the result was read from a file, without its scores."""
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Saved) and isinstance(other, Result) and document(self) == document(other)  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        size = len(next(iter(self._table.values()), ()))
        return f"{type(self).__name__}({size} row{'s' * (size != 1)}, read from a file)"

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (type(self).__name__, self._summary, self._table)


def restore(name: str, summary: dict[str, Any], table: Table) -> Any:
    """Return a result of the class named, from its summary and its table."""
    if name not in RESULTS:
        raise unknown("result", name, RESULTS)
    kind = _saved_class(name)
    found: Any = object.__new__(kind)
    for attribute, value in {"_attributes": {}, "_summary": summary, "_table": table}.items():
        object.__setattr__(found, attribute, value)
    object.__setattr__(found, "_attributes", _attributes(kind, name, summary, table))
    return found


@cache
def _saved_class(name: str) -> type:
    original = getattr(importlib.import_module(RESULTS[name]), name)
    return type(name, (Saved, original), {"__module__": original.__module__, "__doc__": original.__doc__})


def _attributes(kind: type, name: str, summary: Mapping[str, Any], table: Table) -> dict[str, Any]:
    from priori.saving import restoring

    declared = {key: _declared(kind, key) for key in (*summary, *table)}
    found: dict[str, Any] = {}
    for key, value in table.items():
        words = _words(declared[key])
        if words & _ARRAYS and words <= _PLAIN:
            found[key] = value
        elif words and words <= _PLAIN - {"tuple", "dict"} and value.size == 1:
            found[key] = _one(value.tolist()[0], words)
    for key, value in summary.items():
        words = _words(declared[key])
        if words and words <= _PLAIN:
            found[key] = _one(value, words)
    if _declared(kind, "settings"):
        found["settings"] = dict(summary)
    return {**found, **getattr(restoring, f"restore_{name}", restoring.nothing)(summary, table)}


def _one(value: Any, words: set[str]) -> Any:
    """Return a value of a summary, or of a table's one row, as its declared type."""
    if isinstance(value, list):
        if words & _ARRAYS:
            return _column(value, "number", "summary")
        return tuple(value) if "tuple" in words else value
    if "float" in words and isinstance(value, str):
        return float(value)
    if "None" in words:
        return None if value is None or value != value else value
    return np.nan if value is None and words == {"float"} else value


@cache
def _declared(kind: type, name: str) -> str:
    """Return the type that a class declares for a field or a property, as written; empty if it has no such name."""
    declared = {field.name: str(field.type) for field in fields(kind)}
    if name in declared:
        return declared[name]
    found = getattr(kind, name, None)
    getter = found.fget if isinstance(found, property) else found.func if isinstance(found, cached_property) else None
    if getter is None:
        return "method" if found is not None else ""
    return str(getter.__annotations__.get("return", "Any"))


def _words(annotation: str) -> set[str]:
    return set(re.findall(r"\w+", annotation))
