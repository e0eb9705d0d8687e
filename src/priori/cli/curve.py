"""What ``priori roc`` and ``priori det`` share: curves of test scores, a posteriori."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np

from priori.base.errors import OptionError
from priori.cli.options import (
    Reading,
    Resampling,
    named_scores,
    output_options,
    reading_options,
    resampling_options,
    scores_option,
)
from priori.cli.output import csv_text, emit, json_text, percent, table_text, tell, warn
from priori.cli.progress import Progress
from priori.curves.roc import a_posteriori_eer, a_posteriori_min_dcf, a_posteriori_partial_auc
from priori.scores import ScoreSet


def curve_command(name: str, compute: Callable[..., Any], draw: Callable[..., Any]) -> click.Command:
    """Make the command for one kind of curve."""

    @click.command(name=name, short_help=f"{name.upper()} curves of test scores (a posteriori).")
    @scores_option
    @click.option("--points", metavar="thin|all|hull|N", default="thin", show_default=True,
                  help="The points a drawing needs, all of them, the convex hull, or those nearest to N false positive "
                  "rates; the last two do not need all scores in memory.")  # fmt: skip
    @resampling_options(None)
    @output_options("table", "csv", "json")
    @click.option("--plot", metavar="FILE", help="Draw the curves: FILE.svg, .png or .pdf.")
    @reading_options
    def command(
        scores: tuple[tuple[str, str], ...],
        points: str,
        resampling: Resampling,
        format_: str,
        output: str | None,
        plot: str | None,
        reading: Reading,
    ) -> None:
        if plot:
            from priori.plots.style import check_format

            check_format(plot)
        wanted = int(points) if points.isdecimal() else points
        curves = [compute(found, points=wanted, name=label) for label, found in named_scores(scores, reading)]
        bands = [_band(curve, name, resampling) for curve in curves] if resampling.wanted else []
        if plot:
            from priori.plots import save

            save(draw(curves, bands=bands).figure, plot)
            tell(f"wrote {plot}")
        if format_ == "csv":
            tables = bands or [curve.columns() for curve in curves]
            named = zip(curves, tables, strict=True)
            emit(csv_text({"system": [curve.name], **table} for curve, table in named), output)
        elif format_ == "json":
            systems = [curve.to_dict() for curve in curves]
            for system, band in zip(systems, bands, strict=False):
                system["band"] = band
            emit(json_text({"kind": f"{name}, a posteriori", "systems": systems}), output)
        else:
            emit(_summary(name, curves), output)

    command.help = f"""Print the {name.upper()} curve of each set of scores, a posteriori.

    Its thresholds are chosen on the very scores it shows, so it is for analysis: to compare systems, or to say how
    one will work, use 'priori epc'. With --bootstrap the csv has the curve at 101 false positive rates, with the
    bounds lower and upper.

    \b
    Examples:
      priori {name} --scores A a-test.csv --scores B b-test.csv --plot {name}.svg
      priori {name} --scores A a-test.csv --format csv
      priori {name} --scores A a-test.csv --bootstrap auto --plot {name}.svg
    """
    return command


def _band(curve: Any, name: str, resampling: Resampling) -> dict[str, Any]:
    """Return the columns of the band around one curve."""
    from priori.uncertainty.roc_bands import roc_band

    if resampling.resample != "test" or resampling.promise != "confidence":
        raise OptionError(
            "a posteriori curves have no development set and predict nothing: leave out --resample, --promise"
        )
    options = {key: value for key, value in resampling.options().items() if key not in ("resample", "shared_users")}
    if name == "det":
        from scipy.special import ndtr, ndtri

        # Evenly spaced where the axes are: on the normal-deviate scale, from half a false acceptance on.
        first = max(0.5 / curve.scores.n_negatives, 1e-6)
        options["fpr"] = ndtr(np.linspace(ndtri(first), ndtri(0.99), 101)).round(9)
    with Progress(f"bootstrap of {curve.name}") as progress:
        band = roc_band(curve.scores, interval=resampling.interval, progress=progress, **options)
    warn(f"{curve.name}: {warning}" for warning in band.warnings)
    return band.columns() if name == "roc" else band.det


def _summary(name: str, curves: list[Any]) -> str:
    rows = [
        [
            curve.name,
            f"{curve.auc:.5f}",
            _partial_auc(curve.scores),
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


def _partial_auc(scores: ScoreSet) -> str:
    if scores.scanned:
        return "-"  # the curve between two rates needs all scores in memory
    return f"{a_posteriori_partial_auc(scores, (0, '0.1'), standardised=True):.5f}"
