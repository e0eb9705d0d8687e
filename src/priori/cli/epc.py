"""``priori epc``: Expected Performance Curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import priori
from priori.base.cautions import of_systems
from priori.base.errors import OptionError
from priori.base.options import ResamplingOptions
from priori.base.texts import cell as percent
from priori.base.texts import cells as percents
from priori.cli.commands import CURVES, bands_around, make_command, output_group, resampling_options
from priori.cli.options import option
from priori.cli.output import Output, Progress, table_of, table_text, tell
from priori.cli.systems import SYSTEMS, Systems

if TYPE_CHECKING:
    from priori.uncertainty.bands.area_bands import AreaBands

#: The alphas that the summary shows when none are listed.
SHOWN = ("0.1", "0.25", "0.5", "0.75", "0.9")
#: The first and last alpha, or target, as typed; listed alphas are no range, and their areas are over all targets.
Limits = tuple[str, str]
#: The areas of a curve, None where there is none.
AREAS = ("epc", "e_v1", "e_v2", "g")
Areas = dict[str, float | None]
#: A value and its interval, as tables head them.
BOUNDED = {name: name for name in ("value", "lower", "upper")}


@make_command("epc", SYSTEMS, CURVES, option("exact"), *resampling_options(None), output_group(plot="Draw the curves"))
def epc(
    systems: Systems,
    settings: dict[str, Any],
    exact: bool,
    resampling: ResamplingOptions | None,
    threads: int | None,
    output: Output,
) -> None:
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
    bands: list[priori.Band] = bands_around(curves, resampling, threads)
    in_memory = [curve for curve in curves if not (curve.dev.scanned or curve.test.scanned)]
    if len(in_memory) < len(curves) and output.format == "table":
        tell("no areas of scanned tables here: use --engine memory, or priori.areas in Python")
    limits, folds = settings["bounds"], systems.folds
    shown = in_memory if output.format != "csv" else []
    named = {curve.name: _areas(curve, limits, folds) for curve in shown}
    area_bands = {}
    if resampling is not None and folds is None:
        area_bands = {curve.name: _area_bands(curve, limits, resampling, threads) for curve in shown}
    around: Sequence[priori.Band | None] = bands or [None] * len(curves)
    both = [*zip(curves, around, strict=True)]
    output.finish(
        table=lambda: "\n".join([*_tables(curves, bands, folds), *_area_tables(curves[0], named, limits, area_bands)]),
        csv=lambda: [{"system": [curve.name], **curve.columns(), **_limits(band)} for curve, band in both],
        json=lambda: _content(both, named, area_bands),
        figure=lambda plots: plots.plot_epc(curves, bands=bands or None, best=len(curves) == 1),
        warnings=of_systems([(curve.name, (band or curve).warnings) for curve, band in both]),
    )


def _limits(band: priori.Band | None) -> dict[str, Any]:
    return {} if band is None else {"lower": band.lower, "upper": band.upper}


def _content(
    both: Sequence[tuple[priori.EPC, priori.Band | None]], named: dict[str, Areas], area_bands: dict[str, AreaBands]
) -> dict[str, Any]:
    first, systems = both[0][0], []
    for curve, band in both:
        content = {**curve.to_dict(), "areas": named.get(curve.name, dict.fromkeys(AREAS))}
        if band is not None:
            content["band"] = {**band.summary(), **_limits(band)}
        if curve.name in area_bands:
            content["area_bands"] = area_bands[curve.name].to_dict()
        systems.append(content)
    settings = {
        "task": first.task.name,
        "criterion": first.criterion.name,
        "measure": first.measure.name,
        "exact": first.exact,
        "bounds": [float(bound) for bound in first.bounds],
    }
    return {"settings": settings, "systems": systems}


def _area_bands(curve: priori.EPC, limits: Limits, resampling: ResamplingOptions, threads: int | None) -> AreaBands:
    from priori.uncertainty.bands.area_bands import area_bands

    pointwise = {**vars(resampling), "simultaneous": False}
    with Progress(f"areas of {curve.name}") as progress:
        return area_bands(
            curve.dev, curve.test, task=curve.task, bounds=limits, **pointwise, threads=threads, progress=progress
        )


def _areas(curve: priori.EPC, limits: Limits, folds: int | None) -> Areas:
    if folds is not None:
        return {**dict.fromkeys(AREAS), "epc": curve.area}
    expected = priori.areas(curve.dev, curve.test, task=curve.task, bounds=limits)
    under = curve.area if curve.criterion.exact else None
    return {"epc": under, "e_v1": expected.e_v1, "e_v2": expected.e_v2, "g": expected.g}


def _tables(curves: list[priori.EPC], bands: list[priori.Band], folds: int | None) -> Iterator[str]:
    first = curves[0]
    measure, v1, v2 = first.measure, first.task.v1.name, first.task.v2.name
    points = [curve.at(list(first.fractions if 0 < len(first.fractions) <= 12 else SHOWN)) for curve in curves]
    on = "the development scores" if folds is None else f"the other {folds - 1} folds"
    yield table_text(
        f"{measure.title} on the test scores; thresholds by {first.criterion.name}"
        + (f" on {on}" if first.criterion.reads_development else ""),
        ["", *(f"alpha {float(alpha):.4g}" for alpha in points[0].alpha)],
        ([point.name, *percents(point.value, measure.rate)] for point in points),
    )
    for band in bands:
        yield _band_table(band)
    middle = int(np.argmin(np.abs(points[0].alpha - 0.5)))
    found = [{**point.columns(), "optimism": point.optimism} for point in points]
    at = {name: [columns[name][middle] for columns in found] for name in found[0]}
    rates = {"dev_v1": f"dev {v1}", "dev_v2": f"dev {v2}", "v1": f"test {v1}", "v2": f"test {v2}"}
    yield table_of(
        f"Threshold to deploy at alpha = {float(points[0].alpha[middle]):.4g}, and its rates",
        {**at, "name": [point.name for point in points]},
        {"name": "", "threshold": "threshold", **rates, "value": "value", "best": "best", "optimism": "optimism"},
        rate=measure.rate,
        dev_v1=percent,
        dev_v2=percent,
        v1=percent,
        v2=percent,
    )


def _band_table(band: priori.Band) -> str:
    from priori.words.sentences import about_interval

    curve, rate = band.curve, band.curve.measure.rate
    shown = [int(np.argmin(np.abs(curve.alpha - float(alpha)))) for alpha in SHOWN]
    return table_of(
        f"{curve.name}: {about_interval(band.settings)}",
        band.columns(),
        {"alpha": "", **BOUNDED},
        rate=rate,
        rows=shown if curve.alpha.size > 12 else None,
        note=f"expected width {percent(band.expected_width, rate)}",
        alpha="alpha {:.4g}".format,
    )


def _area_tables(
    first: priori.EPC, named: dict[str, Areas], limits: Limits, area_bands: dict[str, AreaBands]
) -> Iterator[str]:
    v1, v2 = first.task.v1.name, first.task.v2.name
    over = "all targets" if [float(limit) for limit in limits] == [0, 1] else "targets from {} to {}".format(*limits)
    if named:
        yield table_text(
            f"Areas: under the curve, and expected ({v1} + {v2})/2 over {over} of {v1}, of {v2}, and both",
            ["", "EPC", "E_V1", "E_V2", "G"],
            (
                [
                    name,
                    *(
                        "-" if area is None else percent(area, first.measure.rate or which != "epc")
                        for which, area in found.items()
                    ),
                ]
                for name, found in named.items()
            ),
        )
    for name, band in area_bands.items():
        title = f"{name}: the areas with their intervals"
        yield table_of(title, band.columns(), {"area": "", **BOUNDED}, area=str.upper)
