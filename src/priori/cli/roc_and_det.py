"""What ``priori roc`` and ``priori det`` share: curves of test scores, a posteriori."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np

from priori.base.cautions import of_systems, said_of
from priori.base.errors import OptionError
from priori.cli.commands import make_command, option
from priori.cli.options import output_group, resampling_options
from priori.cli.output import Output, printable, table_text, warn
from priori.cli.progress import Progress
from priori.cli.systems import READING, Reading
from priori.curves.roc import a_posteriori_eer, a_posteriori_min_dcf, a_posteriori_partial_auc
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.words.numbers import cell as percent


def curve_command(name: str, compute: Callable[..., Any], draw: Callable[..., Any]) -> click.Command:
    """Make the command for one kind of curve."""

    help = f"""Print the {name.upper()} curve of each set of scores, a posteriori.

    Its thresholds are chosen on the same scores, so it is for analysis only. To compare systems, or to estimate
    expected performance, use 'priori epc'. With --bootstrap the csv has the curve at 101 false positive rates (none
    below one of all negatives), with the bounds lower and upper.

    \b
    Examples:
      priori {name} --scores A a-test.csv --scores B b-test.csv --plot {name}.svg
      priori {name} --scores A a-test.csv --format csv
      priori {name} --scores A a-test.csv --bootstrap auto --plot {name}.svg
    """

    @make_command(
        name, f"{name.upper()} curves of test scores (a posteriori).",
        option("--scores", nargs=2, multiple=True, metavar="NAME FILE",
               help="A name and a file of scores. Repeat for more curves."),
        option("--points", metavar="thin|all|hull|N", default="thin",
               help="Enough points for a drawing, all points, the convex hull, or those nearest to N false positive "
               "rates; the last two do not need all scores in memory."),
        *resampling_options(None),
        output_group("table", "csv", "json", plot="Draw the curves: FILE.svg, .png or .pdf."), READING,
        help=help,
    )  # fmt: skip
    def command(
        scores: tuple[tuple[str, str], ...], points: str, resampling: Resampling | None, threads: int | None,
        output: Output, reading: Reading,
    ) -> None:  # fmt: skip
        if not scores:
            raise OptionError("give at least one set of scores: --scores NAME FILE")
        which_points = int(points) if points.isdecimal() else points
        curves = [compute(reading.read(path), points=which_points, name=printable(label)) for label, path in scores]
        bands = [_band(curve, name, resampling, threads) for curve in curves] if resampling is not None else []
        output.finish(
            table=lambda: _summary(name, curves),
            csv=lambda: _columns(curves, bands),
            json=lambda: {"kind": f"{name}, a posteriori", "systems": _systems(curves, bands)},
            figure=lambda: draw(curves, bands=bands),
            warnings=of_systems([(curve.name, curve.warnings) for curve in curves]),
        )

    return command


def _band(curve: Any, name: str, resampling: Resampling, threads: int | None) -> dict[str, Any]:
    """Return the columns of the band around one curve."""
    from priori.uncertainty.roc_bands import make_roc_band

    if resampling.resample != "test" or resampling.promise != "confidence":
        raise OptionError(
            "a posteriori curves have no development set and no prediction: leave out --resample, --promise"
        )
    rates = None
    if name == "det":
        from scipy.special import ndtr, ndtri

        # Evenly spaced where the axes are: on the normal-deviate scale, from one false acceptance on.
        first = max(1 / curve.scores.n_negatives, 1e-6)
        rates = np.maximum(ndtr(np.linspace(ndtri(first), ndtri(0.99), 101)).round(9), first)
    with Progress(f"bootstrap of {curve.name}") as progress:
        band = make_roc_band(curve.scores, resampling, fpr=rates, threads=threads, progress=progress)
    warn(said_of(curve.name, warning) for warning in band.warnings)
    return band.columns() if name == "roc" else band.det


def _columns(curves: list[Any], bands: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tables = bands or [curve.columns() for curve in curves]
    return [{"system": [curve.name], **table} for curve, table in zip(curves, tables, strict=True)]


def _systems(curves: list[Any], bands: list[dict[str, Any]]) -> list[dict[str, Any]]:
    parts = [{"band": band} for band in bands] or [{}] * len(curves)
    return [{**curve.to_dict(), **part} for curve, part in zip(curves, parts, strict=True)]


def _summary(name: str, curves: list[Any]) -> str:
    rows = []
    for curve in curves:
        scores, partial_auc = curve.scores, "-"
        if not scores.scanned:  # the curve between two rates needs all scores in memory
            partial_auc = f"{a_posteriori_partial_auc(scores, (0, '0.1'), standardised=True):.5f}"
        rates = [percent(a_posteriori_eer(scores)), percent(a_posteriori_eer(scores, method="hull"))]
        costs = [f"{a_posteriori_min_dcf(scores):.5f}", str(curve.threshold.size)]
        rows.append([curve.name, f"{curve.auc:.5f}", partial_auc, *rates, *costs])
    header = ["", "AUC", "pAUC(FPR<0.1)", "EER", "EER (hull)", "min DCF", "points"]
    note = "All of these are a posteriori: their thresholds were chosen on the scores shown."
    return table_text(f"{name.upper()} (a posteriori)", header, rows, note=note)
