"""What ``priori roc`` and ``priori det`` share: curves of test scores, a posteriori."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from priori.cli.options import Reading, named_scores, output_options, reading_options, scores_option
from priori.cli.output import csv_text, emit, json_text, percent, table_text, tell
from priori.roc import a_posteriori_eer, a_posteriori_min_dcf, a_posteriori_partial_auc


def curve_command(name: str, compute: Callable[..., Any], draw: Callable[..., Any]) -> click.Command:
    """Make the command for one kind of curve."""

    @click.command(name=name, short_help=f"{name.upper()} curves of test scores (a posteriori).")
    @scores_option
    @click.option("--points", type=click.Choice(["thin", "all", "hull"]), default="thin", show_default=True,
                  help="The points a drawing needs, all of them, or the convex hull.")  # fmt: skip
    @output_options("table", "csv", "json")
    @click.option("--plot", metavar="FILE", help="Draw the curves: FILE.svg, .png or .pdf.")
    @reading_options
    def command(
        scores: tuple[tuple[str, str], ...],
        points: str,
        format_: str,
        output: str | None,
        plot: str | None,
        reading: Reading,
    ) -> None:
        if plot:
            from priori.plots.style import check_format

            check_format(plot)
        curves = [compute(found, points=points, name=label) for label, found in named_scores(scores, reading)]
        if plot:
            from priori.plots import save

            save(draw(curves).figure, plot)
            tell(f"wrote {plot}")
        if format_ == "csv":
            emit(csv_text({"system": [curve.name], **curve.columns()} for curve in curves), output)
        elif format_ == "json":
            emit(json_text({"kind": f"{name}, a posteriori", "systems": [curve.to_dict() for curve in curves]}), output)
        else:
            emit(_summary(name, curves), output)

    command.help = f"""Print the {name.upper()} curve of each set of scores, a posteriori.

    Its thresholds are chosen on the very scores it shows, so it is for analysis: to compare systems, or to say how
    one will work, use 'priori epc'.

    \b
    Examples:
      priori {name} --scores A a-test.csv --scores B b-test.csv --plot {name}.svg
      priori {name} --scores A a-test.csv --format csv
    """
    return command


def _summary(name: str, curves: list[Any]) -> str:
    rows = [
        [
            curve.name,
            f"{curve.auc:.5f}",
            f"{a_posteriori_partial_auc(curve.scores, (0, '0.1'), standardised=True):.5f}",
            percent(a_posteriori_eer(curve.scores)),
            percent(a_posteriori_eer(curve.scores, method="hull")),
            f"{a_posteriori_min_dcf(curve.scores):.5f}",
            str(curve.threshold.size),
        ]
        for curve in curves
    ]
    header = ["", "AUC", "pAUC(FPR<0.1)", "EER", "EER (hull)", "min DCF", "points"]
    note = "All of these are a posteriori: their thresholds were chosen on the scores shown."
    return table_text(f"{name.upper()} (a posteriori)", header, rows, note=note)
