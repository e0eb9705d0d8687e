"""``priori average``: one ROC curve from many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import Any

import click
import numpy as np

import priori
from priori.base.errors import OptionError
from priori.base.texts import cell as percent
from priori.cli.averaging import AS_SYSTEMS, AVERAGING, PLOTTED, Averaging, announce, limit_cell
from priori.cli.commands import make_command, option
from priori.cli.output import Output, table_text, tell
from priori.cli.systems import READING, Reading
from priori.curves.averaging import METHODS
from priori.curves.averaging.methods import READINGS

#: The rates at which the summary reads a vertical and a horizontal average.
SHOWN = {"vertical": (0.001, 0.01, 0.05, 0.1, 0.2, 0.5), "horizontal": (0.5, 0.8, 0.9, 0.95, 0.99)}


@make_command(
    "average",
    click.Argument(["files"], nargs=-1, metavar="FILE..."),
    AS_SYSTEMS,
    option("--method", type=click.Choice(list(METHODS)), help="How to average. Or answer the two questions below."),
    option(
        "--one-threshold/--own-thresholds",
        "one_threshold",
        default=None,
        help="Will one threshold serve all data sets in use, or will each have its own?",
    ),
    option(
        "--read-along",
        type=click.Choice(list(READINGS)),
        help="With thresholds of their own: along which axis "
        "will the curve be read? At a fixed FPR, TPR, balance of the error rates (EER), or cost.",
    ),
    option(
        "--theta",
        type=float,
        metavar="DEG",
        help="The angle for --method angle, in degrees: 0 is vertical, 90 horizontal.",
    ),
    option("--prior", type=float, help="For --method cost: the prior probability of a positive trial. Default: 0.5."),
    option("--cost-fp", type=float, help="For --method cost: the cost of a false positive. Default: 1."),
    option("--cost-fn", type=float, help="For --method cost: the cost of a false negative. Default: 1."),
    option(
        "--positions",
        default="1001",
        metavar="N|exact",
        help="Number of positions (or thresholds) to sample, or 'exact': every one where a curve can turn.",
    ),
    option("--within", is_flag=True, help="With --interval bootstrap: resample the trials inside data sets too."),
    AVERAGING,
    PLOTTED,
    READING,
)
def command(
    files: tuple[str, ...],
    systems: Sequence[tuple[str, str, str]],
    method: str | None,
    one_threshold: bool | None,
    read_along: Any,
    theta: float | None,
    positions: str,
    averaging: Averaging,
    output: Output,
    reading: Reading,
    options: dict[str, Any],
) -> None:
    """Average the ROC curves of several data sets into one.

    Which average is right depends on how the decision will be used, so two questions choose it: will one threshold
    serve all data sets in use? If not, along which axis will the curve be read? The method, what its curve means, and
    a warning when scores are not commensurable across data sets are printed on standard error.

    The csv columns are fpr, tpr, lower, upper. The last two bound the averaged coordinate: the TPR for vertical, the
    FPR for horizontal, cos(theta) TPR - sin(theta) FPR for diagonal, angle and cost, and the TPR for pooled, whose
    FPR varies too (json has both). For threshold the columns are threshold, fpr, tpr, fpr_lower, fpr_upper,
    tpr_lower, tpr_upper.

    \b
    Examples:
      priori average --own-thresholds --read-along fpr --by dataset scores.csv
      priori average --one-threshold site-a.csv site-b.csv site-c.csv --plot average.svg
      priori average --method vertical --by user scores.csv --format csv --skip-incomplete
      priori average --method cost --prior 0.01 --cost-fn 10 --by dataset scores.csv
    """
    chosen = _choose(method, one_threshold, read_along)
    options |= {"method": chosen, "theta": None if theta is None else math.radians(theta), **averaging.options()}
    if chosen == "pooled":
        options["weights"] = None
    sampled = _positions(positions)
    datasets = averaging.read([*files, *(test for _, _, test in systems)], reading)
    curve = priori.average(datasets, positions=sampled, **options)
    announce(f"{curve.method.name} average", curve.datasets.names, curve.datasets.skipped, curve)

    def table() -> str:
        points = priori.average(datasets, positions=SHOWN[chosen], **options) if chosen in SHOWN else curve
        return _summary(curve) + "\n" + _points(points)

    output.finish(curve, table=table, csv=lambda: _columns(curve), warnings=())


def _choose(method: str | None, one_threshold: bool | None, read_along: Any) -> str:
    """Return the method named, or the one that the two questions give."""
    axes = "|".join(READINGS)
    if one_threshold is None:
        if method is not None:
            return method
        if read_along is None:
            raise OptionError(
                "which average? Answer two questions: will one threshold serve all data sets in use (--one-threshold "
                "or --own-thresholds)? If not, along which axis will the curve be read "
                f"(--read-along {axes})? Or name a --method"
            )
    if not one_threshold and read_along is None:
        if method is not None and not METHODS[method].one_threshold:
            return method
        raise OptionError(f"along which axis will the curve be read? Say --read-along {axes}")
    advice = priori.recommend(bool(one_threshold), read_along or "fpr")
    if method is None:
        return advice.method
    if method != advice.method and not (one_threshold and METHODS[method].one_threshold):
        tell(f"note: your answers suggest --method {advice.method}: {advice.meaning}")
    return method


def _positions(text: str) -> int | str:
    if text != "exact" and not text.isdigit():
        raise OptionError(f"--positions {text!r}: write a whole number such as 1001, or exact")
    if text != "exact" and len(text) > 7:
        raise OptionError("--positions: at most 9999999, or exact")
    return text if text == "exact" else int(text)


def _columns(curve: priori.AverageCurve) -> dict[str, Any]:
    columns = curve.columns()
    names = list(columns) if curve.method.name == "threshold" else ["fpr", "tpr", "lower", "upper"]
    return {name: columns[name] for name in names}


def _summary(curve: priori.AverageCurve) -> str:
    kind = {"t": "Student's t", "normal": "normal", "bootstrap": "bootstrap"}[curve.plan.kind]
    rows = [
        *(
            [f"average {name}", show(found.value), limit_cell(found.lower, show), limit_cell(found.upper, show)]
            for name, found, show in (("AUC", curve.auc, "{:.5f}".format), ("EER", curve.eer, percent))
        ),
        ["area under the average curve", f"{curve.area:.5f}", "", ""],
        ["location against spread", f"{curve.commensurability.ratio:.3f}", "", ""],
    ]
    heading = f"{curve.method.name} average of {len(curve.datasets)} ROC curves (a posteriori)"
    note = f"Intervals: {100 * curve.plan.confidence_level:g} % ({kind}, over data sets), for each number alone."
    if curve.method.name == "pooled":
        note += "\nPooled rates are means of the data sets' rates weighted by their sizes: data sets are what varies."
    return table_text(f"{heading}\n{fill(curve.meaning, 100)}\n", ["", "value", "from", "to"], rows, note=note)


def _points(curve: priori.AverageCurve) -> str:
    number = curve.fpr.size if curve.method.name in SHOWN else 13
    rows = np.unique(np.linspace(0, curve.fpr.size - 1, number).round().astype(int)).tolist()
    columns = {"threshold": [f"{curve.threshold[row]:.6g}" for row in rows]} if curve.method.one_threshold else {}
    for name, rate, lower, upper, fixed in (
        ("FPR", curve.fpr, curve.fpr_lower, curve.fpr_upper, "vertical"),
        ("TPR", curve.tpr, curve.tpr_lower, curve.tpr_upper, "horizontal"),
    ):
        columns[name] = [percent(rate[row]) for row in rows]
        if curve.method.name != fixed:
            columns |= {
                f"{name} {end}": [limit_cell(limits[row]) for row in rows]
                for end, limits in (("from", lower), ("to", upper))
            }
    lines = [list(line) for line in zip(*columns.values(), strict=True)]
    return table_text("Some points of the curve (--format csv has all)", list(columns), lines)
