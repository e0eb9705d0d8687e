"""Declarations: what a result holds, stated once, by the annotations of its fields and properties.

Arrays are columns of its table, everything else belongs to its summary. `Column`, `Summary` and `Unsaved` override
that, and mark the properties that belong to either. Tables, summaries, files and schemas follow.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

Value = TypeVar("Value")
#: A piece of a JSON schema: what one value may be.
Schema = dict[str, Any]

NUMBER: Schema = {"$ref": "#/$defs/number"}
NUMBERS: Schema = {"$ref": "#/$defs/numbers"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
SIZE: Schema = {"type": "integer", "minimum": 0}
LEVEL: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}


def listed(items: Schema, size: int | None = None) -> Schema:
    """Return a list of such values, of one size where it is given."""
    return {"type": "array", "items": items, **({} if size is None else {"minItems": size, "maxItems": size})}


def maybe(value: Schema) -> Schema:
    """Return such a value, or null."""
    return {"type": [value["type"], "null"]} if list(value) == ["type"] else {"anyOf": [{"type": "null"}, value]}


def record(values: Mapping[str, Schema]) -> Schema:
    """Return an object with exactly these names."""
    return {"type": "object", "properties": dict(values), "required": list(values), "additionalProperties": False}


# -- how values stand in files -------------------------------------------------------------------------------------


def told(value: Any) -> Any:
    """Return a value as a summary has it: records as dictionaries, tuples as lists."""
    kind: Any = type(value)
    if is_dataclass(kind) or hasattr(kind, "_asdict"):
        return {name: told(getattr(value, name)) for name in _hints(kind)}
    return [told(item) for item in value] if isinstance(value, (tuple, list)) else value


@dataclass(frozen=True, eq=False)
class Kept:
    """How values of a type are kept in a file: their schema, and how they are written."""

    schema: Schema
    write: Callable[[Any], Any] = told


@dataclass(frozen=True, eq=False)
class Flat:
    """A field that stands in the summary by parts, each by its name: a dictionary, or what can be made one."""

    parts: Mapping[str, Schema]
    taken_apart: Callable[[Any], Mapping[str, Any]] = dict

    def write(self, value: Any) -> dict[str, Any]:
        """Return the parts by name."""
        values = self.taken_apart(value)
        return {name: values[name] for name in self.parts}


class DeclaredTable:
    """A property that gives several columns at once, by name: their names by kind, and those that may be absent."""

    def __init__(self, columns: Mapping[str, str], optional: str = "") -> None:
        self.kinds = {name: kind for kind, names in columns.items() for name in names.split()}
        self.optional = frozenset(optional.split())


COLUMN, SUMMARY, UNSAVED = object(), object(), object()
#: A column of the table; an array or None where not every result has it.
Column = Annotated[Value, COLUMN]
#: A value of the summary.
Summary = Annotated[Value, SUMMARY]
#: What is not saved in files.
Unsaved = Annotated[Value, UNSAVED]

Level = Annotated[float, Kept(LEVEL)]
Size = Annotated[int, Kept(SIZE)]
#: A table of numbers within a summary, row by row.
Rows = Annotated[np.ndarray[Any, np.dtype[np.float64]], Kept(listed(NUMBERS))]
#: What to mind about a result: `priori.base.cautions`.
Cautions = Annotated[tuple[str, ...], Kept(listed(record({"code": TEXT, "text": TEXT})))]

_PLAIN = {
    float: Kept(NUMBER),
    Fraction: Kept({"type": "number"}, write=float),
    int: Kept(INTEGER),
    bool: Kept(FLAG),
    str: Kept(TEXT),
    Any: Kept({}),
}
#: The kinds of columns, by the type of their values, and what a list of such values may be.
KINDS = {float: "number", np.float64: "number", int: "integer", np.int64: "integer", bool: "boolean"} | {
    np.bool_: "boolean",
    str: "text",
    np.str_: "text",
    Any: "text",
}
LISTS: dict[str, Schema] = {
    "number": NUMBERS,
    "integer": listed(maybe(INTEGER)),
    "boolean": listed(maybe(FLAG)),
    "text": listed(maybe(TEXT)),
}


def kept(hint: Any) -> Kept:
    """Return how values of an annotated type stand in a file."""
    inner, notes = _unwrapped(hint)
    if found := next((note for note in notes if isinstance(note, Kept)), None):
        return found
    if inner in _PLAIN:
        return _PLAIN[inner]
    origin, arguments = get_origin(inner), get_args(inner)
    if origin is Literal:
        return Kept({"enum": list(arguments)})
    if _is_optional(inner):
        own = kept(Union[tuple(each for each in arguments if each is not types.NoneType)])  # noqa: UP007
        return Kept(
            own.schema if own.schema == NUMBER else maybe(own.schema),
            lambda value: None if value is None else own.write(value),
        )
    if origin is np.ndarray:
        return Kept(LISTS[KINDS[_type_in_array(inner)]])
    if origin is tuple:
        size = None if arguments[-1] is Ellipsis else len(arguments)
        own = kept(arguments[0])
        schema = NUMBERS if own.schema == NUMBER and size is None else listed(own.schema, size)
        return Kept(schema, lambda values: [own.write(value) for value in values])
    if origin is dict:
        own = kept(arguments[1])
        return Kept(
            {"type": "object", **({"additionalProperties": own.schema} if own.schema else {})},
            lambda values: {name: own.write(value) for name, value in values.items()},
        )
    return _record(inner)


def _record(kind: Any) -> Kept:
    """Return how a nested dataclass, named tuple or typed dictionary is kept: an object of all that it declares."""
    if not (is_dataclass(kind) or is_typeddict(kind) or hasattr(kind, "_fields")):
        raise TypeError(f"nothing says how a {kind} is saved: annotate it with Kept, or as Unsaved")
    return Kept(record({name: kept(hint).schema for name, hint in _hints(kind).items()}))


# -- what a class declares -----------------------------------------------------------------------------------------


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the types of all that a class declares to hold: fields, then properties."""
    found = get_type_hints(kind, include_extras=True)
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", list(found))
    found = {name: found[name] for name in names if UNSAVED not in _unwrapped(found[name])[1]}
    for base in reversed(kind.__mro__):
        for name, attribute in vars(base).items():
            computed = getattr(attribute, "fget", None) or getattr(attribute, "func", None)
            if isinstance(attribute, (property, cached_property)) and computed is not None:
                found.pop(name, None)
                if str(computed.__annotations__.get("return", "")).startswith(("Column[", "Summary[")):
                    found[name] = get_type_hints(computed, include_extras=True)["return"]
    return found


@dataclass(frozen=True)
class DeclaredMember:
    """A field or property of a result in its file: columns by kind, values of the summary by schema.

    ``write`` gives both by name. Columns may be ``optional``.
    """

    columns: Mapping[str, str]
    summary: Mapping[str, Schema]
    write: Callable[[Any], Mapping[str, Any]]
    optional: frozenset[str] = frozenset()


def members(kind: type) -> dict[str, DeclaredMember]:
    """Return what a result declares to hold, by name."""
    return _members(kind)


@cache
def _members(kind: Any) -> dict[str, DeclaredMember]:
    return {name: _member(name, hint) for name, hint in _hints(kind).items()}


def _member(name: str, hint: Any) -> DeclaredMember:
    inner, notes = _unwrapped(hint)
    for note in notes:
        if isinstance(note, Flat):
            return DeclaredMember({}, note.parts, note.write)
        if isinstance(note, DeclaredTable):
            return DeclaredMember(note.kinds, {}, dict, note.optional)
    optional = _is_optional(inner)
    value = next(_unwrapped(each)[0] for each in get_args(inner) if each is not types.NoneType) if optional else inner
    array = get_origin(value) is np.ndarray
    if COLUMN in notes or (array and SUMMARY not in notes and not any(isinstance(note, Kept) for note in notes)):
        return DeclaredMember(
            {name: KINDS[_type_in_array(value) if array else value]},
            {},
            lambda held: {} if array and held is None else {name: np.atleast_1d(held)},
            frozenset([name] if array and optional else []),
        )
    own = kept(hint)
    return DeclaredMember({}, {name: own.schema}, lambda value: {name: own.write(value)})


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without what is noted with it, and the notes."""
    inner, notes = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
    # Since numpy 2.5 NDArray is an alias that does not compare equal to what it stands for.
    alias = getattr(get_origin(inner), "__value__", None)
    return (inner if alias is None else alias[get_args(inner)]), notes


def _is_optional(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and types.NoneType in get_args(hint)


def _type_in_array(hint: Any) -> Any:
    return get_args(get_args(hint)[1])[0]


def columns_of(kind: type) -> dict[str, str]:
    """Return the kind of each column of a class of results: number, integer, boolean or text."""
    return {name: held for member in members(kind).values() for name, held in member.columns.items()}


def schemas_of(kind: type) -> dict[str, Schema]:
    """Return what each value of a file may be, the summary first."""
    summary = {name: schema for member in members(kind).values() for name, schema in member.summary.items()}
    return summary | {name: LISTS[held] for name, held in columns_of(kind).items()}


def optional_columns(kind: type) -> set[str]:
    """Return the columns that not every result of a class has."""
    return {name for member in members(kind).values() for name in member.optional}


# -- words ---------------------------------------------------------------------------------------------------------

#: What names mean everywhere, unless a class says otherwise.
DESCRIPTIONS = {
    "alpha": "The trade-off; for an exact curve, where each constant piece begins.",
    "bootstrap": "What is resampled.",
    "bounds": "The first and the last alpha.",
    "confidence": "1 minus the p-value.",
    "claim": "What is compared: systems tuned on other development sets (method), or the thresholds as they are.",
    "criterion": "What the thresholds minimise on the development set.",
    "custom": "Which of these are the caller's own, so that their names do not say what they are.",
    "dev": "The development set.",
    "equation": "The number of the equation in the thesis.",
    "exact": "Whether every piece of the curve is there, instead of a grid.",
    "lower": "The lower bound of the interval.",
    "measure": "The measure, by its name.",
    "measure_title": "The measure, as figures call it.",
    "n_resamples": "How many replicates; two numbers are draws of users and of their trials.",
    "p_adjusted": "The p-value adjusted for all that is tested together (step-down max-T).",
    "p_value": "The p-value of no difference.",
    "rate": "Whether the measure is shown as a percentage.",
    "resample": "Resample the test set only, or the development set too.",
    "sd": "The standard deviation.",
    "seed": "The same seed, the same numbers.",
    "skipped": "Data sets left out because they have one class only.",
    "task": "The domain: its pair V1, V2 and its aggregate.",
    "test": "The test set.",
    "threshold": "Accept where the score is greater than this.",
    "upper": "The upper bound of the interval.",
    "v1_name": "The measure that V1 is.",
    "v2_name": "The measure that V2 is.",
    "value": "The measure on the test set.",
    "warnings": "What to mind: the code by which it is known, and the words.",
}

#: An entry of the attributes in a docstring: names, a type, and the text below.
ENTRY = re.compile(r"^([\w, ]+) : .*\n((?:    .*\n|\n)+)", re.MULTILINE)


def sentence_of(kind: type) -> str:
    """Return the first sentence of a class's docstring."""
    return (kind.__doc__ or kind.__name__).strip().split("\n\n")[0].split(" Made by")[0].strip()


def descriptions_of(kind: type) -> dict[str, str]:
    """Return what is said of names: in the docstrings of a class, of its properties, or wherever they stand."""
    found = dict(DESCRIPTIONS)
    for base in reversed(kind.__mro__):
        for names, text in ENTRY.findall(inspect.cleandoc(base.__doc__ or "") + "\n"):
            found |= dict.fromkeys(names.replace(" ", "").split(","), " ".join(text.split()))
        for name, member in vars(base).items():
            if name in members(kind) and isinstance(member, (property, cached_property)) and member.__doc__:
                found[name] = member.__doc__.split("\n\n")[0]
    return found
