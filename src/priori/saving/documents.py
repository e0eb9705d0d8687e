"""Results as JSON and back: one layout for all of them, and its published JSON schemas.

What is read back is what the file holds: the table and the summary. A digest tells whether a file was changed.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori._version import __version__
from priori.base.cautions import Caution
from priori.base.declarations import (
    NUMBER,
    Schema,
    columns_of,
    descriptions_of,
    optional_columns,
    schemas_of,
    sentence_of,
)
from priori.base.errors import InputError, unknown
from priori.base.results import Result, plain

#: The number of this layout; a file with a higher one was written by a newer Priori.
LAYOUT = 4

#: Every result by its name, and the module it lives in.
RESULTS: dict[str, str] = {
    name: module
    for module, names in {
        "priori.curves.epc": "EPC",
        "priori.curves.cross": "CrossEPC",
        "priori.curves.epc_by": "GroupedEPC",
        "priori.curves.epsc": "EPSC",
        "priori.uncertainty.bands.bands": "SurfaceBand Band AreaBands",
        "priori.uncertainty.rates.pad": "PAD",
        "priori.curves.areas": "Areas",
        "priori.curves.roc": "AposterioriROC AposterioriDET",
        "priori.uncertainty.bands.roc_bands": "RocBand PrecisionBand",
        "priori.curves.averaging.average": "AverageCurve",
        "priori.curves.averaging.epc": "AverageEPC",
        "priori.uncertainty.expected.thresholds": "ThresholdInterval",
        "priori.uncertainty.comparing.comparison": "Comparison",
        "priori.uncertainty.ranking.ranking": "Ranking",
        "priori.uncertainty.ranking.leaderboard": "Leaderboard",
        "priori.uncertainty.comparing.ztests": "ZTest",
        "priori.uncertainty.rates.proportions": "ProportionInterval ProportionTest",
        "priori.uncertainty.rates.rate_intervals": "RateInterval",
        "priori.uncertainty.rates.group_rates": "GroupRates",
        "priori.uncertainty.rates.user_rates": "UserRates",
        "priori.uncertainty.rates.auc": "AposterioriAUCInterval AposterioriAUCTest",
        "priori.uncertainty.amounts": "AmountCosts",
        "priori.uncertainty.costs": "LLRCosts CostsTest",
        "priori.uncertainty.llr_curves": "Reliability Tippett ECE",
        "priori.studies.planning": "Plan",
        "priori.studies.limits": "LimitPlan",
    }.items()
    for name in names.split()
}

DRAFT = "https://json-schema.org/draft/2020-12/schema"

#: What stands beside the summary and the table in a document.
HEAD = ("priori", "result", "layout", "digest", "columns")


def class_of(name: str) -> type[Result]:
    """Return the class of results with this name."""
    if name not in RESULTS:
        raise unknown("result", name, RESULTS)
    kind: type[Result] = getattr(importlib.import_module(RESULTS[name]), name)
    return kind


def document(result: Result) -> dict[str, Any]:
    """Return a result as it is saved: what it is, the kind of each column, the summary, the table."""
    declared, table = columns_of(result._declared), plain(result.columns())
    kinds = {name: declared[name] for name in table}
    head = {"priori": __version__, "result": result._declared.__name__, "layout": LAYOUT, "columns": kinds}
    said = {**plain(result.summary()), **table}
    return {**head, "digest": digest({**head, **said}), **said}


def digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document without its digest: of its values, so that the order of names does not matter.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2.0, "a": 1.0})
    True
    """
    same = json.loads(json.dumps(content), parse_float=_number)
    return hashlib.sha256(json.dumps(same, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _number(text: str) -> float:
    """Return a number as it may also be written: 1.0 as 1."""
    number = float(text)
    return int(number) if number.is_integer() else number


@dataclass(frozen=True, eq=False, repr=False)
class SavedResult(Result):
    """A result as its file holds it: the table and the summary, without the scores they came from.

    Attributes
    ----------
    kind : type
        The class that the result had.
    table, settings : dict
        What `columns` and `summary` return.
    """

    kind: type[Result]
    table: dict[str, NDArray[Any]]
    settings: dict[str, Any]

    @property
    def _declared(self) -> type[Result]:
        return self.kind

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table of this result."""
        return dict(self.table)

    def summary(self) -> dict[str, Any]:
        """Return the settings and single numbers of this result."""
        return dict(self.settings)


def read_json(source: str | Path, expected: type[Result]) -> SavedResult:
    """Read a result from JSON text or from a file; it must be of the class expected, or of one below it."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        text, where = source, "the JSON text"
    else:
        where = str(source)
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {where}: {getattr(error, 'strerror', None) or error}") from None
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or not {*HEAD} <= {*content}:
            raise InputError(f"{where} is not a result that Priori saved (to_json)")
        told = digest({name: value for name, value in content.items() if name != "digest"})
    except RecursionError:
        raise InputError(f"{where} is not a result that Priori saved: it is nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:  # also a number of thousands of digits
        raise InputError(f"{where} is not JSON: {error}") from None
    return _checked(content, told, where, expected)


def _checked(content: dict[str, Any], told: str, where: str, expected: type[Result]) -> SavedResult:
    """Check who wrote a file, that nobody changed it since, and that it holds what is expected."""
    layout, name = content["layout"], content["result"]
    if type(layout) is not int or layout < 1:
        raise InputError(f"{where} is not a result that Priori saved (to_json)")
    if layout > LAYOUT:
        raise InputError(
            f"{where} was written by Priori {content['priori']}, which is newer than this one ({__version__}); "
            "install that version or a later one"
        )
    if layout < LAYOUT:
        raise InputError(f"{where} was written by Priori {content['priori']} in a layout of before; save it again")
    if content["digest"] != told:
        raise InputError(f"{where} was changed after Priori saved it (its digest says so); save the result again")
    try:
        kind = class_of(name)
        table = {each: _column(content[each], held) for each, held in content["columns"].items()}
        summary = {each: value for each, value in content.items() if each not in table and each not in HEAD}
        if "warnings" in summary:
            summary["warnings"] = tuple(Caution(line["code"], line["text"]) for line in summary["warnings"])
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # Whoever can make the digest match can write anything.
        raise InputError(
            f"{where} is not as Priori saved it ({type(error).__name__}: {error}); save it again"
        ) from None
    if not issubclass(kind, expected):
        raise InputError(f"{where} holds a result of class {name}, not {expected.__name__}; use {name}.from_json")
    return SavedResult(kind, table, summary)


def _column(values: list[Any], kind: str) -> NDArray[Any]:
    """Return a list from a file as a column of its kind; a missing number is NaN."""
    if kind == "number":
        return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    if kind == "text":
        return np.array(values, dtype=None if values else str)
    return np.array(values, dtype=object if None in values else {"integer": np.int64, "boolean": np.bool_}[kind])


# -- schemas, made from what each class declares ----------------------------------------------------------------------


def schema(result: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a saved result.

    Examples
    --------
    >>> schema("EPC")["properties"]["alpha"]["description"]
    'The trade-offs; for an exact curve, where each constant piece begins.'
    """
    known = {name.lower(): name for name in RESULTS}
    if result.lower() not in known:
        raise unknown("result", result, RESULTS)
    return _schema(class_of(known[result.lower()]))


def _schema(kind: type[Result]) -> Schema:
    name, optional = kind.__name__, optional_columns(kind)
    kinds: Schema = {column: {"const": held} for column, held in columns_of(kind).items()}
    values, descriptions = schemas_of(kind), descriptions_of(kind)
    head: Schema = {
        "priori": {"type": "string", "description": "The version of Priori that wrote it."},
        "result": {"const": name},
        "layout": {"const": LAYOUT},
        "digest": {
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
            "description": "The SHA-256 of all the rest, by which a changed file is told.",
        },
        "columns": {"description": "The kind of each column of the table, in order.", **_closed(kinds, optional)},
    }
    described = {
        value: {**({"description": descriptions[value]} if value in descriptions else {}), **held}
        for value, held in values.items()
    }
    if "threshold" in values:
        optional = {*optional, "distances"}
        described["distances"] = {"const": True, "description": "Scores are distances: accept below the threshold."}
    return {
        "$schema": DRAFT,
        "$id": f"urn:priori:schema:{LAYOUT}:{name}",
        "title": name,
        "description": sentence_of(kind),
        **_closed({**head, **described}, optional),
        "$defs": {
            "number": {
                "description": "A number; infinite ones are the texts inf and -inf, a missing one is null.",
                "anyOf": [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}],
            },
            "numbers": {"type": "array", "items": NUMBER},
        },
    }


def _closed(properties: Schema, optional: set[str]) -> Schema:
    """Return an object with these names and no others; some of them may be absent."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def bundle() -> dict[str, Any]:
    """Return one JSON schema that any saved result fits, with the schema of each result inside.

    Examples
    --------
    >>> list(bundle()["$defs"])[:2]
    ['EPC', 'CrossEPC']
    """
    return {
        "$schema": DRAFT,
        "$id": f"urn:priori:schema:{LAYOUT}",
        "title": "Any result of Priori",
        "oneOf": [{"$ref": f"urn:priori:schema:{LAYOUT}:{name}"} for name in RESULTS],
        "$defs": {name: schema(name) for name in RESULTS},
    }
