"""Results as JSON and back: one layout for all of them, and its published JSON schemas.

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

from priori._version import __version__
from priori.base.declarations import (
    NUMBER,
    Schema,
    columns_of,
    descriptions_of,
    optional_columns,
    schemas_of,
    sentence_of,
)
from priori.base.errors import InputError, OptionError, PrioriError, unknown
from priori.base.results import Result, negated, plain, restored
from priori.base.saved import Saved, column

Kind = TypeVar("Kind", bound=Result)

#: The number of this layout; a file with a higher one was written by a newer Priori.
LAYOUT = 4

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
    "AreaBands": "priori.uncertainty.bands.bands",
    "AposterioriROC": "priori.curves.roc",
    "AposterioriDET": "priori.curves.roc",
    "RocBand": "priori.uncertainty.bands.roc_bands",
    "AverageCurve": "priori.curves.averaging.average",
    "AverageEPC": "priori.curves.averaging.epc",
    "ThresholdInterval": "priori.uncertainty.expected.thresholds",
    "Comparison": "priori.uncertainty.comparing.comparison",
    "Ranking": "priori.uncertainty.ranking.ranking",
    "Leaderboard": "priori.uncertainty.ranking.leaderboard",
    "ZTest": "priori.uncertainty.comparing.ztests",
    "ProportionInterval": "priori.uncertainty.rates.proportions",
    "ProportionTest": "priori.uncertainty.rates.proportions",
    "RateInterval": "priori.uncertainty.rates.rate_intervals",
    "GroupRates": "priori.uncertainty.rates.group_rates",
    "UserRates": "priori.uncertainty.rates.user_rates",
    "AposterioriAUCInterval": "priori.uncertainty.rates.auc",
    "AposterioriAUCTest": "priori.uncertainty.rates.auc",
    "AmountCosts": "priori.uncertainty.amounts",
    "LLRCosts": "priori.uncertainty.costs",
    "CostsTest": "priori.uncertainty.costs",
    "Reliability": "priori.uncertainty.llr_curves",
    "Tippett": "priori.uncertainty.llr_curves",
    "ECE": "priori.uncertainty.llr_curves",
    "Plan": "priori.studies.planning",
    "LimitPlan": "priori.studies.limits",
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
    declared, table = columns_of(type(result)), plain(result.columns())
    kinds = {name: declared[name] for name in table}
    head = {"priori": __version__, "result": type(result).__name__, "layout": LAYOUT, "columns": kinds}
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
    saved, kind = _checked(content, told, where, expected)
    for thing in supplied:
        if thing not in saved.summary:
            raise OptionError(f"{where}: a saved {saved.result} has no {thing}; leave {thing} out")
    try:
        return restored(kind, replace(saved, supplied=supplied))
    except PrioriError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{where} is not as Priori saved it ({type(error).__name__}: {error}); save it again"
        ) from None


def _checked(content: dict[str, Any], told: str, where: str, expected: type[Kind]) -> tuple[Saved, type[Kind]]:
    """Check what a file says from the outside in: its head, its class, its columns, its digest."""
    layout, kinds, name = content["layout"], content["columns"], content["result"]
    if type(layout) is not int or layout < 1 or not isinstance(kinds, dict) or not isinstance(name, str):
        raise InputError(f"{where} is not a result that Priori saved (to_json)")
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
    if content["digest"] != told:
        raise InputError(f"{where} was changed after Priori saved it (its digest says so); save the result again")
    if missing := [each for each in schemas_of(kind) if each not in content and each not in optional_columns(kind)]:
        raise InputError(f"{where}: {missing[0]!r} is missing, which every {name} has")
    summary = {each: value for each, value in content.items() if each not in kinds and each not in HEAD}
    if summary.get("distances"):  # within, thresholds are those of the scores
        table, summary = (negated(part, kind._ranges) for part in (table, summary))
    return Saved(name, table, summary, where), kind


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
    """Return an object that has these names and no other; some of them may be absent."""
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
