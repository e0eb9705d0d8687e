"""``priori pad``: presentation attack detection, ISO/IEC 30107-3."""

from __future__ import annotations

from functools import partial

import priori
from priori.base.cautions import of_systems
from priori.base.texts import cell as percent
from priori.cli.commands import make_command, option
from priori.cli.options import LEVEL, alpha_list, output_group
from priori.cli.output import Output, table_text
from priori.cli.systems import SYSTEMS, Systems
from priori.words.numbers import level_text


@make_command(
    "pad",
    SYSTEMS,
    option(
        "--apcer",
        metavar="LIST",
        default="0.05,0.1,0.2",
        help="Thresholds for which no type's APCER on the "
        "development scores is above these rates, besides that of the criterion.",
    ),
    option(
        "--criterion",
        metavar="NAME",
        table="priori.decisions.criteria:CRITERIA",
        default="eer",
        help="How the first threshold is chosen.",
    ),
    option("--alpha", metavar="X", help="The trade-off of that criterion, where it has one. Default: 0.5."),
    LEVEL,
    output_group("table", "csv", "json"),
)
def command(systems: Systems, apcer: str, criterion: str, alpha: str | None, level: float, output: Output) -> None:
    """Print the rates of ISO/IEC 30107-3 on test scores at thresholds chosen on development scores, with intervals.

    Negatives are attacks, their types in a column (--attack-column). The csv columns are system, point, threshold,
    measure, attack, trials, errors, rate, lower, upper, best. Measures are apcer of each type, apcer-max the largest
    (simultaneous interval), bpcer, and acer, the mean of the last two; best is the BPCER for a threshold chosen on the
    test scores themselves.

    \b
    Examples:
      priori pad --system A a-dev.csv a-test.csv --attack-column attack
      priori pad --system A a-dev.csv a-test.csv --attack-column attack --apcer 0.01 --format csv
    """
    results = systems.asked(
        partial(priori.pad, apcer=alpha_list(apcer), criterion=criterion, alpha=alpha, confidence_level=level)
    )
    output.finish(
        table=lambda: "\n".join(map(_table, results)),
        csv=lambda: [{"system": [result.name], **result.columns()} for result in results],
        json=lambda: {"systems": [result.to_dict() for result in results]},
        warnings=of_systems([(result.name, result.warnings) for result in results]),
    )


def _table(result: priori.PAD) -> str:
    rows = []
    for point, threshold, measure, attack, trials, errors, *rates in zip(*result.columns().values(), strict=True):
        counted = "" if trials != trials else f"{errors:.0f} of {trials:.0f}"
        numbers = ["" if rate != rate else percent(float(rate)) for rate in rates]
        name = measure.upper() if measure != "apcer-max" else "largest APCER"
        rows.append([f"{point}: {name}{f' ({attack})' if attack else ''}", f"{threshold:.6g}", counted, *numbers])
    header = ["", "threshold", "errors", "rate", "lower", "upper", "best"]
    title = f"{result.name}: test scores at thresholds of the development scores, {level_text(result.confidence_level)}"
    return table_text(f"{title} intervals", header, rows)
