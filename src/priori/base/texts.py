"""Results as text: JSON, CSV, and the HTML that a notebook shows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori._version import __version__
from priori.base.cautions import labelled, not_shown, shown, silenced_codes
from priori.base.results import plain

#: Tables longer than this show only their two ends in a notebook.
LONGEST = 12
#: What a notebook does not show: it says again, or for programs, what is seen anyway.
LEFT_OUT = ("measure_title", "rate", "greater_is_better", "v1_name", "v2_name", "exact")

#: How a text begins that a spreadsheet takes for a formula, also after apostrophes: so one of them can be taken away.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def notebook_html(name: str, table: Mapping[str, Any], summary: dict[str, Any]) -> str:
    """Return a result as a notebook shows it: its name, its single values, the ends of its table."""
    columns = {column: np.asarray(values) for column, values in table.items()}
    size = len(next(iter(columns.values()), ()))
    more = f"<caption>{size} rows</caption>" if size > LONGEST else ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    rows = f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{_rows(columns, size)}</tbody></table>"
    return f"<div><strong>{escape(name)}</strong>{_settings(summary)}{rows}</div>"


def _rows(columns: dict[str, NDArray[Any]], size: int) -> str:
    half = LONGEST // 2
    visible: list[int | None] = [*range(size)] if size <= LONGEST else [*range(half), None, *range(size - half, size)]
    rows = []
    for row in visible:
        cells = ["…" if row is None else _short(plain(column[row])) for column in columns.values()]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return "".join(rows)


def _settings(summary: dict[str, Any]) -> str:
    """Return the single values of a summary as one line; warnings as a list of their own."""
    values = {name: plain(value) for name, value in summary.items() if name not in ("warnings", *LEFT_OUT)}
    line = " · ".join(
        f"{escape(name.replace('_', ' '))}: {escape(_short(value))}"
        for name, value in values.items()
        if not isinstance(value, (dict, list)) and value not in (None, "")
    )
    return (f"<p><small>{line}</small></p>" if line else "") + _cautions(summary.get("warnings") or ())


def _cautions(warnings: Sequence[str]) -> str:
    """Return warnings as a list, each with the code that silences it, and which codes are silenced."""
    lines = [labelled(warning) for warning in shown(warnings)]
    if hidden := not_shown(warnings):
        lines.append(f"not shown: {', '.join(hidden)}")
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def json_text(content: Mapping[str, Any]) -> str:
    """Return the content as JSON, with the version that made it and the codes of cautions that were silenced."""
    silenced = {"silenced": list(silenced_codes())} if silenced_codes() else {}
    whole = {"priori": __version__, **plain(dict(content)), **silenced}
    return json.dumps(whole, indent=2, allow_nan=False, ensure_ascii=False)


def csv_text(tables: Iterable[Mapping[str, Any]], *, raw_text: bool = False) -> str:
    """Return tables with the same columns as one CSV, every digit kept; infinities as inf and -inf.

    A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, so that a text (never a
    number) that does gets an apostrophe before it, unless ``raw_text`` is asked for.

    Examples
    --------
    >>> print(csv_text([{"system": ["=A1"], "value": [-1.5]}]), end="")
    system,value
    '=A1,-1.5
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    header: list[str] | None = None
    for table in tables:
        if header is None:
            header = list(table)
            writer.writerow(header)
        columns = [[_cell(value, raw_text) for value in np.atleast_1d(table[name]).tolist()] for name in header]
        size = max((len(column) for column in columns if len(column) != 1), default=1)
        writer.writerows(zip(*(column * size if len(column) == 1 else column for column in columns), strict=True))
    return buffer.getvalue()


def _cell(value: Any, raw_text: bool) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not raw_text and value.lstrip("'").startswith(FORMULA):
        return f"'{value}"
    return repr(value) if isinstance(value, float) else value
