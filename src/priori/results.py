"""What every result can do: go into a dictionary, JSON, CSV, a dataframe, a notebook."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.frames import make_frame

__all__ = ["Result", "csv_text", "plain"]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; infinite numbers become the texts 'inf' and '-inf', NaN becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


class Result:
    """A mixin for frozen dataclasses: subclasses give `columns` and `summary`, and get the rest.

    ``columns()`` is the table of the result, one array per column, all of one length.
    ``summary()`` is everything that is not a row of the table: settings, single numbers.
    """

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table of this result."""
        raise NotImplementedError

    def summary(self) -> dict[str, Any]:
        """Return the settings and single numbers of this result."""
        return {}

    @property
    def backend(self) -> str | None:
        """The dataframe library the scores came from, if any."""
        return None

    def frame(self, library: str | None = None) -> Any:
        """Return the table as a dataframe: of ``library``, or of the one the scores came from, or pandas."""
        return make_frame(self.columns(), library or self.backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists, ready for JSON."""
        return {**plain(self.summary()), **plain(self.columns())}

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the result as JSON text, and write it to ``path`` if one is given."""
        text = json.dumps(self.to_dict(), allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        columns = plain(self.columns())
        size = len(next(iter(columns.values()), []))
        shown = range(size) if size <= 12 else [*range(6), *range(size - 5, size)]
        head = "".join(f"<th>{escape(name)}</th>" for name in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_short(column[row]))}</td>" for column in columns.values()) + "</tr>"
            for row in shown
        )
        title = escape(type(self).__name__) + (f" ({size} rows)" if size > 12 else "")
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def csv_text(tables: Iterable[Mapping[str, Any]]) -> str:
    """Return tables with the same columns as one CSV, every digit kept; infinities as inf and -inf."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    header: list[str] | None = None
    for table in tables:
        if header is None:
            header = list(table)
            writer.writerow(header)
        columns = [_cells(table[name]) for name in header]
        size = max((len(column) for column in columns if len(column) != 1), default=1)
        writer.writerows(zip(*(column * size if len(column) == 1 else column for column in columns), strict=True))
    return buffer.getvalue()


def _cells(column: Any) -> list[Any]:
    values = np.atleast_1d(np.asarray(column)).tolist()
    return [_cell(value) for value in values]


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else value
