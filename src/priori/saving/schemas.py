"""The published JSON schemas of saved results, made from what each class declares."""

from __future__ import annotations

from typing import Any

from priori.base.declarations import (
    NUMBER,
    Schema,
    columns_of,
    descriptions_of,
    optional_columns,
    schemas_of,
    sentence_of,
)
from priori.base.errors import unknown
from priori.base.results import Result
from priori.saving.documents import LAYOUT, RESULTS, class_of

DRAFT = "https://json-schema.org/draft/2020-12/schema"


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
