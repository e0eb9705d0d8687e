"""The parser that defines what a text file means, line by line. Slow and exact; duckdb must agree with it."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any

import numpy as np

from priori.base.errors import InputError
from priori.readers.input_file import Source
from priori.readers.layout import BLANKS, CONTROL, JSON, Columns, LineLayout, or_ignored
from priori.scores import Names

_FIELD = re.compile(r"[^ \t]+")


def number(text: str, decimal: str = ".") -> float:
    """Return the number written in a field; empty and NA are NaN.

    A number is what C and Python write: 1, -0.5, 1e-3, inf, nan (any case). Not a number: 1_000, 0x10, 1,000. In a file
    of decimal commas it is what they write with a comma for the point, and 0.5 is not a number.

    Raises
    ------
    ValueError
        With the reason, when the text is no number, or one too large for double precision.
    """
    if decimal == ",":
        if "." in text:
            raise ValueError("is not a number (this file has decimal commas)")
        text = text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        if text == "" or text.lower() == "na":
            return math.nan
        comma = re.fullmatch(r"[+-]?\d+,\d+", text)
        raise ValueError("is not a number" + (" (write a decimal point)" if comma else "")) from None
    if "_" in text or not text.isascii():
        raise ValueError("is not a number")
    if math.isinf(value) and "inf" not in text.lower():
        raise ValueError("is too large for double precision (write inf if infinity is meant)")
    return value


def is_number(text: str) -> bool:
    """Tell whether a field holds a number (or NaN, or NA)."""
    try:
        number(text)
    except ValueError:
        return False
    return text != ""


def split_blanks(line: str) -> list[str]:
    """Split at runs of spaces and tabs; a field that starts with ``#`` begins a comment."""
    fields: list[str] = _FIELD.findall(line)
    if "#" in line:
        return list(takewhile(lambda field: not field.startswith("#"), fields))
    return fields


def records(source: Source, delimiter: str, skip: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows as fields, with the line each starts on, without comments and blank lines."""
    if delimiter == BLANKS:
        for line_number, line in source.lines():
            if line_number > skip and (fields := split_blanks(line)):
                yield line_number, fields
    else:
        yield from _quoted_records(source, delimiter, skip)


def _quoted_records(source: Source, delimiter: str, skip: int) -> Iterator[tuple[int, list[str]]]:
    start = 0  # the line the row under way starts on; 0 between rows, when comments and blank lines may stand

    def lines() -> Iterator[str]:
        nonlocal start
        for line_number, line in source.lines():
            if line_number <= skip or (not start and (line.startswith("#") or not line.strip(" \t"))):
                continue
            start = start or line_number
            yield line + "\n"

    reader = csv.reader(lines(), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if "field limit" in str(error):
                fault = f"a field of more than {csv.field_size_limit()} characters; shorten it, or close its quotes"
            else:
                fault = f"cannot be split into fields ({error}); check the quotes"
            raise InputError(f"{source.name}:{start}: {fault}") from None
        yield start, [text.strip(" \t") for text in fields]
        start = 0


def objects(source: Source, layout: LineLayout) -> Iterator[tuple[int, list[str]]]:
    """Yield each line of JSON as fields, with its number; fields of no column of ours are left empty.

    A value that is null or not there is an empty field; true and false are the words.
    """
    used = {index: layout.fields[index] for index in (*layout.columns.values(), *layout.trial)}
    for line_number, line in source.lines():
        if not (text := line.strip(" \t")) or text.startswith("#"):
            continue
        held, fields = parsed_object(source, line_number, line), [""] * len(layout.fields)
        for index, key in used.items():
            value = held.get(key)
            if isinstance(value, (dict, list)):
                raise InputError(f"{source.name}:{line_number}: the {key} is a list or an object; give one value")
            fields[index] = _json_field(value)
        yield line_number, fields


def parsed_object(source: Source, line_number: int, line: str) -> dict[str, Any]:
    """Return the object in a line of JSON; numbers stay as they are written."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{source.name}:{line_number}: the key {_shortened(twice)} stands twice; keep one of them")
        return held

    try:
        held = json.loads(line, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=once)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise InputError(f"{source.name}:{line_number}: not JSON ({reason}); write one object per line") from None
    if not isinstance(held, dict):
        raise InputError(f'{source.name}:{line_number}: not an object; write one in each line, {{"score": 0.5, ...}}')
    return held


def _json_field(value: str | bool | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return (value or "").strip(" \t")


def rows(source: Source, layout: LineLayout) -> Iterator[tuple[int, list[str], str, list[float]]]:
    """Yield line number, names, trial id and scores of each row, all checked."""
    width = len(layout.fields)
    names = list(layout.names.values())
    scores = list(layout.scores.values())
    found = objects(source, layout) if layout.delimiter == JSON else records(source, layout.delimiter, layout.skip)
    for line, fields in found:
        if len(fields) != width and not (len(fields) == width + 1 and fields[-1] == ""):
            raise _wrong_width(source, layout, line, fields)
        values = []
        for index in scores:
            try:
                values.append(number(fields[index], layout.decimal))
            except ValueError as error:
                raise InputError(f"{source.name}:{line}: the score {_shortened(fields[index])} {error}") from None
        if layout.quoted:  # between blanks, no field is empty or holds one
            _check_names(source, layout, line, fields)
        yield line, [fields[index] for index in names], " ".join([fields[index] for index in layout.trial]), values


def _check_names(source: Source, layout: LineLayout, line: int, fields: list[str]) -> None:
    for index in (*layout.names.values(), *layout.trial):
        name, text = layout.fields[index], fields[index]
        if not (text or layout.strays) and index != layout.names.get("attack"):  # an empty type: no attack
            role = next((role for role, place in layout.names.items() if place == index), "trial")
            raise InputError(f"{source.name}:{line}: no {name}; the field is empty, fill it in{or_ignored(role)}")
        if CONTROL.search(text):
            raise InputError(
                f"{source.name}:{line}: the {name} {_shortened(text)} holds a tab or a line break; remove it"
            )


def _wrong_width(source: Source, layout: LineLayout, line: int, fields: list[str]) -> InputError:
    got = f"{len(fields)} field{'s' if len(fields) != 1 else ''}"
    return InputError(
        f"{source.name}:{line}: {got} where {len(layout.fields)} are needed "
        f"({' '.join(layout.fields)}): {_shortened(' '.join(fields))}"
    )


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def load(source: Source, layout: LineLayout) -> Columns:
    """Read a small file into columns."""
    read = list(rows(source, layout))
    columns = dict(zip(layout.names, zip(*(names for _, names, _, _ in read), strict=True), strict=False))
    trials = [trial for _, _, trial, _ in read]
    codes, lists = {}, {}
    for group, members in layout.groups.items():
        encoded, coded = Names.encode(*(np.array(columns.get(member, ()), dtype=str) for member in members))
        assert encoded is not None
        lists[group] = encoded
        codes.update({member: code for member, code in zip(members, coded, strict=True) if code is not None})
    scores = np.array([values for _, _, _, values in read], dtype=np.float64).reshape(len(read), len(layout.scores)).T
    return Columns(
        dict(zip(layout.scores, np.ascontiguousarray(scores), strict=False)),
        codes,
        lists,
        np.array(trials, dtype=str) if layout.trial else None,
        layout,
        layout.trial_is_built,
    )


def place_of(source: Source, layout: LineLayout, row: int) -> str:
    """Say on which line a row is, counted from 0."""
    return f"on line {next(islice(rows(source, layout), row, None))[0]}"
