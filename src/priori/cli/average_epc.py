"""``priori average-epc``: the Expected Performance Curve averaged over data sets, or over folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from textwrap import fill
from typing import Any

import click
import numpy as np

import priori
from priori.base.errors import OptionError
from priori.base.texts import cell as percent
from priori.cli.averaging import AS_SYSTEMS, AVERAGING, PLOTTED, Averaging, announce, limit_cell
from priori.cli.commands import make_command, option
from priori.cli.options import ALPHAS, COSTS, CURVE, alpha_list
from priori.cli.output import Output, table_of
from priori.cli.systems import READING, Reading
from priori.decisions.costs import price


@make_command(
    "average-epc",
    click.Argument(["files"], nargs=-1, metavar="TEST..."),
    AS_SYSTEMS,
    option(
        "--dev",
        multiple=True,
        metavar="FILE",
        help="Development scores; repeatable: as many as test files, in "
        "the same order, or files with the same data sets. Without it the data sets are folds.",
    ),
    option(
        "--one-threshold/--own-thresholds",
        "one_threshold",
        default=False,
        show_default=False,
        help="One threshold for all, chosen on the pooled development scores, or each data set's own.",
    ),
    *CURVE,
    ALPHAS,
    *COSTS,
    AVERAGING,
    PLOTTED,
    READING,
)
def command(
    files: tuple[str, ...],
    systems: Sequence[tuple[str, str, str]],
    dev: tuple[str, ...],
    one_threshold: bool,
    task: str,
    criterion: str | None,
    measure: str | None,
    alpha: str | None,
    costs: str | None,
    prior: str | None,
    averaging: Averaging,
    output: Output,
    reading: Reading,
    options: dict[str, Any],
) -> None:
    """Average Expected Performance Curves over data sets, at each alpha.

    Data sets are paired by name (--by COLUMN), or by the order of --dev and test files. Without --dev they are the
    folds of a cross-validation: each is judged with thresholds chosen on the others together.
    The csv columns are alpha, threshold (nan unless one serves all), v1, v2, value, lower, upper, best.

    \b
    Examples:
      priori average-epc --dev a-dev.csv --dev b-dev.csv a-test.csv b-test.csv
      priori average-epc --dev dev.csv --by dataset test.csv --one-threshold --plot average.svg
      priori average-epc --system site-a a-dev.csv a-test.csv --system site-b b-dev.csv b-test.csv
      priori average-epc --by fold folds.csv
    """
    shown, alphas = price(task, criterion, measure, alpha_list(alpha), costs, prior)
    dev, files = (*dev, *(each for _, each, _ in systems)), (*files, *(each for _, _, each in systems))
    tests = averaging.read(files, reading)
    devs = averaging.read(dev, reading) if dev else tests
    in_order = bool(dev) and averaging.by is None and len(files) > 1
    if in_order and len(dev) != len(files):
        raise OptionError(f"{len(dev)} --dev files for {len(files)} test files; give as many, in the same order")
    curve = priori.average_epc(
        list(devs.values()) if in_order else devs,
        (list(tests.values()) if in_order else tests) if dev else None,
        thresholds="common" if one_threshold else "per-dataset",
        task=task,
        criterion=criterion,
        measure=shown,
        alpha=alphas,
        **options,
        **averaging.options(),
    )
    announce("average EPC", curve.names, curve.skipped, curve)
    output.finish(curve, table=lambda: _table(curve), warnings=())


def _table(curve: priori.AverageEPC) -> str:
    rows = np.unique(np.linspace(0, curve.alpha.size - 1, min(curve.alpha.size, 11)).round().astype(int)).tolist()
    headings = {"alpha": "alpha", "value": curve.measure.title, "lower": "from", "upper": "to", "best": "best"}
    headings |= {} if math.isnan(curve.threshold[rows[0]]) else {"threshold": "threshold"}
    end = partial(limit_cell, show=partial(percent, rate=curve.measure.rate))
    title = f"Average EPC of {len(curve.curves)} data sets, by {curve.criterion.name}\n{fill(curve.meaning, 100)}\n"
    note = f"Intervals: {100 * curve.plan.confidence_level:g} % over data sets ({curve.plan.kind}), at each alpha."
    return table_of(
        title, curve.columns(), headings, rate=curve.measure.rate, rows=rows, note=note, lower=end, upper=end
    )
