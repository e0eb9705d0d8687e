"""``priori rates``: every measure at given thresholds."""

from __future__ import annotations

import math

import click

from priori.base.errors import OptionError
from priori.cli.options import Reading, output_options, reading_options
from priori.cli.output import csv_text, emit, json_text, percent, table_text
from priori.decisions.measures import MEASURES
from priori.decisions.outcomes import count


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise OptionError(f"--threshold {text!r} is not a number (inf and -inf are)")
    return value


@click.command(name="rates", short_help="Outcomes and all measures at a threshold fixed in advance.")
@click.argument("test", metavar="TEST")
@click.option("--threshold", "threshold", multiple=True, required=True, metavar="X", help="The threshold; repeatable.")
@click.option("--trials", metavar="FILE", help="The trials file (Kaldi, VoxCeleb) that the scores are joined with.")
@output_options("table", "csv", "json")
@reading_options
def command(
    test: str, threshold: tuple[str, ...], trials: str | None, format_: str, output: str | None, reading: Reading
) -> None:
    """Print the outcomes of accepting the trials of TEST whose score is greater than X, and all measures.

    \b
    Examples:
      priori rates test.csv --threshold 0.25
      priori rates test.csv --threshold 0.25 --threshold 0.5 --format csv
    """
    at = [_number(text) for text in threshold]
    outcomes = count(reading.read(test, trials=trials), at)
    values = {name: measure(outcomes) for name, measure in MEASURES.items() if not measure.needs_alpha}
    counts = {"tp": outcomes.tp, "fp": outcomes.fp, "tn": outcomes.tn, "fn": outcomes.fn}
    columns = {"threshold": at, **counts, **values}
    if format_ == "csv":
        emit(csv_text([columns]), output)
    elif format_ == "json":
        emit(json_text(columns), output)
    else:
        rows = [[name, *(str(value) for value in number.tolist())] for name, number in counts.items()]
        for name, value in values.items():
            measure = MEASURES[name]
            rows.append([f"{measure.title} ({name})", *(percent(number, measure.rate) for number in value)])
        emit(table_text("", ["accept when score >", *(f"{value:.6g}" for value in at)], rows), output)
