"""``priori rates``: every measure at given thresholds."""

from __future__ import annotations

import math

import click

from priori.base.errors import OptionError
from priori.cli.commands import make_command, option
from priori.cli.options import output_group
from priori.cli.output import Output, table_text
from priori.cli.systems import READING, TRIALS, Reading
from priori.curves.checks import set_cautions
from priori.decisions.costs import shifted
from priori.decisions.measures import MEASURES
from priori.decisions.outcomes import count
from priori.words.numbers import cell as percent


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise OptionError(f"--threshold {text!r} is not a number (inf and -inf are)")
    return value


@make_command(
    "rates", "Outcomes and all measures at a threshold fixed in advance.",
    click.Argument(["test"], metavar="TEST"),
    option("--threshold", multiple=True, required=True, metavar="X", help="The threshold; repeatable."),
    option("--prior", metavar="P", help="The share of positives where the system will be used: precision, NPV, F1, "
           "accuracy, error and Matthews' correlation are shown as they will be there."),
    TRIALS, output_group("table", "csv", "json"), READING,
)  # fmt: skip
def command(
    test: str, threshold: tuple[str, ...], prior: str | None, trials: str | None, output: Output, reading: Reading
) -> None:
    """Print the outcomes of accepting the trials of TEST whose score is greater than X, and all measures.

    \b
    Examples:
      priori rates test.csv --threshold 0.25
      priori rates test.csv --threshold 0.25 --threshold 0.5 --format csv
      priori rates test.csv --threshold 0.25 --prior 0.01
    """
    thresholds = [_number(text) for text in threshold]
    scores = reading.read(test, trials=trials)
    outcomes = count(scores, thresholds)
    measures = {name: measure for name, measure in MEASURES.items() if not measure.needs_alpha}
    if prior is not None:
        measures = {name: shifted(measure, prior) for name, measure in measures.items()}
    values = {name: measure(outcomes) for name, measure in measures.items()}
    counts = {"tp": outcomes.tp, "fp": outcomes.fp, "tn": outcomes.tn, "fn": outcomes.fn}
    columns = {"threshold": thresholds, **counts, **values}

    def table() -> str:
        rows = [[name, *(str(value) for value in number.tolist())] for name, number in counts.items()]
        for name, value in values.items():
            measure = measures[name]
            rows.append([f"{measure.title} ({name})", *(percent(number, measure.rate) for number in value)])
        return table_text("", ["accept when score >", *(f"{value:.6g}" for value in thresholds)], rows)

    output.finish(table=table, csv=lambda: columns, json=lambda: columns, warnings=set_cautions(scores))
