"""Saved: what a file says about a result, and objects that are put together from it without the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import InputError, MissingScoresError
from priori.base.types import Floats

Part = TypeVar("Part")


class NotSaved:
    """Stands on a class for one of its fields: Python comes here only for an object that does not have the field."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object | None, owner: type) -> NotSaved:
        if instance is None:
            return self
        raise MissingScoresError(
            f"this needs the scores ({self.name}), and this {vars(instance).get('_part_of', owner.__name__)} was read "
            "from a file without them; compute it again from the scores, or look into summary() and columns()"
        )


def partly_saved(kind: type[Part]) -> type[Part]:
    """Let a dataclass come back from a file without some of its fields: these raise `MissingScoresError`."""
    for held in fields(kind):  # type: ignore[arg-type]
        stand_in = NotSaved()
        stand_in.__set_name__(kind, held.name)
        setattr(kind, held.name, stand_in)
    return kind


@dataclass(frozen=True, eq=False)
class Saved:
    """The table and the summary of a result, as read from a file.

    ``result`` is the name of its class, ``where`` the file, for messages. ``supplied`` holds what a file cannot, a
    measure, criterion or task of the caller's own, where the caller hands it in.
    """

    result: str
    table: Mapping[str, NDArray[Any]]
    summary: Mapping[str, Any]
    where: str = "the file"
    supplied: Mapping[str, object] = field(default_factory=dict)

    def part(self, kind: type[Part], /, **known: Any) -> Part:
        """Return an object with what is known of it: fields, and computed properties that remember their value."""
        part = object.__new__(kind)
        vars(part).update(known, _part_of=self.result)
        return part

    def __getitem__(self, name: str) -> Any:
        """Return one value of the summary."""
        return self.summary[name]

    def values(self, *names: str) -> dict[str, Any]:
        """Return several values of the summary by name."""
        return {name: self[name] for name in names}

    def number(self, name: str) -> float:
        """Return one number of the summary; a missing one is NaN."""
        return float(column([self[name]], "number", name)[0])

    def numbers(self, name: str) -> Floats:
        """Return a list of numbers of the summary."""
        return column(self[name], "number", name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts of the summary."""
        return tuple(self[name])

    def cautions(self, name: str) -> tuple[str, ...]:
        """Return a list of cautions of the summary."""
        # Layout 1 had them as texts.
        return tuple(each if isinstance(each, str) else Caution(each["code"], each["text"]) for each in self[name])

    def columns(self, *names: str) -> dict[str, Any]:
        """Return several columns of the table by name."""
        return {name: self.table[name] for name in names}


#: What stands in a list of each kind, beside null: the types, and for numbers the names of the infinite ones.
TYPES = {"number": (int, float, bool), "integer": (int,), "boolean": (bool,), "text": (str,)}
INFINITE = ("inf", "-inf")


def column(values: Any, kind: str, name: str) -> NDArray[Any]:
    """Return a list from a file as a column of its kind; a missing number is NaN."""
    if not isinstance(values, list):
        raise InputError(f"column {name!r} is not a list of values")
    if kind not in TYPES:
        raise InputError(f"column {name!r} is of an unknown kind {kind!r}")
    for value in values:
        if value is not None and type(value) not in TYPES[kind] and not (kind == "number" and value in INFINITE):
            raise InputError(f"column {name!r} holds something else than the {kind} it says")
    missing = any(value is None for value in values)
    try:
        if kind == "number":
            return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
        if kind in ("integer", "boolean"):
            return np.array(values, dtype=object if missing else (np.int64 if kind == "integer" else np.bool_))
    except OverflowError:
        raise InputError(f"column {name!r} holds a number that is too large") from None
    return np.array(values, dtype=None if values else str)
