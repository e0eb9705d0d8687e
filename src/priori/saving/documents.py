"""Results in files, JSON and Parquet, and back: one layout for all of them; `schemas` publishes it.

A result that is read back is of the class it was, with its table and its summary: each class says how it is put
together from them (`_from_parts`). What needs the scores raises `MissingScoresError`, and never has a made-up value.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori._version import __version__
from priori.base.errors import InputError, OptionError, unknown
from priori.base.results import Result, plain, restored
from priori.base.saved import Saved, column
from priori.base.whole_files import whole_file

Kind = TypeVar("Kind", bound=Result)
Table = dict[str, NDArray[Any]]

#: The number of this layout; a file with a higher one was written by a newer Priori.
LAYOUT = 1

#: Every result by its name, and the module it lives in.
RESULTS: dict[str, str] = {
    "EPC": "priori.curves.epc",
    "Areas": "priori.curves.areas",
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
    "Leaderboard": "priori.uncertainty.leaderboard",
    "Coverage": "priori.studies.coverage",
    "ZTest": "priori.uncertainty.ztests",
    "ZTestCurve": "priori.uncertainty.ztest_curves",
    "ProportionInterval": "priori.uncertainty.proportions",
    "ProportionTest": "priori.uncertainty.proportions",
    "RateInterval": "priori.uncertainty.rate_intervals",
    "AposterioriAUCInterval": "priori.uncertainty.auc",
    "AposterioriAUCTest": "priori.uncertainty.auc",
    "DesignEffect": "priori.studies.design_effect",
    "Plan": "priori.studies.planning",
}

#: What stands beside the summary and the table in a document.
HEAD = ("priori", "result", "layout", "columns")


def class_of(name: str) -> type[Result]:
    """Return the class of results with this name."""
    if name not in RESULTS:
        raise unknown("result", name, RESULTS)
    kind: type[Result] = getattr(importlib.import_module(RESULTS[name]), name)
    return kind


# -- one layout for every file -----------------------------------------------------------------------------------


def document(result: Result) -> dict[str, Any]:
    """Return a result as it is saved: what it is, the kind of each column, the summary, the table."""
    table = {name: np.asarray(column) for name, column in result.columns().items()}
    return {**_head(result, table), **plain(result.summary()), **plain(table)}


def _head(result: Result, table: Table) -> dict[str, Any]:
    kinds = {name: _kind(column) for name, column in table.items()}
    return {"priori": __version__, "result": type(result).__name__, "layout": LAYOUT, "columns": kinds}


def _kind(column: NDArray[Any]) -> str:
    types = {type(value) for value in column.tolist() if value is not None} if column.dtype.kind == "O" else set()
    if column.dtype.kind == "b" or types == {bool}:
        return "boolean"
    if column.dtype.kind in "iu" or types == {int}:
        return "integer"
    if column.dtype.kind == "f" or types <= {int, float}:
        return "text" if column.dtype.kind in "US" else "number"
    return "text"


# -- JSON --------------------------------------------------------------------------------------------------------


def read_json(source: str | Path, expected: type[Kind], supplied: Mapping[str, object]) -> Kind:
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
    return _restored(content, where, expected, supplied)


def _restored(content: Any, where: str, expected: type[Kind], supplied: Mapping[str, object]) -> Kind:
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
    table = {name: column(content[name], kind, name) for name, kind in kinds.items()}
    if len({values.size for values in table.values()}) > 1:
        raise InputError(f"{where}: the columns have different lengths")
    summary = {name: value for name, value in content.items() if name not in kinds and name not in HEAD}
    name = content["result"]
    kind = class_of(name)
    if not issubclass(kind, expected):
        raise InputError(f"{where} holds a result of class {name}, not {expected.__name__}; use {name}.from_json")
    layout = kind._layout
    needed = [each for each in (*layout.columns, *layout.summary) if each not in layout.optional]
    if missing := [each for each in needed if each not in content]:
        raise InputError(f"{where}: {missing[0]!r} is missing, which every {name} has")
    for thing in supplied:
        if thing not in summary:
            raise OptionError(f"{where}: a saved {name} has no {thing}; leave {thing} out")
    return restored(kind, Saved(name, table, summary, where, supplied))


# -- Parquet -----------------------------------------------------------------------------------------------------


def write_parquet(result: Result, path: str | Path) -> None:
    """Write the table as Parquet; everything else is JSON under the key ``priori`` of the file's metadata."""
    import duckdb

    table = {name: np.asarray(column) for name, column in result.columns().items()}
    # In ASCII, so that no reader of the metadata has to guess an encoding.
    metadata = json.dumps({**_head(result, table), **plain(result.summary())}, allow_nan=False)
    stored = {name: column.astype(object) if column.dtype.kind in "US" else column for name, column in table.items()}
    with whole_file(path) as temporary, duckdb.connect() as connection:
        connection.register("stored", stored)
        connection.execute(
            f"COPY (SELECT * FROM stored) TO {_quoted(str(temporary))} "
            f"(FORMAT parquet, KV_METADATA {{priori: {_quoted(metadata)}}})"
        )


def read_parquet(path: str | Path, expected: type[Kind], supplied: Mapping[str, object]) -> Kind:
    """Read a result from a Parquet file that `write_parquet` wrote."""
    import duckdb

    where = str(path)
    try:
        with duckdb.connect() as connection:
            pairs = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({_quoted(where)})").fetchall()
            metadata = dict(pairs).get(b"priori")
            rows = connection.execute(f"SELECT * FROM read_parquet({_quoted(where)})")
            names = [column[0] for column in rows.description or []]
            columns = list(zip(*rows.fetchall(), strict=True)) or [()] * len(names)
    except duckdb.Error as error:
        raise InputError(f"cannot read {where}: {str(error).splitlines()[0]}") from None
    if metadata is None:
        raise InputError(f"{where} is not a result that Priori saved (to_json, to_parquet)")
    table = {name: list(column) for name, column in zip(names, columns, strict=True)}
    return _restored({**json.loads(metadata), **table}, where, expected, supplied)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
