"""``priori average-epc``: the Expected Performance Curve averaged over data sets, or over folds."""

from __future__ import annotations

import math
from textwrap import fill
from typing import Any

import click
import numpy as np

from priori.base.errors import OptionError
from priori.cli.datasets import PLOT_HELP, Averaging, announce, averaging_options
from priori.cli.ending import Ending, ending_options
from priori.cli.options import MEASURE_HELP, Reading, alpha_list, criterion_options, reading_options
from priori.cli.output import table_text
from priori.curves.averaging import AverageEPC, average_epc
from priori.words.numbers import cell as percent


@click.command(name="average-epc", short_help="The EPC averaged over data sets, or over folds.")
@click.argument("files", nargs=-1, metavar="TEST...")
@click.option(
    "--dev",
    multiple=True,
    metavar="FILE",
    help="Development scores; repeatable: as many as test files, in "
    "the same order, or files with the same data sets. Without it the data sets are folds.",
)
@click.option(
    "--one-threshold/--own-thresholds",
    "one_threshold",
    default=False,
    help="One threshold for all, chosen on the pooled development scores, or each data set's own.",
)
@criterion_options
@click.option("--measure", metavar="NAME", help=MEASURE_HELP)
@click.option("--points", type=int, default=101, show_default=True, help="Number of alphas.")
@click.option("--alpha", metavar="LIST", help="These alphas instead: 0.1,0.5,99/109 or costs:COST_FN,COST_FP,PRIOR.")
@averaging_options
@ending_options("table", "csv", "json", plot=PLOT_HELP)
@reading_options
def command(
    files: tuple[str, ...],
    dev: tuple[str, ...],
    one_threshold: bool,
    task: str,
    criterion: str | None,
    measure: str | None,
    points: int,
    alpha: str | None,
    averaging: Averaging,
    ending: Ending,
    reading: Reading,
) -> None:
    """Average Expected Performance Curves over data sets, at each alpha.

    Data sets are paired by name (--by COLUMN), or by the order of --dev and test files. Without --dev they are the
    folds of a cross-validation: each is judged with thresholds chosen on the others together.
    The csv columns are alpha, threshold (nan unless one serves all), v1, v2, value, lower, upper, best.

    \b
    Examples:
      priori average-epc --dev a-dev.csv --dev b-dev.csv a-test.csv b-test.csv
      priori average-epc --dev dev.csv --by dataset test.csv --one-threshold --plot average.svg
      priori average-epc --by fold folds.csv
    """  # fmt: skip
    alphas = alpha_list(alpha)
    tests = averaging.read(files, reading)
    devs = averaging.read(dev, reading) if dev else tests
    in_order = bool(dev) and averaging.by is None and len(files) > 1
    if in_order and len(dev) != len(files):
        raise OptionError(f"{len(dev)} --dev files for {len(files)} test files; give as many, in the same order")
    curve = average_epc(
        list(devs.values()) if in_order else devs,
        (list(tests.values()) if in_order else tests) if dev else None,
        thresholds="common" if one_threshold else "per-dataset",
        task=task, criterion=criterion, measure=measure, points=points, alpha=alphas, **averaging.options(),
    )  # fmt: skip
    announce("average EPC", curve.names, curve.skipped, curve)
    ending.finish(table=lambda: _table(curve), csv=curve.columns, json=curve.to_dict, figure=curve.plot)


def _table(curve: AverageEPC) -> str:
    rate = curve.measure.rate
    shown = np.unique(np.linspace(0, curve.alpha.size - 1, min(curve.alpha.size, 11)).round().astype(int))
    rows = []
    for row in shown.tolist():
        limits = [curve.lower[row], curve.upper[row]]
        cells: list[Any] = ["-" if math.isnan(limit) else percent(limit, rate) for limit in limits]
        threshold = [] if math.isnan(curve.threshold[row]) else [f"{curve.threshold[row]:.6g}"]
        rows.append([f"{curve.alpha[row]:.4g}", percent(curve.value[row], rate), *cells,
                     percent(curve.best[row], rate), *threshold])  # fmt: skip
    header = ["alpha", curve.measure.title, "from", "to", "best", *(["threshold"] if len(rows[0]) == 6 else [])]
    title = f"Average EPC of {len(curve.curves)} data sets, by {curve.criterion.name}\n{fill(curve.meaning, 100)}\n"
    note = f"Intervals: {100 * curve.plan.confidence_level:g} % over data sets ({curve.plan.kind}), at each alpha."
    return table_text(title, header, rows, note=note)
