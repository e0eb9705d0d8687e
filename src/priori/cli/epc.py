"""``priori epc``: Expected Performance Curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from priori.base.errors import OptionError
from priori.cli.options import (
    Curves,
    Reading,
    Resampling,
    curve_options,
    output_options,
    reading_options,
    resampling_options,
    system_option,
    systems_of,
)
from priori.cli.output import csv_text, emit, json_text, percent, table_text, tell
from priori.cli.progress import Progress
from priori.curves.epc import EPC, areas, epc

if TYPE_CHECKING:
    from priori.uncertainty.area_bands import AreaBands
    from priori.uncertainty.bands import Band

#: The alphas that the summary shows when none are listed.
SHOWN = ("0.1", "0.25", "0.5", "0.75", "0.9")


@click.command(name="epc", short_help="The Expected Performance Curve of one or more systems.")
@system_option
@curve_options
@click.option("--exact", is_flag=True, help="Every piece of the curve; alpha is where each begins.")
@resampling_options(None)
@output_options("table", "csv", "json")
@click.option("--plot", metavar="FILE", help="Draw the curves: FILE.svg, .png or .pdf.")
@reading_options
def command(
    system: tuple[tuple[str, str, str], ...],
    trials: tuple[str, str] | None,
    curves: Curves,
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
    if exact and curves.alpha:
        raise OptionError("--exact has every alpha already; leave out --alpha")
    settings = {**curves.settings(), "exact": exact}
    found = [epc(one.dev, one.test, name=one.name, **settings) for one in systems_of(system, reading, trials)]
    bands = _bands(found, resampling) if resampling.wanted else None
    whole = [curve for curve in found if not _scanned(curve)]
    around = {curve.name: _area_bands(curve, resampling) for curve in whole} if bands and format_ != "csv" else {}
    if len(whole) < len(found) and format_ == "table":
        tell("no areas of what is scanned: they need every score at once (--engine memory)")
    if plot:
        from priori.plots import plot_epc, save

        save(plot_epc(found, bands=bands, best=len(found) == 1).figure, plot)  # type: ignore[arg-type]
        tell(f"wrote {plot}")
    if format_ == "csv":
        bounds_of = [{"lower": band.lower, "upper": band.upper} for band in bands or []] or [{}] * len(found)
        tables = zip(found, bounds_of, strict=True)
        emit(csv_text({"system": [curve.name], **curve.columns(), **limits} for curve, limits in tables), output)
    elif format_ == "json":
        emit(json_text(_content(found, bands, around)), output)
    else:
        emit(_tables(found, bands, around), output)


def _bands(curves: list[EPC], resampling: Resampling) -> list[Band]:
    bands = []
    for curve in curves:
        with Progress(f"bootstrap of {curve.name}") as progress:
            bands.append(curve.band(**resampling.band_options(), progress=progress))
        for warning in bands[-1].warnings:
            tell(f"{curve.name}: {warning}")
    return bands


def _content(curves: list[EPC], bands: list[Band] | None, around: dict[str, AreaBands]) -> dict[str, Any]:
    first = curves[0]
    systems = [{**curve.to_dict(), "areas": _areas(curve)} for curve in curves]
    for system, band in zip(systems, bands or [], strict=False):
        system["band"] = {**band.summary(), "lower": band.lower, "upper": band.upper}
    for system in systems:
        if system["name"] in around:
            system["area_bands"] = around[system["name"]].to_dict()
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


def _area_bands(curve: EPC, resampling: Resampling) -> AreaBands:
    from priori.uncertainty.area_bands import area_bands

    with Progress(f"areas of {curve.name}") as progress:
        options = {**resampling.band_options(), "simultaneous": False}
        return area_bands(curve.dev, curve.test, task=curve.task, progress=progress, **options)


def _scanned(curve: EPC) -> bool:
    return curve.dev.scanned or curve.test.scanned


def _areas(curve: EPC) -> dict[str, float | None]:
    if _scanned(curve):
        return dict.fromkeys(("epc", "e_v1", "e_v2", "g"))
    expected = areas(curve.dev, curve.test, task=curve.task)
    under = None if curve.criterion.name not in ("wer", "pr", "target-v1", "target-v2", "eer") else curve.area
    return {"epc": under, "e_v1": expected.e_v1, "e_v2": expected.e_v2, "g": expected.g}


def _tables(curves: list[EPC], bands: list[Band] | None, around: dict[str, AreaBands]) -> str:
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
    parts += [_band_table(curve, band, rate) for curve, band in zip(curves, bands or [], strict=False)]
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
        if not _scanned(curve):
            found = _areas(curve).items()
            cells = [("-" if area is None else percent(area, rate or name != "epc")) for name, area in found]
            rows.append([curve.name, *cells])
    if rows:
        title = f"Areas: under the curve, and expected ({v1} + {v2})/2 over all targets of {v1}, of {v2}, and both"
        parts.append(table_text(title, ["", "EPC", "E_V1", "E_V2", "G"], rows))
    for name, band in around.items():
        limits = zip(band.area.tolist(), band.value, band.lower, band.upper, strict=True)
        rows = [[area.upper(), *(percent(float(number)) for number in numbers)] for area, *numbers in limits]
        parts.append(table_text(f"{name}: the areas with their intervals", ["", "value", "lower", "upper"], rows))
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
