"""Results in files, JSON and Parquet, and back: one layout for all of them; `schemas` publishes it.

A result that is read back is of the class it was, with its table and its summary. What needs the scores raises
`MissingScoresError`, and never has a made-up value. A digest tells whether a file was changed.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori._version import __version__
from priori.base.declarations import columns_of, optional_columns, schemas_of
from priori.base.errors import InputError, OptionError, PrioriError, unknown
from priori.base.results import Result, plain, restored
from priori.base.saved import Saved, column
from priori.base.whole_files import whole_file
from priori.readers.duckdb_parser import connection, first_line, literal, open_database, pattern

Kind = TypeVar("Kind", bound=Result)
Table = dict[str, NDArray[Any]]

#: The number of this layout; a file with a higher one was written by a newer Priori.
LAYOUT = 3

#: Every result by its name, and the module it lives in.
RESULTS: dict[str, str] = {
    "EPC": "priori.curves.epc",
    "CrossEPC": "priori.curves.cross",
    "GroupedEPC": "priori.curves.epc_by",
    "EPSC": "priori.curves.epsc",
    "SurfaceBand": "priori.uncertainty.bands.bands",
    "PAD": "priori.uncertainty.rates.pad",
    "Areas": "priori.curves.areas",
    "Band": "priori.uncertainty.bands.bands",
    "AreaBands": "priori.uncertainty.bands.area_bands",
    "AposterioriROC": "priori.curves.roc",
    "AposterioriDET": "priori.curves.roc",
    "RocBand": "priori.uncertainty.bands.roc_bands",
    "RateBands": "priori.uncertainty.bands.roc_bands",
    "AverageCurve": "priori.curves.averaging.average",
    "AverageEPC": "priori.curves.averaging.epc",
    "Comparison": "priori.uncertainty.comparing.comparison",
    "Ranking": "priori.uncertainty.ranking.ranking",
    "Leaderboard": "priori.uncertainty.ranking.leaderboard",
    "Coverage": "priori.studies.coverage",
    "ZTest": "priori.uncertainty.comparing.ztests",
    "ZTestCurve": "priori.uncertainty.comparing.ztests",
    "ProportionInterval": "priori.uncertainty.rates.proportions",
    "ProportionTest": "priori.uncertainty.rates.proportions",
    "RateInterval": "priori.uncertainty.rates.rate_intervals",
    "GroupRates": "priori.uncertainty.rates.group_rates",
    "UserRates": "priori.uncertainty.rates.user_rates",
    "AposterioriAUCInterval": "priori.uncertainty.rates.auc",
    "AposterioriAUCTest": "priori.uncertainty.rates.auc",
    "LLRCosts": "priori.uncertainty.costs.likelihood_ratio_costs",
    "LLRCostsTest": "priori.uncertainty.costs.likelihood_ratio_costs",
    "DesignEffect": "priori.studies.design_effect",
    "Plan": "priori.studies.planning",
}

#: What stands beside the summary and the table in a document.
HEAD = ("priori", "result", "layout", "digest", "columns")


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
    return {**_without_table(result, table), **plain(table)}


def _without_table(result: Result, table: Table) -> dict[str, Any]:
    declared = columns_of(type(result))
    kinds = {name: declared[name] for name in table}
    head = {"priori": __version__, "result": type(result).__name__, "layout": LAYOUT, "columns": kinds}
    summary = plain(result.summary())
    typed = {name: column(plain(values), kinds[name], name) for name, values in table.items()}
    return {**head, "digest": digest({**head, **summary}, typed), **summary}


def digest(said: Mapping[str, Any], table: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a document: of what it says beside the table, and of the table, column by column.

    It is of the values, not of the text: the order of names, blanks and ``1`` for ``1.0`` do not matter.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}, {}) == digest({"b": 2.0, "a": 1.0}, {})
    True
    """
    total = hashlib.sha256(_text(said))
    for name in sorted(table):
        total.update(_text([name]))
        total.update(_bytes(np.asarray(table[name])))
    return total.hexdigest()


def _bytes(column: NDArray[Any]) -> bytes:
    if column.dtype.kind == "f":
        # One kind of NaN, one kind of zero.
        return np.where(np.isnan(column), np.nan, column + 0.0).astype("<f8").tobytes()
    return _text(plain(column))


def _text(value: Any) -> bytes:
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":")).encode()


def _whole(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# -- JSON --------------------------------------------------------------------------------------------------------


def read_json(source: str | Path, expected: type[Kind], supplied: Mapping[str, object]) -> Kind:
    """Read a result from JSON text or from a file; it must be of the class expected, or of one below it."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        text, where = source, "the JSON text"
    else:
        where = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {where}: {getattr(error, 'strerror', None) or error}") from None
    return _restored(_parsed(text, where), where, expected, supplied)


def _parsed(text: str | bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{where} is not a result that Priori saved: it is nested too deeply") from None
    except ValueError as error:  # also a number of thousands of digits
        raise InputError(f"{where} is not JSON: {error}") from None


def _restored(content: Any, where: str, expected: type[Kind], supplied: Mapping[str, object]) -> Kind:
    """Check what a file says from the outside in: its head, its class, its digest, its numbers."""
    saved, kind = _checked(content, where, expected)
    for thing in supplied:
        if thing not in saved.summary:
            raise OptionError(f"{where}: a saved {saved.result} has no {thing}; leave {thing} out")
    saved = replace(saved, supplied=supplied)
    try:
        return restored(kind, saved)
    except PrioriError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{where} is not as Priori saved it ({type(error).__name__}: {error}); save it again"
        ) from None


def _checked(content: Any, where: str, expected: type[Kind]) -> tuple[Saved, type[Kind]]:
    no_result = InputError(f"{where} is not a result that Priori saved (to_json, to_parquet)")
    if not isinstance(content, dict) or not {*HEAD} <= {*content}:
        raise no_result
    layout, kinds, name = content["layout"], content["columns"], content["result"]
    if type(layout) is not int or layout < 1 or not isinstance(kinds, dict) or not isinstance(name, str):
        raise no_result
    if layout > LAYOUT:
        raise InputError(
            f"{where} was written by Priori {content['priori']}, which is newer than this one ({__version__}); "
            "install that version or a later one"
        )
    if layout < LAYOUT:
        raise InputError(f"{where} was written by Priori {content['priori']} in a layout of before; save it again")
    kind = class_of(name)
    if not issubclass(kind, expected):
        raise InputError(f"{where} holds a result of class {name}, not {expected.__name__}; use {name}.from_json")
    absent = [each for each in kinds if each not in content]
    if absent:
        raise InputError(f"{where}: the column {absent[0]!r} is missing")
    table = {each: column(content[each], held, each) for each, held in kinds.items()}
    if len({values.size for values in table.values()}) > 1:
        raise InputError(f"{where}: the columns have different lengths")
    said = {each: value for each, value in content.items() if each not in kinds and each != "digest"}
    if content["digest"] != digest(said, table):
        raise InputError(f"{where} was changed after Priori saved it (its digest says so); save the result again")
    if missing := [each for each in schemas_of(kind) if each not in content and each not in optional_columns(kind)]:
        raise InputError(f"{where}: {missing[0]!r} is missing, which every {name} has")
    return Saved(name, table, {each: said[each] for each in said if each not in HEAD}, where), kind


# -- Parquet -----------------------------------------------------------------------------------------------------


def write_parquet(result: Result, path: str | Path) -> None:
    """Write the table as Parquet; everything else is JSON under the key ``priori`` of the file's metadata."""
    import duckdb

    table = {name: np.asarray(column) for name, column in result.columns().items()}
    # In ASCII, so that no reader of the metadata has to guess an encoding.
    metadata = json.dumps(_without_table(result, table), allow_nan=False)
    stored = {name: column.astype(object) if column.dtype.kind in "US" else column for name, column in table.items()}
    with whole_file(path) as temporary, open_database() as database:
        database.register("stored", stored)
        try:
            database.execute(
                f"COPY (SELECT * FROM stored) TO {literal(str(temporary))} "
                f"(FORMAT parquet, KV_METADATA {{priori: {literal(metadata)}}})"
            )
        except (duckdb.Error, UnicodeEncodeError) as error:
            reason = "its name or its texts are not UTF-8" if isinstance(error, ValueError) else first_line(error)
            raise OptionError(f"cannot write {path}: {reason}") from None


def read_parquet(path: str | Path, expected: type[Kind], supplied: Mapping[str, object]) -> Kind:
    """Read a result from a Parquet file that `write_parquet` wrote: one file, whatever its name."""
    import duckdb

    where = str(path)
    try:
        with Path(path).open("rb"), connection(Path(path)) as database:  # duckdb reads every file of a directory
            pairs = database.execute(f"SELECT key, value FROM parquet_kv_metadata({pattern(path)})").fetchall()
            metadata = dict(pairs).get(b"priori")
            rows = database.execute(f"SELECT * FROM read_parquet({pattern(path)}, hive_partitioning = false)")
            names = [column[0] for column in rows.description or []]
            columns = list(zip(*rows.fetchall(), strict=True)) or [()] * len(names)
    except OSError as error:
        raise InputError(f"cannot read {where}: {error.strerror or first_line(error)}") from None
    except (duckdb.Error, ValueError, OverflowError, RuntimeError) as error:
        reason = first_line(error) if where.isprintable() else "its name is not UTF-8; rename the file"
        raise InputError(f"cannot read {where}: {reason}") from None
    if metadata is None:
        raise InputError(f"{where} is not a result that Priori saved (to_json, to_parquet)")
    content = _parsed(metadata, where)
    table = {name: list(column) for name, column in zip(names, columns, strict=True)}
    return _restored({**content, **table} if isinstance(content, dict) else content, where, expected, supplied)
