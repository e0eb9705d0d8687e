"""``priori epc``: Expected Performance Curves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from priori.base.cautions import of_systems
from priori.base.errors import OptionError
from priori.cli.commands import make_command, option
from priori.cli.options import CURVES, output_group, resampling_options
from priori.cli.output import Output, table_text, tell
from priori.cli.progress import Progress
from priori.cli.systems import SYSTEMS, Systems
from priori.curves.areas import areas
from priori.curves.cross import CrossEPC
from priori.curves.epc import EPC
from priori.plots.curves import plot_epc
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.words.numbers import cell as percent

if TYPE_CHECKING:
    from priori.uncertainty.area_bands import AreaBands
    from priori.uncertainty.bands import Band

#: The alphas that the summary shows when none are listed.
SHOWN = ("0.1", "0.25", "0.5", "0.75", "0.9")
#: The first and last alpha, or target, as typed; listed alphas are no range, and their areas are over all targets.
Limits = tuple[str, str]


@make_command(
    "epc", "The Expected Performance Curve of one or more systems.",
    SYSTEMS, CURVES,
    option("--exact", is_flag=True, help="Every piece of the exact curve; alpha is where each begins."),
    *resampling_options(None),
    output_group("table", "csv", "json", plot="Draw the curves: FILE.svg, .png or .pdf."),
)  # fmt: skip
def command(
    systems: Systems, settings: dict[str, Any], exact: bool, resampling: Resampling | None, threads: int | None,
    output: Output,
) -> None:  # fmt: skip
    """Choose thresholds on development scores and show the performance on test scores.

    The csv columns are system, alpha, threshold, dev_v1, dev_v2, v1, v2, value, best: V1 and V2 are the task's
    pair (FAR and FRR for authentication), value is the measure on the test scores, best its value for a
    threshold chosen on the test scores themselves; with --bootstrap, lower and upper bound the value.

    \b
    Examples:
      priori epc --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv
      priori epc --system A a-dev.csv a-test.csv --format csv --points 11
      priori epc --system A a-dev.csv a-test.csv --preset nist
      priori epc --system A a-dev.csv a-test.csv --plot epc.svg
      priori epc --system A a-dev.csv a-test.csv --bootstrap joint --resamples 100x100 --resample both
    """
    if exact and settings["alpha"]:
        raise OptionError("--exact has every alpha already; leave out --alpha")
    curves = systems.curves({**settings, "exact": exact})
    bands = _bands(curves, resampling, threads) if resampling is not None else None
    in_memory = [curve for curve in curves if not _scanned(curve)]
    area_bands = {}
    if resampling is not None and output.format != "csv" and not isinstance(curves[0], CrossEPC):
        area_bands = {curve.name: _area_bands(curve, settings["bounds"], resampling, threads) for curve in in_memory}
    if len(in_memory) < len(curves) and output.format == "table":
        tell("no areas of scanned tables here: use --engine memory, or priori.areas in Python")
    warned = [(curve.name, curve.warnings) for curve in curves]
    if bands is not None:
        warned = [(band.curve.name, band.warnings) for band in bands]
    output.finish(
        table=lambda: _tables(curves, settings["bounds"], bands, area_bands),
        csv=lambda: _columns(curves, bands),
        json=lambda: _content(curves, settings["bounds"], bands, area_bands),
        figure=lambda: plot_epc(curves, bands=bands, best=len(curves) == 1),
        warnings=of_systems(warned),
    )


def _bands(curves: list[EPC], resampling: Resampling, threads: int | None) -> list[Band]:
    from priori.uncertainty.bands import make_band

    bands = []
    for curve in curves:
        with Progress(f"bootstrap of {curve.name}") as progress:
            bands.append(make_band(curve, resampling, threads=threads, progress=progress))
    return bands


def _columns(curves: list[EPC], bands: list[Band] | None) -> list[dict[str, Any]]:
    limits = [{"lower": band.lower, "upper": band.upper} for band in bands or []] or [{}] * len(curves)
    return [{"system": [curve.name], **curve.columns(), **limit} for curve, limit in zip(curves, limits, strict=True)]


def _content(
    curves: list[EPC], limits: Limits, bands: list[Band] | None, area_bands: dict[str, AreaBands]
) -> dict[str, Any]:
    first = curves[0]
    systems = [{**curve.to_dict(), "areas": _areas(curve, limits)} for curve in curves]
    for system, band in zip(systems, bands or [], strict=False):
        system["band"] = {**band.summary(), "lower": band.lower, "upper": band.upper}
    for system in systems:
        if system["name"] in area_bands:
            system["area_bands"] = area_bands[system["name"]].to_dict()
    settings = {
        "task": first.task.name, "criterion": first.criterion.name, "measure": first.measure.name,
        "exact": first.exact, "bounds": [float(bound) for bound in first.bounds],
    }  # fmt: skip
    return {"settings": settings, "systems": systems}


def _area_bands(curve: EPC, limits: Limits, resampling: Resampling, threads: int | None) -> AreaBands:
    from priori.uncertainty.area_bands import make_area_bands

    with Progress(f"areas of {curve.name}") as progress:
        pointwise = replace(resampling, simultaneous=False)
        return make_area_bands(
            curve.dev, curve.test, pointwise, task=curve.task, bounds=limits, threads=threads, progress=progress
        )


def _scanned(curve: EPC) -> bool:
    return curve.dev.scanned or curve.test.scanned


def _areas(curve: EPC, limits: Limits) -> dict[str, float | None]:
    if _scanned(curve):
        return dict.fromkeys(("epc", "e_v1", "e_v2", "g"))
    if isinstance(curve, CrossEPC):
        return {"epc": curve.area, "e_v1": None, "e_v2": None, "g": None}
    expected = areas(curve.dev, curve.test, task=curve.task, bounds=limits)
    under = curve.area if curve.criterion.exact else None
    return {"epc": under, "e_v1": expected.e_v1, "e_v2": expected.e_v2, "g": expected.g}


def _tables(curves: list[EPC], limits: Limits, bands: list[Band] | None, area_bands: dict[str, AreaBands]) -> str:
    first = curves[0]
    rate, v1, v2 = first.measure.rate, first.task.v1.name, first.task.v2.name
    points = [curve.at(list(first.fractions if 0 < len(first.fractions) <= 12 else SHOWN)) for curve in curves]
    parts = [
        table_text(
            f"{first.measure.title} on the test scores; thresholds by {first.criterion.name}"
            + (_chosen_on(first) if first.criterion.reads_development else ""),
            ["", *(f"alpha {float(alpha):.4g}" for alpha in points[0].alpha)],
            ([point.name, *(percent(value, rate) for value in point.value)] for point in points),
        ),
        *(_band_table(curve, band, rate) for curve, band in zip(curves, bands or [], strict=False)),
        _deployment_table(points, v1, v2),
    ]
    rows = []
    for curve in curves:
        if not _scanned(curve):
            cells = [
                "-" if area is None else percent(area, rate or name != "epc")
                for name, area in _areas(curve, limits).items()
            ]
            rows.append([curve.name, *cells])
    if rows:
        over = (
            "all targets" if [float(limit) for limit in limits] == [0, 1] else "targets from {} to {}".format(*limits)
        )
        title = f"Areas: under the curve, and expected ({v1} + {v2})/2 over {over} of {v1}, of {v2}, and both"
        parts.append(table_text(title, ["", "EPC", "E_V1", "E_V2", "G"], rows))
    for name, band in area_bands.items():
        columns = zip(band.area.tolist(), band.value, band.lower, band.upper, strict=True)
        rows = [[area.upper(), *(percent(float(number)) for number in numbers)] for area, *numbers in columns]
        parts.append(table_text(f"{name}: the areas with their intervals", ["", "value", "lower", "upper"], rows))
    return "\n".join(parts)


def _chosen_on(curve: EPC) -> str:
    return f" on the other {curve.folds - 1} folds" if isinstance(curve, CrossEPC) else " on the development scores"


def _deployment_table(points: list[EPC], v1: str, v2: str) -> str:
    rate, middle = points[0].measure.rate, int(np.argmin(np.abs(points[0].alpha - 0.5)))
    rows = [
        [point.name, f"{point.threshold[middle]:.6g}",
         *(percent(rates[middle]) for rates in (point.dev_v1, point.dev_v2, point.v1, point.v2)),
         *(percent(number[middle], rate) for number in (point.value, point.best, point.optimism))]
        for point in points
    ]  # fmt: skip
    title = f"Threshold to deploy at alpha = {float(points[0].alpha[middle]):.4g}, and its rates"
    header = ["", "threshold", f"dev {v1}", f"dev {v2}", f"test {v1}", f"test {v2}", "value", "best", "optimism"]
    return table_text(title, header, rows)


def _band_table(curve: EPC, band: Band, rate: bool) -> str:
    from priori.words.sentences import about_interval

    rows = []
    for alpha in SHOWN if curve.alpha.size > 12 else curve.alpha:
        nearest = int(np.argmin(np.abs(curve.alpha - float(alpha))))
        numbers = (band.value[nearest], band.lower[nearest], band.upper[nearest])
        rows.append([f"alpha {curve.alpha[nearest]:.4g}", *(percent(float(number), rate) for number in numbers)])
    title, note = (
        f"{curve.name}: {about_interval(band.settings)}",
        f"expected width {percent(band.expected_width, rate)}",
    )
    return table_text(title, ["", "value", "lower", "upper"], rows, note=note)
