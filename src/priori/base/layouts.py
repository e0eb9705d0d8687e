"""Layouts: what a saved result holds, name by name. Each class of results declares one; schemas are made from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "AT_LEAST_ONE", "DESCRIPTIONS", "FLAG", "INTEGER", "KINDS", "LEVEL", "NUMBER", "NUMBERS", "SIZE", "TEXT", "TEXTS",
    "Layout", "Schema", "choice", "listed", "maybe", "numbers", "record",
]  # fmt: skip

#: A piece of a JSON schema: what one value may be.
Schema = dict[str, Any]

NUMBER: Schema = {"$ref": "#/$defs/number"}
NUMBERS: Schema = {"$ref": "#/$defs/numbers"}
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
FLAG: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
SIZE: Schema = {"type": "integer", "minimum": 0}
AT_LEAST_ONE: Schema = {"type": "integer", "minimum": 1}
LEVEL: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}


def choice(*names: str) -> Schema:
    """Return what is one of these texts."""
    return {"enum": list(names)}


def listed(items: Schema, size: int | None = None) -> Schema:
    """Return a list of such values, of one size where it is given."""
    return {"type": "array", "items": items, **({} if size is None else {"minItems": size, "maxItems": size})}


def maybe(value: Schema) -> Schema:
    """Return such a value, or null."""
    return {"type": [value["type"], "null"]} if list(value) == ["type"] else {"anyOf": [{"type": "null"}, value]}


def record(**values: Schema) -> Schema:
    """Return an object with exactly these names."""
    return {"type": "object", "properties": values, "required": list(values), "additionalProperties": False}


#: The kinds of columns: what a document says of such a column, and the column itself.
KINDS: dict[str, tuple[Schema, Schema]] = {
    "number": ({"const": "number"}, NUMBERS),
    "integer": ({"const": "integer"}, listed({"type": ["integer", "null"]})),
    # A column of whole numbers of which none is known cannot be told from numbers.
    "integer or missing": (choice("integer", "number"), listed({"type": ["integer", "null"]})),
    "boolean": ({"const": "boolean"}, listed({"type": ["boolean", "null"]})),
    "text": ({"const": "text"}, listed({"type": ["string", "null"]})),
}

#: What names mean wherever they stand, unless a layout says otherwise.
DESCRIPTIONS = {
    "alpha": "The trade-off; for an exact curve, where each constant piece begins.",
    "best": "What choosing the thresholds on the test set itself would have shown.",
    "bootstrap": "What is redrawn.",
    "bounds": "The first and the last alpha.",
    "confidence": "1 minus the p-value.",
    "criterion": "What the thresholds minimise on the development set.",
    "custom": "Which of these are the caller's own, so that their names do not say what they are.",
    "dev_v1": "V1 on the development set.",
    "dev_v2": "V2 on the development set.",
    "lower": "The lower bound of the interval.",
    "meaning": "What the curve tells, in one sentence.",
    "measure": "The measure, by its name.",
    "n_resamples": "How many replicates; two numbers are draws of users and of their trials.",
    "p_value": "The p-value of no difference.",
    "promise": "Hold the curve of the whole population, or the one that a new test set will show.",
    "resample": "Redraw the test set only, or the development set too.",
    "sd": "The standard deviation.",
    "seed": "The same seed, the same numbers.",
    "skipped": "Data sets left out because they have one class only.",
    "task": "The domain: its pair V1, V2 and its aggregate.",
    "threshold": "Accept where the score is greater than this.",
    "upper": "The upper bound of the interval.",
    "v1": "V1 on the test set.",
    "v2": "V2 on the test set.",
    "value": "The measure on the test set.",
    "warning": "What to mind, if anything.",
    "warnings": "What to mind.",
}


def numbers(*names: str) -> dict[str, str]:
    """Return columns of numbers."""
    return dict.fromkeys(names, "number")


@dataclass(frozen=True)
class Layout:
    """What results of one class hold: ``columns`` by kind (see `KINDS`), ``summary`` by what each value may be.

    ``optional`` names are not in every result; ``descriptions`` stand instead of those of `DESCRIPTIONS`.
    """

    description: str
    columns: dict[str, str]
    summary: dict[str, Schema]
    optional: tuple[str, ...] = ()
    descriptions: dict[str, str] = field(default_factory=dict)
