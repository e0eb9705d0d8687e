"""``priori epc``: Expected Performance Curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from priori.cli.options import (
    MEASURE_HELP,
    Reading,
    Resampling,
    alpha_list,
    criterion_options,
    output_options,
    reading_options,
    resampling_options,
    system_option,
    systems_of,
)
from priori.cli.output import csv_text, emit, json_text, percent, table_text, tell
from priori.cli.progress import Progress
from priori.epc import EPC, PRESETS, areas, epc
from priori.errors import OptionError
from priori.remote import Remote

if TYPE_CHECKING:
    from priori.resampling import Band

#: The alphas that the summary shows when none are listed.
SHOWN = ("0.1", "0.25", "0.5", "0.75", "0.9")


@click.command(name="epc", short_help="The Expected Performance Curve of one or more systems.")
@system_option
@criterion_options
@click.option("--measure", metavar="NAME", help=MEASURE_HELP)
@click.option("--preset", type=click.Choice(list(PRESETS)), help="The settings of an evaluation campaign.")
@click.option("--points", type=int, default=101, show_default=True, help="How many alphas.")
@click.option("--range", "bounds", nargs=2, metavar="A B", default=("0", "1"), help="The first and last alpha.")
@click.option("--alpha", metavar="LIST", help="These alphas instead: 0.1,0.5,99/109 or costs:COST_FN,COST_FP,PRIOR.")
@click.option("--exact", is_flag=True, help="Every piece of the curve; alpha is where each begins.")
@resampling_options(None)
@output_options("table", "csv", "json")
@click.option("--plot", metavar="FILE", help="Draw the curves: FILE.svg, .png or .pdf.")
@reading_options
def command(
    system: tuple[tuple[str, str, str], ...],
    trials: tuple[str, str] | None,
    task: str,
    criterion: str | None,
    measure: str | None,
    preset: str | None,
    points: int,
    bounds: tuple[str, str],
    alpha: str | None,
    exact: bool,
    resampling: Resampling,
    format_: str,
    output: str | None,
    plot: str | None,
    reading: Reading,
) -> None:
    """Choose thresholds on development scores, show what they give on test scores.

    The csv columns are system, alpha, threshold, dev_v1, dev_v2, v1, v2, value, best: V1 and V2 are the task's
    pair (FAR and FRR for authentication), value is the measure on the test scores, best what choosing the
    threshold on the test scores themselves would have shown; with --bootstrap, lower and upper bound the value.

    \b
    Examples:
      priori epc --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv
      priori epc --system A a-dev.csv a-test.csv --format csv --points 11
      priori epc --system A a-dev.csv a-test.csv --preset nist
      priori epc --system A a-dev.csv a-test.csv --plot epc.svg
      priori epc --system A a-dev.csv a-test.csv --bootstrap joint --resamples 100x100 --resample both
    """
    if plot:
        from priori.plots.style import check_format

        check_format(plot)
    if exact and alpha:
        raise OptionError("--exact has every alpha already; leave out --alpha")
    settings: dict[str, Any] = {
        "task": task, "criterion": criterion, "measure": measure, "preset": preset, "points": points,
        "bounds": bounds, "alpha": alpha_list(alpha), "exact": exact,
    }  # fmt: skip
    curves = [epc(one.dev, one.test, name=one.name, **settings) for one in systems_of(system, reading, trials)]
    bands = _bands(curves, resampling) if resampling.bootstrap else None
    if plot:
        from priori.plots import plot_epc, save

        save(plot_epc(curves, bands=bands, best=len(curves) == 1).figure, plot)  # type: ignore[arg-type]
        tell(f"wrote {plot}")
    if format_ == "csv":
        bounds_of = [{"lower": band.lower, "upper": band.upper} for band in bands or []] or [{}] * len(curves)
        tables = zip(curves, bounds_of, strict=True)
        emit(csv_text({"system": [curve.name], **curve.columns(), **limits} for curve, limits in tables), output)
    elif format_ == "json":
        emit(json_text(_content(curves, bands)), output)
    else:
        emit(_tables(curves, bands), output)


def _bands(curves: list[EPC], resampling: Resampling) -> list[Band]:
    bands = []
    for curve in curves:
        with Progress(f"bootstrap of {curve.name}") as progress:
            bands.append(curve.band(**resampling.band_options(), progress=progress))
        for warning in bands[-1].warnings:
            tell(f"{curve.name}: {warning}")
    return bands


def _content(curves: list[EPC], bands: list[Band] | None) -> dict[str, Any]:
    first = curves[0]
    systems = [{**curve.to_dict(), "areas": _areas(curve)} for curve in curves]
    for system, band in zip(systems, bands or [], strict=False):
        system["band"] = {**band.summary(), "lower": band.lower, "upper": band.upper}
    return {
        "settings": {
            "task": first.task.name,
            "criterion": first.criterion.name,
            "measure": first.measure.name,
            "exact": first.exact,
            "bounds": [float(bound) for bound in first.bounds],
        },
        "systems": systems,
    }


def _areas(curve: EPC) -> dict[str, float | None]:
    if isinstance(curve.dev, Remote) or isinstance(curve.test, Remote):
        return dict.fromkeys(("epc", "e_v1", "e_v2", "g"))  # they need every candidate at once
    expected = areas(curve.dev, curve.test, task=curve.task)
    under = None if curve.criterion.name not in ("wer", "pr", "target-v1", "target-v2", "eer") else curve.area
    return {"epc": under, "e_v1": expected.e_v1, "e_v2": expected.e_v2, "g": expected.g}


def _tables(curves: list[EPC], bands: list[Band] | None) -> str:
    first = curves[0]
    rate = first.measure.rate
    chosen = first.fractions if 0 < len(first.fractions) <= 12 else SHOWN
    points = [curve.at(list(chosen)) for curve in curves]
    header = ["", *(f"alpha {float(alpha):.4g}" for alpha in points[0].alpha)]
    middle = int(np.argmin(np.abs(points[0].alpha - 0.5)))
    parts = [
        table_text(
            f"{first.measure.title} on the test scores; thresholds by {first.criterion.name} on the development scores",
            header,
            ([point.name, *(percent(value, rate) for value in point.value)] for point in points),
        )
    ]
    v1, v2 = first.task.v1.name, first.task.v2.name
    for curve, band in zip(curves, bands or [], strict=False):
        parts.append(_band_table(curve, band, rate))
    parts.append(
        table_text(
            f"Threshold to deploy at alpha = {float(points[0].alpha[middle]):.4g}, and what it gives",
            ["", "threshold", f"dev {v1}", f"dev {v2}", f"test {v1}", f"test {v2}", "value", "best", "optimism"],
            (
                [
                    point.name,
                    f"{point.threshold[middle]:.6g}",
                    *(percent(rates[middle]) for rates in (point.dev_v1, point.dev_v2, point.v1, point.v2)),
                    *(percent(number[middle], rate) for number in (point.value, point.best, point.optimism)),
                ]
                for point in points
            ),
        )
    )
    rows = []
    for curve in curves:
        cells = [
            ("-" if area is None else percent(area, rate or name != "epc")) for name, area in _areas(curve).items()
        ]
        rows.append([curve.name, *cells])
    parts.append(
        table_text(
            f"Areas: under the curve, and expected ({v1} + {v2})/2 over all targets of {v1}, of {v2}, and both",
            ["", "EPC", "E_V1", "E_V2", "G"],
            rows,
        )
    )
    return "\n".join(parts)


def _band_table(curve: EPC, band: Band, rate: bool) -> str:
    rows = []
    for alpha in SHOWN if curve.alpha.size > 12 else curve.alpha:
        nearest = int(np.argmin(np.abs(curve.alpha - float(alpha))))
        at = (band.value[nearest], band.lower[nearest], band.upper[nearest])
        rows.append([f"alpha {curve.alpha[nearest]:.4g}", *(percent(float(number), rate) for number in at)])
    level = f"{100 * band.settings['confidence_level']:g} %"
    return table_text(
        f"{curve.name}: {level} {band.settings['promise']} interval, {band.settings['bootstrap']} bootstrap",
        ["", "value", "lower", "upper"],
        rows,
        note=f"expected width {percent(band.expected_width, rate)}",
    )
