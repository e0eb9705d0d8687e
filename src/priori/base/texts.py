"""Results as text: JSON and CSV, and numbers as tables show them."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from priori._version import __version__
from priori.base.results import plain

#: Texts that a spreadsheet takes for formulas, also after apostrophes: so that one apostrophe can be taken away.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def alpha_text(alpha: Fraction | float) -> str:
    """Return an alpha with four digits, or as many as tell it from 1.

    Examples
    --------
    >>> alpha_text(1 / 3), alpha_text(Fraction(99_900, 99_903)), alpha_text(1)
    ('0.3333', '0.99997', '1')
    """
    text = f"{float(alpha):.4g}"
    if text != "1" or alpha == 1:
        return text
    return f"{float(alpha):.{min(1 - math.floor(math.log10(1 - alpha)), 15)}f}".rstrip("0")


def json_text(content: Mapping[str, Any]) -> str:
    """Return the content as JSON, with the version that made it."""
    whole = {"priori": __version__, **plain(dict(content))}
    return json.dumps(whole, indent=2, allow_nan=False, ensure_ascii=False)


def csv_text(tables: Iterable[Mapping[str, Any]]) -> str:
    """Return tables with the same columns as one CSV, every digit kept; infinities as inf and -inf.

    A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, so that a text (never a
    number) that does gets an apostrophe before it.

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
        columns = [[_cell(value) for value in np.atleast_1d(table[name]).tolist()] for name in header]
        size = max((len(column) for column in columns if len(column) != 1), default=1)
        writer.writerows(zip(*(column * size if len(column) == 1 else column for column in columns), strict=True))
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.lstrip("'").startswith(FORMULA):
        return f"'{value}"
    return repr(value) if isinstance(value, float) else value


def cell(number: float, rate: bool = True) -> str:
    """Return a number for a table: a rate in per cent with two decimals, anything else with four digits."""
    return f"{100 * number:.2f} %" if rate else f"{number:.4g}"


def cells(numbers: Iterable[float], rate: bool = True) -> list[str]:
    """Return numbers for a table."""
    return [cell(float(number), rate) for number in numbers]


def p_text(p_value: float) -> str:
    """Return a p-value with four decimals; one that rounds to 0 is given as less than the smallest.

    Examples
    --------
    >>> p_text(0.03217), p_text(1e-9)
    ('0.0322', '<0.0001')
    """
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"
