"""Declarations: what a result holds, said once, by the annotations of its fields and properties.

Arrays are columns of its table, everything else belongs to its summary. `Column`, `Summary` and `Unsaved` say so where
that is not what is meant, and mark the properties that belong to either. Tables, summaries, files and schemas follow.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.saved import Saved, column, in_part, number

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


def _as_read(value: Any, _: Saved) -> Any:
    return value


@dataclass(frozen=True, eq=False)
class Kept:
    """How values of a type stand in a file: the schema, and how they are written and read."""

    schema: Schema
    write: Callable[[Any], Any] = told
    read: Callable[[Any, Saved], Any] = _as_read


@dataclass(frozen=True, eq=False)
class Flat:
    """A field that stands in the summary by parts, each by its name: a dictionary, or what can be put into one."""

    parts: Mapping[str, Schema]
    taken_apart: Callable[[Any], Mapping[str, Any]] = dict
    put_together: Callable[[Saved], Any] | None = None

    def write(self, value: Any) -> dict[str, Any]:
        """Return the parts by name."""
        values = self.taken_apart(value)
        return {name: values[name] for name in self.parts}

    def read(self, saved: Saved) -> Any:
        """Return the field from what a file says."""
        if self.put_together is not None:
            return self.put_together(saved)
        return {name: saved.summary[name] for name in self.parts}


class DeclaredTable:
    """A property that gives several columns at once, by name: their names by kind, and those that may be absent."""

    def __init__(self, columns: Mapping[str, str], optional: str = "") -> None:
        self.kinds = {name: kind for kind, names in columns.items() for name in names.split()}
        self.optional = frozenset(optional.split())

    def read(self, saved: Saved) -> dict[str, NDArray[Any]]:
        """Return the columns that a file has."""
        return {name: values for name, values in saved.table.items() if name in self.kinds}


COLUMN, SUMMARY, UNSAVED = object(), object(), object()
#: A column of the table; an array or None where not every result has it.
Column = Annotated[Value, COLUMN]
#: A value of the summary.
Summary = Annotated[Value, SUMMARY]
#: What files do not hold: a result that is read back has a `NotSaved` there.
Unsaved = Annotated[Value, UNSAVED]

Level = Annotated[float, Kept(LEVEL)]
Size = Annotated[int, Kept(SIZE)]
#: A table of numbers within a summary, row by row.
Rows = Annotated[
    np.ndarray[Any, np.dtype[np.float64]],
    Kept(listed(NUMBERS), read=lambda rows, _: np.array([column(row, "number", "row") for row in rows])),
]
#: What to mind about a result: `priori.base.cautions`.
Cautions = Annotated[
    tuple[str, ...],
    Kept(
        listed(record({"code": TEXT, "text": TEXT})),
        read=lambda lines, _: tuple(Caution(line["code"], line["text"]) for line in lines),
    ),
]

_PLAIN = {
    float: Kept(NUMBER, read=lambda value, _: number(value)),
    Fraction: Kept({"type": "number"}, write=float, read=lambda value, _: _fraction(value)),
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


def _fraction(value: float) -> Fraction:
    return Fraction(str(value)).limit_denominator(10**9)


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
            lambda value, saved: None if value is None else own.read(value, saved),
        )
    if origin is np.ndarray:
        kind = KINDS[_type_in_array(inner)]
        return Kept(LISTS[kind], read=lambda values, _: column(values, kind, "list"))
    if origin is tuple:
        size = None if arguments[-1] is Ellipsis else len(arguments)
        return _many(kept(arguments[0]), size)
    if origin is dict:
        own = kept(arguments[1])
        return Kept(
            {"type": "object", **({"additionalProperties": own.schema} if own.schema else {})},
            lambda values: {name: own.write(value) for name, value in values.items()},
            lambda values, saved: {name: own.read(value, saved) for name, value in values.items()},
        )
    return _record(inner)


def _many(own: Kept, size: int | None) -> Kept:
    schema = NUMBERS if own.schema == NUMBER and size is None else listed(own.schema, size)
    return Kept(
        schema,
        lambda values: [own.write(value) for value in values],
        lambda values, saved: tuple(own.read(value, saved) for value in values),
    )


def _record(kind: Any) -> Kept:
    """Return how a nested dataclass, named tuple or typed dictionary is kept: an object of all that it declares."""
    if not (is_dataclass(kind) or is_typeddict(kind) or hasattr(kind, "_fields")):
        raise TypeError(f"nothing says how a {kind} is saved: annotate it with Kept, or as Unsaved")
    declared = _hints(kind)
    own = {name: kept(hint) for name, (hint, _) in declared.items()}

    def read(values: Mapping[str, Any], saved: Saved) -> Any:
        known = {name: own[name].read(values[name], saved) for name, (_, given) in declared.items() if given}
        return known if is_typeddict(kind) else in_part(kind, **known)

    return Kept(record({name: each.schema for name, each in own.items()}), read=read)


# -- what a class declares -----------------------------------------------------------------------------------------


@cache
def _hints(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Return the types of all that a class declares to hold, and whether it can be given: fields, then properties.

    Properties that remember their value can be given.
    """
    found = {name: (hint, True) for name, hint in get_type_hints(kind, include_extras=True).items()}
    names = [each.name for each in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", list(found))
    found = {name: found[name] for name in names if UNSAVED not in _unwrapped(found[name][0])[1]}
    for base in reversed(kind.__mro__):
        for name, attribute in vars(base).items():
            computed = getattr(attribute, "fget", None) or getattr(attribute, "func", None)
            if isinstance(attribute, (property, cached_property)) and computed is not None:
                found.pop(name, None)
                if str(computed.__annotations__.get("return", "")).startswith(("Column[", "Summary[")):
                    hint = get_type_hints(computed, include_extras=True)["return"]
                    found[name] = hint, isinstance(attribute, cached_property)
    return found


@dataclass(frozen=True)
class DeclaredMember:
    """A field or property of a result in its file: columns by kind, values of the summary by schema.

    ``write`` gives both by name, ``read`` the field from a file, where it can be given. Columns may be ``optional``.
    """

    columns: Mapping[str, str]
    summary: Mapping[str, Schema]
    write: Callable[[Any], Mapping[str, Any]]
    read: Callable[[Saved], Any] | None
    optional: frozenset[str] = frozenset()


def members(kind: type) -> dict[str, DeclaredMember]:
    """Return what a result declares to hold, by name."""
    return _members(kind)


@cache
def _members(kind: Any) -> dict[str, DeclaredMember]:
    found = {name: (_member(name, hint), given) for name, (hint, given) in _hints(kind).items()}
    return {name: member if given else replace(member, read=None) for name, (member, given) in found.items()}


def _member(name: str, hint: Any) -> DeclaredMember:
    inner, notes = _unwrapped(hint)
    for note in notes:
        if isinstance(note, Flat):
            return DeclaredMember({}, note.parts, note.write, note.read)
        if isinstance(note, DeclaredTable):
            return DeclaredMember(note.kinds, {}, dict, note.read, note.optional)
    optional = _is_optional(inner)
    value = next(_unwrapped(each)[0] for each in get_args(inner) if each is not types.NoneType) if optional else inner
    array = get_origin(value) is np.ndarray
    if COLUMN in notes or (array and SUMMARY not in notes and not any(isinstance(note, Kept) for note in notes)):
        return _column(name, _type_in_array(value) if array else value, array, optional)
    own = kept(hint)
    return DeclaredMember(
        {},
        {name: own.schema},
        lambda value: {name: own.write(value)},
        lambda saved: own.read(saved.summary[name], saved),
    )


def _column(name: str, value: Any, array: bool, optional: bool) -> DeclaredMember:
    def single(saved: Saved) -> Any:
        cell = saved.table[name].tolist()[0]
        return None if optional and cell != cell else cell

    return DeclaredMember(
        {name: KINDS[value]},
        {},
        lambda held: {} if array and held is None else {name: np.atleast_1d(held)},
        (lambda saved: saved.table.get(name)) if array else single,
        frozenset([name] if array and optional else []),
    )


def _unwrapped(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without what is noted with it, and the notes."""
    inner, notes = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
    # NDArray is an alias that is not taken for what it stands for, since numpy 2.5.
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


def restorable(kind: type, saved: Saved) -> dict[str, Any]:
    """Return the fields of a class, and the properties that remember their value, from what a file has."""
    return {name: member.read(saved) for name, member in members(kind).items() if member.read is not None}


# -- words ---------------------------------------------------------------------------------------------------------

#: What names mean wherever they stand, unless a class says otherwise.
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
    "warnings": "What to mind: the code by which it is known and silenced, and the words.",
}

#: An entry of the attributes in a docstring: names, a type, and the text below.
ENTRY = re.compile(r"^([\w, ]+) : .*\n((?:    .*\n|\n)+)", re.MULTILINE)


def sentence_of(kind: type) -> str:
    """Return what a class says that it is: the first sentence of its docstring."""
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
