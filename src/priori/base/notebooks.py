"""Notebooks: how every result shows itself, one line that says what it is, then a short table, as text or as HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import labelled
from priori.base.declarations import columns_of, sentence_of
from priori.base.results import plain
from priori.base.texts import cell, p_text

if TYPE_CHECKING:
    from priori.base.results import Result

#: Longer tables show these alphas, or only their two ends.
LONGEST = 12
ALPHAS = (0.1, 0.25, 0.5, 0.75, 0.9)
#: How wide a table may be as text.
WIDEST = 110
#: Columns that are always rates, and those that are where the measure is one; both are shown in per cent.
RATES = frozenset(["dev_v1", "dev_v2", "v1", "v2", "far", "frr", "far_omega", "iapmr", "fpr", "tpr", "fnr", "rate"])
MEASURED = frozenset(
    ["value", "best", "expected", "lower", "upper", "mean", "width", "difference", "a_priori", "a_posteriori"]
)
#: What is not shown: repetitions, and values meant for programs.
LEFT_OUT = ("warnings", "measure_title", "rate", "greater_is_better", "v1_name", "v2_name", "exact")


@dataclass(frozen=True)
class Shown:
    """What of a result is shown: a line, the names of its columns, its rows as texts, and how many rows there are."""

    line: str
    header: list[str]
    rows: list[list[str]]
    size: int
    summary: dict[str, Any]

    @classmethod
    def of(cls, result: Result, *, whole: bool = False) -> Shown:
        """Return what is shown of a result, or all of it."""
        summary = result.summary()
        table, per_cent = _table(result, summary), _in_per_cent(result, summary)
        size = len(next(iter(table.values()), ()))
        columns = [_texts(name, values, per_cent) for name, values in table.items()]
        visible = range(size) if whole else _visible(table, size)
        rows = [["…" if row is None else column[row] for column in columns] for row in visible]
        return cls(_line(result, summary), list(table), rows, size, summary)

    @property
    def more(self) -> str:
        """How many rows there are, where not all are shown."""
        return f"{self.size} rows, not all shown" if self.size > len(self.rows) else ""

    def text(self) -> str:
        """Return the line, the table and the codes of the warnings."""
        columns = list(zip(self.header, *self.rows, strict=True))
        widths = [max(map(len, column)) for column in columns]
        fitting = int(np.searchsorted(np.cumsum([width + 2 for width in widths]), WIDEST + 2, side="right"))
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row[:fitting], widths, strict=False)).rstrip()
            for row in (self.header, *self.rows)
        ]
        hidden = f"not shown: {', '.join(self.header[fitting:])}" if fitting < len(columns) else ""
        codes = dict.fromkeys(getattr(warning, "code", warning) for warning in self.summary.get("warnings") or ())
        notes = [self.more, hidden, f"warnings: {', '.join(codes)}" if codes else ""]
        return "\n".join([self.line, *lines, *filter(None, notes)])

    def html(self) -> str:
        """Return the line, the settings, the warnings and the table as HTML."""
        caption = f"<caption>{self.more}</caption>" if self.more else ""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div><strong>{escape(self.line)}</strong>{_settings(self.summary)}{table}</div>"


def _table(result: Result, summary: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the table that is shown: that of the result, or the records of its summary that its class names."""
    records = summary.get(result._declared._shown)
    if not records:
        return result.columns()
    return {name: np.array([record[name] for record in records], dtype=object) for name in records[0]}


def _visible(table: Mapping[str, NDArray[Any]], size: int) -> list[int | None]:
    """Return the rows that are shown; None stands for those left out between the ends."""
    if size <= LONGEST:
        return [*range(size)]
    alpha = table.get("alpha")
    if alpha is not None and bool(np.all(np.diff(alpha) > 0)):
        # A row stands for the alphas from its own to the next, as the pieces of an exact curve do.
        rows = np.searchsorted(alpha, np.array(ALPHAS) + 1e-9, side="right") - 1
        return list(np.unique(rows.clip(0)).tolist())
    half = LONGEST // 2
    return [*range(half), None, *range(size - half, size)]


def _line(result: Result, summary: Mapping[str, Any]) -> str:
    """Return what the result is: its class, the systems, its sentence or description, and the settings that matter."""
    systems = " minus ".join(repr(str(summary[name])) for name in ("name", "name_a", "name_b") if summary.get(name))
    told = sentence_of(result._declared).split(": one row")[0].rstrip(".")
    if told.split()[0] in ("A", "An", "The"):
        told = told[0].lower() + told[1:]
    told = str(summary.get("sentence") or told)
    facts = [] if "sentence" in summary else _facts(summary)
    facts += ["read from a file"] * (result._declared is not type(result))
    head = " ".join(filter(None, (result._declared.__name__, systems)))
    return f"{head}: {told}" + (f"; {', '.join(facts)}" if facts else "")


def _facts(summary: Mapping[str, Any]) -> list[str]:
    """Return the settings and single numbers that matter most."""
    measure, criterion = summary.get("measure_title") or summary.get("measure"), summary.get("criterion")
    facts = [str(measure)] if measure else []
    facts += [f"thresholds by {criterion}"] if criterion else []
    facts += [f"{name.upper()} {summary[name]:.4f}" for name in ("auc", "eer") if isinstance(summary.get(name), float)]
    facts += [f"{summary['bootstrap']} bootstrap"] if "bootstrap" in summary else []
    level = summary.get("confidence_level")
    return facts + ([f"{100 * level:g} % confidence"] if isinstance(level, float) else [])


def _in_per_cent(result: Result, summary: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns that are shown in per cent: rates, and what is measured where the measure is a rate."""
    always = {name for name in RATES if columns_of(result._declared).get(name) == "number"}
    known = summary.get("rate")
    if not isinstance(known, bool):
        known = result._declared._rates or (bool(always) and summary.get("measure", "hter") == "hter")
    if summary.get("against") == "EER":
        always.add("post_value")
    return frozenset(always | (MEASURED if known else set()))


def _texts(name: str, values: NDArray[Any], per_cent: frozenset[str]) -> list[str]:
    """Return the values of a column as texts; endings such as _a and _lower belong to the column before them."""
    stems = {name, name.removesuffix("_a").removesuffix("_b"), name.removesuffix("_lower").removesuffix("_upper")}
    return [_text(name, plain(value), bool(stems & per_cent)) for value in values]


def _text(name: str, value: Any, per_cent: bool = False) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return " ".join(str(value).split())
    return p_text(value) if name.startswith("p_") else cell(value, per_cent)


def _settings(summary: Mapping[str, Any]) -> str:
    """Return the single values of a summary as one line; warnings as a list of their own."""
    values = {name: plain(value) for name, value in summary.items() if name not in LEFT_OUT}
    line = " · ".join(
        f"{escape(name.replace('_', ' '))}: {escape(_text(name, value))}"
        for name, value in values.items()
        if not isinstance(value, (dict, list)) and value not in (None, "")
    )
    return (f"<p><small>{line}</small></p>" if line else "") + _cautions(summary.get("warnings") or ())


def _cautions(warnings: Sequence[str]) -> str:
    """Return warnings as a list, each with its code."""
    items = "".join(f"<li>{escape(labelled(warning))}</li>" for warning in dict.fromkeys(warnings))
    return f"<ul>{items}</ul>" if items else ""
